"""The fidelity in which fibres are simulated, and why."""

from __future__ import annotations

from typing import Final

from thzsync.scenario.faults import FibreDegraded
from thzsync.scenario.scenario import Scenario

LEAST_QUEUE_PACKETS: Final = 32
"""Least queue in packets; a shorter one fills and drains within bursts of single packets."""
LEAST_QUEUE_BURSTS: Final = 4
"""Least queue in bursts; in a shorter one, a burst blocks others for a while."""
MOST_BACKGROUND: Final = 0.4
"""The highest load at which the intervals of all errors are below 2 % (docs/model.md)."""


def needs_packets(scenario: Scenario) -> str | None:
    """Why ``auto`` simulates single packets in this scenario; None if it takes flows."""
    optical = scenario.optical
    queue = min(optical.nic_queue_bytes, optical.output_queue_bytes)
    background = optical.background
    if queue < LEAST_QUEUE_PACKETS * optical.packet_bytes:
        return f"a queue holds fewer than {LEAST_QUEUE_PACKETS} packets"
    if optical.shared_buffer_bytes < 2 * queue:
        return "a shared buffer holds less than two queues"
    if background.load > MOST_BACKGROUND:
        return f"background takes more than {MOST_BACKGROUND:.0%} of the fibres"
    if background.load > 0 and LEAST_QUEUE_BURSTS * background.burst_bytes > queue:
        return f"a queue holds fewer than {LEAST_QUEUE_BURSTS} bursts of background"
    if any(isinstance(fault, FibreDegraded) for fault in scenario.faults):
        return "a fibre fails, and its chunks are handed over one by one"
    return None


def in_flows(scenario: Scenario) -> bool:
    """Whether fibres carry flows instead of single packets."""
    fidelity = scenario.optical.fidelity
    return fidelity == "flow" or (fidelity == "auto" and needs_packets(scenario) is None)
