"""Report a loss to a server's authors: the smallest reply with the loss, as a test and an issue.

Only the reply is made smaller; each step checks that the same loss remains. A test is written only
if the server would fail it. The reply is quoted exactly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.base.arguments import takes
from playground.base.findings import Finding
from playground.base.json_numbers import finite, is_finite
from playground.base.wording import fenced, visible
from playground.dialects import Dialect, get_dialect, is_ours
from playground.dialects.prompts import typed_schema
from playground.dialects.reading import parse
from playground.nouns.tool_formats import read_tools
from playground.nouns.tools import ToolMetadata
from playground.parsing.result import ParseResult
from playground.questions.detection import detect_recording, foreign_finding
from playground.questions.server_view import server_view
from playground.recordings.recording import Recording
from playground.servers import ServerReading, get_server
from playground.servers.reading import DOUBT_CODES
from playground.servers.segments import segments
from playground.servers.view import Language, Suite

_WORDS: Final = re.compile(r"\w+|\s+|[^\w\s]")
_CHARACTERS: Final = re.compile(r"[\s\S]")
_MOST_CHARACTERS: Final = 4_000_000  # characters read in all trials to make a reply smaller
_HOLE: Final = re.compile(r"\{\{(\w+)\}\}")
NO_LOSS: Final = ("unknown-parser", "unread-dialect", "no-parser", *DOUBT_CODES)
"""Codes of findings about how sure a reading is, not about what the server loses."""


@dataclass(frozen=True, slots=True)
class ServerReport:
    """The smallest reply with a loss, and two readings of it: without loss, and the server's.
    `test` is "" if the server's test suite is unknown or cannot show the loss. If nothing is lost,
    `text` and `issue` are "", too, and the readings are those of the whole reply. `findings`
    says how sure the report is: for example, that the server has no such parser, or that the calls
    are in another dialect."""

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
    """Report the first loss of a server in a recorded reply.

    A loss is anything that a client would miss: content, reasoning, a call, an argument, or the
    fact that a call failed. Lost blanks at the ends of content and reasoning are no loss.
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
    """Return the findings about how sure the reading is, and one if another dialect reads calls."""
    findings = [finding for finding in full_reading.server_findings if finding.code in NO_LOSS]
    if not full_reading.lossless.tool_calls and not full_reading.lossless.aborted:
        other_finding = foreign_finding(detect_recording(recording, tools), dialect)
        findings += [other_finding] if other_finding else []
    return tuple(findings)


def _test(
    text: str, dialect: Dialect, server: str, tools: Sequence[ToolMetadata], reading: ServerReading
) -> str:
    """Return a test for the server's own suite, or "" if the suite would read the reply in another
    way. The suite reads the reply without a prefill; if no tools are given, the test offers only
    the called tools."""
    called = dict.fromkeys(call.name for call in reading.lossless.tool_calls)
    offered = tools or [ToolMetadata(name=name) for name in called]
    by_suite = _read(text, dialect, server, offered)
    if (client_view(by_suite), client_view(by_suite.lossless)) != (
        client_view(reading),
        client_view(reading.lossless),
    ):
        return ""
    reader = get_server(server, dialect.name, is_built_in=is_ours(dialect.name))
    parser = reader.parser.name if reader.parser else dialect.name
    is_in_suite = reader.parser is None or reader.parser.in_suite
    return suite_test(reader.server.suite if is_in_suite else None, parser, text, offered, by_suite)


def _shows_nothing_new(shrunk: ParseResult, full: ParseResult) -> bool:
    """Return True if a smaller reply has only tools, findings and reasoning of the whole reply. Any
    new one would show another problem, for example a call that is broken in a new way."""
    return (
        {call.name for call in shrunk.tool_calls} <= {call.name for call in full.tool_calls}
        and {finding.code for finding in shrunk.findings}
        <= {finding.code for finding in full.findings}
        and bool(shrunk.reasoning) <= bool(full.reasoning)
    )


# making a text smaller


Part = tuple[str, bool]  # a text, and True if it must not be cut


