"""The packet-level check of a run in flow fidelity: replayed events and their error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from thzsync.arrays import IntArray
from thzsync.errors import ThzSyncError


class Replayed(NamedTuple):
    """One event that was replayed packet by packet."""

    number: int
    """The event's number in the record."""
    kind: str
    flow_ms: float
    """Completion time in the run [ms]."""
    packet_ms: float
    """Completion time packet by packet, among the same events beside it [ms]."""


class KindError(NamedTuple):
    """Error of one collective type."""

    kind: str
    events: int
    error: float
    """Sum of flow-level completion times over that of packet-level ones, less one."""
    ci95: float | None
    """Half width of the 95 % interval; None for a single event."""


@dataclass(frozen=True)
class Fidelity:
    """The errors of the replayed events of a run."""

    tolerance: float
    replayed: tuple[Replayed, ...]
    reason: str | None = None
    """Why the scenario needs packets, if flows will not do."""

    def by_kind(self) -> list[KindError]:
        """The error of every collective type, in the order of appearance."""
        kinds = dict.fromkeys(r.kind for r in self.replayed)
        return [kind_error(kind, [r for r in self.replayed if r.kind == kind]) for kind in kinds]

    def among(self, numbers: IntArray) -> Fidelity:
        """The part about the events with these numbers."""
        known = set(numbers.tolist())
        return replace(self, replayed=tuple(r for r in self.replayed if r.number in known))

    @property
    def exceeded(self) -> list[KindError]:
        """Types whose error is beyond the tolerance."""
        return [row for row in self.by_kind() if abs(row.error) > self.tolerance]

    def document(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "tolerance": self.tolerance,
            "within": not self.exceeded,
            "kinds": [row._asdict() for row in self.by_kind()],
            "replayed": [list(row) for row in self.replayed],
            **({} if self.reason is None else {"reason": self.reason}),
        }

    @classmethod
    def of_document(cls, found: Any) -> Fidelity:
        """Read what `document` wrote."""
        try:
            rows = [
                Replayed(int(number), str(kind), float(flow), float(packet))
                for number, kind, flow, packet in found["replayed"]
            ]
            return cls(float(found["tolerance"]), tuple(rows), found.get("reason"))
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ThzSyncError("run.json: fidelity is damaged; record the run anew") from None


def kind_error(kind: str, rows: Iterable[Replayed]) -> KindError:
    """Ratio of sums with the interval of a ratio estimator."""
    times = np.array([(row.flow_ms, row.packet_ms) for row in rows])
    flow, packet = times[:, 0], times[:, 1]
    ratio, n = float(flow.sum() / packet.sum()), len(times)
    if n < 2:
        return KindError(kind, n, ratio - 1, None)
    from scipy.special import stdtrit  # quantiles of Student's t without all of scipy.stats

    spread = float(((flow - ratio * packet) ** 2).sum()) / (n * (n - 1))
    half = float(stdtrit(n - 1, 0.975)) * sqrt(spread) / float(packet.mean())
    return KindError(kind, n, ratio - 1, half)
