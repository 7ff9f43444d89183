"""The bodies of calls that are one value: JSON objects, Python keywords, marked objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from playground.events import ArgumentEvent, CallNamedEvent
from playground.parsing import json_walk, marked_walk, python_walk, relaxed_json
from playground.parsing.json_walk import BrokenCall
from playground.parsing.patterns import Choice, wait
from playground.parsing.python_values import read_keywords
from playground.parsing.scanner import Emit, Match, Scanner, Steps
from playground.parsing.switches import Switches
from playground.parsing.syntax import JsonShape
from playground.parsing.values import load_json
from playground.tools import Schema, ToolMetadata

NAME_LIMIT: Final = 256
_BARE_KEY: Final = wait(Choice(r"[A-Za-z_$][\w$\-]{0,127}+", ""))


@dataclass
class OpenCall:
    """The call that is being read: all that the engine keeps of the stream."""

    index: int
    call_id: str
    name: str | None = None
    raw: list[tuple[str | None, str]] = field(default_factory=list)
    arguments: dict[str, Any] = field(default_factory=dict)
    tool: ToolMetadata | None = None
    in_section: bool = False
    relaxed: bool = False  # its JSON has single quotes, bare keys or comments

    typed: bool = True

    def schema_of(self, key: str) -> Schema:
        """The schema of an argument; {} where none is known or values are not to be typed."""
        return self.tool.parameter_schema(key) if self.tool and self.typed else {}

    @cached_property
    def properties(self) -> set[str]:
        """The names of the tool's parameters; empty where the tool is not known."""
        return set(self.tool.parameters) if self.tool else set()

    @property
    def required(self) -> list[str]:
        return self.tool.required_parameters if self.tool else []


