"""Does an overlay pay here? Candidates, checks of the assumptions, a paragraph and a picture."""

from __future__ import annotations

from thzsync.answer.question import Answer, Effort, ask

__all__ = ["Answer", "Effort", "ask"]
