"""Frame calls and their results as OpenAI's models read them in Chat Completions.

A call has an address (`to=functions.NAME`), and so has its result. Several calls at once are one
call of `multi_tool_use.parallel`, and their results are one message: a JSON list of their contents,
in which a text that is JSON becomes a value. This follows from bills of gpt-4o, 4o-mini and 4.1 of
2025 and 2026.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from playground.tokens.pieces import Framed, Piece, calls_of, compact, text_of

_ADDRESS: Final = 2  # control tokens around the address of a call
_ESCAPED: Final = 6  # tokens of a letter as `\\u00e9`
_SEVERAL: Final = 8  # tokens around the message of several results


def names_of_calls(messages: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the tool of each call by the call's id; "" if it was made together with others."""
    names: dict[str, str] = {}
    for calls in map(calls_of, messages):
        for call in calls:
            name = str(call["function"].get("name") or "")
            names[str(call.get("id"))] = name if len(calls) == 1 else ""
    return names


def add_calls(framed: Framed, index: int, calls: Sequence[Mapping[str, Any]]) -> None:
    """Frame the calls of one message."""
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
    """Write the calls as the arguments of one call."""
    pieces = [Piece('{"tool_uses":[', "calls", index)]
    for place, function in enumerate(functions):
        name = str(function.get("name") or "")
        address = json.dumps(f"functions.{name}", ensure_ascii=False)
        arguments = compact(function.get("arguments"))
        start = "}," if place else ""
        text = f'{start}{{"recipient_name":{address},"parameters":{arguments}'
        pieces.append(Piece(text, "calls", index, name))
    return [*pieces, Piece("}]}", "calls", index)]


def add_parallel_results(
    framed: Framed, messages: Sequence[Mapping[str, Any]], names: Mapping[str, str]
) -> set[int]:
    """Frame the results of calls that were made at once; return the indexes of their messages."""
    indexes_by_call: dict[int, list[int]] = {}
    call = -1
    for index, message in enumerate(messages):
        if len(calls_of(message)) > 1:
            call = index
        elif message.get("role") == "tool" and names.get(str(message.get("tool_call_id"))) == "":
            indexes_by_call.setdefault(call, []).append(index)
    for indexes in indexes_by_call.values():
        _list_of_results(framed, messages, indexes)
    return {index for indexes in indexes_by_call.values() for index in indexes}


def _list_of_results(
    framed: Framed, messages: Sequence[Mapping[str, Any]], indexes: Sequence[int]
) -> None:
    pieces = [Piece("[", "results", fixed=_SEVERAL)]
    letters = 0  # letters beyond ASCII
    for index in indexes:
        text, _ = text_of(messages[index].get("content"))
        framed.beside_text(messages[index].get("content"), "results", index)
        letters += sum(not letter.isascii() for letter in text)
        separator = "" if index == indexes[0] else ", "
        pieces.append(Piece(separator + _value(text), "results", index))
    framed.add(*pieces, Piece("]", "results"))
    if letters:
        reason = "several results: gpt-4o-mini reads letters escaped, gpt-4o does not"
        framed.add_reason(reason, _ESCAPED * letters)


def _value(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    return json.dumps(value, ensure_ascii=False)
