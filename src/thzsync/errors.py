"""The one error a user can cause, and the one he can wish for."""

from __future__ import annotations


class ThzSyncError(ValueError):
    """Bad input: the message names the place, what was found and the remedy, in one line."""


def interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error; inside compiled code it arrives wrapped in another."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False
