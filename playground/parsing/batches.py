"""A parser for recordings. It gives events in batches, because nobody watches the chunks arrive."""

from __future__ import annotations

from typing import Any

from playground.nouns.events import Event
from playground.parsing.parser import DialectParser
from playground.parsing.state import ParserState
from playground.parsing.switches import Switches


class BatchedParser(DialectParser):
    """A parser that joins `chunks` chunks to one text before it feeds another parser.

    The events are those of the other parser, up to `chunks` chunks late. A million tiny chunks then
    cost as much as a thousand large ones.
    """

    def __init__(self, parser: DialectParser, chunks: int = 1024) -> None:
        self._parser, self._limit = parser, chunks
        self._chunks: list[bytes] = []
        self._texts: list[str] = []  # either `_chunks` or `_texts` is empty

    def feed(self, data: bytes) -> list[Event]:
        events = self._flush() if self._texts else []
        self._chunks.append(data)
        return events if len(self._chunks) < self._limit else events + self._flush()

    def feed_text(self, text: str) -> list[Event]:
        events = self._flush() if self._chunks else []
        self._texts.append(text)
        return events if len(self._texts) < self._limit else events + self._flush()

    def feed_tool_call_delta(self, delta: Any) -> list[Event]:
        return self._flush() + self._parser.feed_tool_call_delta(delta)

    def feed_reasoning(self, text: str) -> list[Event]:
        return self._flush() + self._parser.feed_reasoning(text)

    def finish(self) -> list[Event]:
        return self._flush() + self._parser.finish()

    @property
    def state(self) -> ParserState:
        return self._parser.state

    @property
    def switches(self) -> Switches:
        return self._parser.switches

    def _flush(self) -> list[Event]:
        data, text = b"".join(self._chunks), "".join(self._texts)
        self._chunks.clear()
        self._texts.clear()
        return self._parser.feed_text(text) if text else self._parser.feed(data) if data else []
