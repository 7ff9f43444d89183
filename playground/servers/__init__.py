"""Servers: which parts of a reply reach the client of each server.

Our reading of a reply loses nothing. A server's reading often loses text, and its users have to
find out why: the model wrote a call, but vLLM dropped it. We do not imitate each server's parser. A
server's reading is a *projection* of ours: the same events over the same spans. A few choices
(`View`) decide which of them are delivered, as which kind, and which are dropped. Each dropped text
is kept in a finding.

One declaration per server
    `declarations/` has a TOML file for each server: a view for each of its parsers, and the
    dialects that a parser reads by default. Choices that several parsers share are presets
    (`presets.toml`). A view's `source` is the version, file and line in the server's own code from
    which we know the choice; nothing of that code is here. Recorded replies only check a
    declaration: choices that are fitted to the cases of one suite would not fit other replies.
    A file is read and checked when its server is first needed.

How a reply is projected
    `segments` groups consecutive events that a server delivers or drops together: a call with its
    markers, a failed call up to its closer, reasoning with its tags, text. `project` decides, in
    this order, which parsers run and what happens to calls, to other text, and to argument values.

What must not be changed
    - A step changes what an event is, never its span: spans have no gaps before and after it.
    - A step drops text only by `Projection.drop` or `drop_finding`, which keep it in a finding.
    - The default of a choice loses nothing.
"""

from __future__ import annotations

from playground.servers.declarations import all_servers, load_server, server_names
from playground.servers.reading import ServerReader, ServerReading
from playground.servers.view import Parser, Server, View

__all__ = [
    "Parser",
    "Server",
    "ServerReader",
    "ServerReading",
    "View",
    "all_servers",
    "get_server",
    "server_names",
]


def get_server(
    spec: str, dialect: str, *, already_read: bool = False, is_built_in: bool = True
) -> ServerReader:
    """Return the reader of a dialect's replies for `NAME` or `NAME:PARSER`.

    With `already_read` the replies hold native calls, which a server has made from the model's
    text. For a dialect that is not built in, no declaration says which parsers read it: the named
    parser is assumed to do so. If the server has no parser of that name, the dialect's default
    parser is used, and the reading has a finding about that.

    Raises UnknownNameError, which names similar servers.
    """
    name, _, parser = spec.partition(":")
    server = load_server(name)
    named = server.parser_named(parser)
    unknown = parser if named is None else ""
    chosen = named or server.default_parser(dialect)
    return ServerReader(server, chosen, dialect, already_read, is_built_in, unknown)
