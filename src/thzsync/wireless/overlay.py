"""The THz overlay: all active events share rack x subband occupancy, RF chains and power.

It is driven from outside and keeps no clock: chunks become ready, ``dispatch`` forms whatever can
start now, ``finish`` is called when a round ends. Call ``dispatch`` after anything changed, and
at ``next_change_ps`` while something waits for a better channel.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from thzsync.arrays import NEVER_PS, BoolArray, FloatArray, IntArray, to_ps
from thzsync.channel import ChannelModel, law_of, silent_budget_per_w
from thzsync.channel.interference import Coupling
from thzsync.jit.held import hold
from thzsync.scenario import Thz
from thzsync.scenario.base import Model
from thzsync.scenario.parameters import section_of
from thzsync.topology import Topology
from thzsync.transfers import TransferGraph
from thzsync.wireless.beams import no_beams
from thzsync.wireless.bookkeeping import listen_all, note_changes, release
from thzsync.wireless.discipline import find_discipline
from thzsync.wireless.group import FlowGroup, Stages
from thzsync.wireless.round import CHUNKS, DST, GUARD, LOCAL_FLOW, SRC, SUBBAND, Round, Stuck
from thzsync.wireless.state import NOT_BLOCKED, Medium, Radio, empty_air, empty_log

EVERYBODY = -1
_turn = attrgetter("rank", "number", "index")


class Outages:
    """Counts of overlapping faults per transceiver, subband and rack pair."""

    def __init__(self, racks: int, subbands: int) -> None:
        self._racks = np.zeros(racks, dtype=np.int64)
        self._subbands = np.zeros(subbands, dtype=np.int64)
        self._pairs: dict[tuple[int, int], int] = {}

    def change(
        self,
        by: int,
        rack: int | None = None,
        subband: int | None = None,
        pair: tuple[int, int] | None = None,
    ) -> None:
        """Add (+1) or remove (-1) one fault of each part that is named."""
        if rack is not None:
            self._racks[rack] += by
        if subband is not None:
            self._subbands[subband] += by
        if pair is not None:
            key = (min(pair), max(pair))
            self._pairs[key] = self._pairs.get(key, 0) + by
            if not self._pairs[key]:
                del self._pairs[key]

    def usable(self, src: IntArray, dst: IntArray) -> BoolArray | None:
        """By (link, subband), whether no fault forbids it; None when there are no faults."""
        if not (self._racks.any() or self._subbands.any() or self._pairs):
            return None
        up = (self._racks[src] == 0) & (self._racks[dst] == 0)
        for i, j in self._pairs:
            up &= ~(((src == i) & (dst == j)) | ((src == j) & (dst == i)))
        usable: BoolArray = up[:, None] & (self._subbands == 0)[None, :]
        return usable


class Overlay:
    """The transceivers of all racks and the events that use them: by rank, then older events first.

    ``trains=False`` asks streamed flows again after every chunk; it changes no event's result.
    ``lookahead``, flows beside other events are sent in trains, too, until one of these could
    begin or end something there. Times stay as they are; sums of energy are rounded otherwise.
    Interference between beams needs the ``topology``.
    """

    def __init__(
        self,
        thz: Thz,
        channel: ChannelModel,
        racks: int,
        *,
        trains: bool = True,
        lookahead: bool = False,
        topology: Topology | None = None,
        parameters: Mapping[str, Model] | None = None,
    ) -> None:
        """``parameters`` are the scenario's sections for disciplines, by name."""
        self._parameters = parameters or {}
        self._thz = thz
        self._trains = trains
        self._lookahead = lookahead
        self._channel = channel
        whole_budget, guard_ps = thz.radiation == "budget", to_ps(thz.guard_s)
        budget_per_w = silent_budget_per_w(thz)
        self._radio = hold(Radio(
            law_of(thz), thz.max_power_w, thz.longest_round_s, whole_budget, guard_ps, budget_per_w
        ))  # fmt: skip
        self._coupled, self._topology = thz.interference == "beams", topology
        if self._coupled and topology is None:
            raise ValueError("interference between beams follows from positions: give a topology")
        self.coupling = hold(Coupling.of(thz, racks if self._coupled else 0))
        """What beams send into each other's receivers."""
        self._beams = hold(no_beams(thz, racks, self.coupling))
        self._known = np.zeros(racks, dtype=np.bool_)  # racks whose couplings are worked out
        self._racks = racks
        self._alone = thz.sharing == "event"
        self._log = hold(empty_log(racks * thz.subbands))
        self._media: dict[int, Medium] = {}  # by event, or one for all under ``EVERYBODY``
        if not self._alone:
            self._media[EVERYBODY] = self._empty_medium()
        self._outages = Outages(racks, thz.subbands)
        self._groups: dict[int, list[FlowGroup]] = {}
        self._absent: dict[int, tuple[TransferGraph, FloatArray, int]] = {}  # nothing is here
        self._started: dict[int, int] = {}  # rounds of every event so far
        self._live: list[FlowGroup] = []
        self._change_ps = -1  # when the channel changes next, as of the last question
        self._faults_ps: list[int] = []
        self._limits_ps = np.zeros(racks, dtype=np.int64)  # scratch
        self._freed = 0  # racks that got something back since the last dispatch, as bits
        self._silenced = 0  # subbands on which a beam ended since then, as bits
        self._floor_wide = False  # whether a floor-wide discipline was ever used

    def _empty_medium(self) -> Medium:
        return Medium(hold(empty_air(self._racks, self._thz, self._beams)), self._radio, self._log)

    @property
    def power_w(self) -> FloatArray:
        """Power that every rack radiates now [W]."""
        power_w = np.zeros(self._racks)
        for medium in self._media.values():
            power_w += medium.air.power_w
        return power_w

    @property
    def busy(self) -> BoolArray:
        """Which (rack, subband) is in use now."""
        busy = np.zeros((self._racks, self._thz.subbands), dtype=np.bool_)
        for medium in self._media.values():
            busy |= medium.air.busy
        return busy

    def carries(self, kind: str, src: IntArray, dst: IntArray) -> BoolArray:
        """Every flow: transceivers face all others."""
        return np.ones(len(src), dtype=np.bool_)

    def admit(self, number: int, graph: TransferGraph, budget_w: FloatArray, rank: int = 0) -> None:
        """Take on the THz chunks of an event.

        Events of a lower ``rank`` are served first, among equals by ``number``, which tells their
        age; ``budget_w`` [W] follows ``graph.racks``.
        """
        if number in self._groups:
            raise ValueError(f"event {number} is on the overlay already")
        self._started[number] = 0
        if self._alone:
            self._media[number] = self._empty_medium()
        self._groups[number] = []
        if graph.thz_chunks.any():
            self._admit_groups(number, graph, budget_w, rank)
        else:
            self._absent[number] = (graph, budget_w, rank)

    def _admit_groups(
        self, number: int, graph: TransferGraph, budget_w: FloatArray, rank: int
    ) -> None:
        self._locate(graph.racks)
        budget = np.array(budget_w, dtype=np.float64)
        medium = self._media[number if self._alone else EVERYBODY]
        common = (Stages(graph), budget, np.zeros(len(graph.racks)), self._thz, medium)
        used = [find_discipline(name) for name in graph.disciplines]
        self._groups[number] = [
            FlowGroup(number, graph, k, discipline, *common, rank, self._lookahead)
            for k, discipline in enumerate(used)
        ]
        for group, discipline in zip(self._groups[number], used, strict=True):
            group.parameters = section_of(discipline, self._parameters)
            self._floor_wide |= group.floor_wide
            if group.outstanding:
                insort(self._live, group, key=_turn)

    def _locate(self, racks: IntArray) -> None:
        """Work out what beams from and to these racks do to others."""
        if self._coupled and not self._known[racks].all():
            assert self._topology is not None
            new = racks[~self._known[racks]]
            self.coupling.fill(self._thz, self._channel, self._topology.position_m, new)
            self._known[new] = True

    def ready(self, number: int, rows: IntArray) -> None:
        """The precedence of THz chunks is satisfied; ``rows`` count all chunks of the graph."""
        for group, mine in self._split(number, rows):
            group.mark_ready(mine)

    def dispatch(self, now_ps: int) -> list[Round]:
        """Form every round that can start now [ps], by rank, then older events first."""
        rounds: list[Round] = []
        freed, self._freed = self._freed, 0
        silenced, self._silenced = self._silenced, 0
        for group in self._live:
            stale = now_ps >= group.gains_until_ps
            anywhere = group.floor_wide or group.refused & silenced
            released = freed if anywhere else freed & group.rack_mask
            if not (group.fresh or stale or released):
                continue
            if (group.in_flight and group.common) or not (group.ready or group.blocked):
                continue
            if stale:
                usable = self._outages.usable(group.src, group.dst)
                group.refresh(self._channel, usable, now_ps)
                group.gains_until_ps = min(group.gains_until_ps, self._next_fault_ps(now_ps))
                find_discipline(group.discipline_name).tune(group)
                group.keep_clear()
            group.fresh = False
            self._look_ahead(group, now_ps)
            rounds += self._start(group, now_ps)
        return rounds

    def finish(self, ended: Round) -> None:
        """Deliver the chunks of a round that has ended, and release its resources."""
        group = self._groups[ended.number][ended.group]
        table = ended.table
        release(group.view, table, ended.power_w)
        group.in_flight -= 1
        group.settle(table[:, LOCAL_FLOW], table[:, CHUNKS], ended.delivers)
        if ended.common:
            self._freed |= group.rack_mask
        else:
            self._freed |= (1 << table.item(SRC)) | (1 << table.item(DST))
        if self._coupled:
            for subband in table[:, SUBBAND].tolist():
                self._silenced |= 1 << subband
        self._drop_if_done(group)

    def withdraw(self, number: int, rows: IntArray) -> None:
        """The fibre takes chunks that have not been sent."""
        for group, mine in self._split(number, rows):
            group.withdraw(mine)
            self._drop_if_done(group)

    def adopt(self, number: int, rows: IntArray) -> None:
        """Take chunks over from the fibre; tell ``ready`` when they may be sent."""
        if number in self._absent:
            self._admit_groups(number, *self._absent.pop(number))
        for group, mine in self._split(number, rows):
            if not group.outstanding:
                insort(self._live, group, key=_turn)
            group.adopt(mine)

    def retire(self, number: int) -> None:
        """Forget an event that has nothing left on the overlay."""
        if self.outstanding(number):
            raise ValueError(f"event {number} still has chunks on THz")
        del self._groups[number], self._started[number]
        self._absent.pop(number, None)
        self._media.pop(number, None)

    def outstanding(self, number: int) -> int:
        """THz chunks of an event that are not delivered yet."""
        return sum(group.outstanding for group in self._groups[number])

    def waiting(self) -> list[Stuck]:
        """Ready chunks that no subband can carry at the event's budget, and since when.

        Chunks that merely wait for their turn are not listed. Known as of the last ``dispatch``.
        """
        stuck = []
        for group in self._live:
            if not group.blocked:
                continue
            since_ps = group.queue.blocked_ps
            for flow in np.flatnonzero(since_ps != NOT_BLOCKED).tolist():
                rows = group.ready_rows(flow)
                if len(rows):
                    number = int(group.flows[flow])
                    stuck.append(Stuck(group.number, number, rows, int(since_ps[flow])))
        return stuck

    def next_change_ps(self, now_ps: int) -> int:
        """When a better channel may let something waiting start [ps]; ``NEVER_PS`` if nothing."""
        for group in self._live:
            if group.ready and not (group.in_flight and group.common):
                if now_ps >= self._change_ps:
                    self._change_ps = self._channel.next_change_ps(now_ps)
                return self._change_ps
        return NEVER_PS

    def expect(self, faults_ps: Sequence[int]) -> None:
        """At these instants [ps] gains change, since other parts are in use from then on."""
        self._faults_ps = sorted({*self._faults_ps, *faults_ps})

    def _next_fault_ps(self, now_ps: int) -> int:
        later = bisect_right(self._faults_ps, now_ps)
        return self._faults_ps[later] if later < len(self._faults_ps) else NEVER_PS

    def disable(self, **part: Any) -> None:
        """Take a ``rack``, ``subband`` or ``pair`` of racks out of use from the next round on."""
        self._outages.change(1, **part)
        self._forget_gains()

    def enable(self, **part: Any) -> None:
        """Undo one earlier ``disable``."""
        self._outages.change(-1, **part)
        self._forget_gains()

    def _look_ahead(self, group: FlowGroup, now_ps: int) -> None:
        """Set until when the channel and events before it leave its flows alone."""
        until_ps, before = group.until_ps, self._before(group)
        disputed = bool(before) and not (self._lookahead and group.in_turn)
        overtaken = bool(group.rank) and not self._alone  # by events that come later
        if disputed or overtaken or self._floor_wide or not self._trains:
            until_ps.fill(now_ps)
            return
        until_ps.fill(group.gains_until_ps)
        if before:
            limits_ps = self._limits_ps
            limits_ps.fill(NEVER_PS)
            for older in before:
                older.claim(limits_ps, now_ps)
            note_changes(group.view, limits_ps)

    def _before(self, group: FlowGroup) -> list[FlowGroup]:
        """Who is served before a flow group and meets it at some rack."""
        racks, found = group.rack_mask, []
        for other in self._live if not self._alone else ():
            if other is group:
                break
            if other.rack_mask & racks:
                found.append(other)
        return found

    def _start(self, group: FlowGroup, now_ps: int) -> list[Round]:
        discipline = find_discipline(group.discipline_name)
        if self._coupled:
            self._beams.refused.fill(False)
            listen_all(group.view)
        started, carried, group.blocked = discipline.start(group, now_ps)
        group.ready -= carried
        if self._coupled:
            group.refused = int.from_bytes(
                np.packbits(self._beams.refused, bitorder="little"), "little"
            )
        each = max(started, 1) if group.common else 1
        return [self._round(group, slice(a, a + each), now_ps) for a in range(0, started, each)]

    def _round(self, group: FlowGroup, rows: slice, now_ps: int) -> Round:
        """A round of these rows of the start log."""
        number, log = group.number, self._log
        index, table = self._started[number], log.table[rows].copy()
        self._started[number] += 1
        group.in_flight += 1
        guard_ps = table.item(0, GUARD)
        group.round_end_ps = end_ps = now_ps + guard_ps + log.lasting_ps.item(rows.start)
        delivers = table.item(0, CHUNKS) if len(table) == 1 else int(table[:, CHUNKS].sum())
        return Round(
            number, group.index, group.discipline_name, group.common, index, now_ps, end_ps,
            guard_ps, delivers, table, log.power_w[rows].copy(), log.gain[rows].copy(),
            log.noise_w[rows].copy(),
        )  # fmt: skip

    def _split(self, number: int, rows: IntArray) -> list[tuple[FlowGroup, IntArray]]:
        """Chunk rows of an event by group, numbered as the group does."""
        groups = self._groups[number]
        if not len(rows):
            return []
        if len(groups) == 1:
            return [(groups[0], rows)]
        graph = groups[0].graph
        index = graph.discipline[graph.chunk_flow[rows]]
        parts = [(group, rows[index == group.index]) for group in groups]
        return [(group, group.rows(mine)) for group, mine in parts if len(mine)]

    def _forget_gains(self) -> None:
        for groups in self._groups.values():  # who has nothing here now may adopt some later
            for group in groups:
                group.gains_until_ps = -1

    def _drop_if_done(self, group: FlowGroup) -> None:
        if not group.outstanding:
            self._live.remove(group)
