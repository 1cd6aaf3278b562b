"""Disciplines: how the overlay forms transmissions from what is ready and free.

A flow of a transfer graph names its discipline. A record repeats the name and what the discipline
declares, and the auditor checks that the record keeps to it. Packages add their own disciplines
with :func:`register_discipline` or through the entry-point group ``thzsync.disciplines``.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Final, Protocol

from thzsync.errors import ThzSyncError
from thzsync.records.declaration import Declaration
from thzsync.registry import Registry
from thzsync.wireless.bookkeeping import Started
from thzsync.wireless.group import FlowGroup

ENTRY_POINTS: Final = "thzsync.disciplines"
"""Entry-point group whose objects are :class:`Discipline` objects."""


class Discipline(Protocol):
    """One way to form transmissions.

    Its attributes are facts of a :class:`Declaration`, and the overlay reads the four below. It may
    also have the others. Each that it leaves out has the default there, which promises nothing.
    One more attribute is no fact: ``floor_wide = True`` says that racks of other events, too,
    decide what an event may begin. ``start`` is then called after every release on the floor.
    """

    @property
    def name(self) -> str:
        """What transfer graphs and records call it."""
        ...

    @property
    def common(self) -> bool:
        """Whether an event sends one round at a time, whose transmissions all end together."""
        ...

    @property
    def guarded(self) -> bool:
        """Whether every round begins with the guard time, in which nothing is sent."""
        ...

    @property
    def steers(self) -> bool:
        """Whether the guard time occurs exactly where an RF chain turns to another rack."""
        ...

    @property
    def in_turn(self) -> bool:
        """Whether a flow begins nothing while something of it is in the air."""
        ...

    def tune(self, group: FlowGroup) -> None:
        """Prepare ``group.queue`` and ``group.links`` for a channel that has changed."""
        ...

    def start(self, group: FlowGroup, now_ps: int) -> Started:
        """Begin what can begin now; how many transmissions, chunks, and whether a flow is blocked.

        It is called when chunks of the group became ready, when a rack of its event got something
        back, and when the channel changed. A kernel is given ``group.view``. It calls
        ``bookkeeping.begin`` for every transmission, which takes subband, RF chains and power and
        marks the chunks as sent, and returns what ``bookkeeping.write_down`` returns. Where beams
        disturb each other, ``begin`` returns False for a transmission that must wait.

        Before ``until_ps`` of a flow, neither the channel nor what earlier events begin changes
        what the flow may do; other events may still release resources.
        """
        ...


def register_discipline(discipline: Discipline) -> Discipline:
    """Make a discipline known by its name, for this process."""
    return DISCIPLINES.register(discipline)


def _built_in() -> tuple[Discipline, ...]:
    from thzsync.wireless.disciplines import BUILT_IN

    return BUILT_IN


def _check(discipline: object, place: str) -> None:
    missing = [name for name in ("name", "tune", "start") if not hasattr(discipline, name)]
    if missing:
        raise ThzSyncError(f"{place}: {discipline!r} lacks {', '.join(missing)}; see Discipline")
    _declaration(discipline, place)


def _declaration(discipline: object, place: str) -> Declaration:
    names = [f.name for f in fields(Declaration) if hasattr(discipline, f.name)]
    told = {name: getattr(discipline, name) for name in names}
    return Declaration.of(told, f"{place}: {discipline!r}")


DISCIPLINES: Final = Registry("discipline", ENTRY_POINTS, _built_in, _check, lambda d: d.name)


def declarations() -> dict[str, Declaration]:
    """What every known discipline declares, by name."""
    return {name: _declaration(d, "discipline") for name, d in DISCIPLINES.known().items()}


def find_discipline(name: str) -> Discipline:
    """The discipline of this name."""
    return DISCIPLINES.find(name)
