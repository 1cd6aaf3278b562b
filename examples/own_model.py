"""A model of your own on a floor of your own.

Covers:

- adding a transformer to the model zoo by its dimensions,
- a floor, a faster fibre and a job in Python instead of TOML,
- what the job sends per iteration, before anything is simulated,
- a run, and what every collective cost.
"""

from __future__ import annotations

import polars as pl

from thzsync import Scenario, simulate
from thzsync.scenario import Floor, Job, ModelJob, Optical
from thzsync.topology import Topology
from thzsync.workload.architecture import Architecture, Attention, Experts
from thzsync.workload.zoo import ZOO, derive

# 8 layers of width 512, with 8 experts of which 2 are active: small enough to run in a second.
ZOO["pocket-moe"] = Architecture(8, 512, 1536, 32_000, Attention(8, 2, 64), Experts(8, 2, 768))
MODEL = ModelJob(name="pocket-moe", sequence_length=2048, microbatches=2, tensor_parallel=1)
HALL = Scenario(
    name="own hall",
    floor=Floor(rings=2, slots_per_ring=4),
    optical=Optical(access_bps=200e9, inter_bps=200e9),
    jobs=(Job(name="pocket", model=MODEL),),
)


def main() -> None:
    """Say what the model sends, then run it."""
    partition = Topology(HALL.floor).partition(HALL.jobs[0])
    pipeline = derive(MODEL, partition)
    print(f"{partition.stages} stages, {partition.lanes} replicas each")
    print(f"P2P: {pipeline.p2p_bytes / 2**20:.2f} MiB per lane and micro-batch")
    print(f"All-to-All: {pipeline.a2a_bytes_per_rack / 2**20:.2f} MiB out of each rack")
    run = simulate(HALL, policy="fixed-ratio", iterations=2)
    costs = run.events.group_by("kind", maintain_order=True).agg(
        pl.len().alias("events"), pl.col("completion_ms").mean(), pl.col("thz_bytes").sum()
    )
    for kind, events, completion_ms, thz_bytes in costs.iter_rows():
        print(f"{kind}: {events} events, {completion_ms:.3f} ms each, {thz_bytes} bytes on THz")


if __name__ == "__main__":
    main()
