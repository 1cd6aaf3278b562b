"""Synthesis methods by collective and name; packages add theirs through entry points."""

from __future__ import annotations

from functools import cache
from typing import Final

from thzsync.collectives import collective_names
from thzsync.errors import ThzSyncError
from thzsync.synthesis.exchanges import Cyclic, DemandSorted, FreeTransfers, Rotation
from thzsync.synthesis.hybrid import StreamedAndRing
from thzsync.synthesis.method import FlowMethod, Method
from thzsync.synthesis.relays import Relayed
from thzsync.synthesis.rings import Ring
from thzsync.synthesis.streamed import Streamed
from thzsync.synthesis.trees import RootedTrees, Trees

ENTRY_POINTS: Final = "thzsync.synthesizers"
"""Entry-point group whose objects are :class:`Method` objects."""

_A2A: Final = FreeTransfers("a2a")

PUBLISHED: Final = (
    FlowMethod(
        "p2p",
        "proposed",
        FreeTransfers("p2p"),
        "streaming",
        "every chunk on the best free subband of its pair, at the budget",
    ),
    FlowMethod(
        "a2a", "proposed", _A2A, "matching", "channel-aware matching, minimum common duration"
    ),
    FlowMethod(
        "a2a", "demand-sorted", DemandSorted(), "assignment", "permutations, largest demand first"
    ),
    FlowMethod(
        "a2a", "cyclic", Cyclic(), "assignment", "fixed cyclic offsets with a barrier after each"
    ),
    FlowMethod("a2a", "no-channel", _A2A, "matching-blind", "proposed, blind to the channel"),
    FlowMethod("a2a", "equal-power", _A2A, "matching-equal", "proposed, budgets split equally"),
    FlowMethod(
        "allreduce",
        "proposed",
        Trees(),
        "assignment",
        "N_c sharded trees, delayed racks near the roots",
    ),
    FlowMethod("allreduce", "ring", Ring(), "assignment-one", "2(N-1) stages on one subband"),
    FlowMethod(
        "allreduce",
        "ring-duplex",
        Ring(duplex=True),
        "assignment",
        "ring, neighbours on other subbands",
    ),
    FlowMethod(
        "allreduce",
        "single-tree",
        Trees(single=True, delay_aware=False),
        "assignment",
        "one unsharded tree",
    ),
    FlowMethod(
        "allreduce", "no-channel", Trees(), "assignment-blind", "proposed, blind to the channel"
    ),
    FlowMethod(
        "allreduce", "equal-power", Trees(), "assignment-equal", "proposed, budgets split equally"
    ),
)
"""The paper's methods and its baselines."""

FURTHER: Final = (
    FlowMethod(
        "all-gather",
        "proposed",
        Ring(duplex=True, collective="all-gather"),
        "assignment",
        "N - 1 stages on a ring",
    ),
    FlowMethod(
        "reduce-scatter",
        "proposed",
        Ring(duplex=True, collective="reduce-scatter"),
        "assignment",
        "N - 1 stages on a ring",
    ),
    FlowMethod(
        "broadcast",
        "proposed",
        RootedTrees("broadcast", reduces=False),
        "assignment",
        "a tree per subband, all from the root",
    ),
    FlowMethod(
        "reduce",
        "proposed",
        RootedTrees("reduce", reduces=True),
        "assignment",
        "a tree per subband, all to the root",
    ),
    FlowMethod(
        "gather", "proposed", FreeTransfers("gather"), "matching", "everybody straight to the root"
    ),
    FlowMethod(
        "scatter",
        "proposed",
        FreeTransfers("scatter"),
        "matching",
        "the root straight to everybody",
    ),
    FlowMethod(
        "barrier",
        "proposed",
        Trees(single=True, collective="barrier"),
        "assignment",
        "a token up and down one tree",
    ),
)
"""Collectives that the paper does not have."""

BEYOND: Final = (
    FlowMethod(
        "allreduce",
        "path",
        Streamed(path_only=True),
        "pipeline",
        "chunks stream along a path of strong links",
    ),
    FlowMethod(
        "allreduce",
        "streamed",
        Streamed(),
        "",
        "chunks stream round a cycle of strong links, or along a path to the late rack",
    ),
    StreamedAndRing(),
    FlowMethod(
        "a2a", "sustained", Rotation(), "sustained", "busiest racks first, links held for a while"
    ),
    Relayed(),
    FlowMethod(
        "p2p", "striped", FreeTransfers("p2p"), "striping", "chunks on every subband that helps"
    ),
)
"""Mechanisms that come nearer to the bound than the paper's."""

BUILT_IN: Final[tuple[Method, ...]] = (*PUBLISHED, *FURTHER, *BEYOND)

_added: dict[tuple[str, str], Method] = {}


def register_method(method: Method) -> Method:
    """Make a method known by its collective and name, for this process."""
    key = (method.collective, method.name)
    if _methods().get(key, method) is not method:
        raise ThzSyncError(f"{key[0]} method {key[1]!r} exists already; choose another name")
    _added[key] = method
    _methods.cache_clear()
    return method


@cache
def _methods() -> dict[tuple[str, str], Method]:
    from importlib.metadata import entry_points

    methods = {(method.collective, method.name): method for method in BUILT_IN}
    for entry in entry_points(group=ENTRY_POINTS):
        method = entry.load()
        if not callable(getattr(method, "offer", None)):
            raise ThzSyncError(
                f"entry point {entry.name!r} of {ENTRY_POINTS}: found {type(method).__name__}; "
                f"it must name a thzsync.synthesis.Method"
            )
        if methods.setdefault((method.collective, method.name), method) is not method:
            raise ThzSyncError(
                f"entry point {entry.name!r} of {ENTRY_POINTS}: {method.collective} method "
                f"{method.name!r} exists already; choose another name"
            )
    return methods | _added


def method_names(collective: str) -> list[str]:
    """Names of the methods for one collective, built-in ones first."""
    return [name for c, name in _methods() if c == collective]


def find_method(collective: str, name: str) -> Method:
    """The method of this collective and name."""
    method = _methods().get((collective, name))
    if method is not None:
        return method
    names = method_names(collective)
    if not names:
        known = ", ".join(c for c in collective_names() if method_names(c))
        raise ThzSyncError(f"there is no method for {collective!r}; there are some for {known}")
    raise ThzSyncError(
        f"{collective} method {name!r} does not exist; use one of {', '.join(names)}"
    )
