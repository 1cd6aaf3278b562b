"""Gains of a floor from a ray tracer, as a file for the key ``channel.gains_file``.

    pip install sionna-rt
    python traced_gains.py paper gains.parquet --scene hall.xml --height 2.5
    thzsync run paper --set channel.gains_file=gains.parquet --set thz.antenna.kind=gaussian

Covers:

- where the racks of a scenario stand, and at which frequencies it needs gains,
- paths between all pairs of racks with Sionna RT (https://nvlabs.github.io/sionna/rt/),
- a gains file of multipath components with their angles at both racks.

The scene is a file of Sionna (Mitsuba XML) with walls, racks and ceiling in metres, at the
coordinates of the scenario's floor. Give its objects materials that are known at 300 GHz, such as
``RadioMaterial`` with a measured permittivity: several of ITU-R P.2040 end at 100 GHz. Without a
scene there is line of sight alone. ``--pretend`` needs no Sionna: free space and the reflection at
one wall.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from math import atan2, degrees, hypot, log10, pi
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from thzsync import Scenario

COLUMNS = ("rack_a", "rack_b", "subband", "angle_a_deg", "angle_b_deg", "gain_db")
WEAKEST_DB = -180.0
"""Weaker components are left out [dB]."""
LIGHT_M_PER_S = 299_792_458.0

Component = tuple[int, int, int, float, float, float]
"""A row of the file, in the order of its columns."""


def traced(
    scenario: Scenario, scene_file: str | None, height_m: float, depth: int
) -> Iterator[Component]:
    """Components by Sionna RT (written for version 1.2 and later)."""
    from sionna.rt import PathSolver, PlanarArray, Receiver, Transmitter, load_scene

    scene, solve = load_scene(scene_file), PathSolver()
    # Isotropic antennas: the scenario's own are applied when the file is read.
    scene.tx_array = PlanarArray(num_rows=1, num_cols=1, pattern="iso", polarization="V")
    scene.rx_array = scene.tx_array
    places = [[x, y, height_m] for x, y in scenario.floor.places_m]
    for b, place in enumerate(places):
        scene.add(Receiver(name=f"rack-{b}", position=place))
    for a, place in enumerate(places[:-1]):
        scene.remove(f"rack-{a}")  # links are reciprocal: one direction is enough
        scene.add(Transmitter(name="sender", position=place))
        for subband, centre_hz in enumerate(scenario.thz.centres_hz):
            scene.frequency = centre_hz
            paths = solve(scene=scene, max_depth=depth, synthetic_array=True)
            yield from components(paths, a, len(places), subband)
        scene.remove("sender")


def components(paths: Any, a: int, racks: int, subband: int) -> Iterator[Component]:
    """Rows of one sender; Sionna's arrays have the axes receiver, (antennas,) sender, path."""
    receivers = racks - 1 - a
    real, imaginary = (part.numpy().reshape(receivers, -1) for part in paths.a)
    power = real.astype(float) ** 2 + imaginary.astype(float) ** 2
    valid = np.array(paths.valid).reshape(receivers, -1).astype(bool)
    # Azimuths, in the scenario's coordinates, of the ray as it leaves and of where it comes from.
    leaves, comes = (
        np.degrees(a_rad.numpy()).reshape(receivers, -1) for a_rad in (paths.phi_t, paths.phi_r)
    )
    for k, path in zip(*np.nonzero(valid & (power > 10 ** (WEAKEST_DB / 10))), strict=True):
        gain_db = 10 * log10(power[k, path])
        yield a, a + 1 + int(k), subband, float(leaves[k, path]), float(comes[k, path]), gain_db


def pretended(scenario: Scenario, wall_loss_db: float = 1.0) -> Iterator[Component]:
    """Free space, and one reflection at a wall 2 m behind the last rack, by its mirror image."""
    places = scenario.floor.places_m
    wall_m = max(y for _, y in places) + 2.0
    for a, (ax, ay) in enumerate(places):
        for b, (bx, by) in enumerate(places[a + 1 :], start=a + 1):
            # Seen from either rack, the reflection comes from the mirror image of the other one.
            for up_a, up_b, loss_db in (
                (by - ay, ay - by, 0.0),
                (2 * wall_m - by - ay, 2 * wall_m - by - ay, wall_loss_db),
            ):
                angles = degrees(atan2(up_a, bx - ax)), degrees(atan2(up_b, ax - bx))
                for subband, centre_hz in enumerate(scenario.thz.centres_hz):
                    friis_db = 20 * log10(4 * pi * hypot(bx - ax, up_a) * centre_hz / LIGHT_M_PER_S)
                    yield a, b, subband, *angles, -friis_db - loss_db


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("scenario", help="a preset or a scenario file")
    parser.add_argument("gains", type=Path, help="the Parquet file to write")
    parser.add_argument("--scene", help="Mitsuba XML of the room; line of sight alone without it")
    parser.add_argument("--height", type=float, default=2.5, help="of all antennas [m]")
    parser.add_argument("--depth", type=int, default=3, help="most reflections of a path")
    parser.add_argument("--pretend", action="store_true", help="a wall in free space, no Sionna")
    given = parser.parse_args()
    scenario = Scenario.of(given.scenario)
    rows = list(
        pretended(scenario)
        if given.pretend
        else traced(scenario, given.scene, given.height, given.depth)
    )
    pl.DataFrame(rows, schema=list(COLUMNS), orient="row").write_parquet(given.gains)
    print(f"{len(rows)} components of {scenario.floor.racks} racks in {given.gains}")


if __name__ == "__main__":
    main()
