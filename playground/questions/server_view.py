"""Show what clients receive from servers that parse a reply."""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType
from typing import Any

from playground.base.arguments import takes
from playground.dialects import Dialect, get_dialect, is_ours
from playground.dialects.reading import parser_for
from playground.nouns.prompt_data import PromptData
from playground.nouns.tool_formats import read_tools
from playground.nouns.tools import ToolMetadata
from playground.parsing.batches import BatchedParser
from playground.parsing.result import ParseResult, read_to_end
from playground.parsing.switches import Switches
from playground.recordings.feeding import feed
from playground.recordings.recording import Recording
from playground.servers import ServerReading, all_servers, get_server, server_names

__all__ = ["dropped_by_servers", "server_names", "server_view"]


@takes(recording=Recording, server="text", switches=(Switches, NoneType))
def server_view(
    recording: Recording,
    dialect: str | Dialect,
    server: str,
    tools: Any = (),
    switches: Switches | None = None,
) -> ServerReading:
    """Return what a client receives from a server that parses a recorded reply.

    `server` is a name such as `vllm`, or `vllm:hermes` with its parser. Raises UnknownNameError for
    an unknown server or parser.
    """
    chosen = get_dialect(dialect)
    native = chosen.is_native_toolcalling()
    built_in = is_ours(chosen.name)
    reader = get_server(server, chosen.name, already_read=native, is_built_in=built_in)
    data = PromptData(tool_metadata=read_tools(tools))
    prefill = reader.prefill(recording.prefill)
    parser = parser_for(reader, chosen, data, prefill, switches)
    batched = BatchedParser(parser)
    result = read_to_end(batched, (feed(batched, chunk) for chunk in recording.chunks))
    by_name = {tool.name: tool for tool in data.tool_metadata}
    return reader.reading(result, parser, by_name, prefill)


def dropped_by_servers(
    result: ParseResult, dialect: str | Dialect, tools: Sequence[ToolMetadata] = ()
) -> dict[str, int | None]:
    """Count the characters of a reply that each server drops. `dialect` is the reply's dialect.

    The count is None if the server has no parser that reads the dialect. Servers declared as
    lossless are left out.
    """
    chosen = get_dialect(dialect)
    parser = chosen.create_parser(PromptData(tool_metadata=list(tools)))
    by_name = {tool.name: tool for tool in tools}
    dropped: dict[str, int | None] = {}
    already_read = chosen.is_native_toolcalling()
    for server in all_servers():
        if not server.is_lossless:
            reader = get_server(server.name, chosen.name, already_read=already_read)
            reading = None if reader.is_unread else reader.reading(result, parser, by_name)
            dropped[server.name] = reading.dropped_characters if reading else None
    return dropped
