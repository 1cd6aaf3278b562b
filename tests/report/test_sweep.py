"""The page of a sweep: any metric against any axis, crossovers, tables, failures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.report.browser import Browser, chromium, chromium_present
from tests.report.results import HOSTILE, with_iterations
from tests.report.test_html import Page, data_of
from tests.studies.sweeps import made_up
from thzsync.assumptions import assumptions
from thzsync.cli import main
from thzsync.display import markdown_table
from thzsync.display.metrics import MORE_ENERGY, REWARD, SWEPT
from thzsync.experiments.comparison import METRICS
from thzsync.report import Results, write_report
from thzsync.report.answer import answer
from thzsync.report.data import report_data
from thzsync.report.html import title_of
from thzsync.report.sweep import Lead, difference_pct, leads, swept_scenarios
from thzsync.report.sweep_tables import crossover_table, sweep_tables
from thzsync.studies import Sweep
from thzsync.studies.axes import heading, key_name
from thzsync.studies.curves import crossovers, panels
from thzsync.studies.specification import specify

CHARTS = "[...document.querySelectorAll('#sweep .chart')]"
DRAWN = f"return {CHARTS}.length > 0 && {CHARTS}.every(c => c.dataset.marks)"


def sweep_of(results: Results) -> Sweep:
    assert results.sweep is not None
    return results.sweep


def small(axes: dict[str, list[Any]], **options: Any) -> Sweep:
    """A made-up sweep of two policies."""
    contenders = [{"name": name, "policy": "all-wired"} for name in ("a", "b")]
    asked = {"axes": axes, "contenders": contenders, "seeds": 3} | options
    return with_iterations(made_up(specify(asked, "x")))


def shown(sweep: Sweep) -> Results:
    return Results("sweep", Path(), sweep=sweep)


def test_the_page_holds_the_numbers_of_the_panels(swept: Results) -> None:
    found = report_data(swept)["sweep"]
    (first, *_) = panels(sweep_of(swept), "completion_ms", "thz.subbands", "thz.max_power_w")
    drawn = found["panels"]["thz.subbands"][0]
    curve = drawn["series"]["completion_ms"]["fixed-ratio"]
    assert drawn["held"] == {"thz.max_power_w": 0}
    assert curve["mean"] == pytest.approx(first.curves[-1].mean)
    assert curve["half"] == pytest.approx(first.curves[-1].half, rel=1e-4)
    assert drawn["crossovers"]["completion_ms"][0]["x"] == first.crossovers[0].x
    assert [axis["places"] for axis in found["axes"]] == [[2, 4, 16], [0.1, 0.4]]
    assert [axis["wide"] for axis in found["axes"]] == [True, False]
    assert len(found["panels"]["thz.max_power_w"]) == 3


def test_values_without_a_scale_stand_side_by_side() -> None:
    swept = small({"thz.subbands": [2, 4], "collectives.allreduce": ["trees", "ring"]})
    axis = report_data(Results("sweep", Path(), sweep=swept))["sweep"]["axes"][1]
    assert (axis["places"], axis["names"], axis["numeric"]) == ([0, 1], ["trees", "ring"], False)


def test_who_leads_is_said_only_where_paired_seeds_decide() -> None:
    swept = small({"thz.subbands": [2, 5, 8]})
    # At five subbands both take 10 ms, but for the seeds' tenths.
    assert leads(swept) == [Lead("a", True), Lead("a", False), Lead("b", True)]
    told = answer(shown(swept))
    assert re.findall(r"\d+", told.headline) == ["1", "3", "1", "1"]  # one each, of three points
    assert re.findall(r"\d+\.\d+", told.reasons[0].sentence) == ["5.05", "4.93", "5.17"]
    single = small({"thz.subbands": [2, 8]}, seeds=1)
    assert [lead.decided for lead in leads(single)] == [False, False]
    alone = answer(shown(single))
    assert re.findall(r"\d+\.?\d*", alone.headline) == []
    assert len(re.findall(r"\d+\.?\d*", alone.reasons[0].sentence)) == 1, "no interval"


def test_one_policy_has_a_range_and_a_sweep_of_nothing_has_tables_only() -> None:
    one = specify({"policies": ["all-wired"], "axes": {"thz.subbands": [2, 4]}, "seeds": 2}, "x")
    swept = shown(with_iterations(made_up(one)))
    assert re.findall(r"\d+ ms", answer(swept).headline) == ["10 ms", "10 ms"]
    assert [m["key"] for m in report_data(swept)["sweep"]["metrics"]] == [
        m.key for m in (*SWEPT, *MORE_ENERGY)
    ]
    nothing = shown(made_up(specify({"policies": ["all-wired"], "seeds": 2}, "x")))
    assert "sweep" not in report_data(nothing)
    assert title_of(nothing)


def test_the_first_picture_is_the_paired_difference_in_per_cent() -> None:
    """At two subbands the second policy takes 16 ms and a tenth per seed, the first 10 ms."""
    swept = small({"thz.subbands": [2, 8]})
    found = report_data(shown(swept))["sweep"]
    assert found["metrics"][0]["key"] == "makespan_diff_pct"
    assert found["against"] == "a"
    (panel,) = found["panels"]["thz.subbands"]
    curves = panel["series"]["makespan_diff_pct"]
    assert set(curves) == {"b"}, "the reference is the zero line"
    assert curves["b"]["mean"] == pytest.approx([61.0, -59.0])
    assert difference_pct(swept, swept.points[0], "b") == pytest.approx((61.0, 2.484), rel=1e-3)
    assert curves["b"]["half"] == pytest.approx([2.484, 2.484], rel=1e-3)
    listed = sweep_tables(swept)["points"][0]
    assert listed.headings()[0] == heading("thz.subbands")
    assert listed.headings()[2].endswith(" a [%]")


def test_every_metric_of_an_iteration_can_be_shown() -> None:
    assert {metric.key for metric in (*SWEPT, *MORE_ENERGY)} == set(METRICS)


@pytest.mark.parametrize("metric", METRICS)
def test_a_crossover_in_any_metric_can_be_reported(metric: str, tmp_path: Path) -> None:
    made = small({"thz.subbands": [2, 8]})
    flat = {name: pl.lit(1.0) for name in METRICS}
    crossing = made.frame.with_columns(**flat | {metric: made.frame["completion_ms"]})
    folder = replace(made, frame=crossing).save(tmp_path / "sweep")
    assert {change["metric"] for change in crossovers(replace(made, frame=crossing))} == {metric}
    assert main(["report", str(folder)]) == 0


def test_the_assumptions_follow_the_axes() -> None:
    made = small({"optical.inter_bps": [100e9, 300e9], "thz.subbands": [2, 4]})
    found = swept_scenarios(made)
    assert {(s.optical.inter_bps, s.thz.subbands) for s in found} == {
        (100e9, 2), (100e9, 4), (300e9, 2), (300e9, 4),
    }  # fmt: skip
    assert answer(shown(made)).assumed == assumptions(*found)


def test_tables_list_every_point_every_crossover_and_every_failure(swept: Results) -> None:
    found = sweep_of(swept)
    tables = sweep_tables(found)
    points, failures = tables["points"]
    assert len(points.rows) == 3 * 2 * 3
    assert [row[-1] for row in failures.rows] == ["it <b>broke</b>"]
    listed = crossover_table(crossovers(found))
    # Two policies cross the first one in each of two panels, in both times.
    assert len(listed.rows) == 2 * 2 * 2
    assert "5.05" in markdown_table(listed)
    words = [reason.word for reason in answer(swept).reasons]
    assert words[-2:] == ["Failed", "Not there yet"]


def test_a_share_and_its_interval_are_percentages() -> None:
    swept = small({"thz.subbands": [2, 4]})
    halves = swept.frame.with_columns(thz_share=0.5 + 0.01 * swept.frame["seed"])
    row = sweep_tables(replace(swept, frame=halves))["points"][0].cells()[0]
    assert "51.0 ± 2.5" in [str(cell) for cell in row]


def test_the_command_writes_a_page_in_which_names_stay_text(
    swept: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "page.html"
    arguments = ["report", str(swept.folder), "--out", str(out), "--figures", "--json"]
    assert main(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["figures"]) == 4
    assert all(Path(path).is_file() for path in document["figures"])
    parsed = Page(out.read_text("utf-8"))
    assert len(parsed.scripts) == 3
    assert not {"img", "i-b"} & {tag for tag, _ in parsed.elements}
    assert HOSTILE in [policy["label"] for policy in data_of(parsed)["policies"]]
    assert {"answer", "sweep", "points"} <= set(parsed.ids)
    assert len(parsed.ids) == len(set(parsed.ids))


def test_an_unfinished_sweep_says_how_to_go_on(
    swept: Results, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (swept.folder / "sweep.json").read_text("utf-8")
    (tmp_path / "sweep.json").write_text(text, "utf-8")
    assert main(["report", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert str(tmp_path) in line
    assert "resume" in line, "the remedy"


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if not chromium_present():
        pytest.skip("needs chromium and chromedriver (Debian: chromium-driver)")
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(started: Browser, swept: Results) -> Iterator[Browser]:
    """The page opened afresh; afterwards nothing may have complained or gone out."""
    started.log("browser")
    started.requests()
    started.prefer(prefers_color_scheme="light")
    started.open(write_report(swept))
    started.wait_for(DRAWN)
    yield started
    assert [entry["message"] for entry in started.log("browser")] == []
    assert started.requests() == []
    assert started.run("return window.pwned === undefined")


def choose(browser: Browser, name: str, value: str) -> None:
    browser.run(
        "const s = document.querySelector(`select[name='${arguments[0]}']`);"
        "s.value = arguments[1]; s.dispatchEvent(new Event('change'))",
        name,
        value,
    )
    browser.wait_for(DRAWN)


def count(browser: Browser, selector: str) -> int:
    return int(browser.run("return document.querySelectorAll(arguments[0]).length", selector))


def test_a_second_axis_is_small_multiples_with_crossovers_and_their_intervals(
    browser: Browser,
) -> None:
    assert browser.run(f"return {CHARTS}.map(c => +c.dataset.marks)") == [6, 6]  # two differences
    choose(browser, "metric", "completion_ms")
    assert browser.run(f"return {CHARTS}.map(c => +c.dataset.marks)") == [9, 9]
    assert count(browser, "#sweep .crossover") == 4
    assert count(browser, "#sweep .crossover-interval") == 4
    said = browser.run("return document.querySelector('.crossings').textContent")
    assert "5.05" in said
    browser.run("document.querySelectorAll('#sweep .legend button')[2].click()")
    assert count(browser, "#sweep .crossover") == 2, "a hidden policy crosses nobody"
    browser.run("document.querySelectorAll('#sweep .legend button')[2].click()")


def test_any_metric_against_any_axis(browser: Browser) -> None:
    choose(browser, "metric", "completion_ms")
    choose(browser, "axis", "thz.max_power_w")
    assert browser.run(f"return {CHARTS}.map(c => +c.dataset.marks)") == [6, 6, 6]
    choose(browser, "metric", "reward")
    captions = browser.run(
        "return [...document.querySelectorAll('#sweep figure:not(.table) figcaption')]"
        ".map(c => c.textContent)"
    )
    held = key_name("thz.subbands")
    for caption, value in zip(captions, (2, 4, 16), strict=True):
        assert caption.startswith(f"{REWARD.title}, {held} = {value}")
    assert count(browser, "#sweep .crossover") == 0


def test_the_first_picture_has_a_zero_line_with_bands_around_the_differences(
    browser: Browser,
) -> None:
    assert count(browser, "#sweep .zero") == 2  # one in each panel
    places = browser.run(
        "const svg = document.querySelector('#sweep svg[tabindex]');"
        "const zero = +svg.querySelector('.zero').getAttribute('y1');"
        "const tick = [...svg.querySelectorAll('text')].find(t => t.textContent === '0');"
        "return [zero, +tick.getAttribute('y') - 4]"
    )
    assert places[0] == places[1]
    bands = "return document.querySelectorAll('#sweep [data-series] path[style*=opacity]').length"
    assert browser.run(bands) == 4
    said = browser.run("return document.querySelector('#sweep .zero + text').textContent")
    assert said == "All-wired"
    # A crossover stands where a curve crosses the zero line.
    gap = browser.run(
        "const svg = document.querySelector('#sweep svg[tabindex]');"
        "const zero = +svg.querySelector('.zero').getAttribute('y1');"
        "const at = +svg.querySelector('.crossover').getAttribute('x1');"
        "const path = [...svg.querySelectorAll('[data-series] path')].find(p => p.getAttribute('d')"
        "  .startsWith('M') && !p.getAttribute('d').endsWith('Z'));"
        "const ends = path.getAttribute('d').slice(1).split('L')"
        "  .map(place => place.split(',').map(Number));"
        "const near = ends.reduce((a, b) => Math.abs(b[0] - at) < Math.abs(a[0] - at) ? b : a);"
        "return Math.abs(near[1] - zero)"
    )
    assert gap < 12


def test_curves_that_compete_do_not_share_a_pixel(started: Browser, tmp_path: Path) -> None:
    close = small({"thz.subbands": [4, 5, 6]})  # 12, 10 and 8 ms beside 10 ms
    started.open(write_report(Results("sweep", tmp_path, sweep=close)))
    started.wait_for(DRAWN)
    choose(started, "metric", "makespan_ms")
    low = started.run("return document.querySelector('#sweep svg text').textContent")
    assert float(low) > 5


def test_a_third_axis_is_held(started: Browser, tmp_path: Path) -> None:
    axes = {"thz.subbands": [2, 8], "thz.max_power_w": [0.1, 0.2, 0.4], "thz.rf_chains": [1, 2]}
    three = Results("sweep", tmp_path, sweep=small(axes))
    started.open(write_report(three))
    started.wait_for(DRAWN)
    assert count(started, "#sweep .chart") == 3
    choose(started, "at thz.rf_chains", "1")
    assert count(started, "#sweep .chart") == 3
    choose(started, "split", "thz.rf_chains")
    assert count(started, "#sweep .chart") == 2


def test_curves_are_read_with_the_keyboard(browser: Browser) -> None:
    browser.run("document.querySelector('#sweep svg[tabindex]').focus()")
    browser.press("ArrowRight", "ArrowRight")
    told = browser.run("return document.getElementById('tip').textContent")
    assert told.startswith(f"{heading('thz.subbands')} = 4")
    browser.press("Escape")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_every_screen_and_scheme(
    browser: Browser, swept: Results, scheme: str, width: int
) -> None:
    browser.prefer(prefers_color_scheme=scheme)
    browser.open(write_report(swept), width)
    browser.wait_for(DRAWN)
    assert browser.run("return document.documentElement.dataset.theme") == scheme
    assert browser.run("return document.documentElement.scrollWidth") <= width


def test_the_decisive_column_of_two_axes_is_in_sight(browser: Browser, swept: Results) -> None:
    for width in (400, 1280):
        browser.open(write_report(swept), width)
        browser.wait_for(DRAWN)
        right = browser.run(
            "const heads = [...document.querySelectorAll('#points th[scope=col]')];"
            "return heads.find(h => h.textContent.startsWith('vs ')).getBoundingClientRect().right"
        )
        if width == 1280:
            assert right < width
        first = "return document.querySelector('#points tbody th').getBoundingClientRect().left"
        before = browser.run(first)
        browser.run("document.querySelector('#points .scroll').scrollLeft = 80")
        assert browser.run(first) == before, "the first column stays"


def test_on_paper_nothing_is_cut(browser: Browser) -> None:
    browser.devtools("Emulation.setEmulatedMedia", media="print", features=[])
    browser.run("dispatchEvent(new Event('beforeprint'))")
    cut = browser.run(
        "const edge = document.querySelector('main').getBoundingClientRect().right;"
        "return [...document.querySelectorAll('.chart svg, figcaption')]"
        ".filter(e => e.getBoundingClientRect().right > edge + 1).length"
    )
    browser.run("dispatchEvent(new Event('afterprint'))")
    browser.devtools("Emulation.setEmulatedMedia", media="", features=[])
    assert cut == 0
