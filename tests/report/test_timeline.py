from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from thzsync.report.timeline import TICK_PS, bars, pack, timeline
from thzsync.simulation import Run

span = st.tuples(st.integers(0, 20), st.integers(1, 9)).map(lambda s: (s[0], s[0] + s[1]))


@given(st.lists(span, max_size=20))
def test_packed_spans_never_overlap_and_need_no_spare_row(spans: list[tuple[int, int]]) -> None:
    rows = pack(spans)
    for k, (start, end) in enumerate(spans):
        for other in range(k):
            if rows[other] == rows[k]:
                assert end <= spans[other][0] or spans[other][1] <= start
    busiest = max((sum(a <= t < b for a, b in spans) for t in range(30)), default=0)
    assert len(set(rows)) == busiest


def test_every_task_and_event_is_a_bar(run: Run) -> None:
    assert len(bars(run)) == run.tables["tasks"].height + run.events.height
    shown = timeline(run)
    assert sum(len(row["bars"]["start"]) for row in shown["rows"]) == len(bars(run))
    for row in shown["rows"]:
        assert len({len(column) for column in row["bars"].values()}) == 1


def test_bars_lie_inside_the_iteration_in_whole_ticks(run: Run) -> None:
    shown = timeline(run)
    makespan = run.iterations["makespan_ms"].item()
    assert abs(shown["end"] / shown["ticks_per_ms"] - makespan) < 1e-3
    assert shown["ticks_per_ms"] * TICK_PS == 10**9
    for row in shown["rows"]:
        spans = zip(row["bars"]["start"], row["bars"]["end"], strict=True)
        assert all(0 <= start <= end <= shown["end"] for start, end in spans)
        assert set(row["bars"]["sub_row"]) == set(range(row["depth"]))


def test_a_stage_lists_compute_before_its_collectives(run: Run) -> None:
    lanes = [(row["stage"], row["lane"]) for row in timeline(run)["rows"]]
    assert lanes == sorted(
        lanes, key=lambda pair: (pair[0], ["compute", "p2p", "a2a", "allreduce"].index(pair[1]))
    )
