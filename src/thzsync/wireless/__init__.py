"""The THz overlay: disciplines, subbands, power."""

from __future__ import annotations

from thzsync.arrays import NEVER_PS
from thzsync.wireless.discipline import Discipline, find_discipline, register_discipline
from thzsync.wireless.overlay import Overlay
from thzsync.wireless.round import Round, Stuck

__all__ = [
    "NEVER_PS",
    "Discipline",
    "Overlay",
    "Round",
    "Stuck",
    "find_discipline",
    "register_discipline",
]
