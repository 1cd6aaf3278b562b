"""Every name that a scenario or a command may use."""

from __future__ import annotations

from thzsync.collectives import collective_names
from thzsync.coordinator import policy_names
from thzsync.scenario import preset_names
from thzsync.synthesis import method_names
from thzsync.workload.zoo import ZOO


def known_names() -> dict[str, list[str]]:
    """Every name that a scenario or a command may use, by what it names."""
    return {
        "presets": preset_names(),
        "models": list(ZOO),
        "collectives": collective_names(),
        **{f"{kind} methods": method_names(kind) for kind in collective_names()},
        "policies": policy_names(),
    }
