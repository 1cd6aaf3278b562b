"""Who is late in an event, and by how much (delta^str in eq:release_constraint)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from thzsync.arrays import IntArray, all_to_ps, to_ps
from thzsync.scenario import ComputeFrozen, Job, Stragglers
from thzsync.streams import Streams, name_key
from thzsync.workload import Event

DEFAULT_JOB: Final = str(Job.model_fields["name"].default)
"""A job that keeps the default name draws without a name. Numbers that were recorded before jobs
had names depend on this, and so do all presets: naming these draws would change every result."""


def delays_ps(
    event: Event,
    iteration: int,
    now_ps: int,
    model: Stragglers,
    frozen: Sequence[ComputeFrozen],
    streams: Streams,
) -> IntArray:
    """Lateness of each rack's own data, in the order of ``event.racks`` [ps]."""
    racks = event.racks
    path = (iteration, event.id, *job_path(event.job))
    draw = streams.generator("stragglers", *path).random((2, len(racks)))
    span = model.max_delay_s - model.min_delay_s
    late = draw[0] < model.probability
    delay_s = np.where(late, model.min_delay_s + span * draw[1], 0.0)
    for slow in model.slow_racks:
        delay_s[racks == slow.rack] += slow.delay_s
    delay_ps = all_to_ps(delay_s)
    for fault in sorted(frozen, key=lambda f: f.start_s):  # one window may lead into the next
        # Data that would appear inside the window appears when the rack thaws.
        inside = (racks == fault.rack) & (to_ps(fault.start_s) <= now_ps + delay_ps)
        thaw_ps = to_ps(fault.end_s) - now_ps
        delay_ps = np.where(inside, np.maximum(delay_ps, thaw_ps), delay_ps)
    return delay_ps


def job_path(name: str) -> tuple[int, ...]:
    """What tells a job's draws from another's: its name, whatever other jobs there are."""
    return () if name == DEFAULT_JOB else (name_key(name),)
