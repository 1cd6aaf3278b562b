"""Synthesis methods by collective and name; packages add theirs through entry points."""

from __future__ import annotations

from typing import Any, Final

from thzsync.errors import ThzSyncError
from thzsync.registry import Registry
from thzsync.scenario import Scenario
from thzsync.synthesis.exchanges import Cyclic, DemandSorted, FreeTransfers, Relayed, Rotation
from thzsync.synthesis.method import FlowMethod, Method, Planner, configured
from thzsync.synthesis.rings import Ring
from thzsync.synthesis.streamed import Streamed, StreamedAndRing
from thzsync.synthesis.trees import RootedTrees, Trees

ENTRY_POINTS: Final = "thzsync.synthesizers"
"""Entry-point group whose objects are :class:`Method` objects."""

Row = tuple[str, Planner, str, str]
"""A method's name, planner, discipline and summary."""


def _of(collective: str, *rows: Row) -> tuple[Method, ...]:
    return tuple(FlowMethod(collective, *row) for row in rows)


_A2A: Final = FreeTransfers("a2a")
_ONE_TREE: Final = Trees(single=True, delay_aware=False)

PUBLISHED: Final = (
    *_of(
        "p2p",
        (
            "proposed",
            FreeTransfers("p2p"),
            "streaming",
            "every chunk on the best free subband of its pair, at the budget",
        ),
    ),
    *_of(
        "a2a",
        ("proposed", _A2A, "matching", "channel-aware matching, minimum common duration"),
        ("demand-sorted", DemandSorted(), "assignment", "permutations, largest demand first"),
        ("cyclic", Cyclic(), "assignment", "fixed cyclic offsets with a barrier after each"),
        ("no-channel", _A2A, "matching-blind", "proposed, blind to the channel"),
        ("equal-power", _A2A, "matching-equal", "proposed, budgets split equally"),
    ),
    *_of(
        "allreduce",
        ("proposed", Trees(), "assignment", "N_c sharded trees, delayed racks near the roots"),
        ("ring", Ring(), "assignment-one", "2(N-1) stages on one subband"),
        ("ring-duplex", Ring(duplex=True), "assignment", "ring, neighbours on other subbands"),
        ("single-tree", _ONE_TREE, "assignment", "one unsharded tree"),
        ("no-channel", Trees(), "assignment-blind", "proposed, blind to the channel"),
        ("equal-power", Trees(), "assignment-equal", "proposed, budgets split equally"),
    ),
)
"""The paper's methods and its baselines."""


_FURTHER: Final[tuple[tuple[Ring | Trees | RootedTrees | FreeTransfers, str, str], ...]] = (
    (Ring(True, "all-gather"), "assignment", "N - 1 stages on a ring"),
    (Ring(True, "reduce-scatter"), "assignment", "N - 1 stages on a ring"),
    (RootedTrees("broadcast", False), "assignment", "a tree per subband, all from the root"),
    (RootedTrees("reduce", True), "assignment", "a tree per subband, all to the root"),
    (FreeTransfers("gather"), "matching", "everybody straight to the root"),
    (FreeTransfers("scatter"), "matching", "the root straight to everybody"),
    (Trees(True, collective="barrier"), "assignment", "a token up and down one tree"),
)
FURTHER: Final = tuple(
    FlowMethod(planner.collective, "proposed", planner, discipline, summary)
    for planner, discipline, summary in _FURTHER
)
"""Collectives that the paper does not have."""

BEYOND: Final = (
    *_of(
        "allreduce",
        (
            "path",
            Streamed(path_only=True),
            "pipeline",
            "chunks stream along a path of strong links",
        ),
        (
            "streamed",
            Streamed(),
            "",
            "chunks stream round a cycle of strong links, or along a path to the straggler",
        ),
    ),
    StreamedAndRing(),
    *_of(
        "a2a", ("sustained", Rotation(), "sustained", "busiest racks first, links kept for a while")
    ),
    Relayed(),
    *_of(
        "p2p", ("striped", FreeTransfers("p2p"), "striping", "chunks on every subband that helps")
    ),
)
"""Mechanisms that come nearer to the bound than the paper's."""

BUILT_IN: Final[tuple[Method, ...]] = (*PUBLISHED, *FURTHER, *BEYOND)


def register_method(method: Method) -> Method:
    """Make a method known by its collective and name, for this process."""
    return METHODS.register(method)


def _check(thing: Any, place: str) -> None:
    if not callable(getattr(thing, "offer", None)):
        raise ThzSyncError(
            f"{place}: found {type(thing).__name__}; give a thzsync.synthesis.Method"
        )


METHODS: Final = Registry(
    "method", ENTRY_POINTS, lambda: BUILT_IN, _check, lambda m: (m.collective, m.name)
)


def method_names(collective: str) -> list[str]:
    """Names of the methods for one collective, built-in ones first."""
    return [name for c, name in METHODS.known() if c == collective]


def method_of(scenario: Scenario, collective: str, name: str | None = None) -> Method:
    """A method with its parameters: by name, or the scenario's, or the first available one."""
    chosen = name or scenario.collectives.method(collective)
    method = find_method(collective, chosen or next(iter(method_names(collective)), ""))
    return configured(method, scenario.parameters)


def find_method(collective: str, name: str) -> Method:
    """The method of this collective and name."""
    return METHODS.find((collective, name))
