"""Every built-in method conforms, and methods are found by name."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.reference.tensors import execute
from thzsync.arrays import IntArray
from thzsync.collectives import Demand, Tensor, Transfer, find_collective
from thzsync.errors import ThzSyncError
from thzsync.scenario import Thz
from thzsync.synthesis import (
    BUILT_IN,
    FlowMethod,
    Method,
    Setting,
    find_method,
    method_names,
    registry,
)
from thzsync.synthesis.conformance import check_method
from thzsync.synthesis.exchanges import FreeTransfers
from thzsync.transfers import TransferGraph

EVERY = pytest.mark.parametrize("method", BUILT_IN, ids=lambda m: f"{m.collective}-{m.name}")


def full_a2a(racks: int) -> Transfer:
    src, dst = np.nonzero(~np.eye(racks, dtype=np.bool_))
    return Transfer.of(src, dst, 100 + np.arange(len(src)))


class TestConformance:
    """The family's one suite; third parties call ``check_method`` themselves."""

    @EVERY
    def test_plans_keep_the_collectives_meaning(self, method: Method) -> None:
        assert check_method(method) > 60

    @EVERY
    def test_real_tensors_come_out_right_in_any_order_the_plan_allows(self, method: Method) -> None:
        generator = np.random.default_rng(3)
        takes = find_collective(method.collective)
        tensor = Tensor(5000, root=2 if takes.rooted else None)
        demand = tensor if takes.demand is Tensor else full_a2a(5)
        offer = method.offer(demand, np.arange(5), 300, Setting.flat(5, Thz()))
        for _ in range(3):
            execute(offer.lower(generator.integers(0, offer.chunks + 1)), generator)

    @EVERY
    def test_the_wrong_demand_is_refused_in_words(self, method: Method) -> None:
        takes = find_collective(method.collective).demand
        wrong = Transfer.of([0], [1], [1]) if takes is Tensor else Tensor(1)
        with pytest.raises(ThzSyncError, match=rf"{method.collective} .*\b{takes.__name__}"):
            method.offer(wrong, np.arange(2), 1, Setting.flat(2, Thz()))


def test_contract_names_are_there_in_order() -> None:
    assert method_names("p2p") == ["proposed", "striped"]
    assert method_names("a2a") == [
        "proposed",
        "demand-sorted",
        "cyclic",
        "no-channel",
        "equal-power",
        "sustained",
        "sustained-relayed",
    ]
    assert method_names("allreduce") == [
        "proposed",
        "ring",
        "ring-duplex",
        "single-tree",
        "no-channel",
        "equal-power",
        "path",
        "streamed",
        "streamed-and-ring",
    ]


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ThzSyncError, match=r"'trees'.*proposed, ring"):
        find_method("allreduce", "trees")


def test_a_transfer_outside_the_events_racks_is_refused() -> None:
    with pytest.raises(ThzSyncError, match="rack 0 -> rack 7"):
        find_method("a2a", "proposed").offer(
            Transfer.of([0], [7], [1]), np.arange(3), 1, Setting.flat(3, Thz())
        )


@dataclass(frozen=True)
class _EntryPoint:
    name: str
    thing: object

    def load(self) -> object:
        return self.thing


def install(monkeypatch: pytest.MonkeyPatch, thing: object) -> None:
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: [_EntryPoint("mine", thing)]
    )
    registry.METHODS.forget()


@pytest.fixture
def fresh_registry() -> object:
    registry.METHODS.forget()
    yield
    registry.METHODS.forget()


@pytest.mark.usefixtures("fresh_registry")
class TestEntryPoints:
    mine = FlowMethod("a2a", "mine", FreeTransfers("a2a"), "matching")

    def test_a_package_can_add_a_method(self, monkeypatch: pytest.MonkeyPatch) -> None:
        install(monkeypatch, self.mine)
        assert find_method("a2a", "mine") is self.mine
        assert method_names("a2a")[-1] == "mine"

    def test_but_not_under_a_name_that_is_taken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        install(monkeypatch, replace(self.mine, name="cyclic"))
        with pytest.raises(ThzSyncError, match="'cyclic'"):
            method_names("a2a")

    def test_and_nothing_but_a_method(self, monkeypatch: pytest.MonkeyPatch) -> None:
        install(monkeypatch, 42)
        with pytest.raises(ThzSyncError, match="found int"):
            method_names("a2a")


class _Forgetful:
    """Loses the last flow."""

    def plan(
        self, demand: Demand, racks: IntArray, chunk_bytes: int, setting: Setting
    ) -> TransferGraph:
        assert isinstance(demand, Transfer)
        keep = np.flatnonzero(demand.size_bytes)[:-1]
        less = Transfer.of(demand.src[keep], demand.dst[keep], demand.size_bytes[keep])
        plan = FreeTransfers("a2a").plan(less, racks, chunk_bytes, setting)
        return replace(plan, demand=demand, block=keep)


def test_conformance_sees_a_method_that_loses_a_flow() -> None:
    with pytest.raises(ThzSyncError, match="a2a"):
        check_method(FlowMethod("a2a", "forgetful", _Forgetful(), "matching"))
