"""Tools from anywhere: every form of one tool gives the same schema, and what is lost is said."""

from __future__ import annotations

import enum
import json
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import pytest
import yaml
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.tools import BaseTool as LangChainTool
from langchain_core.tools import InjectedToolArg, StructuredTool
from langchain_core.tools import Tool as SimpleTool
from langchain_core.tools import tool as langchain_tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field
from session_examples import EXAMPLES
from terminals import run

import playground as pg
from playground.base import paths
from playground.base.errors import InputFault
from playground.base.findings import Finding
from playground.base.fixes import with_fix
from playground.dialects import dialect_names, get_dialect
from playground.dialects.schema_losses import Fact, documentation, schema_facts
from playground.nouns.tool_formats import (
    create_schema_from_function,
    read_tool,
    read_tools,
    read_tools_and_findings,
    tool_from_function,
)
from playground.nouns.tool_formats.mcp_servers import read_servers
from playground.nouns.tool_formats.python_files import read_python
from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.aichatflow import parse_templates
from playground.plugins.systems.flink_agents import load_declarations
from playground.sessions.tool_files import holds_tools, load_tools, read_tool_file

FORMATS: Final = ROOT.parent / "shared" / "data" / "tool_formats"
shared = pytest.mark.skipif(
    not FORMATS.exists(), reason="NOT RUN: ../shared/data is not beside this checkout"
)
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "berth": {"type": "string", "description": "Its number.", "minLength": 2},
        "side": {"type": "string", "enum": ["port", "starboard"], "default": "port"},
        "hours": {"type": "integer", "minimum": 1, "maximum": 48},
        "boat": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "metres": {"type": "number"}},
            "required": ["name"],
        },
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["berth"],
    "additionalProperties": False,
}
HEAD: Final = {"name": "moor", "description": "Moor a boat."}
MOOR: Final = ToolMetadata(name="moor", description="Moor a boat.", input_schema=SCHEMA)
FUNCTION: Final = {**HEAD, "parameters": SCHEMA}
MCP: Final = {
    **HEAD,
    "inputSchema": SCHEMA,
    "title": "Moor",
    "annotations": {"idempotentHint": True},
}
SPEC: Final = {"toolSpec": {**HEAD, "inputSchema": {"json": SCHEMA}}}
GEMINI: Final = {**HEAD, "parametersJsonSchema": SCHEMA}
FORMS: Final[dict[str, Any]] = {
    "ours": [{**HEAD, "input_schema": SCHEMA}],
    "openai chat": [{"type": "function", "function": {**FUNCTION, "strict": True}}],
    "openai responses": {"tools": [{"type": "function", **FUNCTION}]},
    "older functions": {"functions": [FUNCTION]},
    "anthropic": [{**HEAD, "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}}],
    "gemini, as JSON Schema": [{"functionDeclarations": [GEMINI]}],
    "bedrock": {"tools": [SPEC]},
    "bedrock request": {"toolConfig": {"tools": [SPEC]}},
    "mcp, one": MCP,
    "mcp, as it is sent": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}},
    "flink": {**HEAD, "args_schema": SCHEMA},
    "roo": {"serialized": {**FUNCTION, "source": "a.ts"}},
    "a live tool": [MOOR],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_one_tool_is_the_same_tool(form: str) -> None:
    assert read_tools(FORMS[form]) == [MOOR]


@pytest.mark.parametrize("form", [form for form in FORMS if form != "a live tool"])
def test_a_file_of_any_form_is_known_to_hold_tools(form: str) -> None:
    assert holds_tools("tools.json", json.dumps(FORMS[form]).encode())
    assert holds_tools("tools.yaml", yaml.safe_dump(FORMS[form]).encode())


def test_a_session_of_any_format_is_known_to_be_none() -> None:
    files = [(path.name, path.read_bytes()) for path in paths.samples().values()]
    files += [(e.name, e.content) for e in EXAMPLES.values() if isinstance(e.content, bytes)]
    assert len(files) > 40
    assert [name for name, data in files if holds_tools(name, data)] == []


def test_geminis_own_types_become_json_schema() -> None:
    foreign = {
        "type": "OBJECT",
        "propertyOrdering": ["berth"],
        "properties": {
            "berth": {"type": "STRING", "minLength": "2"},
            "side": {"type": "STRING", "format": "enum", "enum": ["port"], "nullable": True},
            "type": {"type": "ARRAY", "items": {"type": "INTEGER"}, "description": "OBJECT"},
        },
    }
    (tool,) = read_tools([{"functionDeclarations": [{**HEAD, "parameters": foreign}]}])
    assert tool.input_schema == {
        "type": "object",
        "properties": {
            "berth": {"type": "string", "minLength": 2},
            "side": {"anyOf": [{"type": "string", "enum": ["port"]}, {"type": "null"}]},
            "type": {"type": "array", "items": {"type": "integer"}, "description": "OBJECT"},
        },
    }


def test_what_has_no_schema_is_left_out_by_name() -> None:
    given = [
        {"type": "web_search"},
        {"type": "bash_20250124", "name": "bash"},
        {"googleSearch": {}},
        FUNCTION,
    ]
    tools, found = read_tools_and_findings(given)
    assert tools == [MOOR]
    assert [f.where for f in found] == ["tools.0", "tools.1", "tools.2"]
    assert {f.code for f in found} == {"tool-left-out"}
    assert "web_search" in found[0].message


def _as_request(tools: list[Any]) -> tuple[Finding, ...]:
    messages = [{"role": "user", "content": "Hi"}]
    return pg.load_session({"model": "gpt-4o", "messages": messages, "tools": tools}).findings


def _as_session_file(tools: list[Any]) -> tuple[Finding, ...]:
    return pg.load_session({"format": "playground-session/1", "tools": tools}).findings


def _as_tool_list(tools: list[Any]) -> list[Finding]:
    findings: list[Finding] = []
    pg.read_tools(tools, findings)
    return findings


def _as_tool_file(tools: list[Any]) -> list[Finding]:
    return read_tool_file(json.dumps(tools).encode(), "tools.json").findings


WAYS: Final = [
    lambda tools: pg.session("Hi", tools).findings,
    _as_request,
    _as_session_file,
    _as_tool_list,
    _as_tool_file,
]


@pytest.mark.parametrize("read", WAYS)
def test_what_a_schema_has_of_a_wrong_type_and_tools_of_one_name_are_told(read: Any) -> None:
    """They were read without a word, and of two tools of one name one was lost."""
    odd = {
        "type": "object",
        "required": "city",
        "properties": {
            "city": {"type": "object", "properties": ["name"]},
            "days": {"type": "array", "items": "string", "required": True},
            "unit": "string",
            "near": {"anyOf": [{"type": "string"}, 3], "default": {"properties": 3}},
        },
    }
    tools = [{"name": "f", "input_schema": schema} for schema in (odd, {"type": "object"})]
    found = [one for one in read(tools) if one.code == "schema-unread"]
    places = {one.where.partition("f." if "tool f" in one.where else "0.")[2] for one in found}
    assert places == {
        "required",
        "properties.city.properties",
        "properties.days.items",
        "properties.unit",
        "properties.near.anyOf.1",
    }
    assert [one.code for one in read(tools) if one not in found] == ["duplicate-tool"]


@pytest.mark.parametrize("read", WAYS)
def test_properties_that_are_a_list_are_told(read: Any) -> None:
    tools = [{"name": "f", "input_schema": {"properties": ["city"]}}]
    try:
        words = str(read(tools))
    except pg.InputFault as fault:
        words = str(fault)
    assert ".properties" in words and "['city'] is not an object" in words


def test_tools_of_two_namespaces_are_told_as_not_told_apart() -> None:
    lists = [{"type": "namespace", "name": each, "tools": [FUNCTION]} for each in ("crm", "erp")]
    for read in (_as_tool_list, _as_request):
        (found,) = read(lists)
        assert found.code == "duplicate-tool"
        assert "no namespace or server tells tools apart here" in with_fix(found)


def test_a_cache_mark_among_tools_is_told_as_one() -> None:
    given = [FUNCTION, {"cachePoint": {"type": "default"}}]
    tools, found = read_tools_and_findings(given)
    assert tools == [MOOR]
    assert [(f.code, f.severity, f.where, with_fix(f)) for f in found] == [
        (
            "cache-mark",
            "info",
            "tools.1",
            "a cache mark, not a tool; nothing to do: requests as sent keep the mark",
        )
    ]


def test_a_parameter_may_be_named_as_a_wrapper_is() -> None:
    azad = {"name": "t", "parameters": {"json": {"description": "A text."}}}
    assert list(read_tool({**azad, "required_parameters": ["json"]}).parameters) == ["json"]
    schema = {"type": "object", "properties": {"json": {"type": "object"}}}
    assert list(read_tool({"name": "t", "inputSchema": schema}).parameters) == ["json"]


def test_examples_come_with_the_form_that_has_them() -> None:
    given = {
        "name": "moor",
        "parameters": {"berth": {"description": "Its number."}},
        "required_parameters": ["berth"],
        "examples": [{"explanation": "A berth.", "parameters": {"berth": "A3"}}],
    }
    tool = read_tool(given)
    assert tool.examples[0].parameters == {"berth": "A3"}
    assert tool.required_parameters == ["berth"]


# OpenAPI


OWNER: Final = "#/components/schemas/Owner"


def api(**paths: Any) -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "info": {"title": "Harbour", "version": "1"},
        "paths": {f"/{name}": value for name, value in paths.items()},
        "components": {
            "parameters": {"Port": {"name": "port", "in": "query", "schema": {"type": "string"}}},
            "schemas": {
                "Boat": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "owner": {"$ref": OWNER}},
                    "required": ["name"],
                },
                "Owner": {"type": "object", "properties": {"phone": {"type": "string"}}},
                "Node": {"properties": {"next": {"$ref": "#/components/schemas/Node"}}},
            },
        },
    }  # fmt: skip


