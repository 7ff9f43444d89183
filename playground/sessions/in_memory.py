"""Sessions out of memory: messages, tools and requests as a program holds them, any provider's.

What a program made is its user's own, so what cannot be read raises; of a file it is a finding.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel

from playground.base.arguments import takes
from playground.base.characters import replace_half_surrogates
from playground.base.errors import InputFault
from playground.nouns.messages import Message
from playground.nouns.tool_formats import read_tools
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.last_resort import refused
from playground.sessions.session import Session
from playground.sessions.shapes.messages import ROLES, read_message
from playground.sessions.shapes.parts import read_parts
from playground.sessions.shapes.requests import conversation

_MESSAGE: Final = 'a message such as {"role": "user", "content": …}, or pg.Message'
_GIVEN: Final = "a text, a list of messages of any provider, or a request's body"
_TOOLS: Final = ("tools", "toolConfig", "functions")
_SYSTEM: Final = ("system", "instructions", "systemInstruction", "system_instruction")


@takes(model="text", title="text")
def session(
    messages: str | Message | Mapping[str, Any] | Iterable[Any] = (),
    tools: Any = (),
    system: Any = "",
    model: str = "",
    title: str = "",
) -> Session:
    """Return a session of what is in memory.

    `messages` are a text (the user's), messages as OpenAI, Anthropic, Gemini or Bedrock take them
    or as their SDKs give them, `pg.Message`s, or the whole body of a request, whose own tools,
    system prompt and model count where none are given here. `tools` are of any form that
    `read_tools` knows. Parts that a session has no room for are left out. Raises InputFault with
    the place of what is no message or no tool.
    """
    body = _body(messages)
    builder = SessionBuilder(title=title)
    prompt = system or next((body[name] for name in _SYSTEM if body.get(name)), "")
    if isinstance(prompt, Mapping) and "parts" in prompt:  # Gemini's
        prompt = prompt["parts"]
    with refused("of no known form", field="system", expected=_MESSAGE):
        parts = read_parts(builder, json_value(prompt, "system"), Place(field="system"))
    if parts:
        builder.add_message("system", parts, Place(field="system"))
    elif prompt:
        raise InputFault(
            f"{prompt!r:.60} is not a text", field="system", expected="a text, or parts"
        )
    for index, message in enumerate(body["messages"]):
        _read(builder, message, Place(field="messages").at(index))
    builder.model = model or str(body.get("model") or body.get("modelId") or "")
    own: Any = next((body[key] for key in _TOOLS if body.get(key)), [])
    return replace(builder.finish(), tools=tuple(read_tools(tools or own)))


def _body(given: Any) -> dict[str, Any]:
    """Return the body of a request with its `messages` as a list; a message or several make one."""
    if isinstance(given, str):
        return {"messages": [{"role": "user", "content": given}] if given else []}
    if isinstance(given, Message | BaseModel):
        return {"messages": [given]}
    if isinstance(given, Mapping):
        if found := conversation(dict(given)):
            return {**given, "messages": found}
        if "role" in given or "type" in given:
            return {"messages": [given]}
    elif isinstance(given, Iterable) and not isinstance(given, bytes | bytearray):
        return {"messages": list(given)}
    raise InputFault(f"{given!r:.60} was given", field="messages", expected=_GIVEN)


def _read(builder: SessionBuilder, value: Any, place: Place) -> None:
    if isinstance(value, Message):
        builder.add_message(value.role, value.parts, place)
        return
    before = len(builder.messages)
    plain = json_value(value, place.field)
    if isinstance(plain, dict):
        with refused("of no known form", field=place.field, expected=_MESSAGE):
            read_message(builder, plain, place)
    if len(builder.messages) == before:
        role = plain.get("role") if isinstance(plain, dict) else None
        known = f"; roles: {', '.join(ROLES)}" if role else ""
        problem = f"{plain!r:.60} is not a message{known}"
        raise InputFault(problem, field=place.field, expected=_MESSAGE)


def json_bytes(value: Any) -> bytes:
    """Return a value in memory as a JSON document, for the formats to recognise. Raises
    InputFault.
    """
    return json.dumps(json_value(value, ""), ensure_ascii=True).encode()


def json_value(value: Any, where: str) -> Any:
    """Return a value as JSON has it: models of SDKs dumped, tuples as lists, bytes in Base64.

    Raises InputFault with the place of what JSON cannot say.
    """
    try:
        return _json_value(value, where)
    except RecursionError as error:
        expected = "values that hold neither themselves nor too much"
        raise InputFault("nested too deeply", field=where, expected=expected) from error


def _json_value(value: Any, where: str) -> Any:
    match value:
        case None | bool() | int() | float():
            return value
        case str():  # half surrogates, which no file can hold, as where a file is read
            return replace_half_surrogates(value, where, [])
        case bytes() | bytearray():  # an image, as Bedrock's SDK takes it
            return base64.b64encode(value).decode("ascii")
        case BaseModel():
            return value.model_dump(mode="json", exclude_none=True)
        case Mapping():
            return {str(k): _json_value(v, f"{where}.{k}".strip(".")) for k, v in value.items()}
        case list() | tuple():
            return [_json_value(v, f"{where}.{i}".strip(".")) for i, v in enumerate(value)]
        case _:
            expected = "texts, numbers, lists, dicts, or models of an SDK"
            raise InputFault(f"{value!r:.60} is not a JSON value", field=where, expected=expected)
