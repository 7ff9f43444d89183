"""`trial`: find the dialect that a model handles best."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from playground.base.wording import counted, grouped, seconds
from playground.cli.command import command
from playground.cli.shared import (
    csv_option,
    dialects_option,
    force_option,
    in_dialects,
    json_option,
    load,
    out_option,
    parameter_option,
    parameters_of,
    rules_option,
    session_argument,
    session_or_option,
)
from playground.cli.terminal import (
    CSV,
    guarded,
    is_set,
    print_json,
    say,
    say_written,
    show_rows,
    stopping,
    table,
)

if TYPE_CHECKING:
    from playground.plugins.trials.figures import Trial
    from playground.plugins.trials.plan import TrialPlan
    from playground.plugins.trials.scoring import Attempt
    from playground.sessions.session import Session


@command(
    "trial answer.jsonl --own-calls",
    "trial 02-parallel-calls --own-calls -d xml -d hermes --model anthropic/claude-sonnet-4-5",
)
@session_argument
@dialects_option("all")
@click.option(
    "--model", "models", multiple=True, help="A model to ask; may be repeated. Default: none."
)
@click.option("--repeats", default=5, help="How often each dialect and model is asked each case.")
@click.option(
    "--base-url", default="", help="An OpenAI-compatible server, such as that of `demo-server`."
)
@click.option("--own-calls", is_flag=True, help="Expect what the session's own model called.")
@click.option("--yes", is_flag=True, help="Begin without asking first; the cost is still printed.")
@out_option("Keep the answers in a session file that can be counted again.")
@force_option
@parameter_option
@rules_option
@csv_option
@json_option
@guarded
def trial(
    session: str,
    dialects: tuple[str, ...],
    models: tuple[str, ...],
    repeats: int,
    base_url: str,
    own_calls: bool,
    yes: bool,
    out: str,
    force: bool,
    parameters: tuple[str, ...],
    rules: str | None,
    as_json: bool,
) -> int:
    """Count how often each dialect and model makes the calls that SESSION expects.

    Without --model the session's recordings are counted, and nothing is sent. With --model, a
    forecast of the cost is printed first. Ctrl-C stops, and counts what has come. Exit status 1 if
    a request had no answer, or one that broke off.
    """
    from playground.base.errors import InputFault
    from playground.base.output import Batch
    from playground.plugins.trials.doubts import doubts
    from playground.plugins.trials.figures import Trial
    from playground.plugins.trials.plan import trial as planned

    is_limited = dialects or models
    chosen = in_dialects(dialects, rules) if is_limited or rules is not None else ()
    if rules is not None and not models:
        say("playground: --rules changes nothing without --model: nothing is asked", err=True)
    expecting = _expecting(load(session).session, own_calls)
    for doubt in doubts(expecting):
        say(f"playground: {doubt.where}: {doubt.message} ({doubt.code})", err=True)
    plan = planned(
        expecting,
        chosen if is_limited else (),
        models=models,
        repeats=repeats,
        base_url=base_url,
        parameters=parameters_of(parameters),
    )
    if out:
        Batch(inputs=[session], force=force).check(out)
    if models:
        say("\n".join(filter(None, (str(plan.cost), plan.too_few))), err=True)
        if not yes and not _agreed():
            say("nothing was sent; --yes begins it", err=True)
            return 0
    with stopping() as stop:
        try:
            result = plan.run(_print_attempt, stop.event)
        except InputFault as fault:  # programs get an empty result in the usual form
            say(f"nothing is counted: {fault}", err=True)
            result = Trial(())
    if out:
        _keep(plan, result, out, session, force)
    _show(plan, result, as_json)
    if stop.number is not None:
        return 128 + stop.number
    return int(any(arm.faults or arm.broken_off for arm in result.arms))


def _expecting(session: Session, from_own_calls: bool) -> Session:
    from dataclasses import replace

    from playground.plugins.trials.plan import own_calls

    session = replace(session, expected=own_calls(session)) if from_own_calls else session
    if not session.expected:
        from playground.base.errors import InputFault

        expected = "expected replies in the file (docs/trials.md), or --own-calls"
        raise InputFault("this session names no expected calls", expected=expected)
    return session


def _agreed() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and click.confirm("Begin?", err=True)


def _print_attempt(attempt: Attempt) -> None:
    outcome = attempt.fault or attempt.broken_off or attempt.missed or "right"
    delay = f", first word after {seconds(attempt.first_seconds)}" if attempt.first_seconds else ""
    who = f"{attempt.case}, {attempt.dialect}, {attempt.model} {attempt.number}"
    say(f"{who}: {outcome}{delay}", err=True)


def _keep(plan: TrialPlan, result: Trial, out: str, session: str, force: bool) -> None:
    from dataclasses import replace

    from playground.base.output import write_file
    from playground.sessions.native_format import dump_session

    recordings = tuple(each.recording for each in result.attempts if each.recording)
    text = dump_session(replace(plan.session, recordings=recordings))
    write_file(out, text, inputs=[session], force=force)
    say_written(out)


def _show(plan: TrialPlan, result: Trial, as_json: bool) -> None:
    from dataclasses import asdict

    from playground.plugins.trials.rows import trial_rows, with_bounds

    rows = result.rows
    pairs = [_pair(pair) for pair in result.pairs()]
    if as_json:
        misses = [asdict(miss) for miss in result.misses]
        refused = [{"dialect": d, "model": m, "why": w} for (d, m), w in plan.cost.refused.items()]
        cost = {**asdict(plan.cost), "refused": refused}
        tables = {"rows": trial_rows(result).dicts(), "arms": rows, "cost": cost}
        print_json({"verdict": result.verdict, **tables, "pairs": pairs, "misses": misses})
        return
    if is_set(CSV):
        show_rows(trial_rows(result))
    else:
        table(*with_bounds(result), _NUMERIC)
    say("parsed, right tool, right arguments: with 95 % intervals; medians of tokens and times")
    for miss in result.misses:
        who = f"{miss.case}, {miss.dialect}, {miss.model}"
        say(
            f"{who}: {miss.missed} ({miss.times:,} times)"
            if miss.times > 1
            else f"{who}: {miss.missed}"
        )
    for row in rows:
        for count, problem in ((row["faults"], "no answer"), (row["broken_off"], "broke off")):
            if count:
                say(f"{row['dialect']}, {row['model']}: {problem} {counted(count, 'time')}")
    for pair in pairs:
        say(
            f"{pair['first']} against {pair['second']}: only the first right "
            f"{counted(pair['only_first'], 'time')}, only the second "
            f"{counted(pair['only_second'], 'time')}, p = {grouped(pair['chance'], 3)}"
        )
    if rows:
        say(result.verdict)


_NUMERIC = frozenset({"attempts", "tokens"})


def _pair(pair: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {**asdict(pair), "chance": pair.chance}


@command("demo-server", "demo-server 02-parallel-calls --port 9000", name="demo-server")
@click.option("--port", default=8765, help="On 127.0.0.1.")
@session_or_option(required=False)
@guarded
def demo_server(port: int, session: str) -> int:
    """Serve a scripted model on loopback, for `record` without a key.

    The model calls one of the tools that the request offers, or in a text dialect one of those that
    the prompt documents. If the prompt documents none, the model calls a tool of SESSION.

    The server speaks OpenAI's API (--base-url http://127.0.0.1:PORT/v1, model openai/demo) and
    Anthropic's (--base-url http://127.0.0.1:PORT, model anthropic/demo). The model `demo-DIALECT`
    writes its call as text in that dialect; the streams of demo-error and demo-cut break off.
    """
    from playground.base.hosts import port_fault
    from playground.plugins.trials.demo_server import DemoServer

    tools = load(session).session.tools if session else ()
    try:
        server = DemoServer(port, tools)
    except (OSError, OverflowError) as error:
        raise port_fault(error, "127.0.0.1", port) from error
    with server:
        say(f"listening on {server.url} (Ctrl-C stops)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("")
    return 0
