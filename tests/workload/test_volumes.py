from __future__ import annotations

import numpy as np
import pytest

from thzsync.collectives import Demand, Tensor, Transfer
from thzsync.workload import Event, Phase, TrainingGraph
from thzsync.workload.volumes import traffic_matrix, volumes


def graph(*events: tuple[str, list[int], Demand]) -> TrainingGraph:
    nodes = [
        Event(n, "train", kind, 0, Phase.FORWARD, 0, kind, np.array(racks), demand, ())
        for n, (kind, racks, demand) in enumerate(events)
    ]
    return TrainingGraph(tuple(nodes))


def test_volumes_are_counted_by_collective_and_group() -> None:
    found = volumes(
        graph(
            ("allreduce", [0, 1, 2, 3], Tensor(400)),
            ("allreduce", [0, 1, 2, 3], Tensor(800)),
            ("allreduce", [0, 1], Tensor(400)),
        )
    )
    assert [(v.racks, v.events, v.payload_bytes, v.bus_factor) for v in found] == [
        ((0, 1, 2, 3), 2, 1200, 1.5),
        ((0, 1), 1, 400, 1.0),
    ]


def test_directed_bytes_stand_where_they_go_and_reductions_are_spread() -> None:
    matrix = traffic_matrix(
        graph(
            ("p2p", [0, 2], Transfer.of([2], [0], [70])),
            ("scatter", [0, 1, 2], Tensor(300, 1)),
            ("allreduce", [0, 1, 2], Tensor(60)),
        ),
        4,
    )
    spread = 60 * 4 / 6
    assert matrix[2, 0] == 70 + spread
    assert matrix[1, 0] == matrix[1, 2] == 100 + spread
    assert matrix[0, 1] == pytest.approx(spread)
    assert matrix[3].sum() == matrix[:, 3].sum() == np.trace(matrix) == 0
