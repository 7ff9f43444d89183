"""The commands `playground template run` and `playground template prompt`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playground.cli.command import NAME, CommandGroup
from playground.cli.shared import force_option, json_option, out_option, strict_option
from playground.cli.terminal import emit, failed, guarded, json_text, print_json, report, say

if TYPE_CHECKING:
    from playground.plugins.systems.aichatflow import Answers, Outcome, Step
    from playground.plugins.systems.aichatflow.samples import TemplateFiles
    from playground.recordings.recording import Recording


@click.group(cls=CommandGroup)
def template() -> None:
    """Conversation templates: programs that guide an assistant."""


@template.command(
    examples=[
        "template run harbour-desk",
        "template run harbour-desk --limit 4000 --out sent.jsonl",
    ]
)
@click.argument("templates")
@click.option("--template", type=NAME, default="default", help="Which template of TEMPLATES.")
@click.option("--input", default="{}", help="A JSON object, or @FILE: the data.")
@click.option("--answers", default="[]", help="A JSON list, or @FILE: what the model answers.")
@click.option("--replay", default="", help="A session file: its recordings are the answers.")
@click.option("--live", is_flag=True, help="Ask the model of the templates, or --model.")
@click.option("--model", default="", help="A model that replaces the templates' own.")
@click.option("--base-url", default="", help="With --live: a server that speaks the model's API.")
@click.option("--functions", default="{}", help="A JSON object, or @FILE: results by function.")
@click.option("--tools", default="", help="A file of tools, in any form that is known.")
@click.option("--history", default="[]", help="A JSON list, or @FILE: the conversation so far.")
@click.option("--defaults", default="{}", help="A JSON object, or @FILE: request parameters.")
@click.option("--limit", type=int, default=None, help="The most characters of a context.")
@out_option("Write the last request, with recordings, here.")
@force_option
@strict_option
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
    **options: Any,
) -> int:
    """Run a template on --input. TEMPLATES is a file, or the name of a sample with all it needs.

    Answers are scripted (--answers), recorded (--replay) or a model's (--live). Functions come from
    --tools, their results from --functions. --out writes a session, which `render`, `compare`,
    `replay` and --replay can read.
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

    _check_one_origin(live, options)
    input_files = _named_files(templates, options)
    files = sample(templates)
    loaded = load_templates(files.templates)
    scripted, call = _scripted_answers(files, options)
    # asks the model, and records its answers
    live_answers = RecordedAnswers(model, base_url) if live else None
    steps: list[Step] = []
    if out:
        Batch(inputs=input_files, force=force).check(out)  # before answers are paid for
    try:
        outcome = run_template(
            loaded,
            _json(options["input"], "--input", dict) or files.input,
            live_answers or scripted,
            template=options["template"],
            history=_json(options["history"], "--history", list),
            tools=load_tools(options["tools"]).tools if options["tools"] else files.tools,
            call=call,
            defaults=_json(options["defaults"], "--defaults", dict),
            most_characters=options["limit"],
            model=model,
            watch=steps.append,
        )
    finally:
        if out:  # even after a fault, because answers were paid for
            recordings = live_answers.recordings if live_answers else []
            _write_session(steps, Path(out), recordings, input_files, force)
    modern = live or bool(options["replay"])  # models get `tools`, not the older `functions`
    if as_json:
        print_json(_run_json(outcome, modern))
    else:
        _print_steps(outcome, modern)
    return report([*check_templates(loaded), *outcome.findings])


def _check_one_origin(live: bool, options: dict[str, Any]) -> None:
    """Raise InputFault if options name more than one source of answers."""
    from playground.base.errors import InputFault

    origins = {
        "--live": live,
        "--replay": options["replay"],
        "--answers": options["answers"] != "[]",
    }
    chosen = [option for option, value in origins.items() if value]
    if len(chosen) > 1:
        raise InputFault(f"answers from {' and '.join(chosen)}", expected="one of them")


