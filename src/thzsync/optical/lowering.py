"""From a network and its background to the arrays of a packet fabric, and of either fabric."""

from __future__ import annotations

from typing import Any

import numpy as np

from thzsync.arrays import AnyArray, FloatArray, IntArray
from thzsync.jit import bare
from thzsync.network import Network
from thzsync.optical import layout as c
from thzsync.optical.background import Background, one_gap_ps, starts
from thzsync.optical.layout import State
from thzsync.optical.lists import add_rows
from thzsync.optical.tournament import empty_tree, set_key
from thzsync.transfers.ledger import Ledger
from thzsync.transfers.pools import zero_rows

BURSTS_AHEAD = 1024
"""Background bursts worked out at a time, per link."""
NEARLY = 8
"""A link that has at most this part of its bursts left is served with those that have none."""
BURSTS_STORED = 1 << 24
"""Bursts kept for all links together: with very many links, each looks less far ahead."""


def lower_links(network: Network, columns: int) -> IntArray:
    """One row per directed link and the queue before it."""
    link = zero_rows(network.links, columns)
    for column in (c.HEAD, c.TAIL, c.WAIT_HEAD, c.WAIT_TAIL, c.RING_HEAD, c.RING_TAIL):
        link[:, column] = -1
    link[:, c.SWITCH], link[:, c.TO] = network.from_switch, network.to_switch
    buffers, rises = network.buffers, network.from_switch < 0
    link[:, c.LIMIT] = np.where(rises, buffers.nic_queue_bytes, buffers.output_queue_bytes)
    link[:, c.LATENCY] = network.delay_ps + np.where(rises, 0, buffers.switch_delay_ps)
    link[:, c.POOL] = network.pools.of_link
    link[:, c.RATE] = network.rate_bps
    return link


def lower_switches(network: Network) -> IntArray:
    """One row per switch."""
    switch = zero_rows(network.switches, c.SWITCH_COLUMNS)
    ends = np.cumsum(np.bincount(network.from_switch[network.outputs], minlength=len(switch)))
    switch[:, c.OUT_HI] = ends
    switch[1:, c.OUT_LO] = ends[:-1]
    return switch


def lower_pools(network: Network) -> IntArray:
    """One row per part of a shared buffer, empty."""
    pools = network.pools
    pool = zero_rows(len(pools.parent), c.POOL_COLUMNS)
    pool[:, c.ROOM], pool[:, c.PARENT] = pools.limit_bytes, pools.parent
    pool[:, c.DEPTH], pool[:, c.CHILD] = pools.depth, -1
    inside = np.flatnonzero(pools.parent >= 0)
    pool[pools.parent[inside], c.CHILD] = inside
    return pool


def lower_common(
    network: Network,
    background: Background | None,
    ledger: Ledger,
    packets: int,
    node_columns: int = c.NODE_COLUMNS,
    link_columns: int = c.LINK_COLUMNS,
) -> dict[str, Any]:
    """The arrays that both fabrics have, for an empty one at time 0."""
    key, tree = empty_tree(network.links)
    ctl, pkt = np.zeros(c.CTL_COLUMNS, dtype=np.int64), zero_rows(packets, c.PACKET_COLUMNS)
    ctl[c.FREE] = -1
    ctl[c.PACKET] = network.packet_bytes
    ctl[c.BURST] = background.burst_bytes if background is not None else 0
    add_rows(ctl, pkt, 0)
    return {
        "clock": ledger.clock,
        "task": ledger.task,
        "edge": ledger.edge,
        "slots": ledger.slots,
        "ctl": ctl,
        "link": lower_links(network, link_columns),
        "pkt": pkt,
        "node": zero_rows(len(ledger.task), node_columns),
        "flow": zero_rows(64, c.FLOW_COLUMNS),
        "switch": lower_switches(network),
        "pool": lower_pools(network),
        "table": network.forwarding.table,
        "groups": network.forwarding.groups,
        "key": key,
        "tree": tree,
        "wait": np.full(2 * network.links, -1, dtype=np.int64),
        "kicked": np.zeros(2 * network.links, dtype=np.int64),
        "outputs": network.outputs,
    }


