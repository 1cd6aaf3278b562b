from __future__ import annotations

import io
import json
import threading

import numpy as np
import pytest
import rich.progress
from rich.console import Console

from thzsync.cli import main, output
from thzsync.display import signed
from thzsync.errors import ThzSyncError


def rendered(renderable: object) -> str:
    console = Console(file=io.StringIO(), width=100)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_json_is_strict_and_knows_numpy() -> None:
    document = {"a": float("nan"), "b": np.float64(1.5), "c": (np.int64(2), None), 3: "µ"}
    assert json.loads(output.dump_json(document)) == {"a": None, "b": 1.5, "c": [2, None], "3": "µ"}


def test_emit_prints_one_document_or_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    output.emit({"x": 1}, True, lambda: pytest.fail("no table with --json"))
    assert json.loads(capsys.readouterr().out) == {"x": 1}
    output.emit({"x": 1}, False, output.table("Title", ("x",), [(1,)]))
    assert capsys.readouterr().out.startswith("Title\n")


def test_numbers_stand_on_the_right_and_markup_is_text() -> None:
    lines = rendered(output.table("T", ("name", "value"), [("[red]a", 1.23456), ("b", None)]))
    assert "[red]a" in lines
    assert "1.235" in lines
    assert lines.rstrip().endswith("-")


def test_notes_go_to_stderr_unwrapped(capsys: pytest.CaptureFixture[str]) -> None:
    output.note("word " * 60 + "[end]")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "word " * 60 + "[end]\n"


def test_progress_is_silent_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "PATIENCE_S", 0.0)
    with output.progress("working", total=2) as advance:
        advance()
        advance(description="still working")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_progress_shows_on_a_terminal_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, shown = io.StringIO(), threading.Event()
    console = Console(file=screen, force_terminal=True, width=80)
    start = rich.progress.Progress.start

    def started(bar: rich.progress.Progress) -> None:
        start(bar)
        shown.set()

    monkeypatch.setattr(rich.progress.Progress, "start", started)
    monkeypatch.setattr(output, "notes", lambda: console)
    monkeypatch.setattr(output, "PATIENCE_S", 0.0)
    with output.progress("working", total=2) as advance:
        assert shown.wait(30)
        advance()
    assert "working" in screen.getvalue()


def test_an_error_inside_progress_comes_through() -> None:
    def work() -> None:
        with output.progress("working"):
            raise ThzSyncError("stop")

    with pytest.raises(ThzSyncError, match="stop"):
        work()


def test_colour_is_left_out_with_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert output.results().no_color
    assert output.notes().no_color


def test_tables_and_notes_show_control_characters_escaped(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = rendered(output.table("\x1b[1mT", ("name",), [("\x9b2J",)], "\x1b]0;x\x07"))
    output.note("\x1b[2J")
    noted = capsys.readouterr().err
    assert not {"\x1b", "\x9b", "\x07"} & set(shown + noted)
    assert noted == "\\x1b[2J\n"


def test_names_in_a_progress_bar_are_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Console(file=io.StringIO(), force_terminal=True, width=80)
    monkeypatch.setattr(output, "notes", lambda: terminal)
    monkeypatch.setattr(output, "PATIENCE_S", 0.0)
    with output.progress("audit [/red]", 2) as advance:
        advance(0, "audit [/blue]")
        threading.Event().wait(0.3)
        advance()


def test_sweep_and_compare_say_first_how_iteration_times_differ_and_print_no_raw_keys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    quick = ["--seeds", "1", "--iterations", "1", "--workers", "1"]
    asked = ["--policies", "all-wired,fixed-ratio", *quick]
    assert main(["sweep", "tiny", "--set", "optical.inter_bps=5 Gbps,50 Gbps", *asked]) == 0
    swept = capsys.readouterr().out
    assert main(["compare", "tiny", *asked]) == 0
    compared = capsys.readouterr().out
    assert "5 Gb/s" in swept
    for shown in (swept, compared):
        assert shown.index("against All-wired [%]") < shown.index("Iteration")
        assert "_" not in shown


def test_a_sweep_of_one_policy_has_no_difference(capsys: pytest.CaptureFixture[str]) -> None:
    quick = ["--policies", "all-wired", "--seeds", "1", "--iterations", "1", "--workers", "1"]
    assert main(["sweep", "tiny", "--set", "thz.subbands=1,2", *quick]) == 0
    assert "against" not in capsys.readouterr().out


def test_the_difference_that_compare_prints_is_paired_and_in_per_cent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["--policies", "all-wired,fixed-ratio", "--seeds", "1", "--iterations", "1"]
    assert main(["compare", "tiny", *asked, "--workers", "1", "--json"]) == 0
    one, other = (row["makespan_ms"] for row in json.loads(capsys.readouterr().out)["rows"])
    assert main(["compare", "tiny", *asked, "--workers", "1"]) == 0
    assert signed(100 * (other - one) / one) in capsys.readouterr().out
