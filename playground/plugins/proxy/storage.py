"""Store the sessions of a run in the workspace, rebuilt from the recordings of their exchanges."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.user_files import open_regular_file
from playground.plugins.proxy.ledger import Ledger, Passed, read_ledger
from playground.recordings.decoding import decode_stream
from playground.recordings.files import wire_bytes
from playground.sessions.entries import new_entry, read_label
from playground.sessions.last_resort import UNEXPECTED_OR_TOO_DEEP
from playground.sessions.place import Place
from playground.sessions.session import Agent, Session
from playground.sessions.shapes.exchanges import Exchange, read_exchanges
from playground.sessions.workspaces import Workspace

ORIGIN: Final = "proxy"
_MOST_SESSIONS: Final = 32  # the newest of a run
# Bytes of a session's recordings that are stored when the proxy ends: it takes some seconds.
_MOST_AT_THE_END: Final = 128 * 1024 * 1024


def session_name(run: Path, session: str) -> str:
    """Return the name of a run's session in the workspace."""
    return f"{session} {run.name}"


def session_of(run: Path, passed: Sequence[Passed]) -> Session:
    """Build a session from exchanges: a row for each request, with its bill, and all answers.

    Only one exchange is in memory at a time, because each holds the whole history.

    Raises InputFault if no exchange can be read.
    """
    name = passed[0].title or passed[0].session
    usages: list[dict[str, Any] | None] = []

    def exchanges() -> Iterator[Exchange]:
        for exchange in (one for each in passed for one in _exchange(run, each)):
            usages.append(decode_stream([exchange.response]).usage)
            yield exchange

    builder = next(read_exchanges(exchanges(), name, str(run), single=True), None)
    if builder is None:
        raise InputFault("no answered request is recorded", where=str(run), expected="one at least")
    rows = [
        replace(row, reply={"usage": usage}) if row.reply is None and usage else row
        for row, usage in zip(builder.rows, usages, strict=True)
    ]
    return replace(builder.finish(), rows=tuple(rows))


def keep(workspace: Workspace, name: str, session: Session) -> str:
    """Store a session under this name, and return the name that it got.

    An earlier state of the session is replaced, unless somebody has edited it: then the session
    is stored under a new name.
    """
    text = new_entry(session, origin=ORIGIN)
    before = workspace.shelf.read(name)
    if before == text:
        return name
    if before is not None:
        label = read_label(before.partition("\n")[0], name)
        if label.origin != ORIGIN or label.edits:
            return workspace.add(name, text)
    return name if workspace.put(name, before, text) else workspace.add(name, text)


def keep_all(workspace: Workspace, run: Path) -> Iterator[str]:
    """Store a run's newest sessions; yield the name of each, or why it is not stored."""
    ledger: Ledger = read_ledger(run)
    for session, passed in list(ledger.sessions.items())[-_MOST_SESSIONS:]:
        size = sum((run / each.file).stat().st_size for each in passed if each.file)
        if size > _MOST_AT_THE_END:
            yield f"{session} is not kept, at {size >> 20:,} MB: the page Live opens it"
            continue
        try:
            yield keep(workspace, session_name(run, session), session_of(run, passed))
        except InputFault as fault:
            yield f"{session} is not kept: {fault}"
        except UNEXPECTED_OR_TOO_DEEP as error:
            yield f"{session} is not kept: its shape is unknown ({type(error).__name__})"


def _exchange(run: Path, passed: Passed) -> Iterator[Exchange]:
    """Yield the exchange in a recording; nothing if it was refused or has no readable request."""
    file = run / passed.file
    if passed.status is None or not 200 <= passed.status < 300 or not file.is_file():
        return
    lines = list(_lines(file))
    request = next((line["request"] for line in lines if "request" in line), None)
    if not isinstance(request, dict):
        return
    answer = b"".join(filter(None, map(wire_bytes, lines)))
    name, _, version = passed.agent.partition("/")
    yield Exchange(
        request,
        answer,
        Place(field=passed.file),
        passed.url,
        at=passed.at,
        seconds=passed.seconds,
        status=passed.status,
        agent=Agent(name=name, version=version.split(" ")[0], session=passed.session),
    )


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with open_regular_file(file) as lines:
        for line in lines:
            try:
                value = json.loads(line)
            except ValueError:  # the last line may be incomplete
                continue
            if isinstance(value, dict):
                yield value
