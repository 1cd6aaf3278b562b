from __future__ import annotations

import re
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.report.results import SYNTHESIS, WEIGHTS
from thzsync.display import quantity
from thzsync.display.kinds import kind_look
from thzsync.display.labels import METHOD_LABELS, POLICY_LABELS
from thzsync.display.metrics import MAKESPAN
from thzsync.experiments.compare import Comparison
from thzsync.experiments.statistics import verdict
from thzsync.report import Results, open_results
from thzsync.report.answer import answer
from thzsync.report.contest import Contest, by_reward, reference_row
from thzsync.report.curves import fabric_split
from thzsync.report.story import undecided
from thzsync.report.tables import page_tables
from thzsync.simulation import Run


def row(policy: str, time: float, energy: float, reward: float, **more: Any) -> dict[str, Any]:
    return {
        "policy": policy,
        "completion_ms": time,
        "energy_j": energy,
        "reward": reward,
        "makespan_ms": 10.0,
        "thz_share": 0.25,
    } | more


def of_rows(
    comparison: Comparison, *rows: dict[str, Any], seeds: int = 3, noise: float = 1e-3
) -> Results:
    """Results of these rows, whose values scatter over seeds by about this share of them."""
    scatter = [(policy, seed) for policy in range(len(rows)) for seed in range(seeds)]
    factor = [1 + noise * (seed - (seeds - 1) / 2) * (-1) ** policy for policy, seed in scatter]
    values = {
        key: [
            rows[policy].get(key, 0.0) * f for (policy, _), f in zip(scatter, factor, strict=True)
        ]
        for key in ("reward", "completion_ms", "energy_j", "makespan_ms", "exposed_ms")
    }
    iterations = pl.DataFrame(
        {
            "policy": [rows[policy]["policy"] for policy, _ in scatter],
            "seed": [seed for _, seed in scatter],
            "iteration": [0] * len(scatter),
            **values,
        }
    )
    policies = tuple(row["policy"] for row in rows)
    made = replace(comparison, policies=policies, seeds=tuple(range(seeds)), iterations=iterations)
    return Results("fabric", Path(), made, list(rows))


FIBRE = row("all-wired", 1000.0, 30.0, -1.0, makespan_ms=1000.0, exposed_ms=200.0)
BEST_FIBRE = row("all-wired-best", 800.0, 30.0, -0.4, makespan_ms=950.0, exposed_ms=150.0)
OURS = row("thz-sync", 750.0, 15.0, -0.5, makespan_ms=900.0, exposed_ms=90.0)
AIR = row("all-wireless", 2000.0, 0.44, -1.1, makespan_ms=1100.0, exposed_ms=300.0)


ONE_SEED, TOO_CLOSE = undecided(1.0, nan), undecided(0.0, 1.0)


def duel(results: Results) -> tuple[float, float]:
    """By how much the fastest overlay is slower than the reference [%], with half-width."""
    found = Contest(results)
    return found.paired_pct(found.best, found.against, found.time)


def reasons_of(results: Results) -> dict[str, str]:
    return dict(answer(results).reasons)


def test_the_highest_reward_wins_and_speed_breaks_a_tie() -> None:
    slow, fast = row("a", 9.0, 1.0, -0.5), row("b", 8.0, 2.0, -0.5)
    assert by_reward([slow, row("c", 1.0, 1.0, -0.6), fast])[:2] == [fast, slow]


def test_the_headline_compares_iterations_with_the_best_schedule_on_fibre(
    comparison: Comparison,
) -> None:
    found = of_rows(comparison, FIBRE, OURS, BEST_FIBRE)
    contest = Contest(found)
    assert (contest.best["policy"], contest.against["policy"]) == ("thz-sync", "all-wired-best")
    lead, half = contest.paired_pct(contest.best, contest.against, MAKESPAN)
    assert (lead, half) == pytest.approx((100 * (900 / 950 - 1), 0.47), abs=0.01)
    told = answer(found)
    assert all(value in told.headline for value in ("5.26 ± 0.47 %", "900 ms", "950 ms"))
    assert [figure[:2] for figure in told.figures[:2]] == [("900", "ms"), ("90", "ms")]
    assert "40 ± 0.3 %" in dict(told.reasons)["Exposed communication"]


