from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from tests.report.results import SYNTHESIS, WEIGHTS
from thzsync.experiments.compare import Comparison
from thzsync.report import Results, open_results
from thzsync.report.answer import answer, winner
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
    """Results of these rows, whose rewards scatter over seeds by about ``noise``."""
    scatter = [(policy, seed) for policy in range(len(rows)) for seed in range(seeds)]
    iterations = pl.DataFrame(
        {
            "policy": [rows[policy]["policy"] for policy, _ in scatter],
            "seed": [seed for _, seed in scatter],
            "iteration": [0] * len(scatter),
            "reward": [
                rows[policy]["reward"] + noise * (seed - (seeds - 1) / 2) * (-1) ** policy
                for policy, seed in scatter
            ],
        }
    )
    policies = tuple(row["policy"] for row in rows)
    made = replace(comparison, policies=policies, seeds=tuple(range(seeds)), iterations=iterations)
    return Results("fabric", Path(), made, list(rows))


def test_the_highest_reward_wins_and_speed_breaks_a_tie() -> None:
    slow, fast = row("a", 9.0, 1.0, -0.5), row("b", 8.0, 2.0, -0.5)
    assert winner([slow, fast, row("c", 1.0, 1.0, -0.6)]) is fast


def test_the_headline_names_winner_gain_and_rival(comparison: Comparison) -> None:
    best = row("thz-sync", 750.0, 15.0, -0.5)
    found = answer(of_rows(comparison, best, row("all-wired", 1000.0, 30.0, -1.0)))
    assert found.headline == ("THz-SynC wins: 25 % less time and 50 % less energy than All-wired.")


def test_what_hardly_differs_is_not_called_less(comparison: Comparison) -> None:
    best = row("thz-sync", 750.0, 30.001, -0.5, makespan_ms=999.0)
    rival = row("all-wired", 1000.0, 30.0, -1.0, makespan_ms=1000.0)
    headline = answer(of_rows(comparison, best, rival)).headline
    assert headline == "THz-SynC wins: 25 % less time and no more energy than All-wired."


def test_the_iteration_and_fair_rivals_stand_beside_the_sum_of_event_times(
    comparison: Comparison,
) -> None:
    rows = [
        row("thz-sync", 750.0, 15.0, -0.5, makespan_ms=900.0, exposed_ms=90.0),
        row("all-wired", 1000.0, 30.0, -1.0, makespan_ms=1000.0),
        row("all-wired-best", 800.0, 30.0, -0.4, makespan_ms=950.0),
    ]
    found = answer(of_rows(comparison, *rows))
    assert found.headline.startswith("THz-SynC wins: 25 % less time")
    assert "10 % shorter iterations than All-wired" in found.headline
    reasons = dict(found.reasons)
    assert ("900", "ms", "iteration, 90 ms exposed") in found.figures
    assert "6 % less time and 50 % less energy, and 5 % shorter" in reasons["All-wired, best"]


def test_a_lead_within_the_noise_is_not_called_a_win(comparison: Comparison) -> None:
    rows = row("thz-sync", 750.0, 15.0, -0.50), row("all-wired", 1000.0, 30.0, -0.51)
    unsure = answer(of_rows(comparison, *rows, noise=0.1))
    between = "Too close to call between THz-SynC and All-wired: THz-SynC needs 25 % less time"
    assert unsure.headline.startswith(between)
    assert "too close to call" in dict(unsure.reasons)["Runner-up"]
    single = answer(of_rows(comparison, *rows, seeds=1))
    assert single.headline.startswith("Undecided with one seed: THz-SynC needs 25 % less time")
    assert "One seed cannot tell" in dict(single.reasons)["Runner-up"]


def test_a_saving_whose_interval_spans_zero_is_called_so(comparison: Comparison) -> None:
    rows = row("thz-sync", 750.0, 15.0, -0.5), row("ddqn", 760.0, 15.0, -0.6)
    gain = {"policy": "ddqn", "gain_pct": 1.3, "ci95_gain_pct": 2.0, "paper_pct": 19.6}

    def saved(**changes: Any) -> str:
        found = replace(of_rows(comparison, *rows), document={"gains": [gain | changes]})
        return dict(answer(found).reasons)["Time saved"]

    assert saved() == "THz-SynC against DDQN 1.3 % (paper 19.6 %; too close to call)."
    assert saved(ci95_gain_pct=1.0) == "THz-SynC against DDQN 1.3 % (paper 19.6 %)."
    assert saved(ci95_gain_pct=None).endswith("Undecided, one seed.")


def test_a_price_is_not_hidden_behind_an_and(comparison: Comparison) -> None:
    best = row("thz-sync", 500.0, 15.0, -0.5)
    found = answer(of_rows(comparison, best, row("shared-bandit", 1000.0, 12.0, -0.8)))
    assert found.headline.startswith("THz-SynC wins: 50 % less time but 25 % more energy")


def test_bytes_and_joules_explain_the_winner(comparison: Comparison) -> None:
    best = row("fixed-ratio", 750.0, 15.0, -0.5)
    reasons = dict(answer(of_rows(comparison, best, row("all-wired", 1e3, 3e1, -1.0))).reasons)
    assert "of P2P" in reasons["Bytes"]
    assert "of AllReduce" in reasons["Bytes"]
    assert "with everything on fibre it is" in reasons["Joules"]


def test_published_numbers_are_counted_by_how_well_they_are_met(comparison: Comparison) -> None:
    near = row("thz-sync", 104.0, 10.0, -0.5, paper_completion_ms=100.0, paper_energy_j=8.0)
    far = row("all-wired", 110.0, 10.0, -1.0, paper_completion_ms=100.0)
    reasons = dict(answer(of_rows(comparison, near, far)).reasons)
    assert reasons["Paper"] == (
        "Of 3 published numbers, 1 are met within 5 % and 2 within 15 %; "
        "the farthest is the energy of THz-SynC (+25.0 %)."
    )


def test_long_iterations_are_told_in_seconds(comparison: Comparison) -> None:
    slow = row("all-wired", 62_920.0, 0.02, -0.5)
    found = answer(of_rows(comparison, slow))
    assert found.headline.startswith("All-wired needs 62.92 s and 20 mJ of communication")
    assert found.figures[0][:2] == ("62.92", "s")


def test_a_run_tells_what_compute_does_not_hide(run: Run, tmp_path: Path) -> None:
    found = answer(open_results(run.save(tmp_path / "run")))
    assert "communication that compute does not hide" in dict(found.reasons)["Training time"]


def test_synthesis_and_weights_stand_alone() -> None:
    alone = answer(Results("synthesis", Path(), synthesis=SYNTHESIS))
    assert alone.headline == "12 racks on one THz ring: All-to-All in 24 ms."
    assert "17 % less than the best other method (Cyclic)" in dict(alone.reasons)["All-to-All"]
    assert "1.25 times its lower bound" in dict(alone.reasons)["All-to-All"]
    weights = answer(Results("weights", Path(), weights=WEIGHTS))
    assert "from 0.7 to 0.3" in dict(weights.reasons)["Weights"]
