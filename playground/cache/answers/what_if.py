"""Change a session's requests in one way, to see what that does to the price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, Final, Literal, get_args

from playground.base.arguments import older_name
from playground.base.errors import InputFault
from playground.dialects.marks.policies import as_parts
from playground.nouns.messages import Message, ToolCallPart
from playground.sessions.session import Session
from playground.sessions.stretches import HistoryStretch

Environment = Literal["as it is", "none", "after", "persisted", "inside"]
ENVIRONMENTS: Final[tuple[Environment, ...]] = get_args(Environment)
MOST_PARALLEL: Final = 100
_STAND_IN: Final = "# Environment\n" + "open file: src/harbour/tides.py\n" * 46  # 1,486 characters


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Changes to every request of a session; by default none.

    `environment` is the place of the environment block: "none" leaves it out; "after" puts it after
    the marks of the last user message, as dialects do; "persisted" puts it on every user message
    and keeps it there; "inside" puts it on the last user message, before the marks are set. With
    the last three, a session without a block gets a sample of about 1,500 characters.
    `shuffled_tools` puts the tools of each request in another order, `timestamp` adds the time
    (with seconds) to the system prompt. `ttl` replaces every mark's lifetime, `parallel` is the
    number of rounds of tool calls that are joined into one turn. `pending` adds the unanswered
    request.
    """

    environment: Environment = "as it is"
    shuffled_tools: bool = False
    timestamp: bool = False
    ttl: str = ""
    parallel: int = 1
    pending: bool = True

    def __post_init__(self) -> None:
        if self.environment not in ENVIRONMENTS:
            raise InputFault(
                f"environment {self.environment!r}", expected=f"one of {', '.join(ENVIRONMENTS)}"
            )
        if not isinstance(self.parallel, int) or not 1 <= self.parallel <= MOST_PARALLEL:
            problem = f"{self.parallel!r} rounds in a turn"
            raise InputFault(problem, expected=f"1 to {MOST_PARALLEL}")

    @property
    def leaves_blocks_unchanged(self) -> bool:
        """True if the last request keeps its blocks; its marks are then the same as without a
        what-if."""
        return replace(self, ttl="") == WhatIf()

    keeps_blocks = older_name("keeps_blocks", "leaves_blocks_unchanged")

    def conversation(
        self, session: Session, stretch: HistoryStretch
    ) -> tuple[Session, Sequence[int]]:
        """Return a part of the session with its rounds of calls joined, and for each request the
        index after its last message."""
        plain = stretch.of(session)
        if self.parallel == 1:
            return plain, stretch.lengths
        # the messages before `first` are examples, or a compaction kept them
        first = stretch.lengths[0]
        head, tail = plain.messages[:first], plain.messages[first:]
        messages = [_in_parallel(part, self.parallel) for part in (head, tail)]
        joined = tuple(chain(*messages))
        tail_indexes = range(len(messages[0]), len(joined))
        stops = [i for i in tail_indexes if joined[i].role == "assistant"]
        if stretch.lengths[-1] == len(stretch.order):  # the last request has no answer yet
            stops.append(len(joined))
        return replace(plain, messages=joined), stops

    def request(self, session: Session, number: int) -> Session:
        """Return the session with its tools in the order that they have in request `number`."""
        if not self.shuffled_tools or not session.tools:
            return session
        # The tools are rotated, not shuffled: two requests in a row never begin with the same tool.
        turn = number % len(session.tools)
        return replace(session, tools=(*session.tools[turn:], *session.tools[:turn]))

    def environment_of(self, session: Session) -> str:
        """Return the text of the environment block, empty if there is none."""
        own = session.dynamic.dynamic_environment_details_block
        if self.environment == "as it is":
            return own
        return "" if self.environment == "none" else own or _STAND_IN

    def messages(
        self, messages: Sequence[dict[str, Any]], environment: str, seconds: float
    ) -> Sequence[dict[str, Any]]:
        """Return formatted messages, before a policy marks them, with the environment block and the
        time that this what-if adds. `seconds` is the time of sending."""
        # A block that stays on every user message is part of the prefix. That is the cheapest: one
        # session cost 0.25 of its uncached cost. A block only in the last message breaks the
        # prefix at every request (0.45, and 1.25 with one mark), as in kilocode#7778.
        if self.environment not in ("persisted", "inside") and not self.timestamp:
            return messages
        changed = list(messages)
        if self.environment in ("persisted", "inside"):
            users = [i for i, message in enumerate(messages) if message["role"] == "user"]
            for index in users if self.environment == "persisted" else users[-1:]:
                changed[index] = _with_part(messages[index], environment)
        if self.timestamp:
            systems = (i for i, message in enumerate(messages) if message["role"] == "system")
            clock = "2026-01-05T{:02}:{:02}:{:02}Z".format(*_clock(seconds))
            for system in islice(systems, 1):
                changed[system] = _with_part(changed[system], f"Current time: {clock}", first=True)
        return changed


def _clock(seconds: float) -> tuple[int, int, int]:
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return hours % 24, minute, second


def _with_part(message: dict[str, Any], text: str, first: bool = False) -> dict[str, Any]:
    parts, added = as_parts(message.get("content")), {"type": "text", "text": text}
    return {**message, "content": [added, *parts] if first else [*parts, added]}


def _in_parallel(messages: Sequence[Message], rounds: int) -> list[Message]:
    """Join every `rounds` rounds of calls and results into one turn, as if made at once."""
    joined: list[Message] = []
    calls: list[Message] = []
    results: list[Message] = []

    def flush() -> None:
        if calls:
            parts = tuple(part for message in calls for part in message.parts)
            joined.append(replace(calls[0], parts=parts))
        joined.extend(results)
        calls.clear()
        results.clear()

    for message in messages:
        if message.role == "tool" and calls:
            results.append(message)
            continue
        calling = message.role == "assistant" and any(
            isinstance(part, ToolCallPart) for part in message.parts
        )
        if not calling or len(calls) == rounds:
            flush()
        (calls if calling else joined).append(message)
    flush()
    return joined
