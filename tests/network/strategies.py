"""Random networks: of all generators, and of random graphs."""

from __future__ import annotations

from hypothesis import strategies as st

from thzsync.network import Buffers, Fibres, Network, Wires, fat_tree, leaf_spine, rings


@st.composite
def small_buffers(draw: st.DrawFn) -> Buffers:
    """Buffers that hold a few packets, so that packets wait for room."""
    packet = draw(st.sampled_from([64, 100, 1000]))

    def room(least: int, most: int) -> int:
        return draw(st.integers(least * packet, most * packet))

    return Buffers(
        switch_delay_ps=draw(st.sampled_from([0, 1, 800, 5000])),
        packet_bytes=packet,
        nic_queue_bytes=room(1, 4),
        output_queue_bytes=room(1, 5),
        shared_buffer_bytes=draw(st.sampled_from([room(8, 12), room(12, 20), 60 * packet])),
        rack_reserve=draw(st.sampled_from([0.0, 0.25])),
    )


@st.composite
def random_wires(draw: st.DrawFn) -> Wires:
    """A connected graph of switches, every one with a rack; some racks have two links."""
    switches = draw(st.integers(1, 6))
    racks = draw(st.integers(max(2, switches), 8))
    wires = Wires(racks)
    nodes = [wires.switch(f"switch {k}") for k in range(switches)]
    rate = st.sampled_from([1e12, 3e11, 7e11])
    delay = st.sampled_from([0.0, 500.0, 7777.0])
    for rack in range(racks):
        home = nodes[rack % switches]
        wires.join(rack, home, draw(rate), draw(delay))
        if draw(st.booleans()):
            wires.join(rack, draw(st.sampled_from(nodes)), draw(rate), draw(delay))
    for k in range(1, switches):
        wires.join(nodes[k], nodes[draw(st.integers(0, k - 1))], draw(rate), draw(delay))
    for _ in range(draw(st.integers(0, 4)) if switches > 1 else 0):
        a, b = draw(st.lists(st.sampled_from(nodes), min_size=2, max_size=2, unique=True))
        wires.join(a, b, draw(rate), draw(delay))
    return wires


@st.composite
def any_network(draw: st.DrawFn, buffers: st.SearchStrategy[Buffers] | None = None) -> Network:
    """A small network of any kind."""
    given = draw(st.just(Buffers()) if buffers is None else buffers)
    fibres = Fibres(
        access_bps=draw(st.sampled_from([1e12, 3e11])),
        oversubscription=draw(st.sampled_from([1.0, 2.0, 0.5])),
        access_length_m=draw(st.sampled_from([0.0, 2.0])),
        switch_length_m=draw(st.sampled_from([0.0, 30.0])),
        buffers=given,
        sprayed=draw(st.booleans()),
    )
    racks = draw(st.integers(2, 9))
    match draw(st.sampled_from(["rings", "leaf-spine", "rails", "planes", "fat-tree", "graph"])):
        case "rings":
            return rings([k % draw(st.integers(1, 3)) for k in range(racks)], buffers=given)
        case "leaf-spine":
            return leaf_spine(racks, draw(st.integers(1, 4)), draw(st.integers(1, 3)), fibres)
        case "rails" | "planes" as kind:
            planes = kind == "planes"
            return leaf_spine(racks, 3, draw(st.integers(1, 3)), fibres, nics=2, planes=planes)
        case "fat-tree":
            return fat_tree(racks, 4, fibres)
        case _:
            wires, sprayed = draw(random_wires()), draw(st.booleans())
            return wires.network(given, sprayed=sprayed, updown=True)
