"""Spans in a Kineto profile: communication, and the times at which the rank is busy."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from thzsync.errors import ThzSyncError
from thzsync.importers.kineto.names import collective_kind

_DEVICE: Final = ("kernel", "gpu_memcpy", "gpu_memset")
_COMMS: Final = "record_param_comms"
_COLLECTIVE: Final = "Collective name"
_STEP: Final = re.compile(r"ProfilerStep#(\d+)")


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


@dataclass(frozen=True)
class Busy:
    """When a rank computes: disjoint intervals in ascending order."""

    begin_us: list[float]
    end_us: list[float]

    def last_end(self, time_us: float) -> float | None:
        """End of the last interval before ``time_us``; None if an interval contains it."""
        place = bisect_left(self.begin_us, time_us) - 1
        if place < 0:
            return -math.inf
        end = self.end_us[place]
        return end if end <= time_us else None


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
    if begin is None or length is None or not (_is_time(begin) and _is_time(length)):
        return None
    arguments = event.get("args")
    lane = f"{event.get('pid')}/{event.get('tid')}"
    return Span(
        str(event.get("cat")), str(event.get("name")), lane, begin, begin + length,
        arguments if isinstance(arguments, dict) else {},
    )  # fmt: skip


def _is_time(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and 0 <= value < 1e18


def steps(spans: Iterable[Span]) -> dict[int, tuple[float, float]]:
    """Begin and end of every profiled step, on the device if it recorded them [us]."""
    found: dict[int, tuple[float, float]] = {}
    on_device = set()
    for span in spans:
        match = _STEP.fullmatch(span.name)
        if match and len(match[1]) < 10:
            number, device = int(match[1]), span.category == "gpu_user_annotation"
            if device or number not in on_device:
                found[number] = (span.begin_us, span.end_us)
            if device:
                on_device.add(number)
    return found


def within(spans: Iterable[Span], begin_us: float, end_us: float) -> list[Span]:
    """Spans that begin in a window."""
    return [span for span in spans if begin_us <= span.begin_us < end_us]


def traffic(spans: list[Span], path: Path) -> list[Traffic]:
    """Communication, in the order of the rank's calls.

    The arguments of a call are in NCCL's kernels, or in its records on a CPU. Gloo has annotations,
    and the calls are PyTorch's operators on the caller's thread.
    """
    described = [s for s in spans if _COLLECTIVE in s.arguments]
    for wanted in (_DEVICE, ("cpu_op",)):
        found = [s for s in described if s.category in wanted and _sends(s)]
        if found:
            return [Traffic(s.begin_us, s, str(s.arguments[_COLLECTIVE])) for s in found]
    if any(s.name == _COMMS for s in spans) and not described:
        raise ThzSyncError(
            f"{path}: its record_param_comms carry no sizes; record it with PyTorch 2.3 or newer"
        )
    return sorted(_gloo(spans), key=lambda t: t.issued_us)


def _sends(span: Span) -> bool:
    idle = ("wait", "init", "startCoalescing", "endCoalescing")
    return str(span.arguments[_COLLECTIVE]) not in idle


def _gloo(spans: list[Span]) -> Iterator[Traffic]:
    """Pair Gloo's spans with calls in turn: its threads may change the order of calls."""
    asked: dict[tuple[str | None, str], deque[Span]] = defaultdict(deque)
    for span in spans:
        if span.name.startswith("c10d::"):
            kind = collective_kind(span.name.removeprefix("c10d::"))
            asked[kind, _shape(span)].append(span)
    for span in spans:
        if span.name.startswith("gloo:"):
            name = span.name.removeprefix("gloo:")
            queue = asked[collective_kind(name), _shape(span)]
            issued = queue.popleft().begin_us if queue else span.begin_us
            yield Traffic(min(issued, span.begin_us), span, name)


def first_shape(arguments: Mapping[str, Any]) -> Any:
    """The first tensor's dimensions, at any depth of lists."""
    dims = arguments.get("Input Dims")
    while isinstance(dims, list) and dims and isinstance(dims[0], list):
        dims = dims[0]
    return dims


def _shape(span: Span) -> str:
    return str(first_shape(span.arguments))[:100]


def busy(spans: list[Span], traffic_lanes: set[str]) -> Busy:
    """When the rank computes: on its device if it has one, otherwise on its threads."""
    device = [s for s in spans if s.category in _DEVICE]
    working = [s for s in device if _COLLECTIVE not in s.arguments and "nccl" not in s.name]
    if not device:
        working = [s for s in spans if s.category == "cpu_op" and s.lane not in traffic_lanes]
    begin: list[float] = []
    end: list[float] = []
    for span in working:  # by time
        if end and span.begin_us <= end[-1]:
            end[-1] = max(end[-1], span.end_us)
        else:
            begin.append(span.begin_us)
            end.append(span.end_us)
    return Busy(begin, end)
