"""The base class of the formats for recorded HTTP."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator

from playground.sessions.building import SessionBuilder
from playground.sessions.formats.base import SessionFormat
from playground.sessions.shapes.exchanges import Exchange, read_exchanges
from playground.sessions.source import Source


class RecordedHttp(SessionFormat):
    """A format of requests with their answers: each chain of requests that continue one another is
    a session."""

    left_aside = {
        "**.headers": "headers of HTTP",
        "**.recorded_at": "when it was recorded",
        "**.finishMessage": "Gemini's words for the reason of an end",
        "**.output.*.tools": "lists of the tools of MCP servers",
        "**.stop_details": "the provider's words for the reason of an end",
        "**.provider_metadata": "a gateway's account of its route",
        "**.__verbose": "llama.cpp's account of how it made the reply",
    }

    @abstractmethod
    def exchanges(self, source: Source) -> Iterable[Exchange]:
        """Return the file's exchanges in order. Raises InputFault if the file cannot be read."""

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        yield from read_exchanges(self.exchanges(source), source.stem, source.name, whole=True)
