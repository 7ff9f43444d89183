"""Commands about what is sent to a provider: its payload, and the tools of a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from playground.base.wording import counted, grouped, keep_order
from playground.cli.command import SESSION, command
from playground.cli.shared import (
    csv_option,
    dialects_option,
    in_dialects,
    json_option,
    load,
    loaded_tools,
    parameter_option,
    parameters_of,
    rules_option,
    session_argument,
    strict_option,
)
from playground.cli.terminal import (
    CSV,
    failed,
    guarded,
    is_set,
    json_text,
    print_json,
    report,
    say,
    show_rows,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playground.base.findings import Finding
    from playground.nouns.tool_formats.mcp_servers import McpServer
    from playground.nouns.tools import ToolMetadata
    from playground.questions.provider_payload import ProviderPayload


@command(
    "payload 02-parallel-calls --provider Anthropic",
    "payload 02-parallel-calls -d xml --provider OpenAI --body",
)
@session_argument
@click.option("-d", "--dialect", default="native", help="The dialect.")
@click.option("--provider", "providers", multiple=True, help="A provider or model. Default: all.")
@parameter_option
@rules_option
@click.option("--body", is_flag=True, help="Print the bodies.")
@strict_option
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
    """Show the request that each provider would get for SESSION, and how it differs from the
    rendered one.

    Nothing is sent: LiteLLM's own adapters write the requests.
    """
    from playground.base.errors import InputFault
    from playground.questions.provider_models import PROVIDERS
    from playground.questions.provider_payload import provider_payload

    loaded, extra_parameters = load(session), parameters_of(parameters)
    (chosen,) = in_dialects([dialect], rules)
    results: list[dict[str, Any]] = []
    has_findings = False
    for name in providers or PROVIDERS:
        try:
            provider_view = provider_payload(
                loaded.session, chosen, model=name, parameters=extra_parameters
            )
        except InputFault as fault:
            if len(providers) == 1:
                raise
            # If one of several providers refuses, the others are still shown.
            has_findings = True
            results.append({"provider": name, "refused": str(fault)})
            if not as_json:
                say(f"{name}: {fault}")
            continue
        has_findings |= any(
            difference.severity != "info" for difference in provider_view.differences
        )
        results.append(_payload_json(name, provider_view))
        if not as_json:
            _show_payload(name, provider_view, body)
    if as_json:
        print_json(results)
    return failed(has_findings)


def _payload_json(name: str, provider_view: ProviderPayload) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "provider": name,
        "calls": [{"method": c.method, "url": c.url, "body": c.body} for c in provider_view.calls],
        "differences": [asdict(each) for each in provider_view.differences],
    }


def _show_payload(name: str, provider_view: ProviderPayload, body: bool) -> None:
    """Print the differences as a table; with `body`, the complete requests."""
    number = len(provider_view.differences)
    say(f"{name} ({provider_view.model}): {counted(number, 'difference')}")
    if provider_view.grouped:
        rows = [
            [f"  {difference.code}", difference.where, difference.message]
            for difference in provider_view.grouped
        ]
        table(["  what", "where", "how"], rows)
    if not body:
        return
    for call in provider_view.calls:
        say(f"  {call.method} {call.url}")
        say(json_text(call.body, indent=1))


@command(
    "tools 02-parallel-calls -d xml -d hermes",
    "tools 02-parallel-calls --tokens",
    "tools 02-parallel-calls --portable",
)
@click.argument("file", type=SESSION)
@dialects_option("none; with --tokens, all")
@click.option("--mcp", is_flag=True, help="FILE is an mcp.json: ask its servers, after you agree.")
@click.option("--yes", is_flag=True, help="With --mcp: do not ask before a program is started.")
@click.option("--seconds", default=20.0, help="With --mcp: time limit for each server.")
@click.option("--tokens", is_flag=True, help="Count tokens, and what smaller schemas save.")
@click.option("--model", "models", multiple=True, help="One for --plan, several for --tokens.")
@click.option("--plan", is_flag=True, help="Simulate what deferring a session's tools would cost.")
@click.option(
    "--portable", is_flag=True, help="Find what providers refuse, and what to write instead."
)
@click.option("--target", "targets", multiple=True, help="With --portable, such as openai-strict.")
@strict_option
@csv_option
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
    plan: bool,
    portable: bool,
    targets: tuple[str, ...],
    as_json: bool,
) -> int:
    """List the tools of FILE in any form; with -d, list what a dialect drops of their schemas.

    FILE is JSON or YAML of a provider, MCP, OpenAPI, Python source (which is not run), a session
    or the name of a sample.
    """
    from playground.show.rows import rows_of

    if plan:
        from playground.base.registry import PluginMissingError, addition

        print_plan = addition("tools --plan")
        if print_plan is None:
            raise PluginMissingError("savings", "tools --plan")
        loaded = load(file)
        status: int = print_plan(loaded.session, "".join(models[:1]), as_json)
        return max(status, report(loaded.findings))
    if mcp:
        metadata, findings = _tools_from_servers(file, yes, seconds)
    else:
        read = loaded_tools(file)
        metadata, findings = read.tools, read.findings
    if tokens or portable:
        status = _print_costs(metadata, models, dialects, as_json) if tokens else 0
        status = _print_portability(metadata, targets, as_json) if portable else status
        return max(status, report(findings))
    if as_json:
        print_json(
            {
                "tools": [tool.model_dump(mode="json") for tool in metadata],
                "findings": [
                    {"code": f.code, "where": f.where, "message": f.message} for f in findings
                ],
                "dropped": {name: _dropped_facts(name, metadata) for name in dialects},
            }
        )
        return failed(any(f.severity != "info" for f in findings))
    cells = [(t.name, _parameters(t), t.description.partition("\n")[0]) for t in metadata]
    show_rows(rows_of("tool parameters description", cells))
    if dialects and not is_set(CSV):
        _print_losses(dialects, metadata)
    return report(findings)


def _parameters(tool: ToolMetadata) -> list[str]:
    required = tool.required_parameters
    return [
        f"{name}{'' if name in required else '?'}: {p.type}" for name, p in tool.parameters.items()
    ]


def _tools_from_servers(
    file: str, yes: bool, seconds: float
) -> tuple[list[ToolMetadata], list[Finding]]:
    from playground.nouns.tool_formats.mcp_servers import ask_servers, read_servers
    from playground.sessions.loading import file_bytes

    def allow(server: McpServer) -> bool:
        return yes or click.confirm(keep_order(f"Yes to {_name(server)}?"), err=True)

    servers = read_servers(file_bytes(file).decode("utf-8", "replace"), file)
    for server in servers:  # list all servers before the first question
        say(f"{_name(server)}: a yes would", err=True)
        for line in server.consequences():
            say(f"  {line}", err=True)
    answers = ask_servers(servers, allow, seconds).values()
    return [tool for tools, _ in answers for tool in tools], [
        f for _, findings in answers for f in findings
    ]


def _name(server: McpServer) -> str:
    return json.dumps(server.name, ensure_ascii=False)


def _dropped_facts(name: str, tools: list[ToolMetadata]) -> list[dict[str, Any]]:
    from playground.dialects import get_dialect
    from playground.dialects.schema_losses import schema_facts

    facts = [fact for tool in tools for fact in schema_facts(get_dialect(name), tool)]
    return [
        {"tool": f.tool, "where": f.where, "keyword": f.keyword, "kind": f.kind}
        for f in facts
        if not f.kept
    ]


def _print_losses(dialects: tuple[str, ...], tools: list[ToolMetadata]) -> None:
    from playground.dialects import get_dialect
    from playground.dialects.schema_losses import KINDS, kept_by_kind, schema_facts

    rows = []
    for name in dialects:
        facts = [fact for tool in tools for fact in schema_facts(get_dialect(name), tool)]
        kept_facts = kept_by_kind(facts)
        rows.append([name, *(kept_facts.get(kind, "") for kind in KINDS)])
    say("")
    table(["dialect", *KINDS], rows)
    for name in dialects:
        for fact in _dropped_facts(name, tools):
            say(f"{name} drops {fact['tool']} {fact['where']}: {fact['keyword']}")


def _print_costs(
    tools: Sequence[ToolMetadata], models: Sequence[str], dialects: Sequence[str], as_json: bool
) -> int:
    """Print tokens by tool, and below this table the tokens with smaller schemas."""
    from playground.questions.tool_schemas import MODELS, tool_costs
    from playground.show import rows

    all_costs = tool_costs(tools, models=models or MODELS, dialects=dialects)
    if as_json:
        print_json({**all_costs.as_json(), "rows": rows.tool_costs(all_costs).dicts()})
        return 0
    if is_set(CSV):
        show_rows(rows.tool_costs(all_costs))
        return 0
    costs = [*all_costs.tools, all_costs.total]
    head = [name if name in all_costs.exact else f"~ {name}" for name in all_costs.models]
    table(
        ["tool", *head, *all_costs.total.by_dialect],
        [[cost.tool, *map(grouped, (cost.by_model | cost.by_dialect).values())] for cost in costs],
    )
    first = all_costs.models[0]
    say(f"with smaller schemas, for {first}:")
    table(
        ["tool", "as it is", *all_costs.total.shorter],
        [
            [cost.tool, *map(grouped, (cost.by_model[first], *cost.shorter.values()))]
            for cost in costs
        ],
    )
    return 0


def _print_portability(tools: Sequence[ToolMetadata], targets: Sequence[str], as_json: bool) -> int:
    """Print the number of findings of each target, and all findings. With --strict, return 1 if
    there are findings. The schemas to send instead are only in the JSON."""
    from playground.questions.tool_schemas import tool_portability
    from playground.show import rows

    portability = tool_portability(tools, targets)
    if as_json:
        print_json(portability.as_json())
        return failed(bool(portability.findings))
    if is_set(CSV):
        show_rows(rows.portability(portability))
        return failed(bool(portability.findings))
    counts: dict[str, int] = {}
    for row in portability.rows:
        counts[row.title] = counts.get(row.title, 0) + len(row.findings)
    table(["target", "findings"], [[title, str(count)] for title, count in counts.items()])
    return report(portability.findings)
