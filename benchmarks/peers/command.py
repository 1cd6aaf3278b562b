"""Running another simulator's command."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Final

from thzsync.errors import ThzSyncError

LONGEST_S: Final = 300


def output_of(command: Sequence[str]) -> str:
    """What a command prints; one line of its complaint if it fails."""
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST_S,
        )
    except subprocess.TimeoutExpired as error:
        raise ThzSyncError(f"{command[0]} did not end within {LONGEST_S} s") from error
    except OSError as error:
        raise ThzSyncError(f"{command[0]} cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise ThzSyncError(f"{command[0]} failed with {done.returncode}: {lines[-1][:200]}")
    return done.stdout
