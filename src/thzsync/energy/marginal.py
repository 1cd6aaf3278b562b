"""What sending adds to the energy that the reward counts, for estimates before an event.

Static power while nothing is in use is not here: it costs the same per second, whatever is sent.
"""

from __future__ import annotations

from thzsync.arrays import FloatArray
from thzsync.energy.wall import fibre_wall_j, thz_wall_j
from thzsync.scenario import Scenario


def marginal_fibre_j(
    scenario: Scenario,
    transmission_j: FloatArray,
    bit_hops: FloatArray,
    bits: FloatArray,
    link_s: FloatArray,
) -> FloatArray:
    """Of bits on fibre whose links take ``link_s`` in total [J]."""
    fibre = scenario.energy.fibre
    awake_w = _counted(scenario, fibre.sleep_share * fibre.idle_w_per_port)
    return fibre_wall_j(fibre, transmission_j, bit_hops, bits) + link_s * awake_w


def marginal_thz_j(
    scenario: Scenario, in_use_s: FloatArray, radiated_j: FloatArray, bits: FloatArray
) -> FloatArray:
    """Of transmissions, both ends of which are in use [J]."""
    thz = scenario.energy.thz
    awake_w = _counted(scenario, 2 * thz.sleep_share * thz.idle_w)
    return thz_wall_j(thz, in_use_s, radiated_j, bits) + in_use_s * awake_w


def _counted(scenario: Scenario, static_w: float) -> float:
    return static_w if scenario.reward.energy == "with-static" else 0.0
