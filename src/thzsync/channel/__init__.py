"""THz physics: path loss, gains, fluctuation and blockage over time."""

from __future__ import annotations

from thzsync.channel.model import ChannelModel, GainSource
from thzsync.channel.rate import (
    Law,
    efficiency,
    law_of,
    link_budget_per_w,
    needed_snr,
    rate_bps,
    rates_bps,
    required_power_w,
    saving_powers_w,
    silent_budget_per_w,
    snr_per_watt,
    step_of,
)

__all__ = [
    "ChannelModel",
    "GainSource",
    "Law",
    "efficiency",
    "law_of",
    "link_budget_per_w",
    "needed_snr",
    "rate_bps",
    "rates_bps",
    "required_power_w",
    "saving_powers_w",
    "silent_budget_per_w",
    "snr_per_watt",
    "step_of",
]
