"""`dialect`: make your own dialects from a template, replies or a file, and check their laws.

`chat-template`: find faults in a model's own chat template.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playground.base.errors import InputFault
from playground.base.wording import counted
from playground.cli.command import DIALECT_OR_FILE, CommandGroup
from playground.cli.shared import csv_option, force_option, json_option, out_option, strict_option
from playground.cli.terminal import (
    CSV,
    emit,
    guarded,
    is_set,
    print_json,
    report,
    say,
    say_written,
    show_rows,
    table,
)

if TYPE_CHECKING:
    from playground.dialects import Dialect
    from playground.plugins.own_dialects.derivation import DerivedDialect


_TO = "--to response-template"
_OUT = "Write to this file (.json)."


@click.group(cls=CommandGroup)
def dialect() -> None:
    """Make, show and check dialects of your own."""


@dialect.command(
    "from",
    examples=[
        "dialect from tokenizer_config.json",
        "dialect from tokenizer_config.json --name tides -o tides.json",
    ],
)
@click.argument("file")
@click.option("--name", default="derived", help="The dialect's name.")
@out_option(_OUT)
@force_option
@strict_option
@json_option
@guarded
def from_(file: str, name: str, out: str, force: bool, as_json: bool) -> int:
    """Derive a dialect from a chat template, and prove it against the template.

    FILE is a .jinja file, a tokenizer_config.json or, with the package gguf, a GGUF file. Prints
    the declaration, each line with the probe that showed it, the result of the proof, and the most
    similar registered dialects.
    """
    from playground.plugins.own_dialects.derivation import dialect_from_template

    derived = dialect_from_template(file, name)
    _write(derived, out, force, file)
    if as_json:
        print_json(_as_json(derived))
        return report(derived.findings())
    say(f"{derived.derivation.source}: {_proof(derived)}")
    rows = [list(row) for row in derived.derivation.origins(derived)]
    table(["field", "value", "shown by"], rows)
    for line in derived.derivation.cannot():
        say(f"not shown by the template: {line}")
    for near in derived.derivation.nearest(derived):
        differs = ", ".join(near.differs) or "nothing"
        say(f"near: {near.dialect} reads {near.reads}, writes {near.writes}; differs in {differs}")
    return report(derived.findings())


@dialect.command(examples=["dialect show hermes", "dialect show hermes -o own.json"])
@click.argument("name", type=DIALECT_OR_FILE)
@click.option(
    "--to",
    "form",
    type=click.Choice(("file", "response-template")),
    default="file",
    show_default=True,
    help="The dialect's file, or the response template by which transformers reads it.",
)
@click.option(
    "--start-anchor",
    default="",
    metavar="HEADER",
    help="Header of an assistant's turn in the chat template, for a response template.",
)
@click.option(
    "--portable", is_flag=True, help="A response template without recursion in its patterns."
)
@out_option(_OUT)
@force_option
@guarded
def show(name: str, form: str, start_anchor: str, portable: bool, out: str, force: bool) -> int:
    """Print a declared dialect as a file: NAME is a registered dialect, or a file.

    Every command finds dialects by name if their files are in the folder $PLAYGROUND_DIALECTS, or
    in `workspace/dialects` of $PLAYGROUND_HOME.

    A response template is JSON, the value of `response_template` in a tokenizer's configuration.
    Findings on stderr name the parts of the dialect that the template lacks. If there is no
    template, the exit status is 1.
    """
    from playground.dialects.files import dump_dialect

    definition = _dialect_of(name)
    if form == "response-template":
        result = definition.response_template(start_anchor, portable)
        if result.template:
            _write_json(result.json, out, force, name)
        report(result.findings)
        return int(not result.template)
    if start_anchor or portable:
        field = "--start-anchor" if start_anchor else "--portable"
        raise InputFault("this option is for response templates only", field=field, expected=_TO)
    _write_json(dump_dialect(definition), out, force, name)
    return 0


@dialect.command(examples=["dialect check hermes", "dialect check mine.json --examples 200"])
@click.argument("name", type=DIALECT_OR_FILE)
@click.option("-n", "--examples", type=int, default=50, help="For each law.")
@json_option
@guarded
def check(name: str, examples: int, as_json: bool) -> int:
    """Check the laws of all dialects on random examples of NAME, a registered dialect or a file.

    If a law does not hold, the smallest example that breaks it is shown (exit status 1).
    """
    from playground.plugins.own_dialects.laws import check_dialect

    checks = check_dialect(_dialect_of(name), examples)
    if as_json:
        print_json(checks.to_dict())
        return int(bool(checks.broken))
    for test in checks:
        result = test.broken.says if test.broken else f"holds for {test.tried:,} examples"
        say(f"law {test.law}: {test.title}: {result}")
        for label, text in test.broken.shown if test.broken else ():
            say(f"    {label}:")
            say("\n".join(f"        {line}" for line in text.split("\n")))
    return int(bool(checks.broken))


@dialect.command(
    examples=[
        "dialect propose first.txt second.txt",
        "dialect propose first.txt second.txt -o proposed.json",
    ]
)
@click.argument("files", nargs=-1, required=True)
@click.option("--name", default="proposed", help="The dialect's name.")
@out_option(_OUT)
@force_option
@strict_option
@json_option
@guarded
def propose(files: tuple[str, ...], name: str, out: str, force: bool, as_json: bool) -> int:
    """Propose the form in which replies call tools; each of FILES holds one reply.

    Give two or three replies of one model, with calls of different tools. Text that is the same in
    all calls becomes a marker, text that differs a hole. Shows the text that the form does not
    read. With --strict, the exit status is 1 if any of it looks like markup.
    """
    from playground.plugins.own_dialects.derivation import declaration, propose_dialect
    from playground.sessions.loading import file_bytes

    replies = [file_bytes(file).decode("utf-8", "replace") for file in files]
    proposal = propose_dialect(replies, name)
    _write(proposal.dialect, out, force, *files)
    if as_json:
        from playground.dialects.files import plain_dialect

        readings = [asdict(reading) for reading in proposal.readings]
        rest = {"registered": proposal.registered, "open": proposal.open, "readings": readings}
        print_json({"dialect": plain_dialect(proposal.dialect), **rest})
        return report(proposal.findings())
    say("\n".join(declaration(proposal.dialect)))
    if proposal.registered:
        say(f"these calls are read by: {', '.join(proposal.registered)}")
    for file, reading in zip(files, proposal.readings, strict=True):
        for tool_name, arguments in reading.calls:
            say(f"{file}: {tool_name} {json.dumps(arguments, ensure_ascii=False)}")
        for start, text in reading.texts:
            say(f"{file}, character {start}, left as text: {text.strip()!r}")
    return report(proposal.findings())


@click.group("chat-template", cls=CommandGroup)
def chat_template() -> None:
    """Models' own chat templates."""


