"""What runs: training jobs, their stragglers and the objective."""

from __future__ import annotations

import warnings
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, model_validator

from thzsync.scenario.base import (
    Bytes,
    Count,
    FileName,
    Fraction,
    Index,
    Model,
    Real,
    Seconds,
    Whole,
)
from thzsync.scenario.kinds import OneOf
from thzsync.scenario.learning import Bandit, Ddqn
from thzsync.scenario.workload import WORKLOADS, WorkloadKind

MOST_LEVELS: Final = 64
"""Most power levels that a search can try per sender."""
SOURCES: Final = ("training", "model", "trace", "workload")
"""Keys of a job that say what it computes and sends."""
OLD_SEARCHES: Final = {"reckoned": "model-based", "reckoned-even": "model-based-even"}
"""Present values of ``coordinator.search`` by their names until version 0.3."""


def _present_search(value: Any) -> Any:
    present = OLD_SEARCHES.get(value) if isinstance(value, str) else None
    if present is None:
        return value
    text = f'coordinator.search: "{value}" is now called "{present}"; please write that'
    warnings.warn(text, FutureWarning, stacklevel=2)
    return present


class Training(Model):
    """A 1F1B training iteration in bytes and seconds."""

    microbatches: Annotated[Count, Field(le=10**6)] = 8
    """Micro-batches per iteration."""
    p2p_bytes: Bytes = 16 * 2**20
    """Activation or gradient from a lane to its next stage, per micro-batch [bytes]."""
    a2a_bytes_per_rack: Bytes = 12 * 2**20
    """Bytes that a rack sends to all others in one MoE dispatch or combine [bytes]."""
    a2a_skew: Annotated[Real, Field(ge=0, le=100)] = 0.0
    """Skew of the token routing: 0 is even; otherwise log-normal weights of this sigma."""
    moe_stages: tuple[Index, ...] = (1, 2)
    """Pipeline stages (from 0) with mixture-of-experts layers."""
    moe_layers_per_stage: Annotated[Count, Field(le=1000)] = 1
    """MoE layers in each of these stages; each needs a dispatch and a combine."""
    backward_a2a: bool = False
    """Whether dispatch and combine run in the backward pass too."""
    allreduce_bytes: Bytes = 128 * 2**20
    """Gradient bucket [bytes]."""
    allreduce_buckets: Annotated[Whole, Field(ge=0, le=10**5)] = 4
    """Gradient buckets per stage."""
    overlap_allreduce: bool = False
    """Whether buckets leave during the last backward pass instead of after it."""
    forward_s: Seconds = 0.02
    """Forward compute per stage and micro-batch [s]."""
    backward_s: Seconds = 0.04
    """Backward compute per stage and micro-batch [s]."""


class ModelJob(Model):
    """A built-in model, from which bytes and compute times are derived."""

    name: str
    """Name of a built-in model, e.g. "mixtral-8x7b"."""
    sequence_length: Annotated[Count, Field(le=2**24)] = 4096
    """Tokens per sequence."""
    micro_batch: Annotated[Count, Field(le=2**16)] = 1
    """Sequences per micro-batch and replica."""
    microbatches: Annotated[Count, Field(le=10**6)] = 8
    """Micro-batches per iteration."""
    tensor_parallel: Count = 8
    """Accelerators per rack; they share one stage of one replica."""
    activation_bytes: Literal[1, 2, 4] = 2
    """Bytes per activation element."""
    gradient_bytes: Literal[2, 4] = 4
    """Bytes per gradient element."""
    bucket_parameters: Annotated[int, Field(ge=1, le=10**13)] = 40_000_000
    """Parameters per gradient bucket (at least one million per replica is used)."""
    accelerator_flops: Annotated[Real, Field(ge=1e6, le=1e24)] = 989e12
    """Peak dense throughput of one accelerator [FLOP/s]."""
    efficiency: Annotated[Real, Field(ge=1e-6, le=1)] = 0.4
    """Achieved share of the peak."""
    backward_a2a: bool = True
    """Whether dispatch and combine run in the backward pass too."""
    overlap_allreduce: bool = True
    """Whether buckets leave during the last backward pass instead of after it."""


