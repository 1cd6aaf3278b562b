"""A folder that holds one record at a time, whole or not at all.

A record is some files and a marker (``run.json``, ``compare.json``) that lists the SHA-256 of each
and of itself. New files wait in a hidden folder until the marker has been replaced: that rename
changes the record in one instant. Readers find each file by its checksum, in either place. So a
crash leaves the old record or the new one, and a mixture is refused.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from thzsync.errors import ThzSyncError
from thzsync.files import content_digest, document_bytes, dump_json, write_atomically

INCOMING: Final = ".incoming"
"""Where the files of the next record wait for their marker."""
FILES: Final = "files"
SEAL: Final = "sha256"


Files = Iterable[tuple[str, bytes]]
"""Names relative to the folder, and contents."""


def write_record(
    folder: str | Path, marker: str, document: Mapping[str, Any], files: Files
) -> Path:
    """Replace the folder's record by this one in a single step."""
    target = Path(folder)
    _settle(target, marker)
    for name, content in with_marker(marker, document, files):
        place = target if name == marker else target / INCOMING
        write_atomically(place / name, content)
    _settle(target, marker)
    return target


def with_marker(marker: str, document: Mapping[str, Any], files: Files) -> Files:
    """The files, and last the marker that lists them."""
    listed = {}
    for name, content in files:
        listed[name] = sha256(content).hexdigest()
        yield name, content
    yield marker, document_bytes(sealed({**document, FILES: listed}))


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with the checksum of its contents."""
    rest = {key: value for key, value in document.items() if key != SEAL}
    return {**rest, SEAL: sha256(dump_json(rest).encode()).hexdigest()}


@dataclass(frozen=True)
class Record:
    """A record on disk, known by its marker."""

    folder: Path
    marker: str
    document: dict[str, Any]
    waiting: Path
    """The place of its files before they move to the folder."""

    @classmethod
    def at(cls, folder: Path, marker: str, document: dict[str, Any]) -> Record:
        """The record of a folder of its own."""
        return cls(folder, marker, document, folder / INCOMING)

    def inner(self, name: str, marker: str) -> Record:
        """A record whose marker is one of this one's files."""
        document = json.loads(self.read(f"{name}/{marker}"))
        return Record(self.folder / name, marker, document, self.waiting / name)

    def read(self, name: str) -> bytes:
        """The content of a file that the marker lists, from either place."""
        wanted = self.document[FILES].get(name)
        for content in self.contents(name):
            if content is not None and sha256(content).hexdigest() == wanted:
                return content
        raise ThzSyncError(
            f"{self.folder / name}: missing or damaged, or of another run: "
            f"it is not what {self.marker} lists; record it anew"
        )

    def contents(self, name: str) -> Iterator[bytes | None]:
        """What the places hold in which the file may be."""
        # It may move from the second place to the first during the search.
        for place in (self.folder, self.waiting, self.folder):
            try:
                yield (place / name).read_bytes()
            except OSError:
                yield None

    def check_seal(self) -> None:
        """Refuse a marker that was changed after it was written, or that lists no files."""
        file, listed = self.folder / self.marker, self.document.get(FILES)
        if not isinstance(listed, dict):
            raise ThzSyncError(f"{file}: lists no files; record it anew")
        if self.document.get(SEAL) != sealed(self.document)[SEAL]:
            raise ThzSyncError(f"{file}: was changed after it was written; record it anew")


def read_marker(text: str | bytes, source: Path) -> dict[str, Any]:
    """The document of a marker."""
    try:
        document = json.loads(text)
    except (RecursionError, ValueError) as error:
        raise ThzSyncError(f"{source}: damaged ({error}); record it anew") from None
    return document if isinstance(document, dict) else {}


def _settle(folder: Path, marker: str) -> None:
    """Move files that the marker lists into place; delete files without a marker."""
    incoming = folder / INCOMING
    if not incoming.is_dir():
        return
    try:
        listed = read_marker((folder / marker).read_text("utf-8"), folder).get(FILES)
    except (OSError, ValueError):
        listed = None
    known = listed if isinstance(listed, dict) else {}
    try:
        for path in sorted(p for p in incoming.rglob("*") if p.is_file()):
            name = path.relative_to(incoming).as_posix()
            if name in known and known[name] == content_digest(path):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                path.replace(folder / name)
        shutil.rmtree(incoming)
    except OSError as error:
        raise ThzSyncError(f"{folder}: cannot be written ({error.strerror})") from None
