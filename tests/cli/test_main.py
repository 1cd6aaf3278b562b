from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from thzsync import __version__
from thzsync.cli import main
from thzsync.cli.app import COMMANDS, Entry, app, load
from thzsync.errors import ThzSyncError
from thzsync.scenario import preset_names

THZSYNC = [sys.executable, "-m", "thzsync"]


def test_version_is_the_packages() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout == f"thzsync {__version__}\n"


def test_help_lists_every_command_that_exists() -> None:
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    for name in ("run", "compare", "scenario", "trace", "audit", "bench"):
        assert name in result.stdout


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_every_command_answers_for_help(entry: Entry, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([entry.name, "--help"]) == 0
    assert f"thzsync {entry.name}" in capsys.readouterr().out
    assert load(entry).name == entry.name


@pytest.mark.parametrize("words", [[], *([entry.name] for entry in COMMANDS), ["scenario", "show"]])
def test_help_gives_no_type_to_flags(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "bool" not in shown
    assert "-h" in shown


def test_help_shows_brackets_flowing_paragraphs_and_no_options_of_the_shell(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert main(["trace", "import", "--help"]) == 0
    assert '{"name": [ranks]}' in capsys.readouterr().out
    assert main(["run", "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum("Ctrl-C" in line and "Exit status 3" in line for line in lines) == 1
    for group in ("trace", "scenario", "reproduce"):
        assert main([group, "--help"]) == 0
        assert "completion" not in capsys.readouterr().out


def test_help_names_the_presets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert ", ".join(preset_names()) in shown


def test_a_users_mistake_is_one_line_on_stderr_and_status_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["scenario", "show", "papper"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("thzsync: error: papper: ")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["nope"], ["trace", "show"], ["trace", "show", "x", "--y"]])
def test_a_wrong_call_has_status_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_misspelt_command_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenaro"]) == 2
    assert "scenario" in capsys.readouterr().err


def raising(error: BaseException) -> object:
    def command(*_: object, **__: object) -> None:
        raise error

    return command


def test_an_interruption_is_one_line_and_status_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("thzsync.cli.output.load_scenario", raising(KeyboardInterrupt()))
    assert main(["scenario", "show"]) == 130
    assert capsys.readouterr().err == "thzsync: interrupted\n"


def test_a_message_of_several_lines_is_told_in_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("thzsync.cli.output.load_scenario", raising(ThzSyncError("a\nb")))
    assert main(["scenario", "show"]) == 2
    assert capsys.readouterr().err == "thzsync: error: a b\n"


def test_ctrl_c_ends_a_process_with_status_130() -> None:
    code = (
        "import signal, sys, time, thzsync.cli.output as s\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from thzsync.cli import main\n"
        "def wait(*_):\n    print('ready', file=sys.stderr, flush=True)\n    time.sleep(60)\n"
        "s.load_scenario = wait\n"
        "sys.exit(main(['scenario', 'show']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert errors == "thzsync: interrupted\n"


HALF_MADE = (
    "class Half:\n"
    "    def __init__(self):\n        os.kill(os.getpid(), signal.SIGINT)\n"
    "    def __del__(self):\n        del self.missing\n"
    "def begin(*_):\n    Half()\n"
)
"""Ctrl-C in the middle of compiling: LLVM's references complain when they are collected."""
PRINTED = (
    "def begin(*_):\n"
    "    try:\n        os.kill(os.getpid(), signal.SIGINT)\n"
    "    except KeyboardInterrupt:\n        sys.excepthook(*sys.exc_info())\n"
    "    raise ImportError('no NumPy') from None\n"
)
"""Ctrl-C while a library is imported: NumPy's way to be found prints it, and raises another."""


@pytest.mark.parametrize("begin", [HALF_MADE, PRINTED], ids=["half made", "printed"])
def test_what_libraries_make_of_an_interruption_is_not_shown(begin: str) -> None:
    code = (
        "import os, signal, sys, thzsync.cli.output as s\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"from thzsync.cli import main\n{begin}"
        "s.load_scenario = begin\n"
        "sys.exit(main(['scenario', 'show']))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "thzsync: interrupted\n")


@pytest.mark.parametrize("command", [["scenario", "schema"], ["--version"], ["scenario", "show"]])
def test_a_reader_that_leaves_early_causes_no_traceback(command: list[str]) -> None:
    with subprocess.Popen(
        [*THZSYNC, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode in (0, 1)


def test_the_module_runs_like_the_script() -> None:
    script = Path(sys.executable).with_name("thzsync")
    calls = [THZSYNC, [script]] if script.exists() else [THZSYNC]
    for call in calls:
        run = subprocess.run([*call, "--version"], capture_output=True, text=True, check=True)
        assert run.stdout == f"thzsync {__version__}\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_that_a_library_wraps_is_still_one(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As happens where compiled code is being imported: the error has no chain to look at."""

    def command(**_: object) -> None:
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        raise RuntimeError("cannot build a validator: KeyboardInterrupt")

    monkeypatch.setattr("thzsync.cli.app.app", command)
    monkeypatch.setattr(signal, "default_int_handler", signal.getsignal(signal.SIGINT))
    uncaught = sys.excepthook
    assert main([]) == 130
    assert capsys.readouterr().err == "thzsync: interrupted\n"
    assert sys.excepthook is uncaught, "later errors of the caller would not be shown"


def test_an_error_of_ours_is_not_passed_off_as_an_interruption(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def command(**_: object) -> None:
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr("thzsync.cli.app.app", command)
    with pytest.raises(RuntimeError, match="of ours"):
        main([])


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "tiny", "--policies", "all-wired,fixed-ratio"),
        ("sweep", "tiny", "--set", "thz.subbands=2,4", "--policies", "all-wired,fixed-ratio"),
    ],
)
def test_a_comparison_says_how_far_its_fibre_is_oversubscribed(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--seeds", "1", "--iterations", "1", "--workers", "1"]) == 0
    assert "3:1 oversubscribed" in capsys.readouterr().out
