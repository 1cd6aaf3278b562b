"""``python -m thzsync.workers.worker``: carries out calls until whoever asks is gone.

It never outlives whoever started it: a thread sees the end of the connection also during a long
call, and on Linux the kernel is asked to end the process with its parent.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, Final

from thzsync.workers.call import Call, carry_out, hearing

_PR_SET_PDEATHSIG: Final = 1


def main(handle: str, parent: str = "") -> None:
    """Answer calls one after the other; with a ``parent``'s process id, end with that process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the group; the parent decides
    if parent:
        _die_with(int(parent))
    connection: Connection[Any, Any] = Connection(int(handle))
    sys.path[:] = connection.recv()
    calls: SimpleQueue[Call] = SimpleQueue()
    threading.Thread(target=_listen, args=(connection, calls), daemon=True).start()
    while True:
        call = calls.get()
        with hearing(connection.send):
            answer = carry_out(call)
        connection.send(answer)


def _listen(connection: Connection[Any, Any], calls: SimpleQueue[Call]) -> None:
    while True:
        try:
            calls.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)  # nobody is left to take an answer, so a call under way is pointless


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it went before we could ask
        os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
