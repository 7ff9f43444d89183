"""Docstrings are plain English: they begin with what the caller gets, not with a question word."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from typing import Final

from conftest import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import house

QUESTION = re.compile(r"(What|Whether|How|Where|From)\b")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield each docstring of the package, its pages and benchmarks, with its place."""
    for folder in ("playground", "pages", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in house.statements(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
                    name = getattr(node, "name", "<module>")
                    yield f"{path.relative_to(ROOT)} {name}", text


def test_few_docstrings_begin_with_a_question_word() -> None:
    places = list(docstrings())
    questions = [place for place, text in places if QUESTION.match(text)]
    assert len(places) > 5_000
    assert len(questions) <= len(places) // 100, "\n".join(questions)


PROMISES: Final = (  # what a docstring says is returned, and what the annotation then has
    (re.compile(r"Return (True|False)\b"), re.compile(r"bool|TypeGuard|TypeIs")),
    (
        re.compile(r"Return [^.]*?[;,] (or )?None (if|for|unless|without)|.*\. Return None "),
        re.compile(r"None|Any|object"),
    ),
    (re.compile(r"Yield\b"), re.compile(r"Itera|Generator|ContextManager|Faults")),
    (re.compile(r"Return(?! an iterator)"), re.compile(r"^(?!Iterator\[)")),
)


def test_a_docstring_promises_what_its_function_returns() -> None:
    broken, seen = list[str](), 0
    for path in sorted((ROOT / "playground").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef) or node.returns is None:
                continue
            text = " ".join((ast.get_docstring(node) or "").split())
            for promise, kept in PROMISES:
                if promise.match(text):
                    seen += 1
                    if not kept.search(annotation := ast.unparse(node.returns)):
                        place = f"{path.relative_to(ROOT)} {node.name}"
                        broken.append(f"{place}: {annotation}, {text[:60]}")
    assert seen > 3_000
    assert not broken, "\n".join(broken)
