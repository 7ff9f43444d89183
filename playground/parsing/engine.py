"""The one engine that reads every declared dialect: bytes in, events out, no I/O and no clock.

It walks the same pieces that rendering.py fills. What the model wrote never raises: a call that
cannot be read ends in a finding and an aborted call.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from playground.events import (
    ArgumentEvent,
    CallAbortedEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
)
from playground.parsing import json_walk
from playground.parsing.grammar import Grammar, Markers, Switches, compile_grammar
from playground.parsing.json_walk import BrokenJson
from playground.parsing.scanner import Match, Scanner, Steps, drain
from playground.parsing.state import ParserState
from playground.parsing.syntax import JsonShape, Syntax
from playground.parsing.values import load_json, read_value
from playground.tools import ToolMetadata

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

    def schema_of(self, key: str) -> dict[str, Any]:
        return self.tool.parameter_schema(key) if self.tool else {}


class SyntaxEngine:
    """Reads one stretch of text. `calls` is the number of calls seen before it."""

    def __init__(
        self,
        syntax: Syntax,
        markers: Markers,
        switches: Switches,
        tools: Sequence[ToolMetadata],
        *,
        offset: int = 0,
        calls: int = 0,
    ) -> None:
        self.syntax, self.markers, self.switches = syntax, markers, switches
        self.tools = {tool.name: tool for tool in tools}
        names = tuple(self.tools) if syntax.known_names else ()
        self.grammar: Grammar = compile_grammar(syntax, markers, switches, names)
        self.scanner = Scanner(offset)
        self.calls = calls
        self.mode = "text"
        self.open_call: OpenCall | None = None
        self.argument: str | None = None
        self._in_section = False
        self._steps: Generator[None, None, None] | None = self._stream()

    def feed(self, text: str) -> list[Event]:
        self.scanner.add(text)
        return self._advance()

    def finish(self) -> list[Event]:
        self.scanner.ended = True
        return self._advance()

    @property
    def state(self) -> ParserState:
        call = self.open_call
        return ParserState(
            self.mode,
            call.index if call else None,
            call.name if call else None,
            self.argument,
            self.scanner.held,
        )

    def _advance(self) -> list[Event]:
        if self._steps is not None and drain(self._steps):
            self._steps = None
        events, self.scanner.events = self.scanner.events, []
        return events

    # the outermost walk: text, with whatever interrupts it

    def _stream(self) -> Steps[None]:
        scanner = self.scanner
        while True:
            wait = self.grammar.section if self._in_section else self.grammar.text
            match = yield from scanner.until(wait, scanner.emit_text)
            if match is None:
                break
            yield from self._interrupted(match)
        if self._in_section and self.syntax.section_template and self.syntax.section_template.after:
            scanner.note("unclosed-section")

    def _interrupted(self, match: Match) -> Steps[None]:
        kind = match.lastgroup or ""
        length = match.end() - match.start()
        if kind == "call":
            yield from self._calls(match)
        elif kind == "fence":
            yield from self._fence(match)
        elif kind.startswith("think_") and kind != "think_close":
            self.scanner.emit_markup(length)
            yield from self._reasoning(int(kind.removeprefix("think_")))
        elif kind == "result":
            self.scanner.note("fabricated-result")
            self.scanner.emit_text(length)
        else:
            self._mark(kind, length)
            if kind == "section_close":
                yield from self._between()

    def _mark(self, kind: str, length: int) -> None:
        """A marker that is no more than that: it may open or close a section."""
        orphan = kind == "think_close" or (kind == "section_close" and not self._in_section)
        if orphan:
            self.scanner.note("orphan-closer")
        if kind == "section":
            self._in_section = True
        elif kind in ("section_close", "stop"):
            self._in_section = False
        self.scanner.emit_markup(length)

    def _fence(self, opened: Match) -> Steps[None]:
        """A code fence: all of it is text, and a call in it is an example, with a finding."""
        scanner, fence = self.scanner, opened["fence"]
        self.mode = "code fence"
        scanner.emit_text(len(fence))
        while True:
            match = yield from scanner.until(self.grammar.fenced, scanner.emit_text)
            if match is None:
                break
            if match.lastgroup != "fence":
                scanner.note("call-in-fence")
                scanner.emit_text(1)
                continue
            closes = match["fence"][0] == fence[0] and len(match["fence"]) >= len(fence)
            scanner.emit_text(len(match["fence"]))
            if closes:
                break
        self.mode = "text"

    def _reasoning(self, index: int) -> Steps[None]:
        scanner, tags = self.scanner, self.markers.reasoning[index]
        self.mode = "reasoning"
        match = yield from scanner.until(self.grammar.reasoning[index], scanner.emit_reasoning)
        self.mode = "text"
        if match is None:
            if tags.close:
                scanner.note("unclosed-reasoning")
        elif match.lastgroup == "close":
            scanner.emit_markup(match.end() - match.start())
        elif match.lastgroup != "stop" and tags.close:
            scanner.note("call-in-reasoning")

    # calls

    def _calls(self, match: Match) -> Steps[None]:
        """One call, and what separates it from the next one, if one follows."""
        yield from self._call(match)
        self.mode, self.open_call, self.argument = "text", None, None
        another = yield from self._between()
        section = self.syntax.section_template
        if section and not section.after and not another:
            self._in_section = False  # a section without a closer ends with its last call

    def _between(self) -> Steps[bool]:
        match = yield from self.scanner.match_here(self.grammar.separator)
        if match is not None:
            self.scanner.emit_markup(match.end() - match.start())
        return match is not None

    def _call(self, match: Match) -> Steps[None]:
        scanner = self.scanner
        call = OpenCall(self.calls, f"call_{self.calls + 1}")
        self.calls += 1
        self.open_call, self.mode = call, "call"
        groups = match.groupdict()
        if groups.get("id"):
            call.call_id = match["id"]
        scanner.events.append(CallStartedEvent(scanner.here(), call.index, call.call_id))
        self._open(match, call, named=bool(groups.get("name")))
        try:
            yield from self._body(call)
            self._deliver(call)
        except BrokenJson as broken:
            yield from self._abort(call, broken)

    def _open(self, match: Match, call: OpenCall, named: bool) -> None:
        scanner = self.scanner
        if named:
            scanner.emit_markup(match.start("name") - match.start())
            self._name(call, len(match["name"]), match["name"])
            scanner.emit_markup(match.end() - match.end("name"))
        else:
            scanner.emit_markup(match.end() - match.start())

    def _name(self, call: OpenCall, length: int, name: str) -> None:
        span, _ = self.scanner.take(length)
        call.name, call.tool = name, self.tools.get(name)
        self.scanner.events.append(CallNamedEvent(span, call.index, name))
        if self.tools and call.tool is None:
            known = ", ".join(self.tools)
            message = f"{call.name!r} is none of the session's tools ({known})"
            self.scanner.note("unknown-tool", f"call {call.index}", message)

    def _body(self, call: OpenCall) -> Steps[None]:
        body = self.syntax.call_template.body
        if body == "params":
            yield from self._params(call)
            return
        yield from self.scanner.skip_space()
        if body == "call:json":
            yield from self._object(call, self.syntax.shape, ())
        elif (yield from self.scanner.peek()) == "{":
            yield from self._json_arguments(call)
        if call.name is None:
            raise BrokenJson("missing-name")
        self._decode(call)
        yield from self._closer()

    def _closer(self) -> Steps[None]:
        """The marker after a JSON body. The call is whole without it: a repair, with a finding."""
        close, scanner = self.grammar.close, self.scanner
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
                raise BrokenJson("truncated-call")
            if char != '"':
                raise BrokenJson("malformed-json", f"a key in double quotes is due, not {char!r}")
            key = yield from self._key()
            yield from self._member(call, shape, (*path, key))

    def _key(self) -> Steps[str]:
        scanner, kept = self.scanner, list[str]()
        yield from json_walk.string(scanner, scanner.emit_markup, kept)
        yield from scanner.skip_space()
        char = yield from scanner.peek()
        if char != ":":
            code = "malformed-json" if char else "truncated-call"
            raise BrokenJson(code, f"a colon is due after a key, not {char!r}")
        scanner.emit_markup(1)
        yield from scanner.skip_space()
        return _unquoted("".join(kept))

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
                raise BrokenJson("missing-name", f"no name is longer than {NAME_LIMIT} characters")
            if stop >= 0:
                break
            if scanner.ended:
                raise BrokenJson("truncated-call")
            yield
        name = _unquoted(f'"{text}"')
        if not name:
            raise BrokenJson("missing-name")
        self._name(call, len(text), name)
        scanner.emit_markup(1)

    def _json_arguments(self, call: OpenCall) -> Steps[None]:
        kept: list[str] = []
        self.argument = "(JSON)"
        try:
            yield from json_walk.value(self.scanner, self._emit_argument(call, None), kept)
        finally:
            call.raw.append((None, "".join(kept)))
        self.argument = None

    def _decode(self, call: OpenCall) -> None:
        """Arguments from their raw text, once: absent and null ones are the empty object."""
        raw = call.raw[-1][1] if call.raw else "{}"
        value = _loaded(raw)
        if isinstance(value, str):
            value = _loaded(value) if value.strip() else None
            if isinstance(value, dict) and not self.syntax.shape.arguments_as_text:
                self.scanner.note("arguments-as-text", f"call {call.index}")
        if not isinstance(value, dict | None):
            raise BrokenJson("arguments-not-object")
        call.arguments = value or {}

    # parameter bodies

    def _params(self, call: OpenCall) -> Steps[None]:
        scanner, wait = self.scanner, self.grammar.next_param
        assert wait is not None
        while True:
            yield from scanner.skip_space()
            match = yield from scanner.until(wait, scanner.emit_unexpected, inside_call=True)
            if match is None:
                raise BrokenJson("truncated-call")
            length = match.end() - match.start()
            if match.lastgroup == "param":
                scanner.emit_markup(length)
                yield from self._param(call, match["key"])
            elif match.lastgroup != "close":  # another marker: the closer was forgotten
                scanner.note("missing-closer")
                return
            elif self._closes(match, call):
                scanner.emit_markup(length)
                return
            else:
                scanner.emit_unexpected(length)

    def _closes(self, match: Match, call: OpenCall) -> bool:
        return match.groupdict().get("close_name") in (None, call.name)

    def _param(self, call: OpenCall, key: str) -> Steps[None]:
        scanner, wait, kept = self.scanner, self.grammar.value, list[str]()
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
            raise BrokenJson("truncated-call")
        scanner.emit_markup(match.end() - match.start())
        self._set(call, key, text)
        self.argument = None

    def _set(self, call: OpenCall, key: str, text: str) -> None:
        place = f"call {call.index}, argument {key}"
        value, agrees = read_value(text, call.schema_of(key))
        if not agrees:
            self.scanner.note("type-mismatch", place)
        if key in call.arguments:
            self.scanner.note("duplicate-argument", place)
        call.arguments[key] = value

    # endings

    def _emit_argument(self, call: OpenCall, key: str | None) -> Callable[[int], None]:
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

    def _abort(self, call: OpenCall, broken: BrokenJson) -> Steps[None]:
        """Say why, keep what was read, and go on after the call's own closer."""
        scanner = self.scanner
        scanner.note(broken.code, f"call {call.index}", broken.message)
        scanner.events.append(
            CallAbortedEvent(
                scanner.here(), call.index, call.name, tuple(call.raw), broken.code
            )
        )
        if broken.code == "truncated-call":
            scanner.emit_markup(len(scanner.held))
        elif self.grammar.skip is not None:
            self.mode = "skipping a broken call"
            match = yield from scanner.until(self.grammar.skip, scanner.emit_unexpected)
            if match is not None:
                scanner.emit_markup(match.end() - match.start())


def _loaded(text: str) -> Any:
    try:
        return load_json(text)
    except RecursionError as error:
        raise BrokenJson("too-deep") from error
    except ValueError as error:
        raise BrokenJson("malformed-json", str(error)) from error


def _unquoted(text: str) -> str:
    try:
        value = load_json(text)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""
