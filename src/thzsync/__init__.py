"""THz-SynC: collectives of AI training on a hybrid optical and THz data centre."""

from __future__ import annotations

__version__ = "0.1.0"
