"""Rules for every importer. Check your own importer before you publish it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from thzsync.collectives import find_collective
from thzsync.errors import ThzSyncError
from thzsync.importers.bounded import read_head
from thzsync.importers.imported import merge_ranks
from thzsync.importers.importer import Importer, ReadOptions
from thzsync.importers.placement import Placement
from thzsync.importers.ranks import Call, Message, Recording
from thzsync.importers.rescale import fill

_CUTS = 8
"""Number of truncated versions of the first file."""


def check_importer(
    importer: Importer, files: Sequence[Path], options: ReadOptions | None = None
) -> int:
    """Read valid and truncated files; raise on the first broken rule. Return the operations.

    An importer recognises its own files and no empty file. It reads the same twice. It names only
    operations, ranks and collectives that exist. Its recording merges into a graph. If it refuses
    a truncated file, it does so with one line.
    """
    options = options or ReadOptions()
    place = f"importer {importer.name!r}"
    if not any(importer.recognises(path, read_head(path)) for path in files):
        raise ThzSyncError(f"{place}: it does not recognise {files[0]}")
    first, again = (fill(importer.read(files, options), options.world) for _ in range(2))
    if first.ranks != again.ranks:
        raise ThzSyncError(f"{place}: two readings of {files[0]} differ")
    count = sum(_check_rank(place, first, rank) for rank in first.ranks)
    merge_ranks(first, Placement(), options.skip_empty, importer.name)
    _check_broken(place, importer, files, options)
    return count


def _check_rank(place: str, recording: Recording, rank: int) -> int:
    parts = recording.ranks[rank]
    for position, part in enumerate(parts):
        where = f"{place}: rank {rank}, operation {position}"
        if any(not 0 <= before < len(parts) or before == position for before in part.after):
            raise ThzSyncError(f"{where}: waits for itself or for an operation that is not there")
        if isinstance(part, Call):
            find_collective(part.kind)
            if rank not in part.group or list(part.group) != sorted(set(part.group)):
                raise ThzSyncError(f"{where}: its group must be ascending and contain the rank")
        if isinstance(part, Message) and part.peer == rank:
            raise ThzSyncError(f"{where}: a message to the rank itself")
    return len(parts)


def _check_broken(
    place: str, importer: Importer, files: Sequence[Path], options: ReadOptions
) -> None:
    content, alone = files[0].read_bytes(), replace(options, groups=None)
    sizes = [cut * len(content) // _CUTS for cut in range(_CUTS)]
    with tempfile.TemporaryDirectory() as folder:
        broken = Path(folder) / files[0].name
        for size in (*sizes, max(0, len(content) - 1)):
            broken.write_bytes(content[:size])
            try:
                importer.read([broken], alone)
            except ThzSyncError as error:
                if "\n" in str(error):
                    raise ThzSyncError(f"{place}: an error of several lines: {error!r}") from None
            except Exception as error:
                raise ThzSyncError(
                    f"{place}: {type(error).__name__} instead of a ThzSyncError when {files[0]} "
                    f"ends after {size} bytes"
                ) from error
