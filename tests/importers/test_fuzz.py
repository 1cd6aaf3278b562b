"""Readers against mutated files: a trace or one line, never a traceback, a hang or a flood."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.importers.test_conformance import sample
from thzsync.errors import ThzSyncError
from thzsync.importers import find_importer, importer_names
from thzsync.importers.imported import merge_ranks
from thzsync.importers.importer import ReadOptions
from thzsync.importers.placement import Placement
from thzsync.importers.rescale import fill

MANY = 100_000
FEW = 150


def read(name: str, paths: list[Path], options: ReadOptions) -> bool:
    """Whether a mutated file still is a trace; anything but a one-line refusal fails the test."""
    try:
        recording = find_importer(name, paths).read(paths, options)
        merge_ranks(fill(recording, options.world), Placement(), skip_empty=True)
    except ThzSyncError as error:
        refusal = str(error)
    else:
        return True
    assert "\n" not in refusal
    return False


def mutated(content: bytes, draw: random.Random) -> bytes:
    """One to four changes: a byte, a cut, a run repeated, or a run of large numbers."""
    data = bytearray(content)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(data) + 1)
        change = draw.randrange(4)
        if change == 0 and at < len(data):
            data[at] = draw.randrange(256)
        elif change == 1:
            del data[at : at + draw.randint(1, 1 + len(data) // 4)]
        elif change == 2:
            data[at:at] = data[at : at + draw.randint(1, 40)]
        else:
            data[at:at] = draw.choice([b"\xff" * 9, b"9" * 30, b"[" * 50, b"-1", b"1e999", b"\x00"])
    return bytes(data)


def swarm(name: str, folder: Path, count: int) -> tuple[int, float]:
    """Traces that survive, and the slowest reading [s]."""
    paths, options = sample(name, folder)
    content, draw = paths[0].read_bytes(), random.Random(name)
    survived, slowest = 0, 0.0
    for _ in range(count):
        paths[0].write_bytes(mutated(content, draw))
        begin = time.perf_counter()
        survived += read(name, paths, options)
        slowest = max(slowest, time.perf_counter() - begin)
    return survived, slowest


@pytest.mark.parametrize("name", importer_names())
def test_a_few_mutated_files(name: str, tmp_path: Path) -> None:
    tracemalloc.start()
    _, slowest_s = swarm(name, tmp_path, FEW)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert slowest_s < 30
    assert peak < 200e6


@pytest.mark.slow
@pytest.mark.parametrize("name", importer_names())
def test_a_hundred_thousand_mutated_files(name: str, tmp_path: Path) -> None:
    survived, slowest_s = swarm(name, tmp_path, MANY // len(importer_names()))
    assert survived > 0
    assert slowest_s < 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.parametrize("suffix", [".et", ".json", ".txt", ".parquet"])
def test_any_bytes_at_all(suffix: str, folder: Path) -> None:
    check: Callable[[], None] = _any_bytes(suffix, folder)
    check()


def _any_bytes(suffix: str, folder: Path) -> Callable[[], None]:
    name = {".et": "chakra", ".json": "kineto", ".txt": "simai", ".parquet": "timings"}[suffix]
    path = folder / f"any.0{suffix}"

    @settings(max_examples=50)
    @given(st.binary(max_size=200))
    def check(content: bytes) -> None:
        path.write_bytes(content)
        read(name, [path], ReadOptions(model="llama3-8b"))

    return check
