"""Read and write the project's own session file: a JSON object, checked by the types in
`session.py`. Its published JSON Schema, `session.schema.json`, is generated from these types."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from playground.base.arguments import takes, wrong
from playground.base.errors import InputFault
from playground.nouns.messages import Part, unchecked
from playground.parsing.values import dump_json
from playground.recordings.recording import BytesChunk, Recording
from playground.sessions.building import assuming_model
from playground.sessions.documents import parse_json
from playground.sessions.places import line_of
from playground.sessions.session import FORMAT, ExpectedReply, Session

SCHEMA_FILE: Final = Path(__file__).with_name("session.schema.json")
_TAGS: Final = {"text", "reasoning", "image", "tool_call", "tool_result", "base64", "signal"}


@cache
def _recording_adapter() -> TypeAdapter[Recording]:
    return TypeAdapter(Recording)


@cache
def _adapter() -> TypeAdapter[Session]:
    return TypeAdapter(Session)


@cache
def _parts_adapter() -> TypeAdapter[list[Part]]:
    return TypeAdapter(list[Part])


@cache
def _expected_adapter() -> TypeAdapter[tuple[ExpectedReply, ...]]:
    return TypeAdapter(tuple[ExpectedReply, ...])


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a session file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_adapter().json_schema()}


def parse_session(value: Any, text: str | Callable[[], str], where: str) -> Session:
    """Return a session from its JSON value.

    Raises InputFault with file, line and field. `text` is the file's text, or a function that
    returns it: only the line of an error needs it.
    """
    try:
        return _parse(value, "", where)
    except InputFault:
        return _parse(value, text if isinstance(text, str) else text(), where)


def _parse(value: Any, text: str, where: str) -> Session:
    if not isinstance(value, dict):
        raise InputFault(
            f"a session is a JSON object, not a {_kind(value)}",
            where=where,
            line=line_of(text, ()),
            expected=f'an object with "format": "{FORMAT}"',
        )
    if value.get("format") != FORMAT:
        raise InputFault(
            f"unknown session format {value.get('format')!r}",
            where=where,
            line=line_of(text, ("format",)),
            field="format",
            expected=f'"{FORMAT}"',
        )
    try:
        session = _adapter().validate_python(value)
    except ValidationError as error:
        raise _fault(error, text, where) from error
    _check_bytes(session, text, where)
    task = assuming_model(session.task, (row.body for row in session.rows))
    return session if task is session.task else replace(session, task=task)


@takes(session=Session)
def dump_session(session: Session) -> str:
    """Return the session as a file's text, without the task's API key and fields at their
    default."""
    return dump_json(plain_session(session), indent=1) + "\n"


def line_pieces(session: Session) -> Iterator[str]:
    """Yield the session as one line of a file of sessions, in pieces to save memory."""
    rest = dump_json(plain_session(unchecked(Session, {**vars(session), "messages": ()})))
    yield rest[:-1]
    for index, message in enumerate(session.messages):
        yield ', "messages": [' if index == 0 else ", "
        plain = plain_session(Session(messages=(message,)))["messages"][0]
        yield dump_json(plain)
    yield "]}\n" if session.messages else "}\n"


def dump_recording(recording: Recording) -> dict[str, Any]:
    """Return a recording as plain values, as in a session file."""
    plain: dict[str, Any] = _plain_values(_recording_adapter(), recording)
    return plain


@takes(where="text")
def read_recording(value: Any, where: str = "recording") -> Recording:
    """Return a recording from its JSON value in a session file. (`pg.recording` makes one from
    a text.) Raises InputFault for a wrong field."""
    if not isinstance(value, Mapping | Recording):
        expected = "a dict; pg.load_recording reads files, pg.recording takes a text"
        raise wrong("read_recording", value, expected)
    try:
        return _recording_adapter().validate_python(value)
    except ValidationError as error:
        raise _fault(error, json.dumps(value, indent=1, default=repr), where) from error


def dump_part(part: Part) -> str:
    """Return a part as JSON text, as in a session file, its type first."""
    return dump_json(plain_part(part), indent=1)


def plain_part(part: Part) -> dict[str, Any]:
    """Return a part as plain values, its type first."""
    (fields,) = _plain_values(_parts_adapter(), [part])
    return {"type": part.type, **fields}


def read_part(text: str, where: str = "part") -> Part:
    """Return a part from its JSON text. Raises InputFault with the line and the field."""
    try:
        (part,) = _parts_adapter().validate_python([parse_json(text, where)])
    except ValidationError as error:
        fault = _fault(error, f"[{text}]", where)
        raise InputFault(
            fault.problem,
            where=where,
            line=fault.line,
            field=fault.field.partition(".")[2],  # without the index in the list
            expected=fault.expected,
        ) from error
    return part


def dump_expected(expected: tuple[ExpectedReply, ...]) -> str:
    """Return expected replies as JSON text, as in a session file."""
    plain = _expected_adapter().dump_python(expected, mode="json", exclude_defaults=True)
    return dump_json(plain, indent=1)


def read_expected(text: str, messages: int) -> tuple[ExpectedReply, ...]:
    """Return expected replies from their JSON text, for a session with that number of messages.

    Raises InputFault with the line and the field.
    """
    where = "expected"
    try:
        replies = _expected_adapter().validate_python(parse_json(text, where))
    except ValidationError as error:
        raise _fault(error, text, where) from error
    for index, each in enumerate(replies):
        if not 1 <= each.message <= messages:
            raise InputFault(
                f"{each.message} is not the number of messages before a reply",
                where=where,
                line=line_of(text, (index, "message")),
                field=f"{index}.message",
                expected=f"1 to {messages}",
            )
    return replies


def plain_session(session: Session) -> dict[str, Any]:
    """Return the session as plain values, without fields at their default."""
    data: dict[str, Any] = _plain_values(_adapter(), session)
    if session.named_model:  # written even if it is the default
        data["task"] = {"model_name": session.named_model, **data.get("task", {})}
    elif "task" in data:
        data["task"].pop("model_name", None)  # `parse_session` assumes it again
    data = {"format": FORMAT, **data}
    for written, message in zip(data.get("messages", []), session.messages, strict=True):
        parts = zip(written.get("parts", []), message.parts, strict=True)
        written["parts"] = [{"type": part.type, **fields} for fields, part in parts]
    return data


def _plain_values(adapter: TypeAdapter[Any], value: Any) -> Any:
    try:
        return adapter.dump_python(value, mode="json", exclude_defaults=True)
    except PydanticSerializationError:
        raise
    except ValueError as error:  # pydantic writes at most about 250 levels
        raise InputFault("a value is nested too deeply to be written") from error


def _fault(error: ValidationError, text: str, where: str) -> InputFault:
    first = error.errors()[0]
    path = _file_path(first["loc"])
    actual = "" if first["type"] == "missing" else f", not {_short(first['input'])}"
    context = first.get("ctx", {})
    expected = str(context.get("expected") or context.get("expected_tags") or "")
    return InputFault(
        f"{first['msg']}{actual}",
        where=where,
        line=line_of(text, path),
        field=".".join(str(step) for step in path),
        expected=expected.replace("'", '"') or _EXPECTED.get(first["type"], ""),
    )


_EXPECTED: Final = {
    "missing": "a value for this field",
    "extra_forbidden": "only the fields of the format (docs/session-format.md)",
    "unexpected_keyword_argument": "only the fields of the format (docs/session-format.md)",
}


def _file_path(location: tuple[str | int, ...]) -> list[str | int]:
    """Return pydantic's location without the tags of unions, which the file does not have."""
    path: list[str | int] = []
    for index, step in enumerate(location):
        after_item = bool(path) and isinstance(path[-1], int)
        if not (step in _TAGS and after_item and index < len(location) - 1):
            path.append(step)
    return path


def _check_bytes(session: Session, text: str, where: str) -> None:
    for number, recording in enumerate(session.recordings):
        for index, chunk in enumerate(recording.chunks):
            if isinstance(chunk, BytesChunk):
                try:
                    base64.b64decode(chunk.base64, validate=True)
                except binascii.Error as error:
                    path = ("recordings", number, "chunks", index, "base64")
                    raise InputFault(
                        f"not Base64 ({error})",
                        where=where,
                        line=line_of(text, path),
                        field=".".join(map(str, path)),
                        expected="Base64 of the chunk's bytes",
                    ) from error


def _kind(value: Any) -> str:
    names = {list: "list", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
