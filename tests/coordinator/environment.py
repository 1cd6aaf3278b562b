"""A toy floor with closed-form costs: fast enough to watch a policy learn in a unit test.

Eight lanes, two rings, the paper's sizes and rates. Wired time is bytes over the busiest fibre,
THz time is bytes over Shannon's rate at the chosen power, an event takes the longer of the two
plus the worst straggler's delay, and only fibre and radiated energy count.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.collectives import Transfer
from thzsync.coordinator import Action, Outcome, Policy, Situation
from thzsync.synthesis import Offer
from thzsync.transfers import TransferGraph

KINDS = ("p2p", "a2a", "allreduce")

LANES = 8
RACKS = 2 * LANES
SUBBANDS = 4
FIBRE_BPS = 100e9
CHUNK = 512 * 2**10
LEVELS = np.array([0.25, 0.5, 0.75, 1.0])
MAX_POWER_W = 0.1
JOULE_PER_BIT = 80e-12


def plan_of(kind: str, lanes: int = LANES) -> TransferGraph:
    """P2P: one flow per lane across rings; otherwise all pairs of one ring."""
    if kind == "p2p":
        src, dst = np.arange(lanes), np.arange(lanes) + lanes
        chunks = 32
    else:
        pairs = [(i, j) for i in range(lanes) for j in range(lanes) if i != j]
        src, dst = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
        chunks = 4 if kind == "a2a" else 64
    return make_plan(kind, src, dst, np.full(len(src), chunks))


def make_plan(kind: str, src: object, dst: object, chunks: object) -> TransferGraph:
    """A plan without precedence whose flows have these chunk counts."""
    sources, targets, counts = (np.array(x, dtype=np.int64, ndmin=1) for x in (src, dst, chunks))
    flows = len(sources)
    return TransferGraph(
        kind=kind,
        method="toy",
        racks=np.unique(np.concatenate((sources, targets))),
        demand=Transfer.of(sources, targets, counts * CHUNK),
        src=sources,
        dst=targets,
        flow_bytes=counts * CHUNK,
        chunk_bytes=CHUNK,
        after_start=np.zeros(flows + 1, dtype=np.int64),
        after=np.zeros(0, dtype=np.int64),
        local=np.ones(flows, dtype=np.bool_),
        block=np.arange(flows),
        shard=np.arange(flows),
        reduces=np.zeros(flows, dtype=np.bool_),
        carried=np.zeros(flows, dtype=np.int64),
        disciplines=("matching",),
        discipline=np.zeros(flows, dtype=np.int64),
        bundled=np.full(flows, kind == "allreduce"),
        stage=np.zeros(flows, dtype=np.int64),
    )


@dataclass
class ToyFloor:
    """Draws contexts and answers actions; the same seed gives the same events to every policy."""

    seed: int
    time_weight: float = 0.7
    blocked: float = 0.02
    late: float = 0.02
    plans: dict[str, TransferGraph] = field(default_factory=lambda: {k: plan_of(k) for k in KINDS})

    def context(self, event: int, kind: str) -> Situation:
        """The state in which an event finds the floor."""
        draw = np.random.default_rng((self.seed, event))
        plan = self.plans[kind]
        flows = plan.flows
        gain = 29.0 + draw.normal(0.0, 3.0, (flows, SUBBANDS))
        gain[draw.random(flows) < self.blocked] -= 15.0
        late = draw.random(RACKS) < self.late
        return Situation(
            decision=event,
            offer=Offer.per_flow(plan),
            racks=RACKS,
            straggler=late[plan.src],
            queued_bytes=draw.exponential(2e5, flows),
            shared_occupancy=draw.uniform(0.0, 0.1, flows),
            snr_db_per_w=gain,
            power_levels=LEVELS,
        )

    def outcome(self, event: int, context: Situation, action: Action) -> Outcome:
        """What the action costs, relative to leaving everything on the fibre."""
        late_s = np.random.default_rng((self.seed, event, 1)).uniform(1e-3, 5e-3)
        late_s *= bool(context.straggler.any())
        time_s, energy_j = cost(context, action)
        wired_s, wired_j = cost(context, Action.uniform(context.offer, 0.0, 0.0))
        reward = self.time_weight * (time_s + late_s) / wired_s
        reward += (1 - self.time_weight) * energy_j / wired_j
        return Outcome(event, time_s + late_s, energy_j, -reward)

    def play(self, policy: Policy, events: int, kinds: tuple[str, ...] = KINDS) -> FloatArray:
        """Rewards of a run with the kinds in turn."""
        rewards = np.empty(events)
        for event in range(events):
            context = self.context(event, kinds[event % len(kinds)])
            action = policy.decide(context)
            action.check(context)
            outcome = self.outcome(event, context, action)
            policy.learn(context, action, outcome)
            rewards[event] = outcome.reward
        return rewards

    def best_fixed(self, events: range, kind: str) -> float:
        """Mean reward of the best single share and power level, chosen in hindsight."""
        contexts = [(event, self.context(event, kind)) for event in events]
        return max(
            float(
                np.mean(
                    [
                        self.outcome(e, c, Action.uniform(c.offer, share, power)).reward
                        for e, c in contexts
                    ]
                )
            )
            for share in np.linspace(0, 1, 17)
            for power in LEVELS
        )


def cost(context: Situation, action: Action) -> tuple[float, float]:
    """Completion time without stragglers [s] and energy [J]."""
    plan = context.offer
    bits = 8.0 * plan.chunks * CHUNK
    share = action.thz_chunks / plan.chunks
    power_w = MAX_POWER_W * action.power[np.searchsorted(plan.racks, plan.src)]
    best = 10 ** (np.sort(context.snr_db_per_w, axis=1)[:, ::-1] / 10)
    wired_bits = bits * (1 - share)
    queued_s = 8 * context.queued_bytes / FIBRE_BPS * (wired_bits > 0)
    if plan.kind == "p2p":
        wired_s = wired_bits.sum() / FIBRE_BPS + queued_s.max()
        rate = 5e9 * np.log2(1 + power_w * best[:, 0])
        air_s = np.divide(bits * share, rate, out=np.zeros_like(bits), where=share > 0)
        thz_s, thz_j = air_s.max(), (power_w * air_s).sum()
    else:
        out_bits = np.bincount(plan.src, wired_bits)
        in_bits = np.bincount(plan.dst, wired_bits)
        wired_s = max(out_bits.max(), in_bits.max()) / FIBRE_BPS + queued_s.max()
        # Four subbands share the sender's power; a rack sends or receives on each, never both.
        rate = 5e9 * np.log2(1 + power_w / 4 * best.mean(axis=1))
        air_s = np.divide(bits * share, rate, out=np.zeros_like(bits), where=share > 0)
        busy_s = np.bincount(plan.src, air_s, RACKS) + np.bincount(plan.dst, air_s, RACKS)
        thz_s, thz_j = busy_s.max() / SUBBANDS, (power_w * air_s).sum() / SUBBANDS
    return float(max(wired_s, thz_s)), float(JOULE_PER_BIT * wired_bits.sum() + thz_j)
