"""What a server makes of a reply: our reading of it, projected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from playground.events import CallEndedEvent, CallStartedEvent, Event, FindingEvent, Span
from playground.findings import Finding, finding
from playground.parsing.parser import DialectParser
from playground.parsing.result import ParseResult, gather
from playground.parsing.switches import Switches
from playground.servers.projection import DROPS, Projection
from playground.servers.steps import project
from playground.servers.view import UNREAD, Parser, Server, View
from playground.tools import ToolMetadata

TOLD: Final = (
    DROPS,
    "call-as-text",
    "server-delivers",
    "server-fails",
    "unknown-parser",
    "no-parser",
    "unread-dialect",
    "usual-parser",
    "unproven-repair",
    "read-before",
)
DOUBTS: Final = ("usual-parser", "unproven-repair")
_MENDED: Final = frozenset(
    {
        "mended-opener",
        "doubled-opener",
        "doubled-closer",
        "relaxed-json",
        "relaxed-python",
        "arguments-elsewhere",
        "arguments-as-json",
        "arguments-as-text",
        "call-in-reasoning",
        "mended-name",
        "unexpected-text",
        "malformed-arguments",
        "missing-name",
    }
)
"""What our parsers find in a reply that was not written as its dialect has it, and what is told
apart by no choice of every view."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReading(ParseResult):
    """What a server hands to its client. Its `events` tile the stream as those of `lossless` do,
    our own reading of the same reply; what is dropped lies in `server-drops` findings among them.
    """

    server: str
    parser: str  # "" where the server's default for the dialect is none in particular
    view: View
    lossless: ParseResult

    @property
    def name(self) -> str:
        """`vllm:hermes`: the server and its parser."""
        return f"{self.server}:{self.parser}" if self.parser else self.server

    @property
    def assumed(self) -> bool:
        """Whether it is not known how the server reads the dialect, or what was mended of the
        reply: the reading is a guess."""
        return bool(self.doubts)

    @property
    def doubts(self) -> list[Finding]:
        """Why the reading is a guess."""
        return [found for found in self.findings if found.code in DOUBTS]

    @property
    def told(self) -> list[Finding]:
        """The findings about what the server does, beside those of our own reading."""
        return [found for found in self.findings if found.code in TOLD]

    @property
    def dropped(self) -> list[FindingEvent]:
        """What the server drops, in order."""
        found = (event for event in self.events if isinstance(event, FindingEvent))
        return [event for event in found if event.finding.code == DROPS]


