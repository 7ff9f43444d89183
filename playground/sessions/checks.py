"""Check a session for calls and results that do not match. Repair them if only one repair is
possible.

Findings never stop a session from being read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from playground.base.findings import Finding, finding
from playground.base.wording import counted
from playground.nouns.messages import Message, Part, Role, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.tools import tools_findings
from playground.sessions.message_order import with_messages
from playground.sessions.session import Session

if TYPE_CHECKING:  # loaded only if they are needed, which is seldom
    from playground.dialects.files.folders import FileState
    from playground.parsing.syntax import Syntax


def check(session: Session, places: Sequence[str] = ()) -> list[Finding]:
    """Return findings about the content of a session.

    They are about calls without results, results without calls, calls or results written as text,
    missing or repeated ids, empty messages, roles out of order, odd schemas, tools of the same name
    and compactions with unknown history. `places` are the messages' places in the file.
    """
    found = [*tools_findings(session.tools, "tools.{index}")]
    pairing = _Pairing(places)
    has_user = any(message.role == "user" for message in session.messages)
    previous = ""
    for index, message in enumerate(session.messages):
        role, parts = message.role, message.parts
        if not parts:
            found.append(finding("empty-message", _where(index, places)))
        if role != "tool" and pairing.open_calls:
            found += pairing.close_round(message, index)
        for part in parts:
            if isinstance(part, ToolCallPart):
                found += pairing.add_call(part, index)
            elif isinstance(part, ToolResultPart):
                found += pairing.add_result(part, index)
        # a session of one reply alone has no user message
        if has_user and role != previous and (role == "system" or not previous):
            found += _order_findings(role, previous, _where(index, places))
        previous = role
    if not pairing.names:
        found += _calls_in_text(session.messages, places)
    found += compaction_findings(session, places)
    if pairing.in_text:
        words = f"{counted(len(pairing.in_text), 'result')}, as text and not as a part"
        found.append(finding("results-in-text", _where(pairing.in_text[0], places), words))
    return found if pairing.results else _merge_missing_results(found, bool(pairing.in_text))


def compaction_findings(session: Session, places: Sequence[str] = ()) -> Iterator[Finding]:
    """Yield a finding for each compaction that does not say which messages it kept."""
    words = "later requests are assumed to hold only the messages since then"
    for each in session.compactions:
        if each.history is None:
            yield finding("compaction-unsaid", _where(each.message, places), words)


# Cline writes a result into the user's text: `[read_file for 'a.py'] Result:`
_RESULT: Final = re.compile(r"\[(\w+)(?: for [^\n]*?)?\] Result:")
_FEW: Final = 3  # up to this number, each call without a result has its own finding


def _merge_missing_results(findings: list[Finding], some_in_text: bool) -> list[Finding]:
    """Return the findings, with those about missing results merged into one if there are many. This
    is for sessions without result parts: their agents send results as the user's text. If
    `some_in_text`, some results were found in such texts."""
    missing = [each for each in findings if each.code == "missing-result"]
    if len(missing) <= _FEW:
        return findings
    first = missing[0]
    no_result = "whose results are in no text either" if some_in_text else "and no result at all"
    message = f"{len(missing)} calls, {no_result}; the first: {first.message}"
    merged = replace(first, message=message)
    rest = (each for each in findings if each is first or each.code != "missing-result")
    return [merged if each is first else each for each in rest]


def _calls_in_text(messages: Sequence[Message], places: Sequence[str]) -> list[Finding]:
    """Return a finding if answers hold calls as text, for a session without call parts."""
    answers = [index for index, message in enumerate(messages) if message.role == "assistant"]
    openers = _openers_in(messages[index].text for index in answers)
    pairs = [(index, opener) for index, opener in zip(answers, openers, strict=True) if opener]
    if not pairs:
        return []
    index, opener = pairs[0]
    words = f"{counted(len(pairs), 'answer')}, the first with {opener!r}"
    return [finding("calls-in-text", _where(index, places), words)]


def _where(index: int, places: Sequence[str]) -> str:
    """Return a message's place as findings name it."""
    where = f"messages.{index}"
    place = places[index] if index < len(places) else where
    return where if place == where else f"{where} ({place})"


