"""Servers: what of a reply arrives at the client that asked one of them.

Our reading of a reply loses nothing. A server's often does, and that is what people debug: the
model said it, vLLM dropped it. A server is not read with a parser of its own here. Its reading is
a *projection* of ours: the same events over the same spans, and a few choices (`View`) say which of
them are handed over, as what, and which are dropped. What is dropped stays, as a finding.

A declaration a server
    Each file has one `Server`: a `View` for each of its parsers, and which dialects a parser reads
    where none is named. What several parsers do alike has a name in `habits`. A view's `source` is
    the version, file and line in the server's own code where the choice was read; nothing of that
    code is here. Recorded replies only check a declaration: each suite tests its own quirk, and
    choices fitted to cases do not carry over.

How a reply is projected
    `stretches` cuts the merged events into what is kept or lost together: a call with its markers,
    a failed call up to its closer, reasoning with its tags, text. `project` walks its steps over
    them, in an order: which parsers run, then calls, then text by its place, then values.

What must not be changed
    - A step changes what an event is, never where: spans tile before and after each of them.
    - A step drops only through `Projection.drop` or `lost`, which leave the finding.
    - A choice has the lossless one as its default.
"""

from __future__ import annotations

from typing import Final

from playground.servers import (
    ai_sdk,
    clients,
    llama_cpp,
    ollama,
    rapid_mlx,
    sglang,
    vllm,
    vllm_mlx,
)
from playground.servers.reading import ServerReader, ServerReading, reader_for
from playground.servers.view import Parser, Server, View, chosen

__all__ = [
    "Parser",
    "Server",
    "ServerReader",
    "SERVERS",
    "ServerReading",
    "View",
    "get_server",
    "reader_for",
    "server_names",
]

SERVERS: Final[tuple[Server, ...]] = (
    vllm.SERVER,
    sglang.SERVER,
    llama_cpp.SERVER,
    ollama.SERVER,
    ai_sdk.SERVER,
    rapid_mlx.SERVER,
    vllm_mlx.SERVER,
    *clients.SERVERS,
)


def server_names() -> list[str]:
    return [server.name for server in SERVERS]


def get_server(
    spec: str, dialect: str, *, read_before: bool = False, ours: bool = True
) -> ServerReader:
    """The reader of a dialect's replies behind `NAME` or `NAME:PARSER`; `read_before` are those
    with native calls, which a server has made of what the model wrote. Of a dialect that is not
    `ours` no declaration knows who reads it: a parser that is named is taken to.

    Raises UnknownNameError, which lists the servers. A parser that is not the server's is told by
    a finding of the reading, and the dialect's own reads.
    """
    server, parser = chosen(SERVERS, spec)
    return reader_for(server, parser, dialect, read_before=read_before, ours=ours)
