"""Ctrl-C and SIGTERM as a wish that is granted at the next decision, so that nothing is torn."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from thzsync.cli.output import note


@dataclass
class Wish:
    """Whether the user has asked to stop."""

    stop: bool = False
    finishing: bool = False
    """Set once the work is done and only has to be written down: nothing interrupts that."""

    def asked(self) -> bool:
        """Whether to stop; asked at every instant at which stopping is safe."""
        return self.stop

    def hear(self, number: int, frame: FrameType | None) -> None:
        """The handler: once is a wish, twice is an order."""
        if self.stop and not self.finishing:
            raise KeyboardInterrupt
        if not self.stop:
            note("stopping at the next decision; what is finished is kept")
        self.stop = True


@contextmanager
def patient_interruption() -> Iterator[Wish]:
    """Turn Ctrl-C and SIGTERM into a wish for as long as the block lasts."""
    wish = Wish()
    if threading.current_thread() is not threading.main_thread():
        yield wish  # only the main thread may handle signals
        return
    heard = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, wish.hear) for number in heard]
    try:
        yield wish
    finally:
        for number, handler in zip(heard, before, strict=True):
            signal.signal(number, handler)
