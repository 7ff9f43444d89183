"""Llama 3 as Ollama writes it: the templates of its own library, not those that Hugging Face has.

https://ollama.com/library/llama3.1 and llama3.2 (layer "template", 2024-07 and 2024-09). A system
turn with one date stands first in 3.2 always, in 3.1 only where there is something to say; tools
stand in the last question. Tools are Go structs (ollama's api/types.go): keywords that these lack
are left out. Which of the others an empty field has depends on the server's version: such tools are
not exact. Nothing was fitted: 41 bills of Llama Stack's recordings, langchainrb's and crewAI's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from playground.caching.bodies import messages_of, tools_of
from playground.raw_prompts import LLAMA3
from playground.tokens.pieces import Framed, Piece, calls_of, functions_of, origin_of, text_of

_DATE: Final = "Cutting Knowledge Date: December 2023\n\n"
_WITH_TOOLS: Final = (
    "When you receive a tool call response, use the output to format an answer to the orginal user "
    "question.\n\nYou are a helpful assistant with tool calling capabilities."
)
_FUNCTIONS: Final = (
    "Given the following functions, please respond with a JSON for a function call with its proper "
    "arguments that best answers the given prompt.\n\nRespond in the format "
    '{"name": function name, "parameters": dictionary of argument name and its value}. '
    "Do not use variables.\n\n"
)
_KEPT: Final = ("type", "items", "description", "enum")  # of a property, in this order
_UNSURE: Final = ("anyOf", "items", "enum", "properties")


def llama(body: Mapping[str, Any], dated: bool) -> Framed:
    """A request to `llama3.1` or, `dated`, to `llama3.2`, by any API that Ollama has."""
    framed = Framed(source="the template of Ollama's library", control=True)
    messages = _messages(body)
    functions = list(functions_of(tools_of(dict(body))))
    _look(framed, messages, functions)
    spoken = [
        (index, text_of(message.get("content"))[0])
        for index, message in enumerate(messages)
        if message.get("role") == "system"
    ]
    framed.add(Piece(LLAMA3.begin))
    if dated or spoken or functions:
        framed.add(*_system(spoken, bool(functions), dated))
    last = max((i for i, m in enumerate(messages) if m.get("role") != "system"), default=-1)
    for index, message in enumerate(messages):
        if message.get("role") != "system":
            tools = functions if index == last else []
            framed.add(*_turn(index, message, tools, dated))
            if message.get("role") != "assistant" or index < last:
                framed.add(Piece(LLAMA3.end_of_turn))
    if last < 0 or messages[last].get("role") != "assistant":
        framed.add(Piece(_head("assistant")))
    return framed


def _messages(body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The messages; of a prompt alone those that Ollama makes of it."""
    if "messages" in body:
        return messages_of(dict(body))
    system = [{"role": "system", "content": body["system"]}] if body.get("system") else []
    return [*system, {"role": "user", "content": body.get("prompt")}]


def _look(
    framed: Framed, messages: Sequence[Mapping[str, Any]], functions: Sequence[Mapping[str, Any]]
) -> None:
    """What no bill has told, or differs by the server's version."""
    for index, message in enumerate(messages):
        role = str(message.get("role") or "user")
        framed.beside_text(message.get("content"), origin_of(role), index)
        if message.get("images"):
            framed.because("what a picture costs here is not known")
        if role == "tool" or calls_of(message):
            framed.because("what calls and results cost here is not known", 20)
        if index and role == messages[index - 1].get("role"):
            framed.because("two turns of one role: Ollama joins them", 8)
    for function in functions:
        if not _plain(function):
            framed.because("how Ollama writes such a tool differs by its version", 40)


def _plain(function: Mapping[str, Any]) -> bool:
    """Whether every version of Ollama writes a function alike: nothing is empty or missing."""
    parameters = function.get("parameters")
    if not isinstance(parameters, dict) or "$defs" in parameters:
        return False
    given = parameters.get("properties")
    properties = list(given.values()) if isinstance(given, dict) else []
    described = all(
        isinstance(each, dict)
        and isinstance(each.get("type"), str)
        and each.get("description")
        and not any(key in each for key in _UNSURE)
        for each in properties
    )
    return bool(function.get("description") and parameters.get("required") and described)


def _head(role: str) -> str:
    return f"{LLAMA3.start_header}{role}{LLAMA3.end_header}\n\n"


def _system(spoken: Sequence[tuple[int, str]], tools: bool, dated: bool) -> list[Piece]:
    pieces = [Piece(_head("system") + (_DATE if dated else ""))]
    for place, (index, text) in enumerate(spoken):
        pieces.append(Piece(("\n\n" if place else "") + text, "system", index))
    if tools:
        between = "" if dated else ("\n\n" if spoken else "") + _DATE
        pieces.append(Piece(between + _WITH_TOOLS, "tools"))
    return [*pieces, Piece(LLAMA3.end_of_turn)]


def _turn(
    index: int, message: Mapping[str, Any], tools: Sequence[Mapping[str, Any]], dated: bool
) -> list[Piece]:
    role = str(message.get("role") or "user")
    text, _ = text_of(message.get("content"))
    pieces = [Piece(_head("ipython" if role == "tool" else role))]
    if tools and role == "user":
        pieces.append(Piece(_FUNCTIONS, "tools"))
        pieces += [Piece(f"{_tool(each)}\n", "tools", tool=str(each["name"])) for each in tools]
        pieces.append(Piece("\n" if dated else "\nQuestion: ", "tools"))
    return [*pieces, Piece(text, origin_of(role), index)]


def _tool(function: Mapping[str, Any]) -> str:
    """A function as Go writes the struct that Ollama reads it into."""
    parameters = function.get("parameters") or {}
    properties = parameters.get("properties") or {}
    kept = {
        key: {word: value[word] for word in _KEPT if word in value}
        for key, value in properties.items()
        if isinstance(value, dict)
    }
    inner = {"type": parameters.get("type") or ""}
    if parameters.get("required"):
        inner["required"] = parameters["required"]
    written = {"name": function["name"]}
    if function.get("description"):
        written["description"] = function["description"]
    written["parameters"] = {**inner, "properties": kept}
    whole = {"type": "function", "function": written}
    return json.dumps(whole, separators=(",", ":"), ensure_ascii=False)
