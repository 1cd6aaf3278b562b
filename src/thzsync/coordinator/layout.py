"""Checks of the arrays of a saved policy, before compiled code reads them.

Kernels index without bounds checks, so a wrong shape or position would read foreign memory. The
last part of an array's name determines its layout; the shape that file and scenario agree on
determines its sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from thzsync.arrays import AnyArray
from thzsync.coordinator.features import ACTION_COLUMNS, FLAT_ACTION_COLUMNS, columns
from thzsync.errors import ThzSyncError

LARGEST: Final = 1e100
"""Products of larger weights could overflow."""


class Layout(NamedTuple):
    """Type and sizes of one array; a name stands for a size in the whole file."""

    sizes: tuple[str | int, ...]
    dtype: type[Any] = np.float64
    pending: bool = False
    """Whether NaN may mark a value that is not known yet."""


LAYOUTS: Final = {
    "flow": Layout(("first rows", "flow units")),
    "flow_bias": Layout(("flow units",)),
    "dense": Layout(("pooled units", "units")),
    "dense_bias": Layout(("units",)),
    "head": Layout(("features",)),
    "precision": Layout(("features", "features")),
    "factor": Layout(("features", "features")),
    "moment": Layout(("features",)),
    "rows": Layout(("samples", "flows", "inputs")),
    "group": Layout(("samples", "flows"), np.int64),
    "chunks": Layout(("samples", "flows"), np.int64),
    "reward": Layout(("samples",), pending=True),
    "added": Layout((1,), np.int64),
}


def check_arrays(
    path: str | Path, shape: Mapping[str, Any], arrays: Mapping[str, AnyArray]
) -> None:
    """Refuse arrays that differ from ``shape``."""
    flat = shape["encoder"] == "flat"
    inputs = columns(shape["subbands"], FLAT_ACTION_COLUMNS if flat else ACTION_COLUMNS)
    known = {
        "inputs": inputs,
        "flow units": shape["flow units"],
        "pooled units": shape["flow units"] if flat else 2 * shape["flow units"],
        "units": shape["units"],
        "features": shape["units"] + 1,
    }
    if not flat:
        known["first rows"] = inputs
    for name, array in arrays.items():
        layout = LAYOUTS.get(name.rsplit(".", 1)[-1])
        if layout is None:
            _refuse(path, name, "is not part of a policy")
        _check_array(path, name, array, layout, known)
    if flat:
        _check_slots(path, arrays, inputs)
    for name in arrays:
        if name.endswith(".added"):
            _check_memory(path, name.removesuffix(".added"), arrays, shape["replay"])


def _check_slots(path: str | Path, arrays: Mapping[str, AnyArray], inputs: int) -> None:
    """A flat encoder needs weights for every slot of its replay memory."""
    for name, array in arrays.items():
        owner, _, last = name.rpartition(".")
        if last != "flow":
            continue
        model = owner.rpartition(".")[0]
        rows = arrays.get(f"{model}.replay.rows" if model else "replay.rows", np.zeros((0, 0, 0)))
        if len(array) % inputs or len(array) // inputs < rows.shape[1]:
            _refuse(path, name, f"has {len(array)} rows, not {inputs} for each slot")


def _check_array(
    path: str | Path, name: str, array: AnyArray, layout: Layout, known: Mapping[str, int]
) -> None:
    if array.dtype != layout.dtype:
        _refuse(path, name, f"holds {array.dtype}, not {np.dtype(layout.dtype)}")
    if array.ndim != len(layout.sizes):
        _refuse(path, name, f"has {array.ndim} dimensions, not {len(layout.sizes)}")
    for axis, size in enumerate(layout.sizes):
        wanted = known.get(size) if isinstance(size, str) else size
        if wanted is not None and array.shape[axis] != wanted:
            _refuse(path, name, f"has {array.shape[axis]} {size} on axis {axis}, not {wanted}")
    usable = np.abs(array) <= LARGEST if array.dtype.kind == "f" else np.ones(1, np.bool_)
    if layout.pending:
        usable = usable | np.isnan(array)
    if not usable.all():
        _refuse(path, name, "holds a value that is not finite")


def _check_memory(
    path: str | Path, prefix: str, arrays: Mapping[str, AnyArray], capacity: int
) -> None:
    """The replay memory needs as many samples as were added, and valid senders."""
    rows, group, chunks, reward = (
        arrays.get(f"{prefix}.{name}", np.zeros(0))
        for name in ("rows", "group", "chunks", "reward")
    )
    added = int(arrays[f"{prefix}.added"][0])
    samples = min(added, capacity)
    if added < 0 or {len(rows), len(group), len(chunks), len(reward)} != {samples}:
        _refuse(path, prefix, f"does not hold {samples} samples")
    if samples and not rows.shape[1] == group.shape[1] == chunks.shape[1]:
        _refuse(path, prefix, "disagrees on the number of flows")
    if samples and not _senders_count_up(group):
        _refuse(path, f"{prefix}.group", "numbers its senders with gaps")
    if samples and not _within(chunks[group >= 0], 1, 2**31):
        _refuse(path, f"{prefix}.chunks", "holds a flow of no or too many chunks")


def _senders_count_up(group: AnyArray) -> bool:
    """Flows first, then empty slots (-1), and senders numbered from 0 without gaps."""
    used = group >= 0
    ordered = np.sort(group, axis=1)
    filled_first = not (used[:, 1:] & ~used[:, :-1]).any()
    return filled_first and _within(ordered[:, :1], -1, 1) and _within(np.diff(ordered), 0, 2)


def _within(values: AnyArray, least: int, end: int) -> bool:
    return bool(((values >= least) & (values < end)).all())


def _refuse(path: str | Path, name: str, what: str) -> NoReturn:
    raise ThzSyncError(f"{path}: {name} {what}; the file is damaged, save the policy again")
