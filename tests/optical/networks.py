"""The paper's kind of network in one call, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thzsync.arrays import IntArray
from thzsync.network import Buffers, Network, rings


def ring_network(ring_of_rack: Sequence[int] | IntArray, **settings: Any) -> Network:
    """Rings with these rates and buffers; what is not given is as in a scenario by default."""
    rates = {key: settings.pop(key) for key in ("access_bps", "inter_bps") if key in settings}
    return rings(ring_of_rack, buffers=Buffers(**settings), **rates)
