"""Gymnasium finds the environment by its id; who does not use it never pays for it."""

from __future__ import annotations

import subprocess
import sys


def fresh(code: str) -> subprocess.CompletedProcess[str]:
    """What a new interpreter makes of some lines."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_gymnasium_makes_it_by_id_without_anything_imported_before() -> None:
    run = fresh(
        "import gymnasium\n"
        "env = gymnasium.make('thzsync.gym:thzsync/Collectives-v0', scenario='tiny')\n"
        "observation, info = env.reset(seed=0)\n"
        "print(env.spec.id, info['collective'], observation in env.observation_space)\n"
    )
    assert run.stderr == ""
    assert run.stdout.split() == ["thzsync/Collectives-v0", "p2p", "True"]


def test_after_an_import_the_id_alone_is_enough() -> None:
    run = fresh(
        "import gymnasium, thzsync.gym\n"
        "gymnasium.register_envs(thzsync.gym)\n"
        "print(gymnasium.make(thzsync.gym.ID, scenario='tiny').spec.id)\n"
    )
    assert run.stderr == ""
    assert run.stdout.strip() == "thzsync/Collectives-v0"


def test_nothing_else_in_the_package_imports_gymnasium() -> None:
    run = fresh(
        "import sys, thzsync\n"
        "for name in thzsync.__all__: getattr(thzsync, name)\n"
        "thzsync.simulate('tiny', 'fixed-ratio', 1, references={})\n"
        "print('gymnasium' in sys.modules)\n"
    )
    assert run.stdout.strip() == "False", run.stderr


def test_without_gymnasium_one_line_names_the_extra() -> None:
    run = fresh(
        "import sys\n"
        "sys.modules['gymnasium'] = None\n"
        "from thzsync import ThzSyncError\n"
        "try:\n    import thzsync.gym\nexcept ThzSyncError as error: print(error)\n"
    )
    assert run.stderr == ""
    assert "`pip install 'thzsync[rl]'`" in run.stdout
    assert run.stdout.count("\n") == 1
