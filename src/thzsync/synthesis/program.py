"""The linear program behind the bounds: airtime of links on subbands, and the least T.

Rows, for a span of time that ends at T, or before it:

- half duplex: the links at a rack on a subband take turns (eq:half_duplex_constraint);
- RF chains: all links at a rack, guard times included, take at most N_RF T (eq:a2a_rf_limit);
- odd sets: of 2k + 1 racks at most k links are on one subband at once (all racks, where their
  number is odd; others when violated);
- energy: a rack spends at most P^max T on all its links (eq:power_constraint);
- demand: some links together carry at least so many bits (eq:thz_rate).

A link may use any power, and its rate is concave in it. The solver gets tangents instead, which
lie above the curve: a column per link, subband and corner where two tangents meet. Where the rate
law has steps, it gets a column per step: shares of time on them are the upper concave hull of the
staircase. So the solved T is below the true one already; but nothing rests on the solver. Its
multipliers w >= 0 of the limits (scaled to one in T) and u >= 0 of the demands prove
T >= sum w K + sum theta u D, where K is what a limit takes away from its window. A link's theta is
the largest number for which it has at no power theta u rate(p) above its share of the limits, u
being summed over the demands that it serves; a demand's theta is the least of its links'. So for
every link the sum over its demands of theta u rate(p) stays within its share. Any multipliers prove
something; this is checked here for all powers in closed form and with the true rates. A link that
the solver got wrong costs its own demands only. With one theta for all, the least, less is proven:
so it was in the first edition, whose bounds are on record.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final

import numpy as np

from thzsync.arrays import BoolArray, FloatArray, IntArray
from thzsync.channel import Law, law_of, rates_bps, silent_budget_per_w
from thzsync.channel.rate import REACHED
from thzsync.elementary import log1p, product
from thzsync.errors import ThzSyncError
from thzsync.scenario import Thz

_ROUNDS: Final = 4
"""Solutions at most; every one but the last may add cuts."""
_LARGEST_WITH_CUTS: Final = 1000
"""Columns up to which cuts are worth their time: on many racks they hardly move the value."""
_LARGEST_SIMPLEX: Final = 10_000
"""Columns up to which the simplex method is used; above, the interior-point method is faster."""
_LARGEST_PROGRAM: Final = 500_000
"""Columns at most, of about 200 racks in an All-to-All on four subbands."""
_LARGEST_ENUMERATION: Final = 13
"""Up to this many racks all odd sets are searched; above, only the largest."""


@dataclass(frozen=True)
class Span:
    """A time in which links send: from ``begin_s`` to T, or to a fixed end."""

    begin_s: float
    end_s: float | None = None

    def room(self, times: float) -> tuple[float, float]:
        """So many times its length, as multiples of T and what is taken away from them [s]."""
        if self.end_s is None:
            return times, times * self.begin_s
        return 0.0, times * (self.begin_s - self.end_s)


@dataclass(frozen=True, eq=False)
class Links:
    """Every directed link that has a gain, once per subband."""

    racks: int
    thz: Thz
    src: IntArray
    dst: IntArray
    subband: IntArray
    snr: FloatArray
    """Signal-to-noise ratio at the largest power."""

    @cached_property
    def law(self) -> Law:
        """The rate law."""
        return law_of(self.thz)

    @staticmethod
    def of(gains: FloatArray, thz: Thz, wanted: BoolArray) -> Links:
        """The wanted links, by positions, from linear gains of shape (N, N, N_c)."""
        law, snr = law_of(thz), thz.max_power_w * silent_budget_per_w(thz) * gains
        src, dst, subband = np.nonzero(wanted[:, :, None] & (rates_bps(snr, law) > 0))
        return Links(len(gains), thz, src, dst, subband, snr[src, dst, subband])

    def repeated(self, times: int) -> Links:
        """The same links several times over: once for every span of time."""
        src, dst, subband = (np.tile(c, times) for c in (self.src, self.dst, self.subband))
        return Links(self.racks, self.thz, src, dst, subband, np.tile(self.snr, times))

    def rate_bps(self, power: FloatArray | float) -> FloatArray:
        """Rate of every link [bit/s] at a share of the largest power (eq:thz_rate)."""
        return rates_bps(self.snr * power, self.law)

    def step_powers(self) -> FloatArray:
        """Least power of every step of a law that has some, by (link, step), as a share."""
        power: FloatArray = self.law.step_snr * REACHED / self.snr[:, None]
        return power

    def corners(self) -> tuple[FloatArray, FloatArray]:
        """Corners (power share, rate [bit/s]) of tangents above each link's rate curve.

        Tangents touch where racks work when the air is full: half of the subbands sending, all
        at the same power; and at both ends. Where the law has steps, the corners are these.
        """
        if len(self.law.step_snr):
            power = self.step_powers()
            rate = np.where(power <= 1.0, self.law.step_bps, 0.0)
            return np.minimum(power, 1.0), rate
        usual = min(1.0, 2.0 / self.thz.subbands)
        touch = np.unique([0.0, usual / 3, usual, 1.0])
        s = self.snr[:, None]
        d = self.law.distortion
        steep = (1 + s * touch * (1 + d)) * (1 + s * touch * d)
        slope = s / steep
        height = log1p(s * touch / (1 + s * touch * d)) - slope * touch
        bent = 1 + 2 * d + s * d * (1 + d) * (touch[1:] + touch[:-1])
        bend = s**2 * np.diff(touch) * bent / (steep[:, 1:] * steep[:, :-1])
        # A nearly straight curve has its corners half way, as far as rounding can tell. A
        # misplaced corner does no harm, since the higher of its two tangents is taken there.
        power = np.broadcast_to((touch[1:] + touch[:-1]) / 2, bend.shape).copy()
        np.divide(np.diff(height), bend, out=power, where=s > 1e-4)
        power = np.column_stack((np.clip(power, touch[:-1], touch[1:]), np.ones(len(s))))
        nats = np.column_stack(
            (
                np.maximum(
                    height[:, :-1] + slope[:, :-1] * power[:, :-1],
                    height[:, 1:] + slope[:, 1:] * power[:, :-1],
                ),
                log1p(s / (1 + s * d)),
            )
        )
        return power, self.thz.subband_hz / math.log(2) * nats

    def best_rate_bps(self) -> FloatArray:
        """Largest rate between racks [bit/s] on any one subband, shape (N, N)."""
        best = np.zeros((self.racks, self.racks))
        np.maximum.at(best, (self.src, self.dst), self.rate_bps(1.0))
        return best

    def reach(self, wanted: BoolArray) -> bool:
        """Whether every wanted pair has a link."""
        return bool((self.best_rate_bps()[wanted] > 0).all())

    def connected(self) -> bool:
        """Whether every rack can reach every other, over others if need be."""
        reached = (self.best_rate_bps() > 0) | np.eye(self.racks, dtype=np.bool_)
        for _ in range(self.racks.bit_length()):
            reached = reached @ reached
        return bool(reached.all())


class AirtimeProgram:
    """Rows over links, columns over (link, power); the least T that they allow.

    All matrices are sparse: a row is kept as the numbers of its links.
    """

    def __init__(self, links: Links, one_theta: bool = False) -> None:
        self.links = links
        self._one_theta = one_theta
        self._member: list[IntArray] = []
        self._is_energy: list[bool] = []
        self._window: list[float] = []
        self._lost_s: list[float] = []
        self._carrier: list[IntArray] = []
        self._bits: list[float] = []
        power, rate_bps = links.corners()
        self._corners = power.shape[1]
        self._column_link = np.repeat(np.arange(len(links.src)), self._corners)
        self._column_power, self._column_rate_bps = power.ravel(), rate_bps.ravel()
        self._airtime_s = np.zeros(power.size)
        self._is_large = power.size > _LARGEST_SIMPLEX
        if power.size > _LARGEST_PROGRAM:
            raise ThzSyncError(
                f"bound: {links.racks} racks on {links.thz.subbands} subbands need a linear "
                f"program of {power.size} columns, and {_LARGEST_PROGRAM} are the most; take "
                f"fewer racks or subbands"
            )

    def _limit(
        self, members: BoolArray, window: float, lost_s: float, is_energy: bool = False
    ) -> None:
        """Occupancy, or energy as a share of the largest power, <= window * T - lost."""
        self._member.append(np.flatnonzero(members))
        self._is_energy.append(is_energy)
        self._window.append(window)
        self._lost_s.append(lost_s)

    def limit_occupancy(self, members: BoolArray, visits: IntArray, span: Span) -> None:
        """These links fit into their span at every rack, on its subbands and its RF chains.

        ``visits`` counts, by rack, transmissions that there must be: each costs its guard time.
        """
        links, thz = self.links, self.links.thz
        for rack in range(links.racks):
            here = members & ((links.src == rack) | (links.dst == rack))
            for c in range(thz.subbands):
                if (on_subband := here & (links.subband == c)).any():
                    self._limit(on_subband, *span.room(1.0))
            self.limit_chains(here, int(visits[rack]), span)
        if links.racks % 2:
            everybody = np.ones(links.racks, dtype=np.bool_)
            for c in range(thz.subbands):
                self._limit_odd_set(members & (links.subband == c), everybody, span)

    def limit_chains(self, here: BoolArray, visits: int, span: Span) -> None:
        """A rack's links and the guard times of its visits fit on its RF chains."""
        thz = self.links.thz
        chains = min(thz.chains, thz.subbands)
        guard_s = visits * thz.guard_s
        if here.any() and (chains < thz.subbands or guard_s > 0):
            window, lost_s = span.room(float(chains))
            self._limit(here, window, lost_s + guard_s)

    def _limit_odd_set(self, members: BoolArray, racks: BoolArray, span: Span) -> None:
        links = self.links
        within = members & racks[links.src] & racks[links.dst]
        if within.any():
            self._limit(within, *span.room((int(racks.sum()) - 1) / 2))

    def limit_energy(self, members: BoolArray, rack: int, span: Span) -> None:
        """A rack's mean power over a span is within the largest power."""
        mine = members & (self.links.src == rack)
        self._limit(mine, *span.room(1.0), is_energy=True)

    def demand(self, carriers: BoolArray, bits: float) -> None:
        """These links carry at least so many bits."""
        self._carrier.append(np.flatnonzero(carriers))
        self._bits.append(bits)

    def least_s(self, cut: Callable[[FloatArray, float], bool], least_rounds: int = 1) -> float:
        """The best bound found [s]; ``cut(airtime, T)`` may add rows that the airtime violates.

        A large program is solved so many times at least, if there are cuts.
        """
        best_s = 0.0
        rounds = _ROUNDS if len(self._column_link) <= _LARGEST_WITH_CUTS else least_rounds
        for k in range(rounds):
            value_s, w, u = self._solve()
            best_s = max(best_s, self._prove(w, u), self._prove(self._mended(w, u), u))
            if k + 1 == rounds or not cut(self.link_airtime_s(), value_s):
                break
        return best_s

    def link_airtime_s(self) -> FloatArray:
        """Airtime of every link in the latest solution [s]."""
        airtime_s = np.zeros(len(self.links.src))
        np.add.at(airtime_s, self._column_link, self._airtime_s)
        return airtime_s

    def carried_bits(self, members: BoolArray) -> FloatArray:
        """Bits from rack to rack over these links in the latest solution, shape (N, N)."""
        link, links = self._column_link, self.links
        carried = np.zeros((links.racks, links.racks))
        bits = self._airtime_s * self._column_rate_bps * members[link]
        np.add.at(carried, (links.src[link], links.dst[link]), bits)
        return carried

    def _solve(self) -> tuple[float, FloatArray, FloatArray]:
        """T and the multipliers of limits and demands for the present columns."""
        from scipy.optimize import linprog

        # Solve in units in which numbers are near one: each demand, and the time of the largest.
        size = np.array(self._bits)
        best_bps = [self._column_rate_bps[self._columns(links)].max() for links in self._carrier]
        unit_s = float((size / best_bps).max())
        right = np.concatenate((-np.array(self._lost_s) / unit_s, -np.ones(len(size))))
        cost = np.append(np.zeros(len(self._column_link)), 1.0)
        matrix = self._matrix(unit_s)
        method: Any = "highs-ipm" if self._is_large else "highs-ds"
        solution: Any = linprog(cost, A_ub=matrix, b_ub=right, method=method)
        if solution.status != 0:
            raise RuntimeError(f"the bound's linear program ended with: {solution.message}")
        multipliers = np.maximum(-solution.ineqlin.marginals, 0.0)
        self._airtime_s = solution.x[:-1] * unit_s
        w, u = np.split(multipliers, [len(self._member)])
        return float(solution.x[-1]) * unit_s, w, u * unit_s / size

    def _columns(self, links: IntArray) -> IntArray:
        columns: IntArray = links[:, None] * self._corners + np.arange(self._corners)
        return columns.ravel()

    def _matrix(self, unit_s: float) -> Any:
        """Limits, then demands, over all columns and T."""
        last = len(self._column_link)
        places, entries = [], []
        for links, window, is_energy in zip(
            self._member, self._window, self._is_energy, strict=True
        ):
            columns = self._columns(links)
            taken = self._column_power[columns] if is_energy else np.ones(len(columns))
            places.append(np.append(columns, last))
            entries.append(np.append(taken, -window))
        for links, size in zip(self._carrier, self._bits, strict=True):
            columns = self._columns(links)
            places.append(columns)
            entries.append(-self._column_rate_bps[columns] * unit_s / size)
        return _sparse(places, last + 1, entries)

    def _mended(self, w: FloatArray, u: FloatArray) -> FloatArray:
        """Multipliers that cover every link: solvers leave gaps as small as their tolerance.

        A gap in a link that is worth next to nothing would cost all links of its demand.
        """
        occupancy, energy, worth = self._prices(w, u)
        earned, paid = self._worst(worth, energy)
        missing = earned - paid - occupancy
        first_row = np.full(len(worth), len(w))
        for row, links in enumerate(self._member):
            if not self._is_energy[row]:
                first_row[links] = np.minimum(first_row[links], row)
        gaps = np.flatnonzero((missing > 0) & (first_row < len(w)))
        raised, rows = w.copy(), first_row[gaps]
        np.maximum.at(raised, rows, w[rows] + missing[gaps] * (1 + 1e-12))
        return raised

    def _prices(self, w: FloatArray, u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What every link's time and energy cost, and what a bit on it is worth."""
        links, is_energy = len(self.links.src), np.array(self._is_energy, dtype=np.bool_)
        limits = _sparse(self._member, links)
        occupancy, energy = (limits.T @ np.where(kind, w, 0.0) for kind in (~is_energy, is_energy))
        return occupancy, energy, _sparse(self._carrier, links).T @ u

    def _prove(self, w: FloatArray, u: FloatArray) -> float:
        """The bound that the multipliers prove for true rates at all powers [s]."""
        scale = float(product(w, np.array(self._window)))
        if scale <= 0:
            return 0.0
        w, u = w / scale, u / scale
        occupancy, energy, worth = self._prices(w, u)
        low, high = np.zeros(len(worth)), np.full(len(worth), 2.0)
        # Theta of every link by bisection: its lower end is always proven. Small programs keep to
        # the steps, and so to the tenth digit, of the first edition.
        for _ in range(40 if self._is_large else 30):
            theta = (low + high) / 2
            covered = self._covered(theta * worth, occupancy, energy)
            low, high = np.where(covered, theta, low), np.where(covered, high, theta)
        if self._one_theta:
            proven = float(low.min()) * float(product(u, np.array(self._bits)))
        else:
            least = np.array([low[carriers].min(initial=2.0) for carriers in self._carrier])
            proven = float(product(least * u, np.array(self._bits)))
        return (float(product(w, np.array(self._lost_s))) + proven) * (1 - 1e-12)

    def _covered(self, worth: FloatArray, occupancy: FloatArray, energy: FloatArray) -> BoolArray:
        """For which links worth * rate(p) <= occupancy + energy * p for every p in [0, 1]."""
        earned, paid = self._worst(worth, energy)
        covered: BoolArray = earned <= occupancy + paid
        return covered

    def _worst(self, worth: FloatArray, energy: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What a link's rate is worth and what its power costs, where it earns most."""
        snr, law = self.links.snr, self.links.law
        if len(law.step_snr):
            earned = worth[:, None] * self._column_rate_bps.reshape(len(snr), -1)
            paid = energy[:, None] * self._column_power.reshape(len(snr), -1)
            best = np.arange(len(snr)), (earned - paid).argmax(axis=1)
            return earned[best], paid[best]
        slope = worth * law.hz / math.log(2)  # per nat of the rate's logarithm
        power = _best_power(slope, energy, snr, law.distortion)
        received = snr * power
        return slope * log1p(received / (1 + received * law.distortion)), energy * power

    def cut_odd_sets(
        self, members: BoolArray, airtime_s: FloatArray, span: Span, end_s: float
    ) -> bool:
        """Add the most violated odd set of every subband in a span; whether there was any."""
        links, sets = self.links, _odd_sets(self.links.racks)
        allowed = (sets.sum(axis=1) - 1) / 2
        length_s = (end_s if span.end_s is None else span.end_s) - span.begin_s
        found = False
        for c in range(links.thz.subbands):
            on_subband = members & (links.subband == c)
            shared_s = np.zeros((links.racks, links.racks))
            np.add.at(
                shared_s, (links.src[on_subband], links.dst[on_subband]), airtime_s[on_subband]
            )
            excess_s = (product(sets, shared_s) * sets).sum(axis=1) - allowed * length_s
            worst = int(np.argmax(excess_s)) if len(sets) else -1
            if worst >= 0 and excess_s[worst] > 1e-3 * end_s:
                self._limit_odd_set(on_subband, sets[worst] > 0, span)
                found = True
        return found


def _best_power(
    slope: FloatArray, energy: FloatArray, snr: FloatArray, distortion: float
) -> FloatArray:
    """Where the concave difference of worth and price is largest, as a share in [0, 1].

    There (1 + y d) (1 + y (1 + d)) = slope * snr / energy, with y the received signal to noise and
    d the distortion.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if distortion == 0:
            power = slope / energy - 1 / snr
        else:
            square, linear = distortion * (1 + distortion), 1 + 2 * distortion
            over = np.clip(slope * snr / energy - 1, 0.0, 1e200)
            power = 2 * over / (linear + np.sqrt(linear**2 + 4 * square * over)) / snr
        return np.clip(np.where(energy > 0, power, 1.0), 0.0, 1.0)


def _sparse(rows: list[IntArray], columns: int, entries: list[FloatArray] | None = None) -> Any:
    """A matrix with these entries, or ones, in these columns of its rows."""
    from scipy.sparse import csr_array

    starts = np.cumsum([0, *(len(row) for row in rows)])
    place = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    values = np.ones(len(place)) if entries is None else np.concatenate(entries)
    matrix = csr_array((values, place, starts), shape=(len(rows), columns))
    matrix.eliminate_zeros()
    return matrix


@cache
def _odd_sets(racks: int) -> FloatArray:
    """Rows of 0 and 1: odd sets of three racks and more."""
    if racks > _LARGEST_ENUMERATION:
        return np.ones((1, racks)) if racks % 2 else 1.0 - np.eye(racks)
    sets = proper_sets(racks)
    size = sets.sum(axis=1)
    odd: FloatArray = sets[(size % 2 == 1) & (size >= 3)]
    return np.vstack((odd, np.ones((racks % 2 if racks >= 3 else 0, racks))))


@cache
def proper_sets(racks: int) -> FloatArray:
    """Rows of 0 and 1: all sets of some racks but not all; of many racks the largest sets."""
    if racks > _LARGEST_ENUMERATION:
        return 1.0 - np.eye(racks)
    numbers = np.arange(1, 2**racks - 1)
    sets: FloatArray = ((numbers[:, None] >> np.arange(racks)) & 1).astype(np.float64)
    return sets
