"""Options and arguments that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playground.base.errors import InputFault
from playground.cli.command import SESSION
from playground.cli.terminal import CSV, STRICT

if TYPE_CHECKING:
    from playground.dialects import Dialect
    from playground.dialects.preflight import PreflightCheck
    from playground.nouns.tools import ToolMetadata
    from playground.sessions.loading import LoadedSession
    from playground.sessions.source import Source
    from playground.sessions.tool_files import ToolFile

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def _keep(name: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    """Return a callback that stores True under `name` in click's context if the flag is given."""

    def keep(context: click.Context, _option: click.Parameter, value: bool) -> None:
        if value:
            context.meta[name] = True

    return keep


# The values of these two flags are read by `terminal`, so commands have no parameter for them.
csv_option = click.option(
    "--csv", is_flag=True, expose_value=False, callback=_keep(CSV), help="Print the table as CSV."
)


def _strict_option(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        *names,
        is_flag=True,
        expose_value=False,
        callback=_keep(STRICT),
        help="Exit with 1 if there is a warning or an error.",
    )


strict_option = _strict_option("--strict")
check_option = _strict_option("--check", "--strict")
parameter_option = click.option(
    "-p", "--parameter", "parameters", multiple=True, help="KEY=VALUE, such as seed=1."
)
force_option = click.option("--force", is_flag=True, help="Replace a file that is there.")
model_option = click.option("--model", default="", help="A model that replaces the session's.")
rules_option = click.option(
    "--rules", help="The dialect's rules: a text file, or a folder with a NAME.md per dialect."
)
ledger_option = click.option(
    "--ledger",
    default="",
    help="Check first that the user has enough credits: a JSON file, an object from user key to "
    "credits. Default: $PLAYGROUND_CREDIT_LEDGER. The user's key is $PLAYGROUND_USER_KEY.",
)
tools_option = click.option(
    "--tools",
    "tools_file",
    type=SESSION,
    default="",
    help="The tools that the model was offered: a file, or a sample.",
)
session_argument = click.argument("session")


def session_or_option(required: bool) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return a decorator for the argument SESSION, without which the command fails if `required`.
    SESSION may also be given as --session, a hidden option of older versions."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def chosen(session: str, session_option: str, **others: Any) -> int:
            if required and not (session or session_option):
                raise click.UsageError("Missing argument 'SESSION'.", click.get_current_context())
            return command(session=session or session_option, **others)

        option = click.option("--session", "session_option", default="", hidden=True)
        return click.argument("session", required=False, default="")(option(chosen))

    return decorate


PRINTED = "Default: standard output."


def out_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option for a command's output file or folder; its help begins with `text`. It
    refuses `-`, because no file should get that name."""
    help_text = f"{text} Missing folders are made."
    return click.option("-o", "--out", default="", help=help_text, callback=_no_dash)


def _no_dash(_context: click.Context, _option: click.Parameter, value: str) -> str:
    if value == "-":
        raise click.BadParameter("`-` is not a file; without -o, the output is printed")
    return value


def dialects_option(default: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option for dialects, which is required unless there is a `default`."""
    text = "A dialect; may be given several times." + (f" Default: {default}." if default else "")
    names = ("-d", "--dialect", "dialects")
    return click.option(*names, multiple=True, required=not default, help=text)


def in_dialects(names: Sequence[str], rules: str | None) -> list[Dialect]:
    """Return the dialects of `dialects_option`, by default all, with the rules of `rules_option`.

    The rules are read now, so that a command fails before it sends a request. Raises InputFault.
    """
    from playground.dialects import as_dialects
    from playground.dialects.rules_file import read_chosen_rules

    chosen = as_dialects(names)
    if rules is None:
        return chosen
    own_rules = read_chosen_rules(rules, [dialect.name for dialect in chosen])
    return [dialect.with_rules(own_rules) for dialect in chosen]


def load(name: str, model: str = "") -> LoadedSession:
    """Load a session from a file in any format, a sample by its name, or standard input (`-`).
    `model` replaces the session's model. A text file that is no session is read as a system prompt.
    """
    return _load(name, model, lambda source: [_load_first(source)])[0]


def load_all(name: str, model: str = "") -> list[LoadedSession]:
    """Load every session of a file; `load` loads only the first."""
    from playground.sessions.loading import read_sessions

    return _load(name, model, lambda source: list(read_sessions(source)))


def _load(
    name: str, model: str, read: Callable[[Source], list[LoadedSession]]
) -> list[LoadedSession]:
    from playground.sessions.loading import named_source

    source = named_source(name)
    try:
        sessions = read(source)
    except InputFault:
        if (prompt := _prompt_alone(source)) is None:
            raise
        sessions = [prompt]
    return [replace(each, session=each.session.with_model(model)) for each in sessions]