def test_without_the_best_schedule_the_page_says_so(comparison: Comparison) -> None:
    told = answer(of_rows(comparison, OURS, FIBRE))
    assert "10 ± 0.45 %" in told.headline
    assert "all-wired-best" in dict(told.assumed)["Reference"]
    overlays = of_rows(comparison, OURS, AIR)
    assert Contest(overlays).against["policy"] == "all-wireless"
    assert "all-wired" not in answer(overlays).assumed["Reference"].lower()


def test_where_fibre_is_faster_nothing_beats_it(comparison: Comparison) -> None:
    found = of_rows(comparison, OURS | {"makespan_ms": 1045.0}, BEST_FIBRE)
    lead, half = duel(found)
    assert (lead, verdict(lead, half)) == (pytest.approx(10, abs=0.1), True)
    assert "10 ± " in answer(found).headline


def test_a_verdict_respects_its_evidence(comparison: Comparison) -> None:
    near = BEST_FIBRE | {"makespan_ms": 901.0}
    close = of_rows(comparison, OURS, near)
    assert verdict(*duel(close)) is None
    assert answer(close).headline.lower().startswith(TOO_CLOSE)
    single = answer(of_rows(comparison, OURS, BEST_FIBRE, seeds=1))
    assert single.headline.lower().startswith(ONE_SEED)
    assert ONE_SEED in dict(single.reasons)["Reward"]


def test_learners_that_are_too_close_to_call_stand_below_the_headline(
    comparison: Comparison,
) -> None:
    twin = OURS | {"policy": "ddqn", "makespan_ms": 900.1}
    found = answer(of_rows(comparison, OURS, twin, BEST_FIBRE))
    assert TOO_CLOSE not in found.headline.lower()
    assert TOO_CLOSE in dict(found.reasons)["Other policies"]


@pytest.mark.parametrize(
    ("air_ms", "longer", "told"),
    [(1100.0, True, "22.2 ± 0.61 %"), (900.1, None, TOO_CLOSE)],
)
def test_a_rival_that_spends_less_is_weighed_against_fibre(
    comparison: Comparison, air_ms: float, longer: bool | None, told: str
) -> None:
    results = of_rows(comparison, OURS, AIR | {"makespan_ms": air_ms}, FIBRE)
    found = Contest(results)
    air = results.rows[1]
    assert verdict(*found.paired_pct(air, found.rival(air), found.time)) is longer
    assert "0.44 J" in reasons_of(results)["Energy"]
    assert told in reasons_of(results)["Energy"]


def test_thz_alone_that_is_fastest_and_spends_least_is_compared_with_fibre(
    comparison: Comparison,
) -> None:
    def sentence(iteration_ms: float) -> str:
        fast = AIR | {"policy": "all-wireless-best", "makespan_ms": iteration_ms}
        results = of_rows(comparison, fast, FIBRE)
        found = Contest(results)
        assert found.rival(results.rows[0]) is results.rows[1]
        return reasons_of(results)["Energy"]

    # Faster and thriftier than fibre: more is said than where fibre is faster.
    assert len(sentence(890.0)) > len(sentence(1200.0))
    frugal = reasons_of(of_rows(comparison, OURS, FIBRE))["Energy"]
    assert frugal.startswith(POLICY_LABELS["thz-sync"])


def test_the_page_names_its_assumptions(comparison: Comparison) -> None:
    told = dict(answer(of_rows(comparison, OURS, FIBRE)).assumed)
    assert "3:1" in told["Fibre"]  # three racks on each ring of `tiny`
    assert "2 dB" in told["Radio"]
    assert "25 dBi" in told["Radio"]
    assert "5 %" in told["Background"]
    assert "40 pJ/bit/hop" in told["Energy"]


