"""Build sessions from values in memory: messages, tools and requests of any provider.

A value that cannot be read raises an error, because the caller can correct it; in a file it would
only give a finding.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel

from playground.base.arguments import READ_ELSEWHERE, pieces_of, takes, wrong
from playground.base.characters import replace_half_surrogates
from playground.base.errors import InputFault
from playground.base.findings import Finding
from playground.nouns.messages import Message
from playground.nouns.tool_formats import read_tools
from playground.nouns.tools import ToolMetadata, tools_findings
from playground.recordings.recording import Recording, TextChunk
from playground.sessions.building import Place, SessionBuilder, assuming_model
from playground.sessions.checks import check
from playground.sessions.last_resort import unexpected_as_fault
from playground.sessions.session import Session, with_receipt
from playground.sessions.shapes.messages import read_message
from playground.sessions.shapes.parameters import parameters_of_body
from playground.sessions.shapes.parts import read_parts
from playground.sessions.shapes.requests import add_row, conversation, is_marked

_MESSAGE: Final = 'a message such as {"role": "user", "content": …}, or pg.Message'
_ROLES: Final = (  # roles in requests and chat templates; files may have others
    "system", "developer", "user", "human", "assistant", "model", "ai", "chatbot", "tool",
    "function", "ipython", "observation",
)  # fmt: skip
_PIECE: Final = 8  # characters of a chunk of a reply that was given in one piece
_EXPECTED: Final = "a text, a list of messages of any provider, or a request's body"
_TOOLS: Final = ("tools", "toolConfig", "functions")  # fields of a body, as are those of _SYSTEM
_SYSTEM: Final = ("system", "instructions", "systemInstruction", "system_instruction")


@takes(model="text", title="text", explicit_caching="choice or nothing", recordings="list")
def session(
    messages: str | Message | Mapping[str, Any] | Iterable[Any] = (),
    tools: Any = (),
    system: Any = "",
    model: str = "",
    title: str = "",
    *,
    explicit_caching: bool | None = None,
    recordings: Iterable[Recording] = (),
) -> Session:
    """Return a session built from messages, tools and a system prompt.

    `messages` is a text of the user, a list of messages, or a whole request body. A message is a
    `pg.Message`, or has the form of OpenAI, Anthropic, Gemini or Bedrock, also as their SDKs return
    it. Tools, system prompt and model are taken from the body unless they are given as arguments.
    `tools` may have any form that `read_tools` knows. `.findings` name what a session cannot hold.
    `explicit_caching` lets the policy "azad" mark requests to Gemini. `recordings` are replies,
    made by `recording` or read by `load_recording`. For the policy "as-sent", a body is kept as it
    was sent, with `model` if given. If `messages` is no body, or `tools` or `system` are given, the
    request is kept only if it has a cache mark and no `pg.Message` or `pg.ToolMetadata`.

    Raises InputFault with the place of a value that is not a message or a tool.
    """
    body = _body(messages)
    tools = list(tools) if isinstance(tools, Iterator) else tools
    builder = SessionBuilder(title=title)
    prompt = system or next((body[name] for name in _SYSTEM if body.get(name)), "")
    if isinstance(prompt, Mapping) and "parts" in prompt:  # Gemini's
        prompt = prompt["parts"]
    with unexpected_as_fault("of no known form", field="system", expected=_MESSAGE):
        parts = read_parts(builder, json_value(prompt, "system"), Place(field="system"))
    if parts:
        builder.add_message("system", parts, Place(field="system"))
    elif prompt:
        raise InputFault(
            f"{prompt!r:.60} is not a text", field="system", expected="a text, or parts"
        )
    for index, message in enumerate(body["messages"]):
        _read(builder, message, Place(field="messages").at(index))
    builder.set_parameters(parameters_of_body(body), Place())
    own_body = messages if isinstance(messages, Mapping) and conversation(dict(messages)) else {}
    others = {"tools": tools, "system": system, "model": model, "messages": body["messages"]}
    _add_as_sent(builder, own_body, {key: value for key, value in others.items() if value})
    builder.model = model or str(body.get("model") or body.get("modelId") or "")
    own_tools: Any = next((body[key] for key in _TOOLS if body.get(key)), [])
    listed = read_tools(tools or own_tools, found := list[Finding]())
    # "info" findings name fields that a tool lacks; a request as it was sent keeps them
    found = [one for one in found if one.severity != "info" or not builder.rows]
    check_findings = {*tools_findings(listed, "tools.{index}")}
    builder.findings += [one for one in found if one not in check_findings]
    builder.keep_tools(enumerate(listed), Place(field="tools"))
    made = builder.finish()
    task = assuming_model(made.task, [body])
    replies = tuple(recordings)
    for reply in replies:
        if not isinstance(reply, Recording):
            raise wrong("session(recordings=…)", reply, "recordings, as `pg.recording` makes them")
    made = replace(made, task=task, recordings=replies)
    made = made.with_explicit_caching(explicit_caching)
    return with_receipt(made, None, list(dict.fromkeys([*builder.findings, *check(made)])))


@takes(
    text=pieces_of("a text, or its pieces", str, never=(bytes, bytearray)),
    dialect="text",
    name="text",
    model="text",
)
def recording(
    text: str | Iterable[str], dialect: str = "", *, name: str = "reply", model: str = ""
) -> Recording:
    """Return a recording of a reply that you have as text, for `replay` and for a trial.

    `text` is the reply, or its pieces in the order in which they came; a reply in one piece is cut
    into small ones. `dialect` is the dialect in which the prompt asked for calls; if it is "",
    `replay` chooses the likeliest. Raises UnknownNameError for an unknown dialect, and InputFault
    for a piece that is not a text.
    """
    from playground.dialects import get_dialect  # most sessions have no recordings

    dialect = get_dialect(dialect).name if dialect else ""
    cuts = range(0, len(text), _PIECE) if isinstance(text, str) else ()
    pieces = [text[at : at + _PIECE] for at in cuts] if isinstance(text, str) else list(text)
    for piece in pieces:
        if not isinstance(piece, str):
            raise wrong("a piece of a reply", piece, f"a text; {READ_ELSEWHERE}")
    return Recording(name, dialect, tuple(map(TextChunk, pieces)), model=model)


def _body(value: Any) -> dict[str, Any]:
    """Return a body with `messages` as a list; `value` is a text, a body, or message(s)."""
    if isinstance(value, str):
        if _is_path(value):
            expected = "pg.load_session for a file; a list of messages for a user who says this"
            raise InputFault(
                f"{value!r} is the name of a file", field="messages", expected=expected
            )
        return {"messages": [{"role": "user", "content": value}] if value else []}
    if isinstance(value, Message | BaseModel):
        return {"messages": [value]}
    if isinstance(value, Mapping):
        if found := conversation(dict(value)):
            return {**value, "messages": found}
        if "role" in value or "type" in value:
            return {"messages": [value]}
    elif isinstance(value, Iterable) and not isinstance(value, bytes | bytearray | set):
        return {"messages": list(value)}
    raise InputFault(f"{value!r:.60} was given", field="messages", expected=_EXPECTED)


def _is_path(text: str) -> bool:
    """Return True if a text looks like a session file's name, or names a file that exists."""
    is_word = not any(map(str.isspace, text)) and "://" not in text
    if is_word and text.lower().endswith((".json", ".jsonl")):
        return True
    return "\n" not in text and os.path.isfile(text)  # noqa: PTH113 - Path's raises for long names


