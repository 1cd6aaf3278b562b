"""Absorption in the air of a data centre."""

from __future__ import annotations

from typing import Final

import numpy as np

from thzsync.arrays import FloatArray

# Recommendation ITU-R P.676-12, Annex 1 (line by line), as computed by the package itur 0.4.0:
# dry air of 1013.25 hPa, 25 C, 11.5 g/m3 of water vapour (50 % relative humidity). The points lie
# so that lines between them are within 0.5 % of the computed curve.
_TABLE: Final = (
    (275, 5.74), (285.25, 6.385), (294.25, 7.1), (298.25, 7.501), (301.75, 7.929),
    (305, 8.431), (307.75, 8.992), (310.25, 9.691), (312.5, 10.6), (313.5, 11.14),
    (314.5, 11.81), (315.5, 12.66), (316.25, 13.45), (317.25, 14.83), (318, 16.17),
    (318.75, 17.9), (319.5, 20.14), (320.25, 23.01), (320.75, 25.31), (321.25, 27.97),
    (321.75, 31.05), (322.25, 34.62), (322.75, 38.76), (323.75, 48.13), (324.25, 52.4),
    (324.75, 55.33), (325, 56.04), (325.25, 56.16), (325.5, 55.68), (326, 53.14),
    (326.5, 49.09), (327.75, 37.47), (328.25, 33.47), (328.75, 30.06), (329.25, 27.22),
    (330, 23.85), (330.75, 21.33), (331.5, 19.44), (332.5, 17.62), (333.25, 16.62),
    (334.25, 15.64), (335.25, 14.94), (336.5, 14.35), (337.75, 13.96), (339.25, 13.68),
    (340.75, 13.57), (342.5, 13.59), (346.5, 14.06), (350.5, 15.05), (354.25, 16.51),
    (356, 17.43), (357.75, 18.57), (359.5, 19.98), (361.25, 21.77), (363, 24.09),
    (364.5, 26.67), (365.5, 28.82), (366.25, 30.73), (367, 32.97), (367.75, 35.59),
    (368.75, 39.76), (369.5, 43.49), (370.25, 48), (371, 53.54), (371.75, 60.42),
    (372.25, 65.95), (372.75, 72.41), (373.25, 80.02), (373.75, 89.03), (374.25, 99.77),
    (374.5, 105.9), (375, 120.1),
)  # fmt: skip
"""Frequency [GHz] and attenuation [dB/km]."""
FREQUENCY_HZ: Final = 1e9 * np.array([frequency for frequency, _ in _TABLE])
ATTENUATION_DB_PER_KM: Final = np.array([attenuation for _, attenuation in _TABLE])


def attenuation_db_per_km(frequency_hz: FloatArray) -> FloatArray:
    """Attenuation by oxygen and water vapour at frequencies of the table [dB/km]."""
    found: FloatArray = np.interp(frequency_hz, FREQUENCY_HZ, ATTENUATION_DB_PER_KM)
    return found
