"""Commands about the cache: the places of marks, reads and costs of requests, a check for CI."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

import click

from playground.base.errors import InputFault
from playground.cli.check_reports import CheckReports, report_options
from playground.cli.command import CommandGroup, command, is_similar, no_command
from playground.cli.comparing import BaselineOptions, against_options
from playground.cli.shared import (
    csv_option,
    dialects_option,
    in_dialects,
    json_option,
    load,
    model_option,
    rules_option,
    session_argument,
    strict_option,
)
from playground.cli.terminal import guarded, progress_bar, report, report_briefly

if TYPE_CHECKING:
    from playground.cache.answers.cells import CacheSimulation
    from playground.cache.answers.what_if import WhatIf
    from playground.dialects.marks.policies import Policy
    from playground.sessions.loading import LoadedSession
    from playground.sessions.session import Session

_policies = click.option(
    "--policy",
    "policies",
    multiple=True,
    help="Replaces the dialect's own; as-sent: the requests as they were sent. Repeatable.",
)
_provider = click.option(
    "--provider", default="", help="Whose rules decide. Default: the model's provider."
)
_seconds_apart = click.option(
    "--seconds-apart",
    type=float,
    help="Seconds between requests. Default: the session's times, else 20.",
)
_files = click.option(
    "--policy-file", "files", multiple=True, help="A policy of your own; repeatable."
)
_explicit = click.option(
    "--explicit-caching/--no-explicit-caching",
    "explicit_caching",
    default=None,
    help="Let policy azad mark Gemini's requests. Default: as the session says.",
)
_CHANGES = [
    click.option(
        "--environment", default="as it is", help="Block's place: none, after, persisted or inside."
    ),
    click.option("--shuffle-tools", is_flag=True, help="Put a request's tools in another order."),
    click.option("--timestamp", is_flag=True, help="Put the time into the system prompt."),
    click.option("--ttl", default="", help="The lifetime of every mark, such as 1h."),
    click.option("--parallel", default=1, help="Join the calls of this many turns into one turn."),
    click.option("--answered", is_flag=True, help="Leave out the request that has no answer yet."),
]


def _what_if(command: Callable[..., int]) -> Callable[..., int]:
    """Gather the options in `_CHANGES` into one argument, `what_if`."""

    @wraps(command)
    def gathered(
        environment: str,
        shuffle_tools: bool,
        timestamp: bool,
        ttl: str,
        parallel: int,
        answered: bool,
        **others: Any,
    ) -> int:
        from playground.cache.answers.what_if import WhatIf

        changed = WhatIf(environment, shuffle_tools, timestamp, ttl, parallel, not answered)  # type: ignore[arg-type]
        return command(what_if=changed, **others)

    for option in reversed(_CHANGES):
        gathered = option(gathered)
    return gathered


@dataclass(frozen=True)
class _Options:
    """The options of the cache commands: a session in dialects, under policies."""

    session: str
    dialects: tuple[str, ...]
    policies: tuple[str, ...]
    files: tuple[str, ...]
    model: str
    rules: str | None
    explicit_caching: bool | None
    as_json: bool

    def load(self) -> LoadedSession:
        loaded = load(self.session, self.model)
        session = loaded.session.with_explicit_caching(self.explicit_caching)
        return replace(loaded, session=session)

    def all_policies(self) -> list[str | Policy]:
        from playground.dialects.marks.own_policies import load_policy

        return [*self.policies, *map(load_policy, self.files)]


def _with_options(command: Callable[..., int]) -> Callable[..., int]:
    """Gather the options of `_Options` into one argument."""

    @wraps(command)
    def gathered(
        session: str,
        dialects: tuple[str, ...],
        policies: tuple[str, ...],
        files: tuple[str, ...],
        model: str,
        rules: str | None,
        explicit_caching: bool | None,
        as_json: bool,
        **others: Any,
    ) -> int:
        rest = (dialects, policies, files, model, rules, explicit_caching, as_json)
        options = _Options(session, *rest)
        return command(options=options, **others)

    run: Callable[..., int] = gathered
    printing = (json_option, csv_option, strict_option)
    for option in (*printing, _explicit, rules_option, model_option, _files, _policies):
        run = option(run)
    return run


_BY_FLAGS: Final = "by-flags"


class _CacheGroup(CommandGroup):
    """A group that accepts flags in place of a subcommand: `cache SESSION --simulate`.

    A session file with the name of a subcommand needs its folder: `cache ./wire`.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Before click's own parsing, which would take the session's path for an unknown subcommand.
        is_subcommand = args and args[0] in (*self.commands, *ctx.help_option_names)
        is_word = args and not is_subcommand and not args[0].startswith("-")
        if is_word and is_similar(args[0], self.commands):
            raise click.UsageError(no_command(args[0], self.list_commands(ctx)), ctx)
        return super().parse_args(ctx, args if is_subcommand else [_BY_FLAGS, *args])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return "" if name == _BY_FLAGS else name, command, rest  # the usage line says `cache`


