"""Random small scenarios and policies, for properties that must hold in all of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario
from thzsync.scenario.files import build_scenario


def _jobs(draw: Any, rings: int, lanes: int) -> list[dict[str, Any]]:
    training = {
        "microbatches": draw(st.integers(1, 3)),
        "p2p_bytes": draw(st.integers(1, 300_000)),
        "a2a_bytes_per_rack": draw(st.integers(1, 400_000)),
        "a2a_skew": draw(st.sampled_from([0.0, 1.0])),
        "moe_stages": sorted(draw(st.sets(st.integers(0, rings - 1), max_size=rings))),
        "backward_a2a": draw(st.booleans()),
        "allreduce_bytes": draw(st.integers(1, 400_000)),
        "allreduce_buckets": draw(st.integers(0, 2)),
        "forward_s": draw(st.sampled_from([0.0, 1e-4])),
        "backward_s": draw(st.sampled_from([0.0, 2e-4])),
    }
    if lanes >= 4 and draw(st.booleans()):
        half = lanes // 2
        return [
            {"name": "left", "first_lane": 0, "lanes": half, "training": training},
            {"name": "right", "first_lane": half, "training": training},
        ]
    return [{"name": "train", "training": training}]


@st.composite
def faults(draw: Any, rings: int, racks: int, subbands: int) -> list[dict[str, Any]]:
    """Up to three faults that begin early and end before the stall limit."""
    kinds = ["transceiver-down", "subband-jammed", "compute-frozen", "fibre"]
    if racks > 1:
        kinds.append("pair-blocked")
    found = []
    for kind in draw(st.lists(st.sampled_from(kinds), max_size=3)):
        start = draw(st.sampled_from([0.0, 1e-4, 1e-3]))
        fault: dict[str, Any] = {
            "kind": kind,
            "start_s": start,
            "end_s": start + draw(st.sampled_from([1e-4, 2e-3, 0.02])),
        }
        rack = draw(st.integers(0, racks - 1))
        if kind in ("transceiver-down", "compute-frozen"):
            fault["rack"] = rack
        elif kind == "subband-jammed":
            fault["subband"] = draw(st.integers(0, subbands - 1))
        elif kind == "pair-blocked":
            fault["racks"] = [rack, (rack + draw(st.integers(1, racks - 1))) % racks]
        else:
            if rings > 1 and draw(st.booleans()):
                fault["rings"] = [0, draw(st.integers(1, rings - 1))]
            else:
                fault["rack"] = rack
            fault["rate_share"] = draw(st.sampled_from([0.0, 0.3]))
        found.append(fault)
    return found


@st.composite
def scenarios(draw: Any, with_faults: bool = False) -> Scenario:
    """Small floors with every knob turned."""
    rings, lanes = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    subbands = draw(st.integers(1, 4))
    packet = draw(st.sampled_from([4096, 16_384, 65_536]))
    raw = {
        "name": "random",
        "floor": {"rings": rings, "slots_per_ring": lanes + draw(st.integers(0, 2))},
        "optical": {
            "packet_bytes": packet,
            "nic_queue_bytes": packet * draw(st.integers(1, 4)),
            "output_queue_bytes": packet * draw(st.integers(1, 4)),
            "shared_buffer_bytes": packet * draw(st.integers(2, 12)),
            "background": {
                "load": draw(st.sampled_from([0.0, 0.3])),
                "burst_bytes": packet * draw(st.integers(1, 3)),
            },
        },
        "thz": {
            "subbands": subbands,
            "rf_chains": draw(st.sampled_from([None, 1, 2])),
            "round_overhead_s": draw(st.sampled_from([0.0, 2e-5])),
            "longest_round_s": draw(st.sampled_from([1e-3, 0.1])),
            "fallback_timeout_s": draw(st.sampled_from([1e-3, 5e-3])),
        },
        "channel": {
            "fluctuation_db": draw(st.sampled_from([0.0, 3.0, 8.0])),
            "coherence_s": draw(st.sampled_from([None, 1e-3])),
            "blockage": {
                "share": draw(st.sampled_from([0.0, 0.3])),
                "mean_duration_s": 2e-3,
                "loss_db": draw(st.sampled_from([10.0, 80.0])),
            },
        },
        "collectives": {"chunk_bytes": draw(st.sampled_from([16_384, 100_000, 524_288]))},
        "stragglers": {"probability": 0.3, "min_delay_s": 1e-5, "max_delay_s": 1e-3},
        "jobs": _jobs(draw, rings, lanes),
    }
    raw["floor"]["racks_per_ring"] = lanes
    if raw["thz"]["rf_chains"] is None:
        del raw["thz"]["rf_chains"]
    if raw["channel"]["coherence_s"] is None:
        del raw["channel"]["coherence_s"]
    if with_faults:
        raw["faults"] = draw(faults(rings, rings * lanes, subbands))
    return build_scenario(raw, "random")


__all__ = ["ThzSyncError", "scenarios"]
