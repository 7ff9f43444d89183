"""The parser's public face: bytes and native deltas in, events out.

The characters of native calls take their places in the stream in the order of arrival, so that
spans tile a mixed stream too.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from playground.events import (
    CallStartedEvent,
    Event,
    FindingEvent,
    ReasoningEvent,
    Span,
)
from playground.findings import finding
from playground.parsing.declaration import Declaration, Markers
from playground.parsing.decoding import Utf8Decoder, bad_places, replaced
from playground.parsing.deltas import DeltaReader
from playground.parsing.engine import SyntaxEngine
from playground.parsing.marker import Marker
from playground.parsing.patterns import CONTEXT
from playground.parsing.placing import behind_prefill, marked
from playground.parsing.quiet import Accept, Quiet, Run
from playground.parsing.state import ParserState
from playground.parsing.switches import Switches
from playground.parsing.wait import Wait
from playground.tools import ToolMetadata

# so many chunks that were looked at are remembered, of so few characters: less than 200 kB
_MOST: Final = 1024
_SHORT: Final = 16


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
        self._awaited: Wait | None = None  # what is looked for in what is held, and nothing else is
        self._still = False  # whether it is, with nothing held, and no line that may be a marker
        self._stops: dict[str, int] = {}  # from where on chunks are held that were looked at
        self._quiet: Quiet | None = None
        self._accept: Accept | None = None
        self._run: Run | None = None  # what is held, as long as it goes on
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
        try:
            text = data.decode()
        except UnicodeDecodeError:  # a character is cut, or it is none
            return self._read(self._decoder.decode(data), "invalid-utf8")
        if not self._still or not text:
            if self._wakes is not None:
                return self._stirred(text)
            if self._awaited is not None:
                return self._held_on(text)
            if self._decoder.holds:
                text = self._decoder.decode(data)
            return self._read(text, "invalid-utf8")
        assert self._wakes is not None
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
        rests = self._wakes is not None or self._awaited is not None
        return state._replace(held=self._held) if rests else state

    def _held_on(self, text: str) -> list[Event]:
        """A chunk that is held, unless it decides on what has to be told before anything else."""
        unsaid, before = self._held + text, self._context
        assert self._awaited is not None
        told, undecided = self._awaited.look(before + unsaid, len(before))
        if not undecided:
            return self._read(text, "invalid-utf8", told)
        self._offset += len(text)
        self._held = unsaid
        return []

    def _stirred(self, text: str) -> list[Event]:
        """A chunk that goes on with what is held, or begins a line that may be a marker."""
        if not text:
            return self._read(text, "invalid-utf8")
        unsaid, quiet = self._held + text, self._quiet
        assert quiet is not None and self._wakes is not None  # it holds where chunks pass by
        if self._run is not None and self._run(unsaid):
            self._offset += len(text)
            self._held = unsaid
            return []
        if quiet.judge is not None and self._held:
            before = self._context
            told, undecided = quiet.judge(before + unsaid, len(before), self._accept)
            if undecided:
                self._offset += len(text)
                self._held = unsaid
                return []
            if told is not None:
                return self._read(text, "invalid-utf8", told)
        if quiet.takes_lines:
            return self._halted(unsaid, 0)
        found = self._wakes(unsaid)
        if found is not None:
            return self._halted(unsaid, found.start())
        return self._go_on(unsaid, len(unsaid))

    def _halted(self, unsaid: str, place: int) -> list[Event]:
        """What is held and the chunk behind it, with what may be a marker at a place: it passes by
        as well where nothing comes of that, or where no more can be told yet."""
        quiet, before = self._quiet, ""
        assert quiet is not None
        if quiet.held is None:
            return self._read(unsaid, "invalid-utf8")
        # no look back goes farther than to a letter
        alone = not quiet.looks_back or (place > 0 and unsaid[place - 1].isalnum())
        if alone:
            # a model has a vocabulary: most of its tokens have come before
            known = self._stops.get(unsaid)
            if known is not None:
                self._run = None
                return self._go_on(unsaid, known)
            seen, begun = (unsaid[place - 1 :], 1) if place else (unsaid, 0)
        else:
            before = self._context if self._held else self._before()
            seen, begun = before + unsaid, len(before)
        stop = quiet.held(seen, begun, self._accept)
        if stop is None:
            return self._read(unsaid[len(self._held) :], "invalid-utf8")
        self._run = quiet.run(seen, stop) if quiet.run else None
        stop += len(unsaid) - len(seen)
        if alone and len(unsaid) <= _SHORT and len(self._stops) < _MOST:
            self._stops[unsaid] = stop
        return self._go_on(unsaid, stop, before)

    def _go_on(self, unsaid: str, stop: int, before: str = "") -> list[Event]:
        """Up to a place all passes by, and what stands from there on is held."""
        quiet, start = self._quiet, self._offset - len(self._held)
        assert quiet is not None
        self._offset = start + len(unsaid)
        if stop < len(unsaid):
            self._held, self._still = unsaid[stop:], False
            self._context = (before + unsaid[:stop])[-CONTEXT:]
            if not stop:
                return []
            unsaid = unsaid[:stop]
        else:
            self._held, self._still = "", not (quiet.takes_lines and unsaid[-1] == "\n")
        self._pass(unsaid.encode())
        return [self._make(start, unsaid)]

    def _read(self, text: str, code: str, told: Marker | None = None) -> list[Event]:
        """Walk on with a text; `told` is what it tells of what is held."""
        if self._wakes is not None or self._awaited is not None:
            self._wake()
            self._engine.scanner.told = told
        if not text:
            return []
        start = self._offset
        if not self._in_text:
            self._in_text = True
            self._engine = SyntaxEngine(*self._declared, offset=start, calls=self._calls)
        self._offset += len(text)
        if not text.isascii() and (places := bad_places(text)):
            self._bad.extend((start + place, code) for place in places)
            text = replaced(text)
        events = self._engine.feed(text)
        if self._bad or self._prefilled:
            events = self._placed(events)
        # what is held of a prefill belongs to no span
        scanner = self._engine.scanner
        if self._may_be_quiet and scanner.offset >= 0 and not (self._decoder.holds or self._bad):
            if scanner.awaited is not None:
                self._awaited, self._rested = scanner.awaited, self._offset
                self._held, self._context = scanner.held, scanner.context()
            elif scanner.quiet is not None:
                self._rest(scanner.quiet)
        return events

    def _rest(self, quiet: Quiet) -> None:
        """Let chunks pass by from now on, up to one that concerns the walk."""
        scanner = self._engine.scanner
        claim, self._held, self._run = scanner.resting, scanner.held, None
        if quiet is not self._quiet or scanner.accept is not self._accept:
            # what passes by elsewhere may be a marker here, or may be refused here alone
            self._quiet, self._accept, self._stops = quiet, scanner.accept, {}
        self._wakes, self._rested = quiet.wakes, self._offset
        self._context = scanner.context() if quiet.looks_back else ""
        self._sign, self._other, self._third = quiet.signs
        self._make: Callable[[int, str], Event] = claim.make
        self._pass: Callable[[bytes], object] = claim.passing()
        self._before: Callable[[], str] = claim.before
        line_begins = quiet.takes_lines and self._context[-1:] in ("", "\n")
        self._still = not (self._held or line_begins)

    def _wake(self) -> None:
        """The walk goes on, behind the chunks that have passed by."""
        if self._offset != self._rested:
            if self._awaited is not None:
                self._engine.scanner.hold(self._held)
            else:
                self._engine.scanner.wake(self._offset, self._held)
        self._wakes, self._awaited, self._still = None, None, False

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
                event = behind_prefill(event)
            bad: list[tuple[int, str]] = []
            while self._bad and self._bad[0][0] < event.span.stop:
                bad.append(self._bad.popleft())
            result += marked(event, bad) if bad else [event]
        return result
