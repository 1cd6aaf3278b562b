from __future__ import annotations

import pickle

import pytest

from thzsync.cli import main
from thzsync.errors import Problems, ThzSyncError, printable


def test_what_a_terminal_would_obey_is_escaped() -> None:
    assert printable("\x1b[31mred\x9b0m\u202e\n\x07") == "\\x1b[31mred\\x9b0m\\u202e\\n\\x07"


def test_ordinary_text_of_any_language_stays() -> None:
    for text in ("a b", "Größe µs ± 5 %", "名前", "\N{ROCKET}", "no\N{NO-BREAK SPACE}break"):
        assert printable(text) == text


def test_an_error_is_one_line_and_problems_are_one_line_each() -> None:
    assert ThzSyncError("a\nb\x1b").lines == ("a b\\x1b",)
    assert Problems.of(["a\nb", "c"]).lines == ("a\\nb", "c")


def test_problems_survive_the_way_between_processes() -> None:
    again = pickle.loads(pickle.dumps(Problems.of(["a", "b"])))
    assert again.lines == ("a", "b")


def test_escape_sequences_in_names_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["scenario", "show", "\x1b]0;owned\x07.toml"]) == 2
    assert "\x1b" not in capsys.readouterr().err
