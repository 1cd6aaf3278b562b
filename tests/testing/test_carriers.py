"""The example of a carrier conforms; planted faults are found."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from thzsync.errors import ThzSyncError
from thzsync.execution.carrier import CarrierKind
from thzsync.testing import check_carrier

EXAMPLE = Path(__file__).parents[2] / "examples" / "extending" / "bus.py"
pytestmark = pytest.mark.usefixtures("nothing_stays_registered")


@pytest.fixture
def bus() -> CarrierKind:
    found: CarrierKind = runpy.run_path(str(EXAMPLE))["BUS"]
    return found


def faulty(bus: CarrierKind, change: Any) -> CarrierKind:
    """The bus with every sending changed."""

    def build(*world: Any) -> Any:
        carrier = bus.build(*world)
        dispatch = carrier.dispatch

        def changed(now_ps: int) -> Sequence[Any]:
            return [change(sending) for sending in dispatch(now_ps)]

        carrier.dispatch = changed  # type: ignore[method-assign]
        return carrier

    return CarrierKind(f"faulty-{bus.name}", build, bus.facts)


def test_the_bus_conforms(bus: CarrierKind) -> None:
    assert check_carrier(bus) > 100


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda s: replace(s, size_bytes=s.size_bytes + 1), "bytes"),
        (lambda s: replace(s, end_ps=s.end_ps - 1), "takes"),
        (lambda s: replace(s, energy_j=2 * s.energy_j), "takes .* J"),
    ],
    ids=["bytes", "time", "energy"],
)
def test_planted_faults_are_found(bus: CarrierKind, change: Any, told: str) -> None:
    with pytest.raises(ThzSyncError, match=told):
        check_carrier(faulty(bus, change))