class BodyReader:
    """Reads the body of the open call from a scanner."""

    def __init__(
        self,
        scanner: Scanner,
        tools: Mapping[str, ToolMetadata],
        count: int,
        switches: Switches,
        tokens: Sequence[str],
    ) -> None:
        self.scanner, self.tools, self.count = scanner, tools, count
        self.switches, self.tokens = switches, tokens
        self.open_call: OpenCall | None = None
        self.argument: str | None = None

    def _name(self, call: OpenCall, length: int, name: str) -> None:
        span, text = self.scanner.take(length)
        name = self._mended(name)
        call.name, call.tool = name, self.tools.get(name)
        self.scanner.events.append(CallNamedEvent(span, call.index, name, text))
        if text and name != text and name in text:
            self.scanner.note("mended-name", f"call {call.index}", f"{text!r} is read as {name!r}")
        if self.tools and call.tool is None:
            known = ", ".join(self.tools)
            message = f"{call.name!r} is none of the session's tools ({known})"
            self.scanner.note("unknown-tool", f"call {call.index}", message)

    def _mended(self, name: str) -> str:
        """A name without stray control tokens, and without itself as its namespace."""
        if name in self.tools:
            return name
        for token in self.tokens:
            name = name.replace(token, "")
        first, _, rest = name.partition(".")
        return rest if first == rest else name

    def _emit_argument(self, call: OpenCall, key: str | None) -> Emit:
        scanner = self.scanner

        def emit(count: int) -> None:
            if count:
                span, text = scanner.take(count)
                scanner.events.append(ArgumentEvent(span, call.index, key, text))

        return emit

    def _closes(self, match: Match, call: OpenCall) -> bool:
        return match.groupdict().get("close_name") in (None, call.name)

    def _set_text(self, call: OpenCall, key: str, text: str) -> None:
        call.raw.append((key, text))
        self._set(call, key, text)

    def _set(self, call: OpenCall, key: str, value: Any, code: str = "") -> None:
        place = f"call {call.index}, argument {key}"
        if code:
            self.scanner.note(code, place)
        if key in call.arguments:
            self.scanner.note("duplicate-argument", place)
        call.arguments[key] = value

    # JSON bodies

    def _object(self, call: OpenCall, shape: JsonShape, path: tuple[str, ...]) -> Steps[None]:
        """Walk one object; at each key decide whether its value is name, arguments or neither."""
        scanner = self.scanner
        scanner.emit_markup(1)
        while True:
            call.relaxed |= yield from json_walk.skip_gap(scanner)
            char = yield from scanner.peek()
            if char == "}":
                scanner.emit_markup(1)
                return
            if char == ",":
                scanner.emit_markup(1)
                continue
            if not char:
                raise BrokenCall("truncated-call")
            key = yield from self._key(call, char)
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

    def _key(self, call: OpenCall, first: str) -> Steps[str]:
        """A member's key and its colon; a bare one and one in single quotes are read too."""
        scanner, kept = self.scanner, list[str]()
        if first in "\"'":
            yield from json_walk.balanced(scanner, scanner.emit_markup, kept)
        else:
            match = yield from scanner.match_here(_BARE_KEY)
            if match is None:
                raise BrokenCall("malformed-json", f"a key in double quotes is due, not {first!r}")
            kept.append(f'"{match[0]}"')
            scanner.emit_markup(len(match[0]))
        call.relaxed |= first != '"'
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
        call.relaxed |= first == "'"
        if path == (shape.thought,) and first == '"':
            yield from json_walk.balanced(scanner, scanner.emit_reasoning, kept)
        elif path == shape.name and call.name is None and first and first in "\"'":
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
        scanner, quote = self.scanner, (yield from self.scanner.peek())
        scanner.emit_markup(1)
        while True:
            stop = scanner.text.find(quote, scanner.at)
            text = scanner.text[scanner.at : stop if stop >= 0 else len(scanner.text)]
            if len(text) > NAME_LIMIT:
                raise BrokenCall("missing-name", f"no name is longer than {NAME_LIMIT} characters")
            if stop >= 0:
                break
            if scanner.ended:
                raise BrokenCall("truncated-call")
            yield
        name = _unquoted(f"{quote}{text}{quote}")
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
        value = self._loaded(call, raw)
        if isinstance(value, str) and shape.text_key:
            value = {shape.text_key: value}
        if isinstance(value, str):
            value = self._loaded(call, value) if value.strip() else None
            if isinstance(value, dict) and not shape.arguments_as_text:
                self.scanner.note("arguments-as-text", f"call {call.index}")
        if not isinstance(value, dict | None):
            raise BrokenCall("arguments-not-object")
        call.arguments = value or {}
        if call.relaxed:
            self.scanner.note("relaxed-json", f"call {call.index}")

    def _loaded(self, call: OpenCall, text: str) -> Any:
        """The value of a JSON text; where it is not quite JSON, of what it says all the same."""
        try:
            return _read(load_json, text, "malformed-json")
        except BrokenCall as broken:
            if broken.code != "malformed-json":
                raise
            try:
                value = relaxed_json.load(text)
            except (ValueError, RecursionError):
                raise broken from None
            call.relaxed = True
            return value

    # bodies in other notations: claimed to their end, then read at once

    def _keywords(self, call: OpenCall) -> Steps[None]:
        kept: list[str] = []
        steps = python_walk.arguments(self.scanner, self._emit_argument(call, None), kept)
        yield from self._claimed(call, "(Python)", steps, kept)
        read = _read(read_keywords, call.raw[-1][1], "malformed-python")
        call.arguments, as_it_stood = read
        if not as_it_stood:
            self.scanner.note("relaxed-python", f"call {call.index}")

    def _marked_arguments(self, call: OpenCall, mark: str) -> Steps[None]:
        kept: list[str] = []
        emit = self._emit_argument(call, None)
        steps = marked_walk.arguments(self.scanner, emit, kept, mark)
        yield from self._claimed(call, "(object)", steps, kept)
        call.arguments = _read(
            lambda text: marked_walk.read(text, mark, call.schema_of),
            call.raw[-1][1],
            "malformed-arguments",
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
        value = load_json(text) if text[:1] == '"' else relaxed_json.load(text)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""
