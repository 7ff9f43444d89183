"""One call, walked piece by piece from its opener to its closer: JSON bodies and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from playground.events import (
    ArgumentEvent,
    CallAbortedEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
)
from playground.parsing import json_walk, marked_walk, python_walk
from playground.parsing.grammar import Form, Wait
from playground.parsing.json_walk import BrokenCall
from playground.parsing.scanner import Emit, Match, Scanner, Steps
from playground.parsing.syntax import JsonShape
from playground.parsing.values import load_json, read_keywords, read_marked, read_value
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


class CallReader:
    """Reads calls from a scanner; `open_call` and `argument` say where it stands."""

    def __init__(self, scanner: Scanner, tools: Mapping[str, ToolMetadata], count: int) -> None:
        self.scanner, self.tools, self.count = scanner, tools, count
        self.open_call: OpenCall | None = None
        self.argument: str | None = None

    def read(self, match: Match, form: Form) -> Steps[None]:
        """The call whose opener has matched: it ends delivered or aborted, never silently."""
        scanner = self.scanner
        call = self.open_call = OpenCall(self.count, f"call_{self.count + 1}")
        self.count += 1
        groups = match.groupdict()
        if groups.get("id"):
            call.call_id = match["id"]
        scanner.events.append(CallStartedEvent(scanner.here(), call.index, call.call_id))
        self._open(match, call, named=bool(groups.get("name")))
        try:
            yield from self._body(call, form)
            self._deliver(call)
        except BrokenCall as broken:
            yield from self._abort(call, broken, form)
        self.open_call, self.argument = None, None

    def _open(self, match: Match, call: OpenCall, named: bool) -> None:
        scanner = self.scanner
        if named:
            scanner.emit_markup(match.start("name") - match.start())
            self._name(call, len(match["name"]), match["name"])
            scanner.emit_markup(match.end() - match.end("name"))
        else:
            scanner.emit_markup(match.end() - match.start())

    def _name(self, call: OpenCall, length: int, name: str) -> None:
        span, text = self.scanner.take(length)
        call.name, call.tool = name, self.tools.get(name)
        self.scanner.events.append(CallNamedEvent(span, call.index, name, text))
        if self.tools and call.tool is None:
            known = ", ".join(self.tools)
            message = f"{call.name!r} is none of the session's tools ({known})"
            self.scanner.note("unknown-tool", f"call {call.index}", message)

    def _body(self, call: OpenCall, form: Form) -> Steps[None]:
        body, shape = form.syntax.call_template.body, form.syntax.shape
        if body == "params":
            yield from self._params(call, form)
            return
        yield from self.scanner.skip_space()
        if body == "args:python":
            yield from self._keywords(call)
        elif body == "args:marked":
            yield from self._marked_arguments(call, form.syntax.string_mark)
        elif body == "call:json" and shape.name_is_key:
            yield from self._keyed_object(call)
        elif body == "call:json":
            yield from self._object(call, shape, ())
        elif (yield from self.scanner.peek()) == "{":
            yield from self._json_arguments(call)
        if call.name is None:
            raise BrokenCall("missing-name")
        if body not in ("args:python", "args:marked"):
            self._decode(call, shape)
        yield from self._closer(form.close)

    def _closer(self, close: Wait | None) -> Steps[None]:
        """The marker after a JSON body. The call is whole without it: a repair, with a finding."""
        scanner = self.scanner
        if close is None:
            return
        match = yield from scanner.match_here(close)
        if match is None:
            scanner.note("missing-closer")
            cut = close.pattern.match(scanner.text, scanner.at, partial=True)
            if scanner.ended and cut and cut.end() == len(scanner.text):
                scanner.emit_markup(cut.end() - scanner.at)
        else:
            scanner.emit_markup(match.end() - match.start())

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
        yield from json_walk.string(scanner, scanner.emit_markup, kept)
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

    # parameter bodies

    def _params(self, call: OpenCall, form: Form) -> Steps[None]:
        scanner, wait = self.scanner, form.next_param
        assert wait is not None
        while True:
            yield from scanner.skip_space()
            match = yield from scanner.until(wait, scanner.emit_unexpected, inside_call=True)
            if match is None:
                raise BrokenCall("truncated-call")
            length = match.end() - match.start()
            kind = wait.kind(match)
            if kind == "param":
                scanner.emit_markup(length)
                yield from self._param(call, match, form.value)
            elif kind != "close":  # another marker: the closer was forgotten
                scanner.note("missing-closer")
                return
            elif self._closes(match, call):
                scanner.emit_markup(length)
                return
            else:
                scanner.emit_unexpected(length)

    def _closes(self, match: Match, call: OpenCall) -> bool:
        return match.groupdict().get("close_name") in (None, call.name)

    def _param(self, call: OpenCall, opener: Match, wait: Wait | None) -> Steps[None]:
        scanner, kept, groups = self.scanner, list[str](), opener.groupdict()
        key = groups["key"]
        assert wait is not None
        emit, self.argument = self._emit_argument(call, key), key

        def keep(count: int) -> None:
            kept.append(scanner.text[scanner.at : scanner.at + count])
            emit(count)

        def own(match: Match) -> bool:
            return match.groupdict().get("close_key") in (None, key)

        match = yield from scanner.until(wait, keep, own, inside_call=True)
        text = "".join(kept)
        call.raw.append((key, text))
        if match is None:
            raise BrokenCall("truncated-call")
        scanner.emit_markup(match.end() - match.start())
        kind = groups.get("type") or groups.get("is_text")
        if kind:
            value, agrees = read_marked(text, kind in ("string", "true"))
        else:
            value, agrees = read_value(text, call.schema_of(key))
        self._set(call, key, value, agrees)
        self.argument = None

    def _set(self, call: OpenCall, key: str, value: Any, agrees: bool) -> None:
        place = f"call {call.index}, argument {key}"
        if not agrees:
            self.scanner.note("type-mismatch", place)
        if key in call.arguments:
            self.scanner.note("duplicate-argument", place)
        call.arguments[key] = value

    # endings

    def _emit_argument(self, call: OpenCall, key: str | None) -> Emit:
        scanner = self.scanner

        def emit(count: int) -> None:
            if count:
                span, text = scanner.take(count)
                scanner.events.append(ArgumentEvent(span, call.index, key, text))

        return emit

    def _deliver(self, call: OpenCall) -> None:
        assert call.name is not None
        self.scanner.events.append(
            CallEndedEvent(
                self.scanner.here(),
                call.index,
                call.call_id,
                call.name,
                call.arguments,
                tuple(call.raw),
            )
        )

    def _abort(self, call: OpenCall, broken: BrokenCall, form: Form) -> Steps[None]:
        """Say why, keep what was read, and go on after the call's own closer."""
        scanner = self.scanner
        scanner.note(broken.code, f"call {call.index}", broken.message)
        scanner.events.append(
            CallAbortedEvent(scanner.here(), call.index, call.name, tuple(call.raw), broken.code)
        )
        if broken.code == "truncated-call":
            scanner.emit_markup(len(scanner.held))
        elif form.skip is not None:
            match = yield from scanner.until(form.skip, scanner.emit_unexpected)
            if match is not None:
                scanner.emit_markup(match.end() - match.start())


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
