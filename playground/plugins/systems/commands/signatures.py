"""The command `playground signature`: write a signature's prompt, or read a completion."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playground.cli.command import command
from playground.cli.shared import csv_option, json_option, strict_option
from playground.cli.terminal import emit, failed, guarded, print_json, show_rows

if TYPE_CHECKING:
    from playground.plugins.systems.dspy import Signature


@command(
    "signature 'question -> answer: int' -i 'question=1+1?'",
    "signature 'question -> answer: int' --completion completion.txt",
)
@click.argument("text", metavar="SIGNATURE")
@click.option(
    "-i",
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=VALUE",
    help="An input's value, read by the field's type; repeatable.",
)
@click.option("--demos", default="", help="A JSON list of examples, or a file with one in a line.")
@click.option("--instructions", default="", help="For the model, in place of DSPy's sentence.")
@click.option(
    "-a",
    "--adapter",
    "adapters",
    multiple=True,
    type=click.Choice(["chat", "json", "xml"]),
    help="May be given several times. Default: chat.",
)
@click.option("--completion", default="", help="A file with an answer, or - for standard input.")
@strict_option
@csv_option
@json_option
@guarded
def signature(
    text: str,
    inputs: tuple[str, ...],
    demos: str,
    instructions: str,
    adapters: tuple[str, ...],
    completion: str,
    as_json: bool,
) -> int:
    """Print the prompt of a signature such as "question -> answer: int", as DSPy writes it.

    SIGNATURE may also be a class in Python, or a file (`-`: standard input) with either.

    With --completion, print the fields of an answer, or why a field cannot be read.
    """
    from playground.plugins.systems.dspy import signature_questions as questions

    parsed = _signature(text, instructions)
    names = adapters or ("chat",)
    if completion:
        answer = _text(completion)
        return _fields({name: questions.fields(parsed, answer, name) for name in names}, as_json)
    values = questions.values(parsed, _pairs(inputs))
    prompts = questions.messages(parsed, values, _demos(demos), names)
    if as_json:
        print_json(prompts)
        return 0
    parts = []
    for name, messages in prompts.items():
        if len(prompts) > 1:
            parts.append(f"##### {name}")
        for message in messages:
            content = message["content"]
            shown = content if isinstance(content, str) else json.dumps(content, indent=2)
            parts.append(f"=== {message['role']}\n{shown}")
    emit("\n".join(parts))
    return 0


def _fields(fields_by_adapter: Mapping[str, Sequence[Any]], as_json: bool) -> int:
    from playground.plugins.systems.dspy.values import as_json as plain_value
    from playground.show.rows import rows_of

    rows = [
        {
            "adapter": name,
            "field": field.name,
            "value": None if field.fault else plain_value(field.value),
            "fault": field.fault,
        }
        for name, fields in fields_by_adapter.items()
        for field in fields
    ]
    if as_json:
        print_json(rows)
    else:
        cells = [(r["adapter"], r["field"], _json(r["value"]), r["fault"]) for r in rows]
        show_rows(rows_of("adapter field value fault", cells))
    return failed(any(row["fault"] for row in rows))


def _signature(text: str, instructions: str) -> Signature:
    """Read the signature of a text or of the file that it names. Raises InputFault."""
    from playground.base.errors import InputFault
    from playground.plugins.systems.dspy.signature_source import read_signature

    if "->" in text or "\n" in text or not (text == "-" or Path(text).exists()):
        return read_signature(text, instructions)
    try:
        return read_signature(_text(text), instructions)
    except InputFault as fault:
        where = fault.where or ("standard input" if text == "-" else text)
        raise InputFault(
            fault.problem, where=where, line=fault.line, field=fault.field, expected=fault.expected
        ) from fault


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _text(file: str) -> str:
    from playground.sessions.loading import file_bytes

    return file_bytes(file).decode("utf-8", "replace")


def _pairs(options: Sequence[str]) -> dict[str, str]:
    from playground.base.errors import InputFault

    pairs: dict[str, str] = {}
    for item in options:
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise InputFault(f"{item!r} is not an input", where="--input", expected="NAME=VALUE")
        pairs[name] = value
    return pairs


def _demos(option: str) -> list[Mapping[str, Any]]:
    from playground.base.errors import InputFault
    from playground.base.json_numbers import refused_words

    text = option if option.lstrip().startswith("[") else _text(option) if option else "[]"
    try:
        is_list = text.lstrip().startswith("[")
        demos = json.loads(text) if is_list else [json.loads(line) for line in text.splitlines()]
    except (ValueError, RecursionError) as error:
        problem = f"the examples cannot be read as JSON ({refused_words(error)})"
        raise InputFault(problem, where="--demos", expected="objects of JSON") from error
    if not all(isinstance(demo, dict) for demo in demos):
        raise InputFault("an example is no object", where="--demos", expected='{"field": value, …}')
    return list(demos)
