"""A schedule's rounds as rows: when, how many links, how much power."""

from __future__ import annotations

from typing import Any

import numpy as np

from thzsync.transfers import Schedule


def round_rows(schedule: Schedule) -> list[dict[str, Any]]:
    """One row per round; ``power_w`` is radiated by all racks, ``busiest_rack_w`` by one [W]."""
    plan = schedule.plan
    before = np.concatenate(([0], np.cumsum(plan.chunk_sizes)))
    first = plan.first_chunk[schedule.flow] + schedule.first_chunk
    size_bytes = before[first + schedule.chunks] - before[first]
    rows = []
    for number in range(schedule.rounds):
        of = np.flatnonzero(schedule.round == number)
        start_ps, end_ps = int(schedule.start_ps[of[0]]), int(schedule.end_ps[of[0]])
        power_w = schedule.power_w[of]
        per_rack_w = np.bincount(plan.src[schedule.flow[of]], power_w)
        sending_s = (end_ps - start_ps - int(schedule.overhead_ps[of[0]])) / 1e12
        rows.append(
            {
                "round": number + 1,
                "start_ms": start_ps / 1e9,
                "duration_ms": (end_ps - start_ps) / 1e9,
                "links": len(of),
                "mib": float(size_bytes[of].sum()) / 2**20,
                "power_w": float(power_w.sum()),
                "busiest_rack_w": float(per_rack_w.max()),
                "energy_j": float(power_w.sum()) * sending_s,  # eq:thz_energy
            }
        )
    return rows
