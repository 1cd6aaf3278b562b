"""Conformance suites: run the one of its family on whatever you add, before you publish it.

Each takes the object, tries it on many small cases, raises a :class:`thzsync.ThzSyncError` with the
first rule that it breaks, and returns how much it looked at.
"""

from thzsync.importers.conformance import check_importer
from thzsync.synthesis.conformance import check_method
from thzsync.testing.carriers import check_carrier
from thzsync.testing.collectives import check_collective
from thzsync.testing.disciplines import check_discipline
from thzsync.testing.policies import check_policy
from thzsync.testing.sections import (
    check_antenna,
    check_floor,
    check_network,
    check_path_loss,
    check_rate_law,
    check_workload,
)

__all__ = [
    "check_antenna",
    "check_carrier",
    "check_collective",
    "check_discipline",
    "check_floor",
    "check_importer",
    "check_method",
    "check_network",
    "check_path_loss",
    "check_policy",
    "check_rate_law",
    "check_workload",
]
