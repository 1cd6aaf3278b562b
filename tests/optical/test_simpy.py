"""The kernel against a SimPy model of the same fabric."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.optical import sixteen_hosts
from tests.optical.cases import batches, networks, run_to
from tests.reference.simpy_fabric import SimpyFabric
from thzsync.carriers import FIBRE
from thzsync.optical import OpticalFabric


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_simpy_sees_every_chunk_arrive_at_the_same_instant(data: st.DataObject) -> None:
    network = data.draw(networks())
    batch = data.draw(batches(network, (FIBRE,)))
    fabric = OpticalFabric(network)
    fabric.submit(batch, 0)
    run_to(fabric)
    arrivals = fabric.finished(0, len(batch)).arrival_ps.tolist()
    assert SimpyFabric(network, batch).run() == arrivals


def test_simpy_agrees_on_the_benchmark_workload() -> None:
    network, batch = sixteen_hosts(20_000)
    fabric = OpticalFabric(network)
    fabric.submit(batch, 0)
    run_to(fabric)
    model = SimpyFabric(network, batch)
    assert model.run() == fabric.finished(0, len(batch)).arrival_ps.tolist()
    assert model.packet_hops == fabric.packet_hops
