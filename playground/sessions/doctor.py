"""The pairing doctor: what is odd about a session that can be read, and repairs that are certain.

Findings are never errors; a repair is made only where there is one way to make it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from playground.counts import counted
from playground.findings import Finding, finding
from playground.messages import Message, Part, Role, ToolCallPart, ToolResultPart
from playground.sessions.message_order import moved
from playground.sessions.session import Session
from playground.tools import schema_findings


def check(session: Session, places: Sequence[str] = ()) -> list[Finding]:
    """Calls without results, results without calls, missing and double ids, empty messages, roles
    out of order, odd schemas. `places` say where in its file each message stands."""
    found = [f for i, tool in enumerate(session.tools) for f in schema_findings(tool, f"tools.{i}")]
    round_ = _Round()
    asked = any(message.role == "user" for message in session.messages)
    before = ""
    for index, message in enumerate(session.messages):
        role, parts = message.role, message.parts
        if not parts:
            found.append(finding("empty-message", str(_Where(index, places))))
        if role != "tool" and round_.open_calls:
            found += round_.missing()
        for part in parts:
            if isinstance(part, ToolCallPart):
                found += round_.call(part, _Where(index, places))
            elif isinstance(part, ToolResultPart):
                found += round_.result(part, _Where(index, places))
        # a lone reply has nothing before it
        if asked and role != before and (role == "system" or not before):
            found += _order(role, before, _Where(index, places))
        before = role
    if not round_.seen:
        found += _calls_in_text(session.messages, places)
    return found


# How calls begin that a model writes as text, in the prompt dialects that are met most.
_OPENERS: Final = (
    "<tool_call>", "<function=", "<function_calls>", "<invoke name=", "<|tool_call", "[TOOL_CALLS]",
)  # fmt: skip


def _calls_in_text(messages: Sequence[Message], places: Sequence[str]) -> list[Finding]:
    """Calls of a session that has none: its answers hold them as text, as they were sent."""
    held: list[tuple[_Where, str]] = []
    for index, message in enumerate(messages):
        if message.role == "assistant":
            text = message.text
            opener = next((each for each in _OPENERS if each in text), "")
            held += [(_Where(index, places), opener)] if opener else []
    if not held:
        return []
    where, opener = held[0]
    return [
        finding(
            "calls-in-text",
            str(where),
            f"{counted(len(held), 'answer')}, the first with {opener!r}",
        )
    ]


class _Where(NamedTuple):
    """Where a message stands, as a finding tells it: most are never told of."""

    message: int
    places: Sequence[str]

    def __str__(self) -> str:
        where = f"messages.{self.message}"
        place = self.places[self.message] if self.message < len(self.places) else where
        return where if place == where else f"{where} ({place})"


@dataclass
class _Round:
    """The calls that wait for results, and the ids that were used."""

    open_calls: dict[str, _Where] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)

    def call(self, call: ToolCallPart, where: _Where) -> list[Finding]:
        found: list[Finding] = []
        given = call.tool_call_id
        if not given:
            found.append(
                finding("missing-id", str(where), f"a call of {call.tool_name!r} has no id")
            )
        elif given in self.seen:
            found.append(finding("duplicate-id", str(where), f"id {given!r} is used twice"))
        self.seen.add(given)
        self.open_calls[given] = where
        return found

    def result(self, result: ToolResultPart, where: _Where) -> list[Finding]:
        found: list[Finding] = []
        given = result.tool_call_id
        if not given:
            found.append(finding("missing-id", str(where), "a result has no id"))
        if self.open_calls.pop(given, None) is not None:
            self.answered.add(given)
        elif given and given in self.answered:
            text = f"the call {given!r} is answered twice"
            found.append(finding("duplicate-id", str(where), text))
        elif given:
            text = f"no open call has the id {given!r}"
            found.append(finding("orphan-result", str(where), text))
        return found

    def missing(self) -> list[Finding]:
        """The next turn has come: what is open now is never answered."""
        found = [
            finding("missing-result", str(where), f"the call {call_id!r} has no result")
            for call_id, where in self.open_calls.items()
        ]
        self.open_calls.clear()
        return found


def _order(role: Role, before: str, where: _Where) -> list[Finding]:
    if role == "system" and before:
        return [finding("role-order", str(where), f"a system message after one of the {before}")]
    if role == "assistant" and not before:
        return [finding("role-order", str(where), "the session begins with an answer")]
    return []


def repair(session: Session) -> tuple[Session, list[str]]:
    """The session with what can be mended in one way only, and what was done, in words.

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
    place = {old: new for new, old in enumerate(kept)}
    requests = tuple(
        replace(record, reply=place[record.reply])
        for record in session.requests
        if record.reply in place
    )
    if not done:
        return session, []
    compactions = tuple(
        replace(
            each,
            message=sum(index < each.message for index in kept),
            history=moved(each.history, place),
        )
        for each in session.compactions
    )
    mended = replace(session, messages=tuple(messages), requests=requests, compactions=compactions)
    return mended, done


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
    """The calls that may be meant: of that tool, and answered by no other result of this round."""
    named: set[str] = set()
    for message in later:
        if message.role != "tool":
            break
        named |= {other.tool_call_id for other in message.tool_results}
    free = [call for call in waiting if call.tool_call_id not in named]
    return [call for call in free if result.tool_name in ("", call.tool_name)]
