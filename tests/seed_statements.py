"""A statement of a document that this project imitates, and the code that shows it to be true here.

A statement works as it stands, works under another name, or differs on purpose; then a document of
ours says so, by words that are looked up. Silence is no kind of statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pytest
from conftest import ROOT


class Statement(NamedTuple):
    """`words` of `document` tell of another name, or of a difference."""

    text: str
    check: Callable[[], Any]
    kind: str = "works"
    document: str = ""
    words: str = ""


works = Statement


def renamed(text: str, check: Callable[[], Any], document: str, words: str) -> Statement:
    return Statement(text, check, "another name", document, words)


def differs(text: str, check: Callable[[], Any], document: str, words: str) -> Statement:
    return Statement(text, check, "on purpose", document, words)


def each(statements: Iterable[Statement]) -> Any:
    """Return the statements as cases of a test, each by its kind and text."""
    return pytest.mark.parametrize(
        "statement", [pytest.param(s, id=f"{s.kind}: {s.text}") for s in statements]
    )


def confirm(statement: Statement) -> None:
    """Run a statement's code, which returns something true, and look for its words."""
    assert statement.check()
    if statement.document:
        text = " ".join((ROOT / "docs" / statement.document).read_text("utf-8").split())
        assert statement.words in text


def raises(error: type[Exception] | tuple[type[Exception], ...], run: Callable[[], Any]) -> str:
    """Return the words of the error that a function raises."""
    with pytest.raises(error) as caught:
        run()
    return str(caught.value) or "no words"
