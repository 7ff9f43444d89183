"""Write the texts of a report about a server: the issue, and a test for the server's own suite.

A test is written only if the server would fail it. The reply is quoted exactly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from playground.base.json_numbers import finite, is_finite
from playground.base.wording import fenced, visible
from playground.dialects.prompts import typed_schema
from playground.nouns.tools import ToolMetadata
from playground.parsing.result import ParseResult
from playground.servers import ServerReading
from playground.servers.reading import DOUBT_CODES
from playground.servers.segments import segments
from playground.servers.view import Language, Suite

_HOLE: Final = re.compile(r"\{\{(\w+)\}\}")
NO_LOSS: Final = ("unknown-parser", "unread-dialect", *DOUBT_CODES)
"""Codes of findings about how sure a reading is, not about what the server loses."""


def loss_messages(reading: ServerReading) -> list[str]:
    """Return a message for each text that a server drops or cuts short, without the text's place.

    White space alone does not count.
    """
    losses = [f for f in reading.server_findings if f.code not in NO_LOSS and f.severity != "info"]
    return [finding.message for finding in losses]


def client_view(result: ParseResult) -> dict[str, Any]:
    """Return as JSON values what a client gets of a reply, without blanks at the ends of texts."""
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
    source = f"\nWhere it was read: {reading.view.source}\n" if reading.view.source else ""
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
    """Return a test that fails as long as the server has this loss.

    Return "" if the suite is unknown, or if its assertions see no difference: reasoning, for
    instance, is read by another parser of the server.
    """
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

    JSON's escapes will not do: they write 😀 as two surrogates, which Go refuses and Python does
    not join.
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
    """Return a JSON value as a TypeScript literal, all in ASCII: U+2028 would end a line."""
    return json.dumps(value)


LITERALS: Final[dict[Language, Callable[[Any], str]]] = {
    "python": python_literal,
    "go": go_literal,
    "typescript": typescript_literal,
}


def _json(value: Any) -> str:
    return json.dumps(finite(value), ensure_ascii=False, indent=2, default=str)
