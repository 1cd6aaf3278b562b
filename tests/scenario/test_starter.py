from __future__ import annotations

import re

import pytest

from thzsync.errors import ThzSyncError
from thzsync.scenario import Scenario, preset_names
from thzsync.scenario.files import parse_scenario
from thzsync.scenario.starter import starter


@pytest.mark.parametrize("name", preset_names())
def test_a_starter_loads_to_its_preset(name: str) -> None:
    assert parse_scenario(starter(name), "starter") == Scenario.preset(name)


def test_every_key_is_explained_with_its_unit() -> None:
    lines = starter("paper").splitlines()
    for number, line in enumerate(lines):
        if re.match(r"\w+ = ", line):
            assert lines[number - 1].startswith("# "), line
    text = "\n".join(lines)
    assert 'p2p_bytes = "16 MiB"' in text
    assert 'access_bps = "100 Gb/s"' in text
    assert 'switch_delay_s = "500 ns"' in text
    power = next(k for k, line in enumerate(lines) if line.startswith("max_power_w = "))
    assert lines[power - 1].startswith("# ")
    assert "[W]" in lines[power - 1]


def test_what_is_not_set_is_shown_behind_a_comment_sign() -> None:
    text = starter("single-ring")
    for shown in ("# racks_per_ring =", "# [[jobs]]", "# [jobs.training]", "# [jobs.model]"):
        assert shown in text.splitlines()
    assert '# kind = "compute-frozen"  # ' in text


def test_every_key_of_every_model_appears() -> None:
    text = starter("paper")
    scenario = Scenario.paper()
    for name in (*type(scenario.thz).model_fields, *type(scenario.optical).model_fields):
        assert re.search(rf"^(# )?\[?({name}|(optical|thz)\.{name})\b", text, re.MULTILINE), name


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(ThzSyncError, match=r"^nope: "):
        starter("nope")
