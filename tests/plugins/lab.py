"""A small package that is installed nowhere, and a scenario beside it that names it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.studies.sweeps import THZSYNC, environment

METHODS = '''
"""An AllReduce on a star: all racks send to the best connected one, which adds and sends back."""
import numpy as np

from thzsync.synthesis import FlowMethod, register_method
from thzsync.transfers import Flow, graph_of


class Star:
    def plan(self, demand, racks, chunk_bytes, setting):
        size, flows = demand.tensor_bytes, []
        if size and len(racks) > 1:
            centre = int(np.argmax(setting.gains.mean(axis=2).sum(axis=1)))
            hub, others = int(racks[centre]), [int(rack) for rack in np.delete(racks, centre)]
            up = [Flow(rack, hub, size, reduces=True) for rack in others]
            flows = up + [Flow(hub, rack, size, after=tuple(range(len(up)))) for rack in others]
        return graph_of("allreduce", demand, racks, chunk_bytes, flows)


register_method(FlowMethod("allreduce", "star", Star(), "assignment", "one hub for everything"))
'''
SCENARIO = """
preset = "tiny"
name = "star"
plugins = ["star_lab.methods"]

[collectives]
allreduce = "star"
"""


def write_lab(folder: Path) -> Path:
    """The package and the scenario in a folder; the scenario."""
    package = folder / "star_lab"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "1.2"\n')
    (package / "methods.py").write_text(METHODS)
    scenario = folder / "star.toml"
    scenario.write_text(SCENARIO)
    return scenario


def thzsync(folder: Path, *arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own; ``-P`` keeps the current folder off Python's path."""
    command = [THZSYNC[0], "-P", *THZSYNC[1:], *arguments]
    found = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert found.returncode == status, found.stderr
    return found
