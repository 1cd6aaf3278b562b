"""The project's metadata is standard and complete, so that pip, uv and others need no help."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path

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
