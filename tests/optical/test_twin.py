"""The kernel against its readable twin, packet by packet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from tests.optical.cases import Case, cases, play, sorted_trace
from tests.reference.optical_twin import Twin

HORIZON_PS = 400_000


def assert_same(case: Case, *, trains: bool) -> None:
    fabric = play(case, HORIZON_PS, trains=trains)
    twin = Twin(case.network, case.batch, case.background, case.key, case.external_ps)
    twin.run(HORIZON_PS)
    expected = np.array(sorted(twin.passages, key=lambda x: (x.link, x.start_ps)))
    np.testing.assert_array_equal(sorted_trace(fabric), expected.reshape(-1, 7))
    times = fabric.finished(0, len(case.batch))
    np.testing.assert_array_equal(times.arrival_ps, [n.done_ps for n in twin.nodes])
    np.testing.assert_array_equal(times.start_ps, [n.start_ps for n in twin.nodes])
    np.testing.assert_array_equal(times.ready_ps, [n.ready_ps for n in twin.nodes])


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_every_packet_passes_every_link_when_the_twin_says(case: Case) -> None:
    assert_same(case, trains=True)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases())
def test_the_twin_agrees_at_length_with_and_without_trains(case: Case) -> None:
    assert_same(case, trains=True)
    assert_same(case, trains=False)
