"""Text in chunks of bytes or characters: skipped by the fast path, or walked by the engine.

fast_path.py explains how chunks are skipped; the essay in `__init__.py`, how the others are read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from playground.base.findings import finding
from playground.nouns.events import (
    CallAbortedEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    Span,
    cut,
)
from playground.nouns.tools import ToolMetadata
from playground.parsing.declaration import Declaration, Markers
from playground.parsing.decoding import Utf8Decoder, bad_places, replace_bad
from playground.parsing.engine import SyntaxEngine
from playground.parsing.fast_path import FastPath
from playground.parsing.switches import Switches


class TextReader(FastPath):
    """A reader of text. Reasoning or a native call ends a stretch of text; the next stretch gets an
    engine of its own.

    With `fast_path` False every chunk is walked: the events are the same, but it is slower.
    """

    def __init__(
        self,
        syntax: Declaration,
        markers: Markers,
        switches: Switches,
        tools: Sequence[ToolMetadata],
        fast_path: bool,
    ) -> None:
        self._declaration = (syntax, markers, switches, tools)
        self._engine = SyntaxEngine(*self._declaration)
        self._decoder = Utf8Decoder()
        self._in_text = True  # False between two stretches of text
        self._calls = 0  # calls before this stretch
        self._bad: deque[tuple[int, str]] = deque()  # offsets and finding codes of bad characters
        self._prefilled = False
        self._may_skip = fast_path
        super().__init__(self._engine.scanner)

    # `feed` and `feed_text` repeat the lines for chunks that are skipped, because calling a shared
    # function would take a tenth of such a chunk's time

    def feed(self, data: bytes) -> list[Event]:
        try:
            text = data.decode()
        except UnicodeDecodeError:  # a character is cut, or the bytes are not UTF-8
            return self._read(self._decoder.decode(data), "invalid-utf8")
        triggers = self._triggers
        if triggers is not None and text:
            first, second, third = triggers
            if first in text or second in text or third in text:
                search = self._search
                candidate = search(text)
                if candidate is not None:
                    return self._feed_candidate(text, candidate.start())
            start, sink, make = self._offset, self._sink, self._make
            self._offset = start + len(text)
            sink(data)
            return [make(start, text)]
        feed_held = self._feed_held
        if feed_held is not None and text:
            return feed_held(self, text)
        return self._feed_after_half(text) if self._decoder.holds else self._walk(text)

    def feed_text(self, text: str) -> list[Event]:
        try:
            data = text.encode()
        except UnicodeEncodeError:  # half a surrogate pair, which no bytes can hold
            # half a character may be waiting for its other bytes, which a text cannot bring
            missing = self._read(self._decoder.decode(b"", final=True), "invalid-utf8")
            return missing + self._read(text, "lone-surrogate")
        triggers = self._triggers
        if triggers is not None and text:
            first, second, third = triggers
            if first in text or second in text or third in text:
                search = self._search
                candidate = search(text)
                if candidate is not None:
                    return self._feed_candidate(text, candidate.start())
            start, sink, make = self._offset, self._sink, self._make
            self._offset = start + len(text)
            sink(data)
            return [make(start, text)]
        feed_held = self._feed_held
        if feed_held is not None and text:
            return feed_held(self, text)
        return self._feed_after_half(text) if self._decoder.holds else self._walk(text)

    def _feed_after_half(self, text: str) -> list[Event]:
        """Feed a chunk of text after half a character, whose other bytes did not come."""
        if not text:
            return []
        return self._read(self._decoder.decode(b"", final=True) + text, "invalid-utf8")

    def _read(self, text: str, code: str) -> list[Event]:
        """Walk text that may hold half surrogates; each becomes a finding with this code."""
        if places := bad_places(text):
            self._bad.extend((self._offset + place, code) for place in places)
            text = replace_bad(text)
        events = self._walk(text)
        if self._decoder.holds and self._feed_held is not None:
            self._hand_back()  # only the walk can handle a character that is cut off
        return events

    def _walk(self, text: str) -> list[Event]:
        """Resume the walk with a chunk; then let chunks be skipped if the walk allows it."""
        if self._feed_held is not None:
            self._hand_back()
        if not text:
            return []
        if not self._in_text:
            self._in_text = True
            ids = self._engine.reader.ids
            self._engine = SyntaxEngine(*self._declaration, offset=self._offset, calls=self._calls)
            self._engine.reader.ids = ids
        self._offset += len(text)
        engine = self._engine
        scanner, events = engine.scanner, engine.feed(text)
        if self._bad or self._prefilled:
            events = self._place_findings(events)
            # only the walk can handle two things: a bad character that still needs its finding,
            # and text that is held from the prefill and so belongs to no span
            if self._bad or scanner.offset < 0:
                return events
        is_waiting = scanner.pending is not None or scanner.skip_rule is not None
        if is_waiting and self._may_skip and engine.draft is None:  # a draft needs the walk, too
            self._take_over(scanner)
        return events

    def _end_of_text(self) -> list[Event]:
        """End a stretch of text: emit held text, and abort an open call."""
        if not self._in_text and not self._decoder.holds:
            return []
        events = self._read(self._decoder.decode(b"", final=True), "invalid-utf8")
        if self._in_text:
            events += self._place_findings(self._engine.finish())
            self._in_text, self._calls = False, self._engine.calls
        return events

    def _prefill(self, text: str) -> None:
        """Feed the text that the template wrote: it sets the state and belongs to no span."""
        self._prefilled = True
        self._engine = SyntaxEngine(*self._declaration, offset=-len(text))
        self._engine.feed(text)

    def _place_findings(self, events: list[Event]) -> list[Event]:
        """Cut the prefill off the events, and put findings before the bad characters."""
        result: list[Event] = []
        for event in events:
            if event.span.start < 0:
                event = without_prefill(event)
            bad: list[tuple[int, str]] = []
            while self._bad and self._bad[0][0] < event.span.stop:
                bad.append(self._bad.popleft())
            result += with_char_findings(event, bad) if bad else [event]
        return result


def without_prefill(event: Event) -> Event:
    """Return the part of an event that lies in the reply, without the text of the prefill."""
    here = Span(0, max(0, event.span.stop))
    if isinstance(event, CallStartedEvent | CallEndedEvent | CallAbortedEvent):
        return replace(event, span=here)
    return replace(event, span=here, text=event.text[-event.span.start :])


def with_char_findings(event: Event, bad: Sequence[tuple[int, str]]) -> list[Event]:
    """Return an event cut at its bad characters, with a finding before each of them. A name is not
    cut, and all its findings come before it."""
    is_name = isinstance(event, CallNamedEvent)
    findings: list[Event] = []
    for place, code in bad:
        here = event.span.start if is_name else place
        findings.append(FindingEvent(Span(here, here), finding(code, f"character {place}")))
    if is_name:
        return [*findings, event]
    pieces = cut(event, [place for place, _code in bad])
    before = [pieces.pop(0)] if len(pieces) > len(findings) else []
    return before + [part for pair in zip(findings, pieces, strict=True) for part in pair]
