"""A server's reading of a reply: our own reading, changed as the server would change it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from playground.base.arguments import older_name
from playground.base.errors import nearest_names
from playground.base.findings import CODES, DECLARED, MENDING, Finding, finding
from playground.base.wording import counted
from playground.nouns.events import (
    CallEndedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    MarkupEvent,
    Span,
    TextEvent,
)
from playground.nouns.tools import ToolMetadata
from playground.parsing.parser import DialectParser
from playground.parsing.result import ParseResult, gather
from playground.parsing.switches import Switches
from playground.parsing.variations import VARIATIONS
from playground.servers.declarations import disproved_slips, proven_slips
from playground.servers.projection import DROPS, Projection
from playground.servers.steps import project
from playground.servers.view import READS_NO_CALLS, Delivery, Parser, Server, View

DOUBT_CODES: Final = ("usual-parser", "unproven-repair")
"""Codes of findings which say that a reading is a guess."""
SERVER_CODES: Final = (
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
"""Codes of findings about the server; all others are findings of our own reading."""
_DOUBTFUL_CODES: Final = (MENDING - {"missing-closer", "unclosed-section"}) | {
    "call-in-fence",
    "call-in-reasoning",
    "malformed-arguments",
    "marker-in-value",
    "missing-name",
}
"""Codes of findings in replies that break the rules of their dialect. Not every view covers them: a
reading is certain only if the server's own parser was run on such a reply."""
_AT_END: Final = "missing-closer at the end"  # this and the next two have no finding of their own
_HALF: Final = "half a closer at the end"
_REASONING: Final = "reasoning"
AS_WRITTEN: Final = "as written"
"""The key for replies without any slip, in the table of runs."""
_COVERED: Final = frozenset(
    {
        _AT_END,
        _HALF,
        _REASONING,
        "bare-opener",
        "malformed-json",
        "malformed-python",
        "missing-opener",
        "orphan-closer",
        "truncated-call",
        "unclosed-section",
        "unknown-tool",
        "unreadable-call",
    }
)
"""Slips for which every view has a choice. The choice is taken as certain unless a run disproved
it."""
_BY_TEXT: Final = ("mended-form", "mended-opener")
"""Codes of findings that quote the text: for these, a slip is the code together with the text."""
_OF_MANY_KINDS: Final = frozenset(
    {"relaxed-json", "relaxed-python", "unexpected-text", "another form"}
)
"""Slips that have many forms under one code: a run with some proves nothing about the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReading(ParseResult):
    """A reply as a server delivers it to its client.

    `lossless` is our own reading of the same reply. The `events` cover the whole reply, like those
    of `lossless`; text that the server drops is in the `server-drops` findings among them.
    """

    server: str
    parser: str  # "" if the server has no particular default parser for the dialect
    view: View
    lossless: ParseResult
    reads: Delivery = "complete reply"
    """The kind of reply that the view is for. The server may read the other kind differently."""
    slips: frozenset[str] = frozenset()
    """The differences between the reply and the form that its model should write: slips and
    variations."""
    proven: bool = False
    """True if the server's own parser was run on such replies, and read all as the view says."""

    def _summary(self) -> str:
        return self.outcome

    @property
    def outcome(self) -> str:
        """A sentence that says how many of the reply's calls, aborted calls included, the server
        hands over, of which kind of reply, and how many characters it drops."""
        begun = len(self.lossless.tool_calls) + len(self.lossless.aborted)
        calls = f"{len(self.tool_calls)} of {counted(begun, 'call')}"
        dropped = counted(self.dropped_characters, "character")
        return f"{self.name} hands over {calls} of a {self.reads}, drops {dropped}"

    handed = older_name("handed", "outcome")

    @property
    def name(self) -> str:
        """The server and its parser, as in `vllm:hermes`."""
        return f"{self.server}:{self.parser}" if self.parser else self.server

    @property
    def assumed(self) -> bool:
        """True if the reading is a guess: it is unknown how the server reads the dialect, or how it
        reads a reply that differs from the form that the model should write."""
        return bool(self.doubts)

    @property
    def has_no_parser(self) -> bool:
        """True if the server has no parser that reads the dialect, so its calls are content."""
        return any(finding.code == "no-parser" for finding in self.findings)

    @property
    def doubts(self) -> list[Finding]:
        """The reasons why the reading is a guess."""
        return [finding for finding in self.findings if finding.code in DOUBT_CODES]

    @property
    def server_findings(self) -> list[Finding]:
        """The findings about the server, without those of our own reading."""
        return [finding for finding in self.findings if finding.code in SERVER_CODES]

    @property
    def dropped(self) -> list[FindingEvent]:
        """The parts of the reply that the server drops, in order."""
        events = (event for event in self.events if isinstance(event, FindingEvent))
        return [event for event in events if event.finding.code == DROPS]

    @property
    def dropped_characters(self) -> int:
        """The number of characters that the server drops, white space included."""
        return sum(len(event.text) for event in self.dropped)


