"""Profiles of PyTorch (Kineto, one JSON file per rank)."""

from __future__ import annotations

from thzsync.importers.kineto.importer import KinetoImporter

__all__ = ["KinetoImporter"]
