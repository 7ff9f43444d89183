"""Report a loss to a server's authors: the smallest reply with the loss, as a test and an issue.

Only the reply is made smaller, and each step checks that the same thing is still lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.base.arguments import takes
from playground.base.findings import Finding
from playground.dialects import Dialect, get_dialect, is_ours
from playground.dialects.reading import parse
from playground.nouns.tool_formats import read_tools
from playground.nouns.tools import ToolMetadata
from playground.parsing.result import ParseResult
from playground.questions.detection import detect_recording, foreign_finding
from playground.questions.report_texts import (
    NO_LOSS,
    client_view,
    issue_text,
    loss_messages,
    suite_test,
)
from playground.questions.server_view import server_view
from playground.recordings.recording import Recording
from playground.servers import ServerReading, get_server
from playground.servers.segments import segments

_WORDS: Final = re.compile(r"\w+|\s+|[^\w\s]")
_CHARACTERS: Final = re.compile(r"[\s\S]")
_MOST_CHARACTERS: Final = 4_000_000  # read in all trials together to make a reply smaller


@dataclass(frozen=True, slots=True)
class ServerReport:
    """The smallest reply with a loss, read without loss and as the server reads it.

    `test` is "" if the server's suite is unknown, or cannot see the loss. If nothing is lost,
    `text` and `issue` are "" too, and the readings are those of the whole reply. `findings` say
    what else matters: the server has no such parser, say, or only another dialect reads a call.
    """

    server: str
    dialect: str
    text: str
    lossless: ParseResult
    reading: ServerReading
    test: str
    issue: str
    findings: tuple[Finding, ...]


@takes(recording=Recording, server="text")
def server_report(
    recording: Recording, dialect: str | Dialect, server: str, tools: Any = ()
) -> ServerReport:
    """Report what a server loses of a recorded reply.

    A loss is what a client would miss: content, reasoning, a call, an argument, or a call that
    failed. Blanks at the ends of content and reasoning do not count.
    """
    chosen, metadata = get_dialect(dialect), read_tools(tools)
    full = server_view(recording, chosen, server, metadata)
    name = get_server(server, chosen.name).name
    findings = _findings(recording, chosen.name, full, metadata)
    if not _loses(full):
        return ServerReport(name, chosen.name, "", full.lossless, full, "", "", findings)
    loss = loss_messages(full)[0]

    def shows(text: str) -> bool:
        reading = _read(text, chosen, server, metadata, recording.prefill)
        return (
            loss in loss_messages(reading)
            and _loses(reading)
            and _shows_nothing_new(reading.lossless, full.lossless)
        )

    smallest = smaller(
        [(s.text, s.ended is not None) for s in segments(full.lossless.events)], shows
    )
    reading = _read(smallest, chosen, server, metadata, recording.prefill)
    lossless = parse(smallest, chosen, metadata, recording.prefill)
    return ServerReport(
        name,
        chosen.name,
        smallest,
        lossless,
        reading,
        _test(smallest, chosen, server, metadata, reading),
        issue_text(smallest, lossless, reading),
        findings,
    )


def _read(
    text: str, dialect: Dialect, server: str, tools: Sequence[ToolMetadata], prefill: str = ""
) -> ServerReading:
    read = parse(text, dialect, tools, prefill, server=server)
    assert isinstance(read, ServerReading)
    return read


def _loses(reading: ServerReading) -> bool:
    """Return True if the client gets less than the reply holds; a dropped marker is no loss."""
    return bool(loss_messages(reading)) and client_view(reading) != client_view(reading.lossless)


def _findings(
    recording: Recording, dialect: str, full_reading: ServerReading, tools: Sequence[ToolMetadata]
) -> tuple[Finding, ...]:
    """Return the findings about a reply that are about anything but losses."""
    findings = [finding for finding in full_reading.server_findings if finding.code in NO_LOSS]
    if not full_reading.lossless.tool_calls and not full_reading.lossless.aborted:
        other_finding = foreign_finding(detect_recording(recording, tools), dialect)
        findings += [other_finding] if other_finding else []
    return tuple(findings)


def _test(
    text: str,
    dialect: Dialect,
    server: str,
    tools: Sequence[ToolMetadata],
    reading: ServerReading,
) -> str:
    """Return the suite's test, or "" if the suite would read the reply otherwise.

    A suite's test reads the reply alone: without a prefill, and, if no tools were given, with only
    the called tools offered.
    """
    called = dict.fromkeys(call.name for call in reading.lossless.tool_calls)
    offered = tools or [ToolMetadata(name=name) for name in called]
    alone = _read(text, dialect, server, offered)
    if (client_view(alone), client_view(alone.lossless)) != (
        client_view(reading),
        client_view(reading.lossless),
    ):
        return ""
    reader = get_server(server, dialect.name, is_built_in=is_ours(dialect.name))
    parser = reader.parser.name if reader.parser else dialect.name
    is_in_suite = reader.parser is None or reader.parser.in_suite
    return suite_test(reader.server.suite if is_in_suite else None, parser, text, offered, alone)


def _shows_nothing_new(smaller: ParseResult, full: ParseResult) -> bool:
    """Return True if a smaller reply has no tool, finding or reasoning that the whole one lacks.

    Otherwise it would show another problem, such as a call that is broken in a new way.
    """
    return (
        {call.name for call in smaller.tool_calls} <= {call.name for call in full.tool_calls}
        and {finding.code for finding in smaller.findings}
        <= {finding.code for finding in full.findings}
        and bool(smaller.reasoning) <= bool(full.reasoning)
    )


# making a text smaller


Part = tuple[str, bool]  # a text, and True if it must not be cut


def smaller(parts: Sequence[Part], shows: Callable[[str], bool]) -> str:
    """Return the parts' text without anything that can be left out while `shows` stays true.

    This is delta debugging: it leaves out halves, quarters … down to words, then characters; a
    complete call is left out as a whole or not at all. It stops after trials of four million
    characters.
    """
    budget = _MOST_CHARACTERS
    for cutting in (_WORDS, _CHARACTERS):
        pieces = [
            (piece, is_whole)
            for text, is_whole in parts
            for piece in ([text] if is_whole else cutting.findall(text))
        ]
        parts, budget = _reduced(pieces, shows, budget)
    return _text_of(parts)


def _text_of(parts: Sequence[Part]) -> str:
    return "".join(text for text, _ in parts)


def _reduced(
    pieces: Sequence[Part], shows: Callable[[str], bool], budget: int
) -> tuple[Sequence[Part], int]:
    size = len(pieces)
    while size and budget > 0:
        start, size = 0, (size + 1) // 2
        while start < len(pieces) and budget > 0:
            shorter = [*pieces[:start], *pieces[start + size :]]
            text = _text_of(shorter)
            budget -= len(text) + 1
            if shows(text):
                pieces = shorter
            else:
                start += size
        size = size if size > 1 else 0
    return pieces, budget
