"""`grammar`: print what a model may write in a dialect, for engines of constrained decoding."""

from __future__ import annotations

from typing import Final

import click

from playground.cli.command import command
from playground.cli.shared import json_option, load, session_argument, strict_option
from playground.cli.terminal import emit, guarded, print_json, report

_FORMS: Final = ("lark", "gbnf", "ebnf", "structural-tag")  # an import of them is slow


@command(
    "grammar 02-parallel-calls -d hermes",
    "grammar 02-parallel-calls -d hermes --form gbnf --choice required",
)
@session_argument
@click.option("-d", "--dialect", "name", required=True, help="The dialect.")
@click.option("--form", type=click.Choice(_FORMS), default="lark", show_default=True)
@click.option(
    "--choice",
    default="auto",
    show_default=True,
    help="auto (text or calls), required (calls), or the name of the tool to call.",
)
@click.option("--parallel/--one-call", default=None, help="Default: what the dialect allows.")
@click.option("--reasoning", is_flag=True, help="Reasoning may come first.")
@strict_option
@json_option
@guarded
def grammar(
    session: str,
    name: str,
    form: str,
    choice: str,
    parallel: bool | None,
    reasoning: bool,
    as_json: bool,
) -> int:
    """Print the grammar of a dialect for SESSION's tools.

    lark is for llguidance, gbnf for llama.cpp, ebnf and structural-tag for xgrammar. Findings say
    where the grammar accepts more or less than the tools' schemas.
    """
    from dataclasses import asdict

    from playground.dialects import get_dialect

    dialect = get_dialect(name)
    written = dialect.grammar(load(session).session.tools, choice, parallel, reasoning)
    text = written.form(form)
    if as_json:
        findings = [asdict(finding) for finding in written.findings]
        print_json({"dialect": dialect.name, "form": form, "text": text, "findings": findings})
    else:
        emit(text)
    return report(written.findings)
