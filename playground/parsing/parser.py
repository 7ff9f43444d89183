"""The public interface of parsers: they read bytes, text and native deltas, and return events.

Native calls get offsets in the same stream as the text, in the order of arrival, so that spans have
no gaps and no overlaps even in a reply with both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from playground.base.findings import finding
from playground.nouns.events import (
    CallStartedEvent,
    Event,
    FindingEvent,
    ReasoningEvent,
    Span,
    merged,
)
from playground.nouns.tools import ToolMetadata
from playground.parsing.declaration import Declaration, Markers
from playground.parsing.decoding import bad_places, replace_bad
from playground.parsing.deltas import DeltaReader
from playground.parsing.state import ParserState
from playground.parsing.switches import Switches
from playground.parsing.text_reader import TextReader

if TYPE_CHECKING:
    from playground.parsing.variations import Variation


class DialectParser(ABC):
    """A parser of one reply of a model. `finish` is called once, after the last `feed`."""

    @abstractmethod
    def feed(self, data: bytes) -> list[Event]:
        """Read the next bytes of the text, cut anywhere."""

    def feed_tool_call_delta(self, delta: Any) -> list[Event]:
        """Read a native tool-call delta: LiteLLM's object or OpenAI's dict.

        A parser that reads only text returns a finding instead.
        """
        left_out = "this parser reads only text: the native call is left out"
        return [FindingEvent(Span(0, 0), finding("native-call", "native tool call", left_out))]

    def feed_text(self, text: str) -> list[Event]:
        """Read decoded text, such as a string in a notebook. Half surrogates are allowed.

        By default the text is encoded and read as bytes.
        """
        return self.feed(text.encode("utf-8", "surrogatepass"))

    def feed_reasoning(self, text: str) -> list[Event]:
        """Read reasoning that an API sends in a field of its own. By default it is read as text."""
        return self.feed_text(text)

    def finish(self) -> list[Event]:
        """End the stream: emit held text, abort open calls. By default return no events."""
        return []

    @property
    def state(self) -> ParserState:
        return ParserState()

    @property
    def switches(self) -> Switches:
        """The settings of the parser, such as whether a call in a code fence is text."""
        return Switches()

    @property
    def openers(self) -> tuple[str, ...]:
        """The literals with which sections and calls begin, as far as they are known."""
        return ()

    @property
    def closers(self) -> tuple[str, ...]:
        """The literals with which sections and calls end, as far as they are known."""
        return ()

    def variations(self, events: Sequence[Event]) -> set[Variation]:
        """Return the ways in which well-formed calls in `events` differ from those that the dialect
        writes. By default return no variations."""
        return set()


class SyntaxParser(TextReader, DialectParser):
    """The parser of every declared dialect. `native` is True if native calls are expected;
    `prefill` is the prompt's end, such as an opened `<think>`, which the template already wrote.
    With `fast_path` False the engine walks every chunk (see `TextReader`)."""

    def __init__(
        self,
        syntax: Declaration,
        markers: Markers,
        switches: Switches,
        tools: Sequence[ToolMetadata] = (),
        *,
        native: bool = False,
        prefill: str = "",
        fast_path: bool = True,
    ) -> None:
        super().__init__(syntax, markers, switches, tools, fast_path)
        self._native = native
        self._deltas = DeltaReader(tools, native)
        if prefill:
            self._prefill(prefill)

    def feed_tool_call_delta(self, delta: Any) -> list[Event]:
        events = self._end_of_text()
        call_events = self._deltas.read(delta, self._offset, self._calls)
        self._calls += any(isinstance(event, CallStartedEvent) for event in call_events)
        self._offset = self._deltas.stop
        if self._deltas.bad:
            self._bad.extend((place, "lone-surrogate") for place in self._deltas.bad)
            call_events = self._place_findings(call_events)
        return events + call_events

    def feed_reasoning(self, text: str) -> list[Event]:
        if not text:
            return []
        events = self._end_of_text()
        start, self._offset = self._offset, self._offset + len(text)
        self._bad.extend((start + place, "lone-surrogate") for place in bad_places(text))
        return events + self._place_findings([ReasoningEvent(start, replace_bad(text))])

    def finish(self) -> list[Event]:
        return self._end_of_text() + self._deltas.finish(self._offset)

    @property
    def switches(self) -> Switches:
        return self._declaration[2]

    @property
    def openers(self) -> tuple[str, ...]:
        return self._declaration[0].openers

    @property
    def closers(self) -> tuple[str, ...]:
        return self._declaration[0].closers

    def variations(self, events: Sequence[Event]) -> set[Variation]:
        from playground.parsing.variations import variations  # only server views need it

        syntax, markers, _, tools = self._declaration

        def read(text: str) -> list[Event]:
            parser = SyntaxParser(*self._declaration)
            return merged([*parser.feed_text(text), *parser.finish()])

        has_headers = bool(markers.plain)  # only forms with message headers declare plain tags
        return set() if self._native else variations(syntax, tools, events, read, has_headers)

    @property
    def state(self) -> ParserState:
        if not self._in_text:
            return self._deltas.state or self._engine.state
        state = self._engine.state
        return state._replace(held=self._held) if self._feed_held else state
