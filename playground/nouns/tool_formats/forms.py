"""The forms in which providers and programs write a tool as JSON; all are read as `ToolMetadata`.

| form | its shape |
|---|---|
| ours | `name`, `description`, `input_schema`, `examples` |
| Azad | `name`, `description`, `parameters` by name, `required_parameters`, `examples` |
| OpenAI chat | `{type: function, function: {name, description, parameters, strict}}` |
| OpenAI Responses, older functions, Roo | `{name, description, parameters}` |
| Anthropic | `{name, description, input_schema}` |
| MCP, Cline | `{name, description, inputSchema}`, a list of them under `result.tools` |
| Gemini | `{functionDeclarations: [{name, parameters or parametersJsonSchema}]}` |
| AI SDK | `{NAME: {description, inputSchema: {jsonSchema}}}` |
| Bedrock | `{tools: [{toolSpec: {name, inputSchema: {json}}}]}` |
| Flink-Agents | `{name, description, args_schema}` |
| OpenAPI 3 | a document: every operation is a tool (`openapi.py`) |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse
from types import NoneType
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from playground.base.arguments import takes
from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.nouns.tool_formats.gemini import json_schema
from playground.nouns.tool_formats.openapi import is_openapi, operations
from playground.nouns.tools import (
    JSON_TYPES,
    SCHEMA_WORDS,
    TYPE_NAMES,
    UNREAD,
    ToolMetadata,
    is_properties,
    tools_findings,
)

_SCHEMAS: Final = (
    "parametersJsonSchema", "parameters_json_schema", "input_schema", "inputSchema", "args_schema",
    "parameters",
)  # fmt: skip
_LIST_KEYS: Final = ("tools", "functions", "functionDeclarations", "function_declarations")
_WRAPPERS: Final = (
    "result", "toolConfig", "tool_config", "function", "toolSpec", "serialized", "custom"
)  # fmt: skip
_KEYS_OF_TOOLS: Final = {*_SCHEMAS, *_LIST_KEYS, *_WRAPPERS, "openapi"} - {"result", "custom"}
# Keys of messages, requests, traces and sessions: a value with one of these holds no tools.
_NO_TOOLS: Final = frozenset(
    {"role", "messages", "contents", "input", "format", "agent", "trace", "request", "mcpServers"}
    | {"conversations", "conversation", "chat", "query", "chat_messages", "mapping", "response"}
)
_TYPES: Final = ("object", "string", "integer", "number", "boolean", "array", "null", "OBJECT")
_EXPECTED: Final = (
    "a tool with a name and a JSON Schema, in one of the forms that docs/tools.md lists"
)
_FIELDS: Final = {"name", "description", "properties", *_SCHEMAS, *_LIST_KEYS, *_WRAPPERS}
_OWN_TYPE: Final = {"custom": {"type": "custom"}}  # wrapper -> fields that the wrapped tool gets
_AS_OBJECT: Final = 'parameters={"type": "object", "properties": {…}}'
_MOST_TOOLS: Final = 10_000
# Keys that name the schema of a tool's result, and keys that seem to name that of its arguments
_OTHER_SCHEMA: Final = re.compile("(?i)output|response|return|result|meta|format")
_LIKE_A_SCHEMA: Final = re.compile("(?i)param|^arg|schema|propert")


def looks_like_tools(value: Any) -> bool:
    """Return True if a JSON value, by its keys, holds tools and no messages."""
    if isinstance(value, list):
        if any(not isinstance(item, dict) or _NO_TOOLS & item.keys() for item in value):
            return False
        return any("description" in item or looks_like_tools(item) for item in value)
    if not isinstance(value, dict) or _NO_TOOLS & value.keys() or _is_call(value):
        return False
    result = value.get("result")
    inner = {*value, *(result if isinstance(result, dict) else ())}
    return bool(inner & _KEYS_OF_TOOLS) or {"name", "description"} <= inner


def _is_call(value: Mapping[str, Any]) -> bool:
    """Return True for a call in Llama's form: its `parameters` are arguments, not a schema."""
    parameters = value.get("parameters")
    if (
        "name" not in value
        or "description" in value
        or not isinstance(parameters, Mapping)
        or not parameters
    ):
        return False
    by_name = _are_properties(parameters)
    return (
        not by_name
        and parameters.get("type") not in _TYPES
        and not SCHEMA_WORDS & {*parameters} - {"type"}
    )


