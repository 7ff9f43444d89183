"""A report for a server's authors: the smallest reply of which it loses something, as a test for
the server's own suite and as the text of an issue.

Rule: what is made smaller is the reply; that the same thing is still lost is checked at each step.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.arguments import takes
from playground.dialects import Dialect, get_dialect
from playground.dialects.reading import parse
from playground.parsing.result import ParseResult
from playground.questions.server_view import server_view
from playground.recordings.recording import Recording
from playground.servers import ServerReading, get_server
from playground.servers.stretches import stretches
from playground.tool_formats import read_tools

_WORDS: Final = re.compile(r"\w+|\s+|[^\w\s]")
_CHARACTERS: Final = re.compile(r"[\s\S]")
_MOST_CHARACTERS: Final = 4_000_000  # that are read while a reply is made smaller


@dataclass(frozen=True, slots=True)
class ServerReport:
    """The smallest reply found, what is in it, what the server hands over and what it drops.
    `test` is "" where the server's suite is none that is known here."""

    server: str
    dialect: str
    text: str
    lossless: ParseResult
    reading: ServerReading
    test: str
    issue: str


@takes(recording=Recording, server="text")
def server_report(
    recording: Recording, dialect: str | Dialect, server: str, tools: Any = ()
) -> ServerReport | None:
    """The report about what a server loses of a recorded reply; None where it loses nothing."""
    chosen, listed = get_dialect(dialect), read_tools(tools)
    whole = server_view(recording, chosen, server, listed)
    lost = _lost(whole)
    if not lost:
        return None

    def shows(text: str) -> bool:
        read = parse(text, chosen, listed, recording.prefill, server=server)
        assert isinstance(read, ServerReading)
        return lost[0] in _lost(read) and _kin(read.lossless, whole.lossless)

    smallest = smaller(
        [(s.text, s.ended is not None) for s in stretches(whole.lossless.events)], shows
    )
    reading = parse(smallest, chosen, listed, recording.prefill, server=server)
    assert isinstance(reading, ServerReading)
    lossless = parse(smallest, chosen, listed, recording.prefill)
    return ServerReport(
        get_server(server, chosen.name).name,
        chosen.name,
        smallest,
        lossless,
        reading,
        _test(server, chosen.name, smallest, lossless),
        _issue(smallest, lossless, reading),
    )


def _kin(smaller: ParseResult, whole: ParseResult) -> bool:
    """Whether a smaller reply has nothing that the whole one has not: else it would show another
    thing, such as a call that is broken in a new way."""
    return (
        {call.name for call in smaller.tool_calls} <= {call.name for call in whole.tool_calls}
        and {found.code for found in smaller.findings} <= {found.code for found in whole.findings}
        and bool(smaller.reasoning) <= bool(whole.reasoning)
    )


def _lost(reading: ServerReading) -> list[str]:
    """What is dropped, more than white space, and what is handed over cut: without places."""
    found = [f for f in reading.told if f.code != "unknown-parser" and f.severity != "info"]
    return [finding.message for finding in found]


# making a text smaller


Part = tuple[str, bool]  # a text, and whether it is kept or left out as a whole


def smaller(parts: Sequence[Part], shows: Callable[[str], bool]) -> str:
    """The text of the parts with as much left out as can be, while it still `shows` (delta
    debugging: halves, quarters … down to words, then characters; a call that is whole stays so).
    Stops after four million characters of trials."""
    budget = _MOST_CHARACTERS
    for cutting in (_WORDS, _CHARACTERS):
        pieces = [
            (piece, whole)
            for text, whole in parts
            for piece in ([text] if whole else cutting.findall(text))
        ]
        parts, budget = _reduced(pieces, shows, budget)
    return _joined(parts)


def _joined(parts: Sequence[Part]) -> str:
    return "".join(text for text, _ in parts)


def _reduced(
    pieces: Sequence[Part], shows: Callable[[str], bool], budget: int
) -> tuple[Sequence[Part], int]:
    size = len(pieces)
    while size and budget > 0:
        start, size = 0, (size + 1) // 2
        while start < len(pieces) and budget > 0:
            tried = [*pieces[:start], *pieces[start + size :]]
            text = _joined(tried)
            budget -= len(text) + 1
            if shows(text):
                pieces = tried
            else:
                start += size
        size = size if size > 1 else 0
    return pieces, budget


# the report's texts


def _issue(text: str, lossless: ParseResult, reading: ServerReading) -> str:
    named = f"{reading.server} (parser {reading.parser})" if reading.parser else reading.server
    said = "\n".join(f"- {message}" for message in dict.fromkeys(_lost(reading)))
    source = f"\nWhere it was read: {reading.view.source}\n" if reading.view.source else ""
    return (
        f"# {named} loses part of a reply\n\n{said}\n{source}\n"
        f"The model's text:\n\n```text\n{text}\n```\n\n"
        f"What is in it:\n\n```json\n{_told(lossless)}\n```\n\n"
        f"What the client gets:\n\n```json\n{_told(reading)}\n```\n"
    )


def _told(result: ParseResult) -> str:
    return json.dumps(
        {
            "content": result.content,
            "reasoning": result.reasoning,
            "tool_calls": [
                {"name": call.name, "arguments": call.arguments} for call in result.tool_calls
            ],
        },
        ensure_ascii=False,
        indent=2,
        default=str,
    )


def _test(server: str, dialect: str, text: str, lossless: ParseResult) -> str:
    """A test that fails while the server loses what it loses."""
    reader = get_server(server, dialect)
    holes = {
        "parser": reader.parser.name if reader.parser else dialect,
        "text": json.dumps(text),
        "content": json.dumps(lossless.content.strip()),
        "reasoning": json.dumps(lossless.reasoning.strip()),
        "names": json.dumps([call.name for call in lossless.tool_calls]),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda hole: holes[hole[1]], reader.server.suite)
