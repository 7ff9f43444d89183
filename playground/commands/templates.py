"""Commands about conversation templates: run one against scripted answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playground.commands.shared import json_option
from playground.terminal import guarded, plain, print_json

if TYPE_CHECKING:
    from playground.conversations import Outcome


@click.group()
def template() -> None:
    """Conversation templates: programs that guide an assistant."""


@template.command()
@click.argument("templates")
@click.option("--template", "name", default="default", help="Which of the set. Default: default.")
@click.option("--input", "given", default="{}", help="A JSON object, or @FILE: the data.")
@click.option("--answers", default="[]", help="A JSON list, or @FILE: what the model answers.")
@click.option("--functions", default="{}", help="A JSON object, or @FILE: results by function.")
@click.option("--tools", default="", help="A file of tools, in any form that is known.")
@click.option("--history", default="[]", help="A JSON list, or @FILE: the conversation so far.")
@json_option
@guarded
def run(
    templates: str,
    name: str,
    given: str,
    answers: str,
    functions: str,
    tools: str,
    history: str,
    as_json: bool,
) -> int:
    """Run a template of the file TEMPLATES on --input; nothing is sent, answers are scripted."""
    from playground.conversations import Answers, load_templates
    from playground.conversations import run as run_template
    from playground.tools import read_tools

    found = run_template(
        load_templates(templates),
        _json(given, "--input", dict),
        Answers(_json(answers, "--answers", list)),
        template=name,
        history=_json(history, "--history", list),
        tools=read_tools(_json(f"@{tools}", "--tools", object)) if tools else (),
        call=_json(functions, "--functions", dict),
    )
    if as_json:
        print_json(
            {
                "history": found.history,
                "requests": [request.body() for request in found.requests],
                "trace": [
                    {"template": s.template, "what": s.what, "index": s.index, "message": s.message}
                    for s in found.trace
                ],
            }
        )
    else:
        _told(found)
    return 0


def _told(found: Outcome) -> None:
    """Each step in a line or more: what was read, asked and answered."""
    sent = iter(found.requests)
    for step in found.trace:
        place = "" if step.index is None else f" {step.index}"
        click.echo(plain(f"[{step.template}{place}] {step.what}"))
        shown: Any = step.message
        if step.what == "request":
            shown = next(sent).body()
        if shown:
            text = json.dumps(shown, ensure_ascii=False, indent=1)
            click.echo(plain("\n".join(f"    {line}" for line in text.splitlines())))


def _json(given: str, option: str, wanted: type) -> Any:
    """JSON of an option or of the file that it names. Raises InputFault."""
    from playground.errors import InputFault

    try:
        text = Path(given[1:]).read_text("utf-8") if given.startswith("@") else given
    except (OSError, UnicodeDecodeError) as error:
        raise InputFault(str(error), where=option, expected="JSON, or @ and a file") from error
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputFault(f"not JSON ({error})", where=option) from error
    if not isinstance(value, wanted):
        kind = "a JSON object" if wanted is dict else "a JSON list"
        raise InputFault(f"{type(value).__name__} is given", where=option, expected=kind)
    return value
