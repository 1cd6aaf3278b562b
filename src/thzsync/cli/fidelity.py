"""What commands say about flow fidelity: one line per collective type, and their exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thzsync.cli.output import note

if TYPE_CHECKING:
    from thzsync.records.certificate import Certificate, Certified

BEYOND_TOLERANCE: Final = 3
"""Exit status where replayed events of flow fidelity differ too much from packets."""


def tell_fidelity(found: Certificate | None, share: float) -> bool:
    """Say how near flows are to packets; whether some type is beyond the tolerance.

    ``share`` is ``optical.replayed_share``. The library has warned of what is beyond.
    """
    if found is None:
        return False
    if not found.rows:
        why = "optical.replayed_share is 0" if share == 0 else "no event had chunks on fibre"
        note(f"flow fidelity: not certified, since {why} and so none was replayed")
    for row in found.worst():
        places = sum(other.found.kind == row.found.kind for other in found.rows)
        note(f"flow fidelity: {_line(row, places)}{_doubt(row)}")
    return bool(found.exceeded)


def _line(row: Certified, places: int) -> str:
    kind, events, error, ci95 = row.found
    interval = "" if ci95 is None else f" ± {100 * ci95:.2f}"
    count = "1 event" if events == 1 else f"{events} events"
    where = f" {row.where}, the worst of {places}" if places > 1 else ""
    return f"{kind} {100 * error:+.2f}{interval} % against packets ({count} replayed){where}"


def _doubt(row: Certified) -> str:
    if row.verdict != "undecided":
        return ""
    single = row.found.ci95 is None
    why = "one event has no interval" if single else "the interval includes"
    what = "" if single else f" the tolerance ({100 * row.tolerance:g} %)"
    return f"; undecided, {why}{what}: raise optical.replayed_share to sharpen it"