def _are_properties(value: Mapping[str, Any]) -> bool:
    return any(isinstance(v, Mapping) and SCHEMA_WORDS & v.keys() for v in value.values())


def read_tool(value: Any, where: str = "tool") -> ToolMetadata:
    """Read one tool in any known form.

    Raises InputFault, with the place, if there is no tool or more than one.
    """
    tools, findings = read_entry(value, where)
    if len(tools) != 1:
        why = findings[0].message if findings else f"{len(tools)} tools in it"
        raise InputFault(why, field=where, expected="one tool")
    return tools[0]


@takes(findings=(list, NoneType))
def read_tools(value: Any, findings: list[Finding] | None = None) -> list[ToolMetadata]:
    """Read tools in any known form: a list, or an object that holds one.

    A provider's own tools, cache marks and lists of MCP servers are left out. Each of them, and
    each fault of a name or a schema, adds a finding to `findings`. Raises InputFault if a tool
    cannot be read, has its schema under an unknown key, or has `properties` that are no object.
    """
    tools, all_findings = read_tools_and_findings(value)
    all_findings += tools_findings(tools, "tools.{index}")
    (findings if findings is not None else []).extend(all_findings)
    unread = {("schema-unread", f"tools.{index}.properties") for index in range(len(tools))}
    for item in all_findings:
        if item.code == "schema-misplaced" or (item.code, item.where) in unread:
            problem = item.message.removesuffix(UNREAD)
            raise InputFault(problem, field=item.where, expected=_AS_OBJECT)
    return tools


def read_tools_and_findings(
    value: Any, where: str = "tools"
) -> tuple[list[ToolMetadata], list[Finding]]:
    """Read tools, with findings about parts that were left out or changed. Raises InputFault."""
    if isinstance(value, str | bytes | BaseModel) or not isinstance(value, Iterable):
        raise InputFault(f"tools must be a list, not {value!r:.60}", field=where)
    tools, findings = read_entry(value if isinstance(value, Mapping) else list(value), where)
    if len(tools) > _MOST_TOOLS:
        raise InputFault(f"{len(tools):,} tools", field=where, expected=f"at most {_MOST_TOOLS:,}")
    return tools, findings


def read_entry(value: Any, where: str) -> tuple[list[ToolMetadata], list[Finding]]:
    """Read an entry of a list of tools. Return its tools (several if it wraps a list, none if it is
    a cache mark, a provider's own tool or an MCP server), and findings. Raises InputFault."""
    findings: list[Finding] = []
    try:
        return list(_tools(value, where, findings)), findings
    except RecursionError as error:
        raise InputFault("nested too deeply", field=where, expected=_EXPECTED) from error


def _tools(value: Any, where: str, findings: list[Finding]) -> Iterator[ToolMetadata]:
    if isinstance(value, Mapping):
        for place, body in _by_name(value, where).items():
            yield from _of_mapping(body, place, findings)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for index, item in enumerate(value):
            if isinstance(item, Sequence):  # a list within a list, or a text
                raise InputFault(f"a tool must be an object, not {item!r:.60}", field=where)
            yield from _tools(item, f"{where}.{index}", findings)
    else:
        yield from _of_object(value, where, findings)


def _of_mapping(
    value: Mapping[str, Any], where: str, findings: list[Finding]
) -> Iterator[ToolMetadata]:
    if is_openapi(value):
        for item, more_findings in operations(value, where):
            findings += more_findings
            if item is not None:
                yield _tool(item, where)
        return
    # Lists come first: next to its list, an object may have keys of a single tool, such as `name`.
    for key in _LIST_KEYS:
        if isinstance(value.get(key), Sequence | Mapping) and not isinstance(value[key], str):
            yield from _tools(value[key], f"{where}.{key}" if where else key, findings)
            return
    for key in _WRAPPERS:
        if isinstance(value.get(key), Mapping):
            _report_unkept_fields(value, {key}, where, findings)
            yield from _of_mapping({**_OWN_TYPE.get(key, {}), **value[key]}, where, findings)
            return
    # An entry without a name is only a cache mark; an entry with a name is a tool with a mark.
    if "cachePoint" in value or ("cache_control" in value and "name" not in value):
        findings.append(finding("cache-mark", where, "a cache mark, not a tool"))
        return
    if left_out := _why_no_tool(value):
        findings.append(finding("tool-left-out", where, left_out))
        return
    value = _in_azad_form(value, where, findings)
    _report_unkept_fields(
        value, {"name", "description", "examples", "required_parameters"}, where, findings
    )
    yield _tool(value, where)