@click.group(cls=_CacheGroup)
def cache() -> None:
    """Show where cache marks land in a session, what its requests cost, and what is really sent.

    `cache SESSION` alone is `cache place SESSION`.
    """


@cache.command(
    examples=["cache place 06-cache-eight-turns -d xml", "cache place session.json --policy azad"]
)
@session_argument
@guarded
@dialects_option("all")
@_with_options
def place(options: _Options) -> int:
    """Show where cache marks land in SESSION, by dialects with equal marks; with -d, by part."""
    from playground.cli import cache_tables

    return _under_one_policy(options, cache_tables.print_marks)


@cache.command(
    examples=["cache wire 06-cache-eight-turns", "cache wire session.json -d xml --policy azad"]
)
@session_argument
@guarded
@dialects_option("native")
@_with_options
def wire(options: _Options) -> int:
    """Show SESSION's next request as LiteLLM's adapter would send it, and the marks that get lost.

    By default, the dialect is native.
    """
    from playground.cli import cache_tables

    return _under_one_policy(options, cache_tables.print_wire)


@cache.command(
    examples=[
        "cache simulate 12-long-tool-run -d native -d xml",
        "cache simulate 12-long-tool-run -d xml --policy azad --timestamp",
    ]
)
@session_argument
@_provider
@_seconds_apart
@click.option(
    "--every-dialect",
    is_flag=True,
    help="In all dialects, one after another; those with the same figures share a line.",
)
@guarded
@_what_if
@dialects_option("native")
@_with_options
def simulate(
    options: _Options,
    provider: str,
    seconds_apart: float | None,
    every_dialect: bool,
    what_if: WhatIf,
) -> int:
    """Show what SESSION's requests would read, write and cost: dialects by policies.

    A row has the share of all input that is read from the cache, and the cost of all input as a
    multiple of its cost without a cache. One dialect with one policy gets a row for each request,
    and all findings. The default is native; before it come the requests as they were sent, if
    SESSION holds them.
    """
    return _simulate(options, provider, seconds_apart, what_if, every_dialect)


@cache.command(examples=["cache validate logs/", "cache validate logs/ --csv"])
@click.argument("folder")
@csv_option
@json_option
@guarded
def validate(folder: str, as_json: bool) -> int:
    """Compare predictions with bills, for every recorded request of the files in FOLDER."""
    from playground.cli import cache_tables

    return cache_tables.print_validation(folder, as_json)


@cache.command(_BY_FLAGS, hidden=True)
@click.argument("session", required=False, default="")
@click.option("--simulate", "simulates", is_flag=True, help="As `cache simulate`.")
@click.option("--wire", "wires", is_flag=True, help="As `cache wire`.")
@click.option("--validate", "folder", default="", help="As `cache validate FOLDER`.")
@_provider
@_seconds_apart
@guarded
@_what_if
@dialects_option("all")
@_with_options
def by_flags(
    options: _Options,
    simulates: bool,
    wires: bool,
    folder: str,
    provider: str,
    seconds_apart: float | None,
    what_if: WhatIf,
) -> int:
    """Run the subcommand that a flag names; without such a flag, run `place`."""
    from playground.cache.answers.what_if import WhatIf
    from playground.cli import cache_tables

    if folder:
        return cache_tables.print_validation(folder, options.as_json)
    if not options.session:
        raise InputFault("no session is named", expected="SESSION, or `cache validate FOLDER`")
    if simulates:
        return _simulate(options, provider, seconds_apart, what_if)
    if what_if != WhatIf():
        raise InputFault(
            "the what-if options change a simulation, but no simulation was asked for",
            expected="`cache simulate`",
        )
    return _under_one_policy(
        options, cache_tables.print_wire if wires else cache_tables.print_marks
    )


