"""From a network and its background to the flow fabric's arrays; how large trains are."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import NEVER_PS, IntArray
from thzsync.carriers import FIBRE
from thzsync.network import Network
from thzsync.optical import flow_layout as f
from thzsync.optical import layout as c
from thzsync.optical.background import Background, gaps_ps, starts
from thzsync.optical.flow_layout import State
from thzsync.optical.lowering import lower_common
from thzsync.transfers.batch import ChunkBatch
from thzsync.transfers.coarsening import free_pieces
from thzsync.transfers.ledger import Ledger


def lower(network: Network, background: Background | None, key: int, ledger: Ledger) -> State:
    """The state of an empty flow fabric at time 0."""
    # at most in one instant: full NIC queues; per link a train, two bursts, and the rest of one
    floor = len(network.uplinks) * f.MOST_QUEUED + 4 * network.links
    common = lower_common(network, background, ledger, floor + 1024, f.NODE_COLUMNS, f.LINK_COLUMNS)
    common["ctl"][f.FLOOR] = floor
    gap_ps, link = np.zeros(network.links), common["link"]
    link[:, f.BG_NEXT] = NEVER_PS
    if background is not None:
        for rate in np.unique(network.rate_bps[network.rate_bps > 0]):
            gap_ps[network.rate_bps == rate] = background.mean_gap_ps(int(rate))
        # the first burst of every switch output; the kernel draws the others
        outputs = np.flatnonzero((link[:, c.SWITCH] >= 0) & (link[:, c.RATE] > 0))
        link[outputs, f.BG_NEXT] = gaps_ps(key, outputs, 0, 1, gap_ps[outputs])[:, 0]
        link[outputs, f.BG_DRAWN] = 1
    return State(**common, gap_ps=gap_ps, draws=starts(key, np.arange(network.links)))


def train_bytes(batch: ChunkBatch, network: Network, pieces: int) -> IntArray:
    """Size of the trains of every node of a batch [bytes].

    Trains are whole packets, about ``pieces`` of them per flow. Flows that neither wait nor are
    waited for chunk by chunk share links and nothing else: a quarter is enough.
    """
    packet, size, carried = network.packet_bytes, batch.size_bytes, batch.kind >= FIBRE
    flow = batch.flow[carried]
    total = np.bincount(flow, size[carried]).astype(np.int64)
    first = np.zeros(len(total), dtype=np.int64)
    first[flow[::-1]] = size[carried][::-1]
    after = batch.succ[np.repeat(carried, np.diff(batch.succ_ptr))]
    if not carried[after].any():
        pieces = free_pieces(pieces)
    least = max(packet, network.buffers.nic_queue_bytes // 64)
    train = np.maximum(-(-total // (packet * pieces)), -(-least // packet)) * packet
    # a run of chunks, larger than the first node of its flow, is one train
    found = np.zeros(len(batch), dtype=np.int64)
    found[carried] = np.where(size[carried] > first[flow], size[carried], train[flow])
    return found
