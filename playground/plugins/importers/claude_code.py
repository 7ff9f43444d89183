"""Read Claude Code's transcripts (`~/.claude/projects`) and its logs in `stream-json` format.

Each block of the API's answer is a line; between these lines there may be results of calls. Lines
with the same message id are one message, from one request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from playground.base.findings import finding
from playground.nouns.messages import Part, ToolResultPart
from playground.plugins.importers.shapes.compactions import EntryPlaces, set_history
from playground.sessions.building import NO_MODEL, Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.lines import Entry, read_lines
from playground.sessions.shapes.fields import listed, mapping, text_of
from playground.sessions.shapes.messages import read_message, role_of
from playground.sessions.shapes.parts import read_parts
from playground.sessions.source import Source

_MARKS: Final = {"parentUuid", "isSidechain", "sessionId", "uuid"}  # fields of usual lines
_SPEAKERS: Final = ("user", "assistant")
_QUIET: Final = {  # kinds of lines that may add nothing to a session
    "attachment", "file-history-snapshot", "queue-operation", "progress", "last-prompt", "system",
    "permission-mode", "mode", "agent-name", "agent-color", "pr-link", "result", "stream_event",
    "rate_limit_event", "tool_progress", "keep_alive", "control_request", "control_response",
    "auth_status", "marble-origami-commit", "worktree-state", "content-replacement",
    "session_state",
}  # fmt: skip


class ClaudeCode(SessionFormat):
    name = "claude-code"
    title = "Claude Code or Qwen Code transcript"
    left_aside = {
        "hookInfos": "commands of hooks",
        "summary": "titles of sessions",
        "^(?:Conversation )?compacted$": "the interface's text for a compaction",
    }
    keeps = Keeps(
        times="yes",
        usage="yes",
        missing="the file has no tools and no system prompt; hooks, snapshots and bookkeeping are "
        "not read",
    )

    def recognises(self, source: Source) -> bool:
        return any(_is_line(line) for line in _values(source))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        yield from _read(source)


class ClaudeStream(SessionFormat):
    name = "claude-stream-json"
    title = "Claude Code's log (`--output-format stream-json`)"
    keeps = Keeps(
        tools="by name",
        times="if the lines have them",
        usage="yes",
        missing="the file has no system prompt and no first prompt; the run's totals are read only "
        "if no answer has its usage",
    )

    def recognises(self, source: Source) -> bool:
        document = source.document
        lines = document if isinstance(document, list) else _values(source)
        return any(
            isinstance(line, dict)
            and ("session_id" in line or _is_head(line))
            and (
                isinstance(line.get("message"), dict)
                or line.get("type") == "result"
                or (line.get("type") == "system" and "subtype" in line)
            )
            for line in lines
        )

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        yield from _read(source)


def _is_head(line: dict[str, Any]) -> bool:
    """Return True for the first line of a log. Droid's (Factory's) logs look alike but have
    `sessionId`."""
    return line.get("subtype") == "init" and "sessionId" not in line


def _is_line(line: Any) -> bool:
    """Return True for a line of a transcript: one with two of the usual fields or, as in copies
    without these, a message with a time whose type is `user` or `assistant`."""
    if not isinstance(line, dict) or "type" not in line:
        return False
    message = line.get("message")
    is_message = isinstance(message, dict) and "content" in message and "timestamp" in line
    return len(_MARKS & line.keys()) >= 2 or (is_message and line["type"] in _SPEAKERS)


def _values(source: Source) -> list[Any]:
    """Return the lines that show the file's format: the first lines of the file, or all lines in
    a JSON document that wraps them."""
    if source.is_lines:
        return source.head
    return [value for _, _, value in _wrapped_lines(source.document) or ()]


def _wrapped_lines(document: Any) -> list[Entry] | None:
    """Return the lines inside a JSON document; None if there are none.

    They are the `loglines` of a session on the web, the `messages` of a recorded pipe to the agent,
    or the only line of `--output-format json`, which is the last line of a log.
    """
    match document:
        case {"type": "result", "session_id": str(), "result": str()}:
            return [(1, Place(), document)]
        case {"loglines": list(lines)}:
            return [(i, Place(field=f"loglines.{i}"), line) for i, line in enumerate(lines)]
        case {"messages": [{"direction": _, "message": dict()}, *_] as lines}:
            return [
                (i, Place(field=f"messages.{i}.message"), line["message"])
                for i, line in enumerate(lines)
                if isinstance(line, dict) and "message" in line
            ]
    return None


def _read(source: Source) -> Iterator[SessionBuilder]:
    yield from read_log(source, None if source.is_lines else _wrapped_lines(source.document))


def read_log(
    source: Source, lines: Iterable[Entry] | None, title: Any = ""
) -> Iterator[SessionBuilder]:
    """Yield the conversations in `lines`, by default the file's; `title` is that of the first."""
    threads = _Threads(source.stem)
    threads.main.set_metadata(title=title)
    read_lines(source, threads.main, threads.line, _QUIET, lines)
    yield from threads.sessions()


