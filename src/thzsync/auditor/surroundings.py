"""Who is late, drawn anew from the seed: no policy can change it."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray, to_ps
from thzsync.auditor.findings import Findings
from thzsync.auditor.record import Record
from thzsync.scenario import ComputeFrozen
from thzsync.streams import Streams, name_key


def stragglers(record: Record, findings: Findings) -> None:
    """Every rack is as late as seed and scenario say (delta^str in eq:release_constraint)."""
    events = record.events
    jobs, streams = events.text("job"), Streams(record.run.seed)
    bounds = events.racks.start
    expected = np.zeros(len(events.racks.values), dtype=np.int64)
    for row in range(len(events)):
        job = str(jobs[row])
        name = () if job == "train" else (name_key(job),)
        path = (int(events.iteration[row]), int(events.node[row]), *name)
        if min(path) < 0:
            continue
        members = slice(int(bounds[row]), int(bounds[row + 1]))
        racks = events.racks.values[members]
        draw = streams.generator("stragglers", *path).random((2, len(racks)))
        expected[members] = _delays_ps(record, racks, draw, int(events.release_ps[row]))
    findings.equal(events.delay_ps, expected, events.member_name, "delay [ps]")


def _delays_ps(record: Record, racks: IntArray, draw: FloatArray, release_ps: int) -> IntArray:
    model = record.scenario.stragglers
    span_s = model.max_delay_s - model.min_delay_s
    late_s = np.where(draw[0] < model.probability, model.min_delay_s + span_s * draw[1], 0.0)
    for slow in model.slow_racks:
        late_s = late_s + np.where(racks == slow.rack, slow.delay_s, 0.0)
    appears = release_ps + np.rint(late_s * 1e12).astype(np.int64)
    frozen = [f for f in record.scenario.faults if isinstance(f, ComputeFrozen)]
    for fault in sorted(frozen, key=lambda f: f.start_s):
        held = (racks == fault.rack) & (appears >= to_ps(fault.start_s))
        appears = np.where(held, np.maximum(appears, to_ps(fault.end_s)), appears)
    return appears - release_ps
