"""`compaction`: compare what ways of shortening a session's history would cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from playground.base.wording import dollars, grouped, percent
from playground.cli.shared import json_option, load, model_option, session_argument
from playground.cli.terminal import guarded, print_json, report, say, table

if TYPE_CHECKING:
    from playground.cache.answers.compacted import CompactionWhatIf, Shorter

_HEAD = ["policy", "cuts", "prefix lost", "marks", "last request", "cost", "saved", "pays from"]


@click.command()
@session_argument
@click.option(
    "--policy", "policies", multiple=True, help="Such as `drop old results`. Default: all."
)
@model_option
@click.option("--provider", default="", help="Whose rules apply. Default: the model's.")
@click.option("-d", "--dialect", default="native", help="If the session has no sent requests.")
@click.option("--limit", default=0, help="Tokens at which it begins. Default: 60 % of the most.")
@click.option("--keep", default=0, help="How many messages or results stay.")
@click.option("--summary", default=1_000, help="Tokens of a summary.")
@click.option(
    "--seconds-apart",
    type=float,
    help="Between requests. Default: the times in the session, else 20.",
)
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

    For each policy: how often it cuts, how much of the cached prefix the cuts lose, what is saved,
    and the turn from which on it has paid back. It does not test if the model still does its work.
    """
    from playground.cache.answers.compaction import compaction as compare_policies

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
        print_json(what_if.as_json())
    else:
        say(what_if.headline)
        head = [
            "policy",
            "cuts",
            "prefix lost",
            "marks",
            "last request",
            "cost",
            "saved",
            "pays from",
        ]
        table(head, [_row(what_if, row) for row in what_if.rows])
        for note in what_if.notes:
            say(note)
        say(f"limit {grouped(what_if.limit)} estimated tokens; model {what_if.model}")
    return report(loaded.findings)


def _row(what_if: CompactionWhatIf, row: Shorter) -> list[str]:
    paid_back_at, saved = what_if.pays_back(row), what_if.saved(row)[-1]
    money = what_if.dollars(abs(saved))
    sign = "-" if saved < 0 else ""
    marks = sum(cut.marks for cut in row.cuts)
    return [
        row.policy.name,
        str(len(row.cuts)),
        grouped(sum(cut.lost for cut in row.cuts)),
        f"{sum(cut.survive for cut in row.cuts)} of {marks}" if marks else "",
        grouped(row.tokens[-1]),
        percent(row.total / max(1, what_if.everything.total)),
        f"{grouped(saved // 1000)} tokens" if money is None else f"{sign}{dollars(money)}",
        "" if paid_back_at is None else f"turn {paid_back_at + 1}",
    ]
