"""The commands `playground template run` and `playground template prompt`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playground.cli.shared import force_option, json_option, out_option
from playground.cli.terminal import emit, guarded, json_text, print_json, report, say

if TYPE_CHECKING:
    from playground.plugins.systems.aichatflow import Answers, Outcome, Step
    from playground.plugins.systems.aichatflow.samples import TemplateFiles
    from playground.recordings.recording import Recording


@click.group()
def template() -> None:
    """Conversation templates: programs that guide an assistant."""


@template.command()
@click.argument("templates")
@click.option("--template", default="default", help="Which of the set. Default: default.")
@click.option("--input", default="{}", help="A JSON object, or @FILE: the data.")
@click.option("--answers", default="[]", help="A JSON list, or @FILE: what the model answers.")
@click.option("--replay", default="", help="A session file whose recordings answer.")
@click.option("--live", is_flag=True, help="Ask the model of the templates, or --model.")
@click.option("--model", default="", help="In place of the templates' own.")
@click.option("--base-url", default="", help="With --live: a server that speaks the model's API.")
@click.option("--functions", default="{}", help="A JSON object, or @FILE: results by function.")
@click.option("--tools", default="", help="A file of tools, in any form that is known.")
@click.option("--history", default="[]", help="A JSON list, or @FILE: the conversation so far.")
@click.option("--defaults", default="{}", help="A JSON object, or @FILE: request parameters.")
@click.option("--limit", type=int, default=None, help="Characters that the context holds.")
@out_option("Write the last request, with recordings, here.")
@force_option
@json_option
@guarded
def run(
    templates: str,
    live: bool,
    model: str,
    base_url: str,
    out: str,
    force: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Run a template on --input. TEMPLATES is a file, or the name of a sample with all it needs.

    Answers are scripted (--answers), recorded (--replay) or a model's (--live); functions are
    those of --tools, their results those of --functions. --out is a session for `render`,
    `compare`, `replay` and --replay.
    """
    from playground.base.output import Batch
    from playground.plugins.systems.aichatflow import (
        RecordedAnswers,
        check_templates,
        load_templates,
    )
    from playground.plugins.systems.aichatflow import run as run_template
    from playground.plugins.systems.aichatflow.samples import sample
    from playground.sessions.tool_files import load_tools

    _check_one_origin(live, given)
    read = _read(templates, given)
    files = sample(templates)
    loaded = load_templates(files.templates)
    scripted, call = _answering(files, given)
    asked = RecordedAnswers(model, base_url) if live else None
    steps: list[Step] = []
    if out:
        Batch(inputs=read, force=force).check(out)  # before an answer is paid for
    try:
        found = run_template(
            loaded,
            _json(given["input"], "--input", dict) or files.input,
            asked or scripted,
            template=given["template"],
            history=_json(given["history"], "--history", list),
            tools=load_tools(given["tools"]).tools if given["tools"] else files.tools,
            call=call,
            defaults=_json(given["defaults"], "--defaults", dict),
            most_characters=given["limit"],
            model=model,
            watch=steps.append,
        )
    finally:
        if out:  # what was answered before a fault was paid for, too
            _write(steps, Path(out), asked.recordings if asked else [], read, force)
    modern = live or bool(given["replay"])
    if as_json:
        print_json(_run_json(found, modern))
    else:
        _print_steps(found, modern)
    return report([*check_templates(loaded), *found.findings])


def _check_one_origin(live: bool, given: dict[str, Any]) -> None:
    """Raise InputFault if options name more than one source of answers."""
    from playground.base.errors import InputFault

    named = {"--live": live, "--replay": given["replay"], "--answers": given["answers"] != "[]"}
    asked = [option for option, value in named.items() if value]
    if len(asked) > 1:
        raise InputFault(f"answers from {' and '.join(asked)}", expected="one of them")


