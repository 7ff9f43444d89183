"""The pairing doctor: what is odd about a session that can be read, and repairs that are certain.

Findings are never errors; a repair is made only where there is one way to make it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from playground.base.findings import Finding, finding
from playground.base.wording import counted
from playground.nouns.messages import Message, Part, Role, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.tools import schema_findings
from playground.sessions.calls_in_text import openers_in
from playground.sessions.message_order import with_messages
from playground.sessions.session import Session


def check(session: Session, places: Sequence[str] = ()) -> list[Finding]:
    """Calls without results, results without calls, missing and double ids, empty messages, roles
    out of order, odd schemas, compactions that do not say what they kept. `places` say where in
    its file each message stands."""
    found = [f for i, tool in enumerate(session.tools) for f in schema_findings(tool, f"tools.{i}")]
    round_ = _Round(places)
    asked = any(message.role == "user" for message in session.messages)
    before = ""
    for index, message in enumerate(session.messages):
        role, parts = message.role, message.parts
        if not parts:
            found.append(finding("empty-message", _where(index, places)))
        if role != "tool" and round_.open_calls:
            found += round_.missing(message, index)
        for part in parts:
            if isinstance(part, ToolCallPart):
                found += round_.call(part, index)
            elif isinstance(part, ToolResultPart):
                found += round_.result(part, index)
        # a lone reply has nothing before it
        if asked and role != before and (role == "system" or not before):
            found += _order(role, before, _where(index, places))
        before = role
    if not round_.names:
        found += _calls_in_text(session.messages, places)
    found += unsaid(session, places)
    if round_.told:
        words = f"{counted(len(round_.told), 'result')}, and no part of a message"
        found.append(finding("results-in-text", _where(round_.told[0], places), words))
    return found if round_.results else _told_once(found, some=bool(round_.told))


def unsaid(session: Session, places: Sequence[str] = ()) -> Iterator[Finding]:
    """Yield the compactions that do not say what they kept."""
    words = "its requests are taken to hold what was said since, and no more"
    for each in session.compactions:
        if each.history is None:
            yield finding("compaction-unsaid", _where(each.message, places), words)


# As Cline says a result in the user's text: `[read_file for 'a.py'] Result:`
_RESULT: Final = re.compile(r"\[(\w+)(?: for [^\n]*?)?\] Result:")
_FEW: Final = 3  # calls without a result that are told of one by one


def _told_once(found: list[Finding], *, some: bool) -> list[Finding]:
    """Return the findings of a session without a result, or with some as text: what is so of its
    calls is told once, as of agents that send results as the user's text.
    """
    missing = [each for each in found if each.code == "missing-result"]
    if len(missing) <= _FEW:
        return found
    first = missing[0]
    no_result = "of which no text holds a result" if some else "and no result at all"
    told = f"{len(missing)} calls, {no_result}; the first: {first.message}"
    once = replace(first, message=told)
    rest = (each for each in found if each is first or each.code != "missing-result")
    return [once if each is first else each for each in rest]


def _calls_in_text(messages: Sequence[Message], places: Sequence[str]) -> list[Finding]:
    """Calls of a session that has none: its answers hold them as text, as they were sent."""
    answers = [index for index, message in enumerate(messages) if message.role == "assistant"]
    openers = openers_in(messages[index].text for index in answers)
    held = [(index, opener) for index, opener in zip(answers, openers, strict=True) if opener]
    if not held:
        return []
    index, opener = held[0]
    return [
        finding(
            "calls-in-text",
            _where(index, places),
            f"{counted(len(held), 'answer')}, the first with {opener!r}",
        )
    ]


def _where(index: int, places: Sequence[str]) -> str:
    """Return a message's place as findings name it; lazily, since most messages have none."""
    where = f"messages.{index}"
    place = places[index] if index < len(places) else where
    return where if place == where else f"{where} ({place})"


_NOTHING: Final[Sequence[Finding]] = ()


