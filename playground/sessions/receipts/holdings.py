"""Holdings: the texts, calls and token counts of sessions, for comparison with those of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from playground.base.json_numbers import load_json
from playground.nouns.messages import ImagePart, ReasoningPart, TextPart, ToolCallPart
from playground.recordings.recording import Recording
from playground.sessions.native_format import dump_recording
from playground.sessions.receipts.counts import sides
from playground.sessions.receipts.leaves import (
    SYSTEM_ROLES,
    arguments_text,
    leaves_in,
    scalars,
    spelt,
)
from playground.sessions.session import Session


@dataclass
class Holdings:
    """The leaves of sessions. Leaves of stored bodies are separate, because the file has the same
    bodies."""

    texts: list[str] = field(default_factory=list)
    as_sent: list[str] = field(default_factory=list)  # texts in bodies
    # the text of each part and each message
    part_texts: Counter[str] = field(default_factory=Counter)
    most_in_a_session: Counter[str] = field(default_factory=Counter)  # text → most in one session
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    most_calls_in_a_session: Counter[tuple[str, str]] = field(default_factory=Counter)
    calls_made: int = 0
    results_by_call: dict[str, list[str]] = field(default_factory=dict)  # by the calls' ids
    usages: list[tuple[int, ...]] = field(default_factory=list)
    messages: set[str] = field(default_factory=set)  # each counted once, as in the file
    requests: int = 0
    read: int = 0  # tokens of prompts
    written: int = 0  # tokens of answers

    @property
    def results(self) -> int:
        return sum(map(len, self.results_by_call.values()))


def holdings_of(sessions: Iterable[Session], own: bool = False) -> Holdings:
    """Return the texts, calls and counts that a file's sessions hold. In a file of our `own` format
    recordings stand beside the messages; elsewhere both come from the same reply."""
    found = Holdings()
    for session in sessions:
        text_counts = _add_messages(found, session)
        for recording in session.recordings:
            text_counts += _add_recording(found, recording)
        found.part_texts += text_counts
        found.most_in_a_session |= text_counts
        calls = Counter(
            (call.tool_name, arguments_text(call.args))
            for message in session.messages
            for call in message.tool_calls
        )
        found.calls_made += calls.total()
        if own:
            dumped = leaves_in([dump_recording(each) for each in session.recordings])
            found.texts += [text.text for text in dumped.texts]
            found.texts += [words.text for words in dumped.words]
            found.calls.update((call.name, call.arguments) for call in dumped.calls)
            found.usages += [usage.counts for usage in dumped.usages]
        found.most_calls_in_a_session |= calls
        found.requests += len(session.requests)
        for record in session.requests:
            if record.usage and (counts := _numbers(record.usage)):
                found.usages.append(tuple(sorted(counts)))
                read, written = sides(record.usage, in_usage=True)
                found.read, found.written = found.read + read, found.written + written
        found.texts += strings(session.task.model_dump())
        found.texts += strings(
            [session.title, session.purpose, session.dynamic.dynamic_environment_details_block]
        )
        found.texts += strings([tool.model_dump() for tool in session.tools])
        found.texts += strings(session.parameters)
        found.as_sent += strings([row.body for row in session.rows])
    return found


def _add_messages(holdings: Holdings, session: Session) -> Counter[str]:
    """Add the messages of a session; return the texts of their parts."""
    texts_of_parts: Counter[str] = Counter()
    for message in session.messages:
        if message.role != "tool" and message.role not in SYSTEM_ROLES:
            holdings.messages.add(repr((message.role, message.parts)))
        texts = [p.text for p in message.parts if isinstance(p, TextPart | ReasoningPart)]
        texts_of_parts.update(texts)
        if len(texts) > 1:
            holdings.part_texts["".join(texts)] += 1
        for part in message.parts:
            _add_part(holdings, part)
    return texts_of_parts


def _add_recording(holdings: Holdings, recording: Recording) -> Counter[str]:
    """Add a recording's error and the replies after its first; return these replies' texts."""
    holdings.texts += strings(recording.error)
    holdings.calls.update((call.name, call.arguments) for call in leaves_in(recording.error).calls)
    text_counts: Counter[str] = Counter()
    for reply in recording.replies[1:]:
        text_counts.update((reply.content, reply.reasoning))
        holdings.texts += (reply.content, reply.reasoning)
        for call in reply.tool_calls:
            holdings.texts += strings(call.arguments_text)
            holdings.calls[call.name, spelt(call.arguments_text)] += 1
    return text_counts


def _add_part(holdings: Holdings, part: Any) -> None:
    match part:
        case TextPart() | ReasoningPart():
            holdings.texts += strings(part.text)
            if isinstance(part, ReasoningPart) and part.signature:
                holdings.texts.append(part.signature)
        case ToolCallPart():
            arguments = part.args
            holdings.calls[part.tool_name, arguments_text(arguments)] += 1
            if arguments.keys() == {"input"}:  # arguments that are a text, or not an object
                holdings.calls[part.tool_name, arguments_text(arguments["input"])] += 1
            holdings.texts += strings(arguments)
        case ImagePart():
            holdings.texts.append(part.url)
        case _:
            result_text = "\n".join(scalars(part.result))
            holdings.results_by_call.setdefault(part.tool_call_id, []).append(result_text)
            holdings.texts += strings(part.result)


def _numbers(value: Any) -> list[int]:
    """Return the whole numbers above 0 in a bill, under any names."""
    if isinstance(value, dict):
        return [n for inner in value.values() for n in _numbers(inner)]
    return [value] if type(value) is int and value > 0 else []


def strings(value: Any) -> Iterator[str]:
    """Yield the strings of a value, and the strings inside JSON strings."""
    match value:
        case str():
            yield value
            if value.lstrip()[:1] in ("{", "["):
                with suppress(ValueError, RecursionError):
                    inner = load_json(value, strict=True)
                    if not isinstance(inner, str):
                        yield from strings(inner)
        case dict():
            for inner in value.values():
                yield from strings(inner)
        case list() | tuple():
            for inner in value:
                yield from strings(inner)
