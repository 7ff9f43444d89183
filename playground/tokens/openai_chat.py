"""OpenAI's Chat Completions: what messages, tools and calls cost beside their text.

A message costs 4 (`<|im_start|>role<|im_sep|>…<|im_end|>`), the answer's beginning 3; a name 1 more
(OpenAI Cookbook, How_to_count_tokens_with_tiktoken, 2023-2024). Tools stand in the first system
message; a call is addressed (`to=functions.NAME`), several at once are one call of
`multi_tool_use.parallel`. What the Cookbook does not tell is from recorded bills of gpt-3.5-turbo,
gpt-4, gpt-4o, gpt-4o-mini and gpt-4.1 of 2024 to 2026, counted by `benchmarks/tokens.py`.

The models that reason are framed as harmony does (openai/harmony, docs/format.md): the answer's
beginning costs 2, and tools 82 more than with Responses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from playground.caching.bodies import messages_of
from playground.tokens.pieces import (
    Framed,
    Piece,
    calls_of,
    compact,
    functions_of,
    origin_of,
    text_of,
)
from playground.tokens.typescript import namespace

_MESSAGE: Final = 4
_REPLY: Final = 3
_REASONING_REPLY: Final = 2
_TOOLS_BEHIND_SYSTEM: Final = 5  # the heading, where the system prompt stands before it
_TOOLS_ALONE: Final = 9  # and a message around it, where there is none
_REASONING_TOOLS: Final = 91  # 9 as with Responses, and instructions that nobody sees
_RESULT_OF_SEVERAL: Final = 2
_ADDRESS: Final = 2  # control tokens around a call's address
_REASONING_CALL: Final = 6  # more for a call and its result, as with Responses
_ANSWER_CHANNEL: Final = 2  # more for an answer
_FREE: Final = ({"type": "text"}, {"type": "json_object"}, ["text"])
_HIDDEN: Final = (  # what adds text that nobody sees
    "response_format", "web_search_options", "audio", "prediction", "modalities",
)  # fmt: skip


def chat(body: Mapping[str, Any], reasoning: bool, legacy: bool) -> Framed:
    """The request; `reasoning` for models that think, `legacy` for those before gpt-4o."""
    framed = Framed(source="Chat Completions framing (Cookbook, and bills of 2024 to 2026)")
    messages = messages_of(dict(body))
    tools = body.get("tools") or body.get("functions")
    functions = list(functions_of(tools))
    _look(framed, body, tools, functions)
    names = _names_of_calls(framed, messages)
    placed = not functions
    if functions and reasoning:
        framed.add(Piece(fixed=_reasoning_tools(framed, functions)), *namespace(functions, True))
        placed = True
    for index, message in enumerate(messages):
        if not placed and message.get("role") in ("system", "developer"):
            text, _ = text_of(message.get("content"))
            system = Piece(f"{text}\n\n", "system", index, fixed=_MESSAGE)
            heading = Piece(fixed=_TOOLS_BEHIND_SYSTEM)
            framed.add(system)
            framed.add(heading, *namespace(functions, False))
            placed = True
            continue
        _message(framed, index, message, names)
    if not placed:
        framed.add(Piece(fixed=_TOOLS_ALONE), *namespace(functions, False))
    if reasoning:
        _rounds(framed, messages, str(body.get("model") or ""))
    else:
        _choice(framed, body.get("tool_choice") or body.get("function_call"), legacy)
    framed.add(Piece(fixed=_REASONING_REPLY if reasoning else _REPLY))
    return framed


def _look(framed: Framed, body: Mapping[str, Any], tools: Any, functions: Sequence[Any]) -> None:
    """What is in the request that nobody knows the cost of."""
    for key in _HIDDEN:
        if body.get(key) and body[key] not in _FREE:
            framed.because(f"what {key} adds is not known")
    if isinstance(tools, list) and len(functions) < len(tools):
        framed.because("what a tool that is no function adds is not known")


def _reasoning_tools(framed: Framed, functions: Sequence[Mapping[str, Any]]) -> int:
    return _REASONING_TOOLS - without_descriptions(framed, functions)


def without_descriptions(framed: Framed, functions: Sequence[Mapping[str, Any]]) -> int:
    """One token less where no function has a description (bills of gpt-5 and gpt-5.5)."""
    told = [bool(function.get("description")) for function in functions]
    if any(told) and not all(told):
        framed.because("tools with a description beside tools without: no bill is known", len(told))
    return int(not any(told))


def _names_of_calls(framed: Framed, messages: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The tool of each call's id; "" where it was called beside another."""
    names: dict[str, str] = {}
    for calls in map(calls_of, messages):
        if len(calls) > 2:
            framed.because("more than two calls at once: no bill is known", 4 * len(calls))
        for call in calls:
            name = str(call["function"].get("name") or "")
            names[str(call.get("id"))] = name if len(calls) == 1 else ""
    return names


