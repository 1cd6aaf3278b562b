"""PyTorch's names of collectives and element types."""

from __future__ import annotations

import re
from typing import Final

_LETTERS: Final = re.compile(r"[^a-z]")
_VARIANTS: Final = ("oop", "coalesced", "intotensor", "tensor", "base", "single", "v")
"""Endings of a name that do not change the collective."""
_KINDS: Final = {
    "allreduce": "allreduce",
    "allgather": "all-gather",
    "reducescatter": "reduce-scatter",
    "alltoall": "a2a",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
    "barrier": "barrier",
}
_ELEMENT_BYTES: Final = {
    "double": 8, "long": 8, "longint": 8, "complexfloat": 8, "complexdouble": 16,
    "float": 4, "int": 4, "half": 2, "bfloat": 2, "short": 2, "shortint": 2,
    "byte": 1, "char": 1, "unsignedchar": 1, "signedchar": 1, "bool": 1,
    "floate": 1, "floatem": 1, "floatefn": 1, "floatemfn": 1, "floatemfnuz": 1,
}  # fmt: skip
"""Only the letters of a name count, so that c10::BFloat16 and BFloat16 are the same."""


def collective_kind(name: str) -> str | None:
    """The collective for a name such as ``_allgather_base`` or ``all_reduce``, if any."""
    letters = _LETTERS.sub("", name.lower())
    while letters not in _KINDS:
        shorter = next((letters.removesuffix(v) for v in _VARIANTS if letters.endswith(v)), "")
        if not shorter:
            return None
        letters = shorter
    return _KINDS[letters]


def element_bytes(dtype: str) -> int | None:
    """Bytes of one element of a type such as ``Float``, ``c10::Half`` or ``Float8_e4m3fn``."""
    return _ELEMENT_BYTES.get(_LETTERS.sub("", dtype.lower().removeprefix("c10::")))


def whole_elements(kind: str, handed_in: int, handed_out: int, parties: int) -> int:
    """Elements of the whole tensor, from the input and output of one rank."""
    if kind == "all-gather":
        return max(handed_out, handed_in * parties)
    if kind == "gather":
        return handed_in * parties
    if kind == "scatter":
        return handed_out * parties
    return handed_in
