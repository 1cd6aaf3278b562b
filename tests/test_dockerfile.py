"""The Dockerfile, as far as it can be checked without Docker: read, linted, its commands run."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import pytest

from thzsync.cli import main

ROOT = Path(__file__).parents[1]
KNOWN = {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "ENTRYPOINT", "CMD"}
BUILD_ONLY = ("pip", "useradd", "install", "chmod", "rm")
"""What only the builder can do; the rest is ours and must work."""


class Instruction(NamedTuple):
    """One line of a Dockerfile, continuations joined."""

    keyword: str
    arguments: str


def instructions() -> list[Instruction]:
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [Instruction(*line.split(None, 1)) for line in lines]


def of(keyword: str) -> list[str]:
    return [i.arguments for i in instructions() if i.keyword == keyword]


def commands() -> list[list[str]]:
    return [shlex.split(part) for run in of("RUN") for part in run.split("&&")]


def test_every_instruction_is_known_and_from_comes_first() -> None:
    found = [i.keyword for i in instructions()]
    assert set(found) <= KNOWN
    assert found[0] == "FROM"
    assert found.count("FROM") == 1


def test_the_base_image_has_the_tested_python() -> None:
    (base,) = of("FROM")
    tested = re.search(r"python:(\d+\.\d+)-slim-\w+$", base)
    assert tested, "name a Python and a distribution: a moving tag builds another image tomorrow"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"Programming Language :: Python :: {tested[1]}" in project["classifiers"]


def test_packages_are_installed_at_the_pinned_versions_only() -> None:
    installs = [command for command in commands() if command[0] == "pip"]
    assert installs == [["pip", "install", "--no-cache-dir", "-c", "constraints.txt", "."]]


def test_what_is_copied_exists_and_is_not_ignored() -> None:
    rules = (ROOT / ".dockerignore").read_text().split()
    for sources in (line.split()[:-1] for line in of("COPY")):
        for source in sources:
            assert (ROOT / source).exists(), source
            verdicts = [not r.startswith("!") for r in rules if fnmatch(source, r.lstrip("!"))]
            assert verdicts[-1] is False, f"{source} is ignored"


def test_all_that_the_build_needs_is_copied() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    copied = {name for line in of("COPY") for name in line.split()[:-1]}
    needed = {project["project"]["readme"], *project["project"]["license-files"]}
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert needed | {Path(package).parts[0] for package in packages} <= copied


def test_the_image_runs_without_privileges_and_gets_signals() -> None:
    assert of("USER") == ["thzsync"]
    for line in (*of("ENTRYPOINT"), *of("CMD")):
        assert isinstance(json.loads(line), list), "the shell form would swallow Ctrl-C"


def test_the_commands_of_the_build_and_of_the_image_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = [command for command in commands() if command[0] not in BUILD_ONLY]
    started = json.loads(of("ENTRYPOINT")[0]) + json.loads(of("CMD")[0])
    assert len(ours) == 2
    for command in (*ours, started):
        assert command[0] == "thzsync"
        arguments = [part.replace("/tmp/", f"{tmp_path}/") for part in command[1:]]
        assert main(arguments) == 0, capsys.readouterr().err
