"""Commands about what is sent to a provider: its payload, and the tools of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playground.base.wording import counted, keep_order
from playground.cli.shared import (
    dialects_option,
    in_dialects,
    json_option,
    load,
    parameter_option,
    parameters_of,
    rules_option,
    session_argument,
)
from playground.cli.terminal import guarded, json_text, print_json, report, say, table

if TYPE_CHECKING:
    from playground.base.findings import Finding
    from playground.nouns.tool_formats.mcp_servers import McpServer
    from playground.nouns.tools import ToolMetadata
    from playground.questions.provider_payload import ProviderPayload


@click.command()
@session_argument
@click.option("-d", "--dialect", default="native", help="Default: native.")
@click.option("--provider", "providers", multiple=True, help="Or a LiteLLM name. Default: all.")
@parameter_option
@rules_option
@click.option("--body", is_flag=True, help="Print the bodies.")
@json_option
@guarded
def payload(
    session: str,
    dialect: str,
    providers: tuple[str, ...],
    parameters: tuple[str, ...],
    rules: str | None,
    body: bool,
    as_json: bool,
) -> int:
    """Show the request each provider would get for SESSION, and how it differs from the rendered.

    Nothing is sent: LiteLLM's own adapters write the requests.
    """
    from playground.base.errors import InputFault
    from playground.questions.provider_models import PROVIDERS
    from playground.questions.provider_payload import provider_payload

    loaded, given = load(session), parameters_of(parameters)
    (chosen,) = in_dialects([dialect], rules)
    told: list[dict[str, Any]] = []
    status = 0
    for name in providers or PROVIDERS:
        try:
            found = provider_payload(loaded.session, chosen, name, given)
        except InputFault as fault:
            if len(providers) == 1:
                raise
            # If one of several providers refuses, show the others all the same.
            status = 1
            told.append({"provider": name, "refused": str(fault)})
            if not as_json:
                say(f"{name}: {fault}")
            continue
        status |= any(each.severity != "info" for each in found.differences)
        told.append(_payload_json(name, found))
        if not as_json:
            _show_payload(name, found, body)
    if as_json:
        print_json(told)
    return status


def _payload_json(name: str, found: ProviderPayload) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "provider": name,
        "calls": [{"method": c.method, "url": c.url, "body": c.body} for c in found.calls],
        "differences": [asdict(each) for each in found.differences],
    }


def _show_payload(name: str, found: ProviderPayload, body: bool) -> None:
    """Print the differences as a table; with `body`, the complete requests."""
    number = len(found.differences)
    say(f"{name} ({found.model}): {counted(number, 'difference')}")
    if found.grouped:
        rows = [[f"  {each.code}", each.where, each.message] for each in found.grouped]
        table(["  what", "where", "how"], rows)
    if not body:
        return
    for call in found.calls:
        say(f"  {call.method} {call.url}")
        say(json_text(call.body, indent=1))


@click.command()
@click.argument("file")
@dialects_option(required=False)
@click.option("--mcp", is_flag=True, help="FILE is an mcp.json: ask its servers, if you agree.")
@click.option("--yes", is_flag=True, help="With --mcp: do not ask before a program is started.")
@click.option("--seconds", default=20.0, help="With --mcp: how long a server may take.")
@click.option("--tokens", is_flag=True, help="Count tokens, and what smaller schemas save.")
@click.option("--model", "models", multiple=True, help="With --tokens; may be repeated.")
@click.option(
    "--portable", is_flag=True, help="Find what providers refuse, and what to write instead."
)
@click.option("--target", "targets", multiple=True, help="With --portable, such as openai-strict.")
@json_option
@guarded
def tools(
    file: str,
    dialects: tuple[str, ...],
    mcp: bool,
    yes: bool,
    seconds: float,
    tokens: bool,
    models: tuple[str, ...],
    portable: bool,
    targets: tuple[str, ...],
    as_json: bool,
) -> int:
    """List the tools of FILE in any form; with -d, list what a dialect drops of their schemas.

    FILE is JSON or YAML of a provider, MCP, OpenAPI, Python source (which is not run), a session
    or the name of a sample.
    """
    from playground.cli import tool_tables

    read, found = _tools_from_server(file, yes, seconds) if mcp else _read(file)
    if tokens or portable:
        shown = tool_tables.costs(read, models, dialects, as_json) if tokens else 0
        shown = tool_tables.portable(read, targets, as_json) if portable else shown
        return max(shown, report(found))
    if as_json:
        print_json(
            {
                "tools": [tool.model_dump(mode="json") for tool in read],
                "findings": [
                    {"code": f.code, "where": f.where, "message": f.message} for f in found
                ],
                "dropped": {name: _dropped(name, read) for name in dialects},
            }
        )
        return int(any(f.severity != "info" for f in found))
    rows = [[t.name, ", ".join(_parameters(t)), t.description.partition("\n")[0]] for t in read]
    table(["tool", "parameters", "description"], rows)
    if dialects:
        _losses(dialects, read)
    return report(found)


def _parameters(tool: ToolMetadata) -> list[str]:
    required = tool.required_parameters
    return [
        f"{name}{'' if name in required else '?'}: {p.type}" for name, p in tool.parameters.items()
    ]


def _read(file: str) -> tuple[list[ToolMetadata], list[Finding]]:
    from playground.base import paths
    from playground.sessions.tool_files import load_tools

    # A file of the user comes before a sample of the same name.
    if file in paths.samples() and not Path(file).exists():
        return list(load(file).session.tools), []
    read = load_tools(file)
    return read.tools, read.findings


def _tools_from_server(
    file: str, yes: bool, seconds: float
) -> tuple[list[ToolMetadata], list[Finding]]:
    from playground.nouns.tool_formats.mcp_servers import ask_servers, read_servers
    from playground.sessions.loading import file_bytes

    def allow(server: McpServer) -> bool:
        return yes or click.confirm(keep_order(f"Yes to {_name(server)}?"), err=True)

    servers = read_servers(file_bytes(file).decode("utf-8", "replace"), file)
    for server in servers:  # all of them, before the first question
        say(f"{_name(server)}: a yes would", err=True)
        for line in server.consequences():
            say(f"  {line}", err=True)
    asked = ask_servers(servers, allow, seconds).values()
    return [tool for read, _ in asked for tool in read], [f for _, found in asked for f in found]


def _name(server: McpServer) -> str:
    return json.dumps(server.name, ensure_ascii=False)


def _dropped(name: str, read: list[ToolMetadata]) -> list[dict[str, Any]]:
    from playground.dialects import get_dialect
    from playground.dialects.schema_losses import schema_facts

    facts = [fact for tool in read for fact in schema_facts(get_dialect(name), tool)]
    return [
        {"tool": f.tool, "where": f.where, "keyword": f.keyword, "kind": f.kind}
        for f in facts
        if not f.kept
    ]


def _losses(dialects: tuple[str, ...], read: list[ToolMetadata]) -> None:
    from playground.dialects import get_dialect
    from playground.dialects.schema_losses import KINDS, kept_by_kind, schema_facts

    rows = []
    for name in dialects:
        facts = [fact for tool in read for fact in schema_facts(get_dialect(name), tool)]
        kept = kept_by_kind(facts)
        rows.append([name, *(kept.get(kind, "") for kind in KINDS)])
    say("")
    table(["dialect", *KINDS], rows)
    for name in dialects:
        for fact in _dropped(name, read):
            say(f"{name} drops {fact['tool']} {fact['where']}: {fact['keyword']}")