def smaller(parts: Sequence[Part], shows: Callable[[str], bool]) -> str:
    """Return the parts' text without all that can be left out while `shows` still returns True.

    This is delta debugging: it leaves out halves, quarters … down to words, then characters. A call
    is left out completely or not at all. It stops after reading four million characters.
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
    """Return the pieces that cannot be left out, and the rest of the `budget` of characters."""
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


def loss_messages(reading: ServerReading) -> list[str]:
    """Return the messages about losses, without their places in the reply. Findings of severity
    info are left out: they report no loss, but for example dropped blanks."""
    losses = [f for f in reading.server_findings if f.code not in NO_LOSS and f.severity != "info"]
    return [finding.message for finding in losses]


def client_view(result: ParseResult) -> dict[str, Any]:
    """Return, as JSON values, the reply that a client gets, without blanks at texts' ends."""
    failed = [segment.text for segment in segments(result.events) if segment.aborted is not None]
    calls = [{"name": call.name, "arguments": call.arguments} for call in result.tool_calls]
    return {
        "content": result.content.strip(),
        "reasoning": result.reasoning.strip(),
        "calls": calls,
        **({"failed_calls": failed} if failed else {}),
    }


def issue_text(text: str, lossless: ParseResult, reading: ServerReading) -> str:
    """Return the issue, in Markdown."""
    server = f"{reading.server} (parser {reading.parser})" if reading.parser else reading.server
    losses = "\n".join(f"- {visible(message)}" for message in dict.fromkeys(loss_messages(reading)))
    source = f"\nThe server's own code: {reading.view.source}\n" if reading.view.source else ""
    doubt = "".join(f"\nNot proven: {doubt_finding.message}.\n" for doubt_finding in reading.doubts)
    loses = "may lose" if reading.assumed else "loses"
    return (
        f"# {server} {loses} part of a reply\n\n{losses}\n{doubt}{source}\n"
        f"The model's text:\n\n{fenced(text, 'text')}\n\n"
        f"What is in it:\n\n{fenced(_json(client_view(lossless)), 'json')}\n\n"
        f"What the client gets:\n\n{fenced(_json(client_view(reading)), 'json')}\n"
    )


def suite_test(
    suite: Suite | None,
    parser: str,
    text: str,
    tools: Sequence[ToolMetadata],
    reading: ServerReading,
) -> str:
    """Return a test that fails as long as the server has this loss. Return "" if the suite is
    unknown, if it asserts nothing that is lost (for example reasoning, which another parser of the
    server reads), or if a number is not finite."""
    full, view = client_view(reading.lossless), client_view(reading)
    asserted = suite.asserted if suite else ()
    if suite is None or not is_finite(full) or all(full[name] == view[name] for name in asserted):
        return ""
    write = LITERALS[suite.language]
    holes = {"parser": parser, "text": write(text)}
    holes |= {"tools": write([typed_schema(tool) for tool in tools])}
    holes |= {name: write(full[name]) for name in asserted}
    return _HOLE.sub(lambda hole: holes[hole[1]], suite.text)


# literals


def quoted(text: str) -> str:
    """Quote a text as both Python and Go read it.

    JSON's escapes would write 😀 as two surrogates, which Go refuses and Python does not join.
    """
    json_text = json.dumps(text, ensure_ascii=False)
    return "".join(char if char.isprintable() else _numbered(ord(char)) for char in json_text)


def _numbered(point: int) -> str:
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def python_literal(value: Any) -> str:
    """Return a JSON value as a Python literal."""
    match value:
        case str():
            return quoted(value)
        case Mapping():
            items = (f"{quoted(key)}: {python_literal(item)}" for key, item in value.items())
            return f"{{{', '.join(items)}}}"
        case list() | tuple():
            return f"[{', '.join(map(python_literal, value))}]"
        case _:
            return repr(value)


def go_literal(value: Any) -> str:
    """Return a text as a Go literal; any other value as a Go literal of its JSON."""
    return quoted(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def typescript_literal(value: Any) -> str:
    """Return a JSON value as a TypeScript literal in ASCII, because U+2028 would end a line."""
    return json.dumps(value)


LITERALS: Final[dict[Language, Callable[[Any], str]]] = {
    "python": python_literal,
    "go": go_literal,
    "typescript": typescript_literal,
}


def _json(value: Any) -> str:
    return json.dumps(finite(value), ensure_ascii=False, indent=2)
