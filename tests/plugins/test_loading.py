"""Finding and importing plug-ins: once, from three places, with one line where it fails."""

from __future__ import annotations

import copy
import pickle
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.plugins.lab import METHODS, write_lab
from thzsync import Scenario, compare, plugins
from thzsync.errors import ThzSyncError
from thzsync.records.journal import Journal, RunSpec
from thzsync.registry import Registry, only_here
from thzsync.synthesis.registry import METHODS as FAMILY

pytestmark = pytest.mark.usefixtures("nothing_stays_registered")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_module_beside_the_scenario_is_found_again_by_its_folder(here: Path) -> None:
    write_lab(here / "lab")
    scenario = Scenario.load("lab/star.toml")
    assert scenario.plugins == ("lab/star_lab.methods",)
    assert Scenario.load("lab/star.toml") == scenario
    assert FAMILY.origin(("allreduce", "star")) == "star_lab.methods"
    assert FAMILY.origin(("allreduce", "ring")) == "built in"
    (here / "copy.toml").write_text(scenario.to_toml())
    assert Scenario.load("copy.toml") == scenario
    assert pickle.loads(pickle.dumps(scenario)) == copy.deepcopy(scenario) == scenario


def test_a_module_in_the_current_folder_and_of_an_option_need_no_folder(here: Path) -> None:
    write_lab(here)
    scenario = Scenario.load("tiny", ["star_lab.methods"])
    assert scenario.plugins == ("star_lab.methods",)
    assert scenario.with_({"collectives.allreduce": "star"}).plugins == scenario.plugins
    (here / "mine.toml").write_text('preset = "tiny"\nplugins = ["star_lab.methods"]\n')
    assert Scenario.load("mine.toml", ["star_lab.methods"]).digest == scenario.digest


def test_the_digest_counts_files_not_places_and_nothing_without_plugins(here: Path) -> None:
    assert Scenario.preset("tiny").with_(plugins=[]).digest == Scenario.preset("tiny").digest
    write_lab(here / "lab")
    found = Scenario.load("lab/star.toml")
    moved = found.model_copy(update={"plugins": (f"{here}/lab/star_lab.methods",)})
    before = found.digest
    assert moved.digest == before
    plugin = plugins.loaded("star_lab.methods")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(plugins._loaded, plugin.name, replace(plugin, sha256="another"))
        assert found.digest != before
    assert set(plugin.sources) == {
        f"star_lab/{name}.py" for name in ("__init__", "kinds", "methods", "policies")
    }
    assert plugin.version == "1.2"


def test_what_was_sent_is_used_where_there_is_no_such_folder(here: Path) -> None:
    write_lab(here / "lab")
    scenario = Scenario.load("lab/star.toml")
    sent = pickle.dumps(scenario)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugins, "_loaded", {})
        for name in ("star_lab", "star_lab.methods"):
            patch.delitem(sys.modules, name)
        FAMILY.drop("star_lab.methods")
        (here / "lab").rename(here / "gone")
        assert pickle.loads(sent) == scenario
        assert "star" in {name for _, name in FAMILY.known()}
        assert plugins.loaded("star_lab.methods").folder != str(here / "lab")


def test_an_interrupted_run_finds_its_plugins_and_notices_that_they_changed(here: Path) -> None:
    write_lab(here / "lab")
    scenario = Scenario.load("lab/star.toml")
    Journal.begin("run", RunSpec(scenario, "all-wired", 0, 1, {}))
    assert Journal.open("run").spec.scenario == scenario
    known = plugins.loaded("star_lab.methods")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(plugins._loaded, known.name, replace(known, sha256="another"))
        with pytest.warns(UserWarning, match=r"^run: plug-in star_lab\.methods has changed"):
            Journal.open("run")


