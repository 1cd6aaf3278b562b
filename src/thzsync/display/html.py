"""A table as HTML, for the report's page and for notebooks; Jinja2 escapes all text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from thzsync.display.numbers import number
from thzsync.display.table import Column, Table

if TYPE_CHECKING:
    from jinja2 import Environment

BOLD = "Bold: the best mean of its column, and any whose 95 % interval meets its."
PAIRED = (
    "Bold: the best mean of its column, and any whose paired difference from it is too close to "
    "call."
)


@cache
def templates(package: str) -> Environment:
    """The templates of a package; whatever is inserted into them is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page_table(table: Table) -> str:
    """The table for a page that has the report's style sheet; markup that is not escaped again."""
    from markupsafe import Markup

    return Markup(_render("figure.html", table, notebook=False))


def notebook_view(table: Table, facts: Mapping[str, object] | None = None) -> str:
    """The table with some facts above it; it looks after itself, light or dark."""
    listed = [(name, number(value)) for name, value in (facts or {}).items()]
    return _render("notebook.html", table, notebook=True, facts=listed)


def html_table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    facts: Mapping[str, object] | None = None,
    caption: str = "",
) -> str:
    """A notebook's view of plain rows; columns of numbers stand on the right."""
    described = tuple(
        Column(name, left=not any(isinstance(row[k], (int, float)) for row in rows))
        for k, name in enumerate(columns)
    )
    return notebook_view(Table(title, described, rows, caption), facts)


def _render(template: str, table: Table, **more: object) -> str:
    fitted = table.fitted()
    groups = fitted.groups()
    bold = (PAIRED if table.paired else BOLD) if fitted.has_best() else ""
    return (
        templates("thzsync.display")
        .get_template(template)
        .render(
            table=fitted,
            caption=f"{fitted.caption} {bold}".strip(),
            groups=groups,
            headings=[c.heading for c in fitted.columns] if groups else fitted.headings(),
            rows=fitted.cells(),
            **more,
        )
    )
