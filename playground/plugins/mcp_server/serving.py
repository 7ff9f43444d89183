"""The MCP server: eight tools; documents and rules as resources.

Whatever a client sends, it gets an answer or one error line; no call ends the server.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial, wraps
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resources import FunctionResource
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import ValidationError

import playground.cache.rules as cache_rules
from playground.base import paths
from playground.base.errors import PlaygroundError, nearest_names
from playground.base.extras import missing_package
from playground.base.hosts import HostGate, as_host, own_names
from playground.plugins.mcp_server.answers import Answer, sendable, without_secrets
from playground.plugins.mcp_server.inputs import Roots
from playground.plugins.mcp_server.questions import Questions

SKILL = Path(__file__).with_name("SKILL.md")


class QuestionServer(MCPServer[Any]):
    """The server. If a call's arguments do not fit, it answers one line that names the faults."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        tools = {tool.name: tool.input_schema["properties"] for tool in await self.list_tools()}
        if name not in tools:
            raise ToolError(f"there is no tool {name!r}; {nearest_names(name, [*tools])}")
        for given in [*arguments]:
            if given not in tools[name]:
                nearest = nearest_names(given, [*tools[name]])
                known = ", ".join(tools[name])
                raise ToolError(f"{name} has no argument {given!r}; {nearest}; all: {known}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_fault_text(name, error.__cause__)) from error
            raise error.__cause__ if isinstance(error.__cause__, ToolError) else error from error


def make_server(folders: Sequence[str]) -> QuestionServer:
    """Return the server for files below these folders. Raises InputFault if one does not exist."""
    server = QuestionServer(
        "dialect-playground",
        title="Dialect playground",
        instructions=SKILL.read_text(encoding="utf-8").partition("\n---\n")[2].strip(),
        version=version("dialect-playground"),
        log_level="WARNING",
    )
    hints = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    for question in Questions(Roots.of(folders)).all:
        title = question.__name__.replace("_", " ").capitalize()
        server.add_tool(_tool(question), title=title, annotations=hints)
    for kind, path in _documents():
        mime = "application/json" if path.suffix == ".json" else "text/markdown"
        server.add_resource(
            FunctionResource.from_function(
                partial(path.read_text, encoding="utf-8"),
                uri=f"playground://{kind}/{path.stem}",
                name=f"{kind}/{path.stem}",
                mime_type=mime,
            )
        )
    return server


def _documents() -> list[tuple[str, Path]]:
    rules = Path(cache_rules.__file__).parent.glob("*.json")
    pages = (paths.documents() / "formats").glob("*.md")
    return [
        *(("dialects", path) for path in sorted(pages)),
        *(("cache-rules", path) for path in sorted(rules)),
    ]


def _tool(question: Callable[..., Answer]) -> Callable[..., CallToolResult]:
    """Return a question as a tool: its answer as text and JSON, or its error as a tool's error."""

    @wraps(question)
    def ask(**arguments: Any) -> CallToolResult:
        try:
            answer = sendable(question(**arguments))
        except PlaygroundError as error:
            raise ToolError(without_secrets(str(error))) from error
        except RecursionError as error:
            raise ToolError("the arguments are nested too deeply; expected flatter JSON") from error
        except ModuleNotFoundError as error:
            if missing := missing_package(error):
                raise ToolError(str(missing)) from error
            raise
        content = TextContent(type="text", text=answer.text())
        return CallToolResult(content=[content], structured_content=answer.model_dump(mode="json"))

    signature = inspect.signature(question, eval_str=True)
    result: Any = Annotated[CallToolResult, Answer]
    ask.__signature__ = signature.replace(return_annotation=result)  # type: ignore[attr-defined]
    return ask


def _fault_text(name: str, error: ValidationError) -> str:
    """Return one line that says, for at most three arguments, what is wrong and what would fit."""
    faults = []
    for fault in error.errors()[:3]:
        place = ".".join(map(str, fault["loc"]))
        given = without_secrets(repr(fault["input"]))
        faults.append(f"{place}: {fault['msg']}, not {given[:80]}")
    return f"{name}: {'; '.join(faults)}"


def http_app(server: QuestionServer, host: str) -> HostGate:
    """Return the app for streamable HTTP at `/mcp`. It answers only requests to this machine."""
    names = own_names(host)
    security = TransportSecuritySettings(
        allowed_hosts=[each for name in names for each in (name, f"{name}:*")],
        allowed_origins=[f"http://{name}:*" for name in names],
    )
    app = server.streamable_http_app(
        stateless_http=True, json_response=True, host=host, transport_security=security
    )
    return HostGate(app, names)


def serve_http(server: QuestionServer, host: str, port: int, say: Callable[..., None]) -> None:
    """Serve until a signal comes, and print the address. Raises InputFault for a taken port."""
    import uvicorn

    from playground.base.hosts import listening_socket

    listening = listening_socket(host, port)
    address = f"http://{as_host(host)}:{listening.getsockname()[1]}/mcp"
    say(f"listening on {address} (Ctrl-C stops)", err=True)
    config = uvicorn.Config(http_app(server, host), log_level="warning")
    uvicorn.Server(config).run(sockets=[listening])
