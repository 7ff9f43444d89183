"""Recognise a dialect that is written as a class in Python. Its code is not run."""

from __future__ import annotations

import ast
from textwrap import dedent
from typing import Final

from playground.base import python_source
from playground.questions.recognised_documents import Recognised

_HOW: Final = (
    "its code is not run here; as an entry point of the group playground.dialects it is a dialect "
    "of every view (docs/own-dialect.md)"
)


def recognise_classes(text: str) -> Recognised | None:
    """Return the first dialect's class of a Python text, or None if there is none."""
    if "Dialect" not in text:
        return None
    try:
        body = python_source.module(dedent(text)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in body:
        if isinstance(node, ast.ClassDef) and any(map(_is_dialect, node.bases)):
            methods = [each.name for each in node.body if isinstance(each, ast.FunctionDef)]
            public = [name for name in methods if not name.startswith("_")]
            title = f"a dialect written as a class, {node.name}: {', '.join(public) or 'no method'}"
            return Recognised("dialect class", title, unread=(_HOW,))
    return None


def _is_dialect(base: ast.expr) -> bool:
    name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
    return str(name).endswith("Dialect")