def bursts_ahead(links: int) -> int:
    """How many bursts of every link are kept; changes no burst, only how often they are drawn."""
    return max(1, min(BURSTS_AHEAD, BURSTS_STORED // links))


def lower(
    network: Network, background: Background | None, ledger: Ledger, *, trains: bool, trace: bool
) -> State:
    """The state of an empty packet fabric at time 0."""
    bursts = background is not None
    common = lower_common(network, background, ledger, packets=1024)
    ctl, link, switch = common["ctl"], common["link"], common["switch"]
    ctl[c.RESUME] = -1
    ctl[c.TRAINS], ctl[c.TRACING], ctl[c.BURSTS_SHORT] = trains, trace, bursts
    for rate in np.unique(network.rate_bps[network.rate_bps > 0]):
        full = -(-8 * network.packet_bytes * 10**12 // int(rate))
        link[network.rate_bps == rate, c.FULL] = full
    # At one instant every link into a switch can start one packet, so below this load no limit of
    # the shared buffer can be met before the next instant.
    real = network.rate_bps > 0
    into = network.to_switch[real & (network.to_switch >= 0)]
    links_in = np.bincount(into, minlength=network.switches)
    least = np.full(network.switches, network.buffers.shared_buffer_bytes)
    pools = network.pools.of_link[network.outputs]
    np.minimum.at(least, network.from_switch[network.outputs], network.pools.limit_bytes[pools])
    switch[:, c.AMPLE] = least - links_in * network.packet_bytes
    switch[:, c.EAGER] = switch[:, c.AMPLE] < 0
    bg_key, bg_tree = empty_tree(network.links if bursts else 1)
    return State(
        **common,
        stamp=np.zeros(2 * network.links, dtype=np.int64),
        granted=np.zeros(network.links + network.switches, dtype=np.int64),
        bg_key=bg_key,
        bg_tree=bg_tree,
        burst=zero_rows(
            network.links if bursts else 1, c.FIRST_BURST + bursts_ahead(network.links)
        ),
        trace=zero_rows(4096 if trace else 1, c.TRACE_COLUMNS),
    )


class BurstClock:
    """Keeps the kernel supplied with background bursts.

    Links draw under other ``names`` than their numbers, and from another instant ``from_ps`` on,
    where a network is a part of a larger one.
    """

    def __init__(
        self,
        network: Network,
        background: Background,
        key: int,
        names: IntArray | None = None,
        from_ps: int = 0,
    ) -> None:
        self._outputs = network.outputs
        rates = network.rate_bps[self._outputs].tolist()
        self._mean_ps = np.array([background.mean_gap_ps(rate) for rate in rates])
        self._drawn = np.zeros(len(self._outputs), dtype=np.int64)
        self._starts = starts(key, self._outputs if names is None else names[self._outputs])
        self._from_ps = from_ps

    def refill(self, st: State) -> None:
        """Draw new bursts for every link that has used up its own, or nearly so.

        Links of one rate run short at about the same time; serving them together spares returns
        from the kernel. What a link still had is drawn again: burst k is always the same.
        """
        with np.errstate(over="ignore"):  # hashes wrap around, of which Python warns uncompiled
            _refill(
                st.burst, st.bg_key, st.bg_tree, self._outputs, self._starts, self._mean_ps,
                self._drawn, self._from_ps,
            )  # fmt: skip
        st.ctl[c.BURSTS_SHORT] = 0


@bare
def _refill(
    burst: IntArray, bg_key: IntArray, bg_tree: IntArray, outputs: IntArray, starts: AnyArray,
    mean_ps: FloatArray, drawn: IntArray, from_ps: int,
) -> None:  # fmt: skip
    """Serve the links of ``outputs``, of each of which so many bursts were ``drawn`` before."""
    end = burst.shape[1]
    for k in range(len(outputs)):
        q = outputs[k]
        left = end - burst[q, c.BG_POS] if drawn[k] else 0
        if left > (end - c.FIRST_BURST) // NEARLY:
            continue
        number = drawn[k] - left
        at_ps = burst[q, burst[q, c.BG_POS] - 1] if number else -from_ps
        place = c.FIRST_BURST
        while place < end:
            at_ps += one_gap_ps(starts[k], number, mean_ps[k])
            number += 1
            if at_ps >= 0:  # bursts before the beginning are passed
                burst[q, place] = at_ps
                place += 1
        burst[q, c.BG_POS] = c.FIRST_BURST
        drawn[k] = number
        set_key(bg_key, bg_tree, q, burst[q, c.FIRST_BURST])
