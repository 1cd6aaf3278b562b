"""What if some ranks had been as fast as the others: the question of straggler analysis.

Work of a kind is evened to its mean over all ranks and steps, a transfer to the median, which a few
disturbed ones do not move. What a transfer took is what its last participant spent in it; the
others waited.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from thzsync.importers.matching import join
from thzsync.importers.ranks import Operation, Recording, Work


@dataclass(frozen=True)
class Typical:
    """How long operations take as a rule, by label [s]."""

    work_s: Mapping[str, float]
    transfer_s: Mapping[str, float]


def without_waiting(recording: Recording) -> Recording:
    """The same with every transfer as long as it took, not as long as somebody waited in it."""
    ranks = {rank: list(parts) for rank, parts in recording.ranks.items()}
    for joint in join(recording):
        took_s = joint.recorded_s
        for rank, position in joint.stands_for:
            part = ranks[rank][position]
            if not isinstance(part, Work):
                ranks[rank][position] = replace(part, recorded_s=took_s)
    return replace(recording, ranks=ranks)


def typical(recordings: Sequence[Recording]) -> Typical:
    """Means and medians over recordings, from which waiting has been taken out."""
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
    """The same with these ranks' operations as long as usual."""
    changed = {
        rank: [_usual(part, usual) for part in parts] if rank in ranks else parts
        for rank, parts in recording.ranks.items()
    }
    return replace(recording, ranks=changed)


def _usual(part: Operation, usual: Typical) -> Operation:
    if isinstance(part, Work):
        return replace(part, duration_s=usual.work_s[part.label])
    return replace(part, recorded_s=usual.transfer_s.get(part.label))