_Answer = tuple[int, dict[str, Any] | None]  # the index of an answer's message, and its request


@dataclass
class _Thread:
    """A conversation of one agent, whose lines are being read."""

    builder: SessionBuilder
    marked: EntryPlaces = field(init=False)  # the messages of each line, by the line's uuid
    answers: dict[str, _Answer] = field(default_factory=dict)  # by id, since the last user message
    requests: list[dict[str, Any]] = field(default_factory=list)
    is_known: bool = False  # True after the agent's name, version and session are set

    def __post_init__(self) -> None:
        self.marked = EntryPlaces(self.builder)

    def finish(self) -> SessionBuilder:
        """Add the requests, once all lines of their answers were read; return the builder."""
        for request in self.requests:
            self.builder.add_request(**request)
        return self.builder


class _Threads:
    """The conversations of the agent and its sub-agents, whose lines are in one file."""

    def __init__(self, title: str) -> None:
        self.main = SessionBuilder(title=title)
        self._threads: dict[str, _Thread] = {"": _Thread(self.main)}
        self._by_line: dict[str, str] = {}  # uuid of a sub-agent's line -> key of its thread

    def sessions(self) -> Iterator[SessionBuilder]:
        found = [t.finish() for t in self._threads.values() if t.builder.messages]
        if found and found[0] is not self.main:
            found[0].findings[:0] = self.main.findings
        yield from found or [self.main]

    def line(self, value: dict[str, Any], place: Place) -> None:
        kind, message = value.get("type"), value.get("message")
        if kind == "progress" and isinstance(data := value.get("data"), dict):
            inner = data.get("message")  # a sub-agent's line inside the main agent's transcript
            if isinstance(inner, dict) and isinstance(inner.get("message"), dict):
                agent = data.get("agentId") or value.get("parentToolUseID") or "sub-agent"
                _message(self._thread(str(agent)), inner, place.at("data", "message"))
            return
        thread = self._thread_of(value)
        if not thread.is_known:
            self._set_agent(thread, value)
        if isinstance(message, dict):
            _message(thread, value, place)
        elif kind == "result":
            _outcome(thread, value, place)
        elif kind == "system":
            _system(thread.marked, value, place)
        elif kind in ("summary", "custom-title", "ai-title"):
            thread.builder.set_metadata(
                title=value.get("summary") or value.get("customTitle") or value.get("aiTitle")
            )

    def _thread_of(self, value: dict[str, Any]) -> _Thread:
        """Return the thread of a line, nearly always the main agent's."""
        if not value.get("parent_tool_use_id") and not value.get("isSidechain"):
            return self._threads[""]
        key = self._key(value)
        if value.get("uuid"):
            self._by_line[str(value["uuid"])] = key
        return self._thread(key)

    def _key(self, value: dict[str, Any]) -> str:
        if value.get("parent_tool_use_id"):
            return str(value["parent_tool_use_id"])
        if value.get("agentId"):
            return str(value["agentId"])
        parent_key = self._by_line.get(str(value.get("parentUuid")), "")
        return parent_key or f"sidechain {len(self._threads)}"

    def _thread(self, key: str) -> _Thread:
        if key not in self._threads:
            builder = SessionBuilder(title=f"{self.main.title} {key}", counter=self.main.counter)
            builder.agent = self.main.agent
            builder.set_metadata(sub_agent=key)
            self._threads[key] = _Thread(builder)
        return self._threads[key]

    def _set_agent(self, thread: _Thread, value: dict[str, Any]) -> None:
        """Set the agent's name, version and session, which most lines repeat."""
        agent, message = thread.builder.agent, value.get("message")
        if agent.name and agent.session and not value.get("version"):
            return  # only the head of a log has the version
        is_qwen = isinstance(message, dict) and "parts" in message
        name = agent.name or ("qwen-code" if is_qwen else message and "claude-code")
        version = agent.version or value.get("version")
        session = agent.session or value.get("sessionId") or value.get("session_id")
        if name == agent.name and (version or "") == agent.version and session == agent.session:
            return
        thread.builder.set_metadata(name=name, version=version, session=session)
        agent = thread.builder.agent
        thread.is_known = bool(agent.name and agent.version and agent.session)


