"""Read sessions of pi, OpenClaw and Droid: a line about the session, then messages (in pi a tree).

Each branch is a session with all messages from the root. The branch that was written last comes
first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.base.findings import finding
from playground.nouns.messages import TextPart
from playground.plugins.importers.shapes.compactions import EntryPlaces, set_history
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.first_look import first_lines
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import read_lines
from playground.sessions.shapes.facts import add_answer_facts
from playground.sessions.shapes.fields import text_of
from playground.sessions.shapes.messages import read_message
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source

_HEADS: Final = {"session", "session_start"}
_QUIET: Final = {  # kinds of lines that may add nothing to a session
    "session", "session_start", "thinking_level_change", "label", "custom", "session_info",
    "todo_state", "session_end", "model_change", "branch_point",
}  # fmt: skip


class PiSession(SessionFormat):
    name = "pi-session"
    title = "pi, OpenClaw or Droid session"
    keeps = Keeps(
        times="yes",
        usage="yes",
        missing="the file has no tools and no system prompt; labels and states of extensions are "
        "not read",
    )

    def recognises(self, source: Source) -> bool:
        if not source.is_lines:
            return False
        lines = first_lines(source)
        has_head = any(line.get("type") in _HEADS and ("id" in line) for line in lines[:2])
        has_messages = any(
            line.get("type") == "message" and isinstance(line.get("message"), dict)
            for line in lines
        )
        return (
            has_head
            and (has_messages or len(lines) < 4)
            or (has_messages and "parentId" in lines[-1])
        )

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        branches = _branches(source)
        builders = [
            SessionBuilder(title=source.stem if n == 0 else f"{source.stem} (branch {n + 1})")
            for n in range(len(branches))
        ]
        for builder in builders[1:]:
            builder.counter = builders[0].counter
        if len(branches) > 1:
            text = f"the conversation has {len(branches)} branches"
            builders[0].findings.append(finding("other-branches", source.name, text))

        marked = [EntryPlaces(builder) for builder in builders]

        def line(value: dict[str, Any], place: Place) -> None:
            for own, lines in zip(marked, branches, strict=True):
                if lines is None or place.line in lines:
                    start = len(own.builder.messages)
                    _entry(own, value, place)
                    for entry in (value.get("id"), place.line):
                        own.add(entry, start)

        read_lines(source, builders[0], line, _QUIET)
        yield from builders


def _branches(source: Source) -> list[set[int | None] | None]:
    """Return the line numbers of each branch, beginning with the branch that was written last.
    Return [None] if the file is a single branch."""
    parent_of: dict[str, str] = {}
    line_of: dict[str, int] = {}
    messages: set[str] = set()
    last = ""
    finding_count = len(source.findings)
    for number, value in source.lines():
        if not isinstance(value, dict):
            continue
        own_id, parent = str(value.get("id") or f"line {number}"), value.get("parentId")
        is_known = isinstance(parent, str) and parent in line_of
        parent_of[own_id] = str(parent) if is_known else last
        line_of[own_id] = number
        if value.get("type") == "message":
            messages.add(own_id)
        last = own_id
    # `sessions` will read the lines, and add these findings, again
    del source.findings[finding_count:]
    parents = set(parent_of.values())
    ends = [each for each in line_of if each not in parents and each in messages]
    branches: list[set[int | None] | None] = []
    seen: set[str] = set()
    for end in [last, *reversed(ends)]:
        path = _path(parent_of, end)
        if messages & (path - seen):
            branches.append({line_of[each] for each in path})
        seen |= path
    return branches if len(branches) > 1 else [None]


def _path(parent_of: dict[str, str], end: str) -> set[str]:
    path: set[str] = set()
    while end and end not in path:
        path.add(end)
        end = parent_of.get(end, "")
    return path


def _entry(marked: EntryPlaces, value: dict[str, Any], place: Place) -> None:
    builder = marked.builder
    kind, message = str(value.get("type")), value.get("message")
    if kind in _HEADS:
        name = "droid" if kind == "session_start" else "pi"
        builder.set_metadata(name=name, session=value.get("id"), title=value.get("sessionTitle"))
        builder.set_metadata(model=value.get("modelId"), version=_droid_version(value))
    elif kind == "model_change":
        builder.set_metadata(model=value.get("modelId"))
    elif kind in ("compaction", "compaction_state"):
        _compaction(marked, value, place)
    elif kind == "branch_summary":  # of another branch, so that it replaces no messages here
        if value.get("summary"):
            read_message(builder, {"role": "user", "content": value["summary"]}, place)
    elif isinstance(message, dict):
        _message(builder, message, value, place.at("message"))
    elif kind == "custom_message" and value.get("content"):
        read_message(builder, {"role": "user", "content": value["content"]}, place)


def _compaction(marked: EntryPlaces, value: dict[str, Any], place: Place) -> None:
    """Add a compaction. Later requests begin with its summary and the messages that it kept.

    The oldest files of pi name the first kept message by the number of its line, from 0.
    """
    builder, number = marked.builder, value.get("firstKeptEntryIndex")
    first = number + 1 if type(number) is int else value.get("firstKeptEntryId")
    kept = None if first is None else marked.between(first)
    builder.add_compaction(value.get("timestamp"), value.get("tokensBefore"), place)
    start = len(builder.messages)
    if value.get("summary"):
        read_message(builder, {"role": "user", "content": value["summary"]}, place)
    summary = range(start, len(builder.messages))
    marked.summaries.update(summary)
    if kept is not None:
        set_history(builder, [*summary, *kept])


def _droid_version(value: dict[str, Any]) -> str:
    """Return Droid's version, which is a text; "" for a number, which is pi's file version."""
    return text_of(value.get("version"))


def _message(
    builder: SessionBuilder, message: dict[str, Any], line: dict[str, Any], place: Place
) -> None:
    start = len(builder.messages)
    if message.get("errorMessage"):
        builder.note_beside("errorMessage", place.at("errorMessage"))
    if message.get("role") == "bashExecution":
        _shell(builder, message, place)
    elif message.get("role") in ("branchSummary", "compactionSummary", "custom", "hookMessage"):
        content = message.get("summary") or message.get("content")
        read_message(builder, {"role": "user", "content": content}, place)
    elif message.get("role") == "toolResult" and not message.get("toolCallId"):
        call_id = builder.open_call(str(message.get("toolName") or ""))
        read_message(builder, {**message, "toolCallId": call_id}, place)
    else:
        read_message(builder, message, place)
    add_answer_facts(builder, start, message, {"timestamp": line.get("timestamp")})


def _shell(builder: SessionBuilder, message: dict[str, Any], place: Place) -> None:
    """Read a command that the user ran, as the text that pi sends to the model.

    Commands that began with `!!` are not sent. Source: pi's `messages.ts` (2026-11).
    """
    if message.get("excludeFromContext"):
        builder.note_loss(
            f"a command that the model does not get: {message.get('command')!r:.80}", place
        )
        return
    output, status = message.get("output"), message.get("exitCode")
    text = f"Ran `{message.get('command')}`\n"
    text += f"```\n{output}\n```" if output else "(no output)"
    if message.get("cancelled"):
        text += "\n\n(command cancelled)"
    elif status not in (0, None):
        text += f"\n\nCommand exited with code {status}"
    if message.get("truncated") and message.get("fullOutputPath"):
        text += f"\n\n[Output truncated. Full output: {message['fullOutputPath']}]"
    add_with_results(builder, "user", [TextPart(text)], place)
