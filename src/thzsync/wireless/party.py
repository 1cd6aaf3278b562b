"""The old place of `thzsync.wireless.group`; it goes with version 0.4."""

from __future__ import annotations

from typing import Any

from thzsync.wireless import group
from thzsync.wireless.state import moved

NEW = {"Party": "FlowGroup", "PartyLinks": "GroupLinks"}


def __getattr__(name: str) -> Any:
    """The new thing under its old name, with a warning that says both."""
    return moved(group, NEW.get(name, name), f"thzsync.wireless.party.{name}")