def _scripted_answers(files: TemplateFiles, options: dict[str, Any]) -> tuple[Answers, Any]:
    """Return scripted or recorded answers, and the results of functions."""
    from playground.plugins.systems.aichatflow import Answers, recorded_results
    from playground.sessions.loading import load_session

    call: Any = _json(options["functions"], "--functions", dict) or files.functions
    if not options["replay"]:
        return Answers(_json(options["answers"], "--answers", list) or files.answers), call
    session = load_session(options["replay"])
    return Answers.of_recordings(session.recordings), call or recorded_results(session)


@template.command(examples=["""template prompt prompt.txt --values '{"name": "Brest"}'"""])
@click.argument("file")
@click.option("--values", default="{}", help="A JSON object, or @FILE: the variables' values.")
@click.option("--name", default="", help="Which prompt of several.")
@strict_option
@json_option
@guarded
def prompt(file: str, values: str, name: str, as_json: bool) -> int:
    """Fill the prompt of FILE: a text, a JSON list of messages, or Flink-Agents' YAML or class.

    A variable without a value stays in the text as it is.
    """
    from playground.base.errors import UnknownNameError
    from playground.plugins.systems.flink_agents import ResourceType, load_declarations
    from playground.plugins.systems.flink_agents.views import read_prompts, view_prompt
    from playground.sessions.loading import file_bytes

    if file.endswith((".yaml", ".yml")):
        declared = load_declarations(file)
        names = declared.names(ResourceType.PROMPT)
        chosen = declared.prompt(name or (names[0] if len(names) == 1 else name))
    else:
        prompts = read_prompts(file_bytes(file).decode("utf-8", "replace"))
        wanted = name or (next(iter(prompts)) if len(prompts) == 1 else "")
        if wanted not in prompts:
            raise UnknownNameError("prompt", wanted, list(prompts))
        chosen = prompts[wanted]
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
    return failed(bool(view.missing))


def _named_files(templates: str, options: dict[str, Any]) -> list[str]:
    texts = [value for value in options.values() if isinstance(value, str)]
    files = [text.removeprefix("@") for text in texts if text.startswith("@")]
    return [name for name in (templates, options["replay"], options["tools"], *files) if name]


def _write_session(
    steps: list[Step], path: Path, recordings: list[Recording], input_files: list[str], force: bool
) -> None:
    """Write the last request, with its recordings, as a session. Raises InputFault."""
    from playground.base.output import write_file
    from playground.sessions.native_format import dump_session

    requests = [step.sent for step in steps if step.sent]
    if not requests:
        return
    session = replace(requests[-1].session(path.stem), recordings=tuple(recordings))
    write_file(path, dump_session(session), inputs=input_files, force=force)


def _run_json(outcome: Outcome, modern: bool) -> dict[str, Any]:
    return {
        "history": outcome.history,
        "requests": [request.body(modern) for request in outcome.requests],
        "trace": [_step_json(step, modern) for step in outcome.trace],
    }


def _step_json(step: Step, modern: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"template": step.template, "what": step.what, "index": step.index}
    if step.sent:
        return {**entry, "body": step.sent.body(modern)}
    if step.source:
        variables = {"used": list(step.used), "missing": list(step.missing)}
        entry |= {"source": step.source, **variables}
    return {**entry, "message": step.message}


def _print_steps(outcome: Outcome, modern: bool) -> None:
    """Print each step (a message, a request, an answer, a result or a switch) in its own lines."""
    for step in outcome.trace:
        place = "" if step.index is None else f" {step.index}"
        missing = f", missing: {', '.join(step.missing)}" if step.missing else ""
        what = f"{step.what}: {step.source}" if step.what == "switch" else step.what
        say(f"[{step.template}{place}] {what}{missing}")
        content: Any = step.sent.body(modern) if step.sent else step.message
        if content:
            text = json_text(content, indent=1)
            say("\n".join(f"    {line}" for line in text.splitlines()))


def _json(option_value: str, option: str, kind: Any) -> Any:
    """Read the JSON of an option, or of the file that it names. Raises InputFault."""
    from playground.sessions.documents import json_of
    from playground.sessions.loading import file_bytes

    if not option_value.startswith("@"):
        return json_of(option_value, option, kind)
    return json_of(file_bytes(option_value[1:]).decode("utf-8", "replace"), option_value[1:], kind)