_EMPTY: Final[Sequence[Finding]] = ()


@dataclass
class _Pairing:
    """The pairing of calls and results, built while iterating over a session's messages."""

    places: Sequence[str]
    open_calls: dict[str, int] = field(default_factory=dict)  # id → the call's message
    answered: set[str] = field(default_factory=set)
    results: int = 0
    names: dict[str, str] = field(default_factory=dict)
    in_text: list[int] = field(default_factory=list)  # the messages that hold a result as text

    def _find_text_results(self, message: Message, index: int) -> None:
        """Close the open calls that a user's message answers in its text."""
        texts = (part.text for part in message.parts if isinstance(part, TextPart))
        for name in (match[1] for match in map(_RESULT.match, texts) if match):
            call_id = next((each for each in self.open_calls if self.names[each] == name), None)
            if call_id is not None:
                del self.open_calls[call_id]
                self.answered.add(call_id)
                self.in_text.append(index)

    def add_call(self, call: ToolCallPart, index: int) -> Sequence[Finding]:
        call_id = call.tool_call_id
        found = _EMPTY
        if not call_id:
            found = [self._finding("missing-id", index, f"a call of {call.tool_name!r} has no id")]
        elif call_id in self.names:
            found = [self._finding("duplicate-id", index, f"id {call_id!r} is used twice")]
        self.open_calls[call_id] = index
        self.names[call_id] = call.tool_name
        return found

    def add_result(self, result: ToolResultPart, index: int) -> Sequence[Finding]:
        call_id = result.tool_call_id
        self.results += 1
        found = _EMPTY if call_id else [self._finding("missing-id", index, "a result has no id")]
        if self.open_calls.pop(call_id, None) is not None:
            self.answered.add(call_id)
        elif call_id and call_id in self.answered:
            message = f"the call {call_id!r} is answered twice"
            found = [self._finding("duplicate-id", index, message)]
        elif call_id:
            found = [self._finding("orphan-result", index, f"no open call has the id {call_id!r}")]
        return found

    def close_round(self, message: Message, index: int) -> list[Finding]:
        """Return findings for calls that are still open when the next turn begins."""
        if message.role == "user":
            self._find_text_results(message, index)
        found = [
            self._finding("missing-result", index, f"the call {call_id!r} has no result")
            for call_id, index in self.open_calls.items()
        ]
        self.open_calls.clear()
        return found

    def _finding(self, code: str, index: int, message: str) -> Finding:
        return finding(code, _where(index, self.places), message)


def _order_findings(role: Role, previous: str, where: str) -> list[Finding]:
    if role == "system" and previous:
        return [finding("role-order", where, f"a system message after the role {previous!r}")]
    if role == "assistant" and not previous:
        return [finding("role-order", where, "the session begins with an answer")]
    return []


def repair(session: Session) -> tuple[Session, list[str]]:
    """Make every unambiguous repair. Return the session and a list of the repairs.

    Empty messages are dropped. Calls without an id get an ordinal one. A result without an id, or
    with an id that no open call has, gets the id of the only open call that it may answer.
    """
    done: list[str] = []
    messages: list[Message] = []
    indexes: list[int] = []
    for index, message in enumerate(_with_ids(session.messages, done)):
        if message.parts:
            messages.append(message)
            indexes.append(index)
        else:
            done.append(f"messages.{index}: an empty message is left out")
    count = -1
    while count != len(done):  # a pair may leave only one candidate for another result
        count = len(done)
        messages = _with_pairs(messages, done)
    if not done:
        return session, []
    return replace(with_messages(session, indexes), messages=tuple(messages)), done


