"""Importing is fast, and its cost is that of the nodes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.importers.files import collective, node, shared, write_chakra
from thzsync.importers import import_trace


def seconds(paths: list[Path]) -> float:
    begin = time.process_time()
    import_trace(paths)
    return time.process_time() - begin


def test_sixteen_ranks_of_a_mixture_of_experts_take_less_than_five_seconds() -> None:
    paths = shared("stg_gen_moe_dp2_ep4_pp2/*.et")
    assert seconds(paths) < 5


@pytest.mark.slow
def test_ten_times_the_nodes_cost_at_most_twelve_times_as_much(tmp_path: Path) -> None:
    def write(count: int) -> list[Path]:
        rank = [
            collective(n, 0, 64, after=(n - 1,)) if n % 10 == 9 else node(n, 4, micros=1)
            for n in range(count)
        ]
        folder = tmp_path / str(count)
        folder.mkdir()
        return write_chakra(folder, *[rank] * 4)

    few, many = write(3_000), write(30_000)
    seconds(many)  # loads what is loaded once
    assert min(seconds(many) for _ in range(2)) < 12 * min(seconds(few) for _ in range(3))
