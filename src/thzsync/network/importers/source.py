"""A topology file: read within limits, its values checked, mistakes told with their place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from thzsync.errors import ThzSyncError, printable

MOST_BYTES: Final = 16 << 20
MOST_RACKS: Final = 65_536
MOST_LINKS: Final = 1_000_000
"""Directed links: two per fibre."""
MOST_BPS: Final = 0.999e15
LONGEST_NS: Final = 1e9
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Source:
    """A file of which mistakes are told."""

    path: Path

    def wrong(self, place: str, problem: str, remedy: str) -> ThzSyncError:
        """A mistake in this file."""
        at = f"{self.path}: {place}: " if place else f"{self.path}: "
        return ThzSyncError(printable(f"{at}{problem}; {remedy}"))

    def text(self) -> str:
        """The whole file."""
        try:
            if self.path.exists() and not self.path.is_file():
                raise self.wrong("", "is not a regular file", "name a topology file")
            with self.path.open("rb") as file:
                content = file.read(MOST_BYTES + 1)
        except FileNotFoundError:
            raise self.wrong("", "no such file", "check the path") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise self.wrong("", f"cannot be read ({reason})", "check the path") from None
        if len(content) > MOST_BYTES:
            remedy = "describe repeated parts by counts and slices"
            raise self.wrong("", f"longer than {MOST_BYTES >> 20} MiB", remedy)
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise self.wrong(f"byte {error.start}", "not UTF-8 text", "save it as UTF-8") from None

    def get(self, holder: dict[str, Any], place: str, key: str, kind: type[Kind]) -> Kind:
        """The list, mapping or text under a key."""
        found = holder.get(key)
        if not isinstance(found, kind):
            name = {"list": "a list", "dict": "a mapping"}.get(kind.__name__, "a text")
            given = f"found {shown(found)}" if key in holder else "is missing"
            raise self.wrong(f"{place}.{key}".lstrip("."), given, f"give {name}")
        return found

    def number(self, place: str, value: object, least: float, most: float) -> float:
        """A number within limits."""
        fits = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not fits or not least <= value <= most:  # type: ignore[operator]  # NaN is in no range
            raise self.wrong(place, f"found {shown(value)}", f"use a number in {least:g}..{most:g}")
        return float(value)  # type: ignore[arg-type]

    def whole(self, place: str, value: object, least: int, most: int) -> int:
        """A whole number within limits."""
        if type(value) is not int or not least <= value <= most:
            remedy = f"use a whole number in {least}..{most}"
            raise self.wrong(place, f"found {shown(value)}", remedy)
        return value

    def limit(self, racks: int, links: int) -> None:
        """Refuse networks of no use or of extreme size, before they are built."""
        if not 2 <= racks <= MOST_RACKS:
            remedy = f"describe 2 to {MOST_RACKS}"
            raise self.wrong("", f"describes {racks} racks (servers, NPUs or hosts)", remedy)
        if links > MOST_LINKS:
            remedy = f"describe at most {MOST_LINKS}"
            raise self.wrong("", f"describes more than {MOST_LINKS} links", remedy)


def shown(value: object) -> str:
    """A value for a message, shortened."""
    if isinstance(value, (list, dict)):
        return f"a {'list' if isinstance(value, list) else 'mapping'} of {len(value)}"
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