def body(schema: Any) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def test_operations_are_tools_with_references_in_their_place() -> None:
    moor = {
        "operationId": "moor",
        "summary": "Moor.",
        "parameters": [{"$ref": "#/components/parameters/Port"}],
        "requestBody": body({"$ref": "#/components/schemas/Boat"}),
    }
    berth = {"name": "berth", "in": "path", "required": True, "schema": {"type": "integer"}}
    document = api(boats={"post": moor}, berths={"parameters": [berth], "get": {}})
    tools, found = read_tools_and_findings(document)
    assert tools[0] == ToolMetadata(
        name="moor",
        description="Moor.",
        input_schema={
            "type": "object",
            "properties": {
                "port": {"type": "string"},
                "name": {"type": "string"},
                "owner": {"type": "object", "properties": {"phone": {"type": "string"}}},
            },
            "required": ["name"],
        },
    )
    assert (tools[1].name, tools[1].required_parameters) == ("get_berths", ["berth"])
    assert [f.code for f in found] == ["tool-fields", "tool-fields", "name-mended"]
    assert found[0].message == "not kept: the location of parameters"


def test_a_cycle_is_refused_by_name_and_the_rest_is_read() -> None:
    turning = {"operationId": "turn", "requestBody": body({"$ref": "#/components/schemas/Node"})}
    good = {"operationId": "list"}
    tools, found = read_tools_and_findings(api(a={"post": turning}, b={"get": good}))
    assert [tool.name for tool in tools] == ["list"]
    assert [f.code for f in found] == ["cyclic-ref"]
    assert "POST /a" in found[0].where
    with pytest.raises(InputFault, match="no operation can be read.*Node"):
        read_tools(api(a={"post": turning}))
    lost = {"requestBody": body({"$ref": "other.json#/x"})}
    with pytest.raises(InputFault, match="nothing at other.json"):
        read_tools(api(a={"post": lost}))


