"""Trained policies on disk: arrays as safetensors, everything else as JSON in its header.

The header contains the policy's name, the version of the features, the scenario's shape and the
sizes of the model. A file made for another shape is refused with the difference, a changed file by
its checksum.

Kernels index without bounds checks, so a wrong shape or position would read foreign memory.
``check_arrays`` therefore checks all arrays. The last part of an array's name determines its
layout; the shape that file and scenario agree on determines its sizes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from thzsync.arrays import AnyArray
from thzsync.coordinator.features import (
    ACTION_COLUMNS,
    FEATURE_VERSION,
    FLAT_ACTION_COLUMNS,
    columns,
)
from thzsync.coordinator.interface import State
from thzsync.errors import ThzSyncError
from thzsync.files import write_atomically
from thzsync.scenario import Learner, Scenario

HEADER: Final = "thzsync-policy"
CHECKSUM: Final = "sha256"
FORMAT_VERSION: Final = 3
LARGEST: Final = 1e100
"""Products of larger weights could overflow."""

Shape = dict[str, Any]
"""What a file and a scenario must agree on, as JSON values."""


def space_of(scenario: Scenario) -> Shape:
    """What situations and actions of a scenario look like."""
    return {
        "racks": scenario.floor.racks,
        "subbands": scenario.thz.subbands,
        "power levels": list(scenario.coordinator.power_levels),
        "carriers": list(scenario.carriers),
    }


def shape_of(scenario: Scenario, settings: Learner) -> Shape:
    """The shape of everything that our learners learn."""
    flat = scenario.coordinator.encoder == "flat"
    return {
        "format version": FORMAT_VERSION,
        "feature version": FEATURE_VERSION,
        "racks": scenario.floor.racks,
        "subbands": scenario.thz.subbands,
        "power levels": list(scenario.coordinator.power_levels),
        "encoder": scenario.coordinator.encoder,
        "gains": scenario.coordinator.gains,
        "rewards": scenario.coordinator.reward,
        "flow units": settings.flat_units if flat else settings.flow_units,
        "units": settings.units,
        "replay": settings.replay,
    }


def write_policy(
    path: str | Path,
    name: str,
    shape: Shape,
    progress: Mapping[str, Any],
    arrays: Mapping[str, AnyArray],
) -> None:
    """Write a policy's state; the file is complete or absent."""
    from safetensors import SafetensorError
    from safetensors.numpy import save

    ordered = {key: np.asarray(array, order="C") for key, array in arrays.items()}
    try:
        _check_keys(progress)
        header = json.dumps({"policy": name, "shape": shape, "progress": progress})
        metadata = {HEADER: header, CHECKSUM: checksum(header, ordered)}
        content = save(ordered, metadata=metadata)
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ThzSyncError(
            f"policy {name!r}: its state cannot be saved ({error}); use arrays of numbers, "
            "and plain values with texts as keys"
        ) from None
    write_atomically(path, _in_order(content))


def _check_keys(value: Any) -> None:
    """Refuse keys that would come back from JSON as texts."""
    for each in value if isinstance(value, (list, tuple)) else ():
        _check_keys(each)
    for key, each in value.items() if isinstance(value, dict) else ():
        if not isinstance(key, str):
            raise TypeError(f"key {key!r} is no text")
        _check_keys(each)


