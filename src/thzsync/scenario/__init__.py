"""What is simulated: frozen, validated models and presets."""

from __future__ import annotations

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
from thzsync.scenario.floor import (
    Floor,
    FloorKind,
    GridFloor,
    RowFloor,
    TableFloor,
    register_floor,
)
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
    NetworkKind,
    RailOptimised,
    RingNetwork,
    SwitchedNetwork,
    register_network,
)
from thzsync.scenario.scenario import Scenario, ScenarioLike
from thzsync.scenario.workload import WorkloadKind, register_workload

AnyFloor = FloorKind
"""Its name until version 0.4."""

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
    "FatTree",
    "Fault",
    "FibreDegraded",
    "Floor",
    "FloorKind",
    "GridFloor",
    "Job",
    "LeafSpine",
    "Learner",
    "ModelJob",
    "NetworkFile",
    "NetworkFunction",
    "NetworkKind",
    "Optical",
    "PairBlocked",
    "RailOptimised",
    "Reward",
    "RingNetwork",
    "RowFloor",
    "Scenario",
    "ScenarioLike",
    "SlowRack",
    "Stragglers",
    "SubbandJammed",
    "SwitchedNetwork",
    "TableFloor",
    "Thz",
    "Training",
    "TransceiverDown",
    "WorkloadKind",
    "preset_names",
    "register_floor",
    "register_network",
    "register_workload",
]
