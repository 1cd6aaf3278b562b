"""The arrays that wireless kernels share: the air, the radio and one group's queue."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Final, NamedTuple
from warnings import warn

import numpy as np

from thzsync.arrays import AnyArray, BoolArray, FloatArray, IntArray
from thzsync.channel import Law
from thzsync.scenario import Thz
from thzsync.wireless.beams import Beams
from thzsync.wireless.round import COLUMNS

IDLE: Final = 0
"""Its precedence is not satisfied yet, or the fibre owns it: not for the overlay to send."""
READY: Final = 1
"""It may be sent."""
SENT: Final = 2
"""It is in the air or delivered."""

NOT_BLOCKED: Final = -1

WORTHWHILE: Final = 0.1
"""Share of its budget that a rack must have left for an event to start a transmission there.

Beside an older event that uses nearly all of a rack's power, a younger one would otherwise begin
a round at a crawl, and its common boundary would hold up all its other racks.
"""


class Radio(NamedTuple):
    """Constants of the transceivers."""

    law: Law
    """Rate on a subband."""
    max_power_w: float
    longest_s: float
    """Longest time one chunk may take [s]."""
    whole_budget: bool
    """Whether senders of a common round radiate all they may."""
    guard_ps: int
    """Guard time at the start of a transmission that has one [ps]."""
    budget_per_w: FloatArray
    """Signal-to-noise ratio per watt at unit channel gain, as promised without other beams, by
    subband [1/W]."""


class Air(NamedTuple):
    """What all active events share, by global rack."""

    busy: BoolArray
    """By (rack, subband): somebody sends or receives there (eq:rf_half_duplex)."""
    chains: IntArray
    """RF chains left per rack."""
    power_w: FloatArray
    """Power in use per rack [W]."""
    sending: IntArray
    """Transmissions that leave each rack now."""
    free_ps: IntArray
    """By (rack, subband): when the transmission that was last begun there ends [ps]."""
    facing: IntArray
    """By (rack, subband): the rack that the chain points at, or -1."""
    beams: Beams
    """Who disturbs whom, over all events."""


class ReadyQueue(NamedTuple):
    """One event: its flows, what is ready, and how good its links are now.

    Racks of the event are known by position; ``racks`` gives their global numbers.
    """

    racks: IntArray
    budget_w: FloatArray
    """Power budget by position [W]."""
    stage: IntArray
    """Barrier stage of every flow."""
    first: IntArray
    """Row of every flow's chunk 0 (one more entry)."""
    size_bytes: IntArray
    """Size of every chunk, all chunks in one row [bytes]."""
    state: AnyArray
    """IDLE, READY or SENT, all chunks in one row."""
    owned: IntArray
    """Chunks per flow that the overlay has still to send."""
    ready: IntArray
    """Those of them that are ready."""
    lowest: IntArray
    """No ready chunk of a flow stands before this row."""
    sent: IntArray
    """Transmissions per flow so far."""
    flying: IntArray
    """Transmissions per flow in the air."""
    lands_ps: IntArray
    """When the transmission that a flow began last ends [ps]."""
    drawn_w: FloatArray
    """Power that the event draws now, by position [W]."""
    snr_per_w: FloatArray
    """Signal-to-noise ratio per watt by (flow, subband); 0 where the link may not be used. It is
    for the promised level."""
    clear_snr_per_w: FloatArray
    """The same if there were no other beams; the same array where they do not matter."""
    promised_w: FloatArray
    """Level of noise and interference for a transmission that begins now, by (flow, subband) [W]"""
    needed_snr: float
    """What one full chunk within the longest time needs."""
    blocked_ps: IntArray
    """Since when a ready flow has had no usable subband [ps], or NOT_BLOCKED."""
    bundled: BoolArray
    """Whether a flow's chunks travel as one transmission once all are ready."""
    awaited: BoolArray
    """Whether other flows, on whichever carrier, wait for chunks of a flow."""
    shared: bool
    """Whether other flows of the event, of another discipline, draw on the same budgets."""


