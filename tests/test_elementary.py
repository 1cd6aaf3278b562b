from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import thzsync
from thzsync import elementary
from thzsync.elementary import kernels, product

ROOMS = (
    "channel", "coordinator", "execution", "optical", "simulation", "synthesis", "transfers",
    "wireless", "workload",
)  # fmt: skip
"""What a run's numbers come from."""
SUITS_THE_PROCESSOR = re.compile(
    r"np\.(log|log2|log10|log1p|exp|exp2|expm1|power|sin|cos|tan|tanh|dot|matmul|einsum|vdot|inner)\("
    r"|np\.linalg\.(?!norm\(.*axis)|[\w)\]] @ [\w(]"
)
"""NumPy's own versions; a norm along an axis is a plain sum."""
FINE = (
    "reached = reached @ reached",  # of true and false
    "return np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))",  # for pictures
    "occupancy, energy = (limits.T @",  # SciPy's sparse products are plain loops
    "return occupancy, energy, _sparse(",
)
LEARN = """
import sys
from safetensors import safe_open
from thzsync import Scenario, simulate
from thzsync.coordinator import make_policy, save_policy
from thzsync.streams import Streams
tiny = Scenario.preset("tiny")
for name in ("shared-bandit", "ddqn"):
    policy = make_policy(name, tiny, Streams(3))
    simulate(tiny, policy, 3, seed=3, references={"p2p": (1e-3, 1.0), "a2a": (1e-3, 1.0)})
    save_policy(policy, sys.argv[1])
    print(name, safe_open(sys.argv[1], "numpy").metadata()["sha256"])
"""


@pytest.mark.parametrize("name", ["log2", "log10", "log1p"])
def test_every_element_is_what_the_c_library_says(name: str) -> None:
    x = np.random.default_rng(0).uniform(0.0, 30.0, (40, 5))
    found = getattr(elementary, name)(x)
    assert found.tolist() == [[getattr(math, name)(one) for one in row] for row in x.tolist()]


def test_ten_to_a_power_is_what_the_c_library_says() -> None:
    x = np.random.default_rng(1).uniform(-30.0, 30.0, 100)
    assert elementary.ten_to(x).tolist() == [math.pow(10.0, one) for one in x.tolist()]


@pytest.mark.parametrize("compiled", [True, False])
def test_a_dead_link_has_minus_infinitely_many_decibels(
    compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiled:
        monkeypatch.setattr(kernels, "fill", getattr(kernels.fill, "py_func", kernels.fill))
    assert elementary.log10(np.array([0.0, 100.0])).tolist() == [-math.inf, 2.0]
    assert elementary.log2(np.array([0.0, 8.0])).tolist() == [-math.inf, 3.0]
    assert elementary.log1p(np.array([-1.0, 0.0])).tolist() == [-math.inf, 0.0]


def test_numbers_and_columns_keep_their_shape() -> None:
    assert elementary.log2(8) == 3.0
    assert elementary.log2(8).shape == ()
    column = np.asfortranarray(np.full((3, 2), 4.0))[:, :1]
    assert elementary.log2(column).tolist() == [[2.0], [2.0], [2.0]]


@pytest.mark.parametrize(
    ("left", "right"), [((3, 4), (4, 2)), ((4,), (4, 2)), ((3, 4), (4,)), ((4,), (4,))]
)
def test_a_product_is_numpys_but_for_rounding(
    left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    draw = np.random.default_rng(2)
    a, b = draw.normal(size=left), draw.normal(size=right)
    assert np.shape(product(a, b)) == np.shape(a @ b)
    assert product(a, b) == pytest.approx(a @ b, abs=1e-14)


def test_a_product_adds_from_first_to_last() -> None:
    assert product(np.array([1e16, 1.0, -1e16]), np.ones(3)) == 0.0
    assert product(np.array([1e16, -1e16, 1.0]), np.ones(3)) == 1.0


def test_no_number_of_a_run_comes_from_a_function_that_suits_the_processor() -> None:
    root = Path(thzsync.__file__).parent
    found = [
        f"{file.relative_to(root)}:{number}: {line.strip()}"
        for file in (
            root / "topology.py",
            *(f for r in ROOMS for f in sorted((root / r).rglob("*.py"))),
        )
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if SUITS_THE_PROCESSOR.search(line.split("#")[0])
        and not line.strip().startswith(('"""', *FINE))
    ]
    assert found == []


def test_learners_learn_the_same_on_another_processor(tmp_path: Path) -> None:
    """An old processor is made up: without newer vector instructions, and with other products."""
    old = {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4"}
    learnt = [
        subprocess.run(
            [sys.executable, "-c", LEARN, str(tmp_path / "policy")],
            env=os.environ | more,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for more in ({}, old)
    ]
    assert learnt[0] == learnt[1]
    assert "ddqn" in learnt[0]
