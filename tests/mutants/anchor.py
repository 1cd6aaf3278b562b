"""A place in sources, named by a function and a piece of Python to be found in its syntax tree.

Line breaks, comments and brackets do not count, nor where in the function the piece stands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from textwrap import dedent, indent


def replaced(source: str, function: str, old: str, new: str) -> str:
    """The source with the only such piece of a function replaced.

    ``function`` is a qualified name, or empty for the whole module. If both pieces are expressions,
    any expression may match; otherwise both are statements, and no text means ``pass``.
    """
    scope = definition(ast.parse(source), function)
    if _is_expression(old) and _is_expression(new):
        found, new = list(_expressions(scope, old)), f"({new.strip()})"
    else:
        found, new = list(_statements(scope, old)), dedent(new).strip() or "pass"
    if len(found) != 1:
        raise LookupError(f"{function} has {len(found)} places like {old!r}, not one")
    first, last = found[0]
    new = indent(new, " " * first.col_offset).lstrip()
    lines = source.encode().splitlines(keepends=True)
    before = [*lines[: first.lineno - 1], lines[first.lineno - 1][: first.col_offset]]
    after = [lines[_end(last)[0] - 1][_end(last)[1] :], *lines[_end(last)[0] :]]
    return b"".join([*before, new.encode(), *after]).decode()


def definition(tree: ast.AST, qualified_name: str) -> ast.AST:
    """The function or class of this name."""
    for name in qualified_name.split(".") if qualified_name else ():
        kinds = (ast.FunctionDef, ast.ClassDef)
        found = [n for n in ast.walk(tree) if isinstance(n, kinds) and n.name == name]
        if len(found) != 1:
            raise LookupError(f"{qualified_name}: {len(found)} definitions of {name}, not one")
        tree = found[0]
    return tree


def _expressions(scope: ast.AST, text: str) -> Iterator[tuple[ast.expr, ast.expr]]:
    wanted = ast.dump(ast.parse(text.strip(), mode="eval").body)
    for node in ast.walk(scope):
        if isinstance(node, ast.expr) and ast.dump(node) == wanted:
            yield node, node


def _statements(scope: ast.AST, text: str) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    wanted = [ast.dump(statement) for statement in ast.parse(dedent(text)).body]
    for node in ast.walk(scope):
        for _, block in ast.iter_fields(node):
            if isinstance(block, list) and all(isinstance(part, ast.stmt) for part in block):
                dumped = [ast.dump(statement) for statement in block]
                for i in range(len(block) - len(wanted) + 1):
                    if dumped[i : i + len(wanted)] == wanted:
                        yield block[i], block[i + len(wanted) - 1]


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return False
    return True


def _end(node: ast.expr | ast.stmt) -> tuple[int, int]:
    """Its last line and the bytes of that line that belong to it."""
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
