"""Read a file of the workspace: a session as it was imported, with later edits and recordings."""

from __future__ import annotations

from collections.abc import Iterator

from playground.sessions.building import SessionBuilder
from playground.sessions.entries import FAMILY, read_entry
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.source import Source


class WorkspaceEntry(SessionFormat):
    name = "workspace"
    title = "file of the playground's workspace"
    own = True
    keeps = Keeps("yes", "yes", "yes", "yes")

    def recognises(self, source: Source) -> bool:
        first = source.head[0] if source.head else None
        return isinstance(first, dict) and str(first.get("format", "")).startswith(FAMILY)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        entry = read_entry(source.text, source.name)
        builder = SessionBuilder()
        builder.complete_session = entry.session
        builder.findings += entry.findings
        yield builder
