"""The tables of a recorded run: one row type each, so that engine, auditor and report agree.

Times are absolute simulated picoseconds. ``number`` counts the activated events of a run from 0
and joins all event-level tables; ``node`` is the position in the job's training graph of an
iteration. Jobs count their iterations for themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import polars as pl

TABLES: Final[dict[str, dict[str, str]]] = {
    "iterations": {
        "job": "str",
        "iteration": "i32",
        "start_ps": "i64",
        "end_ps": "i64",
        "completion_ms": "f64",  # sum of T_e over the iteration's events
        "energy_j": "f64",
        "optical_energy_j": "f64",
        "thz_energy_j": "f64",
        "further_energy_j": "f64",  # of carriers beside fibre and THz
        "wall_energy_j": "f64",  # at the wall plug: the sum of the next three
        "optical_wall_j": "f64",
        "thz_wall_j": "f64",
        "further_wall_j": "f64",
        "static_energy_j": "f64",  # of the job's racks: the sum of the next four
        "fibre_static_j": "f64",
        "thz_static_j": "f64",
        "further_static_j": "f64",
        "rack_static_j": "f64",
        "total_energy_j": "f64",  # at the wall plug and static
        "reward": "f64",  # mean of r_e over the iteration's events
        "makespan_ms": "f64",
        "exposed_ms": "f64",  # iteration time beyond what free communication would take
        "bubble": "f64",  # idle share of the time of the job's racks, or of its ranks
        "thz_share": "f64",  # share of payload bytes that THz carried
        "fallback_chunks": "i64",  # chunks decided for another carrier that fibre carried
        "rerouted_chunks": "i64",  # chunks decided for fibre that another carrier carried
        "thz_utilisation": "f64",  # busy share of rack x subband slots
        "optical_utilisation": "f64",  # what the job used of its busiest fibre's capacity
    },
    "tasks": {
        "iteration": "i32",
        "node": "i32",
        "job": "str",
        "stage": "i32",
        "microbatch": "i32",
        "phase": "str",
        "start_ps": "i64",
        "end_ps": "i64",
        "duration_ps": "i64",
        "racks": "list[i32]",  # racks that compute
        "rank": "i32",  # the rank that computes, -1 for the racks as a whole
        "after": "list[i32]",  # nodes of the same iteration and job
    },
    "events": {
        "iteration": "i32",
        "node": "i32",
        "number": "i32",
        "job": "str",
        "kind": "str",
        "stage": "i32",
        "microbatch": "i32",
        "label": "str",
        "method": "str",
        "racks": "list[i32]",
        "delay_ps": "list[i64]",  # straggler delay of each rack
        "power": "list[f64]",  # decided power budget of each rack, share of the maximum
        "payload_bytes": "i64",  # sum of a directed demand, or size of the tensor
        "release_ps": "i64",  # r_e, when its predecessors were done
        "end_ps": "i64",
        "completion_ms": "f64",  # T_e
        "algbw_gb_s": "f64",  # as nccl-tests: size over T_e [1e9 bytes per second]
        "busbw_gb_s": "f64",  # as nccl-tests: the busiest rack's bytes over T_e
        "optical_energy_j": "f64",
        "thz_energy_j": "f64",
        "further_energy_j": "f64",
        "optical_wall_j": "f64",
        "thz_wall_j": "f64",
        "further_wall_j": "f64",
        "static_j": "f64",  # of the event's racks while it lasts; events may overlap
        "reward": "f64",
        "wired_bytes": "i64",
        "thz_bytes": "i64",
        "further_bytes": "i64",
        "fallback_chunks": "i32",
        "rerouted_chunks": "i32",
        "decision_thz_share": "f64",  # decided THz chunks over all chunks
        "after": "list[i32]",  # nodes of the same iteration and job
    },
    "blocks": {
        "number": "i32",
        "block": "i32",
        "bytes": "i64",
        "sources": "list[i32]",  # racks that hold a part before
        "targets": "list[i32]",  # racks that hold the sum of all parts afterwards
    },
    "flows": {
        "number": "i32",
        "flow": "i32",
        "src": "i32",
        "dst": "i32",
        "bytes": "i64",
        "chunks": "i32",
        "chunk_bytes": "i64",
        "thz_chunks": "i32",  # decided; those of other carriers are in ``chunks``
        "local": "bool",  # carries its source's own data
        "block": "i32",
        "shard": "i32",  # which part of the block
        "reduces": "bool",
        "discipline": "str",  # how its THz transmissions are formed
        "after": "list[i32]",  # flows of the same event, chunk by chunk
    },
    "chunks": {
        "number": "i32",
        "flow": "i32",
        "chunk": "i32",
        "decided": "i8",  # carrier: 0 is fibre, k the k-th name in the scenario's ``carriers``
        "carrier": "i8",  # the actual one
        "ready_ps": "i64",
        "end_ps": "i64",
    },
    "rounds": {
        "number": "i32",
        "round": "i32",
        "start_ps": "i64",
        "end_ps": "i64",
        "overhead_ps": "i64",
        "discipline": "str",
        "common": "bool",  # declared: the event's only round of this discipline while it lasts
        "transmissions": "i32",
    },
    "transmissions": {
        "number": "i32",
        "round": "i32",
        "flow": "i32",
        "first_chunk": "i32",
        "chunks": "i32",
        "src": "i32",
        "dst": "i32",
        "subband": "i32",
        "start_ps": "i64",
        "end_ps": "i64",
        "power_w": "f64",
        "gain": "f64",  # linear channel power gain at the round's start
        "bytes": "i64",
        "noise_w": "f64",  # noise and interference that it was promised at its start
        "step": "str",  # fastest step of the rate law that its power carries; "" without steps
        "error_rate": "f64",  # share of what is sent that is lost and sent again
    },
    "links": {
        "start_ps": "i64",
        "end_ps": "i64",
        "link": "i32",
        "bytes": "i64",  # foreground bytes whose service ended in the span
        "background_bytes": "i64",
    },
    "sendings": {  # on carriers after THz
        "number": "i32",
        "carrier": "i8",
        "flow": "i32",
        "first_chunk": "i32",
        "chunks": "i32",
        "bytes": "i64",
        "start_ps": "i64",
        "end_ps": "i64",
        "energy_j": "f64",
    },
}


def polars_schema(table: str) -> dict[str, pl.DataType]:
    """Column types of a table for Polars."""
    import polars as pl

    scalar = {
        "i8": pl.Int8(),
        "i32": pl.Int32(),
        "i64": pl.Int64(),
        "f64": pl.Float64(),
        "str": pl.String(),
        "bool": pl.Boolean(),
    }
    return {
        column: pl.List(scalar[kind[5:-1]]) if kind.startswith("list[") else scalar[kind]
        for column, kind in TABLES[table].items()
    }