def _message(
    framed: Framed, index: int, message: Mapping[str, Any], names: Mapping[str, str]
) -> None:
    text, others = text_of(message.get("content"))
    for kind in others:
        framed.because(f"what a part of type {kind} costs is not known")
    role, origin = message.get("role"), origin_of(message.get("role"))
    framed.add(Piece(text, origin, index, fixed=_MESSAGE))
    name = message.get("name")
    if role in ("tool", "function"):
        _header_of_result(
            framed, index, names.get(str(message.get("tool_call_id")), str(name or ""))
        )
    elif isinstance(name, str) and name:
        framed.add(Piece(name, origin, index, fixed=1))
    calls = calls_of(message)
    if calls:
        _written_calls(framed, index, calls)


def _header_of_result(framed: Framed, index: int, name: str) -> None:
    """Whose result it is: the tool's name, or 2 where several were called at once."""
    framed.add(Piece(name, "results", index, name, 0 if name else _RESULT_OF_SEVERAL))


def _written_calls(framed: Framed, index: int, calls: Sequence[Mapping[str, Any]]) -> None:
    functions = [call["function"] for call in calls]
    if len(functions) == 1:
        name = str(functions[0].get("name") or "")
        address = f" to=functions.{name}"
        arguments = compact(functions[0].get("arguments"))
        framed.add(Piece(address, "calls", index, name, _ADDRESS))
        framed.add(Piece(arguments, "calls", index, name))
        return
    framed.add(Piece(" to=multi_tool_use.parallel", "calls", index, fixed=_ADDRESS))
    framed.add(*_parallel(index, functions))


def _parallel(index: int, functions: Sequence[Mapping[str, Any]]) -> list[Piece]:
    """The calls as the arguments of one."""
    pieces = [Piece('{"tool_uses":[', "calls", index)]
    for place, function in enumerate(functions):
        name = str(function.get("name") or "")
        address = json.dumps(f"functions.{name}", ensure_ascii=False)
        arguments = compact(function.get("arguments"))
        start = "}," if place else ""
        text = f'{start}{{"recipient_name":{address},"parameters":{arguments}'
        pieces.append(Piece(text, "calls", index, name))
    return [*pieces, Piece("}]}", "calls", index)]


def _choice(framed: Framed, choice: Any, legacy: bool) -> None:
    """What is asked of the model: 1 for none, a call's beginning for a certain tool.

    Counted for gpt-3.5-turbo and gpt-4 in 2024 (openai-messages-token-helper), and for a certain
    tool in 17 bills of gpt-4o and gpt-4o-mini; free where it is auto or required.
    """
    named = choice.get("function", choice) if isinstance(choice, dict) else {}
    name = named.get("name") if isinstance(named, dict) else None
    if choice in (None, "auto", "required"):
        return
    if not isinstance(name, str) and (choice != "none" or not legacy):
        framed.because("what this tool_choice adds is not known", 20)
    if isinstance(name, str):
        framed.add(Piece(name, "tools", tool=name, fixed=7))
    elif choice == "none":
        framed.add(Piece(fixed=1, origin="tools"))


def _rounds(framed: Framed, messages: Sequence[Mapping[str, Any]], model: str) -> None:
    """What a model that reasons is billed more for its own turns (bills of gpt-5 and gpt-5.4)."""
    for index, message in enumerate(messages):
        if message.get("role") != "assistant":
            continue
        calls = calls_of(message)
        fixed = _REASONING_CALL * len(calls) if calls else _ANSWER_CHANNEL
        framed.add(Piece(origin="assistant", message=index, fixed=fixed))
        if len(calls) > 1 or (calls and message.get("content")) or "gpt-5" not in model:
            framed.because("what such a turn of a reasoning model costs is not known", 12)
