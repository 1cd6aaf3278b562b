"""Numbers of carriers: fibre, then those beside it in the order of ``scenario.carriers``."""

from __future__ import annotations

from typing import Final

FIBRE: Final = 0
THZ: Final = 1
"""The first carrier beside fibre; further ones follow."""