def test_references_that_unfold_to_too_much_are_refused() -> None:
    document = api(a={"post": {"requestBody": body({"$ref": "#/components/schemas/S0"})}})
    for number in range(30):
        inner = {"$ref": f"#/components/schemas/S{number + 1}"}
        two = {"type": "object", "properties": {"left": inner, "right": inner}}
        document["components"]["schemas"][f"S{number}"] = two
    document["components"]["schemas"]["S30"] = {"type": "string"}
    with pytest.raises(InputFault, match="more than 200,000 values"):
        read_tools(document)


def test_a_parameter_without_a_name_is_told() -> None:
    odd = [{"in": {}, "name": []}, {"in": "query", "name": "a", "schema": {"type": "string"}}]
    tools, found = read_tools_and_findings(api(a={"get": {"operationId": "f", "parameters": odd}}))
    assert list(tools[0].parameters) == ["a"]
    assert found[0].message == "a parameter without a name is not kept"


def test_names_that_clash_are_kept_apart() -> None:
    parameters = [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "id", "in": "query", "schema": {"type": "integer"}},
    ]
    same = {"operationId": "get", "parameters": parameters}
    tools, found = read_tools_and_findings(api(a={"get": same}, b={"get": same}))
    assert list(tools[0].parameters) == ["id", "id_query"]
    assert [tool.name for tool in tools] == ["get", "get_1"]
    assert found[-1].code == "name-mended"
    assert "tool-fields" in {f.code for f in found}


# Python


class Side(enum.Enum):
    PORT = "port"
    STARBOARD = "starboard"


class Boat(BaseModel):
    """A boat."""

    name: str
    metres: float = Field(default=10, gt=0)


SOURCE: Final = '''
from enum import Enum
from typing import Annotated, Literal
import os
from pydantic import BaseModel, Field

os.remove("/nothing/of/this/is/run")

class Side(Enum):
    PORT = "port"
    STARBOARD = "starboard"

class Boat(BaseModel):
    """A boat."""
    name: str
    metres: float = Field(default=10, gt=0)

def moor(
    berth: Annotated[str, "Its number."],
    boats: list[Boat],
    side: Side = Side.PORT,
    tide: Literal["high", "low"] | None = None,
    hours: int | float = 2,
    *notes: str,
    _quiet: bool = False,
    schema: dict[str, int] = {},
    **more: int,
) -> None:
    """Moor boats.

    Args:
        boats: All of them.
        hours (int): How long.
    """
'''


