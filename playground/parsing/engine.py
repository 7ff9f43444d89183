"""The engine that reads every declared dialect: text in, events out, no I/O and no clock.

Its words (walk, form, claim, draft …) are explained in `__init__.py`. The model's text never raises
an exception: a call that cannot be read gives a finding and an aborted call.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from typing import Final, assert_never

from playground.nouns.events import Event, ReasoningEvent
from playground.nouns.tools import ToolMetadata
from playground.parsing.calls import CallReader, opener_message
from playground.parsing.choice import ROLES, Choice, Group, Kind, Mark, is_mark
from playground.parsing.choice_point import ChoicePoint, choice_point
from playground.parsing.claims import Claim
from playground.parsing.declaration import Declaration, Markers
from playground.parsing.drafts import DraftCall
from playground.parsing.form import Form
from playground.parsing.marker import Marker
from playground.parsing.notations import notation_of
from playground.parsing.patterns import CONTEXT
from playground.parsing.plan import Plan, compile_plan
from playground.parsing.scanner import Scanner, Walk
from playground.parsing.state import ParserState
from playground.parsing.switches import Switches
from playground.parsing.template import declared_text

_MEMBER_VALUE_START: Final = re.compile(r'":\s{0,6}\Z|":\s?\[\s{0,4}\Z')
_WORD_BEFORE_JSON: Final = re.compile(r"[^{\"']*?[^\W\d_]")  # an opener with a word before its JSON
_MOST_RETURNS: Final = 8  # to a closer of reasoning that a broken call has swallowed
_LINE_END: Final = choice_point(Choice(r"[ \t\r]{0,16}+(?:\n|\Z)", varying=True))


class SyntaxEngine:
    """An engine for one stretch of a reply's text: a native call, or reasoning in a field of its
    own, ends a stretch. `calls` is the number of calls before it."""

    def __init__(
        self,
        syntax: Declaration,
        markers: Markers,
        switches: Switches,
        tools: Sequence[ToolMetadata],
        *,
        offset: int = 0,
        calls: int = 0,
    ) -> None:
        self.syntax, self.markers, self.switches = syntax, markers, switches
        by_name = {tool.name: tool for tool in tools}
        names = tuple(by_name) if syntax.depends_on_tool_names else ()
        self.plan: Plan = compile_plan(syntax, markers, switches, names)
        self.scanner = Scanner(offset)
        tokens = (*markers.stops, *markers.dropped)
        self.reader = CallReader(self.scanner, by_name, calls, switches, tokens)
        self.reader.declared_call = syntax.call
        self.mode = "text"
        self._section: Form | None = None  # the section that is open
        self._section_opener = ""  # the section's opener, as the model wrote it
        self._bare_section = False  # True if the opener of a section without calls was read as text
        self._after_call = False  # True right after a call
        self._after_remains = False  # True after a remnant of a call: text or a lone closer
        self._in_pieces = False  # True if the rest of a broken call's JSON may follow here
        self.draft: DraftCall | None = None  # calls in open reasoning, held back
        self._noted_between = False  # True once text between the calls of a section was noted
        # True after a separator, False after a call; None before a section's first call
        self._separated: bool | None = None
        self._returns = 0  # how often the walk has gone back into a draft
        self._steps: Generator[None, None, None] = self._walk_stream()

    def feed(self, text: str) -> list[Event]:
        scanner = self.scanner
        scanner.add(text)
        next(self._steps, None)  # read until the text is used up
        if self.draft is not None:
            return self.draft.take_earlier_events()
        events, scanner.events = scanner.events, []
        return events

    def finish(self) -> list[Event]:
        self.scanner.ended = True
        return self.feed("")

    @property
    def state(self) -> ParserState:
        call, held = self.reader.open_call, self.scanner.held_text
        if call is None:
            return ParserState(self.mode, held=held)
        return ParserState(self.mode, call.index, call.name, self.reader.argument, held)

    @property
    def calls(self) -> int:
        """The number of calls so far, those before this stretch of text included."""
        return self.reader.count

    # the outermost walk: text, and the markers that interrupt it

    def _walk_stream(self) -> Walk[None]:
        scanner = self.scanner
        if self.plan.opened and scanner.offset <= 0:
            opener = yield from scanner.match_here(self.plan.opened)
            if opener:
                scanner.emit_marker(opener, "reasoning")
            yield from self._read_reasoning(0, announced=opener is not None)
        while True:
            marker = yield from self._next_marker()
            if self.draft and (marker is None or self._ends_draft(marker)):
                yield from self._end_draft(self.draft, marker)
                continue
            if marker is None:
                break
            group = marker.group
            assert group is not None
            if self._is_member(marker, group):
                self._emit_text(1)  # past its first character, so that it is not found again
            elif is_mark(group.kind):
                self._claim_mark(group.kind, group.number, marker)
            else:
                yield from self._read_after_marker(marker, group)
        self._end_section("the reply ends")

    def _next_marker(self) -> Walk[Marker | None]:
        """Claim the text before the next marker, and return the marker; None at the reply's end."""
        scanner, section = self.scanner, self._section
        after_remains, self._after_remains = self._after_remains, False
        after_call, self._after_call = self._after_call, False
        # after a marker and after prose, different choices count
        point_here = section and (section.after_text if after_remains else section.after_marker)
        if section and point_here:
            marker = yield from scanner.match_here(point_here)
            if marker is not None:
                return marker
            cut = None if after_remains else scanner.cut_here(point_here)
            if cut is not None and _has_closer(section):
                scanner.emit_marker(cut, "section")
            elif after_call and section.half_closer:
                half = yield from scanner.match_here(section.half_closer)
                if half is not None:
                    message = f"the closer begins twice, with {half.text.strip()!r}: read as one"
                    scanner.note("mended-form", message=message)
                    scanner.emit_marker(half, "section")
        point = (section and section.between) or self.plan.text
        if section is None or self._noted_between:
            return (yield from scanner.until(point, self._text_claim))
        start = scanner.offset
        marker = yield from scanner.until(point, self._text_claim)
        if marker and scanner.offset > start and _has_closer(section):
            self._noted_between = True
            scanner.note("mended-form", message="text between the calls of a section")
        return marker

    def _read_after_marker(self, marker: Marker, group: Group) -> Walk[None]:
        """Read on after a marker in text, or between the calls of a section."""
        kind, number = group
        match kind:
            case Kind.CALL | Kind.UNREADABLE:
                form = self.plan.form(number)
                yield from self._read_calls(marker, form, has_body=kind is Kind.CALL)
            case Kind.LOOKALIKE:
                yield from self._read_lookalike(marker, self.plan.form(number))
            case Kind.FENCE:
                yield from self._read_fence(marker)
            case Kind.THINK:
                self.scanner.emit_marker(marker, "reasoning")
                yield from self._read_reasoning(number)
            case Kind.PLAIN:
                self.scanner.emit_marker(marker, "text")
                yield from self._read_plain(number)
            case Kind.BARE_SECTION | Kind.BARE_CALL:
                self._bare_section |= kind is Kind.BARE_SECTION
                message = f"no call follows {_quoted(marker)}: kept as text; "
                message += f"a call is written {self.syntax.call.strip()!r:.120}"
                self.scanner.note("bare-opener", message=message)
                self._emit_text(marker.size)
            case Kind.BARE_BODY | Kind.BARE_CLOSE:
                self._note_remnant(kind, marker, self.plan.form(number))
                self._emit_text(marker.size)
            case Kind.SECTION_CLOSE:
                yield from self._close_section(marker, self.plan.form(number))
            case _:
                raise AssertionError(f"{kind} is expected only inside a call or tags")

    def _note_remnant(self, kind: Kind, marker: Marker, form: Form) -> None:
        """Note a closer, a body or a header without its opener."""
        if kind is Kind.BARE_CLOSE:
            self.scanner.note("orphan-closer", message=_closes_nothing(marker))
            return
        first = declared_text(self.syntax.call_template.before[:1])
        first = first or next(iter(form.syntax.openers), "")
        expected = (
            f"{first.strip()!r} must come before it"
            if first
            else "it is outside of all calls of this form"
        )
        message = f"{_quoted(marker)} looks like a part of a call, but {expected}: kept as text"
        self.scanner.note("missing-opener", message=message)

    def _is_member(self, marker: Marker, group: Group) -> bool:
        """Return True if a text that looks like a call is the value of a JSON member in the rest of
        a broken call.

        The text may also be a list of calls, or the first call in such a list. A call with words in
        its opener is a real call: the broken call was cut off before it.
        """
        kind, number = group
        is_call = kind in (Kind.CALL, Kind.SECTION) and not _WORD_BEFORE_JSON.match(marker.text)
        if not is_call or not (self._in_pieces or marker.text.strip() == "["):
            return False
        if not notation_of(self.plan.form(number).syntax).proves_itself:
            return False
        scanner = self.scanner
        return bool(
            _MEMBER_VALUE_START.search(scanner.text[max(scanner.at - CONTEXT, 0) : scanner.at])
        )

    def _claim_mark(self, kind: Mark, number: int, marker: Marker) -> None:
        """Claim a marker after which nothing has to be read."""
        scanner, role = self.scanner, ROLES[kind]
        match kind:
            case Kind.SECTION:
                self._open_section(marker, self.plan.form(number))
            case Kind.RESULT:
                # the program writes results; a model that writes one makes it up
                message = f"{_quoted(marker)} begins a tool's result, and the model wrote it"
                scanner.note("fabricated-result", message=message)
                self._emit_text(marker.size)
                return
            case Kind.DROPPED if marker.text == self.markers.result:
                scanner.note("fabricated-result")
            case Kind.DROPPED if any(o.startswith(marker.text) for o in self.syntax.openers):
                scanner.note("bare-opener", message="a token that begins calls: left out")
            case Kind.DROPPED if marker.text in self.syntax.closers:
                scanner.note("orphan-closer", message=_closes_nothing(marker))
            case Kind.THINK_CLOSE:
                message = f"{_quoted(marker)} closes reasoning, and none is open"
                scanner.note("orphan-closer", message=message)
            case Kind.STOP:
                self._end_section(_quoted(marker))
            case Kind.DROPPED | Kind.SPACE:
                pass
            case _:
                assert_never(kind)
        scanner.emit_marker(marker, role)

    def _open_section(self, marker: Marker, form: Form) -> None:
        if marker.named.get("doubled"):
            self.scanner.note("doubled-opener", message=f"{_quoted(marker)}: read as one opener")
        if marker.named.get("slip") is not None:
            message = opener_message(marker, form.syntax.section)
            self.scanner.note("mended-opener", message=message)
        elif not marker.well_formed and not marker.named.get("doubled"):
            sections = form.syntax.well_formed_sections
            self.scanner.note_form(marker, *(section.before for section in sections))
        if self._section is not None:
            self._end_section(f"the next section, {_quoted(marker)}")
        self._section, self._bare_section, self._noted_between = form, False, False
        self._section_opener = marker.text
        self._separated = None
        recipient = marker.named.get("recipient")
        # models also repeat the section's own tag in place of a tool's name
        self.reader.recipient = None if f"<{recipient}>" in form.syntax.section else recipient

    def _end_section(self, place: str) -> None:
        """End the section that is open, if any, and note its missing closer. `place` says in words
        what comes in place of it."""
        section, self._section = self._section, None
        if section and _has_closer(section):
            closer = _closer_after(self._section_opener, section)
            message = f"{closer!r} must end the section of the calls before {place}"
            self.scanner.note("unclosed-section", message=message)

    def _close_section(self, marker: Marker, form: Form) -> Walk[None]:
        """Claim the end of a section, and the separator before the next one.

        If the section has no call, its closer is text, like its opener.
        """
        orphan, self._section, self._in_pieces = self._section is None, None, False
        if not orphan:
            self._note_separator(form, follows=False)
            if not marker.well_formed:
                sections = form.syntax.well_formed_sections
                self.scanner.note_form(marker, *(section.after for section in sections))
        if orphan:
            self.scanner.note("orphan-closer", message=_closes_nothing(marker))
            if self._bare_section:
                self._bare_section = False
                self._emit_text(marker.size)
                return
        self.scanner.emit_marker(marker, "stray" if orphan else "section")
        yield from self._claim_separator(form)

    @property
    def _text_claim(self) -> Claim:
        """The claim for text: as content, or after a call as the switch `text_after_calls` says."""
        if not self.calls or self.switches.text_after_calls == "text":
            return self.scanner.emit_text
        return self.scanner.emit_text_after_call

    def _emit_text(self, count: int) -> None:
        self._after_remains = True
        self._text_claim(count)

    def _read_lookalike(self, opener: Marker, form: Form) -> Walk[None]:
        """Read what looks like a call of an unknown tool, as text.

        Note a finding only if a tool of the session seems to be meant, because any tag in prose
        could be a misspelt name.
        """
        scanner, name, start = self.scanner, opener.named["name"], self.scanner.offset
        key = opener.named.get("key")
        likely = self.reader.likely_tool(name, key)
        # `[f(key=` is more than a tag, so no similar tool is needed
        is_meant = bool(likely) or (form.syntax.section_required and key is not None)
        if not is_meant or form.lookalike_end is None:
            self._emit_text(1)  # past its first character, so that it is not found again
            return
        self._emit_text(opener.places["name"][1])
        point = form.lookalike_end

        def closes_it(marker: Marker) -> bool:
            return marker.named.get("close_name") in (None, name)

        marker = yield from scanner.until(point, self._text_claim, closes_it)
        if marker is not None and marker.kind is Kind.CLOSE:
            self._emit_text(marker.size)
        if not likely and (yield from scanner.match_here(_LINE_END)) is None:
            return  # `[f(x=1)] is a list` is prose
        suggestion = f" ({likely} is)" if likely else ""
        message = f"{name!r} is none of the session's tools{suggestion}: kept as text"
        scanner.note("unknown-tool", f"characters {start} to {scanner.offset}", message)

    def _read_fence(self, opener: Marker) -> Walk[None]:
        """Read a code fence as text. A call in it is an example, and noted as a finding."""
        scanner, fence = self.scanner, opener.text
        self.mode = "code fence"
        self._emit_text(len(fence))
        while True:
            marker = yield from scanner.until(self.plan.fenced, self._text_claim)
            if marker is None:
                break
            if marker.kind is not Kind.FENCE:
                scanner.note("call-in-fence")
                self._emit_text(1)  # past its first character, so that it is not found again
                continue
            self._emit_text(marker.size)
            if marker.text.startswith(fence):  # the closer repeats the opener
                break
        self.mode = "text"

    def _read_plain(self, index: int) -> Walk[None]:
        """Read text between the `plain` tags at `index`, up to its closer or a stop token."""
        point = self.plan.plain[index]
        while True:
            marker = yield from self.scanner.until(point, self._text_claim)
            if marker is None:
                return
            kind = marker.kind
            self.scanner.emit_marker(marker, "text" if kind is Kind.CLOSE else ROLES[kind])
            if kind is not Kind.DROPPED:
                return

    def _read_reasoning(self, index: int, announced: bool = True) -> Walk[None]:
        """Read reasoning of the tags at `index`, up to its closer. Empty reasoning needs no closer,
        unless an opener `announced` it."""
        scanner, start, noted = self.scanner, self.scanner.offset, False
        tags, point = self.markers.reasoning[index], self.plan.reasoning[index]
        never_calls = self.switches.calls_in_reasoning == "reasoning"
        self.mode = "reasoning"
        while True:
            marker = yield from scanner.until(point, scanner.emit_reasoning)
            kind = marker.kind if marker else None
            if marker is None:
                break
            if kind is Kind.DROPPED:
                scanner.emit_marker(marker, "stray")
            elif kind not in (Kind.CLOSE, Kind.STOP) and tags.close and never_calls:
                if not noted:
                    scanner.note("draft-in-reasoning")
                noted = True
                scanner.emit_reasoning(1)  # past its first character: it is not found again
            else:
                break
        self.mode = "text"
        if marker and kind is Kind.CLOSE:
            yield from self._close_reasoning(marker)
            return
        # The outer walk claims any other marker. A stop token may end reasoning.
        if not tags.close or not (announced or scanner.offset > start) or kind is Kind.STOP:
            return
        if marker and self.switches.calls_in_reasoning == "unclosed":
            self._begin_draft(index)
        if marker:
            message = f"{tags.close!r} must close the reasoning before a call: delivered without it"
            scanner.note("call-in-reasoning", message=message)
        else:
            message = f"the reply ends inside reasoning, before its closer {tags.close!r}"
            scanner.note("unclosed-reasoning", message=message)

    def _close_reasoning(self, closer: Marker) -> Walk[None]:
        scanner = self.scanner
        scanner.emit_marker(closer, "reasoning")
        # text begins here, so a fence may open here as at the start of a line
        fence = (yield from scanner.match_here(self.plan.fence)) if self.plan.fence else None
        if fence is not None:
            yield from self._read_fence(fence)

    # drafts: see drafts.py

    def _begin_draft(self, index: int) -> None:
        """Hold back all events from here on: a call begins inside the reasoning tags at `index`."""
        scanner = self.scanner
        self.draft = DraftCall(index, scanner.offset, self.calls, scanner.events)
        scanner.events = self.draft.events

    def _ends_draft(self, marker: Marker) -> bool:
        """Return True if a marker decides on the open draft: it closes the reasoning, begins new
        reasoning or ends the turn."""
        assert self.draft is not None
        closer = self.markers.reasoning[self.draft.number].close
        is_closer = marker.kind is Kind.THINK_CLOSE and marker.text.strip() == closer
        return is_closer or marker.kind in (Kind.THINK, Kind.STOP)

    def _end_draft(self, draft: DraftCall, marker: Marker | None) -> Walk[None]:
        """Read the draft as reasoning if `marker` closes reasoning after it; else emit its events.

        A call that broke off may have swallowed the closer: the walk then goes back to the closer.
        """
        scanner, closer = self.scanner, self.markers.reasoning[draft.number].close
        # at most `_MOST_RETURNS` times, because the following text is read again
        place = draft.find_closer(closer) if self._returns < _MOST_RETURNS else -1
        if place < 0 and (marker is None or marker.kind is not Kind.THINK_CLOSE):
            scanner.events, self.draft = draft.earlier_events + draft.events, None
            return
        text = draft.text
        if place >= 0:
            self._returns += 1
            scanner.go_back(text, place)
            text = text[:place]
        scanner.events, self.draft = draft.earlier_events, None
        self.reader.count, self._section = draft.calls, None
        draft.forget_ids(self.reader.ids)
        self._after_remains = self._in_pieces = self._bare_section = False
        scanner.events.append(ReasoningEvent(draft.offset, text))
        message = f"a call ({draft.names}) in reasoning that is closed after it: kept as reasoning"
        scanner.note("draft-in-reasoning", f"character {draft.offset}", message)
        if place < 0 and marker is not None:
            yield from self._close_reasoning(marker)
        else:
            scanner.emit_markup(len(closer), "reasoning")

    def _read_calls(self, marker: Marker, form: Form, has_body: bool = True) -> Walk[None]:
        """Read the calls between one pair of markers, and the separator after them."""
        self.mode = "call"
        section, is_next = self._section, self._separated is not None
        if section is None:
            if form.syntax.section and not form.syntax.section_optional and has_body:
                message = f"{form.syntax.section.strip()!r:.100} must surround the calls"
                self.scanner.note("missing-section", message=f"{message}: delivered without it")
        else:
            if section is form:
                self._note_separator(form, follows=True)
            if is_next and section.syntax.one_call_a_section:
                self.scanner.note("mended-form", message="another call in a section for one call")
        yield from self.reader.read(marker, form, section is not None, has_body=has_body)
        self.mode = "text"
        has_next = False
        self._after_call, self._in_pieces = True, self.reader.in_pieces
        if self._in_pieces:
            self._after_remains = True  # an object that follows is part of the broken call
        else:
            if form.repeated_closer:
                yield from self._claim_repeated_closer(form.repeated_closer)
            has_next = yield from self._claim_separator(form)
        self._separated = has_next
        if section is form and not has_next and not _has_closer(form):
            self._section = None  # a section without a closer ends with its last call

    def _claim_repeated_closer(self, point: ChoicePoint) -> Walk[None]:
        """Claim the second of two equal closers as a stray marker, because it closes nothing."""
        marker = yield from self.scanner.match_here(point)
        if marker is not None:
            self._after_remains = True
            message = f"{_quoted(marker)} occurs twice: the second one closes nothing"
            self.scanner.note("orphan-closer", message=message)
            self.scanner.emit_marker(marker, "stray")

    def _note_separator(self, form: Form, follows: bool) -> None:
        """Note a missing separator if a call `follows`, or else one after the last call."""
        if self._separated is None or self._separated is follows:
            return
        separator = form.syntax.separator.strip()
        if not separator:
            return
        place = "must stand between two calls" if follows else "stands after the last call"
        self.scanner.note("mended-form", message=f"{separator!r} {place}")

    def _claim_separator(self, form: Form) -> Walk[bool]:
        marker = yield from self.scanner.match_here(form.separator)
        if marker is not None:
            self.scanner.emit_marker(marker, "separator")
        return marker is not None


def _quoted(marker: Marker) -> str:
    return f"{marker.text.strip()!r:.60}"


def _closes_nothing(marker: Marker) -> str:
    return f"{_quoted(marker)} closes nothing: what it would close is not open"


def _has_closer(form: Form) -> bool:
    section = form.syntax.section_template
    return bool(section and section.after)


def _closer_after(opener: str, form: Form) -> str:
    """Return the closer that belongs to a section's opener: each form of a section has its own."""
    sections = form.syntax.sections
    begun = (s for s in sections if opener.strip().startswith(declared_text(s.before)))
    return declared_text(next(begun, sections[0]).after)
