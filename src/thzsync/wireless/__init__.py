"""The THz executor: frontier, matching, subbands, power."""

from __future__ import annotations

from thzsync.wireless.overlay import NEVER_PS, Overlay
from thzsync.wireless.round import Round, Stuck

__all__ = ["NEVER_PS", "Overlay", "Round", "Stuck"]
