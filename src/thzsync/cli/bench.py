"""``thzsync bench``: measured speed beside the budgets; the benchmarks lie in the checkout."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

from typer import Argument, Option

from thzsync.cli.output import JsonOption
from thzsync.errors import ThzSyncError

CHECKOUT: Final = Path(__file__).parents[3]
"""Where the package was installed from, if it was installed with ``pip install -e``."""


SUBJECTS: Final = (
    "optical", "synthesis", "decision", "iteration", "contact", "figures", "peers", "all",
)  # fmt: skip


def bench(
    subject: Annotated[
        str, Argument(metavar="SUBJECT", help=f"What to measure: {', '.join(SUBJECTS)}.")
    ] = "all",
    quick: Annotated[
        bool, Option("--quick", help="Leave out large jobs, figures, the empty kernel cache.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure speed against the budgets, preferably on an idle machine.

    All together takes a quarter of an hour, with --quick about a minute.
    """
    if subject not in SUBJECTS:
        raise ThzSyncError(f"bench: found {subject!r}; use one of {', '.join(SUBJECTS)}")
    if not (CHECKOUT / "benchmarks" / "command.py").is_file():
        raise ThzSyncError(
            "bench: the benchmarks are not in the installed package; they are in the folder "
            "benchmarks/ of the source: run `make bench` there"
        )
    if str(CHECKOUT) not in sys.path:
        sys.path.insert(0, str(CHECKOUT))
    import_module("benchmarks.command").run(subject, quick, as_json)
