"""One line of a trace file; every access checks type and range, and errors name the line."""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn, TypeGuard

import numpy as np

from thzsync.arrays import LATEST_S, IntArray
from thzsync.errors import ThzSyncError

LARGEST_INDEX: Final = 2**31 - 1
"""Largest number that fits into the columns of a record."""
LARGEST_BYTES: Final = 2**53
"""Largest size, as in a scenario [bytes]."""


class Record:
    """The values of one line."""

    def __init__(self, line: str, place: str) -> None:
        try:
            values = json.loads(line)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            raise ThzSyncError(f"{place}: not a JSON object; generate the file again")
        self.values: dict[str, Any] = values
        self.place = place
        if "node" in values and "id" in values:
            noun = "compute" if values["node"] == "compute" else "event"
            self.place += f" ({noun} {json.dumps(values['id'])[:20]})"

    def refuse(self, key: str, wanted: str) -> NoReturn:
        """Refuse a value: say what was found and what is allowed."""
        found = json.dumps(self.values[key])[:60] if key in self.values else "nothing"
        raise ThzSyncError(f"{self.place}: {key}: found {found}; it must be {wanted}")

    def whole(self, key: str, most: int = LARGEST_INDEX) -> int:
        """A whole number; callers refuse negative ones where they make no sense."""
        value = self.values.get(key)
        if not _is_whole(value, most):
            self.refuse(key, f"a whole number, at most {most}")
        return value

    def wholes(self, key: str, most: int = LARGEST_INDEX) -> IntArray:
        """A list of whole numbers; each is limited, their sum is not."""
        value = self.values.get(key)
        if not isinstance(value, list) or not all(_is_whole(item, most) for item in value):
            self.refuse(key, f"a list of whole numbers, at most {most}")
        return np.array(value, dtype=np.int64)

    def sizes(self, key: str) -> IntArray:
        """Sizes whose sum is also within the limit of a size [bytes]."""
        sizes = self.wholes(key, LARGEST_BYTES)
        if sum(self.values[key]) > LARGEST_BYTES:
            self.refuse(key, f"sizes that sum to at most {LARGEST_BYTES} bytes")
        return sizes

    def seconds(self, key: str) -> float:
        """A time within the simulated clock [s]."""
        value = self.values.get(key)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.refuse(key, "a number")
        if not abs(value) <= LATEST_S:
            self.refuse(key, f"a number of seconds, at most {LATEST_S:g}")
        return float(value)

    def text(self, key: str) -> str:
        """A text."""
        value = self.values.get(key)
        if not isinstance(value, str):
            self.refuse(key, "a text")
        return value

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        """One of some texts."""
        value = self.values.get(key)
        if value not in allowed:
            self.refuse(key, f"one of {', '.join(allowed)}")
        return str(value)


def _is_whole(value: object, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= most
