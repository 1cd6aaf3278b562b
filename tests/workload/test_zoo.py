from __future__ import annotations

import pytest

from tests.workload.strategies import partition_of
from thzsync.errors import ThzSyncError
from thzsync.scenario import ModelJob
from thzsync.streams import Streams
from thzsync.workload import training_graph
from thzsync.workload.zoo import ZOO, architecture, derive

# As the models' authors publish them, in billions: all parameters, and those one token meets.
PUBLISHED = {
    "gpt3-175b": (175, 175),
    "llama3-8b": (8.03, 8.03),
    "llama3-70b": (70.6, 70.6),
    "llama3-405b": (405, 405),
    "mixtral-8x7b": (46.7, 12.9),
    "mixtral-8x22b": (141, 39),
    "deepseek-v3": (671, 37),
    "qwen3-30b-a3b": (30.5, 3.3),
    "qwen3-235b-a22b": (235, 22),
}


def test_every_model_has_a_published_size() -> None:
    assert ZOO.keys() == PUBLISHED.keys()


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameter_counts_match_the_published_ones(name: str) -> None:
    total, active = PUBLISHED[name]
    assert architecture(name).parameters == pytest.approx(total * 1e9, rel=0.02)
    assert architecture(name).parameters_per_token == pytest.approx(active * 1e9, rel=0.02)


@pytest.mark.parametrize("name", ["llama3-70b", "mixtral-8x7b", "deepseek-v3", "llama3-405b"])
@pytest.mark.parametrize("stages", [1, 4, 7])
def test_gradients_cover_every_parameter_once(name: str, stages: int) -> None:
    """Each rack reduces its own part: replicated parameters whole, experts by their group."""
    lanes, design = 8, architecture(name)
    pipeline = derive(ModelJob(name=name, gradient_bytes=2), partition_of(stages, lanes))
    # A bucket of stride n is reduced n times, by n groups that hold different experts.
    reduced = sum(b.tensor_bytes * b.stride for stage in pipeline.stages for b in stage.buckets)
    assert reduced == 2 * design.parameters


def test_a_tied_embedding_is_held_by_both_end_stages() -> None:
    design = architecture("gpt3-175b")
    for stages, copies in ((1, 0), (4, 1)):
        pipeline = derive(ModelJob(name="gpt3-175b", gradient_bytes=2), partition_of(stages, 8))
        reduced = sum(b.tensor_bytes for stage in pipeline.stages for b in stage.buckets)
        assert reduced == 2 * (design.parameters + copies * design.output_parameters)


def test_forward_work_is_two_flops_per_parameter_and_token_plus_attention() -> None:
    model = ModelJob(
        name="llama3-8b",
        sequence_length=1024,
        micro_batch=3,
        accelerator_flops=1e12,
        efficiency=0.5,
    )
    pipeline = derive(model, partition_of(4, 2))
    design, tokens = architecture("llama3-8b"), 3 * 1024
    looked_up = design.input_parameters  # a table lookup multiplies nothing
    weights = 2 * (design.parameters - looked_up) * tokens
    attention = 32 * 2 * (2 * 32 * 128) * (1024 / 2) * tokens  # layers, scores and values
    forward_s = sum(stage.forward_s for stage in pipeline.stages)
    assert forward_s == pytest.approx((weights + attention) / (1e12 * 0.5 * 8), rel=1e-12)
    assert all(s.backward_s == 2 * s.forward_s for s in pipeline.stages)


def test_message_sizes_follow_the_tokens() -> None:
    model = ModelJob(name="mixtral-8x7b", sequence_length=4096, micro_batch=2)
    pipeline = derive(model, partition_of(4, 8))
    assert pipeline.p2p_bytes == 4096 * 2 * 4096 * 2
    assert pipeline.a2a_bytes_per_rack == pipeline.p2p_bytes * 2 * 7 // 8  # top-2, 7 of 8 leave
    assert pipeline.expert_group == 8


def test_layers_spread_evenly_and_dense_layers_exchange_nothing() -> None:
    pipeline = derive(ModelJob(name="deepseek-v3"), partition_of(4, 8))
    assert [stage.moe_layers for stage in pipeline.stages] == [16 - 3, 15, 15, 15]
    dense = derive(ModelJob(name="llama3-8b"), partition_of(4, 8))
    assert [stage.moe_layers for stage in dense.stages] == [0] * 4


def test_experts_of_a_wide_stage_are_replicated_and_reduced_among_their_copies() -> None:
    """8 experts on 16 lanes: two groups of eight; rack k shares its expert with rack k + 8."""
    model = ModelJob(name="mixtral-8x7b", microbatches=1, bucket_parameters=10**9)
    partition = partition_of(8, 16)
    pipeline = derive(model, partition)
    assert pipeline.expert_group == 8
    graph = training_graph(pipeline, partition, Streams(0))
    reductions = [e for e in graph.events if e.kind == "allreduce" and e.stage == 0]
    assert [e.racks.tolist() for e in reductions if len(e.racks) == 2] == [
        [k, k + 8] for k in range(8)
    ]
    exchange = next(e for e in graph.events if e.kind == "a2a")
    assert ((exchange.demand.src % 16 < 8) == (exchange.demand.dst % 16 < 8)).all()  # type: ignore[union-attr]


def test_experts_spread_over_all_lanes_are_not_reduced_at_all() -> None:
    model, partition = ModelJob(name="mixtral-8x7b", microbatches=1), partition_of(4, 8)
    graph = training_graph(derive(model, partition), partition, Streams(0))
    reduced = sum(e.payload_bytes for e in graph.events if e.kind == "allreduce")
    design = architecture("mixtral-8x7b")
    experts = sum(design.expert_parameters(layer) for layer in range(design.layers))
    assert reduced == 4 * (design.parameters - experts)


@pytest.mark.parametrize("lanes", [1, 3, 8, 32])
def test_four_exchanges_per_moe_layer_and_micro_batch(lanes: int) -> None:
    model, partition = ModelJob(name="mixtral-8x7b", microbatches=2), partition_of(4, lanes)
    graph = training_graph(derive(model, partition), partition, Streams(0))
    exchanges = sum(e.kind == "a2a" for e in graph.events)
    # Three lanes cannot share eight experts evenly: every rack holds them all.
    assert exchanges == (0 if lanes in (1, 3) else 4 * 32 * 2)


def test_buckets_hold_at_least_a_million_parameters_per_replica() -> None:
    model = ModelJob(name="llama3-8b", bucket_parameters=1, tensor_parallel=2)
    pipeline = derive(model, partition_of(4, 16))
    sizes = [bucket.tensor_bytes for bucket in pipeline.stages[1].buckets]
    assert set(sizes[:-1]) == {16_000_000 * 2 * 4}
    assert 0 < sizes[-1] <= sizes[0]


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ThzSyncError, match=r"'gpt-9'.*gpt3-175b, "):
        derive(ModelJob(name="gpt-9"), partition_of(1, 1))


def test_more_stages_than_layers_are_refused() -> None:
    with pytest.raises(ThzSyncError, match=r"llama3-8b .*\b32\b.*\b33\b"):
        derive(ModelJob(name="llama3-8b"), partition_of(33, 1))
