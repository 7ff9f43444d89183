"""Find the calls of a session: native calls, or calls in the text of replies.

A call is well-formed if it was read to its end, its tool exists, and its arguments are valid by the
tool's schema, if one is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from playground.base.findings import Finding
from playground.dialects import dialect_names, get_dialect
from playground.nouns.events import (
    CallAbortedEvent,
    CallEndedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    ReasoningEvent,
    TextEvent,
    merged,
    owned_text,
)
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tool_formats.misfits import check_of, misfit
from playground.questions.fast_detection import LikeliestDialect
from playground.recordings.recording import Recording
from playground.sessions.session import Session

NATIVE: Final = "native"
_MOST_TRIED: Final = 4  # replies of a session that are searched for its dialect


@dataclass(slots=True)
class SeenCall:
    """A call in a reply; `arguments` is None if they could not be read, or are only text."""

    tool: str
    arguments: dict[str, Any] | None
    call_id: str = ""
    findings: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # the pieces of the call's text in the reply
    schema_error: str = ""

    @property
    def ok(self) -> bool:
        return self.arguments is not None and not self.schema_error and self.finding != _UNKNOWN

    @property
    def finding(self) -> str:
        """The code of the finding that makes the call invalid, or else of the first finding."""
        if self.schema_error:
            return _INVALID
        return _UNKNOWN if _UNKNOWN in self.findings else next(iter(self.findings), "")

    @property
    def raw(self) -> str:
        return "".join(self.texts)


_UNKNOWN: Final = "unknown-tool"  # this and the next two are codes of findings
_INVALID: Final = "invalid-arguments"
_AS_TEXT: Final = "arguments-kept-as-text"


@dataclass(frozen=True, slots=True)
class SeenReply:
    """A reply: its calls, its parser's findings, and the dialect by which it was parsed, if any."""

    calls: list[SeenCall]
    findings: list[Finding]
    dialect: str = ""


class ReplyReader:
    """A reader of one session's replies. It finds their dialect, and reads every reply with it.
    `kept_as_text` has the indexes of messages with a call whose arguments are no JSON object."""

    def __init__(
        self, session: Session, dialects: LikeliestDialect, kept_as_text: frozenset[int]
    ) -> None:
        self.session, self._dialects = session, dialects
        self._as_text = kept_as_text
        self._tools = {tool.name: tool for tool in session.tools}
        self._has_parts = _has_call_parts(session)
        # the text of the reply that decided the search for the dialect -> the events of its parser
        self._events_read: dict[str, list[Event]] = {}
        self.dialect = NATIVE if self._has_parts else self._dialect_in_text()

    def read(self, index: int) -> SeenReply:
        """Return the reply in the message with this index."""
        message = self.session.messages[index]
        calls = [self._call_of_part(part, index) for part in message.tool_calls]
        if self._has_parts or not self.dialect:
            return SeenReply([self._check(call) for call in calls], [], self.dialect)
        text = message.text
        events = self._events_read.get(text)
        if events is None:
            parser = get_dialect(self.dialect).create_parser(self._data)
            events = merged([*parser.feed_text(text), *parser.finish()])
        return self.from_events(events, self.dialect)

    @cached_property
    def _data(self) -> PromptData:
        return PromptData(tool_metadata=list(self.session.tools))

    def from_events(self, events: list[Event], dialect: str) -> SeenReply:
        """Return a reply made of the merged events that a dialect's parser read."""
        calls = [self._check(call) for call in _calls(events)]
        findings = [event.finding for event in events if type(event) is FindingEvent]
        return SeenReply(calls, findings, dialect)

    def _dialect_in_text(self) -> str:
        """Return the dialect that a recording names. Without one, return the likeliest dialect of
        the first reply with a complete call or, if none has one, of the first reply in which a call
        begins; otherwise "". Only a few replies are tried. Dialects that read any text as a call do
        not count."""
        session = self.session
        replies = [message for message in session.messages if message.role == "assistant"]
        recorded = next(filter(None, map(named_dialect, session.recordings)), "")
        if recorded:
            return recorded
        texts = (m.text for m in replies if any(type(part) is TextPart for part in m.parts))
        begun_in, model = "", session.named_model
        for _, text in zip(range(_MOST_TRIED), texts, strict=False):
            best, result = self._dialects.of(text, session.tools, model) or (None, None)
            if best is None or result is None or best.any_text:
                continue
            if best.evident > 0:
                self._events_read = {text: result.events}
                return best.dialect
            begun_in = begun_in or best.dialect
        return begun_in

    def _call_of_part(self, part: ToolCallPart, index: int) -> SeenCall:
        # importers put arguments that are no JSON object into an object with the one key `input`
        is_text = index in self._as_text and list(part.args) == ["input"]
        findings = [_AS_TEXT] if is_text else []
        if self._tools and part.tool_name not in self._tools:
            findings.append(_UNKNOWN)
        arguments = None if is_text else part.args
        return SeenCall(
            part.tool_name,
            arguments,
            part.tool_call_id,
            findings,
            [str(part.args["input"])] if is_text else [],
        )

    def _check(self, call: SeenCall) -> SeenCall:
        tool = self._tools.get(call.tool)
        if tool is not None and call.arguments is not None:
            check = check_of(tool)
            call.schema_error = "" if check is None else misfit(check, call.arguments)
        return call


def named_dialect(recording: Recording) -> str:
    """Return the name of a recording's dialect, or "" if that dialect does not exist."""
    return recording.dialect if recording.dialect in dialect_names() else ""


def results_of(messages: Sequence[Message], index: int) -> Iterator[ToolResultPart]:
    """Yield the tool results between a reply and the next one."""
    for message in messages[index + 1 :]:
        if message.role == "assistant":
            return
        yield from message.tool_results


def match_results(
    calls: Sequence[SeenCall], results: Iterable[ToolResultPart]
) -> list[ToolResultPart | None]:
    """Return each call's result: the one with the call's id or, if there is none, the next result
    whose id belongs to none of the calls; None if all these are used up."""
    all_results = list(results)
    ids = {call.call_id for call in calls if call.call_id}
    by_id = {result.tool_call_id: result for result in reversed(all_results)}
    unclaimed = iter([result for result in all_results if result.tool_call_id not in ids])
    return [
        by_id.get(call.call_id) if call.call_id in by_id else next(unclaimed, None)
        for call in calls
    ]


def _has_call_parts(session: Session) -> bool:
    return any(
        type(part) is ToolCallPart
        for message in session.messages
        if message.role == "assistant"
        for part in message.parts
    )


def _calls(events: Iterable[Event]) -> Iterator[SeenCall]:
    """Yield the calls in their order, each with its findings and its text."""
    texts: list[str] = []
    codes: list[str] = []
    last: SeenCall | None = None
    for event in events:
        match event:
            case TextEvent() | ReasoningEvent():
                texts, codes, last = [], [], None
                continue
            case CallStartedEvent() if last is not None:
                texts, codes, last = [], [], None
            case FindingEvent(finding=entry):
                (last.findings if last else codes).append(entry.code)
            case CallEndedEvent(name=name, arguments=arguments, call_id=call_id):
                last = SeenCall(name, arguments, call_id, codes, texts)
                yield last
            case CallAbortedEvent(name=begun_name, reason=reason):
                last = SeenCall(begun_name or "", None, "", [reason, *codes], texts)
                yield last
        texts.append(owned_text(event))
