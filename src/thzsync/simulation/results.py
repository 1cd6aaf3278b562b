"""What the tables of a run say: bandwidths, mean costs, and whether all results are finite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from thzsync.errors import ThzSyncError

if TYPE_CHECKING:
    import polars as pl

    from thzsync.records import References, Run

Row: TypeAlias = tuple[str, float, float]
"""Collective type, completion time [ms] and counted energy [J] of an event."""
BANDWIDTHS: Final = ("algbw_gb_s", "busbw_gb_s")
"""Algorithm and bus bandwidth of recorded events as nccl-tests defines them [GB/s, 1e9 bytes]."""
COUNTED: Final = {
    "transmission": ["optical_energy_j", "thz_energy_j", "further_energy_j"],
    "wall-plug": ["optical_wall_j", "thz_wall_j", "further_wall_j"],
    "with-static": ["optical_wall_j", "thz_wall_j", "further_wall_j", "static_j"],
}
"""Columns of events of which every kind of energy that a reward may count is the sum."""
_CAUSES: Final = {
    "_wall": "look at the section energy, thz.max_power_w and the events' sizes",
    "wall_": "look at the section energy, thz.max_power_w and the events' sizes",
    "static": "look at the section energy",
    "energy": "look at optical.energy_j_per_bit_hop, thz.max_power_w and the events' sizes",
    "reward": "look at what the reference run cost, and at the reward's weights",
}
_OTHER_CAUSE: Final = "look at the scenario's times, rates and sizes"


def by_collective(events: pl.DataFrame) -> list[dict[str, Any]]:
    """Number, mean time and bandwidths of the events of every collective type.

    A type's bandwidth is all its bytes over all its time, so long events weigh more.
    """
    import polars as pl

    time = pl.col("completion_ms")
    sums = [
        pl.when(time.sum() > 0).then((pl.col(name) * time).sum() / time.sum()).alias(name)
        for name in BANDWIDTHS
    ]
    grouped = events.group_by("kind", maintain_order=True)
    return grouped.agg(pl.len().alias("events"), time.mean(), *sums).to_dicts()


def mean_costs(events: pl.DataFrame, counts: str = "transmission") -> References:
    """Mean completion time [s] and counted energy [J] per collective type."""
    import polars as pl

    energy_j = events.select(pl.sum_horizontal(COUNTED[counts])).to_series()
    columns = events["kind"], events["completion_ms"], energy_j
    return mean_of_rows(zip(*(column.to_list() for column in columns), strict=True))


def mean_of_rows(rows: Iterable[Row]) -> References:
    """The same of events that are no table."""
    costs: dict[str, tuple[list[float], list[float]]] = {}
    for kind, time_ms, energy_j in rows:
        times, energies = costs.setdefault(kind, ([], []))
        times.append(time_ms * 1e-3)
        energies.append(energy_j)
    return {kind: (mean(times), mean(energies)) for kind, (times, energies) in costs.items()}


def mean(values: Sequence[float]) -> float:
    """The mean, summed in order with Kahan's compensation: the same digits on any machine."""
    total = lost = 0.0
    for value in values:
        term = value - lost
        total, before = total + term, total
        lost = (total - before) - term
    return total / len(values)


def refuse_not_finite(run: Run) -> Run:
    """The run itself, if all its results are finite; otherwise an error names the first one."""
    import polars.selectors as cs

    for noun, frame in (("event", run.events), ("iteration", run.iterations)):
        for column in frame.select(cs.float()).iter_columns():
            for row in (~column.is_finite()).arg_true().head(1).to_list():
                raise not_finite(f"{noun} {row}", column.name, column[row])
    return run


def not_finite(place: str, name: str, value: float) -> ThzSyncError:
    """What to look at when a result is not a finite number."""
    causes = [text for word, text in _CAUSES.items() if word in name]
    return ThzSyncError(
        f"{place}: {name} is {value:g}, not a finite number; {(causes or [_OTHER_CAUSE])[0]}"
    )
