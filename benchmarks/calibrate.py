"""Fit noise figure, fluctuation and round overhead; print the fit and every figure's sensitivity.

Run once; the presets hold the result. ``python -m benchmarks.calibrate [--seeds N] [--table]``
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from benchmarks.calibration import TARGETS, Radio, Target, calibrate, times_ms
from thzsync.paper.published import PUBLISHED, published_ablation_pct
from thzsync.paper.synthesis import ABLATIONS
from thzsync.scenario import Scenario

NOISE_FIGURES_DB = (2.0, 3.0, 3.5, 4.0, 5.0)
FLUCTUATIONS_DB = (1.0, 1.5, 2.0, 2.5, 3.0)
OVERHEADS_S = (0.0, 20e-6, 30e-6, 40e-6)


def fit(seeds: int) -> None:
    ranked = calibrate(NOISE_FIGURES_DB, FLUCTUATIONS_DB, OVERHEADS_S, seeds, progress=_count)
    names = [f"{t.kind} {t.method} N={t.racks} ({t.paper_ms:g})" for t in TARGETS]
    print("misfit noise_figure_db fluctuation_db overhead_us", *names, sep=" | ")
    for error, radio, found_ms in ranked[:15]:
        values = (radio.noise_figure_db, radio.fluctuation_db, radio.round_overhead_s * 1e6)
        print(f"{error:.4f}", *values, *(f"{t:.1f}" for t in found_ms), sep=" | ")


def table(seeds: int) -> None:
    """Every published time under each parameter's change, one at a time, as Markdown."""
    chosen = Radio.of(Scenario.preset("single-ring"))
    nf, sigma, overhead_s = chosen.noise_figure_db, chosen.fluctuation_db, chosen.round_overhead_s
    radios = {
        "chosen": chosen,
        "noise figure -1 dB": Radio(nf - 1, sigma, overhead_s),
        "+1 dB": Radio(nf + 1, sigma, overhead_s),
        "fluctuation -1 dB": Radio(nf, sigma - 1, overhead_s),
        "+1 dB ": Radio(nf, sigma + 1, overhead_s),
        "overhead 0": Radio(nf, sigma, 0.0),
        "+20 us": Radio(nf, sigma, overhead_s + 20e-6),
    }
    published, ablated = _published_targets(), _ablated_targets()
    targets = [*published, *ablated]
    columns = times_ms(list(radios.values()), targets, range(seeds), progress=_count)
    print("| figure | paper |", " | ".join(radios), "|")
    print("|" + "---|" * (len(radios) + 2))
    for n, target in enumerate(published):
        cells = " | ".join(f"{column[n]:.1f}" for column in columns)
        print(f"| {_name(target)} | {target.paper_ms:g} | {cells} |")
    for n, target in enumerate(ablated, start=len(published)):
        whole = targets.index(replace(target, method="proposed"))
        least, most = published_ablation_pct(target.method) or (0.0, 0.0)
        cells = " | ".join(f"+{100 * (c[n] / c[whole] - 1):.1f} %" for c in columns)
        print(f"| {_name(target)} | +{least} to {most} % | {cells} |")


def _name(target: Target) -> str:
    late = ", stragglers" if target.stragglers else ""
    return f"{target.kind} {target.method}, N={target.racks}{late}"


def _ablated_targets() -> list[Target]:
    kinds = ("a2a", "allreduce")
    return [Target(k, m, 12, late) for k in kinds for late in (False, True) for m in ABLATIONS]


def _published_targets() -> list[Target]:
    targets = []
    for row in PUBLISHED:
        if row.figure == "synthesis" and row.metric == "completion":
            collective, method = row.series.split(" ")
            racks = int(row.setting.split(" ")[0].removeprefix("N="))
            late = not row.setting.endswith("no stragglers")
            targets.append(Target(collective, method, racks, late))
    return targets


def _count(done: int, total: int) -> None:
    print(f"\r{done}/{total}", end="" if done < total else "\n", file=sys.stderr, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--table", action="store_true", help="print the sensitivity table instead")
    options = parser.parse_args()
    (table if options.table else fit)(options.seeds)
