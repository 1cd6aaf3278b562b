"""Spans in a Kineto profile: what the rank did, and which of it was communication."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeGuard

from thzsync.errors import ThzSyncError

DEVICE: Final = ("kernel", "gpu_memcpy", "gpu_memset")
"""Categories of spans on a device."""
COLLECTIVE: Final = "Collective name"
"""The argument that a span of communication has."""
_STEP: Final = re.compile(r"ProfilerStep#(\d{1,9})")
_IDLE: Final = ("wait", "init", "startCoalescing", "endCoalescing")
"""Collective names that stand for no communication."""
_VARIANTS: Final = ("oop", "coalesced", "intotensor", "tensor", "base", "single", "v")
"""Endings of a name that do not change the collective."""
_KINDS: Final = {
    "allreduce": "allreduce",
    "allgather": "all-gather",
    "reducescatter": "reduce-scatter",
    "alltoall": "a2a",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
    "barrier": "barrier",
}


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
    described = [(s, str(s.arguments[COLLECTIVE])) for s in spans if COLLECTIVE in s.arguments]
    for wanted in (DEVICE, ("cpu_op",)):
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
