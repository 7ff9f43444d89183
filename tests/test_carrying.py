"""The carry matrix: every cell is carried or names the argument; JSON forms carry everything."""

from __future__ import annotations

import pytest
from strategies import DIALECTS, held

from playground.dialects.declared import DeclaredDialect
from playground.questions.carry import VALUES, carry

SMALL = {name: value for name, value in VALUES.items() if name != "a million characters"}


def test_there_are_enough_values_that_hurt() -> None:
    assert len(carry(["json"]).values) >= 40


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_what_is_not_carried_names_the_argument(dialect: DeclaredDialect) -> None:
    matrix = carry([dialect], SMALL)
    for value in matrix.values:
        codes = [finding.code for finding in matrix.cells[dialect.name, value]]
        places = [finding.where for finding in matrix.cells[dialect.name, value]]
        assert codes in ([], ["cannot-carry"])
        keys = dialect.syntax.text_keys or ("value",)
        assert places in ([], [f"call call_1, argument {keys[-1]}"])
    whole = dialect.syntax.call_template.body
    if whole in ("call:json", "args:json", "args:python"):
        assert matrix.refused(dialect.name) == []
    if not dialect.syntax.text_keys:
        without = {name for name, value in SMALL.items() if held(dialect, [value]) != [value]}
        assert set(matrix.refused(dialect.name)) <= {"a lone surrogate"} | without


@pytest.mark.parametrize("name", ["xml", "hermes", "qwen3-coder", "gemma4", "pythonic", "glm"])
def test_a_million_characters_are_carried(name: str) -> None:
    assert carry([name], {"long": VALUES["a million characters"]}).refused(name) == []


def test_only_raw_forms_refuse_their_own_calls() -> None:
    matrix = carry(["xml", "hermes"])
    assert "a whole own call" in matrix.refused("xml")
    assert matrix.refused("hermes") == []
    assert "64" in matrix._repr_mimebundle_()["text/plain"]
    assert list(matrix.frame().columns) == ["value", "dialect", "finding"]
