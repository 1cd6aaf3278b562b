"""One self-contained HTML file: our template, style and scripts with the data inside."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import Any, Final

from thzsync.report.answer import Answer, answer
from thzsync.report.headline import Cell, Table, headline_tables
from thzsync.report.labels import POLICY_LABELS, label
from thzsync.report.source import Results
from thzsync.version import __version__

SCRIPTS: Final = (
    "base.js",
    "lines.js",
    "plane.js",
    "bars.js",
    "heat.js",
    "gantt.js",
    "replay.js",
    "player.js",
    "main.js",
)
TITLES: Final = {
    "run": "One policy on the training trace",
    "compare": "Policies compared",
    "fabric": "Policies compared, beside the paper",
    "synthesis": "Collectives on a single THz ring",
    "weights": "The reward's weights",
    "reproduce": "The paper, reproduced",
}
_CHARTS: Final = (
    (
        "curves",
        "curves",
        "Learning",
        "Learning",
        "Means per training iteration; the band is the 95 % interval over seeds.",
    ),
    (
        "plane",
        "plane",
        "Delay and energy",
        "Delay and energy",
        "Every policy by what it costs in time and in energy. Small dots are single seeds "
        "(iterations where there is one seed), the dashed line joins the policies that no other "
        "beats in both; hollow marks are published values.",
    ),
    (
        "split",
        "split",
        "Bytes and joules",
        "Where bytes and joules went",
        "What each fabric carried and spent, and how much of every collective type went over THz.",
    ),
    (
        "distributions",
        "distributions",
        "Distributions",
        "Completion time per collective type",
        "Density over all events; the circle is the median, the thick line the middle half, "
        "the thin line reaches from 5 to 95 %.",
    ),
    (
        "traffic",
        "closeups",
        "Traffic",
        "Traffic, link by link",
        "One iteration of one seed. The stronger the colour, the more; both fabrics and all "
        "policies share one scale.",
    ),
    (
        "gantt",
        "closeups",
        "Timeline",
        "Timeline of the iteration",
        "Compute and collectives of every pipeline stage. Numbers are micro-batches.",
    ),
    (
        "replay",
        "closeups",
        "Replay",
        "Replay of the floor plan",
        "The rings from above. Coloured links are THz transmissions (colour: subband, width: "
        "rate), grey spokes are fibres (width and depth: load), the squares in the middle are "
        "the ring switches.",
    ),
    (
        "synthesis",
        "synthesis",
        "Synthesis",
        "Synthesis of single collectives",
        "Mean completion time over seeds on one THz ring; bars are 95 % intervals, the dotted "
        "line is a lower bound that no schedule can beat.",
    ),
    (
        "weights",
        "weights",
        "Weights",
        "What the weights buy",
        "THz-SynC under three pairs of reward weights; hollow marks are published values.",
    ),
)
"""Section, the data it needs, its name in the navigation, its title and how to read it."""
_HOLDERS: Final = {"plane": "plane-chart", "gantt": "gantt-chart", "replay": "replay-player"}


def render(results: Results, data: Mapping[str, Any]) -> str:
    """The report of ``results`` with the chart data ``data`` as one HTML document."""
    tables = headline_tables(results)
    shown = [chart for chart in _CHARTS if data.get(chart[1])]
    links = [("answer", "Answer")]
    if results.rows:
        links.append(("headline", "Numbers"))
    links += [(name, word) for name, _, word, _, _ in shown]
    script = "{\n" + "\n".join(_asset(name) for name in SCRIPTS) + "\n}"
    theme = _asset("theme.js")
    body = [_answer_html(answer(results)), _headline_html(tables)]
    for need, charts in groupby(shown, key=lambda chart: chart[1]):
        sections = "".join(
            _section_html(name, title, lead, tables) for name, _, _, title, lead in charts
        )
        body.append(_closeup_html(sections, data) if need == "closeups" else sections)
    return fill(
        _asset("report.html"),
        {
            "title": escape(_title(results)),
            "facts": escape(_facts(results)),
            "links": "".join(f'<a href="#{name}">{escape(title)}</a>' for name, title in links),
            "body": "\n".join(body),
            "provenance": escape(_provenance(results)),
            "style": _asset("report.css"),
            "theme": theme,
            "script": script,
            "script_hashes": " ".join(map(_csp_hash, (theme, script))),
            "data": embed(data),
        },
    )


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace ``{{name}}`` in one pass, so that inserted text is never looked at again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], template)


def embed(data: Mapping[str, Any]) -> str:
    """JSON that cannot end its script element, whatever its strings hold."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _csp_hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _asset(name: str) -> str:
    return files("thzsync.report").joinpath("assets", name).read_text("utf-8")


