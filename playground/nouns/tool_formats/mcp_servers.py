"""Get the tools of the MCP servers in an `mcp.json` by the official SDK (extra `[mcp]`).

`ask_servers` starts or asks no server before `allow` has agreed to its exact command or address.
`ask_server` is for a server to which the user has already agreed. Every server has a time limit.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playground.base.errors import InputFault, shown_address
from playground.base.extras import requirement
from playground.base.findings import Finding
from playground.base.json_numbers import json_fault
from playground.nouns.tool_formats.forms import read_tools_and_findings
from playground.nouns.tools import ToolMetadata

_VARIABLE: Final = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)\}")
_EXPECTED: Final = "mcpServers: an object of servers, each with a command or a url"
SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server as `mcp.json` declares it: a program with its arguments, or an address."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = ""
    cwd: str = ""  # the folder in which a program starts; "" for the current one

    def __str__(self) -> str:
        """Name the address without its keys, or the program with its arguments unchanged."""
        if self.url:
            return f"{self.name}: {shown_address(self.url)}"
        return f"{self.name}: {json.dumps([self.command, *self.args], ensure_ascii=False)}"

    def consequences(self) -> list[str]:
        """List everything to which the user consents, one fact a line.

        The program and each argument are quoted on lines of their own, so that none can be hidden.
        Values that the declaration holds are shown unchanged. Of the variables of the user's
        environment, only the names are shown, with the program or address that gets the values.
        """
        receiver = _quote(self.url) if self.url else "the program"
        lines = [f"ask {_quote(self.url)}" if self.url else f"start {_quote(self.command)}"]
        lines += [f"  in the folder {_quote(self.cwd)}"] if self.cwd else []
        lines += [f"  argument {_quote(argument)}" for argument in self.args]
        lines += [f"  environment {_quote(f'{k}={v}')}" for k, v in self.env.items()]
        lines += [f"  header {_quote(f'{k}: {v}')}" for k, v in self.headers.items()]
        texts = [self.cwd, *self.args, *self.env.values(), *self.headers.values()]
        names = dict.fromkeys(name for text in texts for name in _VARIABLE.findall(text))
        lines += [f"  ${name} of your environment goes to {receiver}" for name in names]
        return lines


def _quote(text: str) -> str:
    """Write a text as JSON, with every control or other invisible character escaped."""
    escaped = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in escaped)


Allow = Callable[[McpServer], bool]


def read_servers(text: str, where: str = "mcp.json") -> list[McpServer]:
    """Read the servers of an `mcp.json`. Raises InputFault with server and field."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputFault(json_fault(error), where=where, expected=_EXPECTED) from error
    listed = value.get("mcpServers", value.get("servers")) if isinstance(value, dict) else None
    if not isinstance(listed, dict) or not listed:
        raise InputFault("holds no servers", where=where, expected=_EXPECTED)
    return [_server(name, entry, where) for name, entry in listed.items()]


def ask_servers(
    servers: list[McpServer], allow: Allow, seconds: float = SECONDS
) -> dict[str, tuple[list[ToolMetadata], list[Finding]]]:
    """Ask every server for its tools. Return, by server name, the tools and findings about them.

    Raises InputFault if a server is not allowed, does not exist, does not start or does not answer
    within `seconds`, and if the SDK is not installed.
    """
    # All questions come before the first start, so that after a refusal no server has started.
    for server in servers:
        if not allow(server):
            raise InputFault(
                "not allowed", where=str(server), expected="your consent before the server is asked"
            )
    return {server.name: ask_server(server, seconds) for server in servers}


def ask_server(server: McpServer, seconds: float) -> tuple[list[ToolMetadata], list[Finding]]:
    """Start or ask one server without asking for consent, and return its tools."""
    try:
        import anyio
    except ImportError as error:
        raise _no_sdk() from error
    # anyio wraps every failure in nested exception groups; the user needs only the first failure.
    try:
        with ThreadPoolExecutor(max_workers=1) as pool:  # a notebook's thread has a loop of its own
            listed = pool.submit(anyio.run, _list_tools, server, seconds).result()
    except BaseExceptionGroup as group:
        raise _fault(server, _first_error(group), seconds) from group
    except (InputFault, KeyboardInterrupt):
        raise
    except Exception as error:
        raise _fault(server, error, seconds) from error
    return read_tools_and_findings(listed, server.name)


