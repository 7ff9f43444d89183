"""Start the app: streamlit in this process, with the configuration file next to the package.

The address decides what visitors may do (`access`): if others can reach it, the app must be started
with `--public`.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import click

from playground.app.serving import access, warming
from playground.base import paths
from playground.base.hosts import as_host, is_loopback, listening_socket


def launch(
    options: list[str], public: bool = False, allow_run: bool = False, workspace: bool = True
) -> None:
    """Run the app; `options` are streamlit's own, and override the configuration file. Without
    `workspace`, sessions last as long as their tab.

    Raises InputFault as `decide_access` does, and for a requested port that cannot be opened.
    """
    from streamlit.web import cli

    settings = dict(_flat(tomllib.loads(paths.streamlit_config().read_text(encoding="utf-8"))))
    values_by_key = _options(options)
    address = values_by_key.get("server.address", [settings["server.address"]])[-1]
    allowed = access.decide_access(
        address, public, allow_run, values_by_key.get("server.allowedHosts", [])
    )
    access.set_access(replace(allowed, workspace=workspace))
    access.hide_workspace()
    _refuse_taken_port(address)
    flags = [f"--{key}={value}" for key, value in settings.items() if key not in values_by_key]
    # Streamlit checks host names for the WebSocket, our gate for the pages: both need the list.
    flags += [f"--server.allowedHosts={host.strip('[]')}" for host in allowed.hosts]
    # `announce_links` prints the links: Streamlit's lack the token, and one needs the network.
    flags.append("--logger.hideWelcomeMessage=true")
    cli.main(["run", str(paths.server_file()), *flags, *options], standalone_mode=False)


def _refuse_taken_port(address: str) -> None:
    """Raise InputFault for a requested port that is taken, as soon as Streamlit has read its
    settings: from its options, its files and the environment.

    Streamlit itself would exit with status 1 and not name the address. Its settings cannot be read
    earlier, because it would warn at each start that they have changed.
    """
    from streamlit import config

    def check() -> None:
        stop_listening()  # check only once: later, this app itself has taken the port
        if config.is_manually_set("server.port"):
            listening_socket(address, int(config.get_option("server.port"))).close()

    stop_listening = config.on_config_parsed(check, force_connect=True)


@asynccontextmanager
async def announce_links(_app: object) -> AsyncIterator[None]:
    """Print the app's links once it listens, because the port may differ from the requested one."""
    allowed = access.current()
    if allowed.token:
        click.echo("The playground, for those who may run models in it:")
    elif allowed.public:
        click.echo("The playground. Nobody can run models here, nothing is kept for anybody:")
    else:
        click.echo("The playground, for this machine: all its users can open it, without a token:")
    from streamlit import config

    for link in _links(allowed.token):
        click.echo(f"  {link}")
    if allowed.public and is_loopback(config.get_option("server.address") or "::"):
        click.echo("Only this machine reaches it. For others, add --server.address 0.0.0.0")
    warming.begin()
    yield


def _links(token: str) -> list[str]:
    """Return the links to the app. A server that listens on every interface has two: to localhost,
    and to this machine's address in its network."""
    import streamlit as st
    from streamlit import config, net_util
    from streamlit.web.server import server_util

    address = st.get_option("server.address") or "::"
    if config.is_manually_set("browser.serverAddress"):
        hosts = [st.get_option("browser.serverAddress")]
    elif address in ("0.0.0.0", "::"):
        own = net_util.get_internal_ip() or ""
        hosts = ["localhost", *([] if not own or is_loopback(own) else [own])]
    else:
        hosts = [as_host(address)]
    query = f"/?token={token}" if token else ""
    return [server_util.get_url(host) + query for host in hosts]


def _options(options: list[str]) -> dict[str, list[str]]:
    """Return `--key=value` and `--key value` as lists of values by key."""
    found: dict[str, list[str]] = {}
    for option, following in zip(options, [*options[1:], ""], strict=False):
        if option.startswith("--"):
            key, equals, value = option[2:].partition("=")
            found.setdefault(key, []).append(value if equals else following)
    return found


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield `[server] address = …` as `server.address`, as Streamlit's options are called."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value if isinstance(value, str) else json.dumps(value)
