"""A small run written down by hand, without the engine: plain rows and plain arithmetic.

Two rings of three racks (0-2 and 3-5) and two iterations with a hybrid P2P event, an All-to-All,
an AllReduce (one shard on a tree, one on a ring), and a P2P beside the All-to-All. One chunk falls
back to fibre, one is rerouted to THz. ``settle`` works out every sum from the detailed rows, so a
test can damage one detail and still have all sums agree with it.
"""

from __future__ import annotations

import copy
import functools
import math
from collections import defaultdict
from typing import Any

import numpy as np
import polars as pl

from thzsync.auditor import CHECKS
from thzsync.channel import ChannelModel
from thzsync.records.declaration import CarrierFacts
from thzsync.records.run import Run
from thzsync.records.schema import TABLES, polars_schema
from thzsync.scenario import Scenario
from thzsync.streams import Streams
from thzsync.topology import Topology

Row = dict[str, Any]
Rows = dict[str, list[Row]]

ENGINE_ONLY = {
    "declaration", "workload", "stragglers", "background", "power_needed", "budget_used",
    "wired_order", "link_spans", "link_progress", "static_policy", "references",
    "learner", "silence", "fallback",
}  # fmt: skip
"""Checks of what only a simulator gets right to the picosecond; ``test_forgeries`` covers them."""
HAND_CHECKS = tuple(check for check in CHECKS if check.__name__ not in ENGINE_ONLY)

US, MS = 10**6, 10**9
SEED = 7
ENDS = ("src", "dst")
REFERENCES = {"p2p": (1e-3, 1e-3), "a2a": (2e-3, 3e-3), "allreduce": (4e-3, 5e-3)}
SCENARIO = Scenario.model_validate(
    {
        "name": "hand-made",
        "carriers": ["thz", "bus"],
        "floor": {"rings": 2, "slots_per_ring": 3},
        "thz": {"round_overhead_s": 10e-6},
        "channel": {"coherence_s": 5e-3},
        "energy": {
            "thz": {
                "front_end_w": 0.8, "amplifier_efficiency": 0.05, "baseband_j_per_bit": 15e-12,
                "idle_w": 0.1, "sleep_share": 0.25,
            },
            "fibre": {
                "link_j_per_bit": 21e-12, "switch_j_per_bit": 9.8e-12, "idle_w_per_port": 4.0,
                "idle_w_per_switch": 60.0, "sleep_share": 0.5,
            },
            "racks": {"idle_w": 1000.0},
        },
        "collectives": {"chunk_bytes": 500_000},
        "jobs": [{"training": {"moe_stages": [0]}}],
        "faults": [
            {"kind": "transceiver-down", "rack": 1, "start_s": 10.0, "end_s": 11.0},
            {"kind": "subband-jammed", "subband": 3, "start_s": 10.0, "end_s": 11.0},
            {"kind": "pair-blocked", "racks": [0, 2], "start_s": 10.0, "end_s": 11.0},
            {"kind": "compute-frozen", "rack": 5, "start_s": 10.0, "end_s": 11.0},
            {"kind": "fibre", "rack": 4, "start_s": 10.0, "end_s": 11.0},
        ],
    }
)  # fmt: skip
THZ, OPTICAL = SCENARIO.thz, SCENARIO.optical
NOISE_W = 1e-3 * 10 ** ((-174.0 + THZ.noise_figure_db) / 10) * THZ.subband_hz
RACKS, LANES, RINGS = 6, 3, 2
OVERHEAD = 10 * US
CARRIERS = {
    "bus": CarrierFacts(
        one_at_a_time=True, rate_bps=80e9, energy_j_per_bit=3e-12, wall_j_per_bit=9e-12, idle_w=2.0
    )
}
DISCIPLINES = {"p2p": "streaming", "a2a": "matching", "allreduce": "assignment"}


