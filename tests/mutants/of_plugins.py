"""Mutants of plug-ins: who runs which code, and whether a change of it is noticed."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

LOADING = "tests/plugins/test_loading.py"

MUTANTS = (
    Mutant(
        "thzsync.plugins",
        "receive",
        "_loaded[plugin.name].sha256 != plugin.sha256",
        "_loaded[plugin.name].version != plugin.version",
        (f"{LOADING}::test_a_worker_with_other_files_refuses",),
        "a worker runs another plug-in than it was sent",
    ),
    Mutant(
        "thzsync.scenario.scenario",
        "Scenario.digest",
        'of["sha256"]',
        'of["version"]',
        (f"{LOADING}::test_the_digest_counts_files_not_places_and_nothing_without_plugins",),
        "a study takes results of an older plug-in for finished",
    ),
    Mutant(
        "thzsync.plugins",
        "_import",
        "family.drop(name)",
        "pass",
        (f"{LOADING}::test_a_mended_package_can_be_tried_again",),
        "what a failed plug-in registered stays",
    ),
)
