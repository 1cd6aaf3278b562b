"""Every command that prints a table, on terminals of 40 to 120 columns: no number is cut."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from thzsync.cli import main, output
from thzsync.display.terminal import TerminalTable
from thzsync.paper.printed import PRINTED

WIDE = 400
WIDTHS = (40, 60, 80, 120)
TINY = ("tiny", "--iterations", "2")
COMMANDS = {
    "run": ["run", *TINY, "--policy", "fixed-ratio"],
    "compare": ["compare", *TINY, "--policies", "fixed-ratio,all-wired", "--workers", "1"],
    "audit": ["audit", "record"],
    "synthesize": ["synthesize", "allreduce", "--racks", "4", "--size", "1 MiB"],
    "trace show": ["trace", "show", "a.jsonl"],
    "trace check": ["trace", "check", "a.jsonl"],
}
FABRIC = {
    "first_iteration": 10,
    "seeds": [0, 1],
    "rows": [
        {
            "policy": policy,
            **{f"{kind}{key}": 1234.5678 for key in ("completion_ms", "energy_j", "reward")
               for kind in ("", "paper_")},
            "ci95_completion_ms": 14.25,
            "makespan_ms": 62920.0,
            "exposed_ms": 6290.0,
            "thz_share": 0.5,
            "oracle_gap_pct": -12.5,
        }
        for policy in ("thz-sync", "a-policy-with-a-rather-long-name")
    ],
    "gains": [
        {"policy": "all-wired", "gain_pct": 46.25, "ci95_gain_pct": 1.25, "paper_pct": 22.7}
    ],
    "claims": {"energy between all-wireless and all-wired": True},
    "oracle": {
        "completion_ms": 709.6,
        "energy_j": 15.49,
        "reward": -0.508,
        "choices": {"p2p": {"thz_share": 1.0, "power": 0.5}},
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a record and a trace."""
    made = tmp_path_factory.mktemp("narrow")
    assert main([*COMMANDS["run"], "--out", str(made / "record")]) == 0
    assert main(["trace", "generate", "tiny", "--out", str(made / "a.jsonl")]) == 0
    return made


def words(text: str) -> set[str]:
    return set(re.findall(r"[+-]?\d(?:[\d.,]*\d)?(?:e[+-]?\d+)?", text))


def screen(monkeypatch: pytest.MonkeyPatch, width: int) -> io.StringIO:
    shown = io.StringIO()
    console = Console(file=shown, width=width, force_terminal=True, no_color=True)
    monkeypatch.setattr(output, "results", lambda: console)
    return shown


def plain(shown: io.StringIO) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", shown.getvalue())


def check(narrow: str, wide: str, width: int) -> None:
    assert "…" not in narrow
    assert all(len(line) <= width for line in narrow.splitlines()), narrow
    assert words(narrow) <= words(wide), words(narrow) - words(wide)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_cuts_a_number(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)  # a path may be longer than the screen
    shown = screen(monkeypatch, WIDE)
    assert main(COMMANDS[name]) == 0
    wide = plain(shown)
    assert "left out" not in wide
    for width in WIDTHS:
        shown = screen(monkeypatch, width)
        assert main(COMMANDS[name]) == 0
        check(plain(shown), wide, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_tables_of_a_reproduction_cut_no_number(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []
    for columns in (WIDE, width):
        shown = screen(monkeypatch, columns)
        for table in PRINTED["fabric"](FABRIC):
            output.show(TerminalTable(table))
        texts.append(plain(shown))
    check(texts[1], texts[0], width)
    assert "thz_share" not in texts[1]  # that share is not among the printed columns
    assert "1.235 ± 0.014" in texts[1] or "1,235 ± 14" in texts[1]
