"""Chakra execution traces (protocol buffers, one file per rank): read and written."""

from __future__ import annotations

from thzsync.importers.chakra.export import export_chakra
from thzsync.importers.chakra.importer import ChakraImporter

__all__ = ["ChakraImporter", "export_chakra"]
