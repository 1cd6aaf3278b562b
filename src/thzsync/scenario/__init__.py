"""What is simulated: frozen, validated models and presets."""

from __future__ import annotations

from thzsync.scenario.antennas import Antenna, register_antenna
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
from thzsync.scenario.path_loss import (
    FreeSpace,
    LogDistance,
    Measured,
    Pairs,
    PathLoss,
    register_path_loss,
)
from thzsync.scenario.rates import RATE_LAWS, RateLaw, Step, register_rate_law
from thzsync.scenario.scenario import Scenario, ScenarioLike
from thzsync.scenario.workload import WorkloadKind, register_workload

AnyFloor = FloorKind
"""Its name until version 0.4."""

__all__ = [
    "RATE_LAWS",
    "Antenna",
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
    "FloorKind",
    "FreeSpace",
    "GridFloor",
    "Job",
    "LeafSpine",
    "Learner",
    "LogDistance",
    "Measured",
    "ModelJob",
    "NetworkFile",
    "NetworkFunction",
    "NetworkKind",
    "Optical",
    "PairBlocked",
    "Pairs",
    "PathLoss",
    "RackEnergy",
    "RailOptimised",
    "RateLaw",
    "Reward",
    "RingNetwork",
    "RowFloor",
    "Scenario",
    "ScenarioLike",
    "SlowRack",
    "Step",
    "Stragglers",
    "SubbandJammed",
    "SwitchedNetwork",
    "TableFloor",
    "Thz",
    "ThzEnergy",
    "Training",
    "TransceiverDown",
    "WorkloadKind",
    "preset_names",
    "register_antenna",
    "register_floor",
    "register_network",
    "register_path_loss",
    "register_rate_law",
    "register_workload",
]
