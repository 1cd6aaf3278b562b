"""Trained policies on disk: arrays as safetensors, everything else as JSON in its header.

The header says what the arrays mean: the policy, the version of the features, the scenario's shape
and the sizes of the model. A file that was made for something else is refused with the difference.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from thzsync.arrays import AnyArray
from thzsync.coordinator.features import FEATURE_VERSION
from thzsync.errors import ThzSyncError
from thzsync.scenario import Learner, Scenario

HEADER: Final = "thzsync-policy"
FORMAT_VERSION: Final = 1

Shape = dict[str, Any]
"""What a file and a scenario must agree on; values as JSON has them."""


def shape_of(scenario: Scenario, settings: Learner) -> Shape:
    """The shape of everything a policy has learnt."""
    return {
        "format version": FORMAT_VERSION,
        "feature version": FEATURE_VERSION,
        "racks": scenario.floor.racks,
        "subbands": scenario.thz.subbands,
        "power levels": list(scenario.coordinator.power_levels),
        "flow units": settings.flow_units,
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
    """Write a policy's state; the file appears whole or not at all."""
    from safetensors.numpy import save

    header = json.dumps({"policy": name, "shape": shape, "progress": progress})
    contiguous = {key: np.ascontiguousarray(array) for key, array in arrays.items()}
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(save(contiguous, metadata={HEADER: header}))
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ThzSyncError(f"{path}: the policy cannot be written: {error.strerror}") from None


def read_policy(path: str | Path) -> tuple[str, Shape, dict[str, Any], dict[str, AnyArray]]:
    """Name, shape, progress and arrays of a saved policy."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {})[HEADER])
            arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        return header["policy"], header["shape"], header["progress"], arrays
    except FileNotFoundError:
        raise ThzSyncError(
            f"{path}: no such file; `thzsync run --save {path}` writes one"
        ) from None
    except OSError as error:
        raise ThzSyncError(f"{path}: cannot be read: {error.strerror}") from None
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ThzSyncError(
            f"{path}: not a policy saved by thzsync, or cut short ({type(error).__name__}); "
            "save it again"
        ) from None


def check_shape(path: str | Path, found: Shape, wanted: Shape) -> None:
    """Refuse a file whose shape differs, and say where."""
    for key, value in wanted.items():
        if found.get(key) != value:
            raise ThzSyncError(
                f"{path}: made for {key} {found.get(key)}, but the scenario has {value}; "
                "use the scenario it was trained on, or train anew"
            )