def live_moor(
    berth: Annotated[str, "Its number."],
    boats: list[Boat],
    side: Side = Side.PORT,
    tide: Literal["high", "low"] | None = None,
    hours: int | float = 2,
    *notes: str,
    _quiet: bool = False,
    schema: dict[str, int] = {},  # noqa: B006
    **more: int,
) -> None:
    """Moor boats.

    Args:
        boats: All of them.
        hours (int): How long.
    """


def test_a_function_is_read_alike_live_and_from_its_source() -> None:
    read, found = read_python(SOURCE, "boats.py")
    live, also = tool_from_function(live_moor, "moor")
    assert read == [live]
    assert [f.message for f in found] == [f.message for f in also]
    assert {f.code for f in found} == {"var-arguments"}
    assert live.description == "Moor boats."
    assert list(live.parameters) == ["berth", "boats", "side", "tide", "hours", "_quiet", "schema"]
    assert live.required_parameters == ["berth", "boats"]
    assert {name: p.description for name, p in live.parameters.items()} == {
        "berth": "Its number.",
        "boats": "All of them.",
        "side": "Parameter: side",
        "tide": "Parameter: tide",
        "hours": "How long.",
        "_quiet": "Parameter: _quiet",
        "schema": "Parameter: schema",
    }
    assert live.parameter_schema("side")["enum"] == ["port", "starboard"]
    assert live.parameters["boats"].type == "array of object"


@pytest.mark.parametrize(
    "docstring",
    [
        "X.\n\n    Args:\n        a: The first.\n",
        "X.\n\n    Parameters\n    ----------\n    a : int\n        The first.\n",
        "X.\n\n    :param a: The first.\n",
        "X.\n\n    @param a: The first.\n",
    ],
    ids=["google", "numpy", "sphinx", "epydoc"],
)
def test_every_style_of_docstring(docstring: str) -> None:
    (tool,), found = read_python(f'def f(a: int):\n    """{docstring}    """\n', "f.py")
    assert tool.parameters["a"].description == "The first."
    assert found == []


def test_a_docstring_that_lies_is_told() -> None:
    source = 'def f(a: str):\n    """F.\n\n    Args:\n        a (int): A.\n        b: B.\n    """\n'
    _, found = read_python(source, "f.py")
    assert [(f.code, f.where, f.message) for f in found] == [
        ("docstring-lies", "tool f, parameter a", "int in the docstring, string declared"),
        (
            "docstring-lies",
            "tool f, parameter b",
            "the docstring describes it, but the signature has: a",
        ),
    ]


@pytest.mark.parametrize(
    "annotation", ["Harbour", "open('x')", "lambda: 1", "a.b.C", "Literal[x]", "Union[()]"]
)
def test_a_type_that_is_not_known_is_any_value_and_told(annotation: str) -> None:
    (tool,), found = read_python(f"def f(a: {annotation}): ...", "f.py")
    assert tool.parameters["a"].type == "any"
    assert [f.code for f in found] == ["annotation-unread"]


@pytest.mark.parametrize("default", ["os.cpu_count()", "[x for x in y]", "Side.NOPE", "NAME"])
def test_a_default_that_only_running_would_tell_is_told(default: str) -> None:
    source = f"class Side(Enum):\n    PORT = 1\ndef f(a: int = {default}): ..."
    (tool,), found = read_python(source, "f.py")
    assert tool.required_parameters == []
    assert "default" not in tool.parameter_schema("a")
    assert [f.code for f in found] == ["annotation-unread"]
    assert default in found[0].message


def refused(a: int = Field(gt="x")) -> None:
    """A bound that pydantic refuses."""


@pytest.mark.parametrize("value", [dict, refused])
def test_a_live_object_that_is_no_tool_is_one_clear_error(value: Any) -> None:
    with pytest.raises(InputFault, match="is not a tool: "):
        read_tools([value])


def test_a_bound_that_pydantic_refuses_is_one_clear_error() -> None:
    with pytest.raises(InputFault, match="refused: no schema for its arguments: .*gt"):
        create_schema_from_function("refused", refused)


def test_a_field_as_the_default_speaks_for_itself() -> None:
    def berth(a: int = Field(1, ge=0), b: int = 2) -> None:
        """Berth.

        :param a: The first.
        :param b: The second.
        """

    schema = create_schema_from_function("berth", berth).model_json_schema()
    assert schema["properties"] == {
        "a": {"default": 1, "minimum": 0, "title": "A", "type": "integer"},
        "b": {"default": 2, "description": "The second.", "title": "B", "type": "integer"},
    }


def test_marked_functions_alone_are_tools_wherever_they_stand() -> None:
    source = "class A:\n    @tool\n    @staticmethod\n    def add(a: int): ...\ndef other(): ...\n"
    assert [t.name for t in read_python(source, "a.py")[0]] == ["add"]
    source = "@mcp.tool()\nasync def get(self, a: int): ...\n"
    (tool,), _ = read_python(source, "a.py")
    assert list(tool.parameters) == ["a"]


