"""The use cases of every dialect: the same conversations, so that guides can be compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from playground.dialects.declared import DeclaredDialect
from playground.guides.use_case import Dialog, TextCompletion, UseCase
from playground.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.raw_prompts.llama import ToolFormat
from playground.tools import ToolMetadata

_SYSTEM = "You help the crew of a harbour pilot. Answer in one sentence."
_TIDES = ToolMetadata(
    name="get_tides",
    description="The times of high and low water at a harbour.",
    input_schema={
        "type": "object",
        "properties": {
            "harbour": {"type": "string", "description": "The harbour's name."},
            "days": {"type": "integer", "description": "How many days ahead."},
        },
        "required": ["harbour"],
    },
)
_WEATHER = ToolMetadata(
    name="get_weather",
    description="Wind and sight at a harbour.",
    input_schema={
        "type": "object",
        "properties": {"harbour": {"type": "string", "description": "The harbour's name."}},
        "required": ["harbour"],
    },
)
_SEARCH = ToolMetadata(
    name="brave_search",
    description="Search the web.",
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What to look for."}},
        "required": ["query"],
    },
)
# dialects that were trained on tools of their own
_TOOLS: dict[str, tuple[ToolMetadata, dict[str, Any]]] = {
    "llama3-builtin": (_SEARCH, {"query": "storm warning Brest"}),
}
TOOL_FORMATS: dict[str, ToolFormat] = {
    "llama3-json": "json",
    "llama3-builtin": "json",
    "llama3-code": "json",
    "llama3-function": "function_tag",
    "pythonic": "python_list",
    "llama4-pythonic": "python_list",
}


def use_cases(dialect: DeclaredDialect) -> list[UseCase]:
    """The use cases of one dialect, in the order of its guide."""
    keys = dialect.syntax.text_keys
    if keys:
        arguments = dialect.syntax.sample_texts
        name = dialect.syntax.name or "get_tides"
        call, tool = ToolCallPart("call_1", name, arguments), _text_tool(name, arguments)
    else:
        tool, given = _TOOLS.get(dialect.name, (_TIDES, {"harbour": "Brest", "days": 2}))
        call = ToolCallPart("call_1", tool.name, given)
    cases = [_plain(dialect), _single(dialect, call, tool), _round_trip(dialect, call, tool)]
    cases.append(_several(dialect) if dialect.parallel and not keys else _only_one())
    if dialect.name in TOOL_FORMATS:
        cases.insert(0, _base_model())
    return [_with_format(case, dialect) for case in cases]


def _with_format(case: UseCase, dialect: DeclaredDialect) -> UseCase:
    chosen = TOOL_FORMATS.get(dialect.name, "json")
    return replace(case, tool_prompt_format=chosen)


def _text_tool(name: str, arguments: dict[str, str]) -> ToolMetadata:
    properties = {key: {"type": "string"} for key in arguments}
    schema = {"type": "object", "properties": properties, "required": list(arguments)}
    return ToolMetadata(name=name, description="The dialect's own tool.", input_schema=schema)


def _user(text: str) -> Message:
    return Message("user", (TextPart(text),))


def _base_model() -> UseCase:
    return UseCase(
        "A base model",
        "Text without roles: the model goes on where the prompt ends.",
        (TextCompletion("High water at the quay comes twice a day because"),),
        ("A base model has no headers and no end of a turn.",),
    )


def _plain(dialect: DeclaredDialect) -> UseCase:
    answer = "High water is at 04:12."
    before, after = dialect.answer
    dialog = Dialog(
        (_user("When is high water?"),),
        system=_SYSTEM,
        response=before + answer + after,
        origin="scripted",
    )
    return UseCase("A conversation without tools", "A system prompt and a question.", (dialog,))


def _single(dialect: DeclaredDialect, call: ToolCallPart, tool: ToolMetadata) -> UseCase:
    dialog = Dialog(
        (_user("When is high water in Brest?"),),
        (tool,),
        _SYSTEM,
        dialect.format_reply([call], [tool]),
        "scripted",
    )
    return UseCase(
        "One tool call", "The tools stand in the prompt, the model calls one.", (dialog,)
    )


def _round_trip(dialect: DeclaredDialect, call: ToolCallPart, tool: ToolMetadata) -> UseCase:
    result = ToolResultPart(call.tool_call_id, call.tool_name, "high 04:12, low 10:31")
    before, after = dialect.answer
    messages = (
        _user("When is high water in Brest?"),
        Message("assistant", (call,)),
        Message("tool", (result,)),
    )
    dialog = Dialog(
        messages, (tool,), _SYSTEM, f"{before}High water is at 04:12.{after}", "scripted"
    )
    return UseCase(
        "A full round trip", "The call and its result are part of the history.", (dialog,)
    )


def _several(dialect: DeclaredDialect) -> UseCase:
    calls = [
        ToolCallPart("call_1", "get_tides", {"harbour": "Brest", "days": 2}),
        ToolCallPart("call_2", "get_weather", {"harbour": "Brest"}),
    ]
    dialog = Dialog(
        (_user("Tides and wind in Brest?"),),
        (_TIDES, _WEATHER),
        _SYSTEM,
        dialect.format_reply(calls, [_TIDES, _WEATHER]),
        "scripted",
    )
    return UseCase("Several calls in one reply", "Two calls, one behind the other.", (dialog,))


def _only_one() -> UseCase:
    return UseCase(
        "Several calls in one reply",
        "",
        ("This dialect takes one tool call a reply.",),
    )
