"""The parser's public face: bytes and native deltas in, events out.

The characters of native calls take their places in the stream in the order of arrival, so that
spans tile a mixed stream too.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from playground.events import (
    CallAbortedEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    ReasoningEvent,
    Span,
    cut,
)
from playground.findings import finding
from playground.parsing.declaration import Declaration, Markers
from playground.parsing.decoding import Utf8Decoder, bad_places, replaced
from playground.parsing.deltas import DeltaReader
from playground.parsing.engine import SyntaxEngine
from playground.parsing.patterns import CONTEXT
from playground.parsing.quiet import Quiet
from playground.parsing.state import ParserState
from playground.parsing.switches import Switches
from playground.tools import ToolMetadata


class DialectParser(ABC):
    """Reads one reply of a model. `finish` is called once, after the last `feed`."""

    @abstractmethod
    def feed(self, data: bytes) -> list[Event]:
        """Read the next bytes of the text, cut anywhere."""

    def feed_tool_call_delta(self, delta: Any) -> list[Event]:
        """Read a native tool-call delta: LiteLLM's object or OpenAI's dict.

        A parser of text alone says with a finding that it cannot."""
        left_out = "this parser reads no native tool calls: left out"
        return [FindingEvent(Span(0, 0), finding("native-call", "native tool call", left_out))]

    def feed_text(self, text: str) -> list[Event]:
        """Read text that is decoded already, such as a string in a notebook; half surrogates are
        allowed. A parser that has no way of its own for it reads it as bytes."""
        return self.feed(text.encode("utf-8", "surrogatepass"))

    def feed_reasoning(self, text: str) -> list[Event]:
        """Read reasoning that the API keeps apart from the text; a parser without a way for it
        reads it as text."""
        return self.feed_text(text)

    def finish(self) -> list[Event]:
        """End the stream: held text comes out, open calls are aborted. A parser that holds nothing
        needs none."""
        return []

    @property
    def state(self) -> ParserState:
        return ParserState()

    @property
    def switches(self) -> Switches:
        """The decisions by which this parser reads."""
        return Switches()

    @property
    def openers(self) -> tuple[str, ...]:
        """The literals with which sections and calls begin, as far as they are known."""
        return ()

    @property
    def closers(self) -> tuple[str, ...]:
        """The literals with which sections and calls end, as far as they are known."""
        return ()


class SyntaxParser(DialectParser):
    """The parser of every declared dialect.

    `quiet` False walks every chunk, also those that nothing can begin in: the same events, slower.
    """

    def __init__(
        self,
        syntax: Declaration,
        markers: Markers,
        switches: Switches,
        tools: Sequence[ToolMetadata] = (),
        *,
        native: bool = False,
        prefill: str = "",
        quiet: bool = True,
    ) -> None:
        self._may_be_quiet = quiet
        self._wakes: Callable[[str], re.Match[str] | None] | None = None  # as long as it is quiet
        self._held = ""  # the end of what was read, which may begin a marker
        self._context = ""  # what stands before that, as far as a look back goes
        self._declared = (syntax, markers, switches, tools)
        self._decoder = Utf8Decoder()
        self._engine = SyntaxEngine(syntax, markers, switches, tools)
        self._deltas = DeltaReader(tools, native)
        self._offset = 0
        self._in_text = True
        self._calls = 0  # before what is read now
        self._bad: deque[tuple[int, str]] = deque()  # characters that came in as no UTF-8
        self._prefilled = bool(prefill)
        if prefill:
            self._prefill(prefill)

    def feed(self, data: bytes) -> list[Event]:
        if self._wakes is None:
            return self._read(self._decoder.decode(data), "invalid-utf8")
        try:
            text = data.decode()
        except UnicodeDecodeError:  # a character is cut, or it is none
            return self._read(self._decoder.decode(data), "invalid-utf8")
        if self._stirs or not text:
            return self._stirred(text)
        # looks for three characters before a search: most chunks are prose
        if self._sign in text or self._other in text or self._third in text:
            found = self._wakes(text)
            if found is not None:
                return self._halted(text, found.start())
        start = self._offset
        self._offset = start + len(text)
        self._pass(data)
        return [self._make(start, text)]

    def feed_text(self, text: str) -> list[Event]:
        # bytes that wait for the rest of their character wait in vain: text cannot bring it
        events = self._read(self._decoder.decode(b"", final=True), "invalid-utf8")
        return events + self._read(text, "lone-surrogate")

    def feed_tool_call_delta(self, delta: Any) -> list[Event]:
        events = self._end_of_text()
        found = self._deltas.read(delta, self._offset, self._calls)
        self._calls += any(isinstance(event, CallStartedEvent) for event in found)
        self._offset = self._deltas.stop
        if self._deltas.bad:
            self._bad.extend((place, "lone-surrogate") for place in self._deltas.bad)
            found = self._placed(found)
        return events + found

    def feed_reasoning(self, text: str) -> list[Event]:
        if not text:
            return []
        events = self._end_of_text()
        start, self._offset = self._offset, self._offset + len(text)
        self._bad.extend((start + place, "lone-surrogate") for place in bad_places(text))
        return events + self._placed([ReasoningEvent(start, replaced(text))])

    def finish(self) -> list[Event]:
        return self._end_of_text() + self._deltas.finish(self._offset)

    @property
    def switches(self) -> Switches:
        return self._declared[2]

    @property
    def openers(self) -> tuple[str, ...]:
        return self._declared[0].openers

    @property
    def closers(self) -> tuple[str, ...]:
        return self._declared[0].closers

    @property
    def state(self) -> ParserState:
        if not self._in_text:
            return self._deltas.state or self._engine.state
        state = self._engine.state
        return state if self._wakes is None else state._replace(held=self._held)

    def _stirred(self, text: str) -> list[Event]:
        """A chunk that goes on with what is held, or begins a line that may be a marker."""
        if not text:
            return self._read(text, "invalid-utf8")
        unsaid = self._held + text
        if self._quiet.takes_lines:
            return self._halted(unsaid, 0)
        assert self._wakes is not None  # nothing is held but where chunks pass by
        found = self._wakes(unsaid)
        if found is not None:
            return self._halted(unsaid, found.start())
        start = self._offset - len(self._held)
        self._offset, self._held, self._stirs = start + len(unsaid), "", False
        self._pass(unsaid.encode())
        return [self._make(start, unsaid)]

    def _halted(self, unsaid: str, place: int) -> list[Event]:
        """What is held and the chunk behind it, with what may be a marker at a place: it passes by
        as well where nothing comes of that, or where no more can be told yet."""
        quiet, held = self._quiet, self._held
        if quiet.held is None:
            return self._read(unsaid, "invalid-utf8")
        if place and unsaid[place - 1].isalnum():  # no look back goes farther than to a letter
            seen, begun = unsaid[place - 1 :], 1
        elif quiet.looks_back:
            before = self._context if held else self._before()
            seen, begun = before + unsaid, len(before)
        else:
            seen, begun = unsaid, place
        stop = quiet.held(seen, begun, self._accept)
        if stop is None:
            return self._read(unsaid[len(held) :], "invalid-utf8")
        start = self._offset - len(held)
        self._offset = start + len(unsaid)
        kept = len(seen) - stop
        if kept:
            self._held, self._stirs = seen[stop:], True
            self._context = seen[stop - CONTEXT if stop > CONTEXT else 0 : stop]
            if kept == len(unsaid):
                return []
            unsaid = unsaid[:-kept]
        else:
            self._held, self._stirs = "", quiet.takes_lines and unsaid[-1] == "\n"
        self._pass(unsaid.encode())
        return [self._make(start, unsaid)]

    def _read(self, text: str, code: str) -> list[Event]:
        if self._wakes is not None:
            self._wake()
        if not text:
            return []
        start = self._offset
        if not self._in_text:
            self._in_text = True
            self._engine = SyntaxEngine(*self._declared, offset=start, calls=self._calls)
        self._offset += len(text)
        if places := bad_places(text):
            self._bad.extend((start + place, code) for place in places)
            text = replaced(text)
        events = self._engine.feed(text)
        if self._bad or self._prefilled:
            events = self._placed(events)
        quiet = self._engine.scanner.quiet if self._may_be_quiet else None
        # what is held of a prefill belongs to no span
        passes = not self._decoder.holds and not self._bad
        if quiet and passes and len(self._engine.scanner.held) <= self._offset:
            self._rest(quiet)
        return events

    def _rest(self, quiet: Quiet) -> None:
        """Let chunks pass by from now on, up to one that concerns the walk."""
        scanner = self._engine.scanner
        claim, self._held, self._quiet = scanner.resting, scanner.held, quiet
        self._accept = scanner.accept
        self._wakes, self._rested = quiet.wakes, self._offset
        self._sign, self._other, self._third = quiet.signs
        self._make: Callable[[int, str], Event] = claim.make
        self._pass: Callable[[bytes], object] = claim.passing()
        self._stirs, self._context = bool(self._held), ""
        if quiet.looks_back:
            self._before: Callable[[], str] = claim.before
            self._context = before = claim.before()
            self._stirs |= quiet.takes_lines and before[-1:] in ("", "\n")

    def _wake(self) -> None:
        """The walk goes on, behind the chunks that have passed by."""
        self._wakes = None
        if self._offset != self._rested:
            self._engine.scanner.wake(self._offset, self._held)

    def _end_of_text(self) -> list[Event]:
        """What is held comes out, and a call that is open is aborted; more text begins anew."""
        if not self._in_text and not self._decoder.holds:
            return []
        events = self._read(self._decoder.decode(b"", final=True), "invalid-utf8")
        if self._in_text:
            events += self._placed(self._engine.finish())
            self._in_text, self._calls = False, self._engine.calls
        return events

    def _prefill(self, text: str) -> None:
        """What the template already wrote sets the state and belongs to no span."""
        self._engine = SyntaxEngine(*self._declared, offset=-len(text))
        self._engine.feed(text)

    def _placed(self, events: list[Event]) -> list[Event]:
        """Cut the prefill, and put the findings about single characters before those characters."""
        result: list[Event] = []
        for event in events:
            if event.span.start < 0:
                event = _behind_prefill(event)
            bad: list[tuple[int, str]] = []
            while self._bad and self._bad[0][0] < event.span.stop:
                bad.append(self._bad.popleft())
            result += _marked(event, bad) if bad else [event]
        return result


def _behind_prefill(event: Event) -> Event:
    """What of an event is the reply's: its text up to the reply's beginning is the prefill's."""
    here = Span(0, max(0, event.span.stop))
    if isinstance(event, CallStartedEvent | CallEndedEvent | CallAbortedEvent):
        return replace(event, span=here)
    return replace(event, span=here, text=event.text[-event.span.start :])


def _marked(event: Event, bad: Sequence[tuple[int, str]]) -> list[Event]:
    """An event with findings about characters in it; of a name, which is one event, before it."""
    whole = isinstance(event, CallNamedEvent)
    found: list[Event] = []
    for place, code in bad:
        here = event.span.start if whole else place
        found.append(FindingEvent(Span(here, here), finding(code, f"character {place}")))
    if whole:
        return [*found, event]
    pieces = cut(event, [place for place, _code in bad])
    before = [pieces.pop(0)] if len(pieces) > len(found) else []
    return before + [each for pair in zip(found, pieces, strict=True) for each in pair]
