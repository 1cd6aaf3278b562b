"""The tables in Markdown pages are those of the results, and mistakes are one line."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.budgets import judged
from tests.docs.pages import PAGES, ROOT
from tests.paper.ladders import made_up
from tests.paper.planes import made_up as made_up_plane
from tests.paper.reading_sets import made_up as made_up_readings
from thzsync.errors import ThzSyncError
from thzsync.experiments.compare import compare
from thzsync.paper.fabric import FabricFigure
from thzsync.paper.figure import add_part
from thzsync.paper.oracle import Oracle
from thzsync.paper.synthesis import SynthesisFigure
from thzsync.paper.weights import WeightsFigure
from thzsync.report.markdown import BLOCKS, fill, main, read_parts
from thzsync.scenario import Scenario

BENCH = {
    "optical": {
        "packet_hops_per_s": 12.5e6,
        "ratio": 100.0,
        "cost_ratio_1024_to_32_racks": 1.5,
    },
    "decision": {"p2p": {"p50_us": 250.0, "p99_us": 400.0}},
}
PAGE = "before\n<!-- table:{name} -->\nold\n<!-- /table -->\nafter\n"


def synthesis_row(method: str, mean_ms: float, paper_ms: float | None) -> dict[str, Any]:
    return {
        "collective": "a2a",
        "method": method,
        "racks": 12,
        "stragglers": False,
        "mean_ms": mean_ms,
        "ci95_ms": math.nan,  # one seed has no interval
        "bound_ms": 20.0,
        "paper_ms": paper_ms,
        "deviation_pct": None,
    }


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reproduction made by real, tiny runs and the code that writes real ones."""
    folder = tmp_path_factory.mktemp("results")
    tiny = Scenario.preset("tiny")
    runs = compare(tiny, ("all-wired", "fixed-ratio"), seeds=2, iterations=2, workers=1)
    # THz-SynC would have to be trained; its place in the tables is what matters here.
    as_thz_sync = {"all-wired": "thz-sync", "fixed-ratio": "fixed-ratio"}
    runs = replace(
        runs,
        policies=tuple(as_thz_sync.values()),
        iterations=runs.iterations.with_columns(runs.iterations["policy"].replace(as_thz_sync)),
        details={},
    )
    oracle = Oracle({"p2p": (1.0, 0.5), "a2a": (0.25, 1.0)}, -0.5, 11.0, 0.05)
    add_part(folder, "fabric", FabricFigure(runs, oracle, first=1))
    rows = [synthesis_row("proposed", 26.62, 24.2), synthesis_row("no-channel", 29.28, None)]
    add_part(folder, "synthesis", SynthesisFigure(Scenario.preset("single-ring"), 1, rows))
    add_part(folder, "weights", WeightsFigure({(0.7, 0.3): runs}, iterations=2))
    add_part(folder, "ladder", made_up(2))
    add_part(folder, "beyond", made_up_plane(2))
    add_part(folder, "readings", made_up_readings())
    (folder / "bench.json").write_text(json.dumps(BENCH | {"budgets": judged(BENCH)}), "utf-8")
    return folder


def filled(results: Path, name: str) -> str:
    text, names = fill(PAGE.format(name=name), read_parts(results))
    assert names == [name]
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    return text


@pytest.mark.parametrize("name", list(BLOCKS))
def test_every_block_can_be_filled_and_filling_again_changes_nothing(
    results: Path, name: str
) -> None:
    text = filled(results, name)
    assert fill(text, read_parts(results))[0] == text


def test_rows_of_a_table_have_as_many_cells_as_its_head(results: Path) -> None:
    for name in BLOCKS:
        lines = [line for line in filled(results, name).splitlines() if line.startswith("|")]
        tables: dict[int, int] = {}
        for line in lines:
            tables[line.count("|")] = tables.get(line.count("|"), 0) + 1
        assert all(rows >= 3 for rows in tables.values()), name


def test_the_synthesis_table_shows_ours_the_paper_and_the_deviation(results: Path) -> None:
    assert "| 12 | 26.62 | 24.2 | +10.0 % | 1.33 |" in filled(results, "synthesis")
    assert "29.28" not in filled(results, "synthesis")
    assert "| +10.0 | 7.3 to 14 |" in filled(results, "ablations")


def test_the_fabric_table_shows_means_of_the_records(results: Path) -> None:
    rows = json.loads((results / "fabric/compare.json").read_text())["rows"]
    energy = rows[0]["energy_j"]
    line = next(x for x in filled(results, "fabric").splitlines() if x.startswith("| THz-SynC"))
    cells = [cell.strip() for cell in line.split("|")]
    assert float(cells[5].split(" ")[0]) == pytest.approx(energy, rel=1e-3)
    assert cells[3] == "1,050"
    assert "| Fixed ratio |" in filled(results, "gains")
    assert "| P2P | 100.0% | 50% |" in filled(results, "oracle")


def test_speed_stands_beside_its_budget_and_what_was_not_measured_is_left_out(
    results: Path,
) -> None:
    text = filled(results, "speed")
    assert "| 100 times | ≥ 150 | 220 |" in text
    assert "| 12.5 M packet-hops/CPU-s | – | – |" in text
    assert "| 0.250 ms | – | – |" in text
    assert "round" not in text


def test_a_block_whose_part_is_missing_stays_as_it_is(results: Path) -> None:
    parts = {"weights": read_parts(results)["weights"]}
    page = PAGE.format(name="fabric")
    assert fill(page, parts) == (page, [])


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("<!-- table:fabrik -->\n<!-- /table -->\n", r"p\.md:1: .*'fabrik'.*\bfabric\b"),
        ("<!-- table:fabric -->\n", r"p\.md: .*'fabric'"),
        ("text\n<!-- /table -->\n", r"p\.md:2: found <!-- /table -->"),
        ("<!-- table:gains -->\n<!-- table:gains -->\n", r"p\.md:2: found <!-- table:gains -->"),
    ],
)
def test_a_wrong_marker_is_refused_with_its_line(results: Path, page: str, message: str) -> None:
    with pytest.raises(ThzSyncError, match=f"^{message}"):
        fill(page, read_parts(results), "p.md")


def test_the_command_rewrites_pages_in_place(results: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(name="weights"), "utf-8")
    assert main([str(results), str(page)]) == 0
    assert "| 0.7 / 0.3 |" in page.read_text("utf-8")


@pytest.mark.parametrize("missing", ["folder", "page"])
def test_the_command_says_what_is_missing(
    results: Path, tmp_path: Path, missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [str(tmp_path), "x.md"] if missing == "folder" else [str(results), "x.md"]
    assert main(given) == 2
    error = capsys.readouterr().err
    assert error.startswith("thzsync: error: ")
    assert error.count("\n") == 1


def test_the_pages_hold_only_blocks_that_exist(results: Path) -> None:
    for page in PAGES:
        fill((ROOT / page).read_text("utf-8"), read_parts(results), page)
