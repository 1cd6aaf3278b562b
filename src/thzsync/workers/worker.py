"""``python -m thzsync.workers.worker``: carries out calls from stdin until stdin ends.

It never outlives whoever started it: a thread sees the end of stdin also during a long call, and
on Linux the kernel is asked to end the process with its parent.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from queue import SimpleQueue
from typing import IO, Final

from thzsync.workers.call import Call, carry_out
from thzsync.workers.frames import Frame, read_frame, write_frame
from thzsync.workers.news import hearing

DIE_WITH_PARENT: Final = "--die-with-parent="
"""Option with the parent's process id; asks the kernel to end the worker with that process."""
_PR_SET_PDEATHSIG: Final = 1


def main(arguments: list[str]) -> None:
    """Answer calls one after the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the group; the parent decides
    for argument in arguments:
        if argument.startswith(DIE_WITH_PARENT):
            _die_with(int(argument.removeprefix(DIE_WITH_PARENT)))
    answers = _private_stdout()
    frames: SimpleQueue[Frame] = SimpleQueue()
    threading.Thread(target=_listen, args=(frames,), daemon=True).start()
    greeting, _ = frames.get()
    sys.path[:] = greeting["path"]
    while True:
        header, payload = frames.get()
        with hearing(lambda share: write_frame(answers, {"share": share})):
            answer = carry_out(Call(header["function"], payload, header["version"]))
        told = {
            "error": answer.error,
            "traceback": answer.traceback,
            "warnings": answer.warnings,
        }
        write_frame(answers, told, answer.payload)


def _listen(frames: SimpleQueue[Frame]) -> None:
    while True:
        frame = read_frame(sys.stdin.buffer)
        if frame is None:
            os._exit(0)  # nobody is left to take an answer, so a call under way is pointless
        frames.put(frame)


def _private_stdout() -> IO[bytes]:
    """Stdout for answers alone: what a library prints there goes to stderr instead."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it went before we could ask
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
