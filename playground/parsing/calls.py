"""One call, walked piece by piece from its opener to its closer; see bodies.py for its inside."""

from __future__ import annotations

from typing import Any, Final

from playground.events import CallAbortedEvent, CallEndedEvent, CallStartedEvent
from playground.parsing import elements, relaxed_json
from playground.parsing.bodies import BodyReader, OpenCall
from playground.parsing.grammar import Form
from playground.parsing.json_walk import BrokenCall
from playground.parsing.patterns import Wait
from playground.parsing.scanner import Match, Steps
from playground.parsing.syntax import Syntax
from playground.parsing.values import read_marked, read_value
from playground.tools import Schema, allowed_types


_WRAPPERS: Final = ("arguments", "parameters", "properties", "input")


class CallReader(BodyReader):
    """Reads calls from a scanner; `open_call` and `argument` say where it stands."""

    def read(self, match: Match, form: Form, in_section: bool) -> Steps[None]:
        """The call whose opener has matched: it ends delivered or aborted, never silently."""
        scanner = self.scanner
        call = OpenCall(self.count, f"call_{self.count + 1}", in_section=in_section)
        self.open_call = call
        self.count += 1
        groups = match.groupdict()
        if groups.get("id"):
            call.call_id = match["id"]
        scanner.events.append(CallStartedEvent(scanner.here(), call.index, call.call_id))
        self._open(match, call, form.syntax)
        try:
            yield from self._body(call, form)
            self._deliver(call)
        except BrokenCall as broken:
            yield from self._abort(call, broken, form)
        self.open_call, self.argument = None, None

    def _open(self, match: Match, call: OpenCall, syntax: Syntax) -> None:
        """The opener: markup, but for the tool's name and the arguments that stand in it."""
        scanner, start = self.scanner, match.start()
        held = {group: text for group, text in match.groupdict().items() if text}
        if syntax.name:
            self._name(call, 0, syntax.name)
        for group in sorted(held, key=match.start):
            key = group.removeprefix("line_")
            if group == "name" or key != group:
                scanner.emit_markup(match.start(group) - start)
                start = match.end(group)
            if group == "name":
                self._name(call, len(held[group]), held[group])
            elif key != group:
                self._emit_argument(call, key)(len(held[group]))
                self._set_text(call, key, held[group])
        scanner.emit_markup(match.end() - start)

    def _body(self, call: OpenCall, form: Form) -> Steps[None]:
        body, shape = form.syntax.call_template.body, form.syntax.shape
        if body == "params":
            yield from self._params(call, form)
            return
        if body == "texts":
            yield from self._texts(call, form)
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

    # bodies of texts

    def _texts(self, call: OpenCall, form: Form) -> Steps[None]:
        template = form.syntax.call_template
        for key, pieces, wait in zip(template.texts, template.between, form.texts, strict=True):
            text, match = yield from self._text(call, key, wait)
            if match is None and pieces:
                call.raw.append((key, text))
                raise BrokenCall("truncated-call")
            if pieces and match:
                self.scanner.emit_markup(match.end() - match.start())
            cut = not pieces and match is None
            if cut and not text.strip():
                raise BrokenCall("truncated-call")
            if form.syntax.objects and (not text.strip() or text.lstrip().startswith("{")):
                call.raw.append((None, text or "{}"))
                self._decode_text(call, form, cut)
            else:
                self._set_text(call, key, text if pieces else text.strip())
                if cut:
                    self.scanner.note("open-ended", f"call {call.index}")
        self.argument = None

    def _decode_text(self, call: OpenCall, form: Form, cut: bool) -> None:
        try:
            self._decode(call, form.syntax.shape)
        except BrokenCall as broken:
            raise BrokenCall("truncated-call") if cut else broken from broken

    def _text(self, call: OpenCall, key: str, wait: Wait) -> Steps[tuple[str, Match | None]]:
        """An argument's text, and what ends it."""
        kept: list[str] = []
        emit, self.argument = self._emit_argument(call, key), key

        def keep(count: int) -> None:
            kept.append(self.scanner.text[self.scanner.at : self.scanner.at + count])
            emit(count)

        def own(match: Match) -> bool:
            return self._closes(match, call)

        match = yield from self.scanner.until(wait, keep, own, inside_call=True)
        return "".join(kept), match

    def _set_text(self, call: OpenCall, key: str, text: str) -> None:
        call.raw.append((key, text))
        self._set(call, key, text, agrees=True)

    # parameter bodies

    def _params(self, call: OpenCall, form: Form) -> Steps[None]:
        scanner, wait = self.scanner, form.next_param
        assert wait is not None
        while True:
            if form.close is None and not (yield from self._another(call, wait)):
                return
            yield from scanner.skip_space()
            match = yield from scanner.until(wait, scanner.emit_unexpected, inside_call=True)
            if match is None:
                return self._completed(call)
            length = match.end() - match.start()
            kind = wait.kind(match)
            if kind == "param":
                scanner.emit_markup(length)
                yield from self._param(call, match, form)
            elif kind != "close":  # another marker: the closer was forgotten
                scanner.note("missing-closer")
                return
            elif self._closes(match, call):
                scanner.emit_markup(length)
                self._unwrap(call)
                return
            else:
                scanner.emit_unexpected(length)

    def _another(self, call: OpenCall, wait: Wait) -> Steps[bool]:
        """Whether a parameter follows: a call without a closer ends with its last one."""
        match = yield from self.scanner.match_here(wait)
        if match is None and call.in_section and self.scanner.ended:
            self._completed(call)
        return match is not None and wait.kind(match) == "param"

    def _completed(self, call: OpenCall) -> None:
        """The stream ends behind a parameter: the call is whole if the tool has no further one."""
        if call.tool is None or not call.arguments or call.properties - set(call.arguments):
            raise BrokenCall("truncated-call")
        self.scanner.note("missing-closer")

    def _closes(self, match: Match, call: OpenCall) -> bool:
        return match.groupdict().get("close_name") in (None, call.name)

    def _follows(self, call: OpenCall, key: str, following: str, form: Form) -> bool:
        """Whether a parameter's opener inside a value is the next parameter, not the value's own:
        the tool has it and nobody has given it yet, or the opener is a control token."""
        if following == key or following in call.arguments:
            return False
        return form.syntax.reserved if call.tool is None else following in call.properties

    def _param(self, call: OpenCall, opener: Match, form: Form) -> Steps[None]:
        scanner, kept, groups = self.scanner, list[str](), opener.groupdict()
        key, wait = groups["key"], form.value
        assert wait is not None
        emit, self.argument = self._emit_argument(call, key), key

        def keep(count: int) -> None:
            kept.append(scanner.text[scanner.at : scanner.at + count])
            emit(count)

        def own(match: Match) -> bool:
            found = match.groupdict()
            if found.get("next_key"):
                return self._follows(call, key, found["next_key"], form)
            return found.get("close_key") in (None, key)

        match = yield from scanner.until(wait, keep, own, inside_call=True)
        text = "".join(kept)
        call.raw.append((key, text))
        if match is None:
            raise BrokenCall("truncated-call")
        if wait.kind(match) == "forgotten":
            scanner.note("missing-closer", f"call {call.index}, argument {key}")
        scanner.emit_markup(match.end() - match.start())
        kind = groups.get("type") or groups.get("is_text")
        if self._has_elements(text, call.schema_of(key), form.syntax.element):
            value, agrees = self._elements(call, key, text, form.syntax.element)
        elif kind:
            value, agrees = read_marked(text, kind in ("string", "true"), call.schema_of(key))
        else:
            value, agrees = read_value(text, call.schema_of(key), form.syntax.untyped)
        self._set(call, key, value, agrees)
        self.argument = None

    def _has_elements(self, text: str, schema: Schema, prefix: str) -> bool:
        return bool(prefix) and (
            not text or (f"{prefix}<" in text and "string" not in allowed_types(schema))
        )

    def _elements(self, call: OpenCall, key: str, text: str, prefix: str) -> tuple[Any, bool]:
        try:
            return elements.read(text, call.schema_of(key), prefix), True
        except ValueError:
            return read_value(text, call.schema_of(key))

    def _unwrap(self, call: OpenCall) -> None:
        """Arguments that came as an object inside one argument which the tool does not have."""
        if len(call.arguments) != 1 or call.tool is None:
            return
        ((key, value),) = call.arguments.items()
        if key not in _WRAPPERS or key in call.properties:
            return
        if isinstance(value, str) and value.lstrip().startswith("{"):
            value = _read_object(value)
        if isinstance(value, dict) and value and set(value) <= call.properties:
            call.arguments = value
            self.scanner.note("arguments-wrapped", f"call {call.index}")

    def _set(self, call: OpenCall, key: str, value: Any, agrees: bool) -> None:
        place = f"call {call.index}, argument {key}"
        if not agrees:
            self.scanner.note("type-mismatch", place)
        if key in call.arguments:
            self.scanner.note("duplicate-argument", place)
        call.arguments[key] = value

    # endings

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


def _read_object(text: str) -> Any:
    try:
        return relaxed_json.load(text)
    except (ValueError, RecursionError):
        return None
