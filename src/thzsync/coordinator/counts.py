"""The counts of one flow, tried in every survivor of a search: scores that are mostly estimates.

What a flow adds to the hidden units is piecewise linear in its share, so its counts are scored by
following lines, but for rounding. Only where two scores are so close that rounding could decide
between them are they worked out as the reference does.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.coordinator.lines import Lines, follow, lay, magnitude
from thzsync.coordinator.scoring import (
    Rest,
    Searched,
    add_flow,
    clear,
    dot,
    farthest,
    represent_change,
    settle,
    uncertainty,
    upper_confidence,
)
from thzsync.coordinator.survivors import Beam, Trial
from thzsync.coordinator.uniform import Uniform, spread_count
from thzsync.jit import inner_bare

SLACK: Final = 1e-9
"""More than rounding changes a score, as part of the numbers that it is summed up from."""


class Workspace(NamedTuple):
    """What is made once for all events that are searched together."""

    dense: FloatArray
    rest: Rest
    lines: Lines
    uniform: Uniform
    trial: Trial


@inner_bare
def score_change(event: Searched, rest: Rest, varied: FloatArray, per_member: float) -> float:
    """UCB score of one candidate."""
    head, phi = event.head, rest.phi
    represent_change(
        event.dense,
        rest.dense,
        rest.largest,
        rest.siblings,
        varied,
        1.0 / len(event.features.chunks),
        per_member,
        phi,
    )
    return upper_confidence(head.weights, head.inverse_factor, head.exploration, phi, rest.rotated)


@inner_bare
def list_counts(chunks: int, count_levels: int, trial: Trial) -> int:
    """The counts that a flow tries: all if they are few, otherwise an even spread; how many."""
    tried = min(chunks, count_levels - 1) + 1
    for option in range(tried):
        few = chunks < count_levels
        trial.value[option] = option if few else spread_count(chunks, option, count_levels)
        trial.share[option] = trial.value[option] / chunks
    return tried


@inner_bare
def estimate_counts(
    event: Searched,
    space: Workspace,
    beam: Beam,
    flow: int,
    tried: int,
    deviation_cost: float,
    slack: float,
) -> float:
    """Score the counts of one flow in every survivor, but for rounding; the hopeless not at all.

    The survivors as they are would fill the next beam: what is worse than all of them is not in
    it. Uncertainty is a norm, so it differs from that of the survivor itself by no more than the
    norm of the difference. Returns what rounding cannot exceed, at least ``slack``.
    """
    base, effect, levels, air = event.base, event.effect, event.levels, event.features.air
    rest, trial, exploration = space.rest, space.trial, event.head.exploration
    shares, scores, sums, phis = trial.share, trial.score, trial.sums, trial.phi
    siblings, sender = rest.siblings, event.features.group[flow]
    for b in range(len(scores)):
        p, here, own = beam.level[b, sender], 0, 0.0
        for option in range(tried):
            here = option if trial.value[option] == beam.counts[b, flow] else here
        scale = _follow_lines(event, space, beam, b, flow, tried)
        if exploration > 0.0:
            own = uncertainty(event.head.inverse_factor, phis[here], rest.rotated)
        charged = abs(deviation_cost) * (beam.deviations[b] + 1)
        slack = max(slack, SLACK * (1.0 + scale + exploration * own + charged))
        least = beam.score[len(beam.score) - 1] - slack
        for option in range(tried):
            far, deviations = own, beam.deviations[b] + (option != here)
            if exploration > 0.0 and option != here:
                far += farthest(trial.reach, phis[option], phis[here])
            most = scores[b, option] + exploration * far - deviation_cost * deviations
            if most < least and option != here:
                scores[b, option] = -np.inf
                continue
            if exploration > 0.0 and option != here:
                far = uncertainty(event.head.inverse_factor, phis[option], rest.rotated)
            scores[b, option] += exploration * far
            for k in range(len(siblings)):
                sums[b, option, k] = siblings[k]
            add_flow(base, effect, flow, shares[option], air[flow, p], levels[p], sums[b, option])
    return slack


@inner_bare
def _follow_lines(
    event: Searched, space: Workspace, beam: Beam, b: int, flow: int, tried: int
) -> float:
    """Means of the counts of one flow in a survivor; how large the numbers behind them are."""
    features, sender, weights = event.features, event.features.group[flow], event.head.weights
    rest, lines, trial = space.rest, space.lines, space.trial
    offset, slope, phis = lines.offset, lines.slope, trial.phi
    per_flow = 1.0 / len(features.chunks)
    per_member = 1.0 / (features.start[sender + 1] - features.start[sender])
    _add_siblings(event, beam, b, flow, rest.siblings)
    nearest = lay(event, beam.sums[b], sender, flow, beam.level[b, sender], rest, lines)
    scale = magnitude(weights, lines)
    for option in range(tried):
        share = trial.share[option]
        if share >= nearest:
            nearest = follow(event.dense, rest, lines, share, per_flow, per_member)
        for j in range(len(offset)):
            unit = offset[j] + share * slope[j]
            phis[option, j] = unit if unit > 0.0 else 0.0
        trial.score[b, option] = dot(phis[option], weights)
    return scale


@inner_bare
def contested(trial: Trial, tried: int, slack: float) -> bool:
    """Whether two scores are so close that rounding could decide between them."""
    scores, rivals, found = trial.score, trial.rivals, 0
    for b in range(len(scores)):
        for option in range(tried):
            score = scores[b, option]
            if score != -np.inf:
                for other in range(found):
                    if not abs(score - rivals[other]) > slack:
                        return True
                rivals[found] = score
                found += 1
    return False


@inner_bare
def judge_counts(
    event: Searched, rest: Rest, beam: Beam, flow: int, tried: int, varied: FloatArray, trial: Trial
) -> None:
    """Score once more, exactly, what an estimate has left; ``varied`` is scratch."""
    features, sender = event.features, event.features.group[flow]
    per_member = 1.0 / (features.start[sender + 1] - features.start[sender])
    for b in range(len(trial.score)):
        p, settled = beam.level[b, sender], False
        for option in range(tried):
            if trial.score[b, option] == -np.inf:
                continue
            if not settled:
                _add_siblings(event, beam, b, flow, rest.siblings)
                settle(event, beam.sums[b], sender, rest)
                settled = True
            clear(varied)
            share, air = trial.share[option], features.air[flow, p]
            add_flow(event.base, event.effect, flow, share, air, event.levels[p], varied)
            trial.score[b, option] = score_change(event, rest, varied, per_member)


@inner_bare
def _add_siblings(event: Searched, beam: Beam, b: int, flow: int, siblings: FloatArray) -> None:
    """Hidden units of the other flows of a flow's sender, summed."""
    base, effect, levels, air = event.base, event.effect, event.levels, event.features.air
    counts, chunks, members = beam.counts, event.features.chunks, event.features.members
    sender = event.features.group[flow]
    p = beam.level[b, sender]
    clear(siblings)
    for m in range(event.features.start[sender], event.features.start[sender + 1]):
        f = members[m]
        if f != flow:
            share = counts[b, f] / chunks[f]
            add_flow(base, effect, f, share, air[f, p], levels[p], siblings)
