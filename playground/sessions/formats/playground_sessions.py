"""Read the project's own session files: one JSON object, or one in each line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from playground.base.errors import InputFault
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.native_format import parse_session
from playground.sessions.session import FORMAT
from playground.sessions.source import Source

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)
# Top-level field -> depth of the items that are dropped if the file is cut off inside an item.
_DEPTHS: Final = {"messages": 4, "recordings": 4}  # a part of a message, a chunk of a recording
_USUAL_DEPTH: Final = 2
_MISSING: Final = "Field required"  # pydantic's message for a missing field


class PlaygroundSession(SessionFormat):
    name = "playground"
    title = "session file of this project"
    own = True
    session_per_line = True
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
            value = source.value
            if any(found.code == "torn-end" for found in source.findings):
                value = _complete_part(value, source.text, source.name)
            yield _session(source, value, source.text, source.name, Place())


def _complete_part(value: Any, text: str, where: str) -> Any:
    """Return the complete part of a session that is cut off at the end of `text`. The item that is
    cut off is dropped, then one last item after another while a required field is missing. Raises
    InputFault if the session has another fault."""
    path = _open_at_end(value, text)
    depth = _DEPTHS.get(str(path[0][1]) if path else "", _USUAL_DEPTH)
    if len(path) >= depth:
        _remove(*path[depth - 1])
    while True:
        try:
            parse_session(value, text, where)
        except InputFault as fault:
            ends = list(_last_items(value))
            if not fault.problem.startswith(_MISSING) or not ends or ends[0][1] == "format":
                raise
            _remove(*ends[-1])
        else:
            return value


def _open_at_end(value: Any, text: str) -> list[tuple[Any, Any]]:
    """Return the objects and lists that the text does not close, without the outermost object. Each
    is given by its container and its key there."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
    return list(_last_items(value))[: max(depth - 1, 0)]


def _last_items(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield container and key of the last item, then of that item's last item, and so on."""
    while isinstance(value, dict | list) and value:
        key = next(reversed(value)) if isinstance(value, dict) else len(value) - 1
        yield value, key
        value = value[key]


def _remove(holder: Any, key: Any) -> None:
    del holder[key]


def _session(
    source: Source, value: object, text: str | Callable[[], str], where: str, place: Place
) -> SessionBuilder:
    builder = SessionBuilder()
    value = value if source.is_clean else builder.finite(value, place)
    builder.complete_session = parse_session(value, text, where)
    return builder
