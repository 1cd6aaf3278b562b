"""The kernels of the search without their compiler."""

from __future__ import annotations

from types import ModuleType

import pytest

from thzsync.coordinator import beam, encoder, scoring, search


@pytest.fixture
def uncompiled_search(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module ``search``, whose kernels are plain Python."""
    for module in (beam, encoder, scoring, search):
        for name, function in list(vars(module).items()):
            if hasattr(function, "py_func"):
                monkeypatch.setattr(module, name, function.py_func)
    return search
