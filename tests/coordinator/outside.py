"""A learning policy as somebody else would write it; workers import it by name."""

from __future__ import annotations

import numpy as np

from thzsync.arrays import FloatArray
from thzsync.coordinator import Action, Outcome, Situation, State
from thzsync.streams import Streams

SHARES = np.linspace(0.0, 1.0, 5)


class Averaging:
    """The share with the best mean reward per collective; one decision in four explores."""

    name = "averaging"

    def __init__(self, streams: Streams) -> None:
        self.generator = streams.generator("policy")
        self.totals: dict[str, FloatArray] = {}
        self.frozen = False

    def decide(self, situation: Situation) -> Action:
        """The best share, or any."""
        totals = self.totals.setdefault(situation.kind, np.zeros((2, len(SHARES))))
        best = int(np.argmax(totals[0] / np.maximum(totals[1], 1.0)))
        explores = not self.frozen and self.generator.random() < 0.25
        place = self.generator.integers(len(SHARES)) if explores else best
        return Action.uniform(situation.offer, SHARES[place], 1.0)

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """Count a reward for the share that was taken."""
        chunks = situation.offer.chunks.sum()
        if not self.frozen and chunks:
            place = np.abs(action.thz_chunks.sum() / chunks - SHARES).argmin()
            self.totals[situation.kind][:, place] += outcome.reward, 1.0

    def state(self) -> State:
        """Arrays under names with dots, as PyTorch has them, and plain values."""
        arrays = {f"totals.{kind}": totals.copy() for kind, totals in self.totals.items()}
        return arrays | {"generator": self.generator.bit_generator.state}

    def load(self, state: State) -> None:
        """The inverse."""
        self.generator.bit_generator.state = state["generator"]
        arrays = {k.removeprefix("totals."): v for k, v in state.items() if k != "generator"}
        self.totals = {kind: totals.copy() for kind, totals in arrays.items()}

    def freeze(self) -> None:
        """No exploration, no learning."""
        self.frozen = True


class Share:
    """A fixed share; it learns nothing."""

    def __init__(self, share: float = 0.5) -> None:
        self.name = f"share {share:g}"
        self.share = share

    def decide(self, situation: Situation) -> Action:
        """The share, at full power."""
        return Action.uniform(situation.offer, self.share, 1.0)

    def learn(self, situation: Situation, action: Action, outcome: Outcome) -> None:
        """Nothing."""


def half(scenario: object, streams: object) -> Share:
    """A factory."""
    return Share()
