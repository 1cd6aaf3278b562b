"""The report in a real browser: it draws, it moves, it stays silent and it stays at home."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from tests.report.browser import Browser, chromium, chromium_present
from tests.report.results import FLOORS, crowded, save_fabric
from thzsync.answer import Answer
from thzsync.answer.store import save
from thzsync.display.numbers import LADDERS
from thzsync.experiments.compare import Comparison, compare
from thzsync.network import network_of
from thzsync.report import open_results, write_report
from thzsync.report.asked import panels
from thzsync.scenario import Scenario
from thzsync.simulation import Run

pytestmark = pytest.mark.skipif(
    not chromium_present(), reason="needs chromium and chromedriver (Debian: chromium-driver)"
)
CHARTS = "[...document.querySelectorAll('.chart')]"
DRAWN = f"return {CHARTS}.length > 0 && {CHARTS}.every(c => c.dataset.marks)"
PAPER_HEIGHT = 1000
"""What fits on a page of A4 between our margins [CSS pixels]."""
PIXELS = "return document.querySelector('#floor canvas').toDataURL()"


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(started: Browser, page: Path) -> Iterator[Browser]:
    """The report opened afresh; afterwards nothing may have complained or gone out."""
    started.log("browser")
    started.requests()
    started.prefer(prefers_color_scheme="light", prefers_reduced_motion="no-preference")
    started.open(page)
    started.wait_for(DRAWN)
    yield started
    assert [entry["message"] for entry in started.log("browser")] == []
    assert started.requests() == []
    assert started.run("return window.pwned === undefined")


def now(browser: Browser) -> int:
    return int(browser.run("return document.getElementById('slider').value"))


def test_every_chart_has_marks(browser: Browser) -> None:
    marks = browser.run(f"return {CHARTS}.map(c => [c.closest('section').id, +c.dataset.marks])")
    assert {name for name, _ in marks} == {
        "curves", "plane", "split", "distributions", "traffic", "gantt", "replay", "synthesis",
        "weights",
    }  # fmt: skip
    assert all(count > 0 for _, count in marks), marks


def test_published_values_are_hollow_marks_beside_ours(browser: Browser) -> None:
    count = "return document.querySelectorAll('#{} .published').length".format
    assert browser.run(count("curves")) == 2 * 3  # completion and energy of three policies
    assert browser.run(count("plane")) == 3
    assert browser.run(count("synthesis")) == 4
    assert browser.run(count("weights")) == 2


def test_the_slider_moves_the_replay(browser: Browser) -> None:
    browser.run("document.getElementById('slider').focus()")
    before, picture = now(browser), browser.run(PIXELS)
    browser.press("ArrowRight")
    assert now(browser) > before
    assert browser.run(PIXELS) != picture
    browser.press("ArrowLeft")
    assert now(browser) == before
    assert browser.run(PIXELS) == picture
    spoken = browser.run("return document.getElementById('slider').getAttribute('aria-valuetext')")
    assert re.search(r"\d", spoken)


def test_dragging_the_slider_moves_the_replay(browser: Browser) -> None:
    picture = browser.run(PIXELS)
    browser.run(
        "const s = document.getElementById('slider'); s.value = s.max * 0.6;"
        "s.dispatchEvent(new Event('input'))"
    )
    assert browser.run(PIXELS) != picture


def test_play_runs_and_pause_holds(browser: Browser) -> None:
    before = now(browser)
    browser.run("document.getElementById('play').click()")
    browser.wait_for(f"return +document.getElementById('slider').value > {before}")
    browser.run("document.getElementById('play').click()")
    held = now(browser)
    browser.run("return new Promise(done => setTimeout(done, 120))")
    assert now(browser) == held


def test_without_motion_the_replay_advances_in_stills(browser: Browser) -> None:
    browser.prefer(prefers_reduced_motion="reduce")
    seen = browser.run(
        "const slider = document.getElementById('slider'), seen = new Set([slider.value]);"
        "document.getElementById('play').click();"
        "return new Promise(done => {"
        "  const end = performance.now() + 1500;"
        "  const look = () => { seen.add(slider.value);"
        "    performance.now() < end ? requestAnimationFrame(look) : done(seen.size); };"
        "  look(); })"
    )
    assert 2 <= seen <= 4


def test_choosing_a_policy_changes_traffic_timeline_and_replay(browser: Browser) -> None:
    marks = f"return {CHARTS}.filter(c => c.closest('#traffic,#gantt')).map(c => c.dataset.marks)"
    before = browser.run(marks)
    browser.run("document.querySelector('#picker input[value=all-wired]').click()")
    after = browser.run(marks)
    assert before != after
    assert after[1] == "0"  # nothing over THz


def test_the_timeline_zooms_and_pans_with_the_keyboard(browser: Browser) -> None:
    drawn = "return +document.querySelector('#gantt .chart').dataset.marks"
    whole = browser.run(drawn)
    browser.run("document.querySelector('#gantt canvas').focus()")
    for _ in range(8):
        browser.run(
            "document.querySelector('#gantt canvas')"
            ".dispatchEvent(new KeyboardEvent('keydown', {key: '+'}))"
        )
    assert 0 < browser.run(drawn) < whole
    browser.run(
        "document.querySelector('#gantt canvas')"
        ".dispatchEvent(new KeyboardEvent('keydown', {key: '0'}))"
    )
    assert browser.run(drawn) == whole


def test_the_timeline_tells_what_is_under_the_pointer_and_a_click_moves_the_clock(
    browser: Browser,
) -> None:
    browser.run("document.getElementById('gantt').scrollIntoView({behavior: 'instant'})")
    left, top = browser.run(
        "const frame = document.querySelector('#gantt canvas').getBoundingClientRect();"
        "return [frame.left, frame.top]"
    )
    place = {"x": left + 136, "y": top + 34}  # the first task of the first stage
    browser.devtools("Input.dispatchMouseEvent", type="mouseMoved", **place)
    told = browser.wait_for("return document.getElementById('tip').textContent")
    assert "forward" in told
    for kind in ("mousePressed", "mouseReleased"):
        button = {"button": "left", "buttons": 1, "clickCount": 1}
        browser.devtools("Input.dispatchMouseEvent", type=kind, **button, **place)
    end = browser.run("return +document.getElementById('slider').max")
    assert now(browser) < 0.02 * end


def test_hiding_a_policy_takes_its_lines_away(browser: Browser) -> None:
    lines = "return document.querySelectorAll('#curves [data-series]').length"
    assert browser.run(lines) == 9
    browser.run("document.querySelector('#curves .legend button').click()")
    assert browser.run(lines) == 6


def test_curves_can_be_read_with_the_keyboard(browser: Browser) -> None:
    browser.run("document.querySelector('#curves svg[tabindex]').focus()")
    browser.press("ArrowRight", "ArrowRight")
    assert (
        browser.run("return document.querySelector('#tip b, #tip').textContent.match(/\\d+/)[0]")
        == "2"
    )
    browser.press("Escape")
    assert browser.run("return document.getElementById('tip').hidden")


@pytest.mark.parametrize("width", [390, 760, 1280])
def test_no_two_names_in_the_plane_overlap(
    browser: Browser, comparison: Comparison, width: int, tmp_path: Path
) -> None:
    many = save_fabric(crowded(comparison), tmp_path)
    browser.open(write_report(open_results(many)), width)
    browser.wait_for(DRAWN)
    boxes = browser.run(
        "return [...document.querySelectorAll('#plane .label')].map(t => {"
        "const b = t.getBoundingClientRect();"
        "return [t.textContent, b.left, b.top, b.right, b.bottom]})"
    )
    names = {name for name, *_ in boxes}
    assert len(names) == 7  # six policies and the oracle: none is left without a name
    for (_, *a), (_, *b) in combinations(boxes, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    assert all(left >= 0 and right <= width for _, left, _, right, _ in boxes)


def test_a_single_run_shows_no_plane(browser: Browser, run: Run, tmp_path: Path) -> None:
    """Nor learning curves, since the run has one iteration: single points are no pictures."""
    browser.open(write_report(open_results(run.save(tmp_path / "run"))))
    browser.wait_for(DRAWN)
    drawn = browser.run(f"return {CHARTS}.map(c => c.closest('section').id)")
    assert set(drawn) == {"split", "distributions", "traffic", "gantt", "replay"}


def test_ticks_can_be_told_apart(browser: Browser) -> None:
    columns = browser.run(
        "return [...document.querySelectorAll('#curves .chart svg')].map(svg => "
        "[...svg.querySelectorAll('text[text-anchor=end]')].map(t => t.textContent))"
    )
    assert len(columns) == 3
    for names in columns:
        assert len(names) >= 2
        assert len(names) == len(set(names)), names


def test_every_heat_map_has_a_scale_and_full_colour_is_a_full_fibre(browser: Browser) -> None:
    scales = browser.run(
        "return [...document.querySelectorAll('#traffic figure:not(.table)')].map(f => "
        "[...f.querySelectorAll('.scale span')].map(s => s.textContent))"
    )
    assert len(scales) == 5
    assert all(len(names) == 5 for names in scales)
    assert scales[-1] == ["0 %", "6.3 %", "25 %", "56 %", "100 %"]


def test_every_chart_says_its_unit_or_which_end_is_better(browser: Browser) -> None:
    captions = browser.run(
        "return [...document.querySelectorAll('figure:not(.table) figcaption small')]"
        ".map(s => s.textContent)"
    )
    figures = browser.run("return document.querySelectorAll('figure:not(.table)').length")
    assert len(captions) == figures
    assert all(captions)


def test_on_a_phone_no_caption_is_cut(browser: Browser, page: Path) -> None:
    browser.open(page, 390)
    browser.wait_for(DRAWN)
    cut = browser.run(
        "return [...document.querySelectorAll('figcaption, .lead, .reasons dd')]"
        ".filter(e => e.getBoundingClientRect().right > 390 || e.scrollWidth > e.clientWidth + 1)"
        ".map(e => e.textContent)"
    )
    assert cut == []


def test_on_a_phone_tables_scroll_and_their_first_column_stays(
    browser: Browser, page: Path
) -> None:
    browser.open(page, 400)
    browser.wait_for(DRAWN)
    cue = "return document.querySelector('#headline .table').classList.contains('more')"
    assert browser.run(cue)
    told = (
        "return getComputedStyle(document.querySelector('#headline figcaption'), '::after').content"
    )
    assert browser.run(told) not in ("none", "normal", '""')
    first = "return document.querySelector('#headline tbody th').getBoundingClientRect().left"
    second = "return document.querySelector('#headline tbody td').getBoundingClientRect().left"
    stays, goes = browser.run(first), browser.run(second)
    browser.run("document.querySelector('#headline .scroll').scrollLeft = 60")
    assert browser.run(first) == stays
    assert browser.run(second) == goes - 60
    browser.run(
        "const s = document.querySelector('#headline .scroll'); s.scrollLeft = s.scrollWidth"
    )
    browser.wait_for(f"{cue} === false")
    browser.open(page, 1280)
    browser.wait_for(DRAWN)


@pytest.mark.parametrize("width", [400, 1280])
def test_racks_keep_their_numbers(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width)
    browser.wait_for(DRAWN)
    racks = "return JSON.parse(document.getElementById('data').textContent).floor.racks.length"
    numbered = "return +document.getElementById('floor').dataset.numbered"
    assert browser.run(numbered) == browser.run(racks) > 0


def test_the_timeline_keeps_the_playhead_under_zoom(browser: Browser) -> None:
    share = "return document.querySelector('#gantt .chart').dataset.playhead"
    slide = (
        "const s = document.getElementById('slider'); s.value = s.max * arguments[0];"
        "s.dispatchEvent(new Event('input'))"
    )
    zoom = "document.querySelector('#gantt [aria-label=\"Zoom in\"]').click()"
    for place in (0.02, 0.9):
        browser.run(slide, place)
        for _ in range(8):
            browser.run(zoom)
            assert 0 <= float(browser.run(share)) <= 1
    browser.run(slide, 0.1)  # far outside what is shown: the view follows
    assert 0 <= float(browser.run(share)) <= 1


def test_three_findings_stand_and_the_others_are_folded(browser: Browser) -> None:
    assert browser.run("return document.querySelectorAll('.answer > .reasons > div').length") == 3
    hidden = "return document.querySelector('.answer details .reasons').checkVisibility()"
    assert not browser.run(hidden)
    browser.run("document.querySelector('.answer summary').click()")
    assert browser.run(hidden)


def test_what_is_far_from_the_paper_is_not_red(browser: Browser) -> None:
    colour = browser.run(
        "const tone = document.createElement('span'); tone.className = 'tone far';"
        "document.querySelector('#headline td').append(tone);"
        "const c = getComputedStyle(tone).color.match(/\\d+/g).map(Number); tone.remove(); return c"
    )
    assert max(colour) - min(colour) < 30, "a shade of grey"


def test_on_paper_charts_are_light_and_fit_and_the_screen_comes_back(browser: Browser) -> None:
    theme = "return document.documentElement.dataset.theme"
    width = "return document.querySelector('#curves .chart svg').viewBox.baseVal.width"
    browser.prefer(prefers_color_scheme="dark")
    browser.wait_for(f"{theme} === 'dark'")
    before = browser.run(width)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run(theme) == "light"
    assert browser.run(width) < before
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run(theme) == "dark"
    assert browser.run(width) == before


def test_on_paper_no_column_is_cut_and_the_first_page_holds_answer_and_numbers(
    browser: Browser,
) -> None:
    browser.devtools("Emulation.setEmulatedMedia", media="print", features=[])
    browser.run("dispatchEvent(new Event('beforeprint'))")
    cut = browser.run(
        "const edge = document.querySelector('main').getBoundingClientRect().right;"
        "return [...document.querySelectorAll('table, .chart svg, .chart canvas')]"
        ".filter(e => e.getBoundingClientRect().right > edge + 1).length"
    )
    bottom = browser.run(
        "return document.getElementById('headline').getBoundingClientRect().bottom + scrollY"
    )
    browser.run("dispatchEvent(new Event('afterprint'))")
    browser.devtools("Emulation.setEmulatedMedia", media="", features=[])
    assert cut == 0
    assert bottom < PAPER_HEIGHT


def test_times_and_energies_take_the_same_units_as_the_tables(browser: Browser) -> None:
    units = browser.run(
        "const { units } = JSON.parse(document.getElementById('data').textContent);"
        "return units.map(ladder => ladder.map(rung => rung[0]))"
    )
    assert units == [[name for name, _ in ladder] for ladder in LADDERS]


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("floor", ["rows", "grid", "table"])
def test_any_floor_plays_and_its_switches_have_names(
    browser: Browser, floor: str, width: int, tmp_path: Path
) -> None:
    scenario = Scenario.preset("tiny").with_(FLOORS[floor])
    found = compare(scenario, ("fixed-ratio",), 1, 1, workers=1).details["fixed-ratio"]
    browser.open(write_report(open_results(found.save(tmp_path / "run"))), width)
    browser.wait_for(DRAWN)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    picture = browser.run(PIXELS)
    browser.run(
        "const s = document.getElementById('slider'); s.value = s.max * 0.6;"
        "s.dispatchEvent(new Event('input'))"
    )
    assert browser.run(PIXELS) != picture
    names = network_of(scenario).switch_names
    listed = browser.run(
        "return [...document.querySelectorAll('#traffic tbody th')].map(t => t.textContent)"
    )
    assert listed
    assert all(any(name in fibre for name in names) for fibre in listed)
    told = browser.run(
        "const canvas = document.querySelector('#floor canvas'), seen = new Set();"
        "canvas.scrollIntoView({behavior: 'instant'});"
        "const frame = canvas.getBoundingClientRect(), tip = document.getElementById('tip');"
        "for (let x = 0; x < frame.width; x += 5) for (let y = 0; y < frame.height; y += 5) {"
        "  canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: frame.left + x,"
        "    clientY: frame.top + y}));"
        "  if (!tip.hidden) seen.add(tip.querySelector('b').textContent); }"
        "return [...seen]"
    )
    assert set(names) <= set(told)
    assert any("row 1" in name for name in told)
    text = browser.run("return document.querySelector('main').innerText")
    assert not re.search(r"\brings?\b", text)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_every_screen_and_scheme(
    browser: Browser, page: Path, scheme: str, width: int, tmp_path: Path
) -> None:
    browser.prefer(prefers_color_scheme=scheme)
    browser.open(page, width)
    browser.wait_for(DRAWN)
    assert browser.run("return document.documentElement.dataset.theme") == scheme
    assert browser.run("return document.documentElement.scrollWidth") <= width
    picture = browser.screenshot(tmp_path / f"{scheme}-{width}.png", whole_page=True)
    assert picture.stat().st_size > 30_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_of_an_answer_fits_and_its_bars_have_lengths(
    browser: Browser, answered: Answer, scheme: str, width: int, tmp_path: Path
) -> None:
    save(answered, tmp_path)
    browser.prefer(prefers_color_scheme=scheme)
    browser.open(write_report(open_results(tmp_path)), width)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    lengths = browser.run(
        "return [...document.querySelectorAll('.bar')].map(bar => "
        "[...bar.children].reduce((sum, part) => sum + part.offsetWidth, 0) / bar.offsetWidth)"
    )
    expected = [sum(bar.lengths) / 100 for panel in panels(answered) for bar in panel.bars]
    assert lengths == pytest.approx(expected, abs=0.02)


def test_the_button_turns_the_lights_off_and_on(browser: Browser) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = browser.run(ground)
    browser.run("document.getElementById('theme').click()")
    assert browser.run(ground) != light
    browser.run("document.getElementById('theme').click()")
    assert browser.run(ground) == light
