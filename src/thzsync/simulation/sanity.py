"""Results must be numbers: whatever overflowed is named, not written down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thzsync.errors import ThzSyncError

if TYPE_CHECKING:
    import polars as pl

    from thzsync.records import Run

_CAUSES: Final = {
    "energy": "look at optical.energy_j_per_bit_hop, thz.max_power_w and the events' sizes",
    "reward": "look at what the reference run cost, and at the reward's weights",
}
_OTHER_CAUSE: Final = "look at the scenario's times, rates and sizes"


def refuse_not_finite(run: Run) -> Run:
    """The run itself, if all its results are finite."""
    for noun, frame in (("event", run.events), ("iteration", run.iterations)):
        _check(noun, frame)
    return run


def _check(noun: str, frame: pl.DataFrame) -> None:
    import polars.selectors as cs

    for column in frame.select(cs.float()).iter_columns():
        bad = (~column.is_finite()).arg_true()
        if len(bad):
            row = int(bad[0])
            cause = next((text for word, text in _CAUSES.items() if word in column.name), None)
            raise ThzSyncError(
                f"{noun} {row}: {column.name} is {column[row]:g}, not a finite number; "
                f"{cause or _OTHER_CAUSE}"
            )
