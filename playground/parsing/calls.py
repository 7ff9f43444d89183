"""The reader of a call, from its opener to its closer; the call's notation reads the body."""

from __future__ import annotations

from html import unescape

from playground.base.findings import DECLARED
from playground.base.json_numbers import finite, is_finite, number_findings
from playground.nouns.events import (
    CallAbortedEvent,
    CallEndedEvent,
    CallStartedEvent,
    MarkupEvent,
    owned_text,
)
from playground.parsing.choice import Kind
from playground.parsing.choice_point import ChoicePoint
from playground.parsing.declaration import Declaration
from playground.parsing.form import Form
from playground.parsing.marker import Marker
from playground.parsing.notations import notation_of
from playground.parsing.open_call import BrokenCall, OpenCall
from playground.parsing.reader import Reader
from playground.parsing.scanner import Walk
from playground.parsing.template import declared_text


class CallReader(Reader):
    """A reader of calls. `open_call` is the call that it reads, `argument` the argument's key."""

    recipient: str | None = None  # the tool that the section's opener names
    declared_call = ""  # the form in which the dialect writes calls
    in_pieces = False  # True if the last call failed inside a JSON object, whose rest may follow
    _next_call: Marker | None = None  # the opener of the next call between the same markers
    _wrapped = False  # True if a list or a code fence surrounds the body

    def read(
        self, marker: Marker, form: Form, in_section: bool, has_body: bool = True
    ) -> Walk[None]:
        """Read the call whose opener has matched, and all others between the same markers.

        Each call is delivered or aborted, never dropped silently. `in_section` is True if a section
        is open around the calls. Without `has_body` the call is aborted at once.
        """
        self._wrapped = self.in_pieces = False
        yield from self._read_one(marker, form, in_section, has_body)
        while self._next_call is not None:
            opener, self._next_call = self._next_call, None
            yield from self._read_one(opener, form, in_section, has_body)

    def _read_one(self, marker: Marker, form: Form, in_section: bool, has_body: bool) -> Walk[None]:
        scanner = self.scanner
        groups, call_id = marker.named, f"call_{self.count + 1}"
        if form.syntax.id_form:
            call_id = form.syntax.id_at(groups["name"], groups["index"])
        call = OpenCall(
            self.count,
            groups.get("id") or call_id,
            in_section,
            self.switches.typing == "schema",
            form.restart,
        )
        self.open_call = call
        self.count += 1
        scanner.events.append(CallStartedEvent(scanner.here(), call.index, call.call_id))
        if not marker.well_formed:  # most openers are well-formed
            self._note_opener(marker, form.syntax, call.place)
        if form.syntax.slip:
            message = f"{form.syntax.call!r:.100}, which models write by mistake, is read"
            message += f"{DECLARED}{self.declared_call.strip()!r:.120}"
            scanner.note("mended-form", call.place, message)
        self._emit_opener(marker, call, form.syntax)
        self._note_wrapper(marker)
        try:
            if not has_body:
                values = notation_of(form.syntax).values
                message = (
                    f"after {marker.text.strip()!r:.60} the arguments must follow, as {values}"
                )
                raise BrokenCall("unreadable-call", message)
            if not groups.get("empty"):
                yield from self._read_body(call, form)
            self._deliver(call)
        except BrokenCall as broken:
            yield from self._abort(call, broken, form)
        self.open_call, self.argument = None, None

    def _note_opener(self, marker: Marker, syntax: Declaration, place: str) -> None:
        """Note an opener that is not written as declared."""
        scanner, groups = self.scanner, marker.named
        if groups.get("doubled"):
            message = f"{groups['doubled'].strip()!r} occurs twice: read as one"
            scanner.note("doubled-opener", place, message)
        if "unended" in groups or "slip" in groups:
            scanner.note("mended-opener", place, opener_message(marker, syntax.call))
        elif marker.kind and not groups.get("doubled") and not groups.get("wrapped"):
            scanner.note_form(marker, syntax.call_template.before, where=place)

    def _emit_opener(self, marker: Marker, call: OpenCall, syntax: Declaration) -> None:
        """Emit the opener as markup, except for the tool's name and the arguments in it."""
        scanner, at = self.scanner, 0
        if syntax.name:
            self.set_name(call, 0, syntax.name)
        for group, (start, stop) in marker.places.items():
            text = marker.named[group]
            if not text or not _holds_value(group):
                continue
            scanner.emit_markup(start - at)
            at = stop
            if group != "name":
                key = group.removeprefix("line_")
                self.emit_argument(call, key)(len(text))
                self.set_text(call, key, text)
            else:
                self.set_name(call, len(text), unescape(text) if syntax.escaped_names else text)
        scanner.emit_markup(marker.size - at)

    def _read_body(self, call: OpenCall, form: Form) -> Walk[None]:
        notation = notation_of(form.syntax)
        if not notation.ends_itself:
            yield from notation.read(self, call, form)
            return
        if not notation.keeps_space:
            while not self.scanner.skip_space():
                yield
        yield from notation.read(self, call, form)
        self._check_name(call, form.syntax)
        yield from self._read_closer(form)

    def _check_name(self, call: OpenCall, syntax: Declaration) -> None:
        """Find a name for a call that has none: in its arguments, if they are a complete call, or
        by their keys, if the syntax allows that. Otherwise set an empty name. Raises BrokenCall if
        the syntax requires a name."""
        if call.name is not None:
            return
        if not syntax.nameless:
            raise BrokenCall("missing-name")
        if self._read_inner_call(call, syntax):
            return
        name = self._infer_name(call) if syntax.nameless == "inferred" else ""
        if name:
            self.set_name(call, 0, name)
            self.scanner.note(
                "mended-name", call.place, f"the call has no name: read as a call of {name}"
            )
        else:
            call.name = ""
            self.scanner.note("missing-name", call.place, "a call without a tool's name")

    def _read_inner_call(self, call: OpenCall, syntax: Declaration) -> bool:
        """Read the arguments as a complete call, with name and arguments, if they are one. Return
        False if not."""
        rest = dict(call.arguments)
        name = rest.pop(syntax.shape.name[-1], None)
        objects = [rest.pop(key) for key in syntax.shape.aliases if key in rest]
        is_complete = (
            len(objects) == 1 and isinstance(objects[0], dict) and rest.keys() <= {"id", "type"}
        )
        if not isinstance(name, str) or not name or not is_complete:
            return False
        self.set_name(call, 0, name)
        call.arguments = objects[0]
        self.scanner.note(
            "arguments-wrapped", call.place, "the arguments are a complete call: it is read"
        )
        return True

    def _infer_name(self, call: OpenCall) -> str:
        """Return the only tool of the session, or the only one that takes these arguments; "" if
        there is no such tool."""
        keys = set(call.arguments)
        fits = [name for name, tool in self.tools.items() if keys <= tool.parameter_names]
        only = list(self.tools) if len(self.tools) == 1 else fits
        return only[0] if len(only) == 1 else ""

    def _read_closer(self, form: Form) -> Walk[None]:
        """Read the marker after a body that ends by itself.

        If the marker is missing, the call is complete all the same, and a finding notes the repair.
        In a list or a code fence, a call needs no closer if another call follows.
        """
        scanner, close = self.scanner, form.close
        if close is None:
            return
        marker = yield from scanner.match_here(close)
        if marker is not None:
            self._note_wrapper(marker)
            if not (marker.well_formed or marker.named.get("wrapped")):
                scanner.note_form(marker, form.syntax.call_template.after)
            scanner.emit_marker(marker)
            return
        if self._wrapped and (yield from self._find_next_call(form)):
            return
        surplus = yield from self._match_optional(form.surplus_brackets)
        if surplus is not None:
            start, stop = surplus.places["excess"]
            scanner.emit_markup(start)
            scanner.emit_unexpected(stop - start)
            scanner.emit_markup(surplus.size - stop)
            return
        closer = declared_text(form.syntax.call_template.after)
        scanner.note("missing-closer", message=f"{closer!r} must follow the call: read without it")
        yield from self._find_next_call(form)
        # the beginning of a closer at the very end can only be markup
        cut = scanner.cut_here(close)
        if cut is not None:
            scanner.emit_marker(cut)

    def _find_next_call(self, form: Form) -> Walk[bool]:
        """Match another call between the same markers, for `read`; return True if there is one."""
        self._next_call = yield from self._match_optional(form.next_call)
        return self._next_call is not None

    def _match_optional(self, point: ChoicePoint | None) -> Walk[Marker | None]:
        return (yield from self.scanner.match_here(point)) if point else None

    def _note_wrapper(self, marker: Marker) -> None:
        """Note, once, that a list or a code fence surrounds a call's body."""
        if marker.named.get("wrapped") and not self._wrapped:
            self._wrapped = True
            wrapper = "a code fence" if "```" in marker.named["wrapped"] else "a list"
            message = f"{wrapper} surrounds the call's body: the call is delivered"
            self.scanner.note("wrapped-body", message=message)

    # endings

    def _deliver(self, call: OpenCall) -> None:
        assert call.name is not None
        if call.in_section and self.recipient and not _is_recipient(self.recipient, call.name):
            message = f"the header names {self.recipient}, the call in it {call.name}"
            raise BrokenCall("other-recipient", message, is_complete=True)
        tool = call.known_tool
        if tool is not None and not tool.surely_takes(call.arguments):
            for about in tool.objections(call.arguments, call.place, call.typed):
                if about.code == "missing-argument" and self.switches.misfits == "text":
                    raise BrokenCall(about.code, about.message, is_complete=True)
                self.scanner.note(about.code, about.where, about.message)
        if not is_finite(call.arguments):
            for about in number_findings(call.arguments, call.place):
                self.scanner.note(about.code, about.where, about.message)
            call.arguments = finite(call.arguments)
        if call.call_id in self.ids:
            self.scanner.note("duplicate-id", call.place, f"id {call.call_id!r} is used twice")
        self.ids.setdefault(call.call_id, call.index)
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

    def _abort(self, call: OpenCall, broken: BrokenCall, form: Form) -> Walk[None]:
        """Emit the reason and the arguments read so far; skip the rest of the call."""
        scanner = self.scanner
        scanner.note(broken.code, call.place, broken.message)
        scanner.events.append(
            CallAbortedEvent(
                scanner.here(),
                call.index,
                call.name,
                tuple(call.raw),
                broken.code,
                argument_open=self._leaves_open(form),
            )
        )
        if broken.code == "truncated-call":
            scanner.emit_markup(len(scanner.held_text))
        elif form.recovery is not None and not broken.is_complete:
            marker = yield from scanner.until(form.recovery, scanner.emit_rest)
            if marker is not None and marker.kind is Kind.CLOSE:
                scanner.emit_marker(marker)
        else:
            self.in_pieces = broken.code == "malformed-json" and not call.body_ended

    def _leaves_open(self, form: Form) -> bool:
        """Return True if the last argument lacks its closer.

        A complete closer at the very end of the stream was emitted as mere markup, since it could
        have been the beginning of a longer marker. So the last markup is compared with the closer.
        """
        if self.argument is None or not form.syntax.param:
            return self.argument is not None
        closer = notation_of(form.syntax).closer_of(self.argument, form.syntax)
        last_event = next((e for e in reversed(self.scanner.events) if owned_text(e)), None)
        marker = last_event.text if isinstance(last_event, MarkupEvent) else ""
        return not closer or not marker.lstrip().startswith(closer)


def opener_message(marker: Marker, template: str) -> str:
    """Return the message that an opener is read although it is not written as its template says."""
    opener = template.partition("{params}")[0].partition("{args")[0].partition("{calls}")[0].strip()
    return f"{marker.text.strip()!r:.60} is read as {opener!r}"


def _holds_value(group: str) -> bool:
    """Return True if a group of an opener is the tool's name or an argument on its own line."""
    return group == "name" or group.startswith("line_")


def _is_recipient(recipient: str, name: str) -> bool:
    """Return True if a header's recipient is the called tool, or the tool's namespace."""
    return name in (recipient, recipient.rpartition(".")[2]) or name.startswith(f"{recipient}.")