@functools.cache
def channel() -> ChannelModel:
    return ChannelModel.build(SCENARIO.channel, THZ, Topology(SCENARIO.floor), Streams(SEED))


def gain_at(src: int, dst: int, subband: int, time_ps: int) -> float:
    return float(channel().gains(np.array([src]), np.array([dst]), time_ps)[0, subband])


def rate_bps(power_w: float, gain: float) -> float:
    return THZ.subband_hz * math.log2(
        1 + power_w * gain * 10 ** (THZ.receive_gain_db / 10) / NOISE_W
    )


def path(src: int, dst: int) -> list[int]:
    s, t = src // LANES, dst // LANES
    return [src, *([] if s == t else [2 * RACKS + s * RINGS + t]), RACKS + dst]


def size_of(flow: Row, chunk: int) -> int:
    return min(flow["chunk_bytes"], flow["bytes"] - chunk * flow["chunk_bytes"])


class Writer:
    """Writes rows in the order in which things happen."""

    def __init__(self) -> None:
        self.rows: Rows = {name: [] for name in TABLES}
        self.node_end: dict[tuple[int, int], int] = {}
        self.chunk_end: dict[tuple[int, int, int], int] = {}
        self.iteration_start: dict[int, int] = {}
        self.by_bus: dict[tuple[int, int], int] = {}

    def start_iteration(self, iteration: int, at: int) -> None:
        self.iteration_start[iteration] = at

    def _begin(self, iteration: int, after: list[int]) -> int:
        ends = [self.node_end[iteration, node] for node in after]
        return max([self.iteration_start[iteration], *ends])

    def task(self, iteration: int, node: int, stage: int, duration: int, after: list[int]) -> None:
        start = self._begin(iteration, after)
        self.node_end[iteration, node] = start + duration
        self.rows["tasks"].append(
            {
                "iteration": iteration, "node": node, "job": "train", "stage": stage,
                "microbatch": 0, "phase": "forward", "start_ps": start,
                "end_ps": start + duration, "duration_ps": duration, "rank": -1, "after": after,
                "racks": list(range(stage * LANES, (stage + 1) * LANES)),
            }
        )  # fmt: skip

    def event(
        self, iteration: int, node: int, kind: str, power: dict[int, float],
        after: list[int], delay: dict[int, int] | None = None,
    ) -> int:  # fmt: skip
        number = len(self.rows["events"])
        racks = sorted(power)
        self.rows["events"].append(
            {
                "iteration": iteration, "node": node, "number": number, "job": "train",
                "kind": kind, "stage": 0, "microbatch": 0, "label": kind, "method": "proposed",
                "racks": racks, "delay_ps": [(delay or {}).get(r, 0) for r in racks],
                "power": [power[r] for r in racks], "release_ps": self._begin(iteration, after),
                "after": after,
            }
        )  # fmt: skip
        return number

    def flow(
        self, number: int, src: int, dst: int, size: int, thz_chunks: int, *,
        local: bool = True, shard: int | None = None, reduces: bool = False,
        after: tuple[int, ...] = (), bus_chunks: int = 0,
    ) -> int:  # fmt: skip
        flow = sum(row["number"] == number for row in self.rows["flows"])
        event = self.rows["events"][number]
        block = 0 if event["kind"] == "allreduce" else flow
        shard = block if shard is None else shard
        if event["kind"] != "allreduce":
            self._block(number, block, size, [src], [dst])
        elif shard not in {f["shard"] for f in self.rows["flows"] if f["number"] == number}:
            self._block(number, 0, size, event["racks"], event["racks"])
        self.by_bus[number, flow] = bus_chunks
        self.rows["flows"].append(
            {
                "number": number, "flow": flow, "src": src, "dst": dst, "bytes": size,
                "chunks": -(-size // 500_000), "chunk_bytes": 500_000, "thz_chunks": thz_chunks,
                "local": local, "block": block, "shard": shard, "reduces": reduces,
                "after": list(after), "discipline": DISCIPLINES[event["kind"]],
            }
        )  # fmt: skip
        return flow

    def _block(
        self, number: int, block: int, size: int, sources: list[int], targets: list[int]
    ) -> None:
        """Write a block down, or add a shard's bytes to the one that is there."""
        for row in self.rows["blocks"]:
            if (row["number"], row["block"]) == (number, block):
                row["bytes"] += size
                return
        ends = {"sources": list(sources), "targets": list(targets)}
        self.rows["blocks"].append({"number": number, "block": block, "bytes": size, **ends})

    def _flow(self, number: int, flow: int) -> Row:
        return next(f for f in self.rows["flows"] if (f["number"], f["flow"]) == (number, flow))

    def ready(self, number: int, flow: int, chunk: int) -> int:
        event, row = self.rows["events"][number], self._flow(number, flow)
        release: int = event["release_ps"]
        own = release
        if row["local"]:
            own += event["delay_ps"][event["racks"].index(row["src"])]
        return max([own, *(self.chunk_end[number, other, chunk] for other in row["after"])])

    def _arrive(self, number: int, flow: int, chunk: int, carrier: int, end: int) -> None:
        ready, row = self.ready(number, flow, chunk), self._flow(number, flow)
        beside = [1] * row["thz_chunks"] + [2] * self.by_bus.get((number, flow), 0)
        self.chunk_end[number, flow, chunk] = end
        self.rows["chunks"].append(
            {
                "number": number, "flow": flow, "chunk": chunk, "carrier": carrier,
                "decided": (beside + [0] * row["chunks"])[chunk],
                "ready_ps": ready, "end_ps": end,
            }
        )  # fmt: skip

    def fibre(self, number: int, flow: int, *chunks: int, wait: int = 0) -> None:
        """Send chunks over fibre, each stored whole before every hop."""
        row = self._flow(number, flow)
        hops = len(path(row["src"], row["dst"]))
        for chunk in chunks:
            hop_ps = round(8e12 * size_of(row, chunk) / 100e9) + 500_000
            self._arrive(
                number, flow, chunk, 0, self.ready(number, flow, chunk) + wait + hops * hop_ps
            )

    def round(self, number: int, start: int, *sends: tuple[int, int, int, int, float]) -> int:
        """A round of (flow, first chunk, chunks, subband, power [W]); returns its end."""
        index = sum(r["number"] == number for r in self.rows["rounds"])
        discipline = DISCIPLINES[self.rows["events"][number]["kind"]]
        overhead = 0 if discipline == "streaming" else OVERHEAD
        begin, made = start + overhead, []
        for flow, first, chunks, subband, power_w in sends:
            row = self._flow(number, flow)
            size = sum(size_of(row, k) for k in range(first, first + chunks))
            gain = gain_at(row["src"], row["dst"], subband, start)
            made.append(
                {
                    "number": number, "round": index, "flow": flow, "first_chunk": first,
                    "chunks": chunks, "src": row["src"], "dst": row["dst"], "subband": subband,
                    "start_ps": begin, "power_w": power_w, "gain": gain, "bytes": size,
                    "step": "", "error_rate": 0.0, "noise_w": NOISE_W,
                }
            )  # fmt: skip
        end = begin + max(
            math.ceil(8e12 * m["bytes"] / rate_bps(m["power_w"], m["gain"])) for m in made
        )
        for sent in made:
            sent["end_ps"] = end
            self.rows["transmissions"].append(sent)
            for chunk in range(sent["first_chunk"], sent["first_chunk"] + sent["chunks"]):
                self._arrive(number, sent["flow"], chunk, 1, end)
        self.rows["rounds"].append(
            {
                "number": number, "round": index, "start_ps": start, "end_ps": end,
                "overhead_ps": overhead, "transmissions": len(made), "discipline": discipline,
                "common": discipline != "streaming",
            }
        )  # fmt: skip
        return end

    def bus(self, number: int, flow: int, chunk: int, start: int) -> int:
        """Send a chunk on the third carrier."""
        size = size_of(self._flow(number, flow), chunk)
        end = start + 100 * size
        self._arrive(number, flow, chunk, 2, end)
        self.rows["sendings"].append(
            {
                "number": number, "carrier": 2, "flow": flow, "first_chunk": chunk, "chunks": 1,
                "bytes": size, "start_ps": start, "end_ps": end, "energy_j": 3e-12 * 8 * size,
            }
        )  # fmt: skip
        return end

    def finish(self, number: int) -> int:
        event = self.rows["events"][number]
        end = max(c["end_ps"] for c in self.rows["chunks"] if c["number"] == number)
        self.node_end[event["iteration"], event["node"]] = end
        return end


@functools.cache
def _written() -> Rows:
    w = Writer()
    w.start_iteration(0, 0)
    w.task(0, 0, 0, 2 * MS, [])
    _hybrid_p2p(w)
    w.task(0, 2, 1, 1 * MS, [1])
    _all_to_all_beside_p2p(w)
    _allreduce(w)
    w.start_iteration(1, max(end for (i, _), end in w.node_end.items() if i == 0))
    w.task(1, 0, 0, 3 * MS, [])
    wired = w.event(1, 1, "p2p", {1: 0.0, 4: 0.0}, [0])
    w.fibre(wired, w.flow(wired, 1, 4, 700_000, 0), 0, 1)
    w.finish(wired)
    e = w.event(1, 2, "p2p", {0: 0.0, 3: 0.0}, [0])
    flow = w.flow(e, 0, 3, 1_250_000, 0, bus_chunks=2)
    w.bus(e, flow, 1, w.bus(e, flow, 0, w.ready(e, flow, 0)))
    w.fibre(e, flow, 2)
    w.finish(e)
    settle(w.rows)
    return w.rows


def _hybrid_p2p(w: Writer) -> None:
    """Event 0: rack 1 is late; its last chunk is rerouted from fibre to THz."""
    e = w.event(0, 1, "p2p", {0: 0.75, 1: 0.75, 3: 0.0, 4: 0.0}, [0], {1: 500 * US})
    a, b = w.flow(e, 0, 3, 1_250_000, 2), w.flow(e, 1, 4, 1_250_000, 1)
    start = w.ready(e, a, 0)
    w.round(e, start, (a, 0, 1, 0, 0.02))
    w.round(e, start, (a, 1, 1, 1, 0.03))
    w.fibre(e, a, 2)
    done = w.round(e, w.ready(e, b, 0), (b, 0, 1, 2, 0.07))
    w.fibre(e, b, 1)
    w.round(e, done, (b, 2, 1, 2, 0.09))
    w.finish(e)


def _all_to_all_beside_p2p(w: Writer) -> None:
    """Event 1 on ring 0 and event 2 from rack 2, which sends in both at once."""
    e = w.event(0, 3, "a2a", {0: 0.75, 1: 0.25, 2: 0.75}, [1])
    pairs = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    flows = [w.flow(e, i, j, 1_000_000, 1) for i, j in pairs]
    p = w.event(0, 4, "p2p", {2: 0.5, 5: 0.0}, [1])
    single = w.flow(p, 2, 5, 500_000, 1)
    start = w.ready(e, flows[0], 0)
    w.round(p, start, (single, 0, 1, 3, 0.04))
    end = w.round(e, start, (flows[0], 0, 1, 0, 0.04), (flows[4], 0, 1, 1, 0.05))
    end = w.round(e, end, (flows[1], 0, 1, 2, 0.02), (flows[2], 0, 1, 3, 0.01))
    w.round(e, end, (flows[3], 0, 1, 2, 0.02))
    w.fibre(e, flows[5], 0, wait=200 * US)  # decided for THz, fell back
    for flow in flows:
        w.fibre(e, flow, 1)
    w.finish(e)
    w.finish(p)


def _allreduce(w: Writer) -> None:
    """Event 3 on ring 1: shard 0 on a tree with root 3, shard 1 on the ring 3, 4, 5."""
    e = w.event(0, 5, "allreduce", {3: 1.0, 4: 0.5, 5: 0.25}, [2])
    up4 = w.flow(e, 4, 3, 800_000, 2, reduces=True)
    up5 = w.flow(e, 5, 3, 800_000, 1, reduces=True)
    down4 = w.flow(e, 3, 4, 800_000, 1, after=(up4, up5))
    down5 = w.flow(e, 3, 5, 800_000, 0, after=(up4, up5))
    r34 = w.flow(e, 3, 4, 800_000, 0, shard=1, reduces=True)
    r45 = w.flow(e, 4, 5, 800_000, 0, shard=1, reduces=True, after=(r34,))
    g53 = w.flow(e, 5, 3, 800_000, 0, shard=1, after=(r45,))
    g34 = w.flow(e, 3, 4, 800_000, 0, shard=1, local=False, after=(g53,))
    w.round(e, w.ready(e, up4, 0), (up4, 0, 2, 0, 0.04), (up5, 0, 1, 1, 0.02))
    w.fibre(e, up5, 1)
    w.fibre(e, down4, 1)
    w.fibre(e, down5, 0, 1)
    w.round(e, w.ready(e, down4, 0), (down4, 0, 1, 2, 0.1))
    for flow in (r34, r45, g53, g34):
        w.fibre(e, flow, 0, 1)
    w.finish(e)


def settle(rows: Rows, level: str = "details") -> Rows:
    """Work out every sum above a level, by plain loops.

    From the ``details`` (tasks, flows, chunks, transmissions) follow the ``figures`` of events,
    from those their ``rewards``, and from all of these the iterations and links; at level
    ``nothing`` all stays as it is.
    """
    if level == "nothing":
        return rows
    flows = {(f["number"], f["flow"]): f for f in rows["flows"]}
    for event in rows["events"]:
        if level == "details":
            _settle_event(event, rows, flows)
        if level != "rewards":
            _settle_reward(event)
    rows["iterations"] = [
        _settled_iteration(rows, flows, i) for i in sorted({t["iteration"] for t in rows["tasks"]})
    ]
    _settle_links(rows, flows)
    return rows


def _chunks_of(event: Row, rows: Rows, flows: dict[tuple[int, int], Row]) -> list[tuple[Row, Row]]:
    mine = (c for c in rows["chunks"] if c["number"] == event["number"])
    return [(c, flows[c["number"], c["flow"]]) for c in mine]


def _settle_event(event: Row, rows: Rows, flows: dict[tuple[int, int], Row]) -> None:
    own = [f for f in rows["flows"] if f["number"] == event["number"]]
    chunks = _chunks_of(event, rows, flows)
    wired, thz, bus = ([(c, f) for c, f in chunks if c["carrier"] == k] for k in range(3))
    event["payload_bytes"] = sum({f["shard"]: f["bytes"] for f in own}.values())
    event["end_ps"] = max(c["end_ps"] for c, _ in chunks)
    event["completion_ms"] = (event["end_ps"] - event["release_ps"]) / MS
    size, busiest = _measured(event, own)
    event["algbw_gb_s"] = size / event["completion_ms"] / 1e6
    event["busbw_gb_s"] = busiest / event["completion_ms"] / 1e6
    event["wired_bytes"] = sum(size_of(f, c["chunk"]) for c, f in wired)
    event["thz_bytes"] = sum(size_of(f, c["chunk"]) for c, f in thz)
    event["optical_energy_j"] = 40e-12 * sum(
        8 * size_of(f, c["chunk"]) * len(path(f["src"], f["dst"])) for c, f in wired
    )
    event["thz_energy_j"] = sum(
        t["power_w"] * (t["end_ps"] - t["start_ps"]) / 1e12
        for t in rows["transmissions"]
        if t["number"] == event["number"]
    )
    event["thz_wall_j"] = (
        0.8 * _in_use_s(rows, {event["number"]})
        + event["thz_energy_j"] / 0.05
        + 15e-12 * 8 * event["thz_bytes"]
    )
    hops = [(8 * size_of(f, c["chunk"]), len(path(f["src"], f["dst"]))) for c, f in wired]
    event["optical_wall_j"] = sum(bits * (21e-12 * n + 9.8e-12 * (n - 1)) for bits, n in hops)
    event["link_s"] = sum(bits * n / 100e9 for bits, n in hops)
    event["further_bytes"] = sum(size_of(f, c["chunk"]) for c, f in bus)
    sent = (s for s in rows["sendings"] if s["number"] == event["number"])
    event["further_energy_j"] = sum(s["energy_j"] for s in sent)
    event["further_wall_j"] = 9e-12 * 8 * event["further_bytes"]
    lasts_s = event["completion_ms"] / 1e3
    in_use_s = _in_use_s(rows, {event["number"]})
    static = _static(len(event["racks"]), lasts_s, event.pop("link_s"), in_use_s)
    event["static_j"] = sum(static.values())
    event["fallback_chunks"] = sum(c["decided"] > 0 for c, _ in wired)
    event["rerouted_chunks"] = sum(c["decided"] == 0 for c, _ in (*thz, *bus))
    event["decision_thz_share"] = sum(f["thz_chunks"] for f in own) / sum(f["chunks"] for f in own)


def _in_use_s(rows: Rows, numbers: set[int]) -> float:
    """Transmissions with their guard times."""
    begin = {(r["number"], r["round"]): r["start_ps"] for r in rows["rounds"]}
    mine = (t for t in rows["transmissions"] if t["number"] in numbers)
    return sum(
        (t["end_ps"] - begin.get((t["number"], t["round"]), t["start_ps"])) / 1e12 for t in mine
    )


def _static(racks: int, lasts_s: float, link_s: float, in_use_s: float) -> dict[str, float]:
    """6 racks share 14 modules (12 at racks, 2 between rings), 2 switches and the bus."""
    share = racks / 6
    awake = {
        "port": 0.5 * 14 * share * lasts_s + 0.5 * link_s,
        "chain": 0.75 * 4 * racks * lasts_s + 0.25 * 2 * in_use_s,
    }
    return {
        "fibre_static_j": 4.0 * awake["port"] + 60.0 * 2 * share * lasts_s,
        "thz_static_j": 0.1 * awake["chain"],
        "further_static_j": 2.0 * share * lasts_s,
        "rack_static_j": 1000.0 * racks * lasts_s,
    }


def _measured(event: Row, own: list[Row]) -> tuple[float, float]:
    """What nccl-tests would divide by the time: the size, and the busiest rack's bytes."""
    parties, payload = len(event["racks"]), event["payload_bytes"]
    if event["kind"] == "allreduce":
        return payload, payload * 2 * (parties - 1) / parties
    ends = [[sum(f["bytes"] for f in own if f[end] == r) for r in event["racks"]] for end in ENDS]
    busiest = max(*ends[0], *ends[1])
    return busiest * parties / (parties - 1) if event["kind"] == "a2a" else busiest, busiest


def _settle_reward(event: Row) -> None:
    time_s, energy_j = REFERENCES[event["kind"]]
    spent_j = event["optical_energy_j"] + event["thz_energy_j"] + event["further_energy_j"]
    event["reward"] = -(0.7 * event["completion_ms"] / 1e3 / time_s + 0.3 * spent_j / energy_j)


def _settled_iteration(rows: Rows, flows: dict[tuple[int, int], Row], iteration: int) -> Row:
    events = [e for e in rows["events"] if e["iteration"] == iteration]
    tasks = [t for t in rows["tasks"] if t["iteration"] == iteration]
    numbers = {e["number"] for e in events}
    start = min(t["start_ps"] for t in tasks)
    end = max(x["end_ps"] for x in (*tasks, *events))
    total = {
        name: sum(e[name] for e in events)
        for name in (
            "completion_ms", "optical_energy_j", "thz_energy_j", "further_energy_j",
            "optical_wall_j", "thz_wall_j", "further_wall_j",
            "thz_bytes", "wired_bytes", "further_bytes", "fallback_chunks", "rerouted_chunks",
        )
    }  # fmt: skip
    load: dict[int, int] = defaultdict(int)
    for event in events:
        for chunk, flow in _chunks_of(event, rows, flows):
            for link in path(flow["src"], flow["dst"]) if not chunk["carrier"] else ():
                load[link] += size_of(flow, chunk["chunk"])
    air_ps = sum(
        t["end_ps"] - t["start_ps"] for t in rows["transmissions"] if t["number"] in numbers
    )
    racks = {rack for t in tasks for rack in t["racks"]}
    busy_ps = sum((t["end_ps"] - t["start_ps"]) * len(t["racks"]) for t in tasks)
    nodes = {n["node"]: n for n in (*tasks, *events)}
    link_s = sum(load.values()) * 8 / 100e9
    static = _static(RACKS, (end - start) / 1e12, link_s, _in_use_s(rows, numbers))
    wall_j = sum(total[f"{name}_wall_j"] for name in ("optical", "thz", "further"))
    names = ("thz_bytes", "wired_bytes", "further_bytes")
    thz_bytes, *other_bytes = (total.pop(name) for name in names)
    return {
        **total,
        **static,
        "wall_energy_j": wall_j,
        "static_energy_j": sum(static.values()),
        "total_energy_j": wall_j + sum(static.values()),
        "job": "train",
        "iteration": iteration,
        "start_ps": start,
        "end_ps": end,
        "energy_j": sum(total[f"{name}_energy_j"] for name in ("optical", "thz", "further")),
        "reward": sum(e["reward"] for e in events) / len(events),
        "makespan_ms": (end - start) / MS,
        "exposed_ms": (end - start - max(_path_ps(nodes, n) for n in nodes)) / MS,
        "bubble": 1 - busy_ps / (len(racks) * (end - start)),
        "thz_share": thz_bytes / (thz_bytes + sum(other_bytes)),
        "thz_utilisation": 2 * air_ps / (RACKS * THZ.subbands * (end - start)),
        "optical_utilisation": max(load.values()) * 8 / (100e9 * (end - start) / 1e12),
    }


def _path_ps(nodes: dict[int, Row], node: int) -> int:
    before = max((_path_ps(nodes, n) for n in nodes[node]["after"]), default=0)
    return before + int(nodes[node].get("duration_ps", 0))


def _settle_links(rows: Rows, flows: dict[tuple[int, int], Row]) -> None:
    """One span over the whole run per fibre."""
    load: dict[int, int] = defaultdict(int)
    for chunk in rows["chunks"]:
        flow = flows[chunk["number"], chunk["flow"]]
        for link in path(flow["src"], flow["dst"]) if not chunk["carrier"] else ():
            load[link] += size_of(flow, chunk["chunk"])
    end = max(i["end_ps"] for i in rows["iterations"])
    rows["links"] = [
        {"start_ps": 0, "end_ps": end, "link": link, "bytes": size, "background_bytes": 1000}
        for link, size in sorted(load.items())
    ]


def rows() -> Rows:
    """A fresh copy of all rows, to be damaged at will."""
    return copy.deepcopy(_written())


def as_run(rows: Rows, scenario: Scenario = SCENARIO) -> Run:
    tables = {
        name: pl.DataFrame(rows[name], schema=polars_schema(name), orient="row") for name in TABLES
    }
    return Run(scenario, "hand", SEED, REFERENCES, tables, carriers=CARRIERS)
