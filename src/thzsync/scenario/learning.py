"""Settings of the learning policies: sizes, exploration, training schedule and search."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from thzsync.scenario.base import Count, Fraction, Model, Real, Whole


class Learner(Model):
    """Settings of every learning policy: encoder, replay memory and beam search."""

    flow_units: Annotated[Count, Field(le=1024)] = 24
    """Hidden units of the layer that all flow slots share (encoder "pooled")."""
    flat_units: Annotated[Count, Field(le=1024)] = 64
    """Hidden units of the layer that reads the whole padded vector (encoder "flat")."""
    units: Annotated[Count, Field(le=1024)] = 23
    """Hidden units of the second layer; phi has one more, a constant."""
    replay: Annotated[Count, Field(le=10**7)] = 4096
    """Samples kept for training; the oldest are dropped first."""
    train_every: Count = 32
    """Samples between two updates of the encoder."""
    train_steps: Annotated[Whole, Field(ge=0, le=10**6)] = 64
    """Gradient steps of one update; 0 keeps the random encoder."""
    batch: Annotated[Count, Field(le=2**16)] = 64
    """Samples per gradient step."""
    learning_rate: Annotated[Real, Field(gt=0, le=1)] = 3e-3
    """Step size of Adam."""
    weight_decay: Annotated[Real, Field(ge=0, le=1)] = 0.1
    """Decoupled weight decay per step, as a multiple of the step size."""
    beam_width: Annotated[Count, Field(le=256)] = 3
    """Partial actions kept at every step of the search."""
    count_levels: Annotated[Whole, Field(ge=2, le=4096)] = 17
    """Chunk counts tried per flow, evenly spread from none to all."""
    deviation_cost: Annotated[Real, Field(ge=0, le=1e6)] = 0.003
    """Predicted reward that a flow or sender must add to leave the event's uniform action."""


class Bandit(Learner):
    """NeuralLinearUCB (eq:bandit_representation to eq:bandit_b_update)."""

    ridge: Annotated[Real, Field(ge=1e-9, le=1e9)] = 1.0
    """lambda, the prior precision of the linear head."""
    exploration: Annotated[Real, Field(ge=0, le=1e6)] = 0.02
    """alpha, the weight of the uncertainty in eq:bandit_ucb_selection."""
    warm_up: Annotated[Whole, Field(ge=0, le=10**9)] = 24
    """First decisions of a model, spread evenly over uniform actions."""


class Ddqn(Learner):
    """Double Q-learning with a target network and an epsilon schedule."""

    discount: Fraction = 0.1
    """gamma, the weight of the next event's value."""
    epsilon_start: Fraction = 1.0
    """Share of random actions at first."""
    epsilon_end: Fraction = 0.02
    """Share of random actions after the schedule."""
    epsilon_events: Count = 480
    """Events over which the share of random actions falls linearly."""
    target_every: Count = 2
    """Updates of the encoder between two copies into the target network."""

    @model_validator(mode="after")
    def _falls(self) -> Ddqn:
        if self.epsilon_end > self.epsilon_start:
            raise ValueError(
                f"epsilon_end ({self.epsilon_end}) is above epsilon_start ({self.epsilon_start})"
            )
        return self
