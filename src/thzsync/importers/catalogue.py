"""The importers of the package, in the order in which ``auto`` tries them."""

from __future__ import annotations

from typing import Final

from thzsync.importers.chakra import ChakraImporter
from thzsync.importers.importer import Importer
from thzsync.importers.kineto import KinetoImporter
from thzsync.importers.simai import SimAiImporter
from thzsync.importers.timings import TimingsImporter

BUILT_IN: Final[tuple[Importer, ...]] = (
    TimingsImporter(),
    KinetoImporter(),
    SimAiImporter(),
    ChakraImporter(),
)