def _with_ids(messages: Sequence[Message], done: list[str]) -> list[Message]:
    """Return the messages with unused ordinal ids for calls that have none; note each in `done`."""
    used_ids = {call.tool_call_id for message in messages for call in message.tool_calls}
    number = 0
    result: list[Message] = []
    for index, message in enumerate(messages):
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolCallPart) and not part.tool_call_id:
                number += 1
                while f"call_{number}" in used_ids:
                    number += 1
                part = replace(part, tool_call_id=f"call_{number}")
                done.append(
                    f"messages.{index}: the call of {part.tool_name!r} has the id call_{number}"
                )
            parts.append(part)
        result.append(replace(message, parts=tuple(parts)))
    return result


def _with_pairs(messages: Sequence[Message], done: list[str]) -> list[Message]:
    """Assign results without a call to their only candidate, noted in `done`; return messages."""
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
                candidates = _candidates(part, waiting, messages[index:])
                if len(candidates) == 1:
                    call = candidates[0]
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
    """Return the `waiting` calls that a result may answer: calls of its tool (of any tool if it
    names none) to which none of the `later` results refers by id."""
    named: set[str] = set()
    for message in later:
        if message.role != "tool":
            break
        named |= {other.tool_call_id for other in message.tool_results}
    free = [call for call in waiting if call.tool_call_id not in named]
    return [call for call in free if result.tool_name in ("", call.tool_name)]


# Calls written as text in answers are found by the openers that dialects declare. Only markers
# (tags and control tokens) count, and only where a dialect would read a call, because prose,
# tables and code are full of brackets, fences and names of tags.
_MARKER: Final = re.compile(r"[<\[]\W*\w{3}")  # each opener has such a marker


class _Openers(NamedTuple):
    """A pattern of all dialects' openers of calls, and for each opener the syntaxes that have
    it."""

    pattern: re.Pattern[str]
    syntaxes: dict[str, tuple[Syntax, ...]]


def _openers_in(texts: Iterable[str]) -> Iterator[str]:
    """Yield, for each text, the first marker in it that begins a call; "" if it has none."""
    openers: _Openers | None = None
    for text in texts:
        if not ("<" in text or "[" in text) or not _MARKER.search(text):  # most texts have neither
            yield ""
            continue
        if openers is None:  # slow, because it searches folders: once for all texts
            from playground.dialects import dialect_files

            openers = _openers(dialect_files())
        yield _opener_in(text, openers)


def _opener_in(text: str, openers: _Openers) -> str:
    from playground.parsing.plan import call_openers

    tried: set[Syntax] = set()
    seen: set[str] = set()
    for match in openers.pattern.finditer(text):
        opener = match[0]
        if opener in seen:
            continue
        seen.add(opener)
        syntaxes = openers.syntaxes[opener]
        for syntax in syntaxes:
            if syntax not in tried and call_openers(syntax, ()).is_in(text):
                if syntax is not syntaxes[0]:  # the next text is probably of the same dialect
                    others = (each for each in syntaxes if each is not syntax)
                    openers.syntaxes[opener] = (syntax, *others)
                return opener
            tried.add(syntax)
    return ""


@lru_cache(maxsize=1)
def _openers(_files: tuple[FileState, ...]) -> _Openers:
    """Return the openers of calls in all dialects, but not those (such as `<code>`) after which the
    whole body is one argument's text. They are cached until the user's dialect files change,
    because loading all dialects takes tenths of a second."""
    from playground.dialects import DeclaredDialect, as_dialects

    dialects = [each for each in as_dialects("") if isinstance(each, DeclaredDialect)]
    declared = [each.syntax for each in dialects if not each.syntax.text_keys]
    known = {o for syntax in declared for o in syntax.openers if _MARKER.search(o)}
    longest = sorted(known, key=lambda opener: (-len(opener), opener))
    syntaxes = {
        opener: tuple(s for s in declared if any(opener.startswith(o) for o in s.openers))
        for opener in longest
    }
    return _Openers(re.compile("|".join(map(re.escape, longest))), syntaxes)
