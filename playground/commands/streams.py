"""Commands about files that come in and streams: import, replay, record, the demo server."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from playground.commands.shared import json_option, load
from playground.terminal import events_table, guarded, plain, print_json, report, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playground.sessions.loading import LoadedSession


@click.command()
@click.argument("recording")
@click.option("-d", "--dialect", default="", help="Default: the recording's own.")
@click.option("--name", default="", help="Which recording of the file. Default: the first.")
@click.option("--events", "with_events", is_flag=True, help="List every event.")
@json_option
@guarded
def replay(recording: str, dialect: str, name: str, with_events: bool, as_json: bool) -> int:
    """Replay a recording of the session file RECORDING through a dialect's parser."""
    from playground.errors import InputFault
    from playground.show.wire import timeline_json
    from playground.timeline import replay as replay_recording

    loaded = load(recording)
    if not loaded.session.recordings:
        raise InputFault("this session has no recordings", where=recording)
    chosen = loaded.session.recording(name) if name else loaded.session.recordings[0]
    timeline = replay_recording(chosen, dialect or chosen.dialect, loaded.session.tools)
    result = timeline.result
    if as_json:
        print_json(timeline_json(timeline))
        return report(result.findings)
    click.echo(
        f"{timeline.recording}: {len(chosen.chunks)} chunks, timing {timeline.timing}, "
        f"read as {timeline.dialect}"
    )
    for part in ("reasoning", "content"):
        if getattr(result, part).strip():
            click.echo(f"=== {part}\n{plain(getattr(result, part).strip())}")
    for call in result.tool_calls:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        click.echo(f"=== call {call.name}\n{plain(arguments)}")
    for aborted in result.aborted:
        click.echo(f"=== aborted call {aborted.name or '(unnamed)'}: {aborted.reason}")
    if with_events:
        events_table(result.events)
    return report(result.findings)


@click.command("import")
@click.argument("file", required=False, default="")
@click.option("-o", "--out", default="", help="Write sessions here: a file, *.jsonl, or a folder.")
@click.option("--format", "format_name", default="", help="The file's format. Default: recognised.")
@click.option("--to", type=click.Choice(["session", "atif"]), default="session", help="To write.")
@click.option("--repair", "mend", is_flag=True, help="Mend what can be mended in one way only.")
@click.option("--formats", "listed", is_flag=True, help="List the formats and what each keeps.")
@json_option
@guarded
def import_(
    file: str, out: str, format_name: str, to: str, mend: bool, listed: bool, as_json: bool
) -> int:
    """Read the sessions of FILE, whatever agent or API wrote it, and write them with -o."""
    from playground.errors import InputFault
    from playground.sessions.formats.table import FORMATS_HEAD, formats_rows
    from playground.sessions.importing import Writer, repaired, summary

    if listed:
        table(FORMATS_HEAD, formats_rows())
        return 0
    if not file:
        raise InputFault("no file is named", expected="FILE, or --formats")
    rows: list[dict[str, Any]] = []
    status = 0
    with Writer(out, to) as writer:
        for loaded in _with_progress(file, format_name):
            loaded, done = repaired(loaded) if mend else (loaded, [])
            written = writer.write(loaded.session)
            rows.append(summary(loaded, done, written))
            if not as_json:
                for line in done:
                    click.echo(plain(f"repaired {line}"), err=True)
                status = max(status, report(loaded.findings))
            else:
                status |= any(f.severity != "info" for f in loaded.findings)
    if as_json:
        print_json(rows)
    for row in [] if as_json else rows:
        counts = ", ".join(f"{row[key]} {key}" for key in _COUNTED if row[key])
        arrow = f" → {row['written']}" if row["written"] else ""
        click.echo(plain(f"{row['session']}: {row['format']}, {counts or 'nothing'}{arrow}"))
    return status


_COUNTED = ("messages", "calls", "tools", "requests", "recordings")


def _with_progress(file: str, format_name: str) -> Iterator[LoadedSession]:
    """The sessions of a file; a large one moves a bar on a terminal."""
    from playground.sessions.loading import load_sessions

    if not sys.stderr.isatty():
        yield from load_sessions(file, format_name or None)
        return
    with click.progressbar(length=1, label="reading", file=sys.stderr) as bar:

        def moved(read: int, size: int) -> None:
            bar.length = size
            bar.update(read - bar.pos)

        yield from load_sessions(file, format_name or None, moved)