def test_a_missing_package_is_no_fault_of_the_users_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docstring_parser", None)
    with pytest.raises(ModuleNotFoundError, match="docstring_parser"):
        read_python('def moor(a: int):\n    """Moor."""\n', "a.py")


def test_a_model_that_nothing_uses_is_a_tool() -> None:
    source = (
        "from pydantic import BaseModel, Field\n"
        "class Inner(BaseModel):\n    x: int\n"
        'class moor(BaseModel):\n    """Moor."""\n    inner: Inner\n'
        "    tags_: list[str] = Field(default_factory=list, alias='tags')\n"
    )
    (tool,), _ = read_python(source, "a.py")
    assert (tool.name, tool.description) == ("moor", "Moor.")
    assert list(tool.parameters) == ["inner", "tags"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def f(:", "bad.py:1: not Python"),
        ("x = 1", "holds no tool"),
        ("(" * 5000, "not Python"),
        ("def f(a: " + "int | " * 3000 + "int): ...", "bad.py"),
        ("A = " + "int | " * 3000 + "int\ndef f(a: A): ...", "not Python"),
        ("def f(a: int = Field(gt='x')): ...", "bad.py:1, field f"),
    ],
)
def test_source_that_cannot_be_read_is_one_clear_error(source: str, said: str) -> None:
    with pytest.raises(InputFault, match=said):
        read_tool_file(source.encode(), "bad.py")


@given(st.text(alphabet="def f(a:int,*)= \n\t'\"[]{}|.@Literal\ud800", max_size=80))
def test_any_source_gives_tools_or_one_clear_error(source: str) -> None:
    try:
        tools, _ = read_python(source, "any.py")
    except InputFault:
        return
    assert tools


def test_injected_arguments_are_hidden() -> None:
    def ask(order: str, tenant: str) -> None:
        """Ask."""

    model = create_schema_from_function("ask", ask, ["tenant"])
    assert list(model.model_json_schema()["properties"]) == ["order"]
    assert model(order="a").model_dump() == {"order": "a"}


def test_live_objects_of_other_libraries() -> None:
    class Theirs:
        name = "moor"
        description = "Moor a boat."
        args_schema = Boat

        def run(self) -> None: ...

    assert read_tool(Theirs()).input_schema == Boat.model_json_schema()
    assert read_tool(Boat).name == "Boat"
    assert read_tool(live_moor).name == "live_moor"


@langchain_tool
def tide(harbour: str, keeper: Annotated[str, InjectedToolArg], unit: str = "m") -> str:
    """The tide at a harbour."""
    return harbour + unit + keeper


class Pilot(LangChainTool):
    name: str = "pilot"
    description: str = "Calls a pilot."

    def _run(self, boat: str, hour: int = 3) -> str:
        return boat * hour


CHOICE: Final = {"type": "object", "properties": {"berth": {"enum": [1, 2]}}, "required": ["berth"]}


@pytest.mark.parametrize(
    "tool",
    [
        tide,
        Pilot(),
        SimpleTool(name="log", description="The log.", func=str),
        StructuredTool(name="berth", description="A berth.", args_schema=CHOICE, func=str),
        StructuredTool.from_function(name="moor", description="Moor.", args_schema=Boat, func=str),
    ],
    ids=lambda tool: tool.name,
)
def test_a_tool_of_langchain_is_told_as_langchain_tells_it(tool: LangChainTool) -> None:
    read = read_tool(tool)
    told = convert_to_openai_tool(tool)["function"]
    assert (read.name, read.description) == (told["name"], told["description"])
    assert untitled(read.input_schema) == untitled(told["parameters"])


def untitled(schema: Any) -> Any:
    """The schema without pydantic's titles."""
    if isinstance(schema, list):
        return [untitled(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    titled = isinstance(schema.get("title"), str)
    return {k: untitled(v) for k, v in schema.items() if not (titled and k == "title")}


def test_a_schema_may_be_given_as_a_model() -> None:
    tool = ToolMetadata(name="t", description="d", args_schema=Boat)
    assert tool.input_schema == Boat.model_json_schema()
    assert tool == ToolMetadata(name="t", description="d", args_schema=Boat.model_json_schema())
    with pytest.raises(ValueError, match="not both"):
        ToolMetadata(name="t", args_schema=Boat, input_schema={})


# files


def test_the_tools_of_a_file_stand_where_tools_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"name": "now", "description": "The time.", "parameters": {}}]))
    file = load_tools(path)
    assert list(pg.session("hi", tools=file).tools) == file.tools == list(file)
    assert len(file) == len(pg.read_tools(file)) == 1


