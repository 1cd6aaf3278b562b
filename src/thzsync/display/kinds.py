"""What a collective looks like in every picture: its name, its colour and its place in order.

Collectives are an open family. Those that come with the package have fixed looks; any other gets
a colour from its name, the same in every report.
"""

from __future__ import annotations

import colorsys
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from thzsync.display.labels import KIND_LABELS, label


@dataclass(frozen=True)
class KindLook:
    """A collective's name, and its colours on a light and on a dark ground."""

    label: str
    light: str
    dark: str


_COLOURS: Final = {
    "p2p": ("#c27f00", "#f0b23c"),
    "a2a": ("#b8558a", "#e09bc1"),
    "allreduce": ("#0072b2", "#3fa7e6"),
    "all-gather": ("#00875f", "#35c796"),
    "reduce-scatter": ("#cc5200", "#f5813e"),
    "broadcast": ("#6a51a3", "#a99be0"),
    "reduce": ("#8c6d31", "#c9a968"),
    "gather": ("#3d7f8f", "#7cc4d4"),
    "scatter": ("#a3341b", "#ff9478"),
    "barrier": ("#6b6b6b", "#b0b0b0"),
}


def kind_look(kind: str) -> KindLook:
    """How a collective is called and coloured, whatever it is."""
    light, dark = _COLOURS.get(kind) or _derived(kind)
    return KindLook(label(KIND_LABELS, kind), light, dark)


def ordered(kinds: Iterable[str]) -> list[str]:
    """Collectives in the order of all pictures: ours first, then any others by name."""
    present = {str(kind) for kind in kinds}
    return [k for k in KIND_LABELS if k in present] + sorted(present - KIND_LABELS.keys())


def _derived(kind: str) -> tuple[str, str]:
    """Colours from the name's hash: the same name has the same hue wherever it is drawn."""
    hue = int.from_bytes(hashlib.sha256(kind.encode()).digest()[:2]) / 2**16
    return _hex(hue, 0.36), _hex(hue, 0.68)


def _hex(hue: float, lightness: float) -> str:
    channels = colorsys.hls_to_rgb(hue, lightness, 0.55)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in channels)