@dataclass(frozen=True)
class ServerReader:
    """A server that reads replies of one dialect with one of its parsers."""

    server: Server
    parser: Parser | None
    dialect: str
    unknown: str = ""
    """The parser that was asked for, where the server has none of that name."""
    read_before: bool = False
    """Whether a server has read such replies already: their calls are no text."""
    ours: bool = True
    """Whether the dialect is one that the declarations know."""

    @property
    def view(self) -> View:
        if self.read_before:
            return View()
        own = self.parser.view if self.parser else self.server.view
        return replace(UNREAD, source=own.source) if self._reads_none else own

    @property
    def _reads_none(self) -> bool:
        """Whether nothing that runs reads the dialect: its calls are text."""
        if self.parser:
            reads = self.parser.can_read(self.dialect) or not self.ours
        else:
            reads = self.server.reads(self.dialect)
        return not reads and not self.read_before

    @property
    def name(self) -> str:
        """`vllm`, or `vllm:hermes` with its parser."""
        return f"{self.server.name}:{self.parser.name}" if self.parser else self.server.name

    def switches(self, dialect: Switches) -> Switches:
        """How the reply is read at all."""
        return self.view.read_with(dialect)

    def prefill(self, given: str) -> str:
        """What stands before the reply, as this server takes it."""
        return given or self.view.opens

    def reading(
        self,
        lossless: ParseResult,
        parser: DialectParser,
        tools: Mapping[str, ToolMetadata],
        prefill: str = "",
    ) -> ServerReading:
        """The server's reading of a reply that `parser` has read as `lossless`."""
        view = self.view
        projection = Projection(
            self.name, view, lossless.switches, tools, parser.openers, parser.closers
        )
        projected = project(projection, lossless.events)
        unproven = self._unproven(lossless, parser.openers)
        events = [*self._told(projection.unread), *unproven, *projected]
        result = gather(events, replace(lossless.switches, broken_calls="apart"))
        opened = prefill.lstrip() if view.reasoning == "content after opener" else ""
        return ServerReading(
            content=opened + result.content,
            reasoning=result.reasoning,
            tool_calls=result.tool_calls,
            aborted=result.aborted,
            findings=result.findings,
            events=result.events,
            switches=lossless.switches,
            server=self.server.name,
            parser=self.parser.name if self.parser else "",
            view=view,
            lossless=lossless,
        )

    def _told(self, unread: Sequence[CallEndedEvent]) -> list[Event]:
        """That the parser which was asked for is none of the server's, or that none reads this, or
        that one which does leaves calls unread."""
        found: list[Finding] = []
        if self.unknown:
            known = ", ".join(parser.name for parser in self.server.parsers) or "none"
            usual = "none" if self._reads_none else "the server's usual reading"
            instead = f"{self.parser.name!r}" if self.parser else usual
            who = f"{self.server.name} has no parser {self.unknown!r}"
            message = f"{who}: {instead} reads; known: {known}"
            found.append(finding("unknown-parser", self.unknown, message))
        if self._reads_none and self.parser:
            found.append(finding("unread-dialect", self.dialect, self._misread()))
        elif self._reads_none:
            who = f"{self.server.name} {self.server.version}"
            message = (
                f"{who} has no parser that reads {self.dialect}: calls are handed over as text"
            )
            found.append(finding("no-parser", self.dialect, message))
        elif self.read_before:
            who = self.server.name
            message = f"a server has read this reply: what {who} would make of it is not told"
            found.append(finding("read-before", self.dialect, message))
        elif self.parser and not self.ours:
            who = f"not known whether {self.name} reads {self.dialect}"
            found.append(finding("usual-parser", self.dialect, f"{who}: that it does is assumed"))
        elif self.parser is None and self.server.parsers:
            who = f"not known how {self.server.name} reads {self.dialect}"
            message = f"{who}: what most of its parsers do is assumed"
            found.append(finding("usual-parser", self.dialect, message))
        if unread and not self._reads_none:
            message = f"{self.name} hands over a whole call as text"
            if self.view.calls == "whole":
                message += ": it reads calls only where no text stands beside them"
            names = ", ".join(dict.fromkeys(call.name for call in unread))
            found.append(finding("call-as-text", names, message))
        return [FindingEvent(Span(0, 0), each) for each in found]

    def _unproven(self, lossless: ParseResult, openers: Sequence[str]) -> list[Event]:
        """That calls were read, or given up, by repairs of which the view says nothing, or that
        reasoning holds what begins a call."""
        if self.read_before or self._reads_none:
            return []
        mended = {found.code for found in lossless.findings} & _MENDED
        mended |= {"missing-closer"} if _unclosed_before_another(lossless.events) else set()
        told = sorted(mended - set(self.view.unmended))
        told += ["an opener in reasoning"] * any(each in lossless.reasoning for each in openers)
        if not told:
            return []
        message = f"our reading gets over {', '.join(told)}: that {self.name} does is assumed"
        return [FindingEvent(Span(0, 0), finding("unproven-repair", self.dialect, message))]

    def _misread(self) -> str:
        """Which dialects the parser reads, and who reads this one."""
        assert self.parser is not None
        own = ", ".join(dict.fromkeys((*self.parser.reads, *self.parser.shares)))
        message = f"{self.name} reads {own}, not {self.dialect}: calls are handed over as text"
        other = self.server.reader_of(self.dialect)
        return f"{message}; {self.server.name}:{other.name} reads it" if other else message


def _unclosed_before_another(events: Sequence[Event]) -> bool:
    """Whether a call without its closer stands before another one, as of several bodies in one tag:
    at the end of a reply most servers do without it."""
    open_call = False
    for event in events:
        if isinstance(event, CallStartedEvent) and open_call:
            return True
        if isinstance(event, FindingEvent) and event.finding.code == "missing-closer":
            open_call = True
    return False


def reader_for(
    server: Server, parser: str, dialect: str, *, read_before: bool = False, ours: bool = True
) -> ServerReader:
    """The reader of a dialect's replies; an unknown parser falls back on the dialect's."""
    asked = server.named(parser)
    unknown = parser if parser and asked is None else ""
    reads = asked or server.reader_of(dialect)
    return ServerReader(server, reads, dialect, unknown, read_before, ours)
