"""Every fuzzer by name, and how many inputs it tries."""

from __future__ import annotations

from typing import NamedTuple

from tests.fuzz.folders import try_folder
from tests.fuzz.gains import try_gains
from tests.fuzz.harness import Case
from tests.fuzz.kills import COMMANDS, killing
from tests.fuzz.networks import try_network
from tests.fuzz.policies import try_policy
from tests.fuzz.radios import try_radio
from tests.fuzz.scenarios import try_scenario
from tests.fuzz.topologies import try_topology
from tests.fuzz.traces import try_trace


class Fuzzer(NamedTuple):
    """A case and the sizes of its small and its full sample."""

    case: Case
    few: int
    many: int
    simulates: bool = True
    """Whether kernels should be compiled before its time is measured."""


FUZZERS = {
    "scenarios": Fuzzer(try_scenario, 60, 20_000),
    "traces": Fuzzer(try_trace, 60, 5_000),
    "gains": Fuzzer(try_gains, 200, 5_000, simulates=False),
    "policies": Fuzzer(try_policy, 60, 5_000),
    "folders": Fuzzer(try_folder, 60, 5_000),
    "networks": Fuzzer(try_network, 40, 2_000),
    "radios": Fuzzer(try_radio, 40, 5_000),
    "topologies": Fuzzer(try_topology, 300, 2_000, simulates=False),
    **{f"kill-{name}": Fuzzer(killing(name), 0, 50, simulates=False) for name in COMMANDS},
}
