from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from thzsync.scenario import Scenario, preset_names
from thzsync.scenario.described import json_schema


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from nodes(item)
    elif isinstance(value, list):
        for item in value:
            yield from nodes(item)


def test_the_schema_offers_the_presets_and_every_table() -> None:
    schema = json_schema()
    assert schema["properties"]["preset"]["enum"] == preset_names()
    assert set(schema["properties"]) == {"preset", *Scenario.model_fields}
    assert schema["additionalProperties"] is False


def test_every_reference_leads_somewhere() -> None:
    schema = json_schema()
    used = [node["$ref"] for node in nodes(schema) if "$ref" in node]
    assert used
    assert all(ref.removeprefix("#/$defs/") in schema["$defs"] for ref in used)


def test_a_quantity_may_be_a_number_or_a_text_with_its_unit() -> None:
    size = json_schema()["$defs"]["Training"]["properties"]["p2p_bytes"]
    number, text = size["anyOf"]
    assert (number["type"], number["exclusiveMinimum"]) == ("integer", 0)
    assert re.search(text["pattern"], "16 MiB")
    assert not re.search(text["pattern"], "16 GHz")


def test_a_file_with_a_preset_may_leave_out_the_floor() -> None:
    schema = json_schema()
    assert "required" not in schema
    rings, *others = schema["properties"]["floor"]["anyOf"]
    assert "required" not in rings
    assert all("kind" in floor["required"] for floor in others)
