"""The packet-level error of the runs of a command, at every place that was checked."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from thzsync.errors import ThzSyncError
from thzsync.records.fidelity import Fidelity, KindError

Place = dict[str, Any]
"""What distinguishes runs, such as policy and axis values; empty for a single run."""
FIGURES: Final = (*KindError._fields, "tolerance")
WORDS: Final = ("verdict", "reason")
"""What follows from the figures, and what the scenario says."""


class BeyondToleranceWarning(UserWarning):
    """Flows differ from packets by more than their scenario tolerates."""


@dataclass(frozen=True)
class Certified:
    """The error of one collective type at one place, over all seeds."""

    place: Place
    found: KindError
    tolerance: float
    reason: str | None = None
    """Why the scenario needs packets, if flows will not do."""

    @property
    def beyond(self) -> bool:
        """Whether the error is larger than tolerated."""
        return abs(self.found.error) > self.tolerance

    @property
    def verdict(self) -> str:
        """Within or beyond the tolerance; undecided if the interval includes it or is not known."""
        ci95 = self.found.ci95
        if ci95 is None or abs(abs(self.found.error) - self.tolerance) <= ci95:
            return "undecided"
        return "beyond" if self.beyond else "within"

    @property
    def where(self) -> str:
        """The place in words."""
        axes = ", ".join(f"{key}={value}" for key, value in self.place.items() if key != "policy")
        policy = f"under {self.place['policy']}" if "policy" in self.place else ""
        return " ".join(filter(None, (policy, f"at {axes}" if axes else "")))

    @property
    def warning(self) -> str:
        """The fault and its remedy."""
        remedy = f"{self.reason}:" if self.reason else "raise optical.trains_per_flow or"
        return (
            f"{' '.join(filter(None, (self.found.kind, self.where)))} is "
            f"{100 * self.found.error:+.2f} % off packets, beyond optical.fidelity_tolerance "
            f'({100 * self.tolerance:g} %); {remedy} use optical.fidelity = "packet"'
        )


@dataclass(frozen=True)
class Certificate:
    """The errors of all replayed events, place by place."""

    tolerance: float
    """The strictest tolerance of the runs."""
    rows: tuple[Certified, ...]

    def worst(self) -> list[Certified]:
        """Per collective type, the place with the largest error relative to its tolerance."""
        found: dict[str, Certified] = {}
        for row in self.rows:
            found[row.found.kind] = max(found.get(row.found.kind, row), row, key=_excess)
        return list(found.values())

    @property
    def exceeded(self) -> list[Certified]:
        """The worst places of types that are beyond the tolerance somewhere."""
        return [row for row in self.worst() if row.beyond]

    def at(self, policy: str) -> Certificate:
        """The part about one policy."""
        rows = tuple(row for row in self.rows if row.place.get("policy") == policy)
        return Certificate(self.tolerance, rows)

    def document(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "tolerance": self.tolerance,
            "within": not self.exceeded,
            "kinds": [
                {
                    **row.place,
                    **row.found._asdict(),
                    "tolerance": row.tolerance,
                    "verdict": row.verdict,
                    **({} if row.reason is None else {"reason": row.reason}),
                }
                for row in self.rows
            ],
        }

    @classmethod
    def of_document(cls, found: Any, source: str) -> Certificate:
        """Read what `document` wrote."""
        try:
            rows = tuple(map(_row, found["kinds"]))
            return cls(float(found["tolerance"]), rows)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ThzSyncError(f"{source}: fidelity is damaged; make it anew") from None


def _excess(row: Certified) -> float:
    return abs(row.found.error) / row.tolerance


def _row(told: dict[str, Any]) -> Certified:
    kind, events, error, ci95, tolerance = (told[name] for name in FIGURES)
    place = {key: value for key, value in told.items() if key not in (*FIGURES, *WORDS)}
    half = None if ci95 is None else float(ci95)
    found = KindError(str(kind), int(events), float(error), half)
    return Certified(place, found, float(tolerance), told.get("reason"))


def certify(runs: Iterable[tuple[Place, Fidelity | None]]) -> Certificate | None:
    """The certificate of several runs; None if none of them is in flow fidelity.

    Events of all seeds at one place count as one sample, so more seeds narrow the interval.
    """
    told = [(place, found) for place, found in runs if found is not None]
    if not told:
        return None
    places: dict[str, tuple[Place, list[Fidelity]]] = {}
    for place, found in told:
        places.setdefault(repr(place), (place, []))[1].append(found)
    return Certificate(
        min(found.tolerance for _, found in told),
        tuple(row for place, found in places.values() for row in _certified(place, found)),
    )


def _certified(place: Place, found: list[Fidelity]) -> Iterator[Certified]:
    tolerance = min(one.tolerance for one in found)
    together = Fidelity(tolerance, tuple(row for one in found for row in one.replayed))
    reason = next((one.reason for one in found if one.reason), None)
    return (Certified(place, row, tolerance, reason) for row in together.by_kind())


def warn_beyond(found: Certificate | None) -> None:
    """Warn of every type that is beyond the tolerance."""
    for row in found.exceeded if found is not None else ():
        warnings.warn(row.warning, BeyondToleranceWarning, stacklevel=3)


@contextmanager
def judged_together() -> Iterator[None]:
    """Suppress warnings of single runs: a command judges all its runs together."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeyondToleranceWarning)
        yield