async def _list_tools(server: McpServer, seconds: float) -> list[dict[str, Any]]:
    import anyio

    try:
        from mcp import Client
    except ImportError as error:
        raise _no_sdk() from error
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # mcp also raises all that it logs
    with anyio.fail_after(seconds), _open_devnull() as errors:
        async with Client(_transport(server, errors)) as client:
            tools: list[dict[str, Any]] = []
            cursor: str | None = None
            while True:
                page = await client.list_tools(cursor=cursor)
                tools += [t.model_dump(by_alias=True, exclude_none=True) for t in page.tools]
                cursor = page.next_cursor
                if cursor is None:
                    return tools


def _open_devnull() -> Any:
    """Open a file that discards a program's log, which must not reach the user's terminal."""
    return Path(os.devnull).open("w", encoding="utf-8")


def _transport(server: McpServer, errors: Any) -> Any:
    if server.command:
        from mcp.client.stdio import StdioServerParameters, stdio_client

        env = {name: _fill_variables(value, server) for name, value in server.env.items()}
        args = [_fill_variables(argument, server) for argument in server.args]
        cwd = _fill_variables(server.cwd, server) or None
        parameters = StdioServerParameters(
            command=server.command, args=args, env=env or None, cwd=cwd
        )
        return stdio_client(parameters, errlog=errors)
    headers = {name: _fill_variables(value, server) for name, value in server.headers.items()}
    if server.kind == "sse":
        from mcp.client.sse import sse_client

        return sse_client(server.url, headers=headers)
    from mcp.client.streamable_http import (  # type: ignore[attr-defined]
        create_mcp_http_client,
        streamable_http_client,
    )

    return streamable_http_client(server.url, http_client=create_mcp_http_client(headers=headers))


def _fill_variables(text: str, server: McpServer) -> str:
    """Replace each `${NAME}` by the variable's value. Raises InputFault if it is not set."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in os.environ:
            raise InputFault("a variable that is not set", where=server.name, field=match[0])
        return os.environ[match[1]]

    return _VARIABLE.sub(value, text)


def _server(name: str, entry: Any, where: str) -> McpServer:
    def fault(field: str, problem: str) -> InputFault:
        return InputFault(problem, where=where, field=f"{name}.{field}", expected=_EXPECTED)

    if not isinstance(entry, dict):
        raise InputFault("not an object", where=where, field=name, expected=_EXPECTED)
    command, url = entry.get("command", ""), entry.get("url", "")
    if not isinstance(command, str) or not isinstance(url, str) or bool(command) == bool(url):
        raise fault("command", "a server needs either a command or a url")
    if url and (not url.startswith(("http://", "https://")) or not url.isprintable()):
        raise fault("url", f"not a web address: {shown_address(url)}")
    args = entry.get("args") or []
    if not isinstance(args, list) or not all(isinstance(item, str) for item in args):
        raise fault("args", "not a list of texts")
    pairs = {}
    for key in ("env", "headers"):
        pairs[key] = entry.get(key) or {}
        if not _maps_to_texts(pairs[key]):
            raise fault(key, "not an object of strings")
    cwd = entry.get("cwd") or ""
    if not isinstance(cwd, str) or (url and cwd):
        raise fault("cwd", "must be a text, and belongs to a server with a command")
    kind = str(entry.get("type") or entry.get("transport") or "")
    return McpServer(name, command, tuple(args), pairs["env"], url, pairs["headers"], kind, cwd)


def _maps_to_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _first_error(group: BaseExceptionGroup[Any]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _fault(server: McpServer, error: BaseException, seconds: float) -> InputFault:
    if isinstance(error, InputFault):
        return error
    if isinstance(error, TimeoutError):
        why = f"no answer within {seconds:g} seconds"
    else:
        why = str(error) or type(error).__name__
        with suppress(IndexError):
            why = why.splitlines()[0]
    return InputFault(why, where=str(server), expected="an MCP server that lists its tools")


def _no_sdk() -> InputFault:
    return InputFault(
        "MCP servers cannot be asked: the package mcp is not installed",
        expected=f"pip install {requirement('mcp')}",
    )
