"""Options and arguments that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from playground.dialects.preflight import PreflightCheck
    from playground.sessions.loading import LoadedSession
    from playground.sessions.source import Source

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
parameter_option = click.option(
    "-p", "--parameter", "parameters", multiple=True, help="KEY=VALUE, such as seed=1."
)
force_option = click.option("--force", is_flag=True, help="Replace a file that is there.")
model_option = click.option("--model", default="", help="In place of the session's model.")
rules_option = click.option(
    "--rules", help="The dialect's rules: a text file, or a folder with a NAME.md a dialect."
)
ledger_option = click.option(
    "--ledger",
    default="",
    help="Check the user's credits first: a JSON object from key to credits. "
    "$PLAYGROUND_CREDIT_LEDGER; the key is $PLAYGROUND_USER_KEY.",
)
session_argument = click.argument("session")


def out_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Where a command writes. `-` is no name for standard output: a folder `-` was made of it."""
    return click.option("-o", "--out", default="", help=text, callback=_no_dash)


def _no_dash(_context: click.Context, _option: click.Parameter, value: str) -> str:
    if value == "-":
        raise click.BadParameter("`-` is no file; what can be printed is printed without -o")
    return value


def dialects_option(required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    text = "A dialect; may be given several times." + ("" if required else " Default: all.")
    return click.option("-d", "--dialect", "dialects", multiple=True, required=required, help=text)


def load(name: str, model: str = "") -> LoadedSession:
    """A session file in any format, a sample by its name, or `-`, whatever standard input holds;
    `model` replaces the session's."""
    from dataclasses import replace

    from playground import paths
    from playground.sessions.loading import first_session
    from playground.sessions.source import Source

    path = Path(name)
    if not path.exists() and name in paths.samples():
        path = paths.samples()[name]
    source = Source.open(path)
    loaded = _brought(source) if name == "-" else first_session(source)
    return replace(loaded, session=loaded.session.with_model(model))


def _brought(source: Source) -> LoadedSession:
    """What was written to standard input as a session: a reply too, and tools alone."""
    from playground.questions.recognition import as_session, recognise
    from playground.sessions.loading import first_session
    from playground.sessions.source import Source

    found = recognise(source.data, source.name)
    if found.kind in ("reply", "tools"):
        return as_session(found)
    return first_session(Source(found.name, found.data))


def parameters_of(given: Sequence[str]) -> dict[str, Any]:
    """The values of `parameter_option`: JSON, or else text. Raises InputFault."""
    from playground.errors import InputFault

    found: dict[str, Any] = {}
    for item in given:
        key, equals, value = item.partition("=")
        if not equals or not key:
            fault = f"{item!r} is not a parameter"
            raise InputFault(fault, where="--parameter", expected="KEY=VALUE")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


def preflight(ledger: str) -> tuple[PreflightCheck, ...]:
    """The checks of the environment, with `ledger_option` in place of its ledger."""
    import os

    from playground.dialects.preflight import LEDGER_VARIABLE, checks_from

    return checks_from({**os.environ, **({LEDGER_VARIABLE: ledger} if ledger else {})})
