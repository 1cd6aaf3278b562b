from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thzsync.display import (
    half_width,
    number,
    quantity,
    signed,
    sparkline,
    with_half,
    with_unit,
)
from thzsync.display.numbers import fitting_unit


def test_a_rising_series_uses_every_bar_once() -> None:
    assert sparkline(range(8)) == "▁▂▃▄▅▆▇█"
    assert sparkline(range(8), plain=True) == "_.-=+*%#"


def test_equal_values_stand_at_half_height_and_gaps_stay_gaps() -> None:
    assert sparkline([2.0, 2.0]) == "▄▄"
    assert sparkline([1.0, float("nan"), 2.0]) == "▁ █"
    assert sparkline([]) == ""
    assert sparkline([float("nan")]) == " "


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200), st.integers(1, 50))
def test_a_sparkline_is_never_wider_than_asked(values: list[float], width: int) -> None:
    assert len(sparkline(values, width)) == min(len(values), width)


def test_numbers_read_like_in_a_paper() -> None:
    shown = [number(v) for v in (1049.6, 14.511, -0.54, 0.0, 12, None, float("inf"), "x")]
    assert shown == ["1,050", "14.51", "−0.54", "0", "12", "–", "–", "x"]
    assert number(27.3, pad=True) == "27.30"
    assert number(182.0, 2, pad=True) == "180"
    assert number(0.0, 2, pad=True) == "0"
    assert number(999.96) == "1,000"
    assert number(0.00123456) == "0.001235"
    assert number(1e-7) == "1e-07"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (62_920.0, "ms", "62.92 s"),
        (1944.0, "ms", "1,944 ms"),
        (0.05, "ms", "50 µs"),
        (0.0634, "J", "63.4 mJ"),
        (27.49, "J", "27.49 J"),
        (-20_000.0, "J", "−20 kJ"),
        (0.0, "ms", "0 ms"),
        (12_346.0, "racks", "12,350 racks"),
        (None, "ms", "–"),
        (float("nan"), "ms", "– ms"),
    ],
)
def test_a_quantity_takes_the_unit_that_fits(value: float | None, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


def test_numbers_of_one_sentence_share_a_unit() -> None:
    assert quantity(5_219.0, "ms") == "5,219 ms"
    assert quantity(5_219.0, "ms", largest=12_780.0) == "5.219 s"


@given(st.floats(1e-9, 1e12), st.sampled_from(["ms", "J"]))
def test_another_unit_is_the_same_quantity(value: float, unit: str) -> None:
    size = {"ns": 1e-6, "µs": 1e-3, "ms": 1.0, "s": 1e3}
    size |= {"nJ": 1e-9, "µJ": 1e-6, "mJ": 1e-3, "J": 1.0, "kJ": 1e3}
    name, factor = fitting_unit(unit, value)
    assert value * factor * size[name] == pytest.approx(value)
    assert value * factor < 1e4 or name in ("s", "kJ")


def test_a_sign_is_said_also_where_it_is_a_plus() -> None:
    assert [signed(v) for v in (1.5, -1.5, 0.0, None)] == ["+1.5", "−1.5", "0", "–"]


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (27.49, 8.8e-15, "0"),  # the rounding error of equal sums
        (-27.49, 0.0049, "0"),  # less than half of the last digit that is shown
        (27.49, 0.0051, "0.0051"),
        (1014.0, 2.04, "2"),
        (1e-9, 1e-10, "1e-10"),
        (0.0, 0.0, "0"),
        (0.0, 0.3, "0.3"),
        (27.49, None, ""),
        (27.49, float("nan"), ""),
    ],
)
def test_an_interval_below_the_last_digit_of_its_mean_is_zero(
    mean: float, half: float | None, text: str
) -> None:
    assert half_width(mean, half) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (5e9, "bit/s", "5 Gb/s"),
        (800e9, "bit/s", "800 Gb/s"),
        (524_288, "bytes", "512 KiB"),
        (100, "bytes", "100 B"),
        (290e9, "Hz", "290 GHz"),
        (0.1, "W", "100 mW"),
        (0.4, "W", "400 mW"),
        (40e-12, "J/bit/hop", "40 pJ/bit/hop"),
        (30e-6, "s", "30 µs"),
        (-3.5, "dB", "−3.5 dB"),
        (0.0, "W", "0 W"),
        (4, "", "4"),
    ],
)
def test_values_of_keys_take_a_prefix_that_fits(value: float, unit: str, text: str) -> None:
    assert with_unit(value, unit) == text


@pytest.mark.parametrize(
    ("value", "half", "unit", "text"),
    [
        (207.31, 3.7, "ms", "207.3 ± 3.7 ms"),
        (2.334, 2.9, "ms", "2.3 ± 2.9 ms"),
        (62_920.0, 150.0, "ms", "62.92 ± 0.15 s"),
        (1234.0, 370.0, "", "1,230 ± 370"),
        (0.02, 8.8, "%", "0.02 ± 8.8 %"),
        (5.0, 0.0, "%", "5 ± 0 %"),
        (0.0, 0.5, "J", "0 ± 0.5 J"),
        (12.345, None, "ms", "12.35 ms"),
        (12.345, float("nan"), "ms", "12.35 ms"),
    ],
)
def test_a_mean_has_no_digit_below_those_of_its_interval(
    value: float, half: float | None, unit: str, text: str
) -> None:
    assert with_half(value, half, unit) == text
