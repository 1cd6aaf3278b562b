"""What is simulated: frozen, validated models and presets."""

from __future__ import annotations

from thzsync.scenario.energy import Energy, FibreEnergy, RackEnergy, ThzEnergy
from thzsync.scenario.fabric import Background, Blockage, Channel, Optical, Thz
from thzsync.scenario.faults import (
    ComputeFrozen,
    Fault,
    FibreDegraded,
    PairBlocked,
    SubbandJammed,
    TransceiverDown,
)
from thzsync.scenario.files import preset_names
from thzsync.scenario.floor import AnyFloor, Floor, GridFloor, RowFloor, TableFloor
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
from thzsync.scenario.network import (
    FatTree,
    LeafSpine,
    NetworkFile,
    NetworkFunction,
    RailOptimised,
    RingNetwork,
)
from thzsync.scenario.scenario import Scenario, ScenarioLike

__all__ = [
    "AnyFloor",
    "Background",
    "Bandit",
    "Blockage",
    "Channel",
    "Collectives",
    "ComputeFrozen",
    "Coordinator",
    "Ddqn",
    "Energy",
    "FatTree",
    "Fault",
    "FibreDegraded",
    "FibreEnergy",
    "Floor",
    "GridFloor",
    "Job",
    "LeafSpine",
    "Learner",
    "ModelJob",
    "NetworkFile",
    "NetworkFunction",
    "Optical",
    "PairBlocked",
    "RackEnergy",
    "RailOptimised",
    "Reward",
    "RingNetwork",
    "RowFloor",
    "Scenario",
    "ScenarioLike",
    "SlowRack",
    "Stragglers",
    "SubbandJammed",
    "TableFloor",
    "Thz",
    "ThzEnergy",
    "Training",
    "TransceiverDown",
    "preset_names",
]
