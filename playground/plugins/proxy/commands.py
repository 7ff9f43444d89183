"""The command `playground proxy`."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playground.base.wording import visible
from playground.cli.command import command as cli_command
from playground.cli.shared import json_option
from playground.cli.terminal import guarded, json_text, say

if TYPE_CHECKING:
    from playground.plugins.proxy.addresses import Upstreams
    from playground.plugins.proxy.terminal_report import TerminalReport


@cli_command("proxy -- claude", "proxy --port 8788 --block cache-break")
@click.option("--port", default=8788, help="0 means any free port.")
@click.option("--host", default="127.0.0.1", help="By default, only this machine can reach it.")
@click.option("--public", is_flag=True, help="Allow a --host that other machines can reach.")
@click.option("--allow-host", "hosts", multiple=True, help="Answer to this name too; repeatable.")
@click.option(
    "--upstream", default="", help="Where to forward to. Default: each API's own provider."
)
@click.option(
    "--block",
    type=click.Choice(["cache-break"]),
    help="Answer 409 to a request that would break its session's cache, and do not forward it.",
)
@click.option("--scrub-emails", is_flag=True, help="Star out e-mail addresses too.")
@json_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@guarded
def proxy(
    port: int,
    host: str,
    public: bool,
    hosts: tuple[str, ...],
    upstream: str,
    block: str | None,
    scrub_emails: bool,
    as_json: bool,
    command: tuple[str, ...],
) -> int:
    """Forward an agent's requests to its provider, predict what the cache will do, and record all.

    The base URL of the agent is the proxy's address. `playground proxy -- claude` starts a command
    with the variables set (ANTHROPIC_BASE_URL, OPENAI_BASE_URL, GOOGLE_GEMINI_BASE_URL …) and ends
    when the command ends; the report then goes to the run's folder. Credentials are not stored.
    None is added to a request, except one in the address of --upstream or of such a variable, which
    is sent only to that address.
    """
    from playground.base.errors import InputFault
    from playground.plugins.proxy.addresses import upstreams
    from playground.plugins.proxy.serving import (
        Proxy,
        ProxySettings,
        new_run,
        run_until_stopped,
        run_with_child,
    )
    from playground.plugins.proxy.terminal_report import TerminalReport

    check_access(host, public, hosts)
    targets = upstreams(upstream, os.environ, port, child=bool(command))
    check_spending(targets, host, public)
    report, folder = TerminalReport(), new_run()
    write = _line_writer(report, as_json, folder / "said.txt" if command else None)
    settings = ProxySettings(
        targets, write, host, port, hosts, emails=scrub_emails, block=block is not None, out=folder
    )
    try:
        server = Proxy(settings)
    except InputFault:  # for example, the port is taken; nothing will be recorded
        folder.rmdir()
        raise
    try:
        if command:
            return run_with_child(server, command)
        say(f"listening on {server.url} (Ctrl-C stops); recordings in {folder}", err=True)
        asyncio.run(run_until_stopped(server))
        return 0
    finally:
        server.close()
        for line in report.summary():
            say(line, err=True)
        if command:
            say(f"recordings, and the report, in {folder}", err=True)


def check_access(host: str, public: bool, hosts: tuple[str, ...]) -> None:
    """Raise InputFault if other machines can reach the proxy and `public` does not allow it."""
    from playground.base.errors import InputFault
    from playground.base.hosts import is_loopback

    if not is_loopback(host) and not public:
        raise InputFault(
            f"the address {host!r} can be reached from other machines",
            where="--host",
            expected="127.0.0.1, or --public: whoever can reach it may send requests with a key of "
            "their own, and they are recorded here",
        )
    if "*" in hosts and not public:
        raise InputFault(
            "'*' lets any page in, by a name that it points at this machine (DNS rebinding)",
            where="--allow-host",
            expected="names, or --public",
        )


def check_spending(targets: Upstreams, host: str, public: bool) -> None:
    """Raise InputFault if others could spend a credential that an upstream's address holds."""
    from playground.base.errors import InputFault
    from playground.base.hosts import is_loopback

    spender = next((upstream for upstream in targets.all if upstream.spends), None)
    if spender is not None and (public or not is_loopback(host)):
        raise InputFault(
            f"the upstream's address ({spender.host}) holds what may be a password or a key, "
            "which whoever reaches the proxy would spend",
            where="--public",
            expected="an address without one: each client sends a key of its own",
        )


def _line_writer(
    report: TerminalReport, as_json: bool, path: Path | None
) -> Callable[[dict[str, Any]], None]:
    """Return a function that prints a line of the ledger, or writes it to `path` if given. Several
    threads may call it at once."""
    from playground.recordings.append_only_file import AppendOnlyFile

    file: AppendOnlyFile | None = None
    lock = threading.Lock()

    def write_line(line: dict[str, Any]) -> None:
        with lock:
            write_alone(line)

    def write_alone(line: dict[str, Any]) -> None:
        nonlocal file
        texts = list(report.lines(line))
        if file is None and path is not None:
            file = AppendOnlyFile(path)
        if file is not None:
            for text in texts:
                file.add(visible(text) + "\n")
            file.keep(now=True)
        elif as_json:
            say(json_text(line, indent=None))
        else:
            for text in texts:
                say(text)

    return write_line
