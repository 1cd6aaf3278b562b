"""Energy at the wall plug and without traffic: one formula each, for every carrier.

Carriers report their transmission energy: THz what it radiates, fibre and further carriers energy
per bit. The formulas here say what this takes at the wall plug, and what is drawn in any case.
Parameters are the scenario's section ``energy`` and what further carriers declare.
"""

from __future__ import annotations

from thzsync.energy.marginal import marginal_fibre_j, marginal_thz_j
from thzsync.energy.static import Meter, Static
from thzsync.energy.wall import counted_j, fibre_wall_j, further_wall_j, thz_wall_j

__all__ = [
    "Meter",
    "Static",
    "counted_j",
    "fibre_wall_j",
    "further_wall_j",
    "marginal_fibre_j",
    "marginal_thz_j",
    "thz_wall_j",
]
