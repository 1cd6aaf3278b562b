"""The synthesis figure: its setting, its rows, and that workers change nothing."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks.calibration import TARGETS, Radio, misfit
from thzsync.collectives import Tensor, Transfer
from thzsync.errors import ThzSyncError
from thzsync.experiments.single_ring import Instance, late_racks_s, round_rows, uneven_a2a
from thzsync.paper.synthesis import ablation_rows, synthesis_rows
from thzsync.scenario import Scenario
from thzsync.scenario.changes import changed

KINDS = ("p2p", "a2a", "allreduce")

RING = Scenario.preset("single-ring")
KEYS = [
    "collective",
    "method",
    "racks",
    "stragglers",
    "mean_ms",
    "ci95_ms",
    "bound_ms",
    "paper_ms",
    "deviation_pct",
]


def with_gains(folder: Path, *later: tuple[float, int, int, float]) -> Scenario:
    """A ring of four racks and one subband, at -80 dB until later: time [s], pair, gain [dB]."""
    rows = [(0.0, a, b, -80.0) for a in range(4) for b in range(a + 1, 4)] + [*later]
    file = folder / "gains.csv"
    names = ["time_s", "rack_a", "rack_b", "gain_db"]
    pl.DataFrame(rows, schema=names, orient="row").with_columns(subband=0).write_csv(file)
    keys = {"floor.slots_per_ring": 4, "thz.subbands": 1, "channel.gains_file": str(file)}
    return changed(RING, keys, "test")


def test_gains_change_from_the_first_instant_at_which_one_is_another(tmp_path: Path) -> None:
    scenario = with_gains(tmp_path, (1e-3, 0, 1, -80.0), (2e-3, 0, 1, -90.0), (3e-3, 0, 1, -80.0))
    instance = Instance(scenario, "p2p", 3, False, 0)
    assert [instance.gains_change(ms * 10**9 + 1) for ms in (0, 1, 2, 3, 9)] == [
        False, False, True, True, True,
    ]  # fmt: skip
    assert not instance.gains_change(2 * 10**9)


def test_gains_of_racks_that_take_no_part_do_not_count(tmp_path: Path) -> None:
    scenario = with_gains(tmp_path, (1e-3, 0, 3, -90.0))
    assert not Instance(scenario, "p2p", 3, False, 0).gains_change(10**12)
    assert Instance(scenario, "p2p", 4, False, 0).gains_change(10**12)


@pytest.mark.parametrize("racks", [2, 3, 12])
def test_every_rack_sends_exactly_its_bytes(racks: int) -> None:
    demand = uneven_a2a(racks, 64 * 2**20, np.random.default_rng(0))
    out = np.bincount(demand.src, demand.size_bytes)
    assert out.tolist() == [64 * 2**20] * racks
    assert len(demand.src) == racks * (racks - 1)


@pytest.mark.parametrize(("racks", "late"), [(2, 1), (4, 1), (8, 1), (9, 2), (12, 2), (16, 2)])
def test_one_rack_in_eight_is_late_by_50_to_100_ms(racks: int, late: int) -> None:
    for seed in range(20):
        late_s = late_racks_s(racks, np.random.default_rng(seed))
        assert (late_s > 0).sum() == late
        assert ((late_s == 0) | ((late_s >= 0.05) & (late_s <= 0.1))).all()


def test_the_papers_sizes_are_the_default() -> None:
    a2a, allreduce = (Instance(RING, kind, 4, False, 0).demand for kind in KINDS if kind != "p2p")
    assert isinstance(a2a, Transfer)
    assert a2a.payload_bytes == 4 * 64 * 2**20
    assert allreduce == Tensor(512 * 2**20)


def test_all_methods_face_the_same_instance() -> None:
    one, two = (Instance(RING, "a2a", 4, True, 3) for _ in range(2))
    assert isinstance(one.demand, Transfer)
    assert isinstance(two.demand, Transfer)
    assert (one.demand.size_bytes == two.demand.size_bytes).all()
    assert (one.late_s == two.late_s).all()
    gains = [i.channel.gain_matrix(i.members, 0) for i in (one, two)]
    assert (gains[0] == gains[1]).all()


def test_too_many_racks_for_the_ring_are_refused() -> None:
    with pytest.raises(ThzSyncError, match=r"found 17; .*2\.\.16"):
        Instance(RING, "a2a", 17, False, 0)


def test_rows_have_the_contracts_keys_and_do_not_depend_on_the_workers() -> None:
    chosen = {"a2a": ["proposed", "cyclic"], "allreduce": ["ring", "proposed"]}
    one, two = (synthesis_rows(RING, 2, (3, 4), chosen, workers=w) for w in (1, 2))
    assert one == two
    assert [list(row) for row in one] == [KEYS] * 16
    for row in one:
        assert 0 < row["bound_ms"] <= row["mean_ms"]
    (known,) = [r for r in one if r["paper_ms"] is not None]
    assert (known["collective"], known["method"], known["racks"]) == ("a2a", "proposed", 4)
    assert known["deviation_pct"] == pytest.approx(100 * (known["mean_ms"] / 17.7 - 1))


def test_an_interruption_never_passes_for_a_complete_figure() -> None:
    """Rows do not say how many seeds they hold, so a part must not look like the whole."""

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        synthesis_rows(RING, 2, (3,), {"a2a": ["cyclic"]}, workers=1, progress=interrupt)


def test_an_unknown_method_is_refused_before_any_work() -> None:
    with pytest.raises(ThzSyncError, match="'nope'"):
        synthesis_rows(RING, 10**9, methods={"a2a": ["nope"]})


def test_ablations_stand_beside_the_published_range() -> None:
    def row(method: str, mean_ms: float) -> dict[str, object]:
        return {
            "collective": "a2a",
            "stragglers": False,
            "racks": 12,
            "method": method,
            "mean_ms": mean_ms,
        }

    (found,) = ablation_rows([row("proposed", 20.0), row("no-channel", 22.0), row("cyclic", 40.0)])
    assert found["increase_pct"] == pytest.approx(10)
    assert (found["paper_least_pct"], found["paper_most_pct"]) == (7.3, 14.0)


def test_round_rows_add_up_to_the_collective() -> None:
    instance = Instance(RING, "a2a", 4, False, 0, size_bytes=2**22)
    schedule = instance.run("proposed")
    rows = round_rows(schedule)
    assert sum(row["mib"] for row in rows) == pytest.approx(16)
    assert sum(row["links"] for row in rows) == len(schedule.flow)
    assert rows[-1]["start_ms"] + rows[-1]["duration_ms"] == schedule.completion_ps / 1e9
    assert max(row["busiest_rack_w"] for row in rows) <= RING.thz.max_power_w


def test_the_published_orderings_hold_at_twelve_racks() -> None:
    """A few seeds suffice: the instances are paired. The full figure has thirty."""
    slower = {
        "a2a": ("demand-sorted", "cyclic", "no-channel", "equal-power"),
        "allreduce": ("ring", "single-tree", "no-channel", "equal-power"),
    }
    for kind, others in slower.items():
        for late in (False, True):
            instances = [Instance(RING, kind, 12, late, seed) for seed in range(4)]
            total_ps = {
                method: sum(instance.run(method).completion_ps for instance in instances)
                for method in ("proposed", *others)
            }
            assert min(total_ps, key=total_ps.__getitem__) == "proposed"
            assert total_ps[others[0]] < total_ps[others[1]]  # the published baselines


def test_misfit_is_the_relative_error() -> None:
    paper_ms = [target.paper_ms for target in TARGETS]
    assert misfit(paper_ms) == 0
    assert misfit([1.1 * value for value in paper_ms]) == pytest.approx(math.log(1.1))


def test_a_radio_is_read_from_and_written_to_a_scenario() -> None:
    radio = Radio(noise_figure_db=7.0, fluctuation_db=0.5, round_overhead_s=1e-4)
    assert Radio.of(radio.applied(RING)) == radio
    assert radio.applied(RING).floor == RING.floor


def test_both_presets_hold_the_one_fitted_radio() -> None:
    assert Radio.of(RING) == Radio.of(Scenario.paper())
