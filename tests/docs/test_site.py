"""The documentation site: every page is in its navigation, every link and anchor leads somewhere.

`make docs` asks MkDocs the same (`--strict`); here it needs no MkDocs, and covers pages that lie
outside the site as well.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT

LINKING = (*PAGES, "CONTRIBUTING.md", "examples/README.md")
SITE = (ROOT / "mkdocs.yml").read_text("utf-8")
_FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
_LINK = re.compile(r"\]\((?!https?:)([^)\s]*)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.M)


def prose(page: Path) -> str:
    """A page without its code."""
    return re.sub(r"`[^`\n]*`", "", _FENCED.sub("", page.read_text("utf-8")))


def headings(page: Path) -> list[str]:
    text = _FENCED.sub("", page.read_text("utf-8"))
    return [heading.replace("`", "") for heading in _HEADING.findall(text)]


def site_anchor(heading: str) -> str:
    """As Python-Markdown, hence MkDocs, makes it."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def forge_anchor(heading: str) -> str:
    """As code forges make it: every blank becomes a hyphen."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def problems(page: Path) -> list[str]:
    """Links of a page that lead nowhere, on the site or in the repository."""
    found = []
    for link in _LINK.findall(prose(page)):
        file, _, anchor = link.partition("#")
        target = (page.parent / file) if file else page
        if not target.exists():
            found.append(f"{link}: no such file")
        elif anchor:
            found += [
                f"{link}: no such heading ({make.__name__})"
                for make in (site_anchor, forge_anchor)
                if anchor not in map(make, headings(target))
            ]
    return found


@pytest.mark.parametrize("name", LINKING)
def test_every_link_and_anchor_leads_somewhere(name: str) -> None:
    assert problems(ROOT / name) == []


def test_pages_of_the_site_link_to_nothing_outside_it() -> None:
    for page in (ROOT / "docs").glob("*.md"):
        assert not re.findall(r"\]\(\.\./", prose(page)), page.name


def test_a_broken_link_and_a_broken_anchor_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One: `two`\n[a](#one-two) [b](#one) [c](other.md) `[d](none.md)`\n")
    assert [problem.split(":")[0] for problem in problems(page)] == ["#one", "#one", "other.md"]


def test_the_navigation_lists_every_page_once() -> None:
    listed = re.findall(r"^  - [^:]+: (\S+\.md)$", SITE, re.M)
    assert sorted(listed) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))
    assert listed[0] == "index.md"


def test_every_page_of_the_site_is_executed() -> None:
    pages = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    assert pages == {page for page in PAGES if page.startswith("docs/")}
