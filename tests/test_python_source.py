"""Python source as a tree, also where the garbage collector parses in between."""

from __future__ import annotations

import ast
import gc

import pytest

from playground.base.python_source import expression, module


class Parsing:
    """Parses when it is collected, as the log of a traceback does."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        ast.parse("1")


def test_a_finalizer_that_parses_spoils_nothing() -> None:
    text = "x = [" + "1, " * 20_000 + "]"
    was = gc.get_threshold()
    gc.set_threshold(50)
    try:
        for _ in range(3):
            Parsing()
            tree = module(text)
            Parsing()
            body = expression(text[4:])
    finally:
        gc.set_threshold(*was)
    assert isinstance(tree.body[0], ast.Assign)
    assert isinstance(body, ast.List)
    assert len(body.elts) == 20_000


def test_a_text_that_is_no_python_raises() -> None:
    for parse in (module, expression):
        with pytest.raises(SyntaxError):
            parse("1 +")