@dataclass(frozen=True)
class ServerReader:
    """A server that reads replies of one dialect with one of its parsers."""

    server: Server
    parser: Parser | None
    dialect: str
    already_read: bool = False  # True if a server has already made native calls
    is_built_in: bool = True  # True if servers' declarations may name the dialect
    unknown_parser: str = ""  # the parser that was asked for, if the server does not have it

    @cached_property
    def view(self) -> View:
        if self.already_read:
            return View()
        view = self.parser.view if self.parser else self.server.view
        return replace(READS_NO_CALLS, source=view.source) if self.is_unread else view

    @property
    def is_unread(self) -> bool:
        """True if the server cannot read the dialect: its calls are text."""
        if self.parser:
            may_read = self.parser.can_read(self.dialect) or not self.is_built_in
        else:
            may_read = self.server.may_read(self.dialect)
        return not may_read and not self.already_read

    @property
    def name(self) -> str:
        """The server and its parser, as in `vllm` or `vllm:hermes`."""
        return f"{self.server.name}:{self.parser.name}" if self.parser else self.server.name

    def switches(self, dialect: Switches) -> Switches:
        """Return the dialect's switches as this server sets them."""
        return self.view.read_with(dialect)

    def prefill(self, prefill: str) -> str:
        """Return the prompt's prefill or, if it is empty, the one that the server assumes."""
        return prefill or self.view.assumed_prefill

    def reading(
        self,
        lossless: ParseResult,
        parser: DialectParser,
        tools: Mapping[str, ToolMetadata],
        prefill: str = "",
    ) -> ServerReading:
        """Return the server's reading of a reply that `parser` has read as `lossless`. `prefill` is
        the end of the prompt, such as an opened reasoning tag."""
        view = self.view
        projection = Projection(
            self.name, view, lossless.switches, tools, parser.openers, parser.closers
        )
        projected = project(projection, lossless.events)
        slips = slips_of(lossless, parser)
        findings = [
            *self._about_parser(),
            *self._about_calls(projection.calls_as_text),
            *self._about_slips(slips, lossless, parser.openers, projection.doubts),
        ]
        true = _without_false_claims(projected, lossless.events)
        events = [*(FindingEvent(Span(0, 0), each) for each in findings), *true]
        result = gather(events, replace(lossless.switches, broken_calls="apart"))
        opener = prefill.lstrip() if view.reasoning == "content with opener" else ""
        return ServerReading(
            content=opener + result.content,
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
            reads=self.server.reads,
            slips=frozenset(slips),
            proven=not self.already_read and (slips or {AS_WRITTEN}) <= self._proven_slips,
        )

    @cached_property
    def _proven_slips(self) -> frozenset[str]:
        parser = self.parser.name if self.parser else ""
        return proven_slips(self.server, parser, self.dialect) - _OF_MANY_KINDS

    def _about_parser(self) -> Iterator[Finding]:
        """Report an unknown parser, a dialect that the server cannot read, native calls that some
        server has made already, and a reading that is assumed."""
        server, dialect = self.server, self.dialect
        if self.unknown_parser:
            yield finding("unknown-parser", self.unknown_parser, self._fallback())
        if self.is_unread and self.parser:
            yield finding("unread-dialect", dialect, self._misread())
        elif self.is_unread:
            version = f"{server.name} {server.version}"
            message = f"{version} has no parser that reads {dialect}: calls are handed over as text"
            yield finding("no-parser", dialect, message)
        elif self.already_read:
            message = (
                "a server has already made calls from this reply: what"
                f" {server.name} would have delivered is not known"
            )
            yield finding("read-before", dialect, message)
        elif self.parser and not self.is_built_in:
            message = f"it is not known whether {self.name} reads {dialect}: it is assumed to do so"
            yield finding("usual-parser", dialect, message)
        elif self.parser is None and server.parsers:
            unknown = f"it is not known how {server.name} reads {dialect}"
            message = f"{unknown}: it is assumed to do what most of its parsers do"
            yield finding("usual-parser", dialect, message)

    def _fallback(self) -> str:
        """Name the parser that reads in place of an unknown one, and the nearest known parsers."""
        nearest = nearest_names(self.unknown_parser, [each.name for each in self.server.parsers])
        usual = "none" if self.is_unread else "the server's usual reading"
        instead, server = f"{self.parser.name!r}" if self.parser else usual, self.server.name
        return f"{server} has no parser {self.unknown_parser!r}: {instead} is used; {nearest}"

    def _misread(self) -> str:
        """Name the dialects that the parser reads, and the parser, if any, for this dialect."""
        assert self.parser is not None
        reads = ", ".join(dict.fromkeys((*self.parser.default_for, *self.parser.also_reads)))
        message = f"{self.name} reads {reads}, not {self.dialect}: calls are handed over as text"
        default = self.server.default_parser(self.dialect)
        return f"{message}; {self.server.name}:{default.name} reads it" if default else message

    def _about_calls(self, as_text: Sequence[CallEndedEvent]) -> Iterator[Finding]:
        """Report complete calls that the server hands over as text."""
        if not as_text or self.is_unread:
            return
        message = f"{self.name} hands over a complete call as text"
        if self.view.calls_read == "whole reply":
            message += ": it reads calls only in replies without other text"
        names = ", ".join(dict.fromkeys(call.name for call in as_text))
        yield finding("call-as-text", names, message)

    def _about_slips(
        self,
        slips: Collection[str],
        lossless: ParseResult,
        openers: Sequence[str],
        doubts: Sequence[str],
    ) -> Iterator[Finding]:
        """Report slips that neither the view nor a run of the parser covers, openers in reasoning,
        and what the view had to assume."""
        if self.already_read or self.is_unread:
            return
        parser = self.parser.name if self.parser else ""
        disproved = disproved_slips(self.server, parser, self.dialect)
        known = self._proven_slips | ((_COVERED | {*self.view.unsupported_repairs}) - disproved)
        doubtful = sorted({slip.partition(":")[0] for slip in slips if slip not in known})
        in_reasoning = any(opener in lossless.reasoning for opener in openers)
        doubtful += ["an opener in reasoning"] * in_reasoning
        doubtful += [f"replies {AS_WRITTEN}"] * (AS_WRITTEN in disproved) + [*doubts]
        if doubtful:
            message = (
                f"no run has shown how {self.name} reads such a reply ({', '.join(doubtful)}): the"
                " result shown here is assumed"
            )
            about = finding("unproven-repair", self.dialect, message)
            yield replace(about, severity="info") if set(doubtful) <= set(VARIATIONS) else about


