"""The carry matrix: every cell is carried or names the argument; JSON forms carry everything."""

from __future__ import annotations

import pytest
from strategies import DIALECTS, held

from playground.dialects.declared import DeclaredDialect
from playground.nouns.messages import ToolCallPart
from playground.nouns.tools import ToolMetadata
from playground.questions.carry import OWN, VALUES, carry

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


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_dialects_own_opener_and_closer_are_what_it_writes_around_a_value(
    dialect: DeclaredDialect,
) -> None:
    """They were cut at an x, which is in the markers of nine dialects."""
    around = OWN["its own opener"](dialect), OWN["its own closer"](dialect)
    call = ToolCallPart("call_9", "probe", {"value": "west"})
    if texts := dialect.syntax.text_keys:
        values = dialect.syntax.sample_texts | {texts[-1]: "west"}
        call = ToolCallPart("call_9", dialect.syntax.name or "probe", values)
    schema = {"type": "object", "properties": {"value": {"type": "string"}}}
    tool = ToolMetadata(name="probe", input_schema=schema)
    assert "west".join(around) == dialect.format_tool_call(call, [tool])
