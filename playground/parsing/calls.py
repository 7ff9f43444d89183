"""One call, walked piece by piece from its opener to its closer; see bodies.py for its inside."""

from __future__ import annotations

from typing import Any

from playground.events import CallAbortedEvent, CallEndedEvent, CallStartedEvent
from playground.parsing.bodies import BodyReader, OpenCall
from playground.parsing.grammar import Form
from playground.parsing.json_walk import BrokenCall
from playground.parsing.patterns import Wait
from playground.parsing.scanner import Match, Steps
from playground.parsing.values import read_marked, read_value


class CallReader(BodyReader):
    """Reads calls from a scanner; `open_call` and `argument` say where it stands."""

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
        if wait.kind(match) == "forgotten":
            scanner.note("missing-closer", f"call {call.index}, argument {key}")
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
