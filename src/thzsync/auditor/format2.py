"""What disciplines declare in the records of versions 0.2 and 0.3, which do not tell.

Later versions write it into ``run.json``, where these disciplines may not declare anything else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from thzsync.records.declaration import Declaration

_ROUNDS: Final = Declaration(
    common=True, guarded=True, steers=False, in_turn=True,
    work_conserving=True, power="least", uses_budget=True,
)  # fmt: skip
_EQUAL: Final = replace(_ROUNDS, power="slowest")
_STREAMS: Final = Declaration(
    common=False, guarded=False, steers=False, in_turn=True, work_conserving=True, power="slowest"
)
_HELD: Final = Declaration(
    common=False, guarded=False, steers=True, in_turn=False, work_conserving=True
)

DISCIPLINES: Final = {
    "matching": _ROUNDS,
    "matching-blind": _ROUNDS,
    "matching-equal": _EQUAL,
    "assignment": _ROUNDS,
    "assignment-blind": _ROUNDS,
    "assignment-equal": _EQUAL,
    "assignment-one": replace(_ROUNDS, work_conserving=False),
    "pipeline": replace(_HELD, common=True, in_turn=True),
    "streaming": _STREAMS,
    "striping": replace(_STREAMS, in_turn=False, power="budget"),
    "sustained": _HELD,
    "sustained-chunk": _HELD,
}
