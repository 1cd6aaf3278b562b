"""Random and hostile inputs: no traceback, no hang, only `ThzSyncError`.

``make test`` tries a small sample of fixed seeds; the slow test tries thousands more.
"""

from __future__ import annotations

import pytest

from tests.fuzz.gains import try_gains
from tests.fuzz.harness import Case, fuzz
from tests.fuzz.policies import try_policy
from tests.fuzz.scenarios import try_scenario
from tests.fuzz.traces import try_trace

CASES: dict[str, tuple[Case, int, int]] = {
    "scenarios": (try_scenario, 60, 3000),
    "traces": (try_trace, 60, 3000),
    "gains": (try_gains, 200, 5000),
    "policies": (try_policy, 60, 3000),
}
"""The case, the size of the small sample, and that of the large one."""


@pytest.mark.parametrize("name", CASES)
def test_a_sample_of_bad_inputs_causes_no_traceback(name: str) -> None:
    case, few, _ = CASES[name]
    outcomes = fuzz(case, range(few))
    assert set(outcomes) > {"refused"}, "some inputs must be refused and some accepted"


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_thousands_of_bad_inputs_cause_no_traceback(name: str) -> None:
    case, few, many = CASES[name]
    outcomes = fuzz(case, range(few, many))
    print(name, dict(outcomes))
    assert set(outcomes) > {"refused"}
