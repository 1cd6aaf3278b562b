"""How fast a collective could be at best: lower bounds on its completion time, alone on THz.

Whatever schedule exists, count how long each link sends on each subband and at what power. These
airtimes meet the rows that :class:`AirtimeProgram` holds, so the least T among all airtimes that
meet them is below the schedule's completion time. Gains are constant in time, every rack may use
its full power, and transfers are not forwarded except where racks pass on sums.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.channel import efficiency, law_of, silent_budget_per_w
from thzsync.collectives import Blocks, Demand, Tensor, Transfer, find_collective
from thzsync.elementary import product
from thzsync.scenario import Thz
from thzsync.synthesis.program import AirtimeProgram, Links, Span, proper_sets

_MOST_TOGETHER: Final = 3
"""So many late releases share a program; with more, each has its own."""
_CUTS: Final = 10
"""Sets of racks that are added at once where too little goes into them."""


def bound_s(
    collective: str,
    demand: Demand,
    racks: IntArray,
    gains: FloatArray,
    thz: Thz,
    release_s: FloatArray,
    guarded: bool = True,
    forwarding: bool = False,
    tight: bool = False,
    pointed: bool = False,
) -> float:
    """The best bound that is known for an event [s]; see the functions below.

    ``guarded`` says that the disciplines in question owe guard times: one per transmission or,
    where links stay ``pointed``, one per turn (see :func:`turns`). Directed transfers go straight
    from source to target unless ``forwarding`` is allowed. ``tight`` takes seconds where an
    AllReduce has stragglers, and gives a few percent more.
    """
    if not guarded:
        steady = thz.antenna.model_copy(update={"steering_s": 0.0})
        thz = thz.model_copy(update={"round_overhead_s": 0.0, "antenna": steady})
    blocks = find_collective(collective).blocks(demand, racks)
    if isinstance(demand, Tensor) and _from_all_to_all(blocks, racks):
        size = int(blocks.size_bytes.sum())
        return allreduce_bound_s(size, racks, gains, thz, release_s, tight, pointed)
    if len(blocks.single) == len(blocks) and not forwarding:
        direct = Transfer(blocks.source, blocks.target, blocks.size_bytes)
        return a2a_bound_s(direct, racks, gains, thz, release_s, pointed)
    return blocks_bound_s(blocks, racks, gains, thz, release_s, pointed)


def turns(talk: BoolArray, thz: Thz, before: bool = False) -> IntArray:
    """Guard times that each rack owes at least where links stay pointed; who sends to whom.

    The first transmission between two racks, whichever way, finds the chain of each facing nobody
    or somebody else, so it begins with a guard time, and for another partner it is another
    transmission. A second one, back again or later, may find them still facing each other. So a
    rack owes as many guard times as it has partners. In a window with transmissions ``before`` it,
    the rack may face one partner per subband from the start.
    """
    partners: IntArray = (talk | talk.T).sum(axis=1)
    return np.maximum(partners - thz.subbands, 0) if before else partners


def _from_all_to_all(blocks: Blocks, racks: IntArray) -> bool:
    return len(blocks) <= 1 and len(blocks.source) == len(blocks.target) == len(blocks) * len(racks)


def blocks_bound_s(
    blocks: Blocks,
    racks: IntArray,
    gains: FloatArray,
    thz: Thz,
    release_s: FloatArray,
    pointed: bool = False,
) -> float:
    """No schedule of any collective ends earlier than this [s], even where racks pass data on.

    In every block, a source that is not its only target sends at least its part or a sum with it;
    a target that is not its only source receives at least the block once. The first holder of the
    complete block has heard of all other sources, and all other targets hear of it. Sending and
    receiving are two transmissions; where links stay ``pointed``, they may share one guard time.
    """
    n = len(racks)
    sends, receives, volume = np.zeros(n), np.zeros(n), 8.0 * blocks.volume_bytes
    for b, size_bytes in enumerate(blocks.size_bytes.tolist()):
        sources = np.searchsorted(racks, blocks.sources(b))
        targets = np.searchsorted(racks, blocks.targets(b))
        lone_source, lone_target = len(sources) == 1, len(targets) == 1
        sends[sources] += 8.0 * size_bytes * ~(lone_target & (sources == targets[0]))
        receives[targets] += 8.0 * size_bytes * ~(lone_source & (targets == sources[0]))
    if not volume:
        return 0.0
    links = Links.of(gains, thz, ~np.eye(n, dtype=np.bool_))
    if not links.connected():
        return math.inf
    program = AirtimeProgram(links, one_theta=not pointed)
    everybody = np.ones(len(links.src), dtype=np.bool_)
    visits = (sends > 0).astype(np.int64) + (receives > 0)
    visits = np.minimum(visits, 1) if pointed else visits
    span = Span(0.0)
    program.limit_occupancy(everybody, visits, span)
    for rack in range(n):
        program.limit_energy(everybody, rack, span)
        for ends, bits in ((links.src, sends[rack]), (links.dst, receives[rack])):
            if bits:
                program.demand(ends == rack, float(bits))
    program.demand(everybody, volume)
    together_s = program.least_s(
        lambda airtime_s, end_s: program.cut_odd_sets(everybody, airtime_s, span, end_s)
    )
    return max(together_s, _latest_source_s(sends, gains, thz, release_s))


def _latest_source_s(
    sends: FloatArray, gains: FloatArray, thz: Thz, release_s: FloatArray
) -> float:
    """Every source sends its bits after its release, on every subband to whom it hears best [s]."""
    snr = thz.max_power_w * silent_budget_per_w(thz) * gains
    snr[np.arange(len(snr)), np.arange(len(snr))] = 0.0
    best_bps = thz.subband_hz * efficiency(snr.max(axis=1), law_of(thz)).sum(axis=1)
    senders = np.flatnonzero(sends)
    return float((release_s[senders] + sends[senders] / best_bps[senders]).max(initial=0.0))


def a2a_bound_s(
    demand: Transfer,
    racks: IntArray,
    gains: FloatArray,
    thz: Thz,
    release_s: FloatArray,
    pointed: bool = False,
) -> float:
    """No schedule of direct transfers ends earlier than this [s]; inf where a link is dead.

    ``gains`` [linear] has shape (N, N, N_c) and ``release_s`` [s] tells when each rack's data
    appears, both in the order of ``racks``. Flows from racks released at or after some time must
    fit between that time and the end, at every rack and subband: one set of rows per release.
    Every flow is a transmission at least, with its guard time; where links stay ``pointed``, guard
    times are owed for :func:`turns`.
    """
    n = len(racks)
    bits = np.zeros((n, n))
    wanted = demand.size_bytes > 0
    i, j = np.searchsorted(racks, demand.src[wanted]), np.searchsorted(racks, demand.dst[wanted])
    np.add.at(bits, (i, j), 8.0 * demand.size_bytes[wanted])
    if not wanted.any():
        return 0.0
    links = Links.of(gains, thz, bits > 0)
    if not links.reach(bits > 0):
        return math.inf
    program = AirtimeProgram(links, one_theta=not pointed)
    sends = bits.any(axis=1)
    for release in np.unique(release_s[sends]):
        late = sends & (release_s >= release)
        talk = (bits > 0) & late[:, None]
        visits = talk.sum(axis=0) + talk.sum(axis=1)
        if pointed:
            visits = turns(talk, thz, before=bool((late != sends).any()))
        program.limit_occupancy(late[links.src], visits, Span(float(release)))
    everybody = np.ones(len(links.src), dtype=np.bool_)
    for sender in np.flatnonzero(sends):
        program.limit_energy(everybody, int(sender), Span(float(release_s[sender])))
    for a, b in np.argwhere(bits > 0):
        program.demand((links.src == a) & (links.dst == b), float(bits[a, b]))
    whole = Span(float(release_s[sends].min()))
    together_s = program.least_s(
        lambda airtime_s, end_s: program.cut_odd_sets(everybody, airtime_s, whole, end_s)
    )
    # Multipliers checked at true rates may lose more than the plain bound of one pair.
    return max(together_s, _slowest_pair_s(bits, gains, thz, release_s))


def _slowest_pair_s(bits: FloatArray, gains: FloatArray, thz: Thz, release_s: FloatArray) -> float:
    """Every pair needs its bits at the rate of all subbands with all power on each [s]."""
    snr = thz.max_power_w * silent_budget_per_w(thz) * gains
    rate_bps = thz.subband_hz * efficiency(snr, law_of(thz)).sum(axis=2)
    i, j = np.nonzero(bits)
    return float((release_s[i] + bits[i, j] / rate_bps[i, j]).max())


def allreduce_bound_s(
    tensor_bytes: int,
    racks: IntArray,
    gains: FloatArray,
    thz: Thz,
    release_s: FloatArray,
    tight: bool = False,
    pointed: bool = False,
) -> float:
    """No AllReduce in which racks pass on sums ends earlier than this [s].

    Take a release time; let A be the racks released then or later. Whatever carries data of A
    leaves after it, so it lies in the window that is left. There, with D the tensor:

    - node bound: each rack of A sends at least D (the others need its data), and each rack
      receives at least D, except the only rack of A;
    - volume bound: cut the racks into k parts, m of them with a rack of A. Follow one byte and
      let part r be the first to hold all contributions of A, at time t. Each of the m parts other
      than r has sent into another part, in a transfer that led to r by t: m - 1 transfers. Each
      of the k parts other than r comes to hold them all at t or later, by a transfer into it:
      k - 1 transfers. No transfer is of both sorts: it would reach a part other than r at t or
      later and yet have been passed on to r by t. So at least (k - 1 + m - 1) D cross the cut:
      2(N - 1) D for single racks and nobody late.

    - cut bound, where it is to be ``tight``: a set of racks that lacks a rack of A receives at
      least D.

    The result is the largest over all release times. Where it is to be tight, stragglers share one
    program: what is sent between two releases counts only for windows that began before it.

    A rack that sends and receives has two transmissions, each with its guard time; where links stay
    ``pointed``, one in the first window, and none in later ones (see :func:`turns`).
    """
    n = len(racks)
    if n < 2 or tensor_bytes == 0:
        return 0.0
    links = Links.of(gains, thz, ~np.eye(n, dtype=np.bool_))
    if not links.connected():
        return math.inf
    releases, bits = np.unique(release_s), 8.0 * tensor_bytes
    together = [releases[k : k + 1] for k in range(len(releases))]
    if tight and 2 <= len(releases) <= 1 + _MOST_TOGETHER:
        together = [releases[:1], releases[1:]]
    return max(_reduction_s(links, bits, release_s, part, tight, pointed) for part in together)


def _reduction_s(
    links: Links, tensor_bits: float, release_s: FloatArray, begins_s: FloatArray, tight: bool,
    pointed: bool,
) -> float:  # fmt: skip
    """The bound of windows that begin at these releases [s]."""
    n, spans, each = links.racks, len(begins_s), len(links.src)
    links = links.repeated(spans)
    number = np.repeat(np.arange(spans), each)
    program = AirtimeProgram(links, one_theta=not pointed)
    late = [release_s >= begin_s for begin_s in begins_s]
    first_s, after_s = float(begins_s[0]), (begins_s - begins_s[0]).tolist()
    time = [Span(b, e) for b, e in zip(after_s, [*after_s[1:], None], strict=True)]
    nobody = np.zeros(n, dtype=np.int64)
    for k, span in enumerate(time):
        here, window = number == k, number >= k
        receives = ~late[k] if late[k].sum() == 1 else np.ones(n, dtype=np.bool_)
        visits = late[k].astype(np.int64) + receives
        if pointed:
            visits = np.minimum(visits, 1) if late[k].all() else nobody
        program.limit_occupancy(here, visits if k == spans - 1 else nobody, span)
        for rack in range(n):
            if k < spans - 1:  # guard times fall into the window, nobody knows into which span
                there = window & ((links.src == rack) | (links.dst == rack))
                program.limit_chains(there, int(visits[rack]), Span(span.begin_s))
            program.limit_energy(here, rack, span)
            if late[k][rack]:
                program.demand(window & (links.src == rack), tensor_bits)
            if receives[rack]:
                program.demand(window & (links.dst == rack), tensor_bits)
        # Cheap cuts to begin with: join the racks in the order of their best links.
        for part in _joining(links.best_rate_bps()):
            _demand_across(program, window, part, late[k], tensor_bits)

    def cut(airtime_s: FloatArray, end_s: float) -> bool:
        found = False
        for k, span in enumerate(time):
            found |= program.cut_odd_sets(number == k, airtime_s, span, end_s)
            found |= _cut_parts(program, number >= k, late[k], tensor_bits)
            if tight:
                found |= _cut_sets(program, number >= k, late[k], tensor_bits)
        return found

    return first_s + program.least_s(cut, least_rounds=2 if tight else 1)


def _cut_parts(
    program: AirtimeProgram, window: BoolArray, late: BoolArray, tensor_bits: float
) -> bool:
    """Demand what the latest solution does not carry across some parts; whether there was any."""
    found = False
    carried = program.carried_bits(window)
    for part in _joining(carried):
        across = float((carried * (part[:, None] != part)).sum())
        if across < (_crossings(part, late) - 1e-3) * tensor_bits:
            _demand_across(program, window, part, late, tensor_bits)
            found = True
    return found


def _cut_sets(
    program: AirtimeProgram, window: BoolArray, late: BoolArray, tensor_bits: float
) -> bool:
    """Demand a tensor into the sets that receive least in the latest solution."""
    sets, links, found = proper_sets(len(late)), program.links, False
    carried = program.carried_bits(window)
    inflow = (product(1.0 - sets, carried) * sets).sum(axis=1)
    inflow[(sets * late).sum(axis=1) >= late.sum()] = np.inf
    for row in np.argsort(inflow, kind="stable")[:_CUTS]:
        if inflow[row] < (1 - 1e-3) * tensor_bits:
            inside = sets[row] > 0
            program.demand(window & ~inside[links.src] & inside[links.dst], tensor_bits)
            found = True
    return found


def _crossings(part: IntArray, late: BoolArray) -> int:
    return len(np.unique(part)) + len(np.unique(part[late])) - 2


def _demand_across(
    program: AirtimeProgram, window: BoolArray, part: IntArray, late: BoolArray, tensor_bits: float
) -> None:
    links = program.links
    crossing = window & (part[links.src] != part[links.dst])
    program.demand(crossing, _crossings(part, late) * tensor_bits)


def _joining(weight: FloatArray) -> list[IntArray]:
    """Partitions from single racks up to two parts, always joining the heaviest pair of parts."""
    weight = weight + weight.T
    part = np.arange(len(weight), dtype=np.int64)
    partitions = [part]
    for k in np.argsort(-weight, axis=None, kind="stable"):
        a, b = divmod(int(k), len(weight))
        if part[a] != part[b]:
            part = np.where(part == part[b], part[a], part)
            partitions.append(part)
    return partitions[:-1]
