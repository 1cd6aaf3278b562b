"""The one error a user can cause."""

from __future__ import annotations


class ThzSyncError(ValueError):
    """Bad input: the message names the place, what was found and the remedy, in one line."""
