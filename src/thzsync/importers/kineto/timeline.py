"""Spans of a Kineto profile, and dependencies from the timeline of a rank.

A profile says when operations ran, not why. Two rules make a graph of it:

- What a rank did before it asked for a collective comes before the collective.
- A rank that was idle when a collective ended was waiting for it, so its next work comes after it.
  Compute that continued across the end of a collective did not wait for it.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeGuard

from thzsync.errors import ThzSyncError
from thzsync.importers.ranks import Operation, Track, Work

_DEVICE: Final = ("kernel", "gpu_memcpy", "gpu_memset")
"""Categories of spans on a device."""
_COLLECTIVE: Final = "Collective name"
"""The argument that a span of communication has."""
_STEP: Final = re.compile(r"ProfilerStep#(\d{1,9})")
_IDLE: Final = ("wait", "init", "startCoalescing", "endCoalescing")
"""Collective names that stand for no communication."""
_VARIANTS: Final = ("oop", "coalesced", "intotensor", "tensor", "base", "single", "v")
"""Endings of a name that do not change the collective."""
_KINDS: Final = {
    kind.replace("-", ""): kind
    for kind in (
        "allreduce", "all-gather", "reduce-scatter", "broadcast", "reduce", "gather", "scatter",
        "barrier",
    )
} | {"alltoall": "a2a"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Span:
    """One entry of the profile with a duration."""

    category: str
    name: str
    lane: str
    """Thread or stream."""
    begin_us: float
    end_us: float
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Traffic:
    """A message or a collective of a rank."""

    issued_us: float
    """Time at which the rank called it [us]."""
    run: Span
    """Its execution."""
    name: str


Described = Callable[[Traffic, tuple[int, ...]], Operation]
"""Makes the operation for a message or collective, from its dependencies."""


def letters(name: str) -> str:
    """The part of a name that counts: PyTorch spells names in several ways."""
    return re.sub(r"[^a-z]", "", name.lower())


def collective_kind(name: str) -> str | None:
    """The collective for a name such as ``_allgather_base`` or ``all_reduce``, if any."""
    known = letters(name)
    while known not in _KINDS:
        shorter = next((known.removesuffix(v) for v in _VARIANTS if known.endswith(v)), "")
        if not shorter:
            return None
        known = shorter
    return _KINDS[known]


def read_spans(document: Any, path: Path) -> list[Span]:
    """All entries with a duration, by time; the step is selected later."""
    events = document.get("traceEvents") if isinstance(document, dict) else None
    if not isinstance(events, list):
        raise ThzSyncError(f"{path}: no traceEvents; give a trace that torch.profiler exported")
    spans = [span for event in events if (span := _span(event)) is not None]
    return sorted(spans, key=lambda span: span.begin_us)


def _span(event: Any) -> Span | None:
    if not isinstance(event, dict) or event.get("ph") != "X":
        return None
    begin, length = event.get("ts"), event.get("dur")
    if not (_is_time(begin) and _is_time(length)):
        return None
    arguments = event.get("args")
    lane = f"{event.get('pid')}/{event.get('tid')}"
    return Span(
        str(event.get("cat")), str(event.get("name")), lane, begin, begin + length,
        arguments if isinstance(arguments, dict) else {},
    )  # fmt: skip


def _is_time(value: Any) -> TypeGuard[float]:
    return type(value) in (int, float) and 0 <= value < 1e18


def steps(spans: Iterable[Span]) -> dict[int, tuple[float, float]]:
    """Begin and end of every profiled step, on the device if it recorded them [us]."""
    found: dict[bool, dict[int, tuple[float, float]]] = {False: {}, True: {}}
    for span in spans:
        match = _STEP.fullmatch(span.name)
        if match:
            on_device = span.category == "gpu_user_annotation"
            found[on_device][int(match[1])] = (span.begin_us, span.end_us)
    return found[False] | found[True]


def traffic(spans: list[Span], path: Path) -> list[Traffic]:
    """Communication, in the order of the rank's calls.

    The arguments of a call are in NCCL's kernels, or in its records on a CPU. Gloo has annotations,
    and the calls are PyTorch's operators on the caller's thread.
    """
    described = [(s, str(s.arguments[_COLLECTIVE])) for s in spans if _COLLECTIVE in s.arguments]
    for wanted in (_DEVICE, ("cpu_op",)):
        found = [
            Traffic(span.begin_us, span, name)
            for span, name in described
            if span.category in wanted and name not in _IDLE
        ]
        if found:
            return found
    if any(s.name == "record_param_comms" for s in spans) and not described:
        raise ThzSyncError(
            f"{path}: its record_param_comms carry no sizes; record it with PyTorch 2.3 or newer"
        )
    return sorted(_gloo(spans), key=lambda t: t.issued_us)


def _gloo(spans: list[Span]) -> Iterator[Traffic]:
    """Pair Gloo's spans with calls in turn: its threads may change the order of calls."""
    asked: dict[tuple[str | None, str], deque[Span]] = defaultdict(deque)
    for span in spans:
        if span.name.startswith("c10d::"):
            asked[_call(span, "c10d::")].append(span)
    for span in spans:
        if span.name.startswith("gloo:"):
            queue = asked[_call(span, "gloo:")]
            issued = queue.popleft().begin_us if queue else span.begin_us
            yield Traffic(min(issued, span.begin_us), span, span.name.removeprefix("gloo:"))


