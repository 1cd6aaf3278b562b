"""The command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from thzsync.errors import ThzSyncError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    0 is success, 1 a check that failed, 2 a user's mistake, 130 an interruption.
    """
    from thzsync.cli.app import app

    try:
        app(args=arguments, prog_name="thzsync")
    except ThzSyncError as error:
        _say(f"thzsync: error: {error}")
        return 2
    except KeyboardInterrupt:
        _say("thzsync: interrupted")
        return 130
    except BrokenPipeError:
        return _leave_closed_pipe()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if status == 130:
            _say("thzsync: interrupted")
        return status
    return 0


def _say(line: str) -> None:
    print(" ".join(line.splitlines()), file=sys.stderr)


def _leave_closed_pipe() -> int:
    """The reader has gone (``thzsync ... | head``): nothing is wrong, nothing is left to say."""
    # Python flushes stdout once more at exit; give it somewhere to go.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
