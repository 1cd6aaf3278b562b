"""What a collective looks like in every picture: its name, its colour and its place in order.

Collectives are an open family. Those that come with the package have fixed looks; any other gets
a colour from its name, the same in every report.
"""

from __future__ import annotations

import colorsys
import hashlib
from collections.abc import Iterable
from typing import Final, NamedTuple


class KindLook(NamedTuple):
    """A collective's name, and its colours on a light and on a dark ground."""

    label: str
    light: str
    dark: str


KINDS: Final = {
    "p2p": KindLook("P2P", "#c27f00", "#f0b23c"),
    "a2a": KindLook("All-to-All", "#b8558a", "#e09bc1"),
    "allreduce": KindLook("AllReduce", "#0072b2", "#3fa7e6"),
    "all-gather": KindLook("All-gather", "#00875f", "#35c796"),
    "reduce-scatter": KindLook("Reduce-scatter", "#cc5200", "#f5813e"),
    "broadcast": KindLook("Broadcast", "#6a51a3", "#a99be0"),
    "reduce": KindLook("Reduce", "#8c6d31", "#c9a968"),
    "gather": KindLook("Gather", "#3d7f8f", "#7cc4d4"),
    "scatter": KindLook("Scatter", "#a3341b", "#ff9478"),
    "barrier": KindLook("Barrier", "#6b6b6b", "#b0b0b0"),
}
"""The collectives of the package, in the order of pictures; any other stands behind these."""


def kind_look(kind: str) -> KindLook:
    """How a collective is called and coloured, whatever it is."""
    if kind in KINDS:
        return KINDS[kind]
    hue = int.from_bytes(hashlib.sha256(kind.encode()).digest()[:2]) / 2**16
    return KindLook(kind, _hex(hue, 0.36), _hex(hue, 0.68))


def ordered(kinds: Iterable[str]) -> list[str]:
    """Collectives in the order of all pictures: ours first, then any others by name."""
    present = {str(kind) for kind in kinds}
    return [k for k in KINDS if k in present] + sorted(present - KINDS.keys())


def _hex(hue: float, lightness: float) -> str:
    channels = colorsys.hls_to_rgb(hue, lightness, 0.55)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in channels)
