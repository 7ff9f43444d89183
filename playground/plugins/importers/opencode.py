"""Read opencode's storage, its export, and its log.

The storage is a folder with a JSON file for each session, message and part. The export is one
document. The log of `opencode run --format json` has a part in each line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.nouns.messages import Part
from playground.plugins.importers.shapes.compactions import EntryPlaces, set_history
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import read_lines
from playground.sessions.shapes.fields import dict_or_finding, list_in, mapping, object_in
from playground.sessions.shapes.messages import ROLES
from playground.sessions.shapes.parts import read_parts
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source

# kinds of parts that are not read
_QUIET = {"step-start", "step-finish", "snapshot", "patch", "agent", "retry", "subtask"}


class OpencodeExport(SessionFormat):
    name = "opencode-export"
    title = "opencode export, or log (`opencode run --format json`)"
    left_aside = {"**.state.metadata": "data with which the interface shows a result"}
    keeps = Keeps(
        times="yes",
        usage="yes",
        missing="the file has no tools and no system prompt; snapshots and patches are not read",
    )

    def recognises(self, source: Source) -> bool:
        if source.is_lines:
            return any(_part_in_line(value) is not None for value in source.head)
        document = source.document
        messages = document.get("messages") if isinstance(document, dict) else None
        first = messages[0] if isinstance(messages, list) and messages else None
        return isinstance(first, dict) and "info" in first and "parts" in first

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        builder.set_metadata(name="opencode")
        if source.is_lines:
            read_lines(
                source, builder, lambda value, at: _log_line(builder, value, at), _QUIET_LINES
            )
            yield builder
            return
        info = dict_or_finding(builder, object_in(source).get("info"), Place(field="info"))
        builder.set_metadata(
            title=info.get("title"), version=info.get("version"), session=info.get("id")
        )
        marked = EntryPlaces(builder)
        for index, entry in enumerate(list_in(source, "messages")):
            place = Place(field=f"messages.{index}")
            message = entry.get("info") if isinstance(entry, dict) else None
            parts = entry.get("parts") if isinstance(entry, dict) else None
            if not isinstance(message, dict) or not isinstance(parts, list):
                builder.note_loss("an entry without a message and its parts", place)
                continue
            placed = [(place.at("parts", number), part) for number, part in enumerate(parts)]
            _message(marked, message, place, placed)
        yield builder


_QUIET_LINES = {"step_start", "step_finish", "session.*", "error"}  # they may add nothing


def _part_in_line(value: Any) -> dict[str, Any] | None:
    part = value.get("part") if isinstance(value, dict) else None
    return part if isinstance(part, dict) and "sessionID" in value else None


def _log_line(builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
    """Read a part of the answer, or the end of a step with the step's usage."""
    part = _part_in_line(value)
    if part is None:
        return
    content: list[Part] = []
    results: list[Part] = []
    _part(builder, part, place.at("part"), content, results)
    if content:
        if builder.messages and builder.messages[-1].role == "assistant":
            builder.add_parts(content)
        else:
            add_with_results(builder, "assistant", content, place)
            builder.add_request(at=value.get("timestamp"))
    if results:
        add_with_results(builder, "tool", results, place)
    last = builder.requests[-1] if builder.requests else None
    if part.get("type") == "step-finish" and last is not None and last.usage is None:
        builder.requests.pop()
        usage, reason = part.get("tokens"), part.get("reason")
        builder.add_request(reply=last.reply, at=last.at, usage=usage, stop_reason=reason)


class Opencode(SessionFormat):
    name = "opencode"
    title = "opencode storage folder"
    left_aside = {"**.error": "errors of the run", "error": "errors of the run"}
    keeps = Keeps(
        times="yes",
        usage="yes",
        missing="the file has no tools and no system prompt; snapshots and patches are not read",
    )

    def recognises(self, source: Source) -> bool:
        if source.is_folder or source.is_zip:
            return any(_is_message(member.document) for member in source.members.values())
        return _is_message(source.document) or _is_part(source.document)

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        files = source.members if source.is_folder or source.is_zip else {"": source}
        values = {name: member.document for name, member in files.items()}
        infos = {str(v["id"]): v for v in values.values() if isinstance(v, dict) and _is_session(v)}
        messages: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        parts: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        for name, value in sorted(values.items()):
            if _is_message(value):
                messages.setdefault(str(value["sessionID"]), []).append((name, value))
            elif _is_part(value):
                parts.setdefault(str(value["messageID"]), []).append((name, value))
        loose = set(parts) - {str(m["id"]) for group in messages.values() for _, m in group}
        for message_id in sorted(loose):  # parts whose message is missing
            session_id = str(parts[message_id][0][1].get("sessionID") or message_id)
            orphan = {"id": message_id, "sessionID": session_id, "role": "assistant"}
            messages.setdefault(session_id, []).append(("", orphan))
        for session_id, group in sorted(messages.items()):
            title = str((infos.get(session_id) or {}).get("title") or session_id)
            yield _session(title, group, parts)


