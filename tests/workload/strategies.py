"""Random jobs for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from thzsync.scenario import Floor, Job, Training
from thzsync.topology import Partition, Topology


def partition_of(stages: int, lanes: int) -> Partition:
    floor = Floor(rings=stages, slots_per_ring=lanes)
    return Topology(floor).partition(Job(training=Training(moe_stages=())))


@st.composite
def jobs(draw: st.DrawFn) -> tuple[Training, Partition]:
    stages, lanes = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    moe = draw(st.sets(st.integers(0, stages - 1)))
    training = Training(
        microbatches=draw(st.integers(1, 9)),
        p2p_bytes=draw(st.integers(1, 10**6)),
        a2a_bytes_per_rack=draw(st.integers(1, 10**6)),
        a2a_skew=draw(st.sampled_from([0.0, 0.5, 40.0])),
        moe_stages=tuple(sorted(moe)),
        moe_layers_per_stage=draw(st.integers(1, 3)),
        backward_a2a=draw(st.booleans()),
        allreduce_bytes=draw(st.integers(1, 10**6)),
        allreduce_buckets=draw(st.integers(0, 4)),
        forward_s=draw(st.floats(0, 1)),
        backward_s=draw(st.floats(0, 1)),
    )
    return training, partition_of(stages, lanes)
