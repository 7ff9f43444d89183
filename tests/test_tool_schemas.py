"""Tools' schemas: their tokens, smaller ones, who refuses what of them and what to send instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import terminals
from test_pages import page, unfold, verbatim

import playground as pg
from playground.base.errors import InputFault, UnknownNameError
from playground.base.findings import CODES
from playground.nouns.tool_formats.portability import (
    CASES,
    lint_tool,
    nodes,
    schema_target,
    schema_targets,
)
from playground.nouns.tool_formats.rewriting import rewrite_tool
from playground.nouns.tool_formats.shrinking import SHORTER, hoist_repeats
from playground.nouns.tools import ToolMetadata

GEO = {
    "type": "object",
    "description": "A place on the chart.",
    "properties": {"lat": {"type": "number", "minimum": -90}, "lon": {"type": "number"}},
    "required": ["lat", "lon"],
}
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "from": GEO,
        "to": GEO,
        "via": {"type": "array", "items": GEO, "minItems": 2},
        "mode": {"const": "sail"},
        "berth": {"type": ["integer", "null"], "enum": [1, 2, None]},
        "who": {"oneOf": [{"type": "string", "maxLength": 9}, {"$ref": "#/$defs/person"}]},
        "rest": {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}},
                           {"properties": {"b": {"type": "string", "default": "x"}}}]},
    },
    "required": ["from"],
    "$defs": {"person": {"type": "object", "properties": {"name": {"type": "string"}}}},
}  # fmt: skip
SAIL = ToolMetadata(name="sail", description="Sail there.", input_schema=SCHEMA)
LOOSE = [
    {"from": {"lat": 1, "lon": 2}},
    {"from": {"lat": 1, "lon": 2}, "to": {"lat": 3, "lon": 4}, "mode": "sail", "berth": 2,
     "who": "Ann", "rest": {"a": "x"}, "via": [{"lat": 1, "lon": 2}] * 2},
]  # fmt: skip


def codes(schema: dict[str, Any], target: str) -> set[tuple[str, str]]:
    """Where what is refused; of a message the keyword alone."""
    tool = ToolMetadata(name="t", description="d", input_schema=schema)
    found = lint_tool(tool, schema_target(target))
    return {
        (f.where.removeprefix("tool t: "), f.message.partition(": ")[2].rpartition(" is refused")[0]
         or f.message.partition(": ")[2].partition(" is changed")[0])
        for f in found
    }  # fmt: skip


def test_every_row_has_a_source_and_a_case_that_is_known() -> None:
    targets = schema_targets()
    assert {"openai", "openai-strict", "anthropic", "anthropic-strict", "gemini", "bedrock",
            "mistral", "deepseek-strict"} <= set(targets)  # fmt: skip
    for target in targets.values():
        for rule in target.rules:
            assert rule.source.startswith("https://"), rule
            assert (
                rule.keyword in CASES
                or " " not in rule.keyword
                or "name" in rule.keyword
                or (rule.keyword == "an empty description")
            ), rule
    assert {"schema-refused", "schema-ignored"} <= set(CODES)
    with pytest.raises(UnknownNameError):
        pg.tool_portability([SAIL], ["acme"])


def test_what_each_target_refuses_of_one_schema() -> None:
    assert codes(SCHEMA, "openai") == set()
    assert codes(SCHEMA, "mistral") == set()
    assert codes({"anyOf": [{"required": ["a"]}]}, "anthropic") == {
        ("(arguments)", "anyOf at the root")
    }
    gemini = codes(SCHEMA, "gemini")
    assert gemini == {
        ("(arguments)", "$schema"), ("(arguments)", "$defs"), ("mode", "const"),
        ("berth", "type as a list"), ("berth", "enum of numbers"), ("who", "oneOf"),
        ("who|2", "$ref"), ("rest", "allOf"),
    }  # fmt: skip
    strict = codes(SCHEMA, "anthropic-strict")
    assert {("from.lat", "minimum"), ("via", "minItems above 1"), ("who|1", "maxLength")} <= strict
    assert ("from", "additionalProperties that is not false") in strict
    assert ("(arguments)", "a property that is not required") in codes(SCHEMA, "openai-strict")
    tree = {"$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}}},
            "properties": {"root": {"$ref": "#/$defs/a"}}}  # fmt: skip
    assert ("root", "a $ref to itself") in codes(tree, "anthropic-strict")


def test_names_and_descriptions_are_looked_at_too() -> None:
    tool = ToolMetadata(name="sail.home", input_schema={"type": "object", "properties": {}})
    found = lint_tool(tool, schema_target("bedrock"))
    assert [f.message.partition(" is refused")[0] for f in found] == [
        "Bedrock Converse, tools that are not strict: a name that is no name",
        "Bedrock Converse, tools that are not strict: an empty description",
    ]
    gemini = schema_target("gemini-json-schema")
    assert lint_tool(tool, gemini) == []
    assert lint_tool(tool.model_copy(update={"name": "sail:home"}), gemini) == []
    assert lint_tool(tool.model_copy(update={"name": "2home"}), gemini)


def test_a_number_in_an_enum_is_refused_by_gemini_and_written_as_text() -> None:
    """400, "Invalid value at … enum[0] (TYPE_STRING), 1" (BrokkAi/bifrost#25, opencode#12784)."""
    target = schema_target("gemini")
    tool = ToolMetadata(
        name="reef",
        input_schema={"type": "object", "properties": {"n": {"type": "integer", "enum": [1, 2]}}},
    )
    assert [f.code for f in lint_tool(tool, target)] == ["schema-refused"]
    assert rewrite_tool(tool, target).input_schema["properties"]["n"]["enum"] == ["1", "2"]


@pytest.mark.parametrize("name", schema_targets())
def test_what_is_sent_instead_is_not_refused(name: str) -> None:
    target = schema_target(name)
    instead = rewrite_tool(SAIL, target)
    assert lint_tool(instead, target) == []
    before = json.dumps(SCHEMA)
    assert json.dumps(SAIL.input_schema) == before  # the tool itself stays as it was
    if name.startswith(("anthropic", "bedrock")):
        jsonschema.Draft202012Validator.check_schema(instead.input_schema)
        for value in LOOSE:
            jsonschema.validate(value, instead.input_schema)


def test_strict_openai_takes_null_for_what_was_optional() -> None:
    schema = rewrite_tool(SAIL, schema_target("openai-strict")).input_schema
    whole = {**dict.fromkeys(schema["properties"]), "from": {"lat": 1, "lon": 2}}
    jsonschema.validate(whole, schema)
    assert schema["required"] == list(schema["properties"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**whole, "from": None}, schema)


def test_a_description_beside_a_ref_is_refused_by_strict_openai_and_kept() -> None:
    """As pydantic writes a field with a description whose type is a model."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"home": {"$ref": "#/$defs/berth", "description": "Where she lies."},
                       "plain": {"$ref": "#/$defs/berth"}},
        "required": ["home", "plain"],
        "$defs": {"berth": {
            "type": "object",
            "description": "A berth.",
            "properties": {"next": {"$ref": "#/$defs/berth", "title": "Next"}},
            "required": ["next"],
        }},
    }  # fmt: skip
    keyword = "a $ref with keywords beside it"
    target = schema_target("openai-strict")
    tool = ToolMetadata(name="t", description="d", input_schema=schema)
    assert ("home", keyword) in codes(schema, "openai-strict")
    assert ("plain", keyword) not in codes(schema, "openai-strict")
    instead = rewrite_tool(tool, target)
    assert lint_tool(instead, target) == []
    home, plain = (instead.input_schema["properties"][key] for key in ("home", "plain"))
    assert home["description"] == "Where she lies." and home["type"] == "object"
    assert plain == {"$ref": "#/$defs/berth"}
    jsonschema.Draft202012Validator.check_schema(instead.input_schema)


@pytest.mark.parametrize("name", ["openai-strict", "anthropic-strict", "gemini"])
def test_every_part_of_an_all_of_is_kept_where_they_are_refs(name: str) -> None:
    schema = {
        "type": "object",
        "properties": {"both": {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]}},
        "required": ["both"],
        "$defs": {key: {"type": "object", "properties": {key: {"type": "string"}},
                        "required": [key]} for key in "ab"},
    }  # fmt: skip
    tool = ToolMetadata(name="t", description="d", input_schema=schema)
    assert any(keyword.startswith("allOf") for _, keyword in codes(schema, name))
    target = schema_target(name)
    instead = rewrite_tool(tool, target)
    assert lint_tool(instead, target) == []
    assert set(instead.input_schema["properties"]["both"]["properties"]) == {"a", "b"}


def test_strict_openai_takes_a_default() -> None:
    """Since 2026-08 at the latest: github.com/openai/openai-agents-python/issues/4390."""
    schema = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}},
              "required": ["n"], "additionalProperties": False}  # fmt: skip
    assert codes(schema, "openai-strict") == set()


def test_a_union_at_the_root_becomes_one_object() -> None:
    schema = {
        "oneOf": [
            {"properties": {"id": {"type": "string"}, "at": {"type": "string"}},
             "required": ["id", "at"]},
            {"properties": {"url": {"type": "string"}, "at": {"type": "string"}},
             "required": ["url", "at"]},
        ]
    }  # fmt: skip
    tool = ToolMetadata(name="t", description="d", input_schema=schema)
    assert rewrite_tool(tool, schema_target("anthropic")).input_schema == {
        "description": "(one of: at, id or at, url)",
        "properties": {
            "id": {"type": "string"}, "at": {"type": "string"}, "url": {"type": "string"},
        },
        "required": ["at"],
        "type": "object",
    }  # fmt: skip


def test_definitions_that_grow_without_end_are_refused() -> None:
    bombs = {
        f"d{n}": {
            "properties": {"a": {"$ref": f"#/$defs/d{n + 1}"}, "b": {"$ref": f"#/$defs/d{n + 1}"}}
        }
        for n in range(40)
    }
    schema = {"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": bombs}  # fmt: skip
    tool = ToolMetadata(name="t", description="d", input_schema=schema)
    with pytest.raises(InputFault, match="more than 5,000 definitions"):
        rewrite_tool(tool, schema_target("gemini"))


def test_a_ref_to_a_name_without_a_path_leads_nowhere() -> None:
    schema = {"type": "object", "properties": {"x": {"$ref": "#Thing"}}}
    tool = ToolMetadata(name="f", description="F.", input_schema=schema)
    rewritten = rewrite_tool(tool, schema_target("gemini")).input_schema
    assert rewritten["properties"]["x"] == {"type": "object"}


def test_what_is_said_three_times_is_said_once() -> None:
    smaller = hoist_repeats(SCHEMA)
    assert (
        smaller["properties"]["from"] == {"$ref": "#/$defs/from"}
        or "$ref" in (smaller["properties"]["from"])
    )
    assert sum(node.schema.get("description") == GEO["description"] for node in nodes(smaller)) == 1
    for value in LOOSE:
        jsonschema.validate(value, smaller)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"from": {"lat": -91, "lon": 0}}, smaller)
    assert hoist_repeats({"type": "object", "properties": {}}) == {
        "type": "object",
        "properties": {},
    }


def test_tokens_of_each_tool_by_model_and_dialect() -> None:
    found = pg.tool_costs(
        [SAIL, {"name": "stop", "input_schema": {}}], models=["gpt-4o", "claude-3"]
    )
    sail, stop = found.tools
    assert found.exact == ("gpt-4o",)
    body = {"model": "gpt-4o", "messages": [], "tools": [{"type": "function", "function": {
        "name": "sail", "description": "Sail there.", "parameters": SCHEMA}}]}  # fmt: skip
    assert sail.by_model["gpt-4o"] == pg.count_tokens(body).by_tool["sail"]
    assert sail.by_model["claude-3"] > stop.by_model["claude-3"] > 0
    assert set(sail.by_dialect) == {"xml", "hermes"}
    assert sail.by_dialect["hermes"] > sail.by_model["gpt-4o"]  # JSON says more than TypeScript
    assert set(sail.shorter) == set(SHORTER)
    assert sail.shorter["without enums"] < sail.by_model["gpt-4o"]
    assert found.total.by_model["gpt-4o"] == sum(t.by_model["gpt-4o"] for t in found.tools)
    assert list(dict.fromkeys(found.frame()["tool"])) == ["sail", "stop", "all"]
    assert "<table" in found.html()


def test_the_command_line_says_both(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([{"name": "sail", "description": "S", "input_schema": SCHEMA}]))

    def run(*more: str) -> tuple[int, str, str]:
        done = terminals.run("tools", str(file), *more)
        return done.returncode, done.stdout, done.stderr

    status, said, told = run("--portable", "--target", "gemini", "--strict")
    assert status == 1 and "Gemini, `parameters`" in said
    assert "error schema-refused (tool sail: mode): Gemini, `parameters`: const is refused" in told
    status, said, _ = run("--tokens", "--model", "gpt-4o", "-d", "xml", "--json")
    assert status == 0 and json.loads(said)["tools"][-1]["tool"] == "all"


def test_compare_shows_both_where_they_are_unfolded() -> None:
    app = page("compare", view="Tools", session="02-parallel-calls")
    unfold(app, "tool tokens", "tool portability")
    tables = [set(each.value.columns) for each in app.dataframe]
    assert any({"tool", "gpt-5", "without enums"} <= columns for columns in tables)
    assert {"target", "where", "code", "message"} in tables
    assert '"additionalProperties": false' in verbatim(app)[-1]


def test_a_second_source_is_another_one() -> None:
    rules = [rule for target in schema_targets().values() for rule in target.rules]
    again = [rule for rule in rules if rule.confirmed]
    assert len(again) >= 32
    assert all(rule.confirmed != rule.source for rule in again)
    assert all(rule.confirmed.startswith("https://") for rule in again)
