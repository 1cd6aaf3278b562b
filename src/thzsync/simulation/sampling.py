"""Fibre load over time, sampled on a fixed grid."""

from __future__ import annotations

from typing import Final

import numpy as np

from thzsync.simulation.agenda import Agenda, Priority
from thzsync.simulation.recorder import Recorder
from thzsync.simulation.world import World

SPAN_PS: Final = 20 * 10**9
"""Length of one sample, 20 ms [ps]."""


class LinkSampler:
    """Writes how many bytes each fibre carried in every span of the run."""

    def __init__(self, world: World, agenda: Agenda, recorder: Recorder) -> None:
        self._world, self._agenda, self._recorder = world, agenda, recorder
        self._seen = np.zeros((2, world.topology.links), dtype=np.int64)
        self._since_ps = 0
        self._iteration_bytes = np.zeros(world.topology.links, dtype=np.int64)
        agenda.add(SPAN_PS, Priority.SAMPLE, self._sample, None)

    def _sample(self, _: None) -> None:
        self._write()
        self._agenda.add(self._since_ps + SPAN_PS, Priority.SAMPLE, self._sample, None)

    def _write(self) -> None:
        now = self._world.fabric.now_ps
        if now == self._since_ps:
            return
        total = np.stack(self._world.fabric.link_bytes())
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
        self._iteration_bytes += carried[0]
        self._seen, self._since_ps = total, now

    def close_iteration(self, makespan_ps: int) -> float:
        """End the span at an iteration's end; the busiest fibre's foreground share of its rate."""
        self._write()
        rate_bps = self._world.fabric.network.rate_bps
        capacity = np.maximum(rate_bps, 1) * (max(1, makespan_ps) * 1e-12)
        share = float((8 * self._iteration_bytes / capacity).max())
        self._iteration_bytes[:] = 0
        return share
