"""The recipe for gains by ray tracing: its pretended room, and its way with Sionna's arrays."""

from __future__ import annotations

import runpy
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from thzsync.channel.components import Antennas
from thzsync.channel.file import load_gains
from thzsync.scenario import Scenario
from thzsync.scenario.antennas import Gaussian

SCRIPT = Path(__file__).parents[2] / "examples/ray_tracing/traced_gains.py"
TINY = Scenario.preset("tiny")


@pytest.fixture(scope="module")
def pretended(tmp_path_factory):
    path = tmp_path_factory.mktemp("traced") / "gains.parquet"
    command = [sys.executable, "-W", "error", str(SCRIPT), "tiny", str(path), "--pretend"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    racks, subbands = TINY.floor.racks, TINY.thz.subbands
    assert shown.startswith(f"{racks * (racks - 1) * subbands} components")
    return path


def test_pretended_gains_are_free_space_and_one_reflection(pretended):
    places = np.array(TINY.floor.places_m)
    racks, subbands = len(places), TINY.thz.subbands
    image = places * [1, -1] + [0, 2 * (places[:, 1].max() + 2)]
    gains = load_gains(pretended, racks, subbands)
    for a in range(racks):
        for b in set(range(racks)) - {a}:
            d = np.linalg.norm(places[a] - places[b]), np.linalg.norm(places[a] - image[b])
            for c, centre_hz in enumerate(TINY.thz.centres_hz):
                power = [(299_792_458 / (4 * np.pi * one * centre_hz)) ** 2 for one in d]
                expected = power[0] + power[1] * 10**-0.1
                found = gains.gains(np.array([a]), np.array([b]), 0)[0, c]
                assert found == pytest.approx(expected)


def test_sharp_antennas_leave_the_reflection_out(pretended):
    """Where it arrives far off the direct path; it stays where both come from one side."""
    racks, subbands = TINY.floor.racks, TINY.thz.subbands
    sharp = Antennas(Gaussian(side_lobe_db=60), 25.0, 25.0)
    src, dst = np.nonzero(~np.eye(racks, dtype=bool))
    all_round = load_gains(pretended, racks, subbands).gains(src, dst, 0)
    pointed = load_gains(pretended, racks, subbands, sharp).gains(src, dst, 0)
    distance_m = np.linalg.norm(
        np.diff(np.array(TINY.floor.places_m)[[src, dst]], axis=0)[0], axis=1
    )
    direct = (299_792_458 / (4 * np.pi * distance_m[:, None] * TINY.thz.centres_hz)) ** 2
    assert (pointed <= all_round).all()
    assert (pointed >= direct * (1 - 1e-12)).all()
    assert np.isclose(pointed, direct, rtol=1e-6).mean() > 0.5


class Tensor:
    """What Sionna's arrays are asked for."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def numpy(self):
        return self.values

    def __array__(self, dtype=None, copy=None):
        return self.values.astype(dtype or self.values.dtype)


class Scene:
    """A scene that remembers what stands in it."""

    def __init__(self):
        self.devices = {}

    def add(self, device):
        assert device.name not in self.devices
        self.devices[device.name] = device

    def remove(self, name):
        del self.devices[name]


def solve(scene, max_depth, synthetic_array):
    """Two paths per receiver, the second invalid where its number is odd."""
    assert max_depth == 2
    assert synthetic_array
    names = [name for name in scene.devices if name != "sender"]
    numbers = np.array([int(name.removeprefix("rack-")) for name in names])
    one = np.ones((len(names), 1, 1, 1, 2))
    level = np.array([1e-4, 1e-5]) * scene.frequency / 290e9
    angle = np.stack((0.01 * numbers, -0.5 * np.ones(len(names))), axis=-1)[:, None]
    return types.SimpleNamespace(
        a=(Tensor(0.6 * one * level), Tensor(0.8 * one * level)),
        valid=Tensor(np.stack((numbers >= 0, numbers % 2 == 0), axis=-1)[:, None]),
        phi_t=Tensor(angle),
        phi_r=Tensor(-angle),
    )


def test_paths_of_sionna_become_components(tmp_path, monkeypatch):
    device = types.SimpleNamespace
    sionna = types.ModuleType("sionna.rt")
    sionna.__dict__.update(
        load_scene=lambda file: Scene(), PathSolver=lambda: solve, PlanarArray=device,
        Receiver=device, Transmitter=device,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "sionna", types.ModuleType("sionna"))
    monkeypatch.setitem(sys.modules, "sionna.rt", sionna)
    path = tmp_path / "gains.parquet"
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), "tiny", str(path), "--depth", "2"])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    racks, subbands = TINY.floor.racks, TINY.thz.subbands
    gains = load_gains(path, racks, subbands)
    src, dst = np.nonzero(~np.eye(racks, dtype=bool))
    higher = np.maximum(src, dst)
    expected = 1e-8 + np.where(higher % 2 == 0, 1e-10, 0.0)
    scale = (np.array(TINY.thz.centres_hz) / 290e9) ** 2
    np.testing.assert_allclose(gains.gains(src, dst, 0), expected[:, None] * scale)