def _by_name(value: Mapping[str, Any], where: str) -> dict[str, Mapping[str, Any]]:
    """Return the tools of an object by place, each with its name added, if the object maps names to
    tools; otherwise return the object alone."""
    tools: dict[str, Mapping[str, Any]] = {
        f"{where}.{name}": {
            "name": name,
            **({"parameters": body} if "properties" in body else body),
        }
        for name, body in value.items()
        if isinstance(body, Mapping) and _FIELDS & body.keys()
    }
    is_other = not tools or len(tools) < len(value) or _FIELDS & value.keys()
    return {where: value} if is_other else tools


def _in_azad_form(
    body: Mapping[str, Any], where: str, findings: list[Finding]
) -> Mapping[str, Any]:
    """Convert a tool that has parameters by name, without a schema, to Azad's form."""
    params = dict(_schema({**body, "required_parameters": ()}) or {})
    if not isinstance(params.get("type"), str):
        params |= {k: {"type": kind} for k, value in params.items() if (kind := _type_named(value))}
    if "required_parameters" in body or not is_properties(params):
        return body
    findings.append(finding("schema-unwrapped", where))
    required = [name for name, schema in params.items() if schema.get("required") is True]
    required = [*(body.get("required") or ()), *required]
    rest = {key: value for key, value in body.items() if key not in ("required", *_SCHEMAS)}
    return {**rest, "parameters": params, "required_parameters": required}


def _type_named(value: Any) -> str:
    """Return the JSON type that a text names, in JSON's or Python's words; "" if it names none."""
    name = TYPE_NAMES.get(value.lower(), value) if isinstance(value, str) else ""
    return name if name in JSON_TYPES else ""


def _report_unkept_fields(
    value: Mapping[str, Any], kept: set[str], where: str, findings: list[Finding]
) -> None:
    """Report the fields of a tool or its envelope that are dropped, and misplaced schemas."""
    unkept = sorted(map(str, value.keys() - kept - _KNOWN))
    misplaced = []
    if "name" in value and not value.keys() & {*_SCHEMAS, *_WRAPPERS}:
        for key in filterfalse(_OTHER_SCHEMA.search, unkept):
            inner = value[key]
            holds_schema = isinstance(inner, Mapping) and _are_properties({"": inner, **inner})
            if holds_schema or (inner and _LIKE_A_SCHEMA.search(key)):
                misplaced.append(f"{key!r} is not a field of a tool")
    for key in value.keys() & {*_SCHEMAS}:
        if value[key] and not isinstance(value[key], Mapping | type):
            misplaced.append(f"{key} is {value[key]!r:.40}, which is not a JSON Schema")
    findings += [finding("schema-misplaced", where, message) for message in misplaced]
    if unkept:
        findings.append(finding("tool-fields", where, f"not kept: {', '.join(unkept)}"))


_KNOWN: Final = {*_SCHEMAS, "type", "jsonrpc", "id"}  # fields that are read, or mean nothing here


def _why_no_tool(value: Mapping[str, Any]) -> str:
    """Return the reason why an entry is left out; "" if it is to be read as a tool."""
    if "mcpServers" in value:
        return "a list of MCP servers; `playground tools --mcp` asks them for their tools"
    # The provider's own tools have a type such as `web_search_20250305`, and no schema.
    kind = value.get("type")
    is_own = isinstance(kind, str) and kind not in ("function", "custom", "object")
    if is_own and not any(isinstance(value.get(key), Mapping) for key in _SCHEMAS):
        return f"{kind} is a tool of the provider's own, without a schema"
    # Gemini's own tools have one key, their name: `{"googleSearch": {}}`.
    if "name" not in value and len(value) == 1 and isinstance(next(iter(value.values())), Mapping):
        return f"{next(iter(value))} is a tool of the provider's own, without a schema"
    return ""