@shared
def test_the_tools_of_a_request_are_read_out_of_a_command(tmp_path: Path) -> None:
    path = tmp_path / "request.txt"
    body = '{"model": "m", "messages": [], "tools": [{"name": "tides", "input_schema": {}}]}'
    path.write_text(f"curl http://127.0.0.1:8000/v1/messages \\\n  -d '{body}'\n")
    assert [tool.name for tool in load_tools(path)] == ["tides"]
    path.write_text("curl http://127.0.0.1:8000/v1/messages -d '{\"tools\": [}'")
    with pytest.raises(InputFault, match=r"request\.txt, curl.*not JSON"):
        load_tools(path)


def test_the_example_of_every_form_is_read() -> None:
    """Another project's collection: one tool in every form."""
    canonical = json.loads((FORMATS / "_canonical_json_schema.json").read_text())["parameters"]
    same, names = [], {}
    for path in sorted(FORMATS.glob("[a-z]*.json")):
        value = json.loads(path.read_text())
        if path.stem in ("python_function", "pydantic_model"):
            tools = read_tool_file(value["code"].encode(), "tools.py").tools
        elif path.stem in ("mcp_servers", "aichatflow_function_names", "flink_agents_yaml"):
            continue  # programs to start, names alone, declarations: tested elsewhere
        else:
            tools = load_tools(path).tools
        names[path.stem] = [tool.name for tool in tools]
        if tools[0].input_schema == canonical:
            same.append(path.stem)
        if path.stem == "pydantic_model":
            assert tools[0].input_schema == value["model_json_schema"]
    assert len(names) == 18
    assert {found[0] for found in names.values()} == {"get_weather", "search"}
    assert same == [
        "anthropic_tools",
        "bedrock_tool_config",
        "cline_agent_tool",
        "gemini_parameters_json_schema",
        "mcp_tools_list_result",
        "openai_chat_tools",
        "openai_legacy_functions",
    ]


@shared
def test_the_examples_that_hold_no_schema_are_read_as_what_they_are(tmp_path: Path) -> None:
    """Declarations, names of functions, and servers to ask."""
    examples = {
        path.stem: json.loads(path.read_text())
        for path in FORMATS.glob("*.json")
        if path.stem in ("flink_agents_yaml", "aichatflow_function_names", "mcp_servers")
    }
    file = tmp_path / "agent.yaml"
    file.write_text(examples["flink_agents_yaml"]["yaml"])
    declared = load_declarations(file)
    assert declared.prompt("p2").variables == ["who", "q"]
    assert [found.code for found in declared.findings] == ["tool-left-out"]
    (message,) = parse_templates(examples["aichatflow_function_names"]["yaml"])["default"]
    assert message.model_dump()["functions"] == ["get_weather", "botSwitchTemplate"]
    servers = read_servers(json.dumps(examples["mcp_servers"]))
    assert [str(s) for s in servers] == [
        'local: ["python", "server.py"]',
        "remote: https://example.com/mcp",
    ]


def test_yaml_is_read_by_the_safe_loader(tmp_path: Path) -> None:
    path = tmp_path / "api.yaml"
    path.write_text("openapi: 3.0.0\npaths:\n  /a:\n    get: {operationId: list}\n")
    assert [tool.name for tool in pg.load_tools(path).tools] == ["list"]
    path.write_text("tools: !!python/object/apply:os.system [ls]")
    with pytest.raises(InputFault, match="not plain YAML"):
        pg.load_tools(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "it holds no tools: the list is empty"),
        ('[\n {"name": "a"},\n {"description": "b"}\n]', r"tools.json:3, field tools.1.name"),
        ('{"mcpServers": {"a": {"command": "x"}}}', "playground tools --mcp"),
        ('[{"name": "a", "parameters": 3}, 4]', "a tool must be an object, not 4"),
        ("[", "tools.json:1"),
        ("[" + "1" * 5000 + "]", "a tool must be an object, not .1111"),
    ],
)
def test_a_bad_file_is_one_clear_error(text: str, said: str) -> None:
    with pytest.raises(InputFault, match=said):
        read_tool_file(text.encode(), "tools.json")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["tools", "name", "parameters", "function", "type", "toolSpec", "openapi"]
                    + ["inputSchema", "json", "$ref", "properties", "result", "paths", "required"]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=20,
    )
)
def test_any_value_gives_tools_or_one_clear_error(value: Any) -> None:
    try:
        tools = read_tools(value)
    except InputFault:
        return
    for tool in tools:
        assert tool.name
        assert get_dialect("xml").format_tool_doc(tool)


# what dialects drop


def dropped(facts: list[Fact]) -> set[tuple[str, str]]:
    return {(fact.where, fact.keyword) for fact in facts if not fact.kept}


