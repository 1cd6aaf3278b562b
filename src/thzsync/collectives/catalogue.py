"""The collectives that come with the package."""

from __future__ import annotations

from typing import Final

from thzsync.collectives.exchanges import A2A, GATHER, P2P, SCATTER
from thzsync.collectives.reductions import (
    ALL_GATHER,
    ALLREDUCE,
    BARRIER,
    BROADCAST,
    REDUCE,
    REDUCE_SCATTER,
)

BUILT_IN: Final = (
    P2P, A2A, ALLREDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, REDUCE, GATHER, SCATTER, BARRIER,
)  # fmt: skip