def _tool(body: Mapping[str, Any], where: str) -> ToolMetadata:
    data = {key: body[key] for key in ("name", "description", "examples") if body.get(key)}
    schema = _schema(body)
    if schema is None and body.get("type") == "custom":  # OpenAI's: its input is any text
        schema = {"type": "object", "properties": {"input": {"type": "string"}}}
    # Azad's form has parameters by name; ToolMetadata makes a schema of them.
    if "required_parameters" in body:
        data |= {"parameters": schema or {}, "required_parameters": body["required_parameters"]}
    elif schema:
        data["input_schema"] = dict(schema)
    try:
        return ToolMetadata.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(filter(None, [where, *(str(step) for step in first["loc"])]))
        raise InputFault(str(first["msg"]), field=field, expected=_EXPECTED) from error


def _schema(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    for key in _SCHEMAS:
        value = body.get(key)
        if isinstance(value, type) and issubclass(value, BaseModel):
            return value.model_json_schema()
        if isinstance(value, Mapping):
            # Bedrock wraps a schema in `json`, the AI SDK in `jsonSchema`, with no other key.
            wraps = key == "inputSchema" and len(value) == 1
            inner = (value.get("json") or value.get("jsonSchema")) if wraps else None
            unwrapped = inner if isinstance(inner, Mapping) else value
            return unwrapped if "required_parameters" in body else json_schema(unwrapped)
    return None


def _of_object(value: Any, where: str, findings: list[Finding]) -> Iterator[ToolMetadata]:
    """Read a live Python object: our own tool (or an object with one as `metadata`), a pydantic
    model, a function, or a tool of LangChain or of MCP's SDK."""
    from playground.nouns.tool_formats.functions import tool_from_function
    from playground.nouns.tool_formats.python_files import tool_from_model

    if isinstance(value, ToolMetadata):
        yield _without_added_fields(value)
    elif isinstance(value, type) and issubclass(value, BaseModel):
        yield tool_from_model(value)
    elif hasattr(value, "tool_call_schema"):
        yield _tool(_of_langchain(value), where)
    elif any(hasattr(value, key) for key in _SCHEMAS) and hasattr(value, "name"):
        names = ("name", "description", *_SCHEMAS)
        attributes = {name: getattr(value, name) for name in names if hasattr(value, name)}
        yield _tool(attributes, where)
    elif isinstance(getattr(value, "metadata", None), ToolMetadata):
        yield _without_added_fields(value.metadata)
    elif callable(value):
        try:
            tool, more_findings = tool_from_function(value)
        except Exception as error:  # no signature, or one that pydantic refuses
            why = str(error).splitlines()[0]
            raise InputFault(f"{value!r:.60} is not a tool: {why}", field=where) from error
        findings += more_findings
        yield tool
    else:
        raise InputFault(f"a tool must be an object, not {value!r:.60}", field=where)


def _without_added_fields(tool: ToolMetadata) -> ToolMetadata:
    """Copy a tool without the fields that a plugin's subclass adds, because they would change how
    the tool is written."""
    return ToolMetadata(**{name: getattr(tool, name) for name in ToolMetadata.model_fields})


_ONE_TEXT: Final = {  # the schema of LangChain's simplest tools, which take one text
    "properties": {"__arg1": {"title": "__arg1", "type": "string"}},
    "required": ["__arg1"],
    "type": "object",
}


def _of_langchain(tool: Any) -> dict[str, Any]:
    """Return a tool as LangChain describes it to a model: without injected arguments, and without
    the schema's own title and description."""
    schema = tool.tool_call_schema
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        schema = schema.model_json_schema()
    if tool.args_schema is None and getattr(tool, "args", {}).keys() == {"tool_input"}:
        schema = _ONE_TEXT
    parameters = {
        key: inner for key, inner in schema.items() if key not in ("title", "description")
    }
    return {"name": tool.name, "description": tool.description, "input_schema": parameters}
