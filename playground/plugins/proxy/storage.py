"""Store the sessions of a run in the workspace, rebuilt from the recordings of their exchanges."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.user_files import open_regular_file
from playground.plugins.proxy.ledger import Ledger, LoggedExchange, read_ledger
from playground.recordings.decoding import decode_stream
from playground.recordings.files import wire_bytes
from playground.sessions.entries import new_entry, read_label
from playground.sessions.last_resort import UNEXPECTED_OR_TOO_DEEP
from playground.sessions.places import Place
from playground.sessions.session import Agent, Session
from playground.sessions.shapes.exchanges import Exchange, read_exchanges
from playground.sessions.workspaces import Workspace

ORIGIN: Final = "proxy"
_MOST_SESSIONS: Final = 32  # the most sessions of a run that are stored, the newest
# The most bytes of a session's recordings. A larger session is not stored at the end of a run,
# because that would take too long.
_MOST_AT_THE_END: Final = 128 * 1024 * 1024


def session_name(run: Path, session: str) -> str:
    """Return the name of a run's session in the workspace."""
    return f"{session} {run.name}"


def session_of(run: Path, logged: Sequence[LoggedExchange]) -> Session:
    """Build a session from exchanges: all answers, and a row with the bill for each request. Only
    one exchange is in memory at a time, because each has the complete history.

    Raises InputFault if no exchange can be read.
    """
    name = logged[0].title or logged[0].session
    usages: list[dict[str, Any] | None] = []

    def exchanges() -> Iterator[Exchange]:
        for exchange in (exchange for entry in logged for exchange in _read_recording(run, entry)):
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


def store_session(workspace: Workspace, name: str, session: Session) -> str:
    """Store a session under `name`, and return the name under which it is stored.

    An earlier state of the session is replaced. If somebody has edited it, the session is stored
    under a new name.
    """
    text = new_entry(session, origin=ORIGIN)
    stored = workspace.shelf.read(name)
    if stored == text:
        return name
    if stored is not None:
        label = read_label(stored.partition("\n")[0], name)
        if label.origin != ORIGIN or label.edits:
            return workspace.add(name, text)
    return name if workspace.put(name, stored, text) else workspace.add(name, text)


def store_run(workspace: Workspace, run: Path) -> Iterator[str]:
    """Store a run's newest sessions; yield the name of each, or the reason why it is not stored."""
    ledger: Ledger = read_ledger(run)
    for session, logged in list(ledger.sessions.items())[-_MOST_SESSIONS:]:
        size = sum((run / entry.file).stat().st_size for entry in logged if entry.file)
        if size > _MOST_AT_THE_END:
            yield f"{session} is not kept, at {size >> 20:,} MB; the page Live can open it"
            continue
        try:
            yield store_session(workspace, session_name(run, session), session_of(run, logged))
        except InputFault as fault:
            yield f"{session} is not kept: {fault}"
        except UNEXPECTED_OR_TOO_DEEP as error:
            yield f"{session} is not kept: its shape is unknown ({type(error).__name__})"


def _read_recording(run: Path, logged: LoggedExchange) -> Iterator[Exchange]:
    """Yield the exchange in a recording, unless it was refused or has no readable request."""
    file = run / logged.file
    if logged.status is None or not 200 <= logged.status < 300 or not file.is_file():
        return
    lines = list(_lines(file))
    request = next((line["request"] for line in lines if "request" in line), None)
    if not isinstance(request, dict):
        return
    answer = b"".join(filter(None, map(wire_bytes, lines)))
    name, _, version = logged.agent.partition("/")
    yield Exchange(
        request,
        answer,
        Place(field=logged.file),
        logged.url,
        at=logged.at,
        seconds=logged.seconds,
        status=logged.status,
        agent=Agent(name=name, version=version.split(" ")[0], session=logged.session),
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
