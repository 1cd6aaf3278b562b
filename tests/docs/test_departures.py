"""No departure from the paper is left without a key, a reason and a measured effect."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.docs.pages import ROOT
from thzsync.paper.ladder import DEPARTURES, LEARNERS, Departure
from thzsync.scenario import Scenario

PAGE = (ROOT / "docs/reproduction.md").read_text("utf-8")
TABLE = PAGE.split("<!-- departures -->")[1].split("<!-- /departures -->")[0]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")] for line in TABLE.strip().splitlines()[2:]
]
KEY = re.compile(r"`([\w.]+) = ([^`]+)`")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_departure_has_a_key_a_reason_and_an_effect(row: list[str]) -> None:
    assert len(row) == 5
    assert all(row)
    for key, value in KEY.findall(row[2]):
        papers = tomllib.loads(f"value = {value}")["value"]
        assert Scenario.paper().with_({key: papers}) != Scenario.paper(), key


@pytest.mark.parametrize("departure", DEPARTURES, ids=lambda d: d.name)
def test_every_rung_stands_in_the_table_with_the_papers_value(departure: Departure) -> None:
    row = next(row for row in ROWS if row[0] == departure.name)
    if departure.each:
        assert "#settings-of-the-faithful-implementation" in row[2]
        return
    shown = {key: tomllib.loads(f"v = {value}")["v"] for key, value in KEY.findall(row[2])}
    for key, value in departure.keys("thz-sync").items():
        assert shown[key] == value


def test_what_all_learners_share_is_said_of_all() -> None:
    for row in ROWS:
        if "coordinator.bandit." in row[2]:
            assert all(section in row[2] for section in list(LEARNERS.values())[:2]), row[0]
