"""Two training jobs that share a floor, each with a clock of its own.

Covers:

- disjoint partitions of one floor: the first two lanes, and the others,
- a job that arrives later and one that ends earlier,
- iterations per job in one record,
- what sharing costs: the second job alone draws the same numbers, so the difference is paired.
"""

from __future__ import annotations

import polars as pl

from thzsync import Scenario, simulate
from thzsync.scenario import Floor, Job, Optical, Training

MIB = 2**20
SMALL = Training(
    microbatches=2,
    p2p_bytes=2 * MIB,
    a2a_bytes_per_rack=3 * MIB,
    moe_stages=(1,),
    allreduce_bytes=4 * MIB,
    allreduce_buckets=1,
    forward_s=0.002,
    backward_s=0.004,
)
FIRST = Job(name="first", first_lane=0, lanes=2, training=SMALL, iterations=3)
SECOND = Job(name="second", first_lane=2, lanes=2, training=SMALL, start_s=0.021, iterations=2)


def floor_with(*jobs: Job) -> Scenario:
    """Two rings of four racks with these jobs; all share one thin fibre between the rings."""
    optical = Optical(inter_bps=50e9)
    return Scenario(
        name="shared", floor=Floor(rings=2, slots_per_ring=4), optical=optical, jobs=jobs
    )


def main() -> None:
    """Show when iterations start and end, and what the neighbour costs."""
    shared = simulate(floor_with(FIRST, SECOND), policy="fixed-ratio", iterations=3)
    for row in shared.iterations.sort("start_ps").iter_rows(named=True):
        start_ms, end_ms = row["start_ps"] / 1e9, row["end_ps"] / 1e9
        print(f"{row['job']}, iteration {row['iteration']}: {start_ms:.2f} to {end_ms:.2f} ms")
    beside = shared.iterations.filter(pl.col("job") == "second")
    alone = simulate(floor_with(SECOND), policy="fixed-ratio", iterations=3)
    for name, rows in (("second alone", alone.iterations), ("second beside first", beside)):
        print(f"{name}: {rows['completion_ms'].sum():.3f} ms of communication")


if __name__ == "__main__":
    main()