@dataclass
class _Round:
    """The calls that wait for results, by the messages that they stand in, and the ids that were
    used."""

    places: Sequence[str]
    open_calls: dict[str, int] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    results: int = 0
    names: dict[str, str] = field(default_factory=dict)
    told: list[int] = field(default_factory=list)  # the messages that say a result as text

    def said(self, message: Message, index: int) -> None:
        """Note the user's words; results that stand in them as text answer open calls of their
        tools.
        """
        texts = (part.text for part in message.parts if isinstance(part, TextPart))
        for name in (found[1] for found in map(_RESULT.match, texts) if found):
            given = next((each for each in self.open_calls if self.names[each] == name), None)
            if given is not None:
                del self.open_calls[given]
                self.answered.add(given)
                self.told.append(index)

    def call(self, call: ToolCallPart, index: int) -> Sequence[Finding]:
        given = call.tool_call_id
        found = _NOTHING
        if not given:
            found = [self._told("missing-id", index, f"a call of {call.tool_name!r} has no id")]
        elif given in self.names:
            found = [self._told("duplicate-id", index, f"id {given!r} is used twice")]
        self.open_calls[given] = index
        self.names[given] = call.tool_name
        return found

    def result(self, result: ToolResultPart, index: int) -> Sequence[Finding]:
        given = result.tool_call_id
        self.results += 1
        found = _NOTHING if given else [self._told("missing-id", index, "a result has no id")]
        if self.open_calls.pop(given, None) is not None:
            self.answered.add(given)
        elif given and given in self.answered:
            found = [self._told("duplicate-id", index, f"the call {given!r} is answered twice")]
        elif given:
            found = [self._told("orphan-result", index, f"no open call has the id {given!r}")]
        return found

    def missing(self, message: Message, index: int) -> list[Finding]:
        """The next turn has come: what is open now, and is not answered in its text, never is."""
        if message.role == "user":
            self.said(message, index)
        found = [
            self._told("missing-result", index, f"the call {call_id!r} has no result")
            for call_id, index in self.open_calls.items()
        ]
        self.open_calls.clear()
        return found

    def _told(self, code: str, index: int, message: str) -> Finding:
        return finding(code, _where(index, self.places), message)


def _order(role: Role, before: str, where: str) -> list[Finding]:
    if role == "system" and before:
        return [finding("role-order", where, f"a system message after one of the {before}")]
    if role == "assistant" and not before:
        return [finding("role-order", where, "the session begins with an answer")]
    return []


def repair(session: Session) -> tuple[Session, list[str]]:
    """Return the session with what can be mended in one way only, and what was done, in words.

    Empty messages go; calls without an id get an ordinal one; a result without an id, or with one
    that no call has, goes to the only call that waits; an answer given twice alike is kept once.
    """
    done: list[str] = []
    messages: list[Message] = []
    kept: list[int] = []
    for index, message in enumerate(_with_ids(session.messages, done)):
        if message.parts:
            messages.append(message)
            kept.append(index)
        else:
            done.append(f"messages.{index}: an empty message is left out")
    before = -1
    while before != len(done):  # a pair that is found may leave only one way for another
        before = len(done)
        messages = _paired(messages, done)
    if not done:
        return session, []
    return replace(with_messages(session, kept), messages=tuple(messages)), done


def _with_ids(messages: Sequence[Message], done: list[str]) -> list[Message]:
    """Ids for calls that have none: ordinal, and none that is taken."""
    taken = {call.tool_call_id for message in messages for call in message.tool_calls}
    made = 0
    result: list[Message] = []
    for index, message in enumerate(messages):
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolCallPart) and not part.tool_call_id:
                made += 1
                while f"call_{made}" in taken:
                    made += 1
                part = replace(part, tool_call_id=f"call_{made}")
                done.append(
                    f"messages.{index}: the call of {part.tool_name!r} has the id call_{made}"
                )
            parts.append(part)
        result.append(replace(message, parts=tuple(parts)))
    return result


def _paired(messages: Sequence[Message], done: list[str]) -> list[Message]:
    """Results that belong to no call by their id, given to the one that they can only belong to."""
    result: list[Message] = []
    waiting: list[ToolCallPart] = []
    for index, message in enumerate(messages):
        if message.role != "tool":
            waiting = []
        waiting += message.tool_calls
        known = Counter(call.tool_call_id for call in waiting)
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolResultPart) and part.tool_call_id not in known:
                open_now = _candidates(part, waiting, messages[index:])
                if len(open_now) == 1:
                    call = open_now[0]
                    name = part.tool_name or call.tool_name
                    part = replace(part, tool_call_id=call.tool_call_id, tool_name=name)
                    done.append(f"messages.{index}: the result belongs to {call.tool_call_id}")
            if isinstance(part, ToolResultPart):
                waiting = [c for c in waiting if c.tool_call_id != part.tool_call_id]
            parts.append(part)
        result.append(replace(message, parts=tuple(parts)))
    return result


def _candidates(
    result: ToolResultPart, waiting: Sequence[ToolCallPart], later: Sequence[Message]
) -> list[ToolCallPart]:
    """Return the calls that may be meant: of that tool, and answered by no other result of this
    round.
    """
    named: set[str] = set()
    for message in later:
        if message.role != "tool":
            break
        named |= {other.tool_call_id for other in message.tool_results}
    free = [call for call in waiting if call.tool_call_id not in named]
    return [call for call in free if result.tool_name in ("", call.tool_name)]
