"""`compaction` compares ways to shorten a session's history; `tools --plan` prints a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from playground.base.wording import grouped
from playground.cli.command import command
from playground.cli.shared import (
    csv_option,
    json_option,
    load,
    model_option,
    session_argument,
    strict_option,
)
from playground.cli.terminal import guarded, print_json, report, say, show_rows

if TYPE_CHECKING:
    from playground.sessions.session import Session

_SHOWN = (
    "policy",
    "cuts",
    "lost_prefix_tokens",
    "surviving_marks",
    "marks",
    "last_request_tokens",
    "relative_cost",
    "saved_tokens",
    "saved_dollars",
    "pays_from_turn",
)


@command("compaction 12-long-tool-run", "compaction session.json --limit 2000")
@session_argument
@click.option(
    "--policy", "policies", multiple=True, help="For example `drop old results`. Default: all."
)
@model_option
@click.option("--provider", default="", help="Its rules apply. Default: the model's.")
@click.option("-d", "--dialect", default="native", help="Used if SESSION has no sent requests.")
@click.option(
    "--limit", default=0, help="Input tokens to cut at. Default: 60 % of the longest request."
)
@click.option(
    "--keep", default=0, help="Newest messages or results kept. Default: the policy's own number."
)
@click.option("--summary", default=1_000, help="Tokens of a summary.")
@click.option(
    "--seconds-apart",
    type=float,
    help="Seconds between requests. Default: the session's times, else 20.",
)
@strict_option
@csv_option
@json_option
@guarded
def compaction(
    session: str,
    policies: tuple[str, ...],
    model: str,
    provider: str,
    dialect: str,
    limit: int,
    keep: int,
    summary: int,
    seconds_apart: float | None,
    as_json: bool,
) -> int:
    """Show what SESSION would cost if its history were shortened, compared with keeping all of it.

    The rows say, for each policy, how often it cuts, how much of the cached prefix the cuts lose,
    what is saved, and the turn from which on the policy has paid back. Whether the model still does
    its work is not tested.
    """
    from playground.plugins.savings.compaction import compaction as compare_policies
    from playground.plugins.savings.rows import compaction_rows

    loaded = load(session, model)
    what_if = compare_policies(
        loaded.session,
        policies=policies,
        provider=provider,
        dialect=dialect,
        limit=limit,
        keep=keep,
        summary=summary,
        seconds_apart=seconds_apart,
    )
    if as_json:
        print_json({**what_if.as_json(), "rows": compaction_rows(what_if).dicts()})
    else:
        say(what_if.headline)
        show_rows(compaction_rows(what_if), *_SHOWN)
        for note in what_if.notes:
            say(note)
        say(f"limit {grouped(what_if.limit)} estimated tokens; model {what_if.model}")
    return report(loaded.findings)


def print_plan(session: Session, model: str, as_json: bool) -> int:
    """Print what the session's tools cost as they are, and with some of them deferred."""
    from playground.plugins.savings.rows import plan_rows, tool_rows
    from playground.plugins.savings.tool_plan import plan_tools

    plan = plan_tools(session, model=model)
    if as_json:
        print_json({**plan.as_json(), "rows": plan_rows(plan).dicts()})
        return 0
    say(plan.headline)
    show_rows(plan_rows(plan))
    show_rows(tool_rows(plan))
    for line in plan.assumed:
        say(f"assumed: {line}")
    if plan.source:
        say(f"deferred tools: {plan.source}; model {plan.model}")
    return 0
