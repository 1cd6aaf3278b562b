"""One self-contained HTML file: our templates, style and scripts with the data inside."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from markupsafe import Markup

from thzsync.display import counted
from thzsync.display.html import page_table, templates
from thzsync.display.labels import POLICY_LABELS, label
from thzsync.report.answer import WEIGHTY, answer
from thzsync.report.asked import view
from thzsync.report.source import Results
from thzsync.report.tables import page_tables
from thzsync.scenario import Scenario
from thzsync.studies.axes import key_name, leading_axes
from thzsync.version import __version__

STYLES: Final = ("theme.css", "page.css", "charts.css", "print.css")
THEME: Final = "theme.js"
"""Runs before the page is painted; the other scripts run at its end."""
TITLES: Final = {
    "run": "One policy on the training trace",
    "compare": "Policies compared",
    "fabric": "Policies compared, beside the paper",
    "synthesis": "Collectives on a single THz ring",
    "weights": "The reward's weights",
    "ladder": "From the paper's coordinator to ours",
    "beyond": "Delay and energy, beyond the paper",
    "readings": "Interpretations of the paper, and how near they come",
    "reproduce": "The paper, reproduced",
    "ask": "Does a THz overlay pay here?",
}


def render(results: Results, data: Mapping[str, Any]) -> str:
    """The report of ``results`` with the chart data ``data`` as one HTML document."""
    script = "{\n" + "\n".join(map(asset, scripts())) + "\n}"
    theme = asset(THEME)
    made = templates("thzsync.report")
    made.filters |= {"bind": bind, "page_table": page_table}
    return made.get_template("page.html").render(
        title=title_of(results),
        facts=_facts(results),
        answer=None if results.kind == "ask" else answer(results),
        asked=[view(one) for one in results.asked],
        weighty=WEIGHTY,
        tables=page_tables(results),
        present=[key for key, value in data.items() if value],
        pickable=len(data.get("closeups", ())) > 1,
        provenance=_provenance(results),
        # Ours, or packed so that it cannot end its element: these alone are not escaped.
        style=Markup("\n".join(map(asset, STYLES))),
        theme=Markup(theme),
        script=Markup(script),
        data=Markup(embed(data)),
        script_hashes=" ".join(map(_csp_hash, (theme, script))),
    )


def embed(data: Mapping[str, Any]) -> str:
    """JSON that cannot end its script element, whatever its strings hold."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def scripts() -> list[str]:
    """What the page runs: functions in any order, and last what calls them."""
    names = {path.name for path in files("thzsync.report").joinpath("assets").iterdir()}
    functions = names - {"main.js", THEME}
    return [*sorted(name for name in functions if name.endswith(".js")), "main.js"]


def asset(name: str) -> str:
    """The text of a style sheet or script that comes with the package."""
    return files("thzsync.report").joinpath("assets", name).read_text("utf-8")


def bind(text: str) -> str:
    """Keep a number, its interval and its unit on one line."""
    gaps = r"(?<=\d) (?=(?:%|[nµm]?s|[nµmk]?J|[kMGT]?b/s)(?!\w))|(?<=\d) (?=±)|(?<=±) (?=\d)"
    return re.sub(gaps, "\N{NO-BREAK SPACE}", text)


def _csp_hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def title_of(results: Results) -> str:
    """The question of a sweep, or what kind of results these are."""
    if results.sweep is not None:
        axes = " and ".join(map(key_name, leading_axes(results.sweep)))
        question = results.sweep.specification.question
        if sought := results.sweep.specification.break_even:
            return question or f"Break-even along {key_name(sought.key)}"
        return question or (f"Sweep: {axes}" if axes else "A sweep")
    title = TITLES.get(results.kind, "Results")
    if results.kind == "run":
        title = f"{label(POLICY_LABELS, results.rows[0]['policy'])}: {title[0].lower()}{title[1:]}"
    return f"{title}: a quick look" if results.quick else title


def _facts(results: Results) -> str:
    sweep, comparison = results.sweep, results.fabric
    facts: list[str] = []
    if sweep is not None:
        count = len(sweep.policies)
        facts = [
            f"scenario “{sweep.scenario.name}”",
            counted(len(sweep.points), "point"),
            f"{count} {'policy' if count == 1 else 'policies'}",
            sweep.seeds_text,
            counted(sweep.specification.iterations, "iteration"),
        ]
    elif comparison is not None:
        count = comparison.iterations["iteration"].n_unique()
        facts = _size(comparison.scenario, count, len(comparison.seeds))
        facts.insert(2, f"{comparison.scenario.thz.subbands} THz subbands")
    elif results.kind == "ask":
        (asked,) = results.asked
        facts = _size(asked.scenario, asked.iterations, len(asked.seeds))
    return " · ".join(facts)


def _size(scenario: Scenario, iterations: int, seeds: int) -> list[str]:
    return [
        f"scenario “{scenario.name}”",
        f"{scenario.floor.racks} racks on {counted(scenario.floor.groups, scenario.floor.noun)}",
        counted(iterations, "iteration"),
        counted(seeds, "seed"),
    ]


def _provenance(results: Results) -> str:
    parts = [f"Written by thzsync {__version__}."]
    environment = results.document.get("environment")
    if isinstance(environment, dict):
        made = ", ".join(f"{name} {value}" for name, value in sorted(environment.items()))
        parts.append(f"Results made with {made}.")
    digest = results.document.get("scenario_sha256")
    if digest:
        parts.append(f"Scenario SHA-256 {digest}.")
    return " ".join(parts)
