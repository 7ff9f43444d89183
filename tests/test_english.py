"""Docstrings are plain English: they begin with what the caller gets, not with a question word."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

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
