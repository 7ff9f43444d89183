"""OpenAI's Responses: as Chat Completions, but for tools, calls and what the server remembers.

Tools are written as openai/harmony does and cost 3 beside their text, 9 with models that reason. A
call and its result cost 11 together beside name (twice), arguments and text, 17 with models that
reason, and 3 more where the call has the id under which the server keeps it. All of it from
recorded bills of gpt-4o, gpt-4.1 and gpt-5 to 5.6 of 2025 and 2026, counted by
`benchmarks/tokens.py`. Those of the API's first weeks, March 2025, hold some 220 tokens more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from playground.caching.bodies import messages_of
from playground.tokens.openai_chat import without_descriptions
from playground.tokens.pieces import Framed, Piece, functions_of, origin_of, text_of
from playground.tokens.typescript import namespace

_MESSAGE: Final = 4
_REPLY: Final = 3
_REASONING_REPLY: Final = 2
_TOOLS: Final = 3
_REASONING_TOOLS: Final = 9
_CALL: Final = 5
_REASONING_CALL: Final = 11
_KEPT_CALL: Final = 3  # more, where the server keeps it under an id
_RESULT: Final = 6
_ANSWER_CHANNEL: Final = 2  # `<|channel|>final` before an answer of a model that reasons
_REMEMBERED: Final = ("previous_response_id", "conversation", "prompt", "context_management")


def responses(body: Mapping[str, Any], reasoning: bool) -> Framed:
    """The request; `reasoning` for models that think."""
    framed = Framed(source="Responses framing (harmony, and bills of 2025 and 2026)")
    _look(framed, body, reasoning)
    functions = list(functions_of(body.get("tools")))
    if functions:
        fixed = _TOOLS
        if reasoning:
            fixed = _REASONING_TOOLS - without_descriptions(framed, functions)
        framed.add(Piece(fixed=fixed), *namespace(functions, True))
    instructions = body.get("instructions")
    if isinstance(instructions, str) and instructions:
        framed.add(Piece(instructions, "system", fixed=_MESSAGE))
    items = messages_of(dict(body))
    _look_at_neighbours(framed, items)
    calls = [item for item in items if item.get("type") == "function_call"]
    names = {str(item.get("call_id")): str(item.get("name") or "") for item in calls}
    newest = max((i for i, item in enumerate(items) if item.get("role") == "user"), default=-1)
    if reasoning:
        _look_at_calls(framed, items, newest)
    for index, item in enumerate(items):
        if index < newest and item.get("type") == "reasoning" and reasoning:
            continue  # what was thought before the newest question is left out
        _item(framed, index, item, names, reasoning)
    framed.add(Piece(fixed=_REASONING_REPLY if reasoning else _REPLY))
    return framed


def _look(framed: Framed, body: Mapping[str, Any], thinks: bool) -> None:
    """What is in the request that nobody knows the cost of."""
    for key in _REMEMBERED:
        if body.get(key):
            framed.because(f"what {key} stands for is on the server")
    if body.get("instructions") == "":
        framed.because("none of ten recorded bills with empty instructions is as others are", 230)
    text = body.get("text")
    form = text.get("format") if isinstance(text, dict) else None
    if isinstance(form, dict) and form.get("type") not in ("text", "json_object"):
        framed.because("what a format of the answer adds is not known")
    if isinstance(text, dict) and text.get("verbosity") not in (None, "medium"):
        framed.because("what another verbosity adds is not known", 20)
    reasoning = body.get("reasoning")
    if isinstance(reasoning, dict) and reasoning.get("mode"):
        framed.because("what a mode of reasoning adds is not known")
    _look_at_tools(framed, body, thinks)


def _look_at_tools(framed: Framed, body: Mapping[str, Any], thinks: bool) -> None:
    tools = body.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind != "function":
            framed.because(f"what the tool {kind} adds, and what it reads, is not known")
        elif tool.get("defer_loading"):
            framed.because("what a deferred tool costs is not known")
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and "allowed" not in str(choice) and not thinks:
        framed.because("what this tool_choice adds is not known", 20)
    if thinks and tools and body.get("parallel_tool_calls") is False:
        framed.because("what parallel_tool_calls: false adds is not known", 100)


def _look_at_neighbours(framed: Framed, items: Sequence[Mapping[str, Any]]) -> None:
    kinds = [item.get("type") for item in items]
    if ("function_call", "function_call") in zip(kinds, kinds[1:], strict=False):
        framed.because("what calls at once cost here is not known", 20 * len(kinds))


def _look_at_calls(framed: Framed, items: Sequence[Mapping[str, Any]], newest: int) -> None:
    """A call that came without its reasoning: billed 3 to 5 more by gpt-5 to 5.6, but for those of
    this turn that have an id, and those of earlier turns that have none."""
    for index, item in enumerate(items):
        thought = index > 0 and items[index - 1].get("type") == "reasoning"
        told = bool(item.get("id")) == (index > newest)
        if item.get("type") == "function_call" and not (told or thought):
            framed.because("what a call costs that came without its reasoning is not known", 8)


def _item(
    framed: Framed, index: int, item: Mapping[str, Any], names: Mapping[str, str], reasoning: bool
) -> None:
    match item.get("type", "message"):
        case "message":
            _message(framed, index, item, reasoning)
        case "function_call":
            name = str(item.get("name") or "")
            fixed = _REASONING_CALL if reasoning else _CALL
            fixed += _KEPT_CALL if item.get("id") else 0
            framed.add(Piece(name, "calls", index, name, fixed))
            framed.add(Piece(str(item.get("arguments") or ""), "calls", index, name))
        case "function_call_output":
            name = names.get(str(item.get("call_id")), "")
            text, others = text_of(item.get("output"))
            _tell(framed, others)
            framed.add(Piece(name, "results", index, name, _RESULT))
            framed.add(Piece(text, "results", index, name))
        case other:
            framed.because(f"what an item of type {other} costs is not known")
            text, _ = text_of(item.get("content"))
            framed.add(Piece(text, "other messages", index))


def _message(framed: Framed, index: int, item: Mapping[str, Any], reasoning: bool) -> None:
    text, others = text_of(item.get("content"))
    _tell(framed, others)
    role = item.get("role")
    channel = _ANSWER_CHANNEL if reasoning and role == "assistant" else 0
    framed.add(Piece(text, origin_of(role), index, fixed=_MESSAGE + channel))


def _tell(framed: Framed, kinds: Sequence[str]) -> None:
    for kind in kinds:
        framed.because(f"what a part of type {kind} costs is not known")
