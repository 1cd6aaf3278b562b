"""A short summary of a scenario, for notebooks."""

from __future__ import annotations

from collections.abc import Iterator

from thzsync.display.numbers import quantity
from thzsync.display.table import Column, Table
from thzsync.scenario.job import Job, Stragglers
from thzsync.scenario.scenario import Scenario
from thzsync.scenario.units import rate_text


def summary_table(scenario: Scenario) -> Table:
    """What is simulated, in a few lines."""
    columns = (Column("part", left=True), Column("what is simulated", left=True))
    return Table(f"Scenario {scenario.name}", columns, list(_lines(scenario)))


def _lines(scenario: Scenario) -> Iterator[tuple[str, str]]:
    floor, optical, thz = scenario.floor, scenario.optical, scenario.thz
    channel, weights = scenario.channel, scenario.reward
    yield "floor", f"{floor.racks} racks on {floor.groups} {floor.noun}s"
    access, inter = rate_text(optical.access_bps), rate_text(optical.inter_bps)
    load = f"{100 * optical.background.load:g} % background traffic"
    yield "fibre", f"{access} to racks, {inter} between rings, {load}"
    start, width = f"{thz.band_start_hz / 1e9:g} GHz", f"{thz.subband_hz / 1e9:g} GHz"
    most = f"{1e3 * thz.max_power_w:g} mW per rack"
    yield "THz", f"{thz.subbands} subbands of {width} from {start}, {most}"
    blocked = f"{100 * channel.blockage.share:g} % of the time blocked"
    yield "channel", f"{channel.fluctuation_db:g} dB of fluctuation, links {blocked}"
    for job in scenario.jobs:
        yield f"job {job.name}", _work(job)
    yield "stragglers", _stragglers(scenario.stragglers)
    yield "reward", f"{weights.time_weight:g} for time, {weights.energy_weight:g} for energy"
    if scenario.faults:
        yield "faults", f"{len(scenario.faults)} scheduled"


def _work(job: Job) -> str:
    if job.model is not None:
        return f"{job.model.name}, {job.model.microbatches} micro-batches"
    if job.trace is not None:
        return f"trace {job.trace}"
    if job.workload is not None:
        return f"workload {job.workload.kind}"
    return f"{job.training.microbatches} micro-batches" if job.training else "no work"


def _stragglers(stragglers: Stragglers) -> str:
    if not stragglers.probability and not stragglers.slow_racks:
        return "none"
    most = quantity(1e3 * stragglers.max_delay_s, "ms", 3)
    slow = f", {len(stragglers.slow_racks)} always slow" if stragglers.slow_racks else ""
    return f"{100 * stragglers.probability:g} % of racks per event, up to {most}{slow}"
