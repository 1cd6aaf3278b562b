"""From a network and its background to the flow fabric's arrays; how large trains are."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray, IntArray
from thzsync.jit import kernel
from thzsync.optical import flow_layout as f
from thzsync.optical.background import Background, gaps_ps, starts
from thzsync.optical.flow_layout import State
from thzsync.optical.network import Network
from thzsync.optical.tournament import empty_tree
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.cutting import free_pieces
from thzsync.transfers.ledger import Ledger
from thzsync.transfers.pools import zero_rows
from thzsync.transfers.precedence import AIR


def lower_links(network: Network) -> IntArray:
    """One row per directed link and the queue before it."""
    racks, switches = network.racks, network.switches
    link = zero_rows(network.links, f.LINK_COLUMNS)
    for column in (f.HEAD, f.TAIL, f.WAIT_HEAD, f.WAIT_TAIL, f.RING_HEAD, f.RING_TAIL):
        link[:, column] = -1
    link[:, f.LIMIT] = network.output_queue_bytes
    link[:racks, f.LIMIT] = network.nic_queue_bytes
    link[:racks, f.SWITCH] = -1
    link[racks : 2 * racks, f.SWITCH] = network.ring_of_rack
    link[2 * racks :, f.SWITCH] = np.arange(switches**2) // switches
    link[:, f.RATE] = network.rate_bps
    link[:, f.BG_NEXT] = f.NEVER
    return link


def first_bursts(link: IntArray, gap_ps: FloatArray, key: int) -> None:
    """When the first burst of every switch output comes; the kernel draws the others."""
    outputs = np.flatnonzero((link[:, f.SWITCH] >= 0) & (link[:, f.RATE] > 0))
    link[outputs, f.BG_NEXT] = gaps_ps(key, outputs, 0, 1, gap_ps[outputs])[:, 0]
    link[outputs, f.BG_DRAWN] = 1


def lower_switches(network: Network) -> tuple[IntArray, IntArray]:
    """One row per switch, and the outputs of all switches one after the other."""
    switch = zero_rows(network.switches, f.SWITCH_COLUMNS)
    outputs = [network.outputs(s) for s in range(network.switches)]
    ends = np.cumsum([len(o) for o in outputs])
    switch[:, f.OUT_HI] = ends
    switch[1:, f.OUT_LO] = ends[:-1]
    switch[:, f.S_LIMIT] = network.shared_buffer_bytes
    switch[:, f.S_INTER_LIMIT] = network.ring_facing_bytes
    return switch, np.concatenate(outputs)


def lower(network: Network, background: Background | None, key: int, ledger: Ledger) -> State:
    """The state of an empty flow fabric at time 0."""
    if background is not None and background.load == 0:
        background = None
    switch, outputs = lower_switches(network)
    tournament_key, tree = empty_tree(network.links)
    ctl = np.zeros(f.CTL_COLUMNS, dtype=np.int64)
    ctl[f.FREE] = -1
    ctl[f.RACKS], ctl[f.RINGS] = network.racks, network.switches
    ctl[f.PACKET], ctl[f.DELAY] = network.packet_bytes, network.switch_delay_ps
    # at most in one instant: full NIC queues; per link a train, two bursts, and the rest of one
    ctl[f.FLOOR] = network.racks * f.MOST_QUEUED + 4 * network.links
    gap_ps, link = np.zeros(network.links), lower_links(network)
    if background is not None:
        ctl[f.BURST] = background.burst_bytes
        for rate in np.unique(network.rate_bps[network.rate_bps > 0]):
            gap_ps[network.rate_bps == rate] = background.mean_gap_ps(int(rate))
        first_bursts(link, gap_ps, key)
    train = zero_rows(int(ctl[f.FLOOR]) + 1024, f.TRAIN_COLUMNS)
    chain(ctl, train, 0)
    return State(
        clock=ledger.clock,
        task=ledger.task,
        edge=ledger.edge,
        slots=ledger.slots,
        ctl=ctl,
        link=link,
        train=train,
        node=zero_rows(len(ledger.task), f.NODE_COLUMNS),
        flow=zero_rows(64, f.FLOW_COLUMNS),
        switch=switch,
        key=tournament_key,
        tree=tree,
        wait=np.full(2 * network.links, -1, dtype=np.int64),
        kicked=np.zeros(2 * network.links, dtype=np.int64),
        outputs=outputs,
        gap_ps=gap_ps,
        draws=starts(key, np.arange(network.links)),
    )


def chain(ctl: IntArray, train: IntArray, first: int) -> None:
    """Add the train rows from ``first`` on to the list of free ones."""
    train[first:, f.T_NEXT] = np.arange(first + 1, len(train) + 1)
    train[-1, f.T_NEXT] = ctl[f.FREE]
    ctl[f.FREE] = first
    ctl[f.SPARE] += len(train) - first


def write_nodes(
    node: IntArray, batch: ChunkBatch, network: Network, first_flow: int, pieces: int
) -> None:
    """Fill the rows of a batch's nodes, whose flows begin at ``first_flow``.

    Trains are whole packets, about ``pieces`` of them per flow. Flows that neither wait nor are
    waited for chunk by chunk share links and nothing else: a quarter is enough.
    """
    least = max(network.packet_bytes, network.nic_queue_bytes // 64)
    _fill_nodes(
        node, batch.kind, batch.src, batch.dst, batch.size_bytes, batch.flow, batch.succ_ptr,
        batch.succ, network.ring_of_rack, network.switches, first_flow, pieces,
        free_pieces(pieces), network.packet_bytes, least,
    )  # fmt: skip


@kernel
def _fill_nodes(
    node: IntArray, kind: IntArray, src: IntArray, dst: IntArray, size_bytes: IntArray,
    flow: IntArray, succ_ptr: IntArray, succ: IntArray, ring_of_rack: IntArray, rings: int,
    first_flow: int, pieces: int, free: int, packet: int, least: int,
) -> None:  # fmt: skip
    racks, flows = len(ring_of_rack), flow.max() + 1
    total, first = np.zeros(flows, dtype=np.int64), np.full(flows, -1, dtype=np.int64)
    chained = False
    for n in range(len(kind)):
        if kind[n] > AIR:
            continue
        total[flow[n]] += size_bytes[n]
        if first[flow[n]] < 0:
            first[flow[n]] = size_bytes[n]
        for e in range(succ_ptr[n], succ_ptr[n + 1]):
            chained |= kind[succ[e]] <= AIR
    share = packet * (pieces if chained else free)
    for n in range(len(kind)):
        if kind[n] > AIR:
            continue
        row, i, j = node[n], src[n], dst[n]
        s, t = ring_of_rack[i], ring_of_rack[j]
        row[f.SRC] = i
        row[f.FIRST] = racks + j if s == t else 2 * racks + s * rings + t
        row[f.DOWN] = racks + j
        row[f.BYTES] = size_bytes[n]
        row[f.SENT] = 0
        row[f.N_NEXT] = row[f.LANDING] = -1
        row[f.FLOW] = first_flow + flow[n]
        # a run of chunks, larger than the first node of its flow, is one train
        packets = max(-(-total[flow[n]] // share), -(-least // packet))
        row[f.TRAIN] = size_bytes[n] if size_bytes[n] > first[flow[n]] else packets * packet
