"""Things to ask of a worker."""

from __future__ import annotations

import os
import signal
import time
import warnings
from pathlib import Path

from thzsync.workers.call import tell


def echo(payload: bytes) -> bytes:
    return payload


def fail(payload: bytes) -> bytes:
    raise RuntimeError(f"asked to fail\n on {payload.decode()}")


def talk(payload: bytes) -> bytes:
    print("a library says hello")
    os.write(1, b"so does C code\n")
    return payload


def pid(_: bytes) -> bytes:
    return str(os.getpid()).encode()


def die(_: bytes) -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def die_once(mark: bytes) -> bytes:
    path = Path(mark.decode())
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return b"alive"


def warn(_: bytes) -> bytes:
    warnings.warn("the gains\nare coarse", stacklevel=1)
    return b""


def halfway(seconds: bytes) -> bytes:
    """Its news and its answer come in one breath."""
    time.sleep(float(seconds))
    tell(0.5)
    tell(0.75)
    return bytes(2**20)


def threads(_: bytes) -> bytes:
    return os.environ.get("OMP_NUM_THREADS", "").encode()


def sleep(seconds: bytes) -> bytes:
    time.sleep(float(seconds))
    return b""


def spin(seconds: bytes) -> bytes:
    """Busy in the interpreter, as a training step is."""
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        pass
    return b""
