"""Trained policies on disk: arrays as safetensors, everything else as JSON in its header.

The header contains the policy's name, the version of the features, the scenario's shape and the
sizes of the model. A file made for another shape is refused with the difference, a changed file by
its checksum.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np

from thzsync.arrays import AnyArray
from thzsync.coordinator.features import FEATURE_VERSION
from thzsync.errors import ThzSyncError
from thzsync.files import write_atomically
from thzsync.scenario import Learner, Scenario

HEADER: Final = "thzsync-policy"
CHECKSUM: Final = "sha256"
FORMAT_VERSION: Final = 3

Shape = dict[str, Any]
"""What a file and a scenario must agree on, as JSON values."""


def shape_of(scenario: Scenario, settings: Learner) -> Shape:
    """The shape of everything a policy learns."""
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
    from safetensors.numpy import save

    header = json.dumps({"policy": name, "shape": shape, "progress": progress})
    contiguous = {key: np.ascontiguousarray(array) for key, array in arrays.items()}
    metadata = {HEADER: header, CHECKSUM: checksum(header, contiguous)}
    write_atomically(path, _in_order(save(contiguous, metadata=metadata)))


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


def check_shape(path: str | Path, found: Shape, wanted: Shape) -> None:
    """Refuse a file whose shape differs, with the difference."""
    for key, value in wanted.items():
        if found.get(key) != value:
            raise ThzSyncError(
                f"{path}: made for {key} {found.get(key)}, but the scenario has {value}; "
                "use the scenario it was trained on, or train anew"
            )
