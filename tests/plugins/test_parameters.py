"""What is found by name may have keys of its own in a scenario."""

from __future__ import annotations

import pickle
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.lab import write_lab
from thzsync import Scenario, plugins, simulate
from thzsync.errors import ThzSyncError
from thzsync.scenario.base import Count, Model
from thzsync.scenario.described import json_schema
from thzsync.scenario.files import build_scenario
from thzsync.scenario.starter import starter
from thzsync.synthesis import find_method
from thzsync.synthesis.conformance import check_method
from thzsync.wireless import register_discipline
from thzsync.wireless.disciplines import Rounds


@pytest.fixture(autouse=True)
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nothing_stays_registered: None) -> None:
    monkeypatch.chdir(tmp_path)
    write_lab(tmp_path)


def of(**sections: Any) -> Scenario:
    raw = {"preset": "tiny", "plugins": ["star_lab.methods"], "parameters": sections}
    return build_scenario(raw | {"collectives": {"allreduce": "star"}}, "test")


def hubs(scenario: Scenario) -> set[int]:
    """Racks that send to more than one other in an AllReduce."""
    run = simulate(scenario, "all-wired", 1, references={})
    of_star = run.flows.join(run.events.filter(kind="allreduce"), on="number", how="semi")
    pairs = of_star.select("src", "dst").unique().group_by("src").len()
    return set(pairs.filter(pairs["len"] > 1)["src"].to_list())


def test_a_method_gets_its_section_or_its_defaults() -> None:
    best, worst = of(), of(star={"worst": True})
    assert hubs(best) == hubs(of(star={"worst": False}))
    assert hubs(worst)
    assert hubs(worst).isdisjoint(hubs(best))
    assert check_method(find_method("allreduce", "star")) > 60


def test_sections_come_back_from_files_pickles_and_changes_and_count_in_the_digest() -> None:
    scenario = of(star={"worst": True})
    assert build_scenario(tomllib.loads(scenario.to_toml()), "again") == scenario
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    assert of().with_({"parameters.star.worst": True}) == of(star={"worst": True})
    assert scenario.digest != of().digest
    assert of().with_(parameters={}).digest == of().digest


@pytest.mark.parametrize(
    ("sections", "named"),
    [
        ({"star": {"wurst": 1}}, "parameters.star.wurst: unknown key; did you mean 'worst'"),
        ({"star": {"unused": 0}}, "parameters.star.unused: found 0;"),
        ({"star": 3}, "parameters.star: found 3; write a table"),
        ({"stars": {}}, "parameters.stars: did you mean 'star'"),
        ({"other": {}}, "parameters.other: there are some for star"),
    ],
)
def test_mistakes_name_section_and_key(sections: dict[str, Any], named: str) -> None:
    with pytest.raises(ThzSyncError) as error:
        of(**sections)
    (line,) = error.value.lines
    assert named in line


def test_starters_and_editors_know_them() -> None:
    plugins.load(["star_lab.methods"], "test")
    text = starter("tiny", ["star_lab.methods"])
    for shown in ("# [parameters.star]", "# worst = false", "worst connected", "# unused = 7"):
        assert shown in text
    keys = json_schema()["properties"]["parameters"]["properties"]["star"]["properties"]
    assert keys["worst"]["description"].startswith("Whether the worst")


class Needed(Model):
    """Keys without defaults."""

    steps: Count
    """Must be given."""


@dataclass(frozen=True)
class Mine(Rounds):
    """A discipline that notes what it was given."""

    name: str = "mine"
    parameters: type[Model] = Needed
    seen: list[int] = field(default_factory=list, compare=False)

    def tune(self, group: Any) -> None:
        self.seen.append(group.parameters.steps)
        super().tune(group)


def test_a_discipline_finds_its_section_in_the_group_and_a_missing_key_is_one_line() -> None:
    from thzsync.synthesis import FlowMethod, register_method
    from thzsync.synthesis.exchanges import FreeTransfers

    mine = register_discipline(Mine())
    register_method(FlowMethod("a2a", "mine", FreeTransfers("a2a"), "mine"))
    raw = {"preset": "tiny", "collectives": {"a2a": "mine"}}
    simulate(build_scenario(raw | {"parameters": {"mine": {"steps": 3}}}, "test"), "fixed-ratio", 1)
    assert set(mine.seen) == {3}  # type: ignore[attr-defined]
    with pytest.raises(ThzSyncError, match=r"^parameters\.mine\.steps: this key is required$"):
        simulate(build_scenario(raw, "test"), "fixed-ratio", 1)
