"""Frame Llama 3 as Ollama does: by the templates of its own library, not by Hugging Face's.

https://ollama.com/library/llama3.1 and llama3.2 (layer "template", 2024-07 and 2024-09). Llama 3.2
always begins with a system turn, which has one date; 3.1 has this turn only with a system prompt or
tools. Tools are written in the last turn, if it is the user's. A message with calls loses its text.
Neighbouring turns of one role, other than results, are joined (ollama's template/template.go,
`collate`), and each part of a content is a turn (openai/openai.go). The rules match 49 recorded
bills (Llama Stack, langchainrb, crewAI).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from playground.dialects.raw_prompts import LLAMA3
from playground.nouns.wire_bodies import messages_of, tools_of
from playground.tokens.pieces import Framed, Piece, calls_of, functions_of, origin_of

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
_SURE: Final = 0.6  # certain share of a tool: some versions left out field names
_LONG: Final = 8_000  # characters: a server may cut off longer requests
_ESCAPED: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


@dataclass(frozen=True, slots=True)
class _Turn:
    role: str
    text: str
    message: int
    calls: Sequence[Mapping[str, Any]] = field(default=())


def llama(body: Mapping[str, Any], dated: bool) -> Framed:
    """Frame a request of any of Ollama's APIs to `llama3.1` or, if `dated`, to `llama3.2`."""
    framed = Framed(source="the template of Ollama's library", control=True)
    functions = list(functions_of(tools_of(dict(body))))
    turns = _join_turns(framed, list(_turns(framed, body)))
    system_turns = [turn for turn in turns if turn.role == "system"]
    framed.add(Piece(LLAMA3.begin))
    if dated or system_turns or functions:
        framed.add(*_system_pieces(system_turns, bool(functions), dated))
    for turn in turns[:-1]:
        if turn.role != "system":
            framed.add(*_turn_pieces(turn), Piece(LLAMA3.end_of_turn))
    if turns:
        _add_last(framed, turns[-1], functions, dated)
    if not dated and any(turn.calls for turn in turns):  # one bill of 2024-09 has 1 token less
        framed.add_reason("the template of 2024 wrote calls differently", 0)
        framed.rows[0] = [Piece(LLAMA3.begin, sure=0.0)]
    if sum(len(piece.text) for row in framed.rows for piece in row) > _LONG:
        framed.add_reason("Ollama cuts off what does not fit into its context", 0)
        framed.forgets = True
    return framed


def first_llama(body: Mapping[str, Any]) -> Framed:
    """Frame a request to `llama3`, whose template has no tools.

    Servers of May 2024 left out the first token (5 bills recorded by openllmetry and
    OpenInference).
    """
    framed = llama(body, dated=False)
    framed.add_reason("Ollama left out the token at the beginning until 2024-06", 0)
    framed.rows[0] = [piece._replace(sure=0.0) for piece in framed.rows[0]]
    if tools_of(dict(body)):
        framed.add_reason("this template writes no tools", 0)
    return framed


def _turns(framed: Framed, body: Mapping[str, Any]) -> Iterator[_Turn]:
    """Yield the turns of a conversation or a prompt, one for each part of a message's content."""
    for index, message in enumerate(_messages(body)):
        role, content = str(message.get("role") or "user"), message.get("content")
        calls = calls_of(message)
        framed.add_other_parts(content, origin_of(role), index)
        if message.get("images"):
            framed.add_reason("what a picture costs here is not known")
        parts = content if isinstance(content, list) else [{"text": content}]
        texts = [part["text"] for part in parts if isinstance(part, dict) and "text" in part]
        for place, text in enumerate(texts or [""]):
            is_last = place + 1 >= len(texts)
            yield _Turn(role, str(text or ""), index, calls if is_last else ())


