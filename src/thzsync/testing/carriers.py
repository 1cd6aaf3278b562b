"""What every carrier beside fibre and THz must keep."""

from __future__ import annotations

from functools import partial
from typing import Final

import polars as pl

from thzsync.carriers import THZ
from thzsync.errors import ThzSyncError
from thzsync.execution.carrier import CARRIERS, CarrierKind
from thzsync.testing.floors import RandomPolicy, check_run, small_floors

OWN: Final = THZ + 1
"""Its number beside fibre and THz."""


def check_carrier(kind: CarrierKind, seed: int = 0) -> int:
    """Simulate small floors on which it takes random chunks; returns its sendings.

    It must carry each of its chunks once, byte for byte, from when it is ready, keep to the rate
    and energy that it declares, and give two equal runs.
    """
    place, count = f"carrier {kind.name!r}", 0
    with CARRIERS.temporarily(kind):
        for k, scenario in small_floors(seed, carriers=["thz", kind.name]):
            run = check_run(place, scenario, k, partial(RandomPolicy, k))
            count += run.tables["sendings"].filter(pl.col("carrier") == OWN).height
    if not count:
        raise ThzSyncError(f"{place}: it sent nothing of what it carries")
    return count
