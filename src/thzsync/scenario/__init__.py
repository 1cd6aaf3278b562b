"""What is simulated: frozen, validated models and presets."""

from __future__ import annotations

from thzsync.scenario.fabric import Background, Blockage, Channel, Floor, Optical, Thz
from thzsync.scenario.faults import (
    ComputeFrozen,
    Fault,
    FibreDegraded,
    PairBlocked,
    SubbandJammed,
    TransceiverDown,
)
from thzsync.scenario.files import preset_names
from thzsync.scenario.job import (
    Collectives,
    Coordinator,
    Job,
    ModelJob,
    Reward,
    SlowRack,
    Stragglers,
    Training,
)
from thzsync.scenario.learning import Bandit, Ddqn, Learner
from thzsync.scenario.scenario import Scenario, ScenarioLike

__all__ = [
    "Background",
    "Bandit",
    "Blockage",
    "Channel",
    "Collectives",
    "ComputeFrozen",
    "Coordinator",
    "Ddqn",
    "Fault",
    "FibreDegraded",
    "Floor",
    "Job",
    "Learner",
    "ModelJob",
    "Optical",
    "PairBlocked",
    "Reward",
    "Scenario",
    "ScenarioLike",
    "SlowRack",
    "Stragglers",
    "SubbandJammed",
    "Thz",
    "Training",
    "TransceiverDown",
    "preset_names",
]