def _in_order(content: bytes) -> bytes:
    """The same file with sorted metadata; safetensors writes them in random order.

    A file is the length of its header in 8 bytes, the header, padded to whole words, and data.
    """
    data = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:data])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text = text.ljust(-(-len(text) // 8) * 8)
    return len(text).to_bytes(8, "little") + text + content[data:]


def checksum(header: str, arrays: Mapping[str, AnyArray]) -> str:
    """SHA-256 of everything in a file, in a fixed order."""
    digest = hashlib.sha256(header.encode())
    for key in sorted(arrays):
        array = np.ascontiguousarray(arrays[key])
        digest.update(f"{key} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def read_policy(path: str | Path) -> tuple[str, Shape, dict[str, Any], dict[str, AnyArray]]:
    """Name, shape, progress and arrays of a saved policy."""
    metadata, arrays = _open(path)
    header = metadata.get(HEADER, "")
    try:
        values = json.loads(header)
        name, shape, progress = values["policy"], values["shape"], values["progress"]
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        _refuse(path, error)
    if metadata.get(CHECKSUM) != checksum(header, arrays):
        raise ThzSyncError(f"{path}: its content does not match its checksum; save it again")
    if not (isinstance(name, str) and isinstance(shape, dict) and isinstance(progress, dict)):
        raise ThzSyncError(f"{path}: its header is damaged; save it again")
    return name, shape, progress, arrays


def _open(path: str | Path) -> tuple[dict[str, str], dict[str, AnyArray]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            return file.metadata() or {}, arrays
    except FileNotFoundError:
        raise ThzSyncError(
            f"{path}: no such file; `thzsync run --save {path}` writes one"
        ) from None
    except OSError as error:
        raise ThzSyncError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (SafetensorError, AttributeError, KeyError, TypeError, ValueError) as error:
        _refuse(path, error)


def _refuse(path: str | Path, error: Exception) -> NoReturn:
    raise ThzSyncError(
        f"{path}: not a policy saved by thzsync, or cut short ({type(error).__name__}); "
        "save it again"
    ) from None


def check_shape(found: Shape, wanted: Shape) -> None:
    """Refuse a file whose shape differs, with the difference."""
    for key, value in json.loads(json.dumps(wanted)).items():
        if found.get(key) != value:
            raise ThzSyncError(
                f"made for {key} {found.get(key)}, but the scenario has {value}; "
                "use the scenario it was trained on, or train anew"
            )


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


def check_arrays(shape: Shape, state: State) -> None:
    """Refuse a state whose arrays differ from ``shape``."""
    arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
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
            _damaged(name, "is not part of a policy")
        _check_array(name, array, layout, known)
    if flat:
        _check_slots(arrays, inputs)
    for name in arrays:
        if name.endswith(".added"):
            _check_memory(name.removesuffix(".added"), arrays, shape["replay"])


def _check_slots(arrays: Mapping[str, AnyArray], inputs: int) -> None:
    """A flat encoder needs weights for every slot of its replay memory."""
    for name, array in arrays.items():
        owner, _, last = name.rpartition(".")
        if last != "flow":
            continue
        model = owner.rpartition(".")[0]
        rows = arrays.get(f"{model}.replay.rows" if model else "replay.rows", np.zeros((0, 0, 0)))
        if len(array) % inputs or len(array) // inputs < rows.shape[1]:
            _damaged(name, f"has {len(array)} rows, not {inputs} for each slot")


def _check_array(name: str, array: AnyArray, layout: Layout, known: Mapping[str, int]) -> None:
    if array.dtype != layout.dtype:
        _damaged(name, f"holds {array.dtype}, not {np.dtype(layout.dtype)}")
    if array.ndim != len(layout.sizes):
        _damaged(name, f"has {array.ndim} dimensions, not {len(layout.sizes)}")
    for axis, size in enumerate(layout.sizes):
        wanted = known.get(size) if isinstance(size, str) else size
        if wanted is not None and array.shape[axis] != wanted:
            _damaged(name, f"has {array.shape[axis]} {size} on axis {axis}, not {wanted}")
    usable = np.abs(array) <= LARGEST if array.dtype.kind == "f" else np.ones(1, np.bool_)
    if layout.pending:
        usable = usable | np.isnan(array)
    if not usable.all():
        _damaged(name, "holds a value that is not finite")


def _check_memory(prefix: str, arrays: Mapping[str, AnyArray], capacity: int) -> None:
    """The replay memory needs as many samples as were added, and valid senders."""
    rows, group, chunks, reward = (
        arrays.get(f"{prefix}.{name}", np.zeros(0))
        for name in ("rows", "group", "chunks", "reward")
    )
    added = int(arrays[f"{prefix}.added"][0])
    samples = min(added, capacity)
    if added < 0 or {len(rows), len(group), len(chunks), len(reward)} != {samples}:
        _damaged(prefix, f"does not hold {samples} samples")
    if samples and not rows.shape[1] == group.shape[1] == chunks.shape[1]:
        _damaged(prefix, "disagrees on the number of flows")
    if samples and not _senders_count_up(group):
        _damaged(f"{prefix}.group", "numbers its senders with gaps")
    if samples and not _within(chunks[group >= 0], 1, 2**31):
        _damaged(f"{prefix}.chunks", "holds a flow of no or too many chunks")


def _senders_count_up(group: AnyArray) -> bool:
    """Flows first, then empty slots (-1), and senders numbered from 0 without gaps."""
    used = group >= 0
    ordered = np.sort(group, axis=1)
    filled_first = not (used[:, 1:] & ~used[:, :-1]).any()
    return filled_first and _within(ordered[:, :1], -1, 1) and _within(np.diff(ordered), 0, 2)


def _within(values: AnyArray, least: int, end: int) -> bool:
    return bool(((values >= least) & (values < end)).all())


def _damaged(name: str, what: str) -> NoReturn:
    raise ThzSyncError(f"{name} {what}; the file is damaged, save the policy again")
