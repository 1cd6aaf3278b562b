"""Presets with random changes: what is accepted must run, and its record must hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from tests.fuzz.harness import damaged, odd_value, scaled
from thzsync.auditor import audit
from thzsync.errors import ThzSyncError
from thzsync.feasibility import check_scenario
from thzsync.feasibility.estimate import bursts_per_s, load_of
from thzsync.scenario import Scenario, preset_names
from thzsync.scenario.files import build_scenario, parse_scenario
from thzsync.simulation import simulate
from thzsync.streams import Streams
from thzsync.topology import Topology
from thzsync.workload import scenario_graph

STATIC = ("all-wired", "all-wireless", "fixed-ratio")
POLICIES = (*STATIC, *STATIC, "thz-sync", "shared-bandit", "ddqn")
"""Learners take their time to train, so they come less often."""
AFFORDABLE = 2e6
"""Steps of a case that is simulated: about a second at most, a tenth in the mean."""

LATE_ERRORS = "nothing has arrived since .* check the faults"
"""What only the run can know: that faults leave an event no way."""

EXTRAS: tuple[dict[str, Any], ...] = (
    {"stragglers": {"slow_racks": [{"rack": 1, "delay_s": 0.001}]}},
    {"faults": [{"kind": "transceiver-down", "rack": 0, "start_s": 0.001, "end_s": 0.01}]},
    {"faults": [{"kind": "subband-jammed", "subband": 1, "start_s": 0.0, "end_s": 0.02}]},
    {"faults": [{"kind": "pair-blocked", "racks": [0, 1], "start_s": 0.002, "end_s": 0.03}]},
    {"faults": [{"kind": "fibre", "rack": 2, "start_s": 0.001, "end_s": 0.02, "rate_share": 0.1}]},
    {"faults": [{"kind": "fibre", "rings": [0, 1], "start_s": 0.001, "end_s": 0.02}]},
    {"faults": [{"kind": "compute-frozen", "rack": 1, "start_s": 0.0, "end_s": 0.02}]},
    {"thz": {"interference": "beams"}},
    {"thz": {"interference": "beams", "transmit_gain_db": 25, "antenna": {"kind": "gaussian"}}},
    {"jobs": [{"model": {"name": "llama3-8b", "sequence_length": 8, "microbatches": 1}}]},
    {"jobs": [{"name": "a", "rings": 1, "training": {"moe_stages": []}}]},
)


def try_scenario(rng: np.random.Generator) -> str:
    """Build, check, simulate one iteration where that is cheap, and audit the record."""
    scenario = build_scenario(mutant(rng), "fuzz")
    if rng.random() < 0.2:
        text = damaged(rng, scenario.to_toml().encode()).decode(errors="replace")
        scenario = parse_scenario(text, "fuzz")
    assert parse_scenario(scenario.to_toml(), "dump") == scenario
    check_scenario(scenario)
    if not scenario.jobs or steps(scenario) > AFFORDABLE:
        return "accepted"
    policy = str(rng.choice(POLICIES))
    try:
        run = simulate(scenario, policy, 1, int(rng.integers(100)), references={})
    except ThzSyncError as error:
        if not re.search(LATE_ERRORS, str(error)):
            raise AssertionError("accepted, but could not be run") from error
        return "ended early"
    verdict = audit(run)
    assert verdict.ok, (policy, scenario, verdict.violations[:3])
    return "simulated"


def mutant(rng: np.random.Generator) -> dict[str, Any]:
    """A preset, mostly the tiny one, with one to four random changes."""
    name = "tiny" if rng.random() < 0.85 else str(rng.choice(preset_names()))
    values = Scenario.preset(name).model_dump(mode="json", exclude_none=True)
    if rng.random() < 0.3:
        values |= deepcopy(EXTRAS[rng.integers(len(EXTRAS))])
    change = _change_number if rng.random() < 0.6 else _change
    for _ in range(rng.integers(1, 5)):
        change(rng, values)
    return values


def _change_number(rng: np.random.Generator, values: dict[str, Any]) -> None:
    """Change one number by a decade or so: many of these are accepted."""
    places = [(h, k) for h, k in _places(values) if type(h[k]) in (int, float)]
    if places:
        holder, key = places[rng.integers(len(places))]
        holder[key] = scaled(rng, holder[key], 1.5)


def _change(rng: np.random.Generator, values: dict[str, Any]) -> None:
    """Change one value by some decades or into something odd, or lose or add a key."""
    places = list(_places(values))
    if not places:
        return
    holder, key = places[rng.integers(len(places))]
    fate = rng.random()
    if fate < 0.4:
        holder[key] = scaled(rng, holder[key])
    elif fate < 0.9 or isinstance(holder, list):
        holder[key] = odd_value(rng)
    elif fate < 0.95:
        del holder[key]
    else:
        holder[f"{key}_"] = odd_value(rng)


def _places(values: Any) -> Iterator[tuple[Any, Any]]:
    """Every value of a nested document, as its holder and its key."""
    for key, value in values.items() if isinstance(values, dict) else enumerate(values):
        yield values, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


def steps(scenario: Scenario) -> float:
    """A rough count of what an iteration makes the simulator do."""
    graph = scenario_graph(scenario, Topology(scenario.floor), Streams(0))
    load = load_of([graph], scenario)
    optical, thz, late = scenario.optical, scenario.thz, scenario.stragglers
    slowest = min(optical.access_bps, optical.inter_bps)
    delay_s = late.max_delay_s + sum(slow.delay_s for slow in late.slow_racks)
    waits_s = delay_s + thz.fallback_timeout_s + thz.round_overhead_s + thz.longest_round_s
    sent_s = 8 * load.packet_hops * optical.packet_bytes / slowest
    ends_s = max((fault.end_s for fault in scenario.faults), default=0.0)
    duration_s = graph.critical_path_s() + len(graph.events) * waits_s + sent_s + ends_s
    blockage = scenario.channel.blockage
    shortest_s = min(scenario.channel.coherence_s or 1, blockage.mean_duration_s or 1)
    shortest_s *= 1 - blockage.share
    settings = scenario.coordinator.bandit
    search = settings.units * settings.flow_units * settings.beam_width * settings.count_levels
    return (
        load.packet_hops
        + 30 * load.all_chunks
        + duration_s * (bursts_per_s(scenario) + 1000 + 1 / max(shortest_s, 1e-9))
        + duration_s / scenario.collectives.stall_limit_s * 10
        + len(graph.nodes) * (search / 1e4 + thz.subbands * scenario.floor.racks)
        + settings.train_steps * settings.batch * settings.units / 100
    )