def _simulate(
    options: _Options,
    provider: str,
    seconds_apart: float | None,
    what_if: WhatIf,
    every_dialect: bool = False,
) -> int:
    from playground.cache.answers.simulation import AS_IT_IS, simulated_by_dialect
    from playground.cli import cache_tables
    from playground.dialects.marks.policies import AS_SENT, as_policies

    if every_dialect and options.dialects:
        problem = f"--every-dialect and the dialect {options.dialects[0]!r}"
        raise InputFault(problem, expected="one or the other")
    loaded, policies = options.load(), options.all_policies()
    dialects = options.dialects or (() if every_dialect else ("native",))
    sent = any(not row.sub_agent for row in loaded.session.rows)
    if sent and what_if == AS_IT_IS and not (options.dialects or policies):
        policies = [AS_SENT, *as_policies(())]

    def simulated() -> Iterator[list[CacheSimulation]]:
        with progress_bar("simulating", options.as_json) as moved:
            yield from simulated_by_dialect(
                loaded.session,
                in_dialects(dialects, options.rules),
                policies,
                provider=provider,
                seconds_apart=seconds_apart,
                what_if=what_if,
                progress=moved,
            )

    is_default = not options.dialects
    status = cache_tables.print_simulation(simulated(), options.as_json, every_dialect, is_default)
    return max(report(loaded.findings), status)


def _under_one_policy(
    options: _Options,
    show: Callable[[Session, tuple[str, ...], str | None, str | Policy, bool], int],
) -> int:
    """Load the session and show it. Raises InputFault if several policies are named."""
    loaded, policies = options.load(), options.all_policies()
    if len(policies) > 1:
        raise InputFault("several policies are named", expected="one, or `cache simulate`")
    policy = policies[0] if policies else ""
    status = show(loaded.session, options.dialects, options.rules, policy, options.as_json)
    return max(report(loaded.findings), status)


@command(
    "check 12-long-tool-run -d xml --max-cost-multiple 0.35 --no-cache-break",
    "check session.json --against baseline.json --most-tokens-more 500 --report-to check.sarif",
)
@session_argument
@click.option(
    "-d", "--dialect", default="", help="Default: native; with --against, as requests were sent."
)
@click.option("--policy", default="", help="Default: the dialect's own.")
@click.option("--policy-file", default="", help="A policy of your own.")
@model_option
@rules_option
@_provider
@_seconds_apart
@click.option(
    "--max-cost-multiple",
    type=click.FloatRange(min=0),
    help="Limit of the input's cost, as a multiple of its full price.",
)
@click.option("--no-cache-break", is_flag=True, help="Fail if a request misses a cached prefix.")
@strict_option
@json_option
@guarded
@report_options
@against_options
@_what_if
def check(
    session: str,
    dialect: str,
    policy: str,
    policy_file: str,
    model: str,
    rules: str | None,
    provider: str,
    seconds_apart: float | None,
    max_cost_multiple: float | None,
    no_cache_break: bool,
    as_json: bool,
    what_if: WhatIf,
    against: BaselineOptions,
    reports: CheckReports,
) -> int:
    """Simulate SESSION's requests, and fail if a limit is exceeded: name at least one limit.

    A limit is --max-cost-multiple, --no-cache-break or --against. The exit status is 1, with the
    reasons, if a limit is exceeded or a part of the session could not be read (an error). Warnings
    are only printed, unless --strict is given.

    With --against, compare with a baseline instead: each session of the file with the one that has
    the same agent id, the same first words of the user or the same title, else the next in order.
    """
    from playground.cache.answers.simulation import simulate_cache
    from playground.cli import cache_tables
    from playground.dialects.marks.own_policies import load_policy

    has_limits = max_cost_multiple is not None or no_cache_break
    if against.has_baseline(has_limits):
        return against.check(session, model, dialect, as_json, reports)
    # A check without a limit would always pass.
    if not has_limits:
        expected = "--max-cost-multiple, --no-cache-break or --against"
        raise InputFault("no limit is given", expected=expected)
    loaded = load(session, model)
    simulation = simulate_cache(
        loaded.session,
        provider=provider,
        dialect=in_dialects([dialect or "native"], rules)[0],
        policy=load_policy(policy_file) if policy_file else policy,
        seconds_apart=seconds_apart,
        what_if=what_if,
    )
    failed = simulation.failures(max_cost_multiple, no_cache_break)
    cache_tables.print_check(simulation, failed, as_json)
    outcome = {
        "session": session,
        "failures": failed,
        "cost_share": None if simulation.errors else simulation.cost_permille / 1000,
        "findings": [*loaded.findings, *simulation.findings],
    }
    reports.write_all([outcome], [session])
    return report_briefly(loaded.findings) or int(bool(failed))
