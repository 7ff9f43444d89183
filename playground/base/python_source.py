"""Python source as a tree; no code is run.

In CPython 3.11, all parsing shares one counter of recursions. If the garbage collector runs a
finalizer that parses, too (as logging a traceback does), the outer parsing fails with a
SystemError. The text is then parsed again.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from textwrap import dedent
from typing import Any, Literal

from playground.base.errors import InputFault


def module(text: str) -> ast.Module:
    """Return the tree of a file. Raises what `ast.parse` raises for a text that is not Python."""
    tree: ast.Module = _parse(text, "exec")
    return tree


def statements(text: str) -> list[ast.stmt]:
    """Return the statements of a file. Raises InputFault with the line and column of an error."""
    try:
        return module(dedent(text)).body
    except SyntaxError as error:
        problem = f"not Python: {error.msg} (column {error.offset})"
        raise InputFault(problem, line=error.lineno) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputFault(f"not Python: {error}") from error


def expression(text: str) -> ast.expr:
    """Return the tree of one expression; raises as `module` does."""
    tree: ast.Expression = _parse(text, "eval")
    return tree.body


def _parse(text: str, mode: Literal["exec", "eval"]) -> Any:
    for _ in range(3):
        with suppress(SystemError):
            return ast.parse(text, mode=mode)
    return ast.parse(text, mode=mode)
