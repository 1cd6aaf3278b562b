"""A record in one file, written in one step: complete or absent."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from thzsync.errors import ThzSyncError
from thzsync.files import open_atomically
from thzsync.records.folder import FILES, Files, Record


def write_packed(path: Path, files: Files) -> None:
    """The files in one, uncompressed: tables are compressed already, and made one by one."""
    with open_atomically(path) as file, ZipFile(file, "w") as archive:
        for name, content in files:
            archive.writestr(name, content)


class PackedRecord(Record):
    """A record whose files, its marker among them, lie in one archive; ``folder`` is its path."""

    @classmethod
    def open(cls, file: Path, marker: str) -> PackedRecord:
        """The record in an archive, if it is unchanged."""
        try:
            document = json.loads(_member(file, marker) or b"")
        except (RecursionError, ValueError) as error:
            raise ThzSyncError(f"{file}: damaged ({error}); record it anew") from None
        record = cls(file, marker, document if isinstance(document, dict) else {}, file)
        record.check_seal()
        return record

    def read(self, name: str) -> bytes:
        """The content of a file that the marker lists."""
        content = _member(self.folder, name)
        if content is None or sha256(content).hexdigest() != self.document[FILES].get(name):
            raise ThzSyncError(
                f"{self.folder}: its {name} is missing or damaged, and not what {self.marker} "
                "lists; record it anew"
            )
        return content


def _member(file: Path, name: str) -> bytes | None:
    try:
        with ZipFile(file) as archive:
            return archive.read(name)
    except (BadZipFile, EOFError, KeyError, NotImplementedError, OSError, RuntimeError, ValueError):
        return None
