"""The command line."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from thzsync.errors import ThzSyncError, interrupted, printable

INTERRUPTED = 130
OBJECTS_PER_COLLECTION = 300_000
"""New objects after which Python looks for garbage: more than all that a short command imports."""
_heard: list[int] = []
"""Signals that asked this command to end."""
COMPILING = "compiling kernels, once for this version: this run takes a while longer"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    0 is success, 1 a check that failed, 2 a user's mistake, 3 flows too far from packets, 130 an
    interruption.
    """
    if arguments is None:  # a process of its own looks for garbage seldom, and not at its end
        gc.set_threshold(OBJECTS_PER_COLLECTION)
        atexit.register(gc.freeze)
    status = INTERRUPTED
    _heard.clear()
    try:
        with _polite_endings():
            status = _run(arguments)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        # Compiled libraries that are being imported wrap an interruption in errors of their own,
        # without a chain.
        if not (_heard or interrupted(error)):
            if not isinstance(error, OSError):
                raise
            status = _unwritable(error)
    if status == INTERRUPTED:
        _say("thzsync: interrupted")
    return status


def _unwritable(error: OSError) -> int:
    """The reader has gone (``thzsync ... | head``), or the disk behind stdout is full."""
    # Python flushes once more at exit; give it somewhere to go.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 1
    _say(f"thzsync: error: cannot write the result ({error.strerror})")
    return 2


def _run(arguments: Sequence[str] | None) -> int:
    import typer

    from thzsync.cli.app import app
    from thzsync.jit import tell_before_compiling

    if sys.stderr.isatty():
        tell_before_compiling(lambda: _say(COMPILING))
    usage_error: Any = typer.BadParameter.__bases__[0]  # of the Click that Typer brings along
    try:
        ended = app(args=arguments, prog_name="thzsync", standalone_mode=False)
        return ended if isinstance(ended, int) else 0
    except ThzSyncError as error:
        for line in error.lines:
            _say(f"thzsync: error: {line}")
    except usage_error as error:
        _explain(error)
    except typer.Abort:
        return INTERRUPTED
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception as error:
        _blame(error)
    return 2


@contextmanager
def _polite_endings() -> Iterator[None]:
    """A warning is one line of ours, and SIGTERM saves what is finished, as Ctrl-C does."""
    with warnings.catch_warnings():
        # The library warns as Python does; at the command line a remark is one line as well.
        warnings.showwarning = lambda message, *_, **__: _say(f"thzsync: warning: {message}")
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {signal.SIGTERM: signal.signal(signal.SIGTERM, _interrupt)}
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else somebody has plans
            before[signal.SIGINT] = signal.signal(signal.SIGINT, _interrupt)
        unraisable, uncaught = sys.unraisablehook, sys.excepthook
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            sys.excepthook = uncaught
            if not _heard:  # else what is half made takes its leave at the end of the process
                sys.unraisablehook = unraisable


def _interrupt(number: int, *_: object) -> None:
    """End, and quietly.

    An object that was only half made may fail to take its leave, and compiled libraries that are
    being imported print what they are told before they wrap it up.
    """
    _heard.append(number)
    sys.unraisablehook = lambda _: None
    sys.excepthook = lambda *_: None
    raise KeyboardInterrupt


def _blame(error: Exception) -> None:
    """An error in the code of a plug-in in one line; any other is raised again."""
    from thzsync.plugins import fault

    told = None if interrupted(error) else fault(error)
    if told is None:
        raise error
    _say(f"thzsync: error: {told}")


def _explain(error: Any) -> None:
    """A wrong call in one line; a group called without a command shows its help instead."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return
    place = error.ctx.command_path if error.ctx is not None else "thzsync"
    message = error.format_message().rstrip(".")
    end = "" if message.endswith("?") else "."
    _say(f"thzsync: error: {message}{end} See `{place} --help`.")


def _say(line: str) -> None:
    print(printable(" ".join(line.splitlines())), file=sys.stderr)
