"""An executed event on THz: which chunks were sent when, on which subband, with what power."""

from __future__ import annotations

from dataclasses import dataclass

from thzsync.arrays import FloatArray, IntArray
from thzsync.transfers.graph import TransferGraph


@dataclass(frozen=True, eq=False)
class Schedule:
    """All THz transmissions of one event, one row each."""

    plan: TransferGraph
    release_ps: IntArray
    """When each rack's own data is available, in the order of ``plan.racks`` [ps]."""
    round: IntArray
    """Round of every transmission, from 0."""
    flow: IntArray
    first_chunk: IntArray
    """First chunk of the flow that the transmission carries."""
    chunks: IntArray
    """How many consecutive chunks it carries."""
    subband: IntArray
    start_ps: IntArray
    end_ps: IntArray
    power_w: FloatArray
    gain: FloatArray
    """Channel power gain g_ij^c, linear, at the round's start."""
    overhead_ps: IntArray
    """Guard time at the start of every transmission, in which nothing is sent [ps]."""
    noise_w: FloatArray
    """Noise and interference that every transmission was promised [W]."""

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return int(self.round.max()) + 1 if len(self.round) else 0

    @property
    def completion_ps(self) -> int:
        """When the last transmission ends, counted from the nominal release at 0 [ps]."""
        return int(self.end_ps.max()) if len(self.end_ps) else 0

    def __repr__(self) -> str:
        plan = self.plan
        return (
            f"Schedule({plan.kind} {plan.method}, racks={len(plan.racks)}, rounds={self.rounds}, "
            f"completion_ms={self.completion_ps * 1e-9:.6g})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: the first rounds, and how long all of them take."""
        from thzsync.display import html_table

        plan = self.plan
        rows = []
        for index in range(min(self.rounds, 12)):
            chosen = self.round == index
            start, end = int(self.start_ps[chosen].min()), int(self.end_ps[chosen].max())
            sent = ", ".join(
                f"{plan.src[f]}→{plan.dst[f]}" for f in self.flow[chosen][:6].tolist()
            ) + (" …" if int(chosen.sum()) > 6 else "")
            power_w = float(self.power_w[chosen].sum())
            rows.append((index, start * 1e-9, end * 1e-9, int(chosen.sum()), power_w, sent))
        facts = {
            "method": plan.method,
            "racks": len(plan.racks),
            "rounds": self.rounds,
            "transmissions": len(self.flow),
            "completion [ms]": self.completion_ps * 1e-9,
        }
        columns = ("round", "start [ms]", "end [ms]", "transmissions", "power [W]", "links")
        note = f"{self.rounds - len(rows)} more rounds" if self.rounds > len(rows) else ""
        return html_table(f"{plan.kind} schedule", columns, rows, facts, note)
