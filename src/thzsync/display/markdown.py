"""A table as Markdown."""

from __future__ import annotations

from thzsync.display.table import Table


def markdown_table(table: Table) -> str:
    """The table in pipes, and its caption below; its title is the page's own heading."""
    fitted = table.fitted()
    rule = ["---" if column.left else "---:" for column in fitted.columns]
    body = [[str(cell).replace("|", r"\|") for cell in row] for row in fitted.cells()]
    lines = [f"| {' | '.join(line)} |" for line in (fitted.headings(), rule, *body)]
    return "\n".join(lines) + (f"\n\n{fitted.caption}" if fitted.caption else "")
