"""Find the session of a request by its client, its agent, its session id and its messages.

Requests of one session share most of their messages. A message that was rewritten breaks the cache,
but must not begin a new session. An agent's side requests (for a title, or of a sub-agent) have
other messages, or the same messages with other tools and another system prompt.
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

Kept = TypeVar("Kept")
_MOST: Final = 64  # sessions
_TITLE: Final = 60  # characters
_RUN: Final = 3  # system prompts are compared by runs of so many words


@dataclass(slots=True)
class _Known(Generic[Kept]):
    name: str
    title: str
    owner: tuple[str, ...]
    kept: Kept | None = None
    number: int = 0
    said: Sequence[bytes] = ()
    around: tuple[bytes, bytes, str] = (b"", b"", "")  # system prompt, tools, model
    system: str = ""


@dataclass(frozen=True, slots=True)
class SessionMatch(Generic[Kept]):
    """The session that a request belongs to, and what `Sessions.keep` stores of the request.

    `number` counts the session's requests from 1; `kept` is what the last `keep` stored.
    """

    name: str
    title: str
    number: int
    kept: Kept | None
    known: _Known[Kept]
    said: Sequence[bytes]
    around: tuple[bytes, bytes, str]
    system: str


class Sessions(Generic[Kept]):
    """The newest sessions of a run, each with a value that the caller keeps for it."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Known[Kept]] = OrderedDict()
        self._count = 0

    def of(self, opened: Opened, body: dict[str, Any], model: str) -> SessionMatch[Kept]:
        """Return the session that a request continues, or a new one; `keep` then records it."""
        messages = [m for m in conversation(body) or () if isinstance(m, dict)]
        said = [_digest(m) for m in messages if m.get("role") not in ("system", "developer")]
        plain = _system_prompt(system_of(body), messages, body)
        system = json.dumps(plain, default=str)
        around = (_digest(plain), _digest(tools_of(body)), model)
        owner = (opened.client, opened.agent, opened.api, opened.session)
        going_on = self._going_on(owner, said, around, system)
        known = going_on or _Known(self._next_name(opened), _title(messages), owner)
        number = known.number + 1
        return SessionMatch(
            known.name, known.title, number, known.kept, known, said, around, system
        )

    def keep(self, match: SessionMatch[Kept], kept: Kept) -> None:
        """Record that the request was sent: later requests of its session are compared with it."""
        known = match.known
        known.kept, known.said, known.around = kept, match.said, match.around
        known.system = match.system
        known.number += 1
        if known.name not in self._known:
            self._count += 1
        self._known[known.name] = known
        self._known.move_to_end(known.name)
        while len(self._known) > _MOST:
            self._known.popitem(last=False)

    def _going_on(
        self,
        owner: tuple[str, ...],
        said: list[bytes],
        around: tuple[bytes, bytes, str],
        system: str,
    ) -> _Known[Kept] | None:
        """Return the session that a request continues: the one with most messages in common.

        If several have as many, the newest is returned; None if no session matches.
        """
        best: tuple[int, int, int] = (0, 0, 0)
        found: _Known[Kept] | None = None
        now = Counter(said)  # the same message five times is five messages in common
        for age, known in enumerate(self._known.values()):
            if known.owner != owner:
                continue
            shared = (now & Counter(known.said)).total()
            alike = sum(one == other for one, other in zip(around, known.around, strict=True))
            if not shared or not alike:
                continue
            if not _same_agent(known, around, system):
                continue
            begun_alike = known.said[0] in now or said[0] in known.said
            # if the beginnings differ, something was inserted there: the rest must mostly agree
            if shared * 5 < min(len(known.said), len(said)) * (2 if begun_alike else 4):
                continue
            if (shared, alike, age) >= best:
                best, found = (shared, alike, age), known
        return found

    def _next_name(self, opened: Opened) -> str:
        agent = opened.agent.partition("/")[0].split(" ")[0] or opened.api
        return f"{agent[:24]} {self._count + 1}"


def _same_agent(known: _Known[Any], around: tuple[bytes, bytes, str], system: str) -> bool:
    """Return True if the system prompts or the tools are equal, or most words of the prompts."""
    if any(one == other for one, other in zip(around[:2], known.around[:2], strict=True)):
        return True
    one, other = _runs(system), _runs(known.system)
    return 2 * len(one & other) > min(len(one), len(other))


def _runs(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return set(zip(*(words[start:] for start in range(_RUN)), strict=False)) or {tuple(words)}


def _system_prompt(system: Any, messages: list[dict[str, Any]], body: dict[str, Any]) -> Any:
    """Return the system prompt from every place where a body may have it."""
    leading = [m for m in messages[:2] if m.get("role") in ("system", "developer")]
    return [system, body.get("instructions"), leading]


def _digest(value: Any) -> bytes:
    """Return a digest of a value that ignores cache marks and the order of keys."""
    if isinstance(value, dict) and "role" in value:
        content = value.get("content", value.get("parts"))
        parts = [identity(kind_of(part), part) for part in parts_of(content)]
        rest = {k: v for k, v in value.items() if k not in ("content", "parts", "cache_control")}
        value = [[_sorted(part) for part in parts], rest]
    text = json.dumps(value, sort_keys=True, default=str)
    return blake2b(text.encode(), digest_size=12).digest()


def _sorted(text: str) -> str:
    """Sort the characters of a JSON object's text, so that the order of its keys does not count."""
    return "".join(sorted(text)) if text[:1] == "{" else text


def _title(messages: list[dict[str, Any]]) -> str:
    """Return the first words of the user's first message with text."""
    users = (m for m in messages if m.get("role") == "user")
    texts = (plain_text(m.get("content", m.get("parts"))) for m in users)
    return " ".join(next(filter(None, texts), "").split())[:_TITLE]
