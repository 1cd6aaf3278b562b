"""Markdown pages as people write them: fenced blocks in order, with where they stand."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "docs/agents.md",
    "docs/api.md",
    "docs/architecture.md",
    "docs/environment.md",
    "docs/radios.md",
    "docs/extending.md",
    "docs/gallery.md",
    "docs/glossary.md",
    "docs/index.md",
    "docs/model.md",
    "docs/my-cluster.md",
    "docs/networks.md",
    "docs/plugins.md",
    "docs/records.md",
    "docs/report.md",
    "docs/reproduction.md",
    "docs/studies.md",
    "docs/trust.md",
    "docs/traces.md",
    "docs/tutorial.md",
)
NOT_RUN = "<!-- not run:"
"""A comment on the line before a block that takes minutes, with the reason."""

_FENCE = re.compile(r"^```(\w*)$")
_FILE = re.compile(r"^# file: (\S+)$")
_NUMBER = re.compile(r"-?\d[\d.,]*(e[+-]\d+)?")


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    language: str
    text: str
    line: int
    """Line of its first line of text, from 1."""
    run: bool

    @property
    def file(self) -> str | None:
        """The file that the block shows, named in its first line."""
        named = _FILE.match(self.text.split("\n", 1)[0])
        return named[1] if named else None

    def commands(self) -> Iterator[tuple[list[str], list[str]]]:
        """Every command of a console block, and the lines that it is said to print."""
        command: list[str] | None = None
        shown: list[str] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                if command is not None:
                    yield command, shown
                command, shown = shlex.split(line[2:], comments=True), []
            else:
                shown.append(line)
        if command is not None:
            yield command, shown


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page."""
    found = []
    lines = text.splitlines()
    position = 0
    while position < len(lines):
        fence = _FENCE.match(lines[position])
        position += 1
        if fence is None:
            continue
        end = lines.index("```", position)
        before = lines[position - 2] if position >= 2 else ""
        body = "\n".join(lines[position:end]) + "\n"
        found.append(Block(fence[1], body, position + 1, not before.startswith(NOT_RUN)))
        position = end + 1
    return found


def shape(line: str) -> str:
    """A line of output without its digits and spacing."""
    return " ".join(_NUMBER.sub("#", line).split())


def alike(shown: str, printed: str, tolerance: float = 0.1) -> bool:
    """Whether two lines say the same: equal words, and numbers that are as good as equal.

    A better tie-break somewhere may move a number; an invented or forgotten one is found.
    """
    if shape(shown) != shape(printed):
        return False
    pairs = zip(_numbers(shown), _numbers(printed), strict=True)
    return all(abs(a - b) <= tolerance * max(abs(a), abs(b)) for a, b in pairs)


def _numbers(line: str) -> list[float]:
    return [float(m[0].rstrip(".,").replace(",", "")) for m in _NUMBER.finditer(line)]
