"""The bodies of calls that are one value: JSON objects, Python keywords, marked objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from playground.events import ArgumentEvent, CallNamedEvent
from playground.parsing import json_walk, marked_walk, python_walk
from playground.parsing.json_walk import BrokenCall
from playground.parsing.scanner import Emit, Scanner, Steps
from playground.parsing.syntax import JsonShape
from playground.parsing.values import load_json, read_keywords
from playground.tools import Schema, ToolMetadata

NAME_LIMIT: Final = 256


@dataclass
class OpenCall:
    """The call that is being read: all that the engine keeps of the stream."""

    index: int
    call_id: str
    name: str | None = None
    raw: list[tuple[str | None, str]] = field(default_factory=list)
    arguments: dict[str, Any] = field(default_factory=dict)
    tool: ToolMetadata | None = None

    def schema_of(self, key: str) -> Schema:
        return self.tool.parameter_schema(key) if self.tool else {}


class BodyReader:
    """Reads the body of the open call from a scanner."""

    def __init__(self, scanner: Scanner, tools: Mapping[str, ToolMetadata], count: int) -> None:
        self.scanner, self.tools, self.count = scanner, tools, count
        self.open_call: OpenCall | None = None
        self.argument: str | None = None

    def _name(self, call: OpenCall, length: int, name: str) -> None:
        span, text = self.scanner.take(length)
        call.name, call.tool = name, self.tools.get(name)
        self.scanner.events.append(CallNamedEvent(span, call.index, name, text))
        if self.tools and call.tool is None:
            known = ", ".join(self.tools)
            message = f"{call.name!r} is none of the session's tools ({known})"
            self.scanner.note("unknown-tool", f"call {call.index}", message)

    def _emit_argument(self, call: OpenCall, key: str | None) -> Emit:
        scanner = self.scanner

        def emit(count: int) -> None:
            if count:
                span, text = scanner.take(count)
                scanner.events.append(ArgumentEvent(span, call.index, key, text))

        return emit

    # JSON bodies

    def _object(self, call: OpenCall, shape: JsonShape, path: tuple[str, ...]) -> Steps[None]:
        """Walk one object; at each key decide whether its value is name, arguments or neither."""
        scanner = self.scanner
        scanner.emit_markup(1)
        while True:
            yield from scanner.skip_space()
            char = yield from scanner.peek()
            if char == "}":
                scanner.emit_markup(1)
                return
            if char == ",":
                scanner.emit_markup(1)
                continue
            if not char:
                raise BrokenCall("truncated-call")
            if char != '"':
                raise BrokenCall("malformed-json", f"a key in double quotes is due, not {char!r}")
            key = yield from self._key()
            yield from self._member(call, shape, (*path, key))

    def _keyed_object(self, call: OpenCall) -> Steps[None]:
        """`{"name": {arguments}}`: one member, whose key is the call's name."""
        scanner = self.scanner
        scanner.emit_markup(1)
        yield from scanner.skip_space()
        if (yield from scanner.peek()) != '"':
            raise BrokenCall("malformed-json", "the call's name in double quotes is due")
        yield from self._json_name(call)
        yield from self._colon()
        yield from self._json_arguments(call)
        yield from scanner.skip_space()
        char = yield from scanner.peek()
        if char != "}":
            code = "malformed-json" if char else "truncated-call"
            raise BrokenCall(code, f"the call's object must end here, not {char!r}")
        scanner.emit_markup(1)

    def _key(self) -> Steps[str]:
        scanner, kept = self.scanner, list[str]()
        yield from json_walk.balanced(scanner, scanner.emit_markup, kept)
        yield from self._colon()
        return _unquoted("".join(kept))

    def _colon(self) -> Steps[None]:
        scanner = self.scanner
        yield from scanner.skip_space()
        char = yield from scanner.peek()
        if char != ":":
            code = "malformed-json" if char else "truncated-call"
            raise BrokenCall(code, f"a colon is due after a key, not {char!r}")
        scanner.emit_markup(1)
        yield from scanner.skip_space()

    def _member(self, call: OpenCall, shape: JsonShape, path: tuple[str, ...]) -> Steps[None]:
        scanner, kept = self.scanner, list[str]()
        first = yield from scanner.peek()
        inside = path[:-1] == shape.arguments[:-1]
        if path == shape.name and call.name is None and first == '"':
            yield from self._json_name(call)
        elif inside and path[-1] in (shape.arguments[-1], *shape.aliases):
            yield from self._json_arguments(call)
        elif first == "{" and path == shape.name[: len(path)]:
            yield from self._object(call, shape, path)
        else:
            yield from json_walk.value(scanner, scanner.emit_markup, kept)
            if shape.id and path == (shape.id,):
                call.call_id = _unquoted("".join(kept)) or call.call_id

    def _json_name(self, call: OpenCall) -> Steps[None]:
        """The name's string is held until it ends, then claimed at once: quotes are markup."""
        scanner = self.scanner
        scanner.emit_markup(1)
        while True:
            stop = scanner.text.find('"', scanner.at)
            text = scanner.text[scanner.at : stop if stop >= 0 else len(scanner.text)]
            if len(text) > NAME_LIMIT:
                raise BrokenCall("missing-name", f"no name is longer than {NAME_LIMIT} characters")
            if stop >= 0:
                break
            if scanner.ended:
                raise BrokenCall("truncated-call")
            yield
        name = _unquoted(f'"{text}"')
        if not name:
            raise BrokenCall("missing-name")
        self._name(call, len(text), name)
        scanner.emit_markup(1)

    def _json_arguments(self, call: OpenCall) -> Steps[None]:
        kept: list[str] = []
        steps = json_walk.value(self.scanner, self._emit_argument(call, None), kept)
        yield from self._claimed(call, "(JSON)", steps, kept)

    def _decode(self, call: OpenCall, shape: JsonShape) -> None:
        """Arguments from their raw text, once: absent and null ones are the empty object."""
        raw = call.raw[-1][1] if call.raw else "{}"
        value = _loaded(raw)
        if isinstance(value, str):
            value = _loaded(value) if value.strip() else None
            if isinstance(value, dict) and not shape.arguments_as_text:
                self.scanner.note("arguments-as-text", f"call {call.index}")
        if not isinstance(value, dict | None):
            raise BrokenCall("arguments-not-object")
        call.arguments = value or {}

    # bodies in other notations: claimed to their end, then read at once

    def _keywords(self, call: OpenCall) -> Steps[None]:
        kept: list[str] = []
        steps = python_walk.arguments(self.scanner, self._emit_argument(call, None), kept)
        yield from self._claimed(call, "(Python)", steps, kept)
        call.arguments = _read(read_keywords, call.raw[-1][1], "malformed-python")

    def _marked_arguments(self, call: OpenCall, mark: str) -> Steps[None]:
        kept: list[str] = []
        emit = self._emit_argument(call, None)
        steps = marked_walk.arguments(self.scanner, emit, kept, mark)
        yield from self._claimed(call, "(object)", steps, kept)
        call.arguments = _read(
            lambda text: marked_walk.read(text, mark), call.raw[-1][1], "malformed-arguments"
        )

    def _claimed(
        self, call: OpenCall, argument: str, steps: Steps[None], kept: list[str]
    ) -> Steps[None]:
        self.argument = argument
        try:
            yield from steps
        finally:
            call.raw.append((None, "".join(kept)))
        self.argument = None


def _loaded(text: str) -> Any:
    return _read(load_json, text, "malformed-json")


def _read(reader: Callable[[str], Any], text: str, code: str) -> Any:
    """What the reader makes of a text; what it cannot read aborts the call."""
    try:
        return reader(text)
    except RecursionError as error:
        raise BrokenCall("too-deep") from error
    except (ValueError, TypeError) as error:
        raise BrokenCall(code, str(error)) from error


def _unquoted(text: str) -> str:
    try:
        value = load_json(text)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""
