"""The project's metadata is standard and complete, so that pip, uv and others need no help."""

from __future__ import annotations

import re
import subprocess
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from thzsync.version import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NEEDED = {
    "name",
    "description",
    "readme",
    "requires-python",
    "license",
    "license-files",
    "keywords",
    "classifiers",
    "dependencies",
    "optional-dependencies",
    "scripts",
}


def distribution(requirement: str) -> str:
    """The name of what is required, as indexes spell it."""
    (name,) = re.match(r"([\w.-]+)", requirement).groups()  # type: ignore[union-attr]
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned() -> set[str]:
    lines = (ROOT / "constraints.txt").read_text().split()
    assert all(line.count("==") == 1 for line in lines), "a constraint is an exact version"
    return {distribution(line) for line in lines}


def test_the_metadata_is_complete() -> None:
    assert PROJECT.keys() >= NEEDED
    assert PROJECT["dynamic"] == ["version"]
    for file in (PROJECT["readme"], *PROJECT["license-files"]):
        assert (ROOT / file).is_file()


def test_the_version_is_one_that_installers_can_order() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc|\.dev)\d+)?", __version__)


def test_the_citation_names_the_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [__version__]


def test_every_page_and_every_example_is_listed_where_readers_look_first() -> None:
    index = (ROOT / "docs/index.md").read_text("utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert {page for page in pages if f"({page})" not in index} == set()
    listed = (ROOT / "examples/README.md").read_text("utf-8")
    examples = {path.name for path in (ROOT / "examples").iterdir()} - {"README.md"}
    assert {name for name in examples if f"({name})" not in listed} == set()


@pytest.mark.parametrize("target", ["test", "verify"])
def test_make_says_before_the_tests_that_some_need_a_browser(target: str) -> None:
    """Without one they skip, which pytest says at its end alone."""
    steps = ["make", "-n", target, "PYTHON=true"]
    lines = subprocess.run(steps, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    said, tested = (lines.index(word) for word in ("will skip", "-m pytest"))
    assert said < tested


def test_every_requirement_has_a_range_and_a_tested_version() -> None:
    extras = PROJECT["optional-dependencies"]
    required = [*PROJECT["dependencies"], *(r for extra in extras.values() for r in extra)]
    assert all(">=" in requirement for requirement in required)
    assert {distribution(requirement) for requirement in required} <= pinned()


def test_every_script_can_be_called() -> None:
    for target in PROJECT["scripts"].values():
        module, _, function = target.partition(":")
        assert callable(getattr(import_module(module), function))


def test_every_extra_that_the_makefile_installs_is_declared() -> None:
    wanted = re.findall(r"'\.\[(\w+)\]'", (ROOT / "Makefile").read_text())
    assert wanted
    assert set(wanted) <= PROJECT["optional-dependencies"].keys()


def test_make_run_asks_before_it_makes_the_page_that_shows_the_answers() -> None:
    recipe = (ROOT / "Makefile").read_text().split("\nrun:")[1].split("\n\n")[0].splitlines()
    asked = [place for place, line in enumerate(recipe) if "thzsync ask" in line]
    (page,) = (place for place, line in enumerate(recipe) if "thzsync report" in line)
    assert asked
    assert max(asked) < page
    assert recipe[page].endswith("> /dev/null")  # the answers stay the last thing on the screen
