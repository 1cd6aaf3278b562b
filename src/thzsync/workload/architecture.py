"""Dimensions of transformers, and the parameters and work that follow from them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Attention:
    """Grouped-query attention."""

    heads: int
    kv_heads: int
    head_dim: int

    def parameters(self, hidden: int) -> int:
        """Query, key, value and output projections."""
        return 2 * hidden * (self.heads + self.kv_heads) * self.head_dim

    @property
    def context_width(self) -> int:
        """Multiply-adds per token and token of context: scores and weighted values."""
        return 2 * self.heads * self.head_dim


@dataclass(frozen=True)
class LatentAttention:
    """Attention with low-rank queries, keys and values (DeepSeek's MLA)."""

    heads: int
    query_rank: int
    kv_rank: int
    plain_dim: int
    rotary_dim: int
    value_dim: int

    def parameters(self, hidden: int) -> int:
        """Down- and up-projections of queries, of keys and values, and the output."""
        query_dim = self.plain_dim + self.rotary_dim
        queries = hidden * self.query_rank + self.query_rank * self.heads * query_dim
        keys_values = hidden * (self.kv_rank + self.rotary_dim)
        keys_values += self.kv_rank * self.heads * (self.plain_dim + self.value_dim)
        return queries + keys_values + self.heads * self.value_dim * hidden

    @property
    def context_width(self) -> int:
        """Multiply-adds per token and token of context: scores and weighted values."""
        return self.heads * (self.plain_dim + self.rotary_dim + self.value_dim)


@dataclass(frozen=True)
class Experts:
    """A mixture of experts in place of a layer's feed-forward block."""

    routed: int
    active: int
    ffn: int
    shared: int = 0
    first_layer: int = 0
    """Layers before this one are dense."""


@dataclass(frozen=True)
class Architecture:
    """Dimensions of a transformer, without norms and biases (below 0.1 %)."""

    layers: int
    hidden: int
    ffn: int
    vocabulary: int
    attention: Attention | LatentAttention
    experts: Experts | None = None
    ffn_matrices: int = 3
    """3 with a gated feed-forward block, 2 without."""
    positions: int = 0
    """Learned position embeddings."""
    tied: bool = False
    """Whether input and output embeddings are one matrix."""

    def is_moe(self, layer: int) -> bool:
        """Whether a layer (from 0) has experts."""
        return self.experts is not None and layer >= self.experts.first_layer

    def expert_parameters(self, layer: int) -> int:
        """Parameters of all routed experts of a layer."""
        if self.experts is None or not self.is_moe(layer):
            return 0
        return self.experts.routed * self._ffn_parameters(self.experts.ffn)

    def replicated_parameters(self, layer: int) -> int:
        """Parameters of a layer in every replica: all except the routed experts."""
        common = self.attention.parameters(self.hidden)
        if self.experts is None or not self.is_moe(layer):
            return common + self._ffn_parameters(self.ffn)
        shared = self.experts.shared * self._ffn_parameters(self.experts.ffn)
        return common + shared + self.hidden * self.experts.routed

    def active_parameters(self, layer: int) -> int:
        """Parameters of a layer that one token uses."""
        if self.experts is None or not self.is_moe(layer):
            return self.replicated_parameters(layer)
        chosen = self.experts.active * self._ffn_parameters(self.experts.ffn)
        return self.replicated_parameters(layer) + chosen

    @property
    def input_parameters(self) -> int:
        """Token and position embeddings; the first stage has them."""
        return (self.vocabulary + self.positions) * self.hidden

    @property
    def output_parameters(self) -> int:
        """The output matrix; the last stage has it."""
        return self.vocabulary * self.hidden

    @property
    def parameters(self) -> int:
        """All parameters."""
        layers = range(self.layers)
        body = sum(self.replicated_parameters(n) + self.expert_parameters(n) for n in layers)
        return body + self.input_parameters + (0 if self.tied else self.output_parameters)

    @property
    def parameters_per_token(self) -> int:
        """Parameters that one token uses, including embeddings."""
        body = sum(self.active_parameters(n) for n in range(self.layers))
        return body + self.input_parameters + (0 if self.tied else self.output_parameters)

    def layer_flops(self, layer: int, sequence_length: int) -> float:
        """Forward work of a layer per token: two per parameter used, and causal attention over
        half the sequence on average [FLOP]."""
        context = sequence_length * self.attention.context_width
        return float(2 * self.active_parameters(layer) + context)

    def _ffn_parameters(self, ffn: int) -> int:
        return self.ffn_matrices * self.hidden * ffn
