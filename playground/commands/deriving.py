"""`dialect`: what a chat template's own dialect is, proven."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from playground.commands.shared import json_option
from playground.commands.terminal import guarded, print_json, report, say, table

if TYPE_CHECKING:
    from playground.derivation import DerivedDialect


@click.group()
def dialect() -> None:
    """Dialects of one's own."""


@dialect.command("from")
@click.argument("file")
@click.option("--name", default="derived", help="What to call it. Default: derived.")
@json_option
@guarded
def from_(file: str, name: str, as_json: bool) -> int:
    """Read a dialect off a chat template and prove it against the template.

    FILE is a .jinja file, a tokenizer_config.json or, with the package gguf, a GGUF file. Prints
    the declaration with the probe that showed each line, what the proof found, and the registered
    dialects that come nearest.
    """
    from playground.derivation import dialect_from_template

    found = dialect_from_template(file, name)
    if as_json:
        print_json(_plain(found))
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


def _proof(found: DerivedDialect) -> str:
    proof, derivation = found.derivation.proof, found.derivation
    of = len(proof.trials)
    return (
        f"{proof.read} of {of} probes read back, {proof.written} of {of} written byte for byte; "
        f"{derivation.tried} declarations tried, {derivation.alike} more did as well"
    )


def _plain(found: DerivedDialect) -> dict[str, Any]:
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