def slips_of(lossless: ParseResult, parser: DialectParser) -> set[str]:
    """Return the slips and the variations in a reply that `parser` has read.

    A slip breaks the form that the dialect declares, or is reasoning. Its name is usually the code
    of its finding; a misspelt marker's has the text that was written, too. A variation is
    well-formed, but not what the dialect writes. A slip alone gives a reply another form: then
    `another form` is left out, and `white space`, which may differ as well, is in its place.
    """
    codes = _DOUBTFUL_CODES | _COVERED
    findings = [each for each in lossless.findings if each.code in codes]
    slips = {
        f"{s.code}: {s.message.partition(DECLARED)[0]}" if s.code in _BY_TEXT else s.code
        for s in findings
    }
    open_value = any(
        each.code == "missing-closer" and ", argument " in each.where for each in lossless.findings
    )
    is_unclosed = any(each.code == "missing-closer" for each in lossless.findings)
    if open_value or _has_unclosed_call(lossless.events):
        slips.add("missing-closer")
    elif is_unclosed:
        slips.add(_HALF if _ends_in_half_closer(lossless.events, parser.closers) else _AT_END)
    if slips & {_AT_END, _HALF, "truncated-call"}:
        slips.discard("unclosed-section")  # it is open because the reply is cut off
    variations = parser.variations(lossless.events)
    if slips and "another form" in variations:
        variations = variations - {"another form"} | {"white space"}
    if lossless.reasoning.strip():
        slips.add(_REASONING)
    return slips | variations


def _without_false_claims(projected: Sequence[Event], ours: Sequence[Event]) -> Iterator[Event]:
    """Leave out findings which say that a call is delivered that the server does not hand over. A
    finding without a call's number is about the last call before it, or else about the first."""
    ended = {e.call_index for e in projected if isinstance(e, CallEndedEvent)}
    begun = [(e.span.start, e.call_index) for e in ours if isinstance(e, CallStartedEvent)]
    for event in projected:
        about = event.finding if isinstance(event, FindingEvent) and not event.text else None
        if about and "delivered" in CODES[about.code].meaning + about.message:
            number = re.match(r"call (\d+)", about.where)
            earlier = [each for each in begun if each[0] <= event.span.start] or begun[:1]
            if (int(number[1]) if number else earlier[-1][1] if earlier else None) not in ended:
                continue
        yield event


def _ends_in_half_closer(events: Sequence[Event], closers: Sequence[str]) -> bool:
    """Return True if the last marker ends with the beginning of a closer."""
    markers = [event.text.rstrip() for event in events if isinstance(event, MarkupEvent)]
    heads = {closer[:size] for closer in closers for size in range(1, len(closer))}
    return bool(markers) and markers[-1].endswith(tuple(heads))


def _has_unclosed_call(events: Sequence[Event]) -> bool:
    """Return True if a call without its closer comes before text or another call, as with several
    bodies in one tag. (At the end of a reply most servers need no closer.)"""
    is_open = False
    for event in events:
        is_text = isinstance(event, TextEvent) and event.text.strip()
        if is_open and (is_text or isinstance(event, CallStartedEvent)):
            return True
        if isinstance(event, FindingEvent) and event.finding.code == "missing-closer":
            is_open = True
    return False
