"""Events in batches: for recordings, where nobody watches each chunk arrive."""

from __future__ import annotations

from typing import Any

from playground.events import Event
from playground.parsing.parser import DialectParser
from playground.parsing.state import ParserState
from playground.parsing.switches import Switches


class BatchedParser(DialectParser):
    """Reads through another parser, `chunks` of them at a time.

    The events add up to the same, each at most so many chunks late; a million tiny chunks cost
    what a thousand large ones cost.
    """

    def __init__(self, parser: DialectParser, chunks: int = 1024) -> None:
        self._parser, self._limit = parser, chunks
        self._held: list[bytes] = []

    def feed(self, data: bytes) -> list[Event]:
        held = self._held
        held.append(data)
        return [] if len(held) < self._limit else self._flush()

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
        data = b"".join(self._held)
        self._held.clear()
        return self._parser.feed(data) if data else []
