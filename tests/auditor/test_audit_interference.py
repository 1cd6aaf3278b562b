"""Faults planted into a record of beams that disturb each other, and the check that sees each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import polars as pl
import pytest

from thzsync import Scenario, audit, simulate
from thzsync.auditor import CHECKS
from thzsync.records.run import Run

ONLY = tuple(check for check in CHECKS if check.__name__ in ("interference", "rate"))


@pytest.fixture(scope="module")
def honest() -> Run:
    changes = {
        "thz.interference": "beams",
        "thz.antenna": "gaussian",
        "thz.transmit_gain_db": 25,
        "thz.subbands": 2,
        "floor": {"rings": 3, "slots_per_ring": 4},
    }
    scenario = Scenario.of("tiny").with_(changes)
    return simulate(scenario, policy="all-wireless", iterations=1, seed=5)


def test_the_honest_run_is_sound(honest: Run) -> None:
    verdict = audit(honest)
    assert verdict.ok, verdict.violations[:3]
    assert verdict.checks["interference"] == 2 * honest.tables["transmissions"].height


def forged(run: Run, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Run:
    sent = run.tables["transmissions"]
    changed = change(sent.with_row_index()).select(sent.columns)
    return replace(run, tables={**run.tables, "transmissions": changed})


def disturbed(run: Run) -> pl.DataFrame:
    """Pairs of transmissions at once, the earlier one first."""
    sent = run.tables["transmissions"].with_row_index()
    pairs = sent.join(sent, how="cross", suffix="_later")
    later = pl.col("start_ps_later")
    at_once = (pl.col("start_ps") < later) & (later < pl.col("end_ps"))
    return pairs.filter(at_once & (pl.col("subband") == pl.col("subband_later")))


def where(index: int, column: str, value: pl.Expr) -> Callable[[pl.DataFrame], pl.DataFrame]:
    chosen = pl.when(pl.col("index") == index).then(value).otherwise(pl.col(column))
    return lambda sent: sent.with_columns(chosen.alias(column))


def test_transmissions_overlap(honest: Run) -> None:
    assert disturbed(honest).height > 5


@pytest.mark.parametrize("factor", [0.9, 0.999999, 1.000001, 1.1, float("nan")])
def test_a_level_that_its_start_does_not_imply_is_seen(honest: Run, factor: float) -> None:
    index = int(disturbed(honest)["index_later"][0])
    damaged = forged(honest, where(index, "noise_w", pl.col("noise_w") * factor))
    assert "interference" in audit(damaged, ONLY).broken


def test_a_lower_level_everywhere_is_seen(honest: Run) -> None:
    """As if there had been no headroom: many then hear more than that."""
    damaged = forged(honest, lambda sent: sent.with_columns(pl.col("noise_w") / 10**0.05))
    assert len(audit(damaged, ONLY).violations) > 5


def test_more_power_is_heard_by_others(honest: Run) -> None:
    """Of a later beam: what the earlier one was promised is as before, and broken."""
    pair = disturbed(honest).row(0, named=True)
    damaged = forged(honest, where(pair["index_later"], "power_w", pl.col("power_w") * 1e4))
    verdict = audit(damaged, ONLY)
    assert {v.check for v in verdict.violations} == {"interference"}
    earlier = "event {number}, round {round}, rack {src} -> {dst} on subband {subband}"
    assert earlier.format(**pair) in {v.place for v in verdict.violations}


def test_a_beam_moved_in_time_is_seen(honest: Run) -> None:
    """Into the first pair of strangers, whose promises it breaks or whose start it precedes."""
    pair = disturbed(honest).row(0, named=True)
    sent = honest.tables["transmissions"].with_row_index()
    racks = {pair[f"{end}{of}"] for end in ("src", "dst") for of in ("", "_later")}
    others = sent.filter(~pl.col("src").is_in(racks) & ~pl.col("dst").is_in(racks))
    alone = others.filter(
        (pl.col("start_ps") > pair["end_ps"]) | (pl.col("end_ps") < pair["start_ps"])
    )
    index, start_ps = int(alone["index"][0]), int(alone["start_ps"][0])
    by_ps = pair["start_ps_later"] - 1 - start_ps

    def move(sent: pl.DataFrame) -> pl.DataFrame:
        moved = pl.col("index") == index
        return sent.with_columns(
            pl.when(moved).then(pl.col(name) + by_ps).otherwise(pl.col(name)).alias(name)
            for name in ("start_ps", "end_ps")
        )

    rounds = honest.tables["rounds"]
    number, of = alone["number"][0], alone["round"][0]
    same = (pl.col("number") == number) & (pl.col("round") == of)
    moved_round = rounds.with_columns(
        pl.when(same).then(pl.col(name) + by_ps).otherwise(pl.col(name)).alias(name)
        for name in ("start_ps", "end_ps")
    )
    damaged = forged(honest, move)
    damaged = replace(damaged, tables={**damaged.tables, "rounds": moved_round})
    assert "interference" in audit(damaged, ONLY).broken


def test_a_beam_turned_elsewhere_is_seen(honest: Run) -> None:
    """Another destination changes who hears it, and what it hears."""
    pairs = disturbed(honest)
    loud = pairs.filter(pl.col("noise_w_later") > pairs["noise_w_later"].min() * 1.01)
    beam = loud.row(0, named=True)
    others = [rack for rack in range(12) if rack not in (beam["src"], beam["dst"])]
    turned = (where(beam["index"], "dst", pl.lit(rack).cast(pl.Int32)) for rack in others)
    caught = ["interference" in audit(forged(honest, turn), ONLY).broken for turn in turned]
    assert sum(caught) >= len(caught) / 2  # others may see the same side lobe as before


def test_another_antenna_or_headroom_in_the_scenario_is_seen(honest: Run) -> None:
    for changes in (
        {"thz.antenna": "isotropic"},
        {"thz.antenna": {"kind": "gaussian", "side_lobe_db": 60}},
        {"thz.interference_headroom_db": 0.51},
        {"thz.interference": "constant"},
    ):
        damaged = replace(honest, scenario=honest.scenario.with_(changes))
        assert "interference" in audit(damaged, ONLY).broken


def test_constant_noise_is_checked() -> None:
    run = simulate(Scenario.of("tiny"), policy="all-wireless", iterations=1, seed=5)
    assert audit(run, ONLY).ok
    louder = forged(run, where(3, "noise_w", pl.col("noise_w") * 1.001))
    assert audit(louder, ONLY).broken == ["interference"]
