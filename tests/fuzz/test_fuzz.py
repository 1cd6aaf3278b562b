"""Random and hostile inputs, and kills at random instants: no traceback, no hang, nothing lost.

``make test`` tries a small sample of fixed seeds; the slow test tries thousands more.
``python -m tests.fuzz NAME`` runs one fuzzer alone.
"""

from __future__ import annotations

import pytest

from tests.fuzz.catalogue import FUZZERS
from tests.fuzz.harness import fuzz

SLICES = 10
"""The full sample is cut into so many tests, so that they share the processors."""


@pytest.mark.parametrize("name", [name for name, fuzzer in FUZZERS.items() if fuzzer.few])
def test_a_sample_of_bad_inputs_causes_no_traceback(name: str) -> None:
    fuzzer = FUZZERS[name]
    outcomes = fuzz(fuzzer.case, range(fuzzer.few), fuzzer.simulates)
    assert set(outcomes) > {"refused"}, "some inputs must be refused and some accepted"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(SLICES))
@pytest.mark.parametrize("name", FUZZERS)
def test_thousands_of_bad_inputs_cause_no_traceback(name: str, part: int) -> None:
    fuzzer = FUZZERS[name]
    outcomes = fuzz(fuzzer.case, range(part, fuzzer.many, SLICES), fuzzer.simulates)
    print(name, dict(outcomes))
    assert set(outcomes) - {"refused"}