def _prompt_alone(source: Source) -> LoadedSession | None:
    """Return a session whose system prompt is the text of a file; None if the file may be something
    else."""
    from playground.base.findings import finding
    from playground.sessions.in_memory import session
    from playground.sessions.loading import LoadedSession

    is_text = source.name.endswith((".md", ".prompt", ".txt"))
    if not is_text or source.is_folder or source.number:
        return None
    text = source.text
    if not text.strip() or text.lstrip()[0] in "{[":
        return None
    return LoadedSession(session(system=text), [finding("prompt-alone", source.name)])


def load_streamed(name: str, dialect: str, tools_file: str = "") -> LoadedSession:
    """Load a session for replaying, as `load` does.

    The file may also hold only a reply, which is read in `dialect`, or in the likeliest one if that
    is "". If the session has no recordings, they are made from its answers. The tools of
    `tools_file` replace those of the session. Raises InputFault if there is nothing to replay.
    """
    from playground.questions.restreaming import answers, restreamed, writing_dialect
    from playground.sessions.loading import named_source

    source = named_source(name)
    tools = tuple(tools_of(tools_file)) if tools_file else ()
    try:
        loaded = _load_reply(source, dialect, tools) if name == "-" else None
        loaded = loaded or _load_first(source)
    except InputFault as fault:
        loaded = None if source.number else _load_reply(source, dialect, tools, bool(dialect))
        if loaded is None:
            if not dialect and fault.expected and source.data.lstrip()[:1] in (b"{", b"["):
                fault.add_expected("-d DIALECT, if it is a model's reply")
            raise
    session = loaded.session
    if not session.recordings:
        writer = dialect or writing_dialect(session)
        recordings = tuple(restreamed(session, name, writer) for name in answers(session))
        session = replace(session, recordings=recordings)
    if not session.recordings:
        raise InputFault("this session has no recordings and no answers", where=name)
    return replace(loaded, session=replace(session, tools=tools) if tools_file else session)


def _load_first(source: Source) -> LoadedSession:
    """Return a source's first session; standard input may also hold only a reply, or only tools."""
    from playground.sessions.loading import first_session
    from playground.sessions.source import STANDARD_INPUT, Source

    if source.name != STANDARD_INPUT or source.number:
        return first_session(source)
    from playground.questions.recognition import as_session, recognise

    recognised = recognise(source.data, source.name)
    if recognised.kind in ("reply", "tools"):
        return as_session(recognised)
    return first_session(Source(recognised.name, recognised.data))


def _load_reply(
    source: Source, dialect: str, tools: Sequence[ToolMetadata], with_json: bool = False
) -> LoadedSession | None:
    """Return a session of the reply that a source holds; None if the source holds anything else.

    The reply is read in `dialect`; if that is "", in the likeliest for `tools`, and a finding says
    if none is likely. `with_json` accepts JSON of unknown form as a reply, with a finding.
    """
    from playground.base.findings import finding
    from playground.questions.recognition import as_session, recognise

    recognised = recognise(source.data, source.name, tools)
    is_json = recognised.kind == "nothing" and source.data.lstrip()[:1] in (b"{", b"[")
    if recognised.kind != "reply" and not (with_json and is_json):
        return None
    findings = []
    if recognised.faulty_as or is_json:
        what = recognised.faulty_as or recognised.title
        reason = ", because a dialect is named" if dialect else ""
        findings = [finding("unknown-json", "the whole text", f"{what}: read as a reply{reason}")]
    if dialect:
        recognised = replace(recognised, data=source.data, dialect=dialect, wrapped=None)
    loaded = as_session(replace(recognised, kind="reply"))
    return replace(loaded, findings=[*findings, *loaded.findings])


def tools_of(name: str) -> list[ToolMetadata]:
    """Return the tools of a file in any form, or of a sample."""
    return loaded_tools(name).tools


def loaded_tools(name: str) -> ToolFile:
    """Return the tools of a file in any form, or of a sample, with findings."""
    from playground.base import paths
    from playground.sessions.tool_files import ToolFile, load_tools

    # a user's file takes precedence over a sample of the same name
    if name in paths.samples() and not Path(name).exists():
        return ToolFile(list(load(name).session.tools), [])
    return load_tools(name)


def parameters_of(items: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of `parameter_option`; a value that is not JSON is a text. Raises
    InputFault."""
    parameters: dict[str, Any] = {}
    for item in items:
        key, equals, value = item.partition("=")
        if not equals or not key:
            fault = f"{item!r} is not a parameter"
            raise InputFault(fault, where="--parameter", expected="KEY=VALUE")
        try:
            parameters[key] = json.loads(value)
        except ValueError:
            parameters[key] = value
    return parameters


def preflight(ledger: str) -> tuple[PreflightCheck, ...]:
    """Return the checks to make before a request, as the environment configures them. `ledger`
    replaces the environment's ledger of credits."""
    import os

    from playground.dialects.preflight import LEDGER_VARIABLE, checks_from

    return checks_from({**os.environ, **({LEDGER_VARIABLE: ledger} if ledger else {})})
