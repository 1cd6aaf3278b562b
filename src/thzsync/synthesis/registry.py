"""Synthesis methods by kind and name; packages add theirs through entry points."""

from __future__ import annotations

from functools import cache
from typing import Final

from thzsync.collectives import Kind
from thzsync.errors import ThzSyncError
from thzsync.synthesis.method import Method, Rounds
from thzsync.synthesis.rings import Ring
from thzsync.synthesis.transfers import Cyclic, DemandSorted, FreeTransfers
from thzsync.synthesis.trees import Trees

ENTRY_POINTS: Final = "thzsync.synthesizers"
"""Entry-point group whose objects are :class:`Method` instances."""

_A2A, _AR = Kind.A2A, Kind.ALLREDUCE
_MATCH, _ASSIGN = Rounds.MATCHING, Rounds.ASSIGNMENT
_FREE: Final = FreeTransfers(_A2A)

BUILT_IN: Final = (
    Method(
        Kind.P2P,
        "proposed",
        FreeTransfers(Kind.P2P),
        Rounds.STREAMING,
        "every chunk on the best free subband of its pair, at the budget",
    ),
    Method(_A2A, "proposed", _FREE, _MATCH, "channel-aware matching, minimum common duration"),
    Method(_A2A, "demand-sorted", DemandSorted(), _ASSIGN, "permutations, largest demand first"),
    Method(_A2A, "cyclic", Cyclic(), _ASSIGN, "fixed cyclic offsets with a barrier after each"),
    Method(
        _A2A, "no-channel", _FREE, _MATCH, "proposed, blind to the channel", channel_aware=False
    ),
    Method(
        _A2A, "equal-power", _FREE, _MATCH, "proposed, budgets split equally", optimal_power=False
    ),
    Method(_AR, "proposed", Trees(), _ASSIGN, "N_c sharded trees, delayed racks near the roots"),
    Method(_AR, "ring", Ring(), _ASSIGN, "2(N-1) stages on one subband", one_subband=True),
    Method(_AR, "ring-duplex", Ring(duplex=True), _ASSIGN, "ring, neighbours on other subbands"),
    Method(
        _AR, "single-tree", Trees(single=True, delay_aware=False), _ASSIGN, "one unsharded tree"
    ),
    Method(
        _AR, "no-channel", Trees(), _ASSIGN, "proposed, blind to the channel", channel_aware=False
    ),
    Method(
        _AR, "equal-power", Trees(), _ASSIGN, "proposed, budgets split equally", optimal_power=False
    ),
)


@cache
def _methods() -> dict[tuple[Kind, str], Method]:
    from importlib.metadata import entry_points

    methods = {(method.kind, method.name): method for method in BUILT_IN}
    for entry in entry_points(group=ENTRY_POINTS):
        method = entry.load()
        if not isinstance(method, Method):
            raise ThzSyncError(
                f"entry point {entry.name!r} of {ENTRY_POINTS}: found {type(method).__name__}; "
                f"it must name a thzsync.synthesis.Method"
            )
        if methods.setdefault((method.kind, method.name), method) is not method:
            raise ThzSyncError(
                f"entry point {entry.name!r} of {ENTRY_POINTS}: {method.kind} method "
                f"{method.name!r} exists already; choose another name"
            )
    return methods


def method_names(kind: Kind) -> list[str]:
    """Names of the methods for one kind of collective, built-in ones first."""
    return [name for k, name in _methods() if k == kind]


def find_method(kind: Kind, name: str) -> Method:
    """The method of this kind and name."""
    method = _methods().get((kind, name))
    if method is None:
        raise ThzSyncError(
            f"{kind} method {name!r} does not exist; use one of {', '.join(method_names(kind))}"
        )
    return method
