"""Find the session of a request by its client, its agent, its session id and its messages.

Requests of one session share most of their messages. A rewritten message breaks the cache, but does
not begin a new session. An agent's side requests (for a title, or of a sub-agent) are separate
sessions, because their messages differ, or else their tools and their system prompt.
"""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Generic, TypeVar

from playground.nouns.wire_bodies import identity, kind_of, parts_of, system_of, tools_of
from playground.plugins.proxy.exchange import Opened
from playground.sessions.shapes.parts import plain_text
from playground.sessions.shapes.requests import conversation

Value = TypeVar("Value")
_MOST_SESSIONS: Final = 64
_TITLE_CHARACTERS: Final = 60
_RUN_WORDS: Final = 3  # system prompts are compared by all runs of three words in them


@dataclass(slots=True)
class _KnownSession(Generic[Value]):
    name: str
    title: str
    owner: tuple[str, ...]  # client, agent, API and the client's session id
    value: Value | None = None
    number: int = 0  # of its requests so far
    digests: Sequence[bytes] = ()
    context: tuple[bytes, bytes, str] = (b"", b"", "")  # system prompt, tools, model
    system: str = ""


@dataclass(frozen=True, slots=True)
class SessionMatch(Generic[Value]):
    """The session of a request, and the request's facts that `Sessions.keep` stores. `number` is
    the request's number in the session, from 1; `value` is what the last `keep` stored.
    """

    name: str
    title: str
    number: int
    value: Value | None
    session: _KnownSession[Value]
    digests: Sequence[bytes]
    context: tuple[bytes, bytes, str]
    system: str


class Sessions(Generic[Value]):
    """The newest sessions of a run, each with a value that the caller stores with it."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, _KnownSession[Value]] = OrderedDict()
        self._count = 0

    def match_request(
        self, opened: Opened, body: dict[str, Any], model: str
    ) -> SessionMatch[Value]:
        """Return the session that a request continues, or a new one; call `keep` after sending."""
        messages = [m for m in conversation(body) or () if isinstance(m, dict)]
        digests = [_digest(m) for m in messages if m.get("role") not in ("system", "developer")]
        plain = _system_prompt(system_of(body), messages, body)
        system = json.dumps(plain, default=str)
        context = (_digest(plain), _digest(tools_of(body)), model)
        owner = (opened.client, opened.agent, opened.api, opened.session)
        continued = self._continued_session(owner, digests, context, system)
        session = continued or _KnownSession(self._next_name(opened), _title(messages), owner)
        number = session.number + 1
        return SessionMatch(
            session.name, session.title, number, session.value, session, digests, context, system
        )

    def keep(self, match: SessionMatch[Value], value: Value) -> None:
        """Store a sent request, so that later requests of its session are compared with it."""
        session = match.session
        session.value, session.digests, session.context = value, match.digests, match.context
        session.system = match.system
        session.number += 1
        if session.name not in self._sessions:
            self._count += 1
        self._sessions[session.name] = session
        self._sessions.move_to_end(session.name)
        while len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)

    def _continued_session(
        self,
        owner: tuple[str, ...],
        digests: list[bytes],
        context: tuple[bytes, bytes, str],
        system: str,
    ) -> _KnownSession[Value] | None:
        """Return the session with the most messages in common; of several, the session with the
        most similar context, then the newest. Return None if none has enough in common."""
        best_score: tuple[int, int, int] = (0, 0, 0)
        best_match: _KnownSession[Value] | None = None
        message_counts = Counter(digests)  # equal messages count several times
        for age, session in enumerate(self._sessions.values()):
            if session.owner != owner:
                continue
            shared = (message_counts & Counter(session.digests)).total()
            pairs = zip(context, session.context, strict=True)
            same_context = sum(value == known for value, known in pairs)
            if not shared or not same_context:
                continue
            if not _same_agent(session, context, system):
                continue
            same_beginning = session.digests[0] in message_counts or digests[0] in session.digests
            # two fifths of the shorter list must be shared; four fifths if the beginning changed
            if shared * 5 < min(len(session.digests), len(digests)) * (2 if same_beginning else 4):
                continue
            if (shared, same_context, age) >= best_score:
                best_score, best_match = (shared, same_context, age), session
        return best_match

    def _next_name(self, opened: Opened) -> str:
        agent = opened.agent.partition("/")[0].split(" ")[0] or opened.api
        return f"{agent[:24]} {self._count + 1}"


def _same_agent(
    session: _KnownSession[Any], context: tuple[bytes, bytes, str], system: str
) -> bool:
    """Return True if system prompts or tools are equal, or the prompts share most word runs."""
    if context[0] == session.context[0] or context[1] == session.context[1]:
        return True
    runs, known_runs = _word_runs(system), _word_runs(session.system)
    return 2 * len(runs & known_runs) > min(len(runs), len(known_runs))


def _word_runs(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return set(zip(*(words[start:] for start in range(_RUN_WORDS)), strict=False)) or {tuple(words)}


def _system_prompt(system: Any, messages: list[dict[str, Any]], body: dict[str, Any]) -> Any:
    """Return the system prompt from every place where a body may have it."""
    leading = [m for m in messages[:2] if m.get("role") in ("system", "developer")]
    return [system, body.get("instructions"), leading]


def _digest(value: Any) -> bytes:
    """Return a digest of a value that does not depend on the order of keys or on cache marks."""
    if isinstance(value, dict) and "role" in value:
        content = value.get("content", value.get("parts"))
        parts = [identity(kind_of(part), part) for part in parts_of(content)]
        rest = {k: v for k, v in value.items() if k not in ("content", "parts", "cache_control")}
        value = [[_sorted(part) for part in parts], rest]
    text = json.dumps(value, sort_keys=True, default=str)
    return blake2b(text.encode(), digest_size=12).digest()


def _sorted(text: str) -> str:
    """Return the sorted characters of a JSON object, so that the order of keys has no effect."""
    return "".join(sorted(text)) if text[:1] == "{" else text


def _title(messages: list[dict[str, Any]]) -> str:
    """Return the first words of the user's first message with text."""
    users = (m for m in messages if m.get("role") == "user")
    texts = (plain_text(m.get("content", m.get("parts"))) for m in users)
    return " ".join(next(filter(None, texts), "").split())[:_TITLE_CHARACTERS]
