"""Commands on the workspace: list, add, save, rename, remove and restore sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from playground.cli.command import NAME, WORKSPACE_NAME, CommandGroup
from playground.cli.shared import PRINTED, csv_option, force_option, json_option, load, out_option
from playground.cli.terminal import emit, guarded, print_json, say, show_rows, tell_starred_secrets

if TYPE_CHECKING:
    from playground.sessions.entries import Label
    from playground.sessions.workspaces import Workspace

_name = click.argument("name", type=WORKSPACE_NAME)


@click.group(cls=CommandGroup, invoke_without_command=True)
@csv_option
@json_option
@click.pass_context
def workspace(context: click.Context, as_json: bool) -> None:
    """List the sessions of the app; `workspace:NAME` is a SESSION for every other command.

    The sessions that you added, edited or recorded are in the folder `workspace` of
    $PLAYGROUND_HOME, or else of `dialect-playground` in the platform's folder for data.
    """
    if context.invoked_subcommand is None:
        guarded(_list)(as_json)


def _list(as_json: bool) -> int:
    """Print the sessions; return 1 if a file cannot be read."""
    from dataclasses import asdict

    from playground.sessions.workspaces import on_disk
    from playground.show.rows import rows_of

    rows, faults = _labels(on_disk())
    if as_json:
        print_json([{"name": name, **asdict(label)} for name, label in rows])
    elif rows:
        cells = [
            (name, label.title, label.messages, label.tools, label.recordings, label.edits)
            for name, label in rows
        ]
        show_rows(rows_of("name title messages tools recordings edits", cells))
    else:
        say("the workspace is empty")
    for fault in faults:
        say(fault, err=True)
    return int(bool(faults))


def _labels(workspace: Workspace) -> tuple[list[tuple[str, Label]], list[str]]:
    from playground.base.errors import InputFault
    from playground.sessions.entries import read_label

    rows, faults = [], []
    for name in workspace.names():
        try:
            rows.append((name, read_label(workspace.text(name).partition("\n")[0], name)))
        except InputFault as fault:
            faults.append(str(fault))
    return rows, faults


@workspace.command(
    examples=["workspace add session.json", "workspace add 02-parallel-calls --name tides"]
)
@click.argument("session")
@click.option("--name", default="", help="Default: the file's own.")
@guarded
def add(session: str, name: str) -> int:
    """Keep a copy of SESSION in the workspace."""
    from pathlib import Path

    from playground.sessions.entries import new_entry, starred_in
    from playground.sessions.workspaces import on_disk

    loaded = load(session)
    text = new_entry(loaded.session, origin=session, findings=loaded.findings)
    say(f"kept: {on_disk().add(name or Path(session).stem, text)}")
    tell_starred_secrets(starred_in(text))
    return 0


@workspace.command(examples=["workspace save tides -o tides.jsonl"])
@_name
@out_option(PRINTED)
@force_option
@guarded
def save(name: str, out: str, force: bool) -> int:
    """Write NAME as a session file, with its edits and recordings."""
    from playground.base.paths import WORKSPACE
    from playground.sessions.native_format import dump_session
    from playground.sessions.workspaces import on_disk

    text = dump_session(on_disk().entry(name).session)
    emit(text, out, inputs=[f"{WORKSPACE}{name}"], force=force)
    return 0


@workspace.command(examples=["workspace rename tides harbours"])
@_name
@click.argument("new", type=NAME)
@guarded
def rename(name: str, new: str) -> int:
    """Give NAME another name."""
    from playground.sessions.workspaces import on_disk

    say(f"renamed: {on_disk().rename(name, new)}")
    return 0


@workspace.command(examples=["workspace remove harbours"])
@_name
@guarded
def remove(name: str) -> int:
    """Move NAME into the trash."""
    from playground.sessions.workspaces import on_disk

    say(f"in the trash: {on_disk().remove(name)}")
    return 0


@workspace.command(examples=["workspace restore", "workspace restore harbours"])
@click.argument("name", type=NAME, required=False)
@click.option("--empty", is_flag=True, help="Delete everything in the trash for good.")
@guarded
def restore(name: str | None, empty: bool) -> int:
    """Take NAME out of the trash; without NAME, list what is in it."""
    from playground.sessions.workspaces import on_disk

    sessions = on_disk()
    if empty:
        say(f"deleted for good: {sessions.empty()}")
    elif name:
        say(f"restored: {sessions.restore(name)}")
    else:
        say("\n".join(sessions.trashed()) or "the trash is empty")
    return 0
