"""`mcp`: let agents ask the playground's questions, over the Model Context Protocol."""

from __future__ import annotations

import click

from playground.cli.command import command
from playground.cli.terminal import emit, guarded, say


@command("mcp --root ~/transcripts", "mcp --http --port 8790")
@click.option(
    "--root",
    "roots",
    multiple=True,
    help="A folder whose files may be read; repeatable. Default: the current folder.",
)
@click.option("--http", is_flag=True, help="Serve streamable HTTP in place of standard input.")
@click.option(
    "--host", default="127.0.0.1", help="With --http. A loopback address, for this machine."
)
@click.option("--port", default=8790, help="With --http. 0 means any free port.")
@click.option("--skill", is_flag=True, help="Print the skill that tells agents when to ask.")
@guarded
def mcp(roots: tuple[str, ...], http: bool, host: str, port: int, skill: bool) -> int:
    """Answer an agent's questions about caches, dialects and servers, as an MCP server.

    Eight tools: why a cache broke, what a server drops of a reply, which dialect a reply has, how a
    dialect writes a session, what a change of a prompt costs, which sessions a corpus has, whether
    a declaration is right, and what a finding means. Nothing is sent to a provider.
    """
    # The server comes first: without its package, no other error is worth reporting.
    from playground.plugins.mcp_server.serving import SKILL, make_server, serve_http  # isort: skip
    from playground.base.errors import InputFault
    from playground.base.hosts import is_loopback

    if not is_loopback(host):
        raise InputFault(
            f"the address {host!r} can be reached from other machines",
            where="--host",
            expected="127.0.0.1, localhost or ::1",
        )
    if skill:
        emit(SKILL.read_text(encoding="utf-8"))
        return 0
    server = make_server(roots)
    if http:
        serve_http(server, host, port, say)
    else:
        server.run("stdio")
    return 0
