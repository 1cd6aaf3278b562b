"""Scenarios with every parameter of energy set, and the totals of their records."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from thzsync.scenario import Scenario

ALL_KEYS: dict[str, Any] = {
    "energy.thz.front_end_w": 0.8,
    "energy.thz.amplifier_efficiency": 0.05,
    "energy.thz.baseband_j_per_bit": 15e-12,
    "energy.thz.idle_w": 0.1,
    "energy.thz.sleep_share": 0.25,
    "energy.fibre.link_j_per_bit": 21e-12,
    "energy.fibre.switch_j_per_bit": 9.8e-12,
    "energy.fibre.idle_w_per_port": 4.0,
    "energy.fibre.idle_w_per_switch": 60.0,
    "energy.fibre.sleep_share": 0.5,
    "energy.racks.idle_w": 1000.0,
}


def tiny(more: Mapping[str, Any] = MappingProxyType({})) -> Scenario:
    return Scenario.preset("tiny").with_({**ALL_KEYS, "thz.round_overhead_s": 10e-6, **more})


def pair(more: Mapping[str, Any] = MappingProxyType({})) -> Scenario:
    """Two rings of one rack, one subband and a gain that never changes: a P2P of 1 MB each way."""
    return Scenario.model_validate(
        {
            "floor": {"rings": 2, "slots_per_ring": 1},
            "thz": {"subbands": 1},
            "channel": {"fluctuation_db": 0.0},
            "collectives": {"chunk_bytes": 1_000_000},
            "jobs": [
                {
                    "training": {
                        "microbatches": 1,
                        "moe_stages": [],
                        "allreduce_buckets": 0,
                        "p2p_bytes": 1_000_000,
                        "forward_s": 0.001,
                        "backward_s": 0.002,
                    }
                }
            ],
        }
    ).with_({**ALL_KEYS, **more})
