"""Fibre load over time, sampled on a fixed grid and wherever an iteration ends."""

from __future__ import annotations

from typing import Final

import numpy as np

from thzsync.execution import Agenda, Priority
from thzsync.optical import Fabric
from thzsync.records import Recorder

SPAN_PS: Final = 20 * 10**9
"""Length of one sample, 20 ms [ps]."""
MANY_FIBRES: Final = 4096
"""Of more fibres samples are longer by a whole factor, so that they do not outweigh all else."""


def span_ps(fibres: int) -> int:
    """Length of one sample of so many fibres [ps]."""
    return SPAN_PS * -(-fibres // MANY_FIBRES)


class LinkSampler:
    """Writes how many bytes each fibre carried in every span of the run."""

    def __init__(self, fabric: Fabric, agenda: Agenda, recorder: Recorder) -> None:
        self._fabric, self._agenda, self._recorder = fabric, agenda, recorder
        self._seen = np.zeros((2, fabric.network.links), dtype=np.int64)
        self._since_ps = 0
        self._span_ps = span_ps(int((fabric.network.rate_bps > 0).sum()))
        agenda.add(self._span_ps, Priority.SAMPLE, self._sample, None)

    def _sample(self, _: None) -> None:
        self.cut()
        self._agenda.add(self._since_ps + self._span_ps, Priority.SAMPLE, self._sample, None)

    def cut(self) -> None:
        """End a span here and begin another."""
        now = self._fabric.now_ps
        if now == self._since_ps:
            return
        total = np.stack(self._fabric.link_bytes())
        carried = total - self._seen
        link = np.flatnonzero(carried.any(axis=0))
        if len(link):
            self._recorder.add(
                "links",
                len(link),
                start_ps=self._since_ps,
                end_ps=now,
                link=link,
                bytes=carried[0, link],
                background_bytes=carried[1, link],
            )
        self._seen, self._since_ps = total, now
