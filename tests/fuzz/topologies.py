"""Topology files with random damage, in all formats: one line says what is wrong, or a network."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import numpy as np
import yaml

from tests.fuzz.harness import damaged, odd_value
from tests.network.topologies import SAMPLES
from thzsync.errors import ThzSyncError
from thzsync.network import Buffers
from thzsync.network.importers import read_wires

LARGEST = 200
"""Switches of a network that is built; larger ones are only read."""
HOSTILE = (
    *("9" * 30, "-1", "1e999", "[" * 99, "- " * 99, "*a", "&a [*a]", "!!python/name:os.system"),
    *("1:2:3", "0:4", "[0:99999999]", "\u202e", "\x1b[31m", "{a: b}", "\t", ".nan"),
)


def try_topology(rng: np.random.Generator) -> str:
    """Write a damaged file and read it; build what is accepted and small."""
    name = str(rng.choice(list(SAMPLES)))
    text = SAMPLES[name]
    if name.endswith("l") and rng.random() < 0.3:
        name, text = f"{name}.json", json.dumps(yaml.safe_load(text), indent=1)
    for _ in range(rng.integers(1, 4)):
        text = mutant(rng, text)
    content = text.encode(errors="replace")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(damaged(rng, content) if rng.random() < 0.2 else content)
        try:
            wires = read_wires(path)
        except ThzSyncError as error:
            check_line(path, error)
            raise
    assert 2 <= wires.racks <= 65_536
    assert len(wires.ends) <= 1_000_000
    if len(wires.switch_names) > LARGEST or wires.racks > LARGEST:
        return "large"
    network = wires.network(Buffers())
    assert network.path(0, wires.racks - 1)
    return "accepted"


def check_line(path: Path, error: ThzSyncError) -> None:
    """One line of limited length that begins with the file."""
    assert error.lines == (str(error),)
    assert str(error).startswith(f"{path}: ")
    assert len(str(error)) < len(str(path)) + 500


def mutant(rng: np.random.Generator, text: str) -> str:
    """One change: a number, a word, or a line lost, repeated or moved."""
    lines = text.splitlines()
    at, other = (int(k) for k in rng.integers(len(lines), size=2))
    words = re.findall(r"[\w.]+", lines[at]) or ["x"]
    word = str(rng.choice(words))
    match rng.integers(7):
        case 0:
            lines[at] = lines[at].replace(word, str(rng.choice(HOSTILE)), 1)
        case 1:
            lines[at] = lines[at].replace(word, str(odd_value(rng))[:400], 1)
        case 2:
            lines[at] = re.sub(r"\d+", str(int(rng.integers(12))), lines[at], count=1)
        case 3:
            lines[at] = re.sub(r"\d+", str(2 ** int(rng.integers(40))), lines[at], count=1)
        case 4:
            del lines[at]
        case 5:
            lines.insert(other, lines[at])
        case _:
            lines[at], lines[other] = lines[other], lines[at]
    return "\n".join(lines) + "\n"
