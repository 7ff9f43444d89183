"""The command line: route to one pure function, print, exit 0 / 1 (findings) / 2 (bad input)."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from playground.cache_placement import CachePlacement
    from playground.events import Event
    from playground.findings import Finding
    from playground.sessions.loading import LoadedSession

NUMERIC = {"messages", "characters", "tokens_estimate", "message", "part", "marks"}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class _Commands(click.Group):
    """Without a command the app starts; its options are streamlit's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("--") and args[0] not in ("--help", "--version")):
            args = ["app", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dialect-playground")
def main() -> None:
    """Render a session in every tool-call dialect, see cache marks, replay streams.

    SESSION is a session file or the name of a sample (see `playground samples`). Exit status:
    0 fine, 1 findings of severity warning or error, 2 bad input.
    """


def _guarded(command: Callable[..., int]) -> Callable[..., NoReturn]:
    """Run a command: its return value is the exit status, our own errors are one line."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> NoReturn:
        from playground.errors import PlaygroundError

        try:
            status = command(*args, **kwargs)
        except PlaygroundError as error:
            click.echo(f"playground: {_plain(str(error))}", err=True)
            status = 2
        except BrokenPipeError:  # the reader, `head` say, has seen enough
            sys.stdout = None
            status = 0
        sys.exit(status)

    return run


_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_model_option = click.option("--model", default="", help="In place of the session's model.")
_session_argument = click.argument("session")


def _dialects_option(required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    text = "A dialect; may be given several times." + ("" if required else " Default: all.")
    return click.option("-d", "--dialect", "dialects", multiple=True, required=required, help=text)


@main.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def app(options: tuple[str, ...]) -> None:
    """Open the app; OPTIONS go to `streamlit run` (such as --server.port 9000)."""
    from playground.ui.launch import launch

    launch(list(options))


@main.command()
@_json_option
@_guarded
def samples(as_json: bool) -> int:
    """List the sample sessions and what each is for."""
    from playground.sessions.loading import sample_sessions

    loaded = sample_sessions()
    if as_json:
        _print_json([{"name": name, "purpose": s.purpose} for name, s in loaded.items()])
    else:
        _table(["name", "purpose"], [[name, s.purpose] for name, s in loaded.items()])
    return 0


@main.command()
@_session_argument
@_dialects_option(required=True)
@_model_option
@_json_option
@_guarded
def render(session: str, dialects: tuple[str, ...], model: str, as_json: bool) -> int:
    """Print the request that SESSION becomes in each dialect."""
    from playground.comparison import compare as compare_session
    from playground.dialects.base import message_text
    from playground.show.wire import column_json

    loaded = _load(session, model)
    comparison = compare_session(loaded.session, dialects)
    found = [*loaded.findings]
    for column in comparison.columns:
        found += column.findings
    if as_json:
        _print_json([column_json(column) for column in comparison.columns])
    else:
        for column in comparison.columns:
            if len(comparison.columns) > 1:
                click.echo(f"##### {column.dialect.name}")
            if column.rendering.tools:
                click.echo("=== tools")
                _print_json(column.rendering.tools)
            for message in column.rendering.messages:
                click.echo(f"=== {message['role']}\n{_plain(message_text(message))}")
    return _report(found)


@main.command()
@_session_argument
@_dialects_option(required=False)
@click.option("--tokens", is_flag=True, help="Count tokens too (LiteLLM, offline, an estimate).")
@_model_option
@_json_option
@_guarded
def compare(
    session: str, dialects: tuple[str, ...], tokens: bool, model: str, as_json: bool
) -> int:
    """Count what SESSION becomes in each dialect: messages, characters by kind, findings."""
    from dataclasses import asdict

    from playground.comparison import compare as compare_session

    loaded = _load(session, model)
    rows: list[dict[str, Any]] = []
    found = [*loaded.findings]
    for column in compare_session(loaded.session, dialects).columns:
        found += column.findings
        row: dict[str, Any] = {
            "dialect": column.dialect.name,
            "messages": len(column.rendering.messages),
            "characters": sum(column.characters.values()),
            "by_kind": column.characters,
            "findings": [asdict(finding) for finding in column.findings],
        }
        if tokens:
            from playground.llm.tokens import count_tokens

            row["tokens_estimate"] = column.tokens(count_tokens)
        rows.append(row)
    if as_json:
        _print_json(rows)
    else:
        head = [key for key in rows[0] if key not in ("by_kind", "findings")]
        listed = [
            [f"{row[key]:,}" if key != "dialect" else row[key] for key in head] for row in rows
        ]
        _table(head, listed)
    return _report(found)


@main.command()
@_session_argument
@_dialects_option(required=False)
@click.option("--policy", default="", help="In place of the dialect's own policy.")
@_model_option
@_json_option
@_guarded
def cache(session: str, dialects: tuple[str, ...], policy: str, model: str, as_json: bool) -> int:
    """Show where cache marks land in SESSION: a line for each dialect, every part with -d."""
    from playground.cache_placement import place_cache
    from playground.dialects import dialect_names
    from playground.show.wire import PLACEMENT_HEAD, placement_json, placement_rows

    loaded = _load(session, "")
    placements = [
        place_cache(loaded.session, name, policy, model) for name in dialects or dialect_names()
    ]
    if as_json:
        _print_json([placement_json(placement) for placement in placements])
        return _report(loaded.findings)
    if not dialects:
        head = ["dialect", "marks", "characters", "nothing marked because"]
        _table(head, [_placement_line(placement) for placement in placements])
        return _report(loaded.findings)
    for placement in placements:
        click.echo(
            f"{placement.dialect}: {len(placement.marks)} marks for {placement.model_name} "
            f"({placement.family}), {placement.characters:,} characters"
        )
        if placement.refusal:
            click.echo(f"  nothing marked: {placement.refusal.explanation}")
        else:
            _table(PLACEMENT_HEAD, placement_rows(placement))
    return _report(loaded.findings)


@main.command()
@click.argument("recording")
@click.option("-d", "--dialect", default="", help="Default: the recording's own.")
@click.option("--name", default="", help="Which recording of the file. Default: the first.")
@click.option("--events", "with_events", is_flag=True, help="List every event.")
@_json_option
@_guarded
def replay(recording: str, dialect: str, name: str, with_events: bool, as_json: bool) -> int:
    """Replay a recording of the session file RECORDING through a dialect's parser."""
    from playground.errors import InputFault
    from playground.show.wire import timeline_json
    from playground.timeline import replay as replay_recording

    loaded = _load(recording, "")
    if not loaded.session.recordings:
        raise InputFault("this session has no recordings", where=recording)
    chosen = loaded.session.recording(name) if name else loaded.session.recordings[0]
    timeline = replay_recording(chosen, dialect or chosen.dialect, loaded.session.tools)
    result = timeline.result
    if as_json:
        _print_json(timeline_json(timeline))
        return _report(result.findings)
    click.echo(
        f"{timeline.recording}: {len(chosen.chunks)} chunks, timing {timeline.timing}, "
        f"read as {timeline.dialect}"
    )
    for part in ("reasoning", "content"):
        if getattr(result, part).strip():
            click.echo(f"=== {part}\n{_plain(getattr(result, part).strip())}")
    for call in result.tool_calls:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        click.echo(f"=== call {call.name}\n{_plain(arguments)}")
    for aborted in result.aborted:
        click.echo(f"=== aborted call {aborted.name or '(unnamed)'}: {aborted.reason}")
    if with_events:
        _events_table(result.events)
    return _report(result.findings)


def _placement_line(placement: CachePlacement) -> list[str]:
    reason = placement.refusal.explanation if placement.refusal else ""
    return [placement.dialect, str(len(placement.marks)), f"{placement.characters:,}", reason]


def _load(name: str, model: str) -> LoadedSession:
    from dataclasses import replace as changed

    from playground import paths
    from playground.sessions.loading import LoadedSession, file_bytes, read_session

    path = Path(name)
    if not path.exists() and name in paths.samples():
        path = paths.samples()[name]
    loaded = read_session(file_bytes(path), str(path))
    if not model:
        return loaded
    task = loaded.session.task.model_copy(update={"model_name": model})
    return LoadedSession(changed(loaded.session, task=task), loaded.findings)


def _report(findings: Sequence[Finding]) -> int:
    """Findings as lines on stderr; 1 when one of them is more than information."""
    for finding in findings:
        line = f"{finding.severity} {finding.code} ({finding.where}): {finding.message}"
        click.echo(_plain(line), err=True)
    return int(any(finding.severity != "info" for finding in findings))


def _events_table(events: Sequence[Event]) -> None:
    from playground.show.wire import event_name, event_text

    rows = [
        [event_name(event), f"{event.span.start}-{event.span.stop}", event_text(event)]
        for event in events
    ]
    _table(["event", "span", "text"], rows)


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def _plain(text: str) -> str:
    """Text for a terminal: control characters shown, never obeyed."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def _table(head: list[str], rows: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in head:
        numeric = name in NUMERIC
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(_plain(cell)) for cell in row))
    Console(highlight=False).print(table)


if __name__ == "__main__":
    main()
