"""THz physics: path loss, gains, fluctuation and blockage over time."""

from __future__ import annotations

from thzsync.channel.model import ChannelModel, GainSource
from thzsync.channel.rate import link_budget_per_w, rate_bps, required_power_w, snr_per_watt

__all__ = [
    "ChannelModel",
    "GainSource",
    "link_budget_per_w",
    "rate_bps",
    "required_power_w",
    "snr_per_watt",
]