def test_what_a_dialect_does_not_tell_is_found_by_taking_it_out() -> None:
    assert dropped(schema_facts(get_dialect("native"), MOOR)) == set()
    assert dropped(schema_facts(get_dialect("xml"), MOOR)) == {
        ("(arguments)", "additionalProperties"),
        ("berth", "minLength"),
        ("side", "enum"),
        ("side", "default"),
        ("hours", "minimum"),
        ("hours", "maximum"),
        ("boat", "properties"),
        ("boat", "required"),
        ("boat.name", "type"),
        ("boat.metres", "type"),
    }


def test_a_property_of_any_value_hides_no_fact_of_those_after_it() -> None:
    schema = {"type": "object", "properties": {"any": True, "path": {"pattern": "^/"}}}
    facts = schema_facts(get_dialect("native"), ToolMetadata(name="read", input_schema=schema))
    assert [(fact.where, fact.keyword) for fact in facts] == [("path", "pattern")]


@pytest.mark.parametrize("name", dialect_names())
def test_a_kept_fact_can_be_read_in_the_prompt(name: str) -> None:
    """What counts as kept is there to be read: an enum's values, a bound, a nested name."""
    dialect = get_dialect(name)
    data = pg.sample_sessions()["01-plain-chat"].prompt_data().model_copy(
        update={"tool_metadata": [MOOR], "messages": []}
    )  # fmt: skip
    said = json.dumps([dialect.format_messages(data), dialect.request_tools(data)])
    marks = {
        ("side", "enum"): "starboard",
        ("hours", "maximum"): "48",
        ("boat", "properties"): "metres",
    }
    facts = {(fact.where, fact.keyword): fact.kept for fact in schema_facts(dialect, MOOR)}
    for place, text in marks.items():
        assert facts[place] == (text in said), place
    assert facts["berth", "description"]


def _numbered(value: Any, counter: Iterator[int]) -> Any:
    """Give each fact of a schema words and bounds that stand nowhere else in it."""
    if not isinstance(value, dict):
        return value
    new = {key: _numbered(inner, counter) for key, inner in value.items()}
    if isinstance(value.get("properties"), dict):
        inner = value["properties"].values()
        new["properties"] = {f"n{next(counter)}n": _numbered(each, counter) for each in inner}
    for key in ("anyOf", "oneOf", "allOf"):
        if key in value:
            new[key] = [_numbered(each, counter) for each in value[key]]
    for key in new.keys() & {"description", "default", "pattern", "format", "const"}:
        new[key] = f"w{next(counter)}w"
    for key in new.keys() & {"minimum", "maxLength", "minItems"}:
        new[key] = 70_000 + next(counter)
    return new | ({"enum": [f"w{next(counter)}w"]} if "enum" in value else {})


_FACTS: Final = st.dictionaries(
    st.sampled_from(["description", "default", "pattern", "format", "const", "minimum"])
    | st.sampled_from(["maxLength", "minItems", "enum"]),
    st.just(0),
    max_size=4,
)
_NESTED: Final = st.recursive(
    st.tuples(st.sampled_from(["string", "integer"]), _FACTS).map(
        lambda pair: {"type": pair[0], **pair[1]}
    ),
    lambda inner: st.one_of(
        st.tuples(st.lists(inner, min_size=1, max_size=2), _FACTS).map(
            lambda pair: {"type": "object", "properties": dict(enumerate(pair[0])), **pair[1]}
        ),
        st.tuples(inner, _FACTS).map(lambda pair: {"type": "array", "items": pair[0], **pair[1]}),
        st.lists(inner, min_size=1, max_size=2).map(lambda several: {"anyOf": several}),
        st.tuples(inner, inner).map(lambda pair: {"if": pair[0], "then": pair[1]}),
    ),
    max_leaves=6,
)


@settings(max_examples=40)
@given(name=st.sampled_from(dialect_names()), inner=_NESTED)
def test_a_fact_at_any_depth_is_kept_if_its_words_can_be_read(name: str, inner: Any) -> None:
    dialect = get_dialect(name)
    schema = _numbered({"type": "object", "properties": {"a": inner}}, count(100))
    tool = ToolMetadata(name="f", input_schema=schema)
    said = documentation(dialect, tool)
    words = list(_words_of(schema, ""))
    keywords = {place.split()[-1] for place, _ in words}
    lost = [f"{fact.where} {fact.keyword}" for fact in schema_facts(dialect, tool) if not fact.kept]
    assert Counter(place for place in lost if place.split()[-1] in keywords) == Counter(
        place for place, word in words if word not in said
    )


def _words_of(schema: Any, where: str) -> Iterator[tuple[str, str]]:
    """Yield the place and keyword of each fact with words or bounds of its own, and those."""
    for key, value in schema.items():
        match key, value:
            case ("properties", dict()):
                for name, each in value.items():
                    yield from _words_of(each, f"{where}.{name}".strip("."))
            case ("items" | "if" | "then", dict()):
                yield from _words_of(value, where + "[]" * (key == "items"))
            case ("anyOf", list()):
                for index, each in enumerate(value, 1):
                    yield from _words_of(each, f"{where}|{index}")
            case ("type" | "required", _):
                continue
            case _:
                word = json.dumps(value).strip('[]"')
                yield f"{where or '(arguments)'} {key}", word