def test_a_saving_whose_interval_spans_zero_is_called_so(comparison: Comparison) -> None:
    gain = {"policy": "ddqn", "gain_pct": 1.3, "ci95_gain_pct": 2.0, "paper_pct": 19.6}

    def saved(**changes: Any) -> str:
        found = replace(of_rows(comparison, OURS, FIBRE), document={"gains": [gain | changes]})
        return dict(answer(found).reasons)["Completion time saved"]

    assert TOO_CLOSE in saved()
    assert "19.6 %" in saved()
    assert TOO_CLOSE not in saved(ci95_gain_pct=1.0)
    assert ONE_SEED in saved(ci95_gain_pct=None)


def test_bytes_and_joules_explain_the_fastest(comparison: Comparison) -> None:
    reasons = reasons_of(of_rows(comparison, OURS | {"policy": "fixed-ratio"}, FIBRE))
    assert all(kind_look(kind).label in reasons["Bytes"] for kind in ("p2p", "a2a", "allreduce"))
    split = {s["policy"]: s["total"] for s in fabric_split(comparison, 0)}["fixed-ratio"]
    assert quantity(split["optical_j"], "J", 3) in reasons["Joules"]


def test_published_numbers_are_counted_by_how_well_they_are_met(comparison: Comparison) -> None:
    near = row("thz-sync", 104.0, 10.0, -0.5, paper_completion_ms=100.0, paper_energy_j=8.0)
    far = row("all-wired", 110.0, 10.0, -1.0, paper_completion_ms=100.0)
    told = reasons_of(of_rows(comparison, near, far))["Paper"]
    assert re.findall(r"\+?\d+(?:\.\d+)?", told) == ["3", "1", "5", "2", "15", "+25.0"]
    assert POLICY_LABELS["thz-sync"] in told


def test_long_iterations_are_told_in_seconds(comparison: Comparison) -> None:
    slow = row("all-wired", 62_920.0, 0.02, -0.5)
    found = answer(of_rows(comparison, slow))
    assert all(value in found.headline for value in ("62.92 s", "20 mJ"))
    assert ("62.92", "s") in [figure[:2] for figure in found.figures]


def test_a_run_shows_its_all_wired_reference(run: Run, tmp_path: Path) -> None:
    results = open_results(run.save(tmp_path / "run"))
    told = reasons_of(results)
    assert "Exposed communication" in told
    time_s = sum(run.references[kind][0] for kind in run.events["kind"])
    reference = reference_row(results)
    assert reference is not None
    assert reference["completion_ms"] == pytest.approx(1e3 * time_s)
    assert quantity(reference["completion_ms"], "ms") in told["All-wired reference"]
    (table, *_) = page_tables(results)["headline"]
    assert [line[0] for line in table.rows] == ["Fixed ratio", "All-wired, reference"]
    assert not table.has_best(), "one seed decides nothing"


def test_all_wired_has_no_reference_beside_itself(comparison: Comparison, tmp_path: Path) -> None:
    own = comparison.details["all-wired"].save(tmp_path / "run")
    assert reference_row(open_results(own)) is None


def test_the_reference_of_one_seed_is_not_taken_for_several(comparison: Comparison) -> None:
    alone = comparison.of("fixed-ratio")
    assert len(alone.seeds) > 1
    assert reference_row(Results("compare", Path(), alone, alone.rows())) is None


def test_equal_energies_are_not_called_too_close(comparison: Comparison) -> None:
    rows = FIBRE, BEST_FIBRE | {"exposed_ms": 200.0}
    told = reasons_of(of_rows(comparison, *rows, noise=0.0))["Energy"]
    assert TOO_CLOSE not in told


def test_synthesis_and_weights_stand_alone() -> None:
    alone = answer(Results("synthesis", Path(), synthesis=SYNTHESIS))
    told = dict(alone.reasons)["All-to-All"]
    assert all(value in told for value in ("24 ± 0.5 ms", "17 %", "1.25", METHOD_LABELS["cyclic"]))
    weights = answer(Results("weights", Path(), weights=WEIGHTS))
    assert all(value in dict(weights.reasons)["Weights"] for value in ("0.7", "0.3"))
