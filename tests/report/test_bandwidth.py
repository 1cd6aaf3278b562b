from __future__ import annotations

import polars as pl
import pytest

from thzsync.report.bandwidth import with_bandwidth


def test_bandwidths_of_events_are_those_of_nccl_tests() -> None:
    events = pl.DataFrame(
        {
            "kind": ["allreduce", "a2a", "p2p", "broadcast", "allreduce"],
            "racks": [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1], [4, 7], [0, 1]],
            "payload_bytes": [4_000_000, 12_000_000, 1_000_000, 1_000_000, 8],
            "completion_ms": [1.0, 1.0, 1.0, 1.0, 0.0],
        }
    )
    found = with_bandwidth(events)
    assert found["algbw_gb_s"].to_list() == [pytest.approx(4), pytest.approx(4), 1, 1, None]
    assert found["busbw_gb_s"].to_list() == [pytest.approx(6), pytest.approx(3), 1, 1, None]