def _answering(files: TemplateFiles, given: dict[str, Any]) -> tuple[Answers, Any]:
    """Return scripted or recorded answers, and the results of functions."""
    from playground.plugins.systems.aichatflow import Answers, recorded_results
    from playground.sessions.loading import load_session

    call: Any = _json(given["functions"], "--functions", dict) or files.functions
    if not given["replay"]:
        return Answers(_json(given["answers"], "--answers", list) or files.answers), call
    session = load_session(given["replay"])
    return Answers.of_recordings(session.recordings), call or recorded_results(session)


@template.command()
@click.argument("file")
@click.option("--values", default="{}", help="A JSON object, or @FILE: the variables' values.")
@click.option("--name", default="", help="Which prompt of a YAML file.")
@json_option
@guarded
def prompt(file: str, values: str, name: str, as_json: bool) -> int:
    """Fill the prompt of FILE: a text, a JSON list of messages, or Flink-Agents' YAML.

    Exits with 1 if a variable has no value: it stays in the text as it is.
    """
    from playground.plugins.systems.flink_agents import ResourceType, load_declarations
    from playground.plugins.systems.flink_agents.views import read_prompt, view_prompt
    from playground.sessions.loading import file_bytes

    if file.endswith((".yaml", ".yml")):
        declared = load_declarations(file)
        names = declared.names(ResourceType.PROMPT)
        chosen = declared.prompt(name or (names[0] if len(names) == 1 else name))
    else:
        chosen = read_prompt(file_bytes(file).decode("utf-8", "replace"))
    view = view_prompt(chosen, _json(values, "--values", dict))
    if as_json:
        print_json(
            {
                "missing": view.missing,
                "text": view.text,
                "openai": view.openai,
                "anthropic": view.anthropic,
            }
        )
    else:
        emit(view.text)
        for variable in view.missing:
            say(f"missing: {variable}", err=True)
    return int(bool(view.missing))


def _read(templates: str, given: dict[str, Any]) -> list[str]:
    """Return the files that options name."""
    texts = [value for value in given.values() if isinstance(value, str)]
    named = [text.removeprefix("@") for text in texts if text.startswith("@")]
    return [name for name in (templates, given["replay"], given["tools"], *named) if name]


def _write(
    steps: list[Step], path: Path, recordings: list[Recording], read: list[str], force: bool
) -> None:
    """Write the last request, with its recordings, as a session. Raises InputFault."""
    from playground.base.output import write_file
    from playground.sessions.native_format import dump_session

    requests = [step.sent for step in steps if step.sent]
    if not requests:
        return
    session = replace(requests[-1].session(path.stem), recordings=tuple(recordings))
    write_file(path, dump_session(session), inputs=read, force=force)


def _run_json(found: Outcome, modern: bool) -> dict[str, Any]:
    return {
        "history": found.history,
        "requests": [request.body(modern) for request in found.requests],
        "trace": [_step_json(step, modern) for step in found.trace],
    }


def _step_json(step: Step, modern: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"template": step.template, "what": step.what, "index": step.index}
    if step.sent:
        return {**found, "body": step.sent.body(modern)}
    if step.source:
        variables = {"used": list(step.used), "missing": list(step.missing)}
        found |= {"source": step.source, **variables}
    return {**found, "message": step.message}


def _print_steps(found: Outcome, modern: bool) -> None:
    """Print each step in one or more lines: the message that was read, asked or answered."""
    for step in found.trace:
        place = "" if step.index is None else f" {step.index}"
        gone = f", missing: {', '.join(step.missing)}" if step.missing else ""
        what = f"{step.what}: {step.source}" if step.what == "switch" else step.what
        say(f"[{step.template}{place}] {what}{gone}")
        shown: Any = step.sent.body(modern) if step.sent else step.message
        if shown:
            text = json_text(shown, indent=1)
            say("\n".join(f"    {line}" for line in text.splitlines()))


def _json(given: str, option: str, wanted: Any) -> Any:
    """Read the JSON of an option, or of the file that it names. Raises InputFault."""
    from playground.sessions.documents import json_of
    from playground.sessions.loading import file_bytes

    if not given.startswith("@"):
        return json_of(given, option, wanted)
    return json_of(file_bytes(given[1:]).decode("utf-8", "replace"), given[1:], wanted)
