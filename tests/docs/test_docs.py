"""Every code block of README and docs runs, and every place they name exists."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
import types
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, Block, alike, blocks
from thzsync.cli import main
from thzsync.plugins import families

MOST_NOT_RUN = 10
SLOW = (
    "make",
    "git",
    "pip",
    "uv",
    "docker",
    "thzsync ask paper",
    "thzsync reproduce",
    "thzsync bench",
    "python -m thzsync.report",
    "python examples/traces",
    "python examples/agents",
)
"""What a block that is not run may consist of."""

TEXT = {page: (ROOT / page).read_text("utf-8") for page in PAGES}


def run_python(block: Block, page: str, module: types.ModuleType) -> None:
    padding = "\n" * (block.line - 1)  # so that a traceback names the line in the page
    exec(compile(padding + block.text, page, "exec"), module.__dict__)


def run_console(block: Block, page: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command, shown in block.commands():
        place = f"{page}:{block.line}: {' '.join(command)}"
        assert command[0] == "thzsync", f"{place}: only thzsync can be run here"
        capsys.readouterr()
        status = main(command[1:])
        captured = capsys.readouterr()
        printed = captured.out + captured.err
        # A page may show an error; then the command must fail as shown.
        expected = 2 if any(line.startswith("thzsync: error:") for line in shown) else 0
        assert status == expected, f"{place}: exit status {status}\n{printed}"
        for line in shown:
            if line.strip() and line.strip() != "...":
                found = any(alike(line, candidate) for candidate in printed.splitlines())
                assert found, f"{place}: does not print\n{line}\nbut\n{printed}"


@pytest.mark.usefixtures("nothing_stays_registered")  # examples/extending registers the same
@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_runs(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    for block in blocks(TEXT[page]):
        if block.file is not None:
            file = tmp_path / block.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, "utf-8")
            if block.language == "python":
                continue  # a module, for whoever imports it
        if not block.run:
            continue
        if block.language == "python":
            run_python(block, page, module)
        elif block.language == "console":
            run_console(block, page, capsys)
        elif block.language == "toml":
            tomllib.loads(block.text)


def test_an_invented_number_or_word_in_shown_output_is_found() -> None:
    assert alike("done after 76.193 ms", "  done  after 76.5 ms")
    assert not alike("done after 76.193 ms", "done after 96.193 ms")
    assert not alike("done after 76.193 ms", "ended after 76.193 ms")


def test_few_blocks_are_left_out_and_only_slow_ones() -> None:
    left_out = [(page, b) for page in PAGES for b in blocks(TEXT[page]) if not b.run]
    assert len(left_out) <= MOST_NOT_RUN
    for page, block in left_out:
        for command, _ in block.commands():
            line = " ".join(command)
            assert line.startswith(SLOW), f"{page}:{block.line}: {line} could be run"


def functions_in(path: Path) -> set[str]:
    """Top-level functions and classes, and methods as Class.method."""
    found = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{f.name}" for f in node.body if isinstance(f, ast.FunctionDef)}
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {t.id for t in targets if isinstance(t, ast.Name)}
    return found


@pytest.mark.parametrize("page", PAGES)
def test_every_code_location_exists(page: str) -> None:
    for place, name in re.findall(r"`([\w/]+\.py):([\w.]+)`", TEXT[page]):
        path = ROOT / "src/thzsync" / place
        assert path.is_file(), f"{page}: {place} does not exist"
        assert name in functions_in(path), f"{page}: {place} has no {name}"


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_exists(page: str) -> None:
    for place in re.findall(r"`((?:[\w-]+/)+[\w-]+\.(?:py|toml|js))`", TEXT[page]):
        homes = (ROOT / place, ROOT / "src/thzsync" / place)
        assert any(home.is_file() for home in homes), f"{page}: {place} does not exist"


def test_every_equation_that_the_code_cites_stands_in_the_model_page() -> None:
    cited = set()
    for path in (ROOT / "src/thzsync").rglob("*.py"):
        cited |= set(re.findall(r"eq:\w+", path.read_text("utf-8")))
    explained = set(re.findall(r"`(eq:\w+)`", TEXT["docs/model.md"]))
    assert not cited - explained


def test_the_entry_points_of_the_pages_are_those_of_the_code() -> None:
    groups = {family.group for family in families()}
    groups = {group for group in groups if group.startswith("thzsync.")}
    page = TEXT["docs/extending.md"]
    assert groups == set(re.findall(r"\| `(thzsync\.\w+)` \|", page))
    assert set(re.findall(r'entry-points\."([\w.]+)"', page)) <= groups


def test_pictures_are_small() -> None:
    for picture in (ROOT / "docs/images").iterdir():
        limit = 2_000_000 if picture.suffix == ".gif" else 200_000
        assert picture.stat().st_size < limit, picture.name


def test_examples_on_a_page_are_the_files_that_they_name() -> None:
    """The page shows what runs: a block behind ``<!-- file: ... -->`` is that file."""
    page = TEXT["docs/extending.md"]
    shown = re.findall(r"<!-- file: (\S+) -->\n```python\n(.*?)```", page, re.S)
    for path in (ROOT / "examples/extending").glob("*.py"):
        assert str(path.relative_to(ROOT)) in page
    for file, body in shown:
        assert body == (ROOT / file).read_text("utf-8"), file
