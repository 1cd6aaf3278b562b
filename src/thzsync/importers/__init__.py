"""Traces of other tools: read, matched across ranks, placed on racks."""

from __future__ import annotations

from thzsync.importers.imported import Imported, import_trace
from thzsync.importers.importer import (
    Importer,
    ReadOptions,
    find_importer,
    importer_names,
    register_importer,
)
from thzsync.importers.placement import Placement
from thzsync.importers.ranks import Call, Message, Operation, Recording, Spot, Work
from thzsync.importers.rescale import Rescaling

__all__ = [
    "Call",
    "Imported",
    "Importer",
    "Message",
    "Operation",
    "Placement",
    "ReadOptions",
    "Recording",
    "Rescaling",
    "Spot",
    "Work",
    "find_importer",
    "import_trace",
    "importer_names",
    "register_importer",
]
