"""One call, walked piece by piece from its opener to its closer; see bodies.py for its inside."""

from __future__ import annotations

from playground.events import CallAbortedEvent, CallEndedEvent, CallStartedEvent
from playground.parsing.bodies import OpenCall
from playground.parsing.forms import Form
from playground.parsing.json_walk import BrokenCall
from playground.parsing.parameters import ParameterReader
from playground.parsing.patterns import Wait
from playground.parsing.scanner import Match, Steps
from playground.parsing.syntax import Syntax
from playground.parsing.texts import TextReader


class CallReader(ParameterReader, TextReader):
    """Reads calls from a scanner; `open_call` and `argument` say where it stands."""

    def read(self, match: Match, form: Form, in_section: bool) -> Steps[None]:
        """The call whose opener has matched: it ends delivered or aborted, never silently."""
        scanner = self.scanner
        typed = self.switches.typing == "schema"
        call_id = f"call_{self.count + 1}"
        call = OpenCall(self.count, call_id, in_section=in_section, typed=typed)
        self.open_call = call
        self.count += 1
        groups = match.groupdict()
        if groups.get("id"):
            call.call_id = match["id"]
        scanner.events.append(CallStartedEvent(scanner.here(), call.index, call.call_id))
        if groups.get("doubled"):
            scanner.note("doubled-opener", f"call {call.index}")
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
        if body not in ("args:python", "args:marked"):
            self._decode(call, shape)
        self._check_name(call, form)
        yield from self._closer(form.close)

    def _check_name(self, call: OpenCall, form: Form) -> None:
        if call.name is None and form.syntax.nameless:
            found = self._inferred(call) if form.syntax.nameless == "inferred" else ""
            call.name = found
            if found:
                self._name(call, 0, found)
            code = "mended-name" if found else "missing-name"
            said = f"its arguments fit {found} alone" if found else "a call without a tool's name"
            self.scanner.note(code, f"call {call.index}", said)
        if call.name is None:
            raise BrokenCall("missing-name")

    def _inferred(self, call: OpenCall) -> str:
        """The only tool that there is, or that takes these arguments."""
        given = set(call.arguments)
        fits = [name for name, tool in self.tools.items() if given <= set(tool.parameters)]
        only = list(self.tools) if len(self.tools) == 1 else fits
        return only[0] if len(only) == 1 else ""

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

    # endings

    def _deliver(self, call: OpenCall) -> None:
        assert call.name is not None
        missing = [key for key in call.required if key not in call.arguments]
        if missing and self.switches.misfits == "text":
            listed = ", ".join(missing)
            raise BrokenCall("missing-argument", f"{call.name} needs {listed}", whole=True)
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
        elif form.skip is not None and not broken.whole:
            match = yield from scanner.until(form.skip, scanner.emit_unexpected)
            if match is not None:
                scanner.emit_markup(match.end() - match.start())
