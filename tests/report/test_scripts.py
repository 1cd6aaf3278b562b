"""A linter for the page's own scripts, styles and templates: small rules that need no npm."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from thzsync.report import Results
from thzsync.report.data import report_data
from thzsync.report.html import STYLES, THEME, scripts

ASSETS = Path(str(files("thzsync.report").joinpath("assets")))
TEMPLATES = [
    path
    for package in ("thzsync.report", "thzsync.display")
    for path in sorted(Path(str(files(package).joinpath("templates"))).glob("*.html"))
]
SOURCES = sorted(ASSETS.glob("*.js"))
LONGEST_LINE = 120
LONGEST_FILE = 250
FORBIDDEN = {
    r"\bvar\s": "let or const say how long a name lives",
    r"(?<![=!<>])==(?!=)|!=(?!=)": "=== and !== compare without converting",
    r"\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write": "names come from users' files",
    r"\beval\b|\bnew Function\b": "the page's security policy forbids it",
    r"\bconsole\.|\balert\(|\bdebugger\b": "left over from looking for a fault",
    r"\w\[[2-9]\]": "fields have names; only pairs may be known by place",
    r"https?://(?!www\.w3\.org/2000/svg)": "the page asks for nothing from outside",
}
TOP_LEVEL = re.compile(r"^(?:function|const|let) +(\w+)", re.MULTILINE)


def code_of(path: Path) -> str:
    """The script without its comments."""
    return re.sub(r"(?m)(^|\s)//.*$", "", path.read_text("utf-8"))


@pytest.mark.parametrize("path", [*SOURCES, *sorted(ASSETS.glob("*.css")), *TEMPLATES], ids=str)
def test_lines_and_files_are_short(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    assert [k for k, line in enumerate(lines, 1) if len(line) > LONGEST_LINE] == []
    assert len(lines) <= LONGEST_FILE


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_nothing_forbidden_is_used(path: Path) -> None:
    for pattern, reason in FORBIDDEN.items():
        assert re.findall(pattern, code_of(path)) == [], reason


@pytest.mark.parametrize(
    "wrong",
    ["var a = 1;", "if (a == 1) b();", "if (a != 1) b();", "box.innerHTML = name;", "bar[5]"],
)
def test_the_rules_find_what_they_forbid(wrong: str) -> None:
    assert any(re.search(pattern, wrong) for pattern in FORBIDDEN)
    assert not any(re.search(p, "if (a === 1 && b !== 2 && c >= 3) d(x[0]);") for p in FORBIDDEN)


def test_every_name_is_made_once_and_used() -> None:
    text = "\n".join(map(code_of, SOURCES))
    names = TOP_LEVEL.findall(text)
    assert len(names) == len(set(names))
    unused = [name for name in names if len(re.findall(rf"\b{name}\b", text)) < 2]
    assert unused == []


def test_every_file_is_part_of_the_page() -> None:
    assert {*scripts(), THEME} == {path.name for path in SOURCES}
    assert scripts()[-1] == "main.js", "it calls the others"
    assert set(STYLES) == {path.name for path in ASSETS.glob("*.css")}


def test_scripts_read_only_data_that_python_writes(results: Results, swept: Results) -> None:
    read = set(re.findall(r"\bDATA\.(\w+)", "\n".join(map(code_of, SOURCES))))
    assert read <= set(report_data(results)) | set(report_data(swept))


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    shares = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return sum(w * v for w, v in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_every_colour_of_text_can_be_read(scheme: int) -> None:
    theme = (ASSETS / "theme.css").read_text("utf-8").split(":root")[scheme + 1]
    named = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", theme))
    styles = "\n".join((ASSETS / name).read_text("utf-8") for name in STYLES)
    inks = set(re.findall(r"(?<![-\w])color: var\(--([\w-]+)\)", styles)) - {"card"}
    assert {"ink", "soft", "accent"} <= inks
    for ink in inks:
        grounds = [f"{ink}-wash"] if f"{ink}-wash" in named else ["card", "ground", "grid"]
        for ground in grounds:
            if ground == "grid" and ink != "soft":
                continue
            pair = sorted(luminance(named[name]) + 0.05 for name in (ink, ground))
            assert pair[1] / pair[0] >= 4.5, (ink, ground)


@pytest.mark.skipif(not shutil.which("node"), reason="needs node")
def test_every_script_can_be_parsed() -> None:
    for path in SOURCES:
        ran = subprocess.run(["node", "--check", path], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
