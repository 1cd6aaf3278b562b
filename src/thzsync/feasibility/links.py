"""Whether the THz links of a job reach the first step of the rate law."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np

from thzsync.arrays import IntArray
from thzsync.channel import ChannelModel, law_of, silent_budget_per_w
from thzsync.scenario import Scenario
from thzsync.streams import Streams
from thzsync.topology import Topology
from thzsync.workload import TrainingGraph


def unusable_links(scenario: Scenario, graphs: list[TrainingGraph]) -> Iterator[str]:
    """A remark for every job none of whose links reaches the first step, fluctuation left out."""
    thz, law = scenario.thz, law_of(scenario.thz)
    if not len(law.step_snr):
        return
    with warnings.catch_warnings(action="ignore"):  # the run tells what the model has to say
        channel = ChannelModel.build(scenario.channel, thz, Topology(scenario.floor), Streams(0))
    for graph in graphs:
        src, dst = _pairs(graph)
        gain = (channel.base_gain(src, dst) * silent_budget_per_w(thz)).max(initial=0.0)
        best = thz.max_power_w * float(gain)
        if len(src) and best < law.step_snr[0]:
            yield (
                f"thz.rate: no THz link of job {graph.events[0].job!r} reaches the first step of "
                f"{thz.rate.kind}, which needs {_db(law.step_snr[0])}; the best has {_db(best)}, "
                f"so all goes by fibre: raise power or antenna gain, or lower the noise figure"
            )


def _pairs(graph: TrainingGraph) -> tuple[IntArray, IntArray]:
    """Pairs of racks that take part in one event."""
    racks = {event.racks.tobytes(): event.racks for event in graph.events}.values()
    found = [np.stack(np.meshgrid(group, group)).reshape(2, -1) for group in racks]
    both = np.unique(np.concatenate(found or [np.zeros((2, 0), dtype=np.int64)], axis=1), axis=1)
    src, dst = both[:, both[0] != both[1]]
    return src, dst


def _db(ratio: float) -> str:
    """A ratio of signal to noise in decibels."""
    if math.isinf(ratio):
        return "more than the distortion allows"
    return f"{10 * math.log10(ratio):.1f} dB" if ratio > 0 else "no signal"
