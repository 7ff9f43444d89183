"""The command `playground corpus`: build a corpus of recorded sessions, and ask it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from playground.base.wording import counted, grouped, visible
from playground.cli.command import CommandGroup
from playground.cli.shared import csv_option, json_option
from playground.cli.terminal import (
    CSV,
    csv_text,
    emit,
    guarded,
    is_set,
    print_json,
    say,
    table,
    tell_starred_secrets,
)

if TYPE_CHECKING:
    from playground.plugins.corpus.answers import CorpusAnswer
    from playground.plugins.corpus.building import Built

_MOST_LISTED = 10  # faults that are listed


@click.group(cls=CommandGroup)
def corpus() -> None:
    """Many recorded sessions: build a corpus of them, and ask it."""


@corpus.command(examples=["corpus build facts/ logs/", "corpus build hashed/ logs/ --redact"])
@click.argument("out")
@click.argument("inputs", nargs=-1, required=True)
@click.option("--redact", is_flag=True, help="Store lengths and hashes in place of texts.")
@click.option("--receipts", is_flag=True, help="Store how much of each file is in its sessions.")
@click.option("--engine", default="pool", help="serial, pool or ray.")
@click.option("--workers", default=0, help="Processes. Default: one for each processor.")
@click.option(
    "--address", default="", help="A Ray cluster's address. Default: Ray on this machine."
)
@json_option
@guarded
def build(
    out: str,
    inputs: tuple[str, ...],
    redact: bool,
    receipts: bool,
    engine: str,
    workers: int,
    address: str,
    as_json: bool,
) -> int:
    """Build or refresh the corpus in OUT, a folder or an address, from INPUTS: files, folders,
    patterns, addresses.

    Content that is in the corpus already is not analysed again. The rows of a file that changed or
    is gone are removed. A build that was stopped continues where it ended. Keys and tokens are
    always replaced by stars.
    """
    from dataclasses import asdict

    from playground.plugins.corpus.building import build_corpus

    with _progress() as progress:
        built = build_corpus(
            out,
            inputs,
            redact=redact,
            receipts=receipts,
            engine=engine,
            workers=workers,
            address=address,
            progress=progress,
        )
    if as_json:
        print_json(asdict(built))
    else:
        _report(built)
    return int(bool(built.aside or built.faults))


@corpus.command(examples=["corpus compact facts/"])
@click.argument("out")
@json_option
@guarded
def compact(out: str, as_json: bool) -> int:
    """Compact the corpus in OUT: sort its facts by month, and store each text only once."""
    from playground.plugins.corpus.compaction import compact_corpus

    rows = compact_corpus(out)
    if as_json:
        print_json({"rows": rows})
    else:
        say(f"one shard: {', '.join(f'{grouped(count)} {name}' for name, count in rows.items())}")
    return 0


@corpus.command(
    examples=[
        "corpus ask facts/",
        "corpus ask facts/ failures --by dialect,model",
        "corpus ask facts/ breaks --by cause --csv",
    ]
)
@click.argument("out")
@click.argument("question", default="")
@click.option("--by", help="Columns with commas between, such as cause,week.")
@click.option("--where", "filters", multiple=True, help="COLUMN=VALUE; may be given several times.")
@click.option("--since", help="Start time, such as 2026-11-01.")
@click.option("--until", help="End time, exclusive.")
@click.option("--limit", type=int, help="Maximum number of rows.")
@click.option("--seconds", default=30.0, help="Time limit of the question.")
@click.option("--analysis", type=int, help="Use the facts of an older version of our analysis.")
@click.option("--sql", default="", help="SQL over the views, in place of a question.")
@csv_option
@json_option
@guarded
def ask(
    out: str,
    question: str,
    by: str | None,
    filters: tuple[str, ...],
    since: str | None,
    until: str | None,
    limit: int | None,
    seconds: float,
    analysis: int | None,
    sql: str,
    as_json: bool,
) -> int:
    """Ask the corpus in OUT a named QUESTION, or SQL; without either, list the questions."""
    from playground.base.errors import InputFault
    from playground.plugins.corpus.asking import corpus as opened
    from playground.plugins.corpus.questions import question_names

    if sql and question:
        raise InputFault("a question and --sql", expected="one of the two")
    opened_corpus = opened(out, analysis)
    if sql:
        answer = opened_corpus.sql(sql, limit=1_000 if limit is None else limit, seconds=seconds)
    elif question:
        conditions = {**_filters(filters), "since": since, "until": until}
        answer = opened_corpus.ask(question, by, limit=limit, seconds=seconds, **conditions)
    else:
        table(["question", "asks"], [list(pair) for pair in question_names().items()])
        return 0
    if as_json:
        print_json(answer.plain())
    else:
        _print(answer)
    return 0


@corpus.command(examples=["corpus simulate facts/"])
@click.argument("out")
@csv_option
@json_option
@guarded
def simulate(out: str, as_json: bool) -> int:
    """Simulate, by today's rules, the caches for OUT's requests, if recorded as they were sent."""
    from playground.plugins.corpus.asking import corpus as opened
    from playground.plugins.corpus.simulating import simulate_corpus

    answer = simulate_corpus(opened(out))
    if as_json:
        print_json(answer.plain())
    else:
        _print(answer)
    return 0


@corpus.command(examples=["corpus session facts/ ID > session.json"])
@click.argument("out")
@click.argument("id")
@guarded
def session(out: str, id: str) -> int:
    """Print a session of the corpus in OUT, by the ID that an answer gave, as a session file."""
    from playground.plugins.corpus.asking import corpus as opened
    from playground.sessions.native_format import dump_session

    emit(dump_session(opened(out).session(id)))
    return 0


def _filters(options: tuple[str, ...]) -> dict[str, Any]:
    """Return the filters of `--where`. A column that is given twice may have either value."""
    from playground.cli.shared import parameters_of

    filters: dict[str, Any] = {}
    for option in options:
        for name, value in parameters_of([option]).items():
            text = value if isinstance(value, bool) else str(value)
            filters.setdefault(name, []).append(text)
    return filters


def _print(answer: CorpusAnswer) -> None:
    rows = answer.plain()["rows"]
    if is_set(CSV):
        emit(csv_text(answer.columns, [list(row.values()) for row in rows]))
        return
    table(answer.columns, [[_cell(value) for value in row.values()] for row in rows])
    more = "; there are more" if answer.cut else ""
    say(f"{counted(len(rows), 'row')} in {grouped(answer.seconds, 2)} s{more}", err=True)
    for note in answer.notes:
        say(note, err=True)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return grouped(value)
    return visible(str(value))


def _report(built: Built) -> None:
    nouns = {"calls": "calls in replies", "histories": "tools called in histories"}
    rows = ", ".join(f"{grouped(n)} {nouns.get(name, name)}" for name, n in built.rows.items())
    say(f"{counted(built.made, 'shard')} built, {grouped(built.kept)} there already: {rows}")
    for name, problems in (("left out", built.faults), ("set aside", built.aside)):
        for entry in problems[:_MOST_LISTED]:
            file, problem = entry["name"], entry["problem"]  # most problems begin with the name
            text = problem if problem.startswith(file) else f"{file}: {problem}"
            say(visible(f"{name}: {text}"), err=True)
        if len(problems) > _MOST_LISTED:
            say(f"{name}: {grouped(len(problems) - _MOST_LISTED)} more; --json lists all", err=True)
    tell_starred_secrets(built.starred)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield a function that moves a progress bar, or None if standard error is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=1, label="looking", file=sys.stderr) as bar:

        def on_progress(what: str, done: int, size: int) -> None:
            bar.label = what
            bar.length = size or done
            bar.update(done - bar.pos)

        yield on_progress