@chat_template.command(examples=["chat-template audit tokenizer_config.json --shown"])
@click.argument("file")
@click.option("--shown", is_flag=True, help="Print each finding's request and rendered text.")
@strict_option
@csv_option
@json_option
@guarded
def audit(file: str, shown: bool, as_json: bool) -> int:
    """Find what a chat template loses, refuses, mixes up, or writes in a way that breaks caches.

    FILE is a .jinja file, a tokenizer_config.json or, with the package gguf, a GGUF file. It is
    rendered in a process of its own with small requests; --json prints all of them.
    """
    from playground.plugins.own_dialects.audit import audit_template
    from playground.show.rows import findings

    result = audit_template(file)
    rows = findings(result.findings)
    if as_json:
        print_json({**result.to_dict(), "rows": rows.dicts()})
        return report(result.findings)
    if is_set(CSV):
        show_rows(rows)
    count = counted(len(result.faults), "finding")
    say(f"{result.source}: {count} in {result.renderings} renderings")
    for fault in result.faults if shown else ():
        say(f"\n{fault.finding.code}: {fault.finding.message}")
        say(fault.text)
    return report(result.findings)


def _dialect_of(name: str) -> Dialect:
    """Return the dialect with a name, or in a file. Raises InputFault and UnknownNameError."""
    from playground.dialects import get_dialect
    from playground.dialects.files import SUFFIXES, load_dialect

    if name.endswith(SUFFIXES):
        return load_dialect(name)
    if Path(name).is_file():
        expected = f"a dialect's name, or a file that ends in {' or '.join(SUFFIXES)}"
        raise InputFault("this file is not a dialect", where=name, expected=expected)
    return get_dialect(name)


def _write(dialect: Dialect, out: str, force: bool, *inputs: str) -> None:
    """Write the dialect's file if `out` names one. Raises InputFault."""
    from playground.dialects.files import dump_dialect

    if out:
        _write_json(dump_dialect(dialect), out, force, *inputs)


def _write_json(text: str, out: str, force: bool, *inputs: str) -> None:
    """Write JSON to the file `out`, or print it if `out` is "". Raises InputFault."""
    from playground.base.output import write_file

    if not out:
        emit(text)
        return
    if not out.endswith(".json"):
        raise InputFault(f"{out!r} does not end in .json", where="--out", expected="NAME.json")
    write_file(out, text, inputs=inputs, force=force)
    say_written(out)


def _proof(derived: DerivedDialect) -> str:
    from playground.plugins.own_dialects.derivation import ONLY_FORMS

    proof, derivation = derived.derivation.proof, derived.derivation
    count = len(proof.trials)
    return (
        f"{proof.read} of {count} probes read back, {proof.written} of {count} written byte for "
        f"byte; {derivation.tried} declarations tried, {derivation.alike} more did as well. "
        f"{ONLY_FORMS}"
    )


def _as_json(derived: DerivedDialect) -> dict[str, Any]:
    derivation = derived.derivation
    return {
        "name": derived.name,
        "source": derivation.source,
        "declaration": [
            {"field": field, "value": value, "shown_by": probe}
            for field, value, probe in derivation.origins(derived)
        ],
        "request": asdict(derivation.form),
        "trials": [
            {"probe": t.probe, "read": t.read, "written": t.written, "template": t.theirs}
            | ({} if t.written else {"ours": t.ours})
            for t in derivation.proof.trials
        ],
        "tried": derivation.tried,
        "alike": derivation.alike,
        "cannot": derivation.cannot(),
        "nearest": [asdict(near) for near in derivation.nearest(derived)],
    }
