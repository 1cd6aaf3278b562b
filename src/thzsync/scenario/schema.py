"""The JSON schema of a scenario file, for editors."""

from __future__ import annotations

from typing import Any

from thzsync.scenario.described import describe
from thzsync.scenario.files import preset_names
from thzsync.scenario.scenario import Scenario


def json_schema() -> dict[str, Any]:
    """What a scenario file may contain.

    It is the schema of the models plus the key ``preset``. A file that starts from a preset may
    omit any key, so the schema does not require the floor's keys. Loading checks them.
    """
    describe()
    schema = Scenario.model_json_schema()
    preset = {
        "type": "string",
        "enum": preset_names(),
        "description": "The preset this file starts from; its other keys replace the preset's.",
    }
    schema["properties"] = {"preset": preset, **schema["properties"]}
    schema.pop("required", None)
    schema["$defs"]["Floor"].pop("required", None)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
