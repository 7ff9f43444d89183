"""Recognise a dialect that is written as a class in Python. Its code is not run."""

from __future__ import annotations

import ast
from pathlib import PurePosixPath
from textwrap import dedent

from playground.base import python_source
from playground.dialects import Dialect
from playground.dialects.by_hand.offering import name_after
from playground.questions.recognised_documents import Recognised


def recognise_classes(text: str, place: str) -> Recognised | None:
    """Return the first dialect's class of a Python text, or None if there is none."""
    if "Dialect" not in text:
        return None
    try:
        body = python_source.module(dedent(text)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in body:
        if isinstance(node, ast.ClassDef) and any(map(_is_dialect, node.bases)):
            return _dialect_class(node, place)
    return None


def _dialect_class(node: ast.ClassDef, place: str) -> Recognised:
    """Say what a dialect's class has, what it lacks, and what makes it a dialect of every view."""
    methods = [each.name for each in node.body if isinstance(each, ast.FunctionDef)]
    public = [name for name in methods if not name.startswith("_")]
    title = f"a dialect written as a class, {node.name}: {', '.join(public) or 'no method'}"
    module = PurePosixPath(place).stem if place.endswith(".py") else "MODULE"
    name = name_after(node.name)
    unread = [
        "its code is not run here; a program uses it as it is: "
        f"pg.compare(session, [{node.name}()])",
        f"in every view: put DIALECT = {node.name}() below it, and install a package whose "
        f'pyproject.toml has [project.entry-points."playground.dialects"] {name} = '
        f'"{module}:DIALECT" (docs/own-dialect.md)',
    ]
    bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
    lacking = sorted(Dialect.__abstractmethods__ - set(methods)) if bases == ["Dialect"] else []
    if lacking:
        unread.append(f"{node.name} lacks {', '.join(lacking)}, which a dialect must have")
    return Recognised("dialect class", title, unread=tuple(unread))


def _is_dialect(base: ast.expr) -> bool:
    name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
    return str(name).endswith("Dialect")