# the command line, and live MCP servers


SERVER: Final = """
import sys
from mcp.server import MCPServer
server = MCPServer("harbour")
@server.tool()
def tides(port: str, days: int = 3) -> str:
    "Tides of a port."
    return port
server.run(*sys.argv[1:2], **({"port": int(sys.argv[2])} if sys.argv[2:] else {}))
"""


def test_tools_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([FUNCTION, {"type": "web_search"}]))
    done = run("tools", str(path), "-d", "xml", "--json")
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert told["tools"][0]["input_schema"] == SCHEMA
    assert told["findings"][0]["code"] == "tool-left-out"
    assert {"tool": "moor", "where": "side", "keyword": "enum", "kind": "enums"} in told["dropped"][
        "xml"
    ]
    done = run("tools", "02-parallel-calls", "-d", "xml", "-d", "hermes")
    assert done.returncode == 0
    assert "xml drops get_weather unit: enum" in done.stdout


def program(source: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-c", source]}


def servers(path: Path, **given: Any) -> str:
    path.write_text(json.dumps({"mcpServers": {"harbour": given}}))
    return str(path)


def test_a_live_server_is_asked_after_a_yes(tmp_path: Path) -> None:
    file = servers(tmp_path / "mcp.json", **program(SERVER))
    done = run("tools", file, "--mcp", stdin="y\n")
    assert done.returncode == 0, done.stderr
    assert "port: string, days?: integer" in done.stdout
    assert '"harbour": a yes would' in done.stderr
    done = run("tools", file, "--mcp", stdin="n\n")
    assert done.returncode == 2
    assert "not allowed" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_program_is_started_in_its_folder(tmp_path: Path) -> None:
    here = "import os; assert os.path.basename(os.getcwd()) == 'own'\n"
    own = tmp_path / "own"
    own.mkdir()
    file = servers(tmp_path / "mcp.json", **program(here + SERVER), cwd=str(own))
    done = run("tools", file, "--mcp", "--yes")
    assert done.returncode == 0, done.stderr


@contextmanager
def remote(transport: str) -> Iterator[int]:
    """The same server on a port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, transport, str(port)], stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(300):
            assert process.poll() is None
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.parametrize(
    ("transport", "given"),
    [
        ("sse", {"type": "sse", "url": "http://127.0.0.1:{}/sse"}),
        ("streamable-http", {"type": "http", "url": "http://127.0.0.1:{}/mcp"}),
    ],
)
def test_a_remote_server_is_asked(tmp_path: Path, transport: str, given: dict[str, str]) -> None:
    with remote(transport) as port:
        url = given["url"].format(port)
        done = run(
            "tools", servers(tmp_path / "mcp.json", **{**given, "url": url}), "--mcp", stdin="y\n"
        )
    assert done.returncode == 0, done.stderr
    assert "port: string, days?: integer" in done.stdout
    assert url in done.stderr


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (program("import time; time.sleep(60)"), "no answer within 2"),
        ({"command": "/no/such/program"}, "No such file"),
        (program("print('x' * 99)"), "Connection closed"),
        ({"url": "http://127.0.0.1:9/mcp"}, "connection"),
        ({"command": "x", "env": {"A": "${NO_SUCH_VARIABLE}"}}, "a variable that is not set"),
        ({"command": "x", "url": "http://y"}, "a server needs either a command or a url"),
        ({"url": "file:///etc/passwd"}, "not a web address"),
        ({"command": "x", "args": "y"}, "not a list of texts"),
    ],
)  # fmt: skip
def test_a_server_that_does_not_answer_is_one_clear_error(
    tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    file = servers(tmp_path / "mcp.json", **given)
    done = run("tools", file, "--mcp", "--yes", "--seconds", "2")
    assert done.returncode == 2
    assert said.lower() in done.stderr.lower()
    assert "harbour" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_line_of_a_bad_tool_is_found_in_a_time_that_grows_with_the_file() -> None:
    """The rest of the text was copied for each tool before it: 11 s for 16 MB."""

    def seconds(count: int) -> float:
        tools = [{"name": f"t{number}", "input_schema": {}} for number in range(count)]
        data = json.dumps([*tools, {"name": 5}], indent=1).encode()
        began = time.process_time()
        with pytest.raises(InputFault, match=rf"^tools.json:{4 * count + 3}, "):
            read_tool_file(data, "tools.json")
        return time.process_time() - began

    small, large = (min(seconds(count) for _ in range(3)) for count in (4_000, 16_000))
    assert large < 4 * 2 * small + 0.05, (small, large)
