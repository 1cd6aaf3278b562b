"""The THz channel, slowly: arbitrary-precision hashing, recursion in time, one link at a time."""

from __future__ import annotations

import math

from thzsync.scenario import Channel, Thz
from thzsync.streams import Streams
from thzsync.topology import Topology

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15
ORIGIN = 2**40
BURN_IN = 400


def mix(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
    return z ^ (z >> 31)


def draw(key: int, pair: int, subband: int, slot: int) -> int:
    start = mix((key + GOLDEN * (pair + 1)) % WORD)
    start = mix((start + GOLDEN * (subband + 1)) % WORD)
    return mix((start + GOLDEN * (slot + ORIGIN)) % WORD)


def gaussian(bits: int) -> float:
    radius, angle = (bits // 2**32 + 0.5) / 2**32, (bits % 2**32) / 2**32
    return math.sqrt(-2 * math.log(radius)) * math.cos(2 * math.pi * angle)


def level(key: int, pair: int, subband: int, slot: int, decay: float) -> float:
    """The autoregressive recursion itself, begun so long ago that its start is forgotten."""
    x = 0.0
    for k in range(slot - BURN_IN, slot + 1):
        x = decay * x + math.sqrt(1 - decay**2) * gaussian(draw(key, pair, subband, k))
    return x


def is_blocked(key: int, pair: int, slot: int, p_block: float, p_clear: float) -> bool:
    """Both possible pasts, driven by the same uniforms, have long met: run them forward."""
    states = [True, False]
    for k in range(slot - BURN_IN, slot + 1):
        uniform = (draw(key, pair, 0, k) >> 11) / 2**53
        states = [
            uniform < 1 - p_clear if was_blocked else uniform < p_block for was_blocked in states
        ]
    assert states[0] == states[1], "the two pasts have not met; make BURN_IN longer"
    return states[0]


def path_gain(distance_m: float, frequency_hz: float, channel: Channel) -> float:
    """eq:measured_path_loss and eq:composite_channel_gain, as printed."""
    shift_db = 20 * math.log10(frequency_hz / channel.reference_hz)
    los_db = 18.8 * math.log10(distance_m) + 82.69 + shift_db
    nlos_db = 7.6 * math.log10(distance_m) + 106.6 + shift_db
    return 10 ** (-los_db / 10) + sum(10 ** (-nlos_db / 10) for _ in range(channel.nlos_paths))


def gain(
    channel: Channel, thz: Thz, topology: Topology, seed: int, a: int, b: int, c: int, time_s: float
) -> float:
    """One gain g_ab^c(t), from the definitions."""
    streams = Streams(seed)
    pair = min(a, b) * topology.racks + max(a, b)
    value = path_gain(float(topology.distance_m(a, b)), thz.centres_hz[c], channel)
    if channel.fluctuation_db:
        key = streams.key("channel")
        if channel.coherence_s is None:
            x = gaussian(draw(key, pair, c, 0))
        else:
            slot_s = channel.coherence_s / 4
            x = level(key, pair, c, math.floor(time_s / slot_s), math.exp(-1 / 4))
        value *= 10 ** (channel.fluctuation_db * x / 10)
    share, mean_s = channel.blockage.share, channel.blockage.mean_duration_s
    if share:
        slot_s = min(mean_s, mean_s * (1 - share) / share) / 4
        p_clear = slot_s / mean_s
        p_block = p_clear * share / (1 - share)
        key = streams.key("blockage")
        if is_blocked(key, pair, math.floor(time_s / slot_s), p_block, p_clear):
            value *= 10 ** (-channel.blockage.loss_db / 10)
    return value
