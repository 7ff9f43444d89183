"""Commands about the cache: where marks land, what requests will read and cost, a guard for CI."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from playground.commands.shared import (
    dialects_option,
    json_option,
    load,
    model_option,
    session_argument,
)
from playground.terminal import guarded, plain, print_json, report, table

if TYPE_CHECKING:
    from playground.cache_lab.placement import CachePlacement
    from playground.cache_lab.simulation import CacheSimulation
    from playground.sessions.loading import LoadedSession

_policies = click.option(
    "--policy", "policies", multiple=True, help="In place of the dialect's own; repeatable."
)
_provider = click.option("--provider", default="", help="Whose rules. Default: the model's.")
_apart = click.option("--seconds-apart", default=20.0, help="Between requests. Default: 20.")
_share = click.FloatRange(min=0)


@click.command()
@click.argument("session", required=False, default="")
@dialects_option(required=False)
@_policies
@click.option("--simulate", is_flag=True, help="What its requests would read, write and cost.")
@click.option("--validate", "folder", default="", help="Compare predictions with billed requests.")
@model_option
@_provider
@_apart
@json_option
@guarded
def cache(
    session: str,
    dialects: tuple[str, ...],
    policies: tuple[str, ...],
    simulate: bool,
    folder: str,
    model: str,
    provider: str,
    seconds_apart: float,
    as_json: bool,
) -> int:
    """Show where cache marks land in SESSION: a line for each dialect, every part with -d.

    With --simulate: the share of all input read from the cache and its cost beside uncached input,
    dialects by policies; every request where one of each is named. With --validate FOLDER: every
    recorded request of the folder's files, predicted against billed.
    """
    from playground.errors import InputFault

    if folder:
        return _validate(folder, as_json)
    if not session:
        raise InputFault("no session is named", expected="SESSION, or --validate FOLDER")
    loaded = load(session, model)
    if simulate:
        from playground.cache_lab.simulation import cache_matrix

        cells = cache_matrix(
            loaded.session, dialects, policies, provider=provider, seconds_apart=seconds_apart
        )
        _simulated(cells, as_json)
        return report(loaded.findings) or int(any(cell.errors for cell in cells))
    if len(policies) > 1:
        raise InputFault("several policies are named", expected="one --policy, or --simulate")
    return _placed(loaded, dialects, "".join(policies), as_json)


@click.command()
@session_argument
@click.option("-d", "--dialect", default="native", help="Default: native.")
@click.option("--policy", default="", help="Default: the dialect's own.")
@model_option
@_provider
@_apart
@click.option("--max-cost-multiple", type=_share, help="Of the same input without a cache.")
@click.option("--no-cache-break", is_flag=True, help="Every request reads what the last one left.")
@guarded
def check(
    session: str,
    dialect: str,
    policy: str,
    model: str,
    provider: str,
    seconds_apart: float,
    max_cost_multiple: float | None,
    no_cache_break: bool,
) -> int:
    """Simulate SESSION's requests; exit status 1, with the reasons, where a limit is passed."""
    from playground.cache_lab.simulation import simulate_cache
    from playground.errors import InputFault

    if max_cost_multiple is None and not no_cache_break:
        raise InputFault("no limit is given", expected="--max-cost-multiple or --no-cache-break")
    loaded = load(session, model)
    found = simulate_cache(
        loaded.session,
        provider=provider,
        dialect=dialect,
        policy=policy,
        seconds_apart=seconds_apart,
    )
    failed = found.failures(max_cost_multiple, no_cache_break)
    for line in failed:
        click.echo(plain(line))
    if not failed:
        cost = found.cost_permille / 1000
        click.echo(f"input costs {cost:.3f} of uncached ({found.dialect}, policy {found.policy})")
    return report(loaded.findings) or int(bool(failed))


def _simulated(cells: list[CacheSimulation], as_json: bool) -> None:
    from playground.show.wire import simulation_json

    if as_json:
        print_json([simulation_json(cell) for cell in cells])
    elif len(cells) == 1:
        head = ["request", "read", "written", "uncached", "cost", "state", "reason"]
        rows = [
            [
                str(number),
                f"{one.read:,}",
                f"{sum(one.written.values()):,}",
                f"{one.uncached:,}",
                f"{one.cost / max(1, one.total) / 1000:.3f}",
                one.state,
                cells[0].why(number - 1),
            ]
            for number, one in enumerate(cells[0].requests, 1)
        ]
        table(head, rows)
        click.echo(_sums(cells[0]))
    else:
        table(
            ["dialect", "policy", "read", "cost", "refused because"],
            [
                [
                    cell.dialect,
                    cell.policy,
                    f"{cell.read_permille / 10:.1f} %",
                    f"{cell.cost_permille / 1000:.3f}",
                    "; ".join(cell.errors),
                ]
                for cell in cells
            ],
        )


def _sums(cell: CacheSimulation) -> str:
    return (
        f"{cell.dialect}, policy {cell.policy}, rules of {cell.provider}: "
        f"{cell.read_permille / 10:.1f} % read from the cache, "
        f"cost {cell.cost_permille / 1000:.3f} of uncached input (tokens are estimates)"
    )


def _placed(loaded: LoadedSession, dialects: tuple[str, ...], policy: str, as_json: bool) -> int:
    from playground.cache_lab.placement import place_cache
    from playground.dialects import dialect_names
    from playground.show.wire import PLACEMENT_HEAD, placement_json, placement_rows

    placements = [place_cache(loaded.session, name, policy) for name in dialects or dialect_names()]
    if as_json:
        print_json([placement_json(placement) for placement in placements])
        return report(loaded.findings)
    if not dialects:
        head = ["dialect", "marks", "characters", "nothing marked because"]
        table(head, [_line(placement) for placement in placements])
        return report(loaded.findings)
    for placement in placements:
        click.echo(
            f"{placement.dialect}: {len(placement.marks)} marks for {placement.model_name} "
            f"({placement.family}), {placement.characters:,} characters"
        )
        if placement.refusal:
            click.echo(f"  nothing marked: {placement.refusal.explanation}")
        else:
            table(PLACEMENT_HEAD, placement_rows(placement))
    return report(loaded.findings)


def _line(placement: CachePlacement) -> list[str]:
    reason = placement.refusal.explanation if placement.refusal else ""
    return [placement.dialect, str(len(placement.marks)), f"{placement.characters:,}", reason]


def _validate(folder: str, as_json: bool) -> int:
    from playground.caching.validation import validate_folder

    found = validate_folder(folder)
    if as_json:
        print_json(found.as_json())
        return int(found.hit_right < len(found.predictable))
    head = ["file", "request", "rules", "state", "read", "billed", "right"]
    rows = [
        [
            row.file,
            str(row.index),
            row.provider,
            row.state,
            f"{row.predicted_read:,}",
            f"{row.billed_read:,}",
            "WRONG" if not row.hit_right else "exact" if row.tokens_exact else "size",
        ]
        for row in found.predictable
    ]
    table(head, rows)
    count = len(found.predictable)
    click.echo(f"{found.hit_right} of {count} hits and misses right, {found.tokens_exact} exact")
    for reason, number in found.unpredictable.items():
        click.echo(f"not predictable, {reason}: {number}")
    return int(found.hit_right < count)
