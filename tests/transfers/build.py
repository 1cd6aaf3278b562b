"""Plans and schedules made by hand, for tests only: simple, slow and obviously right."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from thzsync.arrays import to_ps
from thzsync.collectives import Tensor, Transfer, split_bytes
from thzsync.scenario import Thz
from thzsync.transfers import Schedule, TransferGraph

CHUNK = 1000


def plan_of(kind, racks, demand, flows, method="test", chunk_bytes=CHUNK, bundled=False):
    """From flows written as (src, dst, bytes, after, local, shard, reduces), all on THz."""
    columns = list(zip(*flows, strict=True)) if flows else [()] * 7
    src, dst, size, after, local, shard, reduces = columns
    whole = isinstance(demand, Tensor)
    size_bytes = np.array(size, dtype=np.int64)
    return TransferGraph(
        kind=kind,
        method=method,
        racks=np.array(racks, dtype=np.int64),
        demand=demand,
        src=np.array(src, dtype=np.int64),
        dst=np.array(dst, dtype=np.int64),
        flow_bytes=size_bytes,
        chunk_bytes=chunk_bytes,
        after_start=np.cumsum([0, *(len(a) for a in after)]).astype(np.int64),
        after=np.array([p for a in after for p in a], dtype=np.int64),
        local=np.array(local, dtype=bool),
        block=np.zeros(len(flows), dtype=np.int64) if whole else np.arange(len(flows)),
        shard=np.array(shard, dtype=np.int64) if whole else np.arange(len(flows)),
        reduces=np.array(reduces, dtype=bool),
        carried=-(-size_bytes // chunk_bytes),
        disciplines=("assignment",),
        discipline=np.zeros(len(flows), dtype=np.int64),
        bundled=np.full(len(flows), bundled),
        stage=np.zeros(len(flows), dtype=np.int64),
    )


def transfers(matrix, kind="a2a", racks=None):
    """One flow per positive entry of a square byte matrix."""
    matrix = np.asarray(matrix)
    racks = np.arange(len(matrix)) if racks is None else np.asarray(racks)
    i, j = np.nonzero(matrix)
    demand = Transfer.of(racks[i], racks[j], matrix[i, j])
    flows = [
        (racks[a], racks[b], matrix[a, b], (), True, 0, False) for a, b in zip(i, j, strict=True)
    ]
    return plan_of(kind, racks, demand, flows)


def tree_flows(parent, size, shard=0, first=0, racks=None):
    """Reduce to the root of ``parent`` (root's parent is -1), then broadcast back."""
    n = len(parent)
    racks = list(range(n)) if racks is None else list(racks)
    children = {v: [u for u in range(n) if parent[u] == v] for v in range(n)}
    up = {v: first + k for k, v in enumerate(v for v in range(n) if parent[v] >= 0)}
    down = {v: first + n - 1 + k for k, v in enumerate(up)}
    flows = [
        (racks[v], racks[parent[v]], size, [up[u] for u in children[v]], True, shard, True)
        for v in up
    ]
    for v in down:
        p = parent[v]
        is_root = parent[p] < 0
        after = [up[u] for u in children[p]] if is_root else [down[p]]
        flows.append((racks[p], racks[v], size, after, is_root, shard, False))
    return flows


def tree_plan(parents, tensor_bytes, bundled=True):
    """One shard per tree."""
    flows = []
    for shard, (parent, size) in enumerate(
        zip(parents, split_bytes(tensor_bytes, len(parents)).tolist(), strict=True)
    ):
        flows += tree_flows(parent, size, shard, first=len(flows))
    racks = range(len(parents[0]))
    return plan_of("allreduce", racks, Tensor(tensor_bytes), flows, bundled=bundled)


def ring_plan(n, tensor_bytes):
    """Reduce-scatter and all-gather: piece s walks round the ring twice, less two steps."""
    flows = []
    for s, size in enumerate(split_bytes(tensor_bytes, n).tolist()):
        for step in range(2 * (n - 1)):
            src, dst = (s + step) % n, (s + step + 1) % n
            after = [len(flows) - 1] if step else []
            flows.append((src, dst, size, after, step < n, s, step < n - 1))
    return plan_of("allreduce", range(n), Tensor(tensor_bytes), flows)


def random_parent(n, rng):
    """A uniformly grown random tree, its root anywhere."""
    label = rng.permutation(n)
    parent = np.full(n, -1)
    for k in range(1, n):
        parent[label[k]] = label[rng.integers(k)]
    return parent.tolist()


def play(plan, thz=None, release_s=None, gain=1e-9, rng=None, overhead_s=0.0):
    """A feasible schedule: flows in topological order, each as early as its racks allow.

    Every transmission has a 1/N_c share of the power, so that no rack can exceed its own.
    """
    thz = Thz() if thz is None else thz
    rng = np.random.default_rng(0) if rng is None else rng
    release_ps = [to_ps(s) for s in (release_s or [0.0] * len(plan.racks))]
    position = {int(rack): k for k, rack in enumerate(plan.racks)}
    power_w = thz.max_power_w / thz.subbands
    snr = power_w * 10 ** (thz.receive_gain_db / 10) * gain / thz.noise_w
    rate = thz.subband_hz * math.log2(1 + snr)
    free, arrived, rows, done = {}, {}, [], set()
    while len(done) < plan.flows:
        for f in range(plan.flows):
            if f in done or any(int(p) not in done for p in plan.predecessors(f)):
                continue
            done.add(f)
            src, dst = int(plan.src[f]), int(plan.dst[f])
            chunks = int(plan.chunks[f])
            parts = [(0, chunks)] if plan.bundled[f] else [(k, 1) for k in range(chunks)]
            for first, count in parts:
                c = int(rng.integers(thz.subbands))
                ready = [arrived[int(p), k] for p in plan.predecessors(f) for k in range(chunks)]
                ready += [release_ps[position[src]]] if plan.local[f] else []
                ready += [free.get((rack, c), 0) for rack in (src, dst)]
                begin = plan.first_chunk[f] + first
                bits = 8 * int(plan.chunk_sizes[begin : begin + count].sum())
                start = max(ready, default=0)
                end = start + to_ps(overhead_s) + math.ceil(bits / rate * 1e12)
                free[src, c] = free[dst, c] = end
                arrived.update({(f, k): end for k in range(first, first + count)})
                rows.append((f, first, count, c, start, end))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 6).T
    n = len(rows)
    return Schedule(
        plan=plan,
        release_ps=np.array(release_ps, dtype=np.int64),
        round=np.arange(n),
        flow=columns[0],
        first_chunk=columns[1],
        chunks=columns[2],
        subband=columns[3],
        start_ps=columns[4],
        end_ps=columns[5],
        power_w=np.full(n, power_w),
        gain=np.full(n, gain),
        overhead_ps=np.full(n, to_ps(overhead_s)),
        noise_w=np.full(n, thz.noise_w),
    )


def edited(thing, **columns):
    """A copy with some entries of some columns changed: ``column={index: value}`` or a whole."""
    changed = {}
    for name, change in columns.items():
        if isinstance(change, dict):
            value = getattr(thing, name).copy()
            for index, entry in change.items():
                value[index] = entry
            changed[name] = value
        else:
            changed[name] = change
    return replace(thing, **changed)


def without_rows(schedule, *rows):
    """The schedule without some transmissions."""
    columns = (
        "round",
        "flow",
        "first_chunk",
        "chunks",
        "subband",
        "start_ps",
        "end_ps",
        "power_w",
        "gain",
        "overhead_ps",
        "noise_w",
    )
    return replace(schedule, **{name: np.delete(getattr(schedule, name), rows) for name in columns})