def _call(span: Span, prefix: str) -> tuple[str | None, str]:
    kind = collective_kind(span.name.removeprefix(prefix))
    return kind, str(first_shape(span.arguments))[:100]


def first_shape(arguments: Mapping[str, Any]) -> Any:
    """The first tensor's dimensions, at any depth of lists."""
    dims = arguments.get("Input Dims")
    while isinstance(dims, list) and dims and isinstance(dims[0], list):
        dims = dims[0]
    return dims


@dataclass(frozen=True)
class Busy:
    """When a rank computes: disjoint intervals in ascending order."""

    begin_us: list[float]
    end_us: list[float]

    def last_end(self, time_us: float) -> float | None:
        """End of the last interval before ``time_us``; None if an interval contains it."""
        place = bisect_left(self.begin_us, time_us) - 1
        end = self.end_us[place] if place >= 0 else -math.inf
        return end if end <= time_us else None


def busy(spans: list[Span], traffic_lanes: set[str]) -> Busy:
    """When the rank computes: on its device if it has one, otherwise on its threads."""
    device = [s for s in spans if s.category in _DEVICE]
    working = [s for s in device if _COLLECTIVE not in s.arguments and "nccl" not in s.name]
    if not device:
        working = [s for s in spans if s.category == "cpu_op" and s.lane not in traffic_lanes]
    found = Busy([], [])
    for span in working:  # by time
        if found.end_us and span.begin_us <= found.end_us[-1]:
            found.end_us[-1] = max(found.end_us[-1], span.end_us)
        else:
            found.begin_us.append(span.begin_us)
            found.end_us.append(span.end_us)
    return found


@dataclass
class _Line(Track):
    """The operations of a rank up to some time."""

    now_us: float

    def work_until(self, time_us: float) -> None:
        """Add the time since the last cut as work, if there is any."""
        if time_us > self.now_us:
            self.then(Work(self.last, (time_us - self.now_us) * 1e-6, "compute"))
            self.now_us = time_us


def operations(
    found: Sequence[Traffic], busy: Busy, begin_us: float, end_us: float, described: Described
) -> list[Operation]:
    """The work of a rank, cut where it asked for communication and where it waited."""
    line = _Line(begin_us)
    position: dict[int, int] = {}
    before: dict[str, int] = {}
    # At the same time, a request comes before an end; otherwise an end could precede its start.
    cuts = [(t.issued_us, 0, n) for n, t in enumerate(found)]
    cuts += [(t.run.end_us, 1, n) for n, t in enumerate(found)]
    for time_us, ends, number in sorted(cuts):
        asked = found[number]
        if not ends:
            line.work_until(time_us)
            queued = (before[asked.run.lane],) if asked.run.lane in before else ()
            added = line.add(described(asked, tuple(dict.fromkeys(line.last + queued))))
            position[number] = before[asked.run.lane] = added
            continue
        stopped_us = busy.last_end(time_us)
        if stopped_us is not None and time_us > line.now_us:
            line.work_until(min(stopped_us, time_us))
            line.last = (*line.last, position[number])
            line.now_us = time_us
    line.work_until(end_us)
    return line.operations