def _message(thread: _Thread, value: dict[str, Any], place: Place) -> None:
    """Read a line's message, or add it to the answer of an earlier line with the same id."""
    builder, message, where = thread.builder, value["message"], place.at("message")
    answer_id, role = message.get("id"), role_of(message)
    is_answer = role == "assistant" or value.get("type") == "assistant"
    is_summary = value.get("isCompactSummary")
    if is_summary and not _just_compacted(builder):
        builder.add_compaction(value.get("timestamp"), place=place)
        set_history(builder, ())
    if is_answer and answer_id and (answer := thread.answers.get(str(answer_id))):
        _add_piece(thread, answer, value, where)
        return
    start = len(builder.messages)
    read_message(builder, message if role else {**message, "role": _role(value)}, where)
    thread.marked.add(value.get("uuid"), start)
    _note_output(builder, value, place)
    if is_summary and thread.marked.open:
        set_history(builder, [*range(start, len(builder.messages)), *thread.marked.open])
    if thread.answers and _has_user_message(builder, start):
        thread.answers.clear()  # no answer continues after a user's message
    if not is_answer or len(builder.messages) == start:
        return
    request = None
    if str(message.get("model")) not in NO_MODEL:
        request = _request(value, message, start)
        thread.requests.append(request)
    if answer_id:
        thread.answers[str(answer_id)] = start, request


def _note_output(builder: SessionBuilder, value: dict[str, Any], place: Place) -> None:
    """Add a finding for output of a tool that the transcript has and the model did not get."""
    output, sent = mapping(value.get("toolUseResult")), value["message"].get("content")
    for name in ("stdout", "stderr"):
        text = output.get(name)
        if isinstance(text, str) and " ".join(text.split()) not in " ".join(
            _texts_of_blocks(sent).split()
        ):
            builder.note_beside(f"toolUseResult.{name}", place.at("toolUseResult", name))


def _texts_of_blocks(content: Any) -> str:
    """Return the texts of blocks, including texts inside `tool_result` blocks."""
    if isinstance(content, dict):
        content = [content.get("text"), content.get("content")]
    return (
        " ".join(map(_texts_of_blocks, content)) if isinstance(content, list) else text_of(content)
    )


def _add_piece(thread: _Thread, answer: _Answer, value: dict[str, Any], place: Place) -> None:
    """Add a later piece of an answer. Results of tools in the piece become a separate message."""
    builder, message, (index, request) = thread.builder, value["message"], answer
    thread.marked.add(value.get("uuid"), index, index + 1)
    parts = read_parts(builder, message.get("content"), place)
    builder.add_parts([p for p in parts if not isinstance(p, ToolResultPart)], index)
    if results := [p for p in parts if isinstance(p, ToolResultPart)]:
        builder.add_message("tool", results, place)
    if request is not None:
        newer = _request(value, message, index)
        if _has_other_counts(request["usage"], newer["usage"]):
            words = f"an earlier line of this answer has other counts: {request['usage']}"
            builder.findings.append(finding("usage-lost", str(place.at("usage")), words[:200]))
        usage = newer["usage"] or request["usage"]
        request.update({**newer, "usage": usage, "at": request["at"] or newer["at"]})


