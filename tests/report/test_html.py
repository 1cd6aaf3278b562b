from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from tests.report.results import HOSTILE, HOSTILE_SCENARIO
from thzsync.display.html import templates
from thzsync.report import Results, write_report
from thzsync.report.html import bind, embed


class Page(HTMLParser):
    """Elements with their attributes, and the text of every script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.ids: list[str] = []
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if identity := dict(attrs).get("id"):
            self.ids.append(identity)
        if tag == "script":
            self._in_script = True
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = self._in_script and tag != "script"

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data


def data_of(page: Page) -> Any:
    return json.loads(page.scripts[1])


def test_the_file_needs_nothing_from_outside(page: Path) -> None:
    text = page.read_text("utf-8")
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", text)) - {"http://www.w3.org/2000/svg"}
    assert addresses == set()
    for tag, attributes in Page(text).elements:
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), tag


def test_names_from_users_stay_text(page: Path) -> None:
    parsed = Page(page.read_text("utf-8"))
    assert len(parsed.scripts) == 3  # theme, data, charts
    assert "img" not in {tag for tag, _ in parsed.elements}
    labels = [policy["label"] for policy in data_of(parsed)["policies"]]
    assert HOSTILE in labels
    assert HOSTILE_SCENARIO.replace("&", "&amp;").replace("<", "&lt;").replace(
        ">", "&gt;"
    ) in page.read_text("utf-8")


def test_only_our_own_scripts_may_run(page: Path) -> None:
    parsed = Page(page.read_text("utf-8"))
    (policy,) = (
        attributes["content"] or ""
        for tag, attributes in parsed.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert "default-src 'none'" in policy
    for script in (parsed.scripts[0], parsed.scripts[2]):
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_every_link_leads_to_a_section_and_ids_are_unique(page: Path) -> None:
    parsed = Page(page.read_text("utf-8"))
    assert len(parsed.ids) == len(set(parsed.ids))
    targets = [a["href"] or "" for tag, a in parsed.elements if tag == "a"]
    assert {target.removeprefix("#") for target in targets} <= set(parsed.ids)


def test_equal_results_give_equal_reports(results: Results, page: Path, tmp_path: Path) -> None:
    again = write_report(results, tmp_path / "again.html")
    assert again.read_bytes() == page.read_bytes()


def test_a_page_of_one_figure_has_only_that_figure(results: Results, tmp_path: Path) -> None:
    alone = Results("weights", tmp_path, weights=results.weights)
    parsed = Page(write_report(alone).read_text("utf-8"))
    assert "weights" in parsed.ids
    assert not {"curves", "replay", "synthesis", "headline"} & set(parsed.ids)


@given(st.text())
def test_embedded_text_comes_back_and_never_ends_its_element(text: str) -> None:
    packed = embed({"name": text})
    assert json.loads(packed) == {"name": text}
    assert "<" not in packed


def test_a_number_and_its_unit_stay_on_one_line() -> None:
    held = bind("5 % in 62.9 s, 20 mJ and 3 msgs; 4 seeds")
    assert held == "5\xa0% in 62.9\xa0s, 20\xa0mJ and 3 msgs; 4 seeds"


def test_a_template_that_misses_a_value_fails_loudly() -> None:
    made = templates("thzsync.report").from_string("{{ forgotten }}")
    with pytest.raises(UndefinedError):
        made.render()