class Job(Model):
    """One training job on its own part of the floor."""

    name: str = "train"
    """Name in tables and records."""
    first_ring: Index = 0
    """First ring or row of the partition (from 0)."""
    rings: Count | None = None
    """Rings or rows of the partition, one pipeline stage each; all from the first when absent."""
    first_lane: Index = 0
    """First lane of the partition (from 0)."""
    lanes: Count | None = None
    """Lanes of the partition, one data-parallel replica each; all from the first on when absent."""
    stages: Annotated[tuple[tuple[Index, ...], ...], Field(min_length=1)] | None = None
    """Racks of every pipeline stage, listed; instead of rings and lanes."""
    training: Training | None = None
    """The iteration in bytes and seconds; give this, or model, trace or workload."""
    model: ModelJob | None = None
    """A built-in model."""
    trace: FileName | None = None
    """A trace file written by `thzsync trace`."""
    workload: Annotated[WorkloadKind, OneOf(WORKLOADS, "")] | None = None
    """A workload of a plug-in."""
    start_s: Seconds = 0.0
    """When the job arrives [s]; its first iteration starts then."""
    iterations: Count | None = None
    """Iterations of the job; as many as the run asks for when absent."""

    @model_validator(mode="after")
    def _one_source(self) -> Job:
        given = [key for key in SOURCES if getattr(self, key) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            remedy = f"; remove one, as --set jobs.{self.name}.{given[0]}= does" if given else ""
            raise ValueError(f"give exactly one of {', '.join(SOURCES)}; found {found}{remedy}")
        return self


class SlowRack(Model):
    """A rack that is a straggler in every event."""

    rack: Index
    """Global rack index (from 0)."""
    delay_s: Seconds
    """Delay of its data [s]."""


class Stragglers(Model):
    """Stragglers: the delay of a rack's own data (delta^str in eq:release_constraint)."""

    probability: Fraction = 0.0
    """Probability that a rack is a straggler in one event."""
    min_delay_s: Seconds = 0.0
    """Shortest delay of a straggler [s]."""
    max_delay_s: Seconds = 0.0
    """Longest delay of a straggler [s]."""
    slow_racks: tuple[SlowRack, ...] = ()
    """Racks that are stragglers in every event, in addition."""

    @model_validator(mode="after")
    def _ordered(self) -> Stragglers:
        if self.max_delay_s < self.min_delay_s:
            raise ValueError(
                f"max_delay_s ({self.max_delay_s}) is below min_delay_s ({self.min_delay_s})"
            )
        return self


class Reward(Model):
    """Weights of eq:overall_objective."""

    time_weight: Fraction = 0.7
    """W_T, weight of completion time."""
    energy_weight: Fraction = 0.3
    """W_E, weight of transmission energy."""

    @model_validator(mode="after")
    def _sums_to_one(self) -> Reward:
        total = self.time_weight + self.energy_weight
        if abs(total - 1) > 1e-9:
            raise ValueError(f"time_weight + energy_weight is {total:g}; they must sum to 1")
        return self


class Collectives(Model):
    """Chunks, and the method of every collective."""

    chunk_bytes: Bytes = 512 * 2**10
    """B_ch, largest scheduling chunk [bytes]."""
    a2a: str = "proposed"
    """Method of All-to-All events."""
    allreduce: str = "proposed"
    """Method of AllReduce events."""
    p2p: str = "proposed"
    """Method of point-to-point events."""
    methods: dict[str, str] = Field(default_factory=dict)
    """Method of any other collective, by name, such as { all-gather = "proposed" }."""
    stall_limit_s: Annotated[Seconds, Field(ge=1e-3)] = 10.0
    """A run ends with an error if no chunk moves for this long [s]."""

    def with_methods(self, methods: dict[str, str]) -> Collectives:
        """The same settings with these methods, by collective."""
        own = {name: method for name, method in methods.items() if name in _OWN_KEYS}
        others = {name: method for name, method in methods.items() if name not in _OWN_KEYS}
        return self.model_copy(update=own | {"methods": self.methods | others})

    def method(self, collective: str) -> str | None:
        """The method named for a collective, if any."""
        own: str | None = getattr(self, collective, None) if collective in _OWN_KEYS else None
        return own or self.methods.get(collective)

    @model_validator(mode="after")
    def _each_once(self) -> Collectives:
        for name in _OWN_KEYS & self.methods.keys():
            raise ValueError(f"methods.{name}: write collectives.{name} instead")
        return self


_OWN_KEYS = frozenset(("p2p", "a2a", "allreduce"))
"""Collectives of the paper; each has its own key."""


class Coordinator(Model):
    """The action space of all policies, and the settings of the learning ones."""

    power_levels: tuple[Annotated[Real, Field(ge=1e-6, le=1)], ...] = (0.25, 0.5, 0.75, 1.0)
    """B, power budgets of a sending rack, as shares of its maximum."""
    wired_to_thz: bool = True
    """Whether chunks on a dead fibre may move to THz."""
    encoder: Literal["pooled", "flat"] = "pooled"
    """How the network reads an event: shared weights for all flows, pooled; or one padded, masked
    vector of all flows and the whole action, as in the paper (eq:bandit_representation)."""
    search: Annotated[
        Literal["uniform", "partial", "model-based", "model-based-even"],
        BeforeValidator(_present_search),
    ] = "uniform"
    """Start of the search: uniform actions, with deviation_cost as the price of leaving them; the
    empty action, built up coordinate by coordinate as in the paper (partial); or the proposals of
    a cost model, whose error the bandits learn: THz for the best units first (model-based), or even
    splits in addition (model-based-even)."""
    reward: Literal["compressed", "raw"] = "compressed"
    """Rewards for learning: compressed below All-Wired's mean; or raw (the paper's)."""
    gains: Literal["sorted", "by-subband"] = "sorted"
    """Order of a flow's gains: best first; or by the number of the subband (the paper's)."""
    bandit: Bandit = Bandit(weight_decay=1e-4, train_every=16, warm_up=12)
    """NeuralLinearUCB with one model per collective type (policy thz-sync)."""
    shared_bandit: Bandit = Bandit(
        learning_rate=1e-3, weight_decay=1e-4, train_every=16, deviation_cost=0.01, warm_up=12
    )
    """NeuralLinearUCB with one model for all types (policy shared-bandit)."""
    ddqn: Ddqn = Ddqn(learning_rate=1e-3, weight_decay=0.3, train_every=16, epsilon_events=240)
    """Double Q-learning (policy ddqn)."""

    @model_validator(mode="after")
    def _levels(self) -> Coordinator:
        if not 1 <= len(self.power_levels) <= MOST_LEVELS or list(self.power_levels) != sorted(
            set(self.power_levels)
        ):
            raise ValueError(
                f"power_levels must be a rising list of 1 to {MOST_LEVELS} shares in (0, 1]"
            )
        return self