def _add_as_sent(
    builder: SessionBuilder, own_body: Mapping[str, Any], others: dict[str, Any]
) -> None:
    """Add the request as it was sent: a body, or else the arguments if they have a cache mark. Our
    own objects, such as ToolMetadata, were never sent: marks given with them are a finding."""
    replaced = {key for names in (_TOOLS, _SYSTEM) if names[0] in others for key in names}
    body = {key: value for key, value in own_body.items() if key not in replaced}
    body |= {key: value for key, value in others.items() if key != "messages" or not own_body}
    tools = body.get("tools")
    if not isinstance(tools, list | tuple) or not any(isinstance(t, ToolMetadata) for t in tools):
        with suppress(InputFault):
            plain = json_value(body, "")
            if (own_body and not replaced) or is_marked(plain):
                add_row(builder, plain)
            return
    if is_marked(body):
        problem = "cache marks beside objects, such as pg.ToolMetadata: give dicts alone"
        builder.note_loss(problem, Place(field="messages"))


def _read(builder: SessionBuilder, value: Any, place: Place) -> None:
    if isinstance(value, Message):
        builder.add_message(value.role, value.parts, place)
        return
    start = len(builder.messages)
    plain = json_value(value, place.field)
    if isinstance(plain, dict):
        with unexpected_as_fault("of no known form", field=place.field, expected=_MESSAGE):
            read_message(builder, plain, place)
        _refuse_lost(plain, builder.messages[start:], place)
    role = plain.get("role") if isinstance(plain, dict) else None
    is_guess = isinstance(role, str) and role.lower() not in _ROLES
    if len(builder.messages) == start or is_guess:
        known = f"; roles: {', '.join(_ROLES)}" if role else ""
        problem = f"{plain!r:.60} is not a message{known}"
        raise InputFault(problem, field=place.field, expected=_MESSAGE)


def _refuse_lost(given: dict[str, Any], read: Sequence[Message], place: Place) -> None:
    """Raise InputFault if the messages `read` from a `given` one have nothing of its content. A
    user's or system message needs content, which may be empty; other messages may have none."""
    content = given.get("content", given.get("parts"))
    may_be_empty = content in ("", []) or (
        content is None and given.get("role") not in ("user", "system")
    )
    if read and not may_be_empty and not any(message.parts for message in read):
        problem = f"content {content!r:.60} cannot be read" if content is not None else "no content"
        raise InputFault(problem, field=place.at("content").field, expected="a text, or parts")


def json_bytes(value: Any) -> bytes:
    """Return a value as a JSON document, to recognise its format. Raises as `json_value` does."""
    return json.dumps(json_value(value, ""), ensure_ascii=True).encode()


def json_value(value: Any, where: str) -> Any:
    """Return a value in JSON's types: models of SDKs dumped, tuples as lists, bytes in Base64.

    Raises InputFault with the place of a value that JSON cannot express.
    """
    try:
        return _json_value(value, where)
    except RecursionError as error:
        expected = "values that do not contain themselves, nested less deeply"
        raise InputFault("nested too deeply", field=where, expected=expected) from error


def _json_value(value: Any, where: str) -> Any:
    match value:
        case None | bool() | int() | float():
            return value
        case str():  # without half surrogates, as if read from a file
            return replace_half_surrogates(value, where, [])
        case bytes() | bytearray():  # an image in the form of Bedrock's SDK
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
