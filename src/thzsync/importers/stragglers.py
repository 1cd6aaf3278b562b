"""Straggler analysis: what if some ranks had been as fast as the others?

Work of a kind gets its mean duration over all ranks and steps. A transfer gets the median, which a
few disturbed ones do not change. The duration of a transfer is the time that its last participant
spent in it, because the others waited.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from thzsync.importers.matching import join
from thzsync.importers.ranks import Operation, Recording, Work


@dataclass(frozen=True)
class Typical:
    """Usual durations of operations, by label [s]."""

    work_s: Mapping[str, float]
    transfer_s: Mapping[str, float]


def without_waiting(recording: Recording) -> Recording:
    """The same recording with waiting removed from every transfer."""
    ranks = {rank: list(parts) for rank, parts in recording.ranks.items()}
    for joint in join(recording):
        took_s = joint.recorded_s
        for rank, position in joint.stands_for:
            part = ranks[rank][position]
            if not isinstance(part, Work):
                ranks[rank][position] = replace(part, recorded_s=took_s)
    return replace(recording, ranks=ranks)


def typical(recordings: Sequence[Recording]) -> Typical:
    """Means and medians over recordings without waiting."""
    work: dict[str, list[float]] = {}
    transfers: dict[str, list[float]] = {}
    for recording in recordings:
        for parts in recording.ranks.values():
            for part in parts:
                if isinstance(part, Work):
                    work.setdefault(part.label, []).append(part.duration_s)
                elif part.recorded_s is not None:
                    transfers.setdefault(part.label, []).append(part.recorded_s)
    return Typical(
        {label: fmean(times) for label, times in work.items()},
        {label: median(times) for label, times in transfers.items()},
    )


def evened(recording: Recording, usual: Typical, ranks: Collection[int]) -> Recording:
    """The same recording with usual durations for the operations of these ranks."""
    changed = {
        rank: [_usual(part, usual) for part in parts] if rank in ranks else parts
        for rank, parts in recording.ranks.items()
    }
    return replace(recording, ranks=changed)


def _usual(part: Operation, usual: Typical) -> Operation:
    if isinstance(part, Work):
        return replace(part, duration_s=usual.work_s[part.label])
    return replace(part, recorded_s=usual.transfer_s.get(part.label))
