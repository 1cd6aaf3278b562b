"""A run as tables: their schema, their collection, and a finished run on disk."""

from __future__ import annotations

from thzsync.records.fidelity import Fidelity
from thzsync.records.recorder import SUMMARY, Lists, Recorder
from thzsync.records.run import References, Run
from thzsync.records.schema import TABLES

__all__ = ["SUMMARY", "TABLES", "Fidelity", "Lists", "Recorder", "References", "Run"]