def _title(results: Results) -> str:
    title = TITLES.get(results.kind, "Results")
    if results.kind == "run":
        title = f"{label(POLICY_LABELS, results.rows[0]['policy'])}: {title[0].lower()}{title[1:]}"
    return title


def _facts(results: Results) -> str:
    comparison = results.fabric
    if comparison is None:
        return ""
    floor = comparison.scenario.floor
    iterations = comparison.iterations["iteration"].n_unique()
    return " · ".join(
        (
            f"scenario “{comparison.scenario.name}”",
            f"{floor.racks} racks on {floor.rings} rings",
            f"{comparison.scenario.thz.subbands} THz subbands",
            _count(iterations, "iteration"),
            _count(len(comparison.seeds), "seed"),
        )
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


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


def _answer_html(found: Answer) -> str:
    figures = "".join(
        f"<div><b>{escape(value)}</b><i>{escape(unit)}</i><span>{escape(what)}</span></div>"
        for value, unit, what in found.figures
    )
    reasons = "".join(
        f"<div><dt>{escape(word)}</dt><dd>{escape(_bind(sentence))}</dd></div>"
        for word, sentence in found.reasons
    )
    return (
        f'<section id="answer" class="card answer" aria-label="The answer at a glance">'
        f"<h2>{escape(_bind(found.headline))}</h2>"
        + (f'<div class="figures">{figures}</div>' if figures else "")
        + f'<dl class="reasons">{reasons}</dl></section>'
    )


def _bind(text: str) -> str:
    """Keep a number and its unit on one line."""
    return re.sub(r"(?<=\d) (?=%|ms\b|J\b)", "\N{NO-BREAK SPACE}", text)


def _section_html(name: str, title: str, lead: str, tables: list[Table]) -> str:
    holder = _HOLDERS.get(name, f"{name}-charts")
    return (
        f'<section id="{name}"><h2>{escape(title)}</h2><p class="lead">{escape(lead)}</p>'
        f'<div class="card"><div id="{holder}"></div></div>{_tables_html(tables, name)}</section>'
    )


def _closeup_html(sections: str, data: Mapping[str, Any]) -> str:
    """The sections that show one policy at a time, under one picker."""
    look = 'class="picker"' if len(data["closeups"]) > 1 else "hidden"
    return f'<div class="closeup"><div id="picker" {look}></div>{sections}</div>'


def _headline_html(tables: list[Table]) -> str:
    inner = _tables_html(tables, "headline")
    return f'<section id="headline" aria-label="Numbers">{inner}</section>' if inner else ""


def _tables_html(tables: list[Table], section: str) -> str:
    return "".join(
        f'<div class="card">{_table_html(table)}</div>'
        for table in tables
        if table.section == section
    )


def _table_html(table: Table) -> str:
    groups = "".join(
        f'<th scope="colgroup" colspan="{span}">{escape(name)}</th>' for name, span in table.groups
    )
    heads = "".join(
        f'<th scope="col"{_text_class(table, k)}>{escape(name)}</th>'
        for k, name in enumerate(table.columns)
    )
    body = "".join(
        f"<tr>{''.join(_cell_html(table, k, cell) for k, cell in enumerate(row))}</tr>"
        for row in table.rows
    )
    caption = f"<caption><b>{escape(table.title)}</b>{escape(table.caption)}</caption>"
    look = ' class="stacked"' if table.groups else ""
    head = (f"<tr>{groups}</tr>" if groups else "") + f"<tr>{heads}</tr>"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title)}">'
        f"<table{look}>{caption}<thead>{head}</thead><tbody>{body}</tbody></table></div>"
    )


def _cell_html(table: Table, column: int, cell: Cell) -> str:
    text = escape(cell.text)
    if cell.style is not None:
        text = f'<span class="swatch" style="background:var(--s{cell.style})"></span>{text}'
    if cell.tone in ("near", "fair", "far"):
        text = f'<span class="tone {cell.tone}">{text}</span>'
    if cell.note:
        text += f"<small>{escape(cell.note)}</small>"
    if column == 0:
        return f'<th scope="row">{text}</th>'
    extra = ' class="best"' if cell.tone == "best" else _text_class(table, column)
    return f"<td{extra}>{text}</td>"


def _text_class(table: Table, column: int) -> str:
    wordy = any(row[column].text[:1].isalpha() for row in table.rows)
    return ' class="text"' if column == 0 or wordy else ""
