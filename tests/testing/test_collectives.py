"""The collectives of the package conform; planted faults are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from thzsync.collectives import Demand, collective_names, find_collective
from thzsync.collectives.blocks import Blocks
from thzsync.errors import ThzSyncError
from thzsync.testing import check_collective


@pytest.mark.parametrize("name", collective_names())
def test_the_collectives_of_the_package_conform(name: str) -> None:
    assert check_collective(find_collective(name)) > 0


def _twice(blocks: Blocks) -> Blocks:
    if not len(blocks):
        return blocks
    return Blocks.of([(1, [*blocks.sources(0), *blocks.sources(0)], blocks.targets(0))])


def _elsewhere(blocks: Blocks) -> Blocks:
    return replace(blocks, target=blocks.target + 100)


@pytest.mark.parametrize(("change", "told"), [(_twice, "sources"), (_elsewhere, "targets")])
def test_planted_faults_are_found(change: Callable[[Blocks], Blocks], told: str) -> None:
    gather = find_collective("all-gather")

    def conditions(demand: Demand, racks: Any) -> Blocks:
        return change(gather.conditions(demand, racks))

    with pytest.raises(ThzSyncError, match=told):
        check_collective(replace(gather, name="wrong", conditions=conditions))