class LinkTable(NamedTuple):
    """Who may talk to whom in one event: the part of a ready queue that matching looks at."""

    sender: IntArray
    """Position of every flow's source."""
    receiver: IntArray
    """Position of every flow's destination."""
    touch_start: IntArray
    """Row starts of ``touch`` by position."""
    touch: IntArray
    """Flows that leave or reach a position."""
    order: IntArray
    """Edges flow * N_c + subband, strongest first."""
    rank: IntArray
    """Place of every edge in ``order``."""


class StartLog(NamedTuple):
    """Where kernels write down what they begin, a row per transmission.

    There are as many rows as racks have subbands: each transmission takes two.
    """

    table: IntArray
    """Whole numbers, in the columns of a round's table."""
    power_w: FloatArray
    gain: FloatArray
    lasting_ps: IntArray
    """Time in which data is sent [ps]."""
    noise_w: FloatArray
    """Promised level of noise and interference [W]."""


class Medium(NamedTuple):
    """What a flow group shares with others, each part kept in memory for kernels."""

    air: Air
    radio: Radio
    log: StartLog


class GroupView(NamedTuple):
    """A flow group as kernels see it: what it shares with others, then what is its own."""

    air: Air
    radio: Radio
    log: StartLog
    links: LinkTable
    queue: ReadyQueue
    flows: IntArray
    """Number of every flow in the event's graph."""
    src: IntArray
    dst: IntArray
    bytes_before: IntArray
    """Bytes in all chunks before a row."""
    gains: FloatArray
    """Channel power gain by (flow, subband)."""
    until_ps: IntArray
    """Until when neither the channel nor events before this one change what a flow would do
    next [ps]."""
    guarded: bool
    """Whether every transmission begins with the guard time."""
    steers: bool
    """Whether those do whose RF chains turn to another rack."""
    common: bool
    """Whether transmissions that begin together end together; then one guard time delays all."""


class Slots(NamedTuple):
    """Working copy of one event's free resources while a round is formed."""

    free: BoolArray
    """By (position, subband)."""
    chains: IntArray
    """RF chains left by position."""
    left: IntArray
    """Transmissions that every flow could still begin."""
    usable: BoolArray
    """Whether the power at hand carries a chunk in time, by (flow, subband)."""


def empty_air(racks: int, thz: Thz, beams: Beams) -> Air:
    """Transceivers of which nothing is taken."""
    return Air(
        busy=np.zeros((racks, thz.subbands), dtype=np.bool_),
        chains=np.full(racks, thz.chains, dtype=np.int64),
        power_w=np.zeros(racks),
        sending=np.zeros(racks, dtype=np.int64),
        free_ps=np.zeros((racks, thz.subbands), dtype=np.int64),
        facing=np.full((racks, thz.subbands), -1, dtype=np.int64),
        beams=beams,
    )


def empty_log(rows: int) -> StartLog:
    """Where nothing is written down yet."""
    return StartLog(
        table=np.zeros((rows, COLUMNS), dtype=np.int64),
        power_w=np.zeros(rows),
        gain=np.zeros(rows),
        lasting_ps=np.zeros(rows, dtype=np.int64),
        noise_w=np.zeros(rows),
    )


def moved(module: ModuleType, name: str, old: str) -> Any:
    """What a module has under a new name, with a warning that names both."""
    found = getattr(module, name)
    warn(f"{old} is now {module.__name__}.{name}", DeprecationWarning, stacklevel=3)
    return found


OLD_NAMES: Final = {
    "Begun": "StartLog",
    "Frontier": "ReadyQueue",
    "Room": "Medium",
    "Seat": "GroupView",
    "Web": "LinkTable",
}
"""What versions up to 0.2 called these; they go with version 0.4."""


def __getattr__(name: str) -> Any:
    if name not in OLD_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return moved(sys.modules[__name__], OLD_NAMES[name], f"{__name__}.{name}")
