"""From a network and its background to the kernel's arrays."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import AnyArray, FloatArray, IntArray
from thzsync.jit import bare
from thzsync.optical import layout as c
from thzsync.optical.background import Background, one_gap_ps, starts
from thzsync.optical.layout import State
from thzsync.optical.network import Network
from thzsync.optical.tournament import empty_tree, set_key
from thzsync.transfers.ledger import Ledger
from thzsync.transfers.pools import zero_rows

BURSTS_AHEAD = 1024
"""Background bursts worked out at a time, per link."""
NEARLY = 8
"""A link that has at most this part of its bursts left is served with those that have none."""
BURSTS_STORED = 1 << 24
"""Bursts kept for all links together: with very many links, each looks less far ahead."""


def lower_links(network: Network) -> IntArray:
    """One row per directed link and the queue before it."""
    racks, switches = network.racks, network.switches
    link = zero_rows(network.links, c.LINK_COLUMNS)
    for column in (c.HEAD, c.TAIL, c.WAIT_HEAD, c.WAIT_TAIL, c.RING_HEAD, c.RING_TAIL):
        link[:, column] = -1
    link[:, c.LIMIT] = network.output_queue_bytes
    link[:racks, c.LIMIT] = network.nic_queue_bytes
    link[racks:, c.AHEAD] = link[racks:, c.CHUNKS] = 0
    link[:racks, c.SWITCH] = -1
    link[racks : 2 * racks, c.SWITCH] = network.ring_of_rack
    link[2 * racks :, c.SWITCH] = np.arange(switches**2) // switches
    link[:, c.RATE] = network.rate_bps
    for rate in np.unique(network.rate_bps[network.rate_bps > 0]):
        full = -(-8 * network.packet_bytes * 10**12 // int(rate))
        link[network.rate_bps == rate, c.FULL] = full
    return link


def lower_switches(network: Network) -> tuple[IntArray, IntArray]:
    """One row per switch, and the outputs of all switches one after the other."""
    switch = zero_rows(network.switches, c.SWITCH_COLUMNS)
    outputs = [network.outputs(s) for s in range(network.switches)]
    ends = np.cumsum([len(o) for o in outputs])
    switch[:, c.OUT_HI] = ends
    switch[1:, c.OUT_LO] = ends[:-1]
    switch[:, c.S_LIMIT] = network.shared_buffer_bytes
    switch[:, c.S_INTER_LIMIT] = network.ring_facing_bytes
    # At one instant every link into a switch can start one packet, so below this load no limit of
    # the shared buffer can be met before the next instant.
    links_in = np.bincount(network.ring_of_rack, minlength=network.switches)
    links_in += network.switches - 1
    switch[:, c.AMPLE] = network.ring_facing_bytes - links_in * network.packet_bytes
    switch[:, c.EAGER] = switch[:, c.AMPLE] < 0
    return switch, np.concatenate(outputs)


def bursts_ahead(links: int) -> int:
    """How many bursts of every link are kept; changes no burst, only how often they are drawn."""
    return max(1, min(BURSTS_AHEAD, BURSTS_STORED // links))


def lower(
    network: Network, background: Background | None, ledger: Ledger, *, trains: bool, trace: bool
) -> State:
    """The state of an empty fabric at time 0."""
    switch, outputs = lower_switches(network)
    todo = np.zeros((2 * (network.links + network.switches), 3), dtype=np.int64)
    todo[: len(outputs), c.OUTPUTS] = outputs
    key, tree = empty_tree(network.links)
    bursts = background is not None and background.load > 0
    bg_key, bg_tree = empty_tree(network.links if bursts else 1)
    pkt = zero_rows(1024 + _rows_ahead(network, background, switch), c.PACKET_COLUMNS)
    ctl = np.zeros(c.CTL_COLUMNS, dtype=np.int64)
    ctl[c.FREE] = -1
    ctl[c.FREE_TICKET] = -1
    ctl[c.RESUME] = -1
    ctl[c.RACKS] = network.racks
    ctl[c.RINGS] = network.switches
    ctl[c.PACKET] = network.packet_bytes
    ctl[c.DELAY] = network.switch_delay_ps
    ctl[c.TRAINS] = trains
    ctl[c.TRACING] = trace
    ctl[c.ALONE] = trains and not trace
    ctl[c.SPARE] = len(pkt)
    if background is not None:
        ctl[c.BURST] = background.burst_bytes
        ctl[c.BURST_PACKETS] = background.packets(network.packet_bytes)
        ctl[c.BURSTS_SHORT] = bursts
    chain(ctl, c.FREE, pkt, 0)
    ticket = zero_rows(1024, 2, np.int32)
    chain(ctl, c.FREE_TICKET, ticket, 0)
    return State(
        clock=ledger.clock,
        task=ledger.task,
        edge=ledger.edge,
        slots=ledger.slots,
        ctl=ctl,
        link=lower_links(network),
        ticket=ticket,
        admitted=np.zeros(len(ticket) if trace else 1, dtype=np.int64),
        pkt=pkt,
        node=zero_rows(len(ledger.task), c.NODE_COLUMNS),
        flow=zero_rows(64, c.FLOW_COLUMNS),
        switch=switch,
        key=key,
        tree=tree,
        wait=zero_rows(2 * network.links, 2),
        todo=todo,
        bg_key=bg_key,
        bg_tree=bg_tree,
        burst=zero_rows(
            network.links if bursts else 1, c.FIRST_BURST + bursts_ahead(network.links)
        ),
        trace=zero_rows(4096 if trace else 1, c.TRACE_COLUMNS),
    )


def _rows_ahead(network: Network, background: Background | None, switch: IntArray) -> int:
    """Packet rows for all bursts that switches may have counted ahead, twice."""
    if background is None or background.load == 0:
        return 0
    most = np.minimum(
        c.MOST_AHEAD * (switch[:, c.OUT_HI] - switch[:, c.OUT_LO]),
        np.maximum(switch[:, c.AMPLE], 0) // background.burst_bytes,
    )
    return 2 * int(most.sum()) * background.packets(network.packet_bytes)


def chain(ctl: IntArray, free: int, rows: AnyArray, first: int) -> None:
    """Add the packet or ticket rows from ``first`` on to the list of free ones."""
    rows[first:, 0] = np.arange(first + 1, len(rows) + 1)
    rows[-1, 0] = ctl[free]
    ctl[free] = first


class BurstClock:
    """Keeps the kernel supplied with background bursts."""

    def __init__(self, network: Network, background: Background, key: int) -> None:
        self._outputs = np.concatenate([network.outputs(s) for s in range(network.switches)])
        rates = network.rate_bps[self._outputs].tolist()
        self._mean_ps = np.array([background.mean_gap_ps(rate) for rate in rates])
        self._drawn = np.zeros(len(self._outputs), dtype=np.int64)
        self._starts = starts(key, self._outputs)

    def refill(self, st: State) -> None:
        """Draw new bursts for every link that has used up its own, or nearly so.

        Links of one rate run short at about the same time; serving them together spares returns
        from the kernel. What a link still had is drawn again: burst k is always the same.
        """
        with np.errstate(over="ignore"):  # hashes wrap around, of which Python warns uncompiled
            _refill(
                st.burst, st.link, st.bg_key, st.bg_tree, self._outputs, self._starts,
                self._mean_ps, self._drawn,
            )  # fmt: skip
        st.ctl[c.BURSTS_SHORT] = 0


@bare
def _refill(
    burst: IntArray, link: IntArray, bg_key: IntArray, bg_tree: IntArray, outputs: IntArray,
    starts: AnyArray, mean_ps: FloatArray, drawn: IntArray,
) -> None:  # fmt: skip
    """Serve the links of ``outputs``, of each of which so many bursts were ``drawn`` before."""
    ahead = burst.shape[1] - c.FIRST_BURST
    for k in range(len(outputs)):
        q = outputs[k]
        left = burst.shape[1] - burst[q, c.BG_POS] if drawn[k] else 0
        if left > ahead // NEARLY:
            continue
        seen = drawn[k] - left
        at_ps = burst[q, burst[q, c.BG_POS] - 1] if seen else 0
        for b in range(ahead):
            at_ps += one_gap_ps(starts[k], seen + b, mean_ps[k])
            burst[q, c.FIRST_BURST + b] = at_ps
        burst[q, c.BG_POS] = c.FIRST_BURST
        drawn[k] = seen + ahead
        set_key(bg_key, bg_tree, q, burst[q, c.FIRST_BURST + link[q, c.AHEAD]])
