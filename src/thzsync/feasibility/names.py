"""Every name that a scenario or a command may use."""

from __future__ import annotations

from typing import Any

from thzsync.coordinator import policy_names
from thzsync.scenario import Collectives, preset_names
from thzsync.synthesis import method_names
from thzsync.workload.zoo import ZOO


def known_names() -> dict[str, list[str]]:
    """Every name that a scenario or a command may use, by what it names."""
    names: Any = method_names
    kinds = [key for key, name in Collectives() if isinstance(name, str)]
    return {
        "presets": preset_names(),
        "models": list(ZOO),
        **{f"{kind} methods": names(kind) for kind in kinds},
        "policies": policy_names(),
    }