def test_a_worker_with_other_files_refuses(here: Path) -> None:
    write_lab(here / "lab")
    sent = pickle.dumps(Scenario.load("lab/star.toml"))
    known = plugins.loaded("star_lab.methods")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(plugins._loaded, known.name, replace(known, sha256="another"))
        with pytest.raises(ThzSyncError, match=r"star_lab\.methods: this worker has other files"):
            pickle.loads(sent)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("1 / 0\n", ["ZeroDivisionError", "line 1"]),
        ("x = 1\ndef f(:\n", ["SyntaxError", "line 2"]),
        ("import no_such_module\n", ["no_such_module", "line 1"]),
        (METHODS + "\nraise ValueError('late')\n", ["late"]),
        ("raise SystemExit(3)\n", ["SystemExit"]),
        (METHODS.replace('"star"', '"ring"'), ["'ring' exists already"]),
    ],
)
def test_a_failing_module_is_one_line_with_place_and_cause(
    here: Path, source: str, named: list[str]
) -> None:
    (here / "broken_lab.py").write_text(source)
    (here / "s.toml").write_text('preset = "tiny"\nplugins = ["broken_lab"]\n')
    before = {family.noun: dict(family.registered) for family in Registry.families}
    with pytest.raises(ThzSyncError) as error:
        Scenario.load("s.toml")
    (line,) = error.value.lines
    for part in ("s.toml", "plugins", "broken_lab", *named):
        assert part in line
    assert before == {family.noun: dict(family.registered) for family in Registry.families}


def test_a_mended_package_can_be_tried_again(here: Path) -> None:
    write_lab(here)
    broken = here / "star_lab/all.py"
    broken.write_text("import star_lab.methods\nimport star_lab.kinds\n1 / 0\n")
    with pytest.raises(ThzSyncError, match="ZeroDivisionError"):
        Scenario.load("tiny", ["star_lab.all"])
    assert ("allreduce", "star") not in FAMILY.known()
    broken.write_text("import star_lab.methods\nimport star_lab.kinds\n")
    assert Scenario.load("tiny", ["star_lab.all"]).with_({"collectives.allreduce": "star"})
    assert FAMILY.origin(("allreduce", "star")) == "star_lab.all"


@pytest.mark.parametrize("entry", ["no_such_lab", "no_lab.methods", "some/no_lab"])
def test_a_missing_module_names_the_option(entry: str) -> None:
    with pytest.raises(ThzSyncError, match=r"^--plugin: .*no_.*lab"):
        Scenario.load("tiny", [entry])


@pytest.mark.parametrize("entry", ["methods.py", "a b", "", "lab/"])
def test_what_is_no_modules_name_is_refused(entry: str) -> None:
    with pytest.raises(ThzSyncError, match="name a module"):
        Scenario.preset("tiny").with_(plugins=[entry])


def test_a_list_is_asked_for() -> None:
    with pytest.raises(ThzSyncError, match=r"plugins: .*list"):
        Scenario.preset("tiny").with_(plugins="my_lab")


def test_two_modules_of_one_name_are_not_mixed_up(here: Path) -> None:
    for folder in ("a", "b"):
        write_lab(here / folder)
    Scenario.load("a/star.toml")
    with pytest.raises(ThzSyncError, match="in use already"):
        Scenario.load("b/star.toml")


def test_one_folder_may_be_written_in_several_ways(here: Path) -> None:
    write_lab(here / "lab")
    for entry in ("lab/star_lab.methods", "lab/../lab/star_lab.methods", "./lab/star_lab.methods"):
        scenario = Scenario.load("tiny", [entry])
        assert scenario.digest == Scenario.load("tiny", ["lab/star_lab.methods"]).digest


def test_a_folder_without_the_module_is_named(here: Path) -> None:
    with pytest.raises(ThzSyncError, match="no module star_lab in some/folder or beside"):
        Scenario.load("tiny", ["some/folder/star_lab.methods"])


def test_what_is_registered_in_this_process_only_is_said_so_by_workers(here: Path) -> None:
    exec(compile(METHODS, "page", "exec", dont_inherit=True), {"__name__": "a_notebook"})
    assert ("method", ("allreduce", "star"), "a_notebook") in only_here(())
    scenario = Scenario.preset("tiny").with_({"collectives.allreduce": "star"})
    assert compare(scenario, ["all-wired"], seeds=1, iterations=1, workers=1).seeds == (0,)
    with pytest.raises(ThzSyncError, match=r"'star' is registered .*a_notebook"):
        compare(scenario, ["all-wired"], seeds=2, iterations=1, workers=2)
