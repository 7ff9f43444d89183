"""The project's own session files: one JSON object, or one a line (as importing many writes)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial

from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.native_format import parse_session
from playground.sessions.session import FORMAT
from playground.sessions.source import Source


class PlaygroundSession(SessionFormat):
    name = "playground"
    title = "session file of this project"
    own = True
    session_a_line = True
    keeps = Keeps("yes", "yes", "yes", "yes")

    def recognises(self, source: Source) -> bool:
        first = source.head[0] if source.is_lines and source.head else source.document
        return isinstance(first, dict) and first.get("format") == FORMAT

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        if source.is_lines:
            for line, value in source.lines():
                with source.going_on():
                    where = f"{source.name}:{line}"
                    yield _session(source, value, partial(json.dumps, value), where, Place(line))
        else:
            yield _session(source, source.value, source.text, source.name, Place())


def _session(
    source: Source, value: object, text: str | Callable[[], str], where: str, place: Place
) -> SessionBuilder:
    builder = SessionBuilder()
    sound = value if source.is_sound else builder.finite(value, place)
    builder.given = parse_session(sound, text, where)
    return builder