def _messages(body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    if "messages" in body:
        return messages_of(dict(body))
    system = [{"role": "system", "content": body["system"]}] if body.get("system") else []
    return [*system, {"role": "user", "content": body.get("prompt")}]


def _join_turns(framed: Framed, turns: Sequence[_Turn]) -> list[_Turn]:
    """Join turns of one role, except results."""
    joined: list[_Turn] = []
    for turn in turns:
        if joined and turn.role == joined[-1].role != "tool":
            if turn.calls:
                framed.add_reason("Ollama loses the calls of a turn that it joins to another", 0)
            text = f"{joined[-1].text}\n\n{turn.text}"
            joined[-1] = replace(joined[-1], text=text)
        else:
            joined.append(turn)
    return joined


def _head(role: str) -> str:
    return f"{LLAMA3.start_header}{role}{LLAMA3.end_header}\n\n"


def _system_pieces(system_turns: Sequence[_Turn], tools: bool, dated: bool) -> list[Piece]:
    pieces = [Piece(_head("system") + (_DATE if dated else ""))]
    for place, turn in enumerate(system_turns):
        pieces.append(Piece(("\n\n" if place else "") + turn.text, "system", turn.message))
    if tools:
        separator = "" if dated else ("\n\n" if system_turns else "") + _DATE
        pieces.append(Piece(separator + _WITH_TOOLS, "tools"))
    return [*pieces, Piece(LLAMA3.end_of_turn)]


def _turn_pieces(turn: _Turn) -> list[Piece]:
    head = Piece(_head("ipython" if turn.role == "tool" else turn.role))
    if not turn.calls:
        return [head, Piece(turn.text, origin_of(turn.role), turn.message)]
    pieces = [head]
    for place, call in enumerate(turn.calls):
        name = str(call["function"].get("name") or "")
        arguments = arguments_text(call["function"].get("arguments"))
        separator = "\n" if place else ""
        text = f'{separator}{{"name": "{name}", "parameters": {arguments}}}'
        pieces.append(Piece(text, "calls", turn.message, name))
    return pieces


def _add_last(
    framed: Framed, turn: _Turn, functions: Sequence[Mapping[str, Any]], dated: bool
) -> None:
    """Frame the last turn. A user's turn gets the tools; a model's turn has no end marker."""
    if turn.role == "system":
        return
    pieces = _turn_pieces(turn)
    if functions and turn.role == "user":
        _note_tool_costs(framed, functions)
        tool_pieces = [
            Piece(f"{tool_text(function)}\n", "tools", tool=str(function["name"]), sure=_SURE)
            for function in functions
        ]
        end = Piece("\n" if dated else "\nQuestion: ", "tools")
        pieces[1:1] = [Piece(_FUNCTIONS, "tools"), *tool_pieces, end]
    if turn.role == "assistant":
        framed.add(*pieces)
        return
    framed.add(*pieces, Piece(LLAMA3.end_of_turn))
    framed.add(Piece(_head("assistant")))


def _note_tool_costs(framed: Framed, functions: Sequence[Mapping[str, Any]]) -> None:
    most = sum(map(extra_of_old_versions, functions))
    if most:
        framed.add_reason("how Ollama writes such a tool differs by its version", most)


@dataclass(frozen=True, slots=True)
class _Version:
    """The fields of a tool that a version of Ollama writes."""

    descriptions: bool  # descriptions and types of properties, even if empty
    required: bool  # the list of required properties, even if empty
    nested: bool  # properties of properties


_OLDEST: Final = _Version(descriptions=True, required=True, nested=False)
_NEWEST: Final = _Version(descriptions=False, required=False, nested=True)


def tool_text(function: Mapping[str, Any]) -> str:
    """Write a tool as Ollama 0.30 and later do."""
    return _tool(function, _NEWEST)


def extra_of_old_versions(function: Mapping[str, Any]) -> int:
    """Return the most tokens by which the text of old versions may be longer: the number of
    additional characters."""
    new, old = _tool(function, _NEWEST), _tool(function, _OLDEST)
    return 0 if new == old else max(1, len(old) - len(new))


def arguments_text(arguments: Any) -> str:
    """Write a call's arguments; text that is not JSON stays as it is."""
    if isinstance(arguments, str):
        try:
            return go_json(with_sorted_keys(json.loads(arguments)))
        except (ValueError, RecursionError):
            return arguments
    return go_json(with_sorted_keys(arguments if isinstance(arguments, dict) else {}))


def go_json(value: Any) -> str:
    """Write a value as Go's encoding/json does: without blanks, with `<`, `>` and `&` escaped."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for letter, escaped in _ESCAPED.items():
        text = text.replace(letter, escaped)
    return text


def with_sorted_keys(value: Any) -> Any:
    """Return a value with the keys of all objects sorted, as Go writes maps."""
    if isinstance(value, dict):
        return {key: with_sorted_keys(value[key]) for key in sorted(value, key=str)}
    return [with_sorted_keys(item) for item in value] if isinstance(value, list) else value


def _tool(function: Mapping[str, Any], version: _Version) -> str:
    """Write a tool as JSON, with the fields that this version of Ollama writes."""
    value = function.get("parameters")
    parameters = value if isinstance(value, dict) else {}
    properties = parameters.get("properties")
    inner: dict[str, Any] = {"type": parameters.get("type") or ""}
    for key in ("$defs", "items"):
        if parameters.get(key) is not None:
            inner[key] = with_sorted_keys(parameters[key])
    if parameters.get("required") or version.required:
        inner["required"] = parameters.get("required")
    inner["properties"] = (
        {key: _property(properties[key], version) for key in sorted(properties)}
        if isinstance(properties, dict)
        else None
    )
    value_written = {
        "name": function["name"],
        "description": function.get("description") or "",
        "parameters": inner,
    }
    return go_json({"type": "function", "function": value_written})


def _property(value: Any, version: _Version) -> dict[str, Any]:
    schema = value if isinstance(value, dict) else {}
    fields: dict[str, Any] = {}
    if isinstance(schema.get("anyOf"), list) and schema["anyOf"]:
        fields["anyOf"] = [_property(schema_part, version) for schema_part in schema["anyOf"]]
    kind = schema.get("type")
    if kind or version.descriptions:
        fields["type"] = kind[0] if isinstance(kind, list) and len(kind) == 1 else kind
    if schema.get("items") is not None:
        fields["items"] = with_sorted_keys(schema["items"])
    if schema.get("description") or version.descriptions:
        fields["description"] = schema.get("description") or ""
    if schema.get("enum"):
        fields["enum"] = schema["enum"]
    if version.nested and isinstance(schema.get("properties"), dict) and schema["properties"]:
        fields["properties"] = {
            key: _property(schema_part, version)
            for key, schema_part in schema["properties"].items()
        }
    if version.nested and schema.get("required"):
        fields["required"] = schema["required"]
    return fields
