"""THz physics: path loss, gains, fluctuation and blockage over time."""

from __future__ import annotations

from thzsync.channel.model import ChannelModel, GainSource
from thzsync.channel.rate import (
    Law,
    law_of,
    link_budget_per_w,
    rate_bps,
    required_power_w,
    snr_per_watt,
)

__all__ = [
    "ChannelModel",
    "GainSource",
    "Law",
    "law_of",
    "link_budget_per_w",
    "rate_bps",
    "required_power_w",
    "snr_per_watt",
]