def _session(
    title: str,
    messages: list[tuple[str, dict[str, Any]]],
    parts: dict[str, list[tuple[str, dict[str, Any]]]],
) -> SessionBuilder:
    builder = SessionBuilder(title=title)
    marked = EntryPlaces(builder)
    for name, message in sorted(messages, key=lambda pair: _created(pair[1])):
        placed = [(Place(field=file), part) for file, part in parts.get(str(message["id"]), [])]
        _message(marked, message, Place(field=name or str(message["id"])), placed)
    return builder


def _created(message: dict[str, Any]) -> float:
    """Return a message's time in milliseconds; 0 if it has none, or one that is not a number."""
    created = mapping(time := message.get("time")).get("created", time)
    return created if isinstance(created, int | float) else 0


def _message(
    marked: EntryPlaces,
    message: dict[str, Any],
    place: Place,
    parts: list[tuple[Place, Any]],
) -> None:
    """Read a message, which may be one of the two messages of a compaction.

    The user's message asks for the compaction and names the first message that stays. The answer is
    the summary of the messages before that one.
    """
    builder, start = marked.builder, len(marked.builder.messages)
    compaction_count = len(builder.compactions)
    _add_message(builder, message, place, parts)
    stop = len(builder.messages)
    marked.add(message.get("id"), start)
    if len(builder.compactions) > compaction_count:
        tail = next((p.get("tail_start_id") for _, p in parts if _is_compaction(p)), None)
        kept = [] if tail is None else marked.between(tail) or []
        marked.open = [i for i in kept if i < start]
        marked.prompt = range(start, stop)
    elif message.get("summary") is True and marked.open is not None:
        set_history(builder, [*marked.prompt, *range(start, stop), *marked.open], stop)
        marked.open = None


def _is_compaction(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "compaction"


def _add_message(
    builder: SessionBuilder,
    message: dict[str, Any],
    place: Place,
    parts: list[tuple[Place, Any]],
) -> None:
    """Add a message with its parts, and the results of its calls. A part holds both a call and its
    result."""
    role = ROLES.get(str(message.get("role")))
    if role is None:
        builder.note_loss(f"a message of the role {message.get('role')!r}", place)
        return
    content: list[Part] = []
    results: list[Part] = []
    summary = mapping(message.get("summary"))
    for where, part in parts:
        if isinstance(part, dict):
            _part(builder, part, where, content, results)
        else:
            builder.note_loss(f"a part that is a {type(part).__name__}", where)
    if not content and summary.get("body"):
        content += read_parts(builder, str(summary["body"]), place)
    add_with_results(builder, role, content, place)
    if role == "assistant":
        time, model = message.get("time"), message.get("model")
        inner = model.get("modelID") if isinstance(model, dict) else model
        builder.add_request(
            model=message.get("modelID") or inner,
            at=time.get("created") if isinstance(time, dict) else time,
            usage=message.get("tokens"),
            stop_reason=message.get("finish"),
        )
    if results:
        add_with_results(builder, "tool", results, place)


def _part(
    builder: SessionBuilder,
    part: dict[str, Any],
    place: Place,
    content: list[Part],
    results: list[Part],
) -> None:
    kind = str(part.get("type"))
    if kind == "compaction":
        builder.add_compaction(place=place)
    elif kind == "tool":
        state = dict_or_finding(builder, part.get("state"), place.at("state"))
        call_id = part.get("callID") or builder.new_id()
        content.append(builder.call(call_id, part.get("tool"), state.get("input"), place))
        output = state.get("output", state.get("error"))
        if output is not None:
            failed = state.get("status") == "error"
            results.append(builder.result(call_id, output, part.get("tool"), is_error=failed))
    elif kind == "file" and str(part.get("mime", "")).startswith("image/"):
        content += read_parts(builder, {"type": "image", "url": part.get("url")}, place)
    elif kind == "file":
        builder.note_loss(f"the file {part.get('filename')!r}", place)
    elif kind not in _QUIET:
        content += read_parts(builder, part, place)


def _is_session(value: Any) -> bool:
    return isinstance(value, dict) and "projectID" in value and "id" in value


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and {"id", "sessionID", "role"} <= value.keys()


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) and {"id", "messageID", "type"} <= value.keys()
