"""The command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from thzsync.errors import ThzSyncError

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    0 is success, 1 a check that failed, 2 a user's mistake, 130 an interruption.
    """
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone (``thzsync ... | head``). Python flushes once more at exit; give
        # it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _run(arguments: Sequence[str] | None) -> int:
    from thzsync.cli.app import app

    try:
        app(args=arguments, prog_name="thzsync")
    except ThzSyncError as error:
        _say(f"thzsync: error: {error}")
        return 2
    except KeyboardInterrupt:
        status = INTERRUPTED
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    else:
        status = 0
    if status == INTERRUPTED:
        _say("thzsync: interrupted")
    return status


def _say(line: str) -> None:
    print(" ".join(line.splitlines()), file=sys.stderr)
