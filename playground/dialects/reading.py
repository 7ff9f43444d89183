"""`parse`: read one recorded or pasted answer in one dialect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import NoneType
from typing import TYPE_CHECKING, Any

from playground.base.arguments import pieces_of, pieces_of_stream, takes
from playground.base.findings import OBJECTIONS, Finding
from playground.dialects import Dialect, get_dialect, is_ours
from playground.dialects.declared import DeclaredDialect
from playground.dialects.misspelled_markers import call_in_object, near_marker, printed_response
from playground.dialects.other_dialects_markup import foreign_markup
from playground.dialects.unread_calls import filtered_tokens, foreign_closer, unread_call
from playground.nouns.events import ReasoningEvent, owned_text
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.parsing.parser import DialectParser
from playground.parsing.result import ParseResult, read_to_end, with_finding
from playground.parsing.switches import Switches

if TYPE_CHECKING:
    from playground.servers import ServerReader


@takes(
    answer=pieces_of("a text, bytes, or pieces of bytes", str, bytes),
    tools="list or nothing",
    prefill="text",
    switches=(Switches, NoneType),
    server="text",
)
def parse(
    answer: str | bytes | bytearray | Iterable[bytes],
    dialect: str | Dialect,
    tools: Sequence[Any] | None = None,
    prefill: str = "",
    switches: Switches | None = None,
    server: str = "",
) -> ParseResult:
    """Read a complete answer: text, bytes, or byte pieces cut anywhere.

    `tools`, in any known form, give types to arguments. `prefill` is the end of the prompt if the
    template began the answer there (an opened `<think>`). It sets the parser's state and is not in
    any span. `switches` replace the dialect's own, as some servers do; the result names them. With
    `server` (see `server_names`; `vllm:hermes` names a parser), the result is a
    `ServerReading`: what that server returns to its client. Its `server-drops` findings hold the
    text that is lost.

    Never raises for anything that the model wrote. Raises UnknownNameError for an unknown dialect
    or server.
    """
    chosen = get_dialect(dialect)
    prompt_data = PromptData(tool_metadata=_read_tools(tools))
    if not server:
        result = _read(answer, chosen.create_parser(prompt_data, prefill, switches))
        return with_final_findings(result, chosen, prompt_data)
    from playground.servers import get_server  # imported here: few calls name a server

    native, built_in = chosen.is_native_toolcalling(), is_ours(chosen.name)
    reader = get_server(server, chosen.name, already_read=native, is_built_in=built_in)
    server_prefill = reader.prefill(prefill)
    parser = parser_for(reader, chosen, prompt_data, server_prefill, switches)
    by_name = {tool.name: tool for tool in prompt_data.tool_metadata}
    return reader.reading(_read(answer, parser), parser, by_name, server_prefill)


def _read_tools(tools: Sequence[Any] | None) -> list[ToolMetadata]:
    if not tools:
        return []
    from playground.nouns.tool_formats import read_tools  # imported here: it loads five modules

    return read_tools(list(tools))


def with_final_findings(
    result: ParseResult, dialect: Dialect, prompt_data: PromptData
) -> ParseResult:
    """Add to a result the first finding that needs the complete reply, if there is one.

    It may be about a printed response or another dialect's calls. Without other findings than infos
    and a schema's objections it may also be about a misspelt marker, an object around a call, a
    call in an unknown form, a lone closer, or removed control tokens.
    """
    searched = _with_open_reasoning(result, dialect)
    finding = printed_response(result) or foreign_markup(searched, dialect, prompt_data)
    if finding is None and all(map(_is_about_no_slip, result.findings)):
        finding = (
            near_marker(searched, dialect, prompt_data)
            or call_in_object(result)
            or unread_call(searched, dialect, prompt_data)
            or foreign_closer(searched)
            or filtered_tokens(result, dialect)
        )
    return with_finding(result, finding) if finding else result


def _is_about_no_slip(earlier: Finding) -> bool:
    return earlier.severity == "info" or earlier.code in OBJECTIONS


def _with_open_reasoning(result: ParseResult, dialect: Dialect) -> ParseResult:
    """Add reasoning at the end of the reply to the content, if the dialect has reasoning tags
    without a closer. Only a call ends such reasoning, so an unreadable call may be in it."""
    if isinstance(dialect, DeclaredDialect) and not all(tags.close for tags in dialect.reasoning):
        last = next((event for event in reversed(result.events) if owned_text(event)), None)
        if isinstance(last, ReasoningEvent):
            return replace(result, content=f"{result.content}\n{last.text}")
    return result


def parser_for(
    reader: ServerReader,
    dialect: Dialect,
    prompt_data: PromptData,
    prefill: str,
    switches: Switches | None = None,
) -> DialectParser:
    """Return the dialect's parser, with the switches that the server changes."""
    own_switches = switches or dialect.create_parser(prompt_data).switches
    return dialect.create_parser(prompt_data, prefill, reader.switches(own_switches))


def _read(answer: str | bytes | bytearray | Iterable[bytes], parser: DialectParser) -> ParseResult:
    if isinstance(answer, str):
        return read_to_end(parser, [parser.feed_text(answer)])
    return read_to_end(parser, map(parser.feed, pieces_of_stream(answer)))
