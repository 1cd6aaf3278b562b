"""A short summary of a scenario, for notebooks."""

from __future__ import annotations

from collections.abc import Iterator

from thzsync.display.numbers import quantity
from thzsync.display.table import Column, Table
from thzsync.scenario.fabric import Channel, Floor, Optical, Thz
from thzsync.scenario.job import Job, Stragglers
from thzsync.scenario.scenario import Scenario
from thzsync.scenario.units import rate_text


def summary_table(scenario: Scenario) -> Table:
    """What is simulated, in a few lines."""
    columns = (Column("part", left=True), Column("what is simulated", left=True))
    return Table(f"Scenario {scenario.name}", columns, list(_lines(scenario)))


def _lines(scenario: Scenario) -> Iterator[tuple[str, str]]:
    yield "floor", _floor(scenario.floor)
    yield "fibre", _fibre(scenario.optical)
    yield "THz", _thz(scenario.thz)
    yield "channel", _channel(scenario.channel)
    for job in scenario.jobs:
        yield f"job {job.name}", _work(job)
    yield "late racks", _late(scenario.stragglers)
    weights = scenario.reward
    yield "reward", f"{weights.time_weight:g} for time, {weights.energy_weight:g} for energy"
    if scenario.faults:
        yield "faults", f"{len(scenario.faults)} scheduled"


def _floor(floor: Floor) -> str:
    return f"{floor.racks} racks on {floor.rings} rings"


def _fibre(optical: Optical) -> str:
    access, inter = (rate_text(bps) for bps in (optical.access_bps, optical.inter_bps))
    load = optical.background.load
    return f"{access} to racks, {inter} between rings, {100 * load:g} % background traffic"


def _thz(thz: Thz) -> str:
    start, width = f"{thz.band_start_hz / 1e9:g} GHz", f"{thz.subband_hz / 1e9:g} GHz"
    return f"{thz.subbands} subbands of {width} from {start}, {1e3 * thz.max_power_w:g} mW per rack"


def _channel(channel: Channel) -> str:
    blocked = f"{100 * channel.blockage.share:g} % of the time blocked"
    return f"{channel.fluctuation_db:g} dB of fluctuation, links {blocked}"


def _work(job: Job) -> str:
    if job.model is not None:
        return f"{job.model.name}, {job.model.microbatches} micro-batches"
    if job.trace is not None:
        return f"trace {job.trace}"
    return f"{job.training.microbatches} micro-batches" if job.training else "no work"


def _late(stragglers: Stragglers) -> str:
    if not stragglers.probability and not stragglers.slow_racks:
        return "none"
    most = quantity(1e3 * stragglers.max_delay_s, "ms", 3)
    slow = f", {len(stragglers.slow_racks)} always slow" if stragglers.slow_racks else ""
    return f"{100 * stragglers.probability:g} % of racks per event, up to {most}{slow}"