def _has_other_counts(before: Any, after: Any) -> bool:
    """Return True if two lines of an answer have different token counts. The later line may have a
    larger output count, because the answer has grown."""
    before, after = mapping(before), mapping(after)
    return any(
        type(count) is int and (after[name] < count if "output" in name else after[name] != count)
        for name, count in before.items()
        if type(after.get(name)) is int
    )


def _has_user_message(builder: SessionBuilder, start: int) -> bool:
    return "user" in [each.role for each in builder.messages[start:]]


def _role(value: dict[str, Any]) -> str:
    kind = str(value.get("type"))
    return kind if kind in ("user", "assistant", "system", "tool") else "user"


def _request(value: dict[str, Any], message: dict[str, Any], index: int) -> dict[str, Any]:
    """Return the request of an answer. Later pieces of the answer update the request's usage."""
    return {
        "reply": index,
        "model": message.get("model") or value.get("model"),
        "at": value.get("timestamp"),
        "usage": message.get("usage") or value.get("usageMetadata"),
        "stop_reason": message.get("stop_reason"),
        "agent_version": value.get("version"),
    }


def _just_compacted(builder: SessionBuilder) -> bool:
    return bool(builder.compactions) and builder.compactions[-1].message == len(builder.messages)


def _system(marked: EntryPlaces, value: dict[str, Any], place: Place) -> None:
    """Read the head of a log or the mark of a compaction; skip other system lines."""
    builder = marked.builder
    if value.get("subtype") == "init":
        version = value.get("claude_code_version") or value.get("version")
        builder.set_metadata(model=value.get("model"), version=version)
        builder.add_tools(value.get("tools"), place.at("tools"))
    elif value.get("subtype") == "compact_boundary":
        about = mapping(value.get("compactMetadata") or value.get("compact_metadata"))
        tokens = about.get("preTokens", about.get("pre_tokens"))
        kept, anchor = _preserved(marked, about)
        builder.add_compaction(value.get("timestamp"), tokens, place)
        if kept is not None:
            set_history(builder, kept)
            marked.open = kept if anchor != value.get("uuid") else []


def _preserved(marked: EntryPlaces, about: dict[str, Any]) -> tuple[list[int] | None, Any]:
    """Return the messages that a compaction kept, and the id of the line that they follow: the
    summary or the boundary. The list is empty if the compaction names no message, and None if a
    named message is not in the file."""
    segment = mapping(about.get("preservedSegment", about.get("preserved_segment")))
    if segment:
        head, tail = (
            segment.get(f"{end}Uuid", segment.get(f"{end}_uuid")) for end in ("head", "tail")
        )
        anchor = segment.get("anchorUuid", segment.get("anchor_uuid"))
        return (None if tail is None else marked.between(head, tail)), anchor
    named = mapping(about.get("preservedMessages", about.get("preserved_messages")))
    ranges = [marked.between(each, each) for each in listed(named.get("uuids"))]
    if any(each is None for each in ranges):
        return None, None
    kept = sorted({index for each in ranges for index in each or ()})
    return kept, named.get("anchorUuid", named.get("anchor_uuid"))


def _outcome(thread: _Thread, value: dict[str, Any], place: Place) -> None:
    """Read the last line of a log. Add its text, unless the last message has it already."""
    text, builder = value.get("result"), thread.builder
    if thread.requests and not any(request.get("usage") for request in thread.requests):
        # the whole run's usage, because no answer has its own
        thread.requests[-1]["usage"] = value.get("usage")
    if not isinstance(text, str) or not text.strip():
        return
    last = next((m for m in reversed(builder.messages) if m.role == "assistant"), None)
    if last is None or last.text.strip() != text.strip() or builder.messages[-1] is not last:
        parts: list[Part] = read_parts(builder, text, place.at("result"))
        builder.add_message("assistant", parts, place.at("result"))
        if not thread.requests:
            at, usage = value.get("timestamp"), value.get("usage")
            thread.requests.append({"reply": len(builder.messages) - 1, "at": at, "usage": usage})
