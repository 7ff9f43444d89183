"""`dialect`: make your own dialects from a template, replies or a file, and check their laws."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from playground.base.errors import InputFault
from playground.cli.shared import force_option, json_option, out_option
from playground.cli.terminal import emit, guarded, print_json, report, say, table

if TYPE_CHECKING:
    from playground.dialects import Dialect
    from playground.lab.derivation import DerivedDialect


_OUT = "Write the dialect to this file (.json)."


@click.group()
def dialect() -> None:
    """Make, show and check dialects of your own."""


@dialect.command("from")
@click.argument("file")
@click.option("--name", default="derived", help="What to call it. Default: derived.")
@out_option(_OUT)
@force_option
@json_option
@guarded
def from_(file: str, name: str, out: str, force: bool, as_json: bool) -> int:
    """Read a dialect off a chat template and prove it against the template.

    FILE is a .jinja file, a tokenizer_config.json or, with the package gguf, a GGUF file. Prints
    the declaration with the probe that showed each line, the result of the proof, and the most
    similar registered dialects.
    """
    from playground.lab.derivation import dialect_from_template

    found = dialect_from_template(file, name)
    _write(found, out, force, file)
    if as_json:
        print_json(_as_json(found))
        return report(found.findings())
    say(f"{found.derivation.source}: {_proof(found)}")
    rows = [list(row) for row in found.derivation.origins(found)]
    table(["field", "value", "shown by"], rows)
    for line in found.derivation.cannot():
        say(f"not said by the template: {line}")
    for near in found.derivation.nearest(found):
        differs = ", ".join(near.differs) or "nothing"
        say(f"near: {near.dialect} reads {near.reads}, writes {near.writes}; differs in {differs}")
    return report(found.findings())


@dialect.command()
@click.argument("name")
@out_option(_OUT)
@force_option
@guarded
def show(name: str, out: str, force: bool) -> int:
    """Print a declared dialect as its file: NAME is a registered dialect, or a file.

    Every command knows the dialects whose files are in the folder $PLAYGROUND_DIALECTS, or in
    `workspace/dialects` of $PLAYGROUND_HOME, by their names.
    """
    from playground.dialects.files import dump_dialect

    found = _named(name)
    _write(found, out, force, name)
    if not out:
        emit(dump_dialect(found))
    return 0


@dialect.command()
@click.argument("name")
@click.option("-n", "--examples", type=int, default=50, help="For each law. Default: 50.")
@json_option
@guarded
def check(name: str, examples: int, as_json: bool) -> int:
    """Check the laws of all dialects on random examples of NAME, a registered dialect or a file.

    If a law does not hold, the smallest example that breaks it is shown (exit status 1).
    """
    from playground.lab.laws import check_dialect

    checks = check_dialect(_named(name), examples)
    if as_json:
        print_json(checks.to_dict())
        return int(bool(checks.broken))
    for each in checks:
        result = each.broken.says if each.broken else f"holds for {each.tried:,} examples"
        say(f"law {each.law}: {each.title}: {result}")
        for label, text in each.broken.shown if each.broken else ():
            say(f"    {label}:")
            say("\n".join(f"        {line}" for line in text.split("\n")))
    return int(bool(checks.broken))


@dialect.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--name", default="proposed", help="What to call it. Default: proposed.")
@out_option(_OUT)
@force_option
@json_option
@guarded
def propose(files: tuple[str, ...], name: str, out: str, force: bool, as_json: bool) -> int:
    """Propose the form in which replies call tools; each of FILES holds one reply.

    Give two or three replies of one model, with calls of different tools: text that is the same in
    all becomes a marker, text that varies a hole. Shows what the form leaves as text; exit status 1
    if any of that looks like markup.
    """
    from playground.lab.derivation import declaration, propose_dialect
    from playground.sessions.loading import file_bytes

    replies = [file_bytes(file).decode("utf-8", "replace") for file in files]
    found = propose_dialect(replies, name)
    _write(found.dialect, out, force, *files)
    if as_json:
        from playground.dialects.files import plain_dialect

        readings = [asdict(reading) for reading in found.readings]
        told = {"registered": found.registered, "open": found.open, "readings": readings}
        print_json({"dialect": plain_dialect(found.dialect), **told})
        return report(found.findings())
    say("\n".join(declaration(found.dialect)))
    if found.registered:
        say(f"these calls are read by: {', '.join(found.registered)}")
    for file, reading in zip(files, found.readings, strict=True):
        for called, arguments in reading.calls:
            say(f"{file}: {called} {json.dumps(arguments, ensure_ascii=False)}")
        for start, text in reading.left:
            say(f"{file}, character {start}, left as text: {text.strip()!r}")
    return report(found.findings())


def _named(name: str) -> Dialect:
    """Return a dialect by its name, or from a file. Raises InputFault and UnknownNameError."""
    from playground.dialects import get_dialect
    from playground.dialects.files import SUFFIXES, load_dialect

    return load_dialect(name) if name.endswith(SUFFIXES) else get_dialect(name)


def _write(found: Dialect, out: str, force: bool, *read: str) -> None:
    """Write the dialect's file if `out` names one. Raises InputFault."""
    from playground.base.output import write_file
    from playground.dialects.files import dump_dialect

    if not out:
        return
    if not out.endswith(".json"):
        raise InputFault(f"{out!r} does not end in .json", where="--out", expected="NAME.json")
    write_file(out, dump_dialect(found), inputs=read, force=force)
    say(f"written: {out}", err=True)


def _proof(found: DerivedDialect) -> str:
    proof, derivation = found.derivation.proof, found.derivation
    of = len(proof.trials)
    return (
        f"{proof.read} of {of} probes read back, {proof.written} of {of} written byte for byte; "
        f"{derivation.tried} declarations tried, {derivation.alike} more did as well"
    )


def _as_json(found: DerivedDialect) -> dict[str, Any]:
    derivation = found.derivation
    return {
        "name": found.name,
        "source": derivation.source,
        "declaration": [
            {"field": field, "value": value, "shown_by": probe}
            for field, value, probe in derivation.origins(found)
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
        "nearest": [asdict(near) for near in derivation.nearest(found)],
    }
