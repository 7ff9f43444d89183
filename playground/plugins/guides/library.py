"""The use cases of every dialect. All dialects get the same conversations, so that guides can be
compared."""

from __future__ import annotations

from dataclasses import replace

from playground.dialects.declared import DeclaredDialect
from playground.dialects.prompts import sample_arguments
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.tools import ToolMetadata
from playground.plugins.guides.use_case import Dialog, TextCompletion, UseCase

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
WEATHER = ToolMetadata(
    name="get_weather",
    description="Wind and sight at a harbour.",
    input_schema={
        "type": "object",
        "properties": {"harbour": {"type": "string", "description": "The harbour's name."}},
        "required": ["harbour"],
    },
)


RESULT = "high 04:12, low 10:31"

# get_tides has no example, because the prompt would then show the very call that the model writes.
_TIDES_CALL = ToolCallPart("call_1", _TIDES.name, {"harbour": "Brest", "days": 2})


def use_cases(dialect: DeclaredDialect) -> list[UseCase]:
    """Return the use cases of one dialect, in the order of its guide."""
    call, tool = example(dialect)
    # A call that holds only texts names no tool, so two calls in one reply would be equal.
    several = dialect.parallel and not dialect.syntax.text_keys
    cases = [
        _conversation_without_tools(dialect),
        _single(dialect, call, tool),
        _round_trip(dialect, call, tool),
        _several(dialect) if several else _only_one(),
    ]
    raw = dialect.raw_prompt
    if raw is None:
        return cases
    # Only a raw prompt can show a base model's prompt: messages always have roles.
    return [replace(case, tool_prompt_format=raw.tools) for case in (_base_model(), *cases)]


def example(dialect: DeclaredDialect) -> tuple[ToolCallPart, ToolMetadata]:
    """Return a call that the dialect can write, and its tool."""
    texts = dialect.syntax.sample_texts
    if texts:
        name = dialect.syntax.name or _TIDES.name
        return ToolCallPart("call_1", name, texts), _text_tool(name, texts)
    own_tool = dialect.own_tool
    if own_tool:
        return ToolCallPart("call_1", own_tool.name, sample_arguments(own_tool)), own_tool
    return _TIDES_CALL, _TIDES


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


def _conversation_without_tools(dialect: DeclaredDialect) -> UseCase:
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
    return UseCase("One tool call", "The model is told of one tool, and calls it.", (dialog,))


def _round_trip(dialect: DeclaredDialect, call: ToolCallPart, tool: ToolMetadata) -> UseCase:
    result = ToolResultPart(call.tool_call_id, call.tool_name, RESULT)
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
    calls = [_TIDES_CALL, ToolCallPart("call_2", WEATHER.name, {"harbour": "Brest"})]
    dialog = Dialog(
        (_user("Tides and wind in Brest?"),),
        (_TIDES, WEATHER),
        _SYSTEM,
        dialect.format_reply(calls, [_TIDES, WEATHER]),
        "scripted",
    )
    return UseCase("Several calls in one reply", "Two calls, one after the other.", (dialog,))


def _only_one() -> UseCase:
    return UseCase("Several calls in one reply", "", ("This dialect takes one tool call a reply.",))
