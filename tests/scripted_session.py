"""An agent's session of sixty requests with a known mistake at known requests, for Anthropic's API.

Each step is a body as the agent would send it, the seconds that it waits before, and the cause for
which a provider's cache is not read where it could have been ("" where nothing is wrong).
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

MODEL: Final = "claude-sonnet-4-6"
_WORDS: Final = (
    *("harbour", "pilot", "tide", "berth", "cargo", "crane", "quay", "vessel", "draught", "buoy"),
    *("signal", "ledger", "manifest", "engine", "anchor", "rope", "winch", "lantern", "weather"),
    *("report", "current", "depth", "sounding", "chart", "channel"),
)


class Step(NamedTuple):
    """One request of the script."""

    cause: str
    body: dict[str, Any]
    wait: float


def steps(count: int = 60, seed: int = 7) -> Iterator[Step]:
    """The requests in order, each whole; the same for the same seed."""
    agent = _Agent(random.Random(seed))
    for number in range(1, count + 1):
        cause = _MISTAKES.get(number, "")
        wait = 20.0
        body = agent.next()
        if _MISTAKES.get(number + 1) == "lookback-overflow":
            agent.widen(30)  # what the next request sends is further off than a mark looks back
        if cause == "expired":
            wait = 400.0
        body = _spoiled(agent, body, cause, number)
        yield Step(cause, copy.deepcopy(body), wait)


# Every kind twice or more, far enough apart that the history has grown back.
_MISTAKES: Final = {
    6: "tool-order",
    10: "json-key-order",
    14: "volatile-system",
    18: "history-rewrite",
    22: "expired",
    26: "lookback-overflow",
    30: "prefix-changed",
    34: "head-injection",
    38: "tool-order",
    42: "json-key-order",
    46: "volatile-system",
    50: "expired",
    54: "lookback-overflow",
    58: "history-rewrite",
}


class _Agent:
    """Appends a round of a call and its result to its history, and marks as Claude Code does."""

    def __init__(self, dice: random.Random) -> None:
        self._dice, self._ids = dice, 0
        self.system = f"You are a harbour master. {self._prose(900)} Now 2026-11-22T10:00:00Z"
        self.tools = [self._tool(name) for name in ("berths", "cranes", "tides", "weather")]
        self.messages: list[dict[str, Any]] = [_user(self._prose(80))]

    def widen(self, count: int) -> None:
        """The last answer had so many blocks of text more."""
        texts = [{"type": "text", "text": self._prose(6)} for _ in range(count)]
        self.messages[-3]["content"][:0] = texts

    def next(self) -> dict[str, Any]:
        """The next request's body; its answer and the result of its call follow it."""
        if self._ids:
            self.messages.append(_user(self._prose(40)))
        body = {
            "model": MODEL,
            "max_tokens": 100,
            "stream": True,
            "tools": self.tools,
            "system": [{"type": "text", "text": self.system}],
            "messages": copy.deepcopy(self.messages),
        }
        body = _marked(body)
        self._round()
        return body

    def _round(self) -> None:
        """What the model answered, and the result that the agent found."""
        self._ids += 1
        call = {"place": self._prose(2), "hour": self._ids % 24, "note": self._prose(5)}
        use = {"type": "tool_use", "id": f"toolu_{self._ids:04}", "name": "tides", "input": call}
        said = {"type": "text", "text": self._prose(30)}
        result = {"type": "tool_result", "tool_use_id": use["id"], "content": self._prose(60)}
        self.messages += [
            {"role": "assistant", "content": [said, use]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": [{"type": "text", "text": self._prose(20)}]},
        ]

    def _tool(self, name: str) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"place": {"type": "string"}}}
        return {"name": name, "description": self._prose(60), "input_schema": schema}

    def _prose(self, count: int) -> str:
        return " ".join(self._dice.choice(_WORDS) for _ in range(count))


def _spoiled(agent: _Agent, body: dict[str, Any], cause: str, number: int) -> dict[str, Any]:
    """The body with this mistake in it; what an agent would go on with stays in its history."""
    match cause:
        case "tool-order":
            agent.tools = [*agent.tools[1:], agent.tools[0]]
            body["tools"] = agent.tools
        case "json-key-order":
            for history in (agent.messages, body["messages"]):
                parts = (p for m in history for p in m["content"] if p["type"] == "tool_use")
                part = next(parts)
                part["input"] = dict(reversed(part["input"].items()))
        case "volatile-system":
            agent.system = re.sub(r"T\d\d:", f"T{number % 24:02}:", agent.system)
            body["system"] = [{"type": "text", "text": agent.system}]
            body = _marked(body)
        case "history-rewrite":
            for history in (agent.messages, body["messages"]):
                answers = [m for m in history if m["role"] == "assistant"]
                answers[3]["content"][0] = {"type": "text", "text": f"(shortened {number})"}
        case "prefix-changed":
            agent.system = f"{agent.system} Be brief."
            body["system"] = [{"type": "text", "text": agent.system}]
            body = _marked(body)
        case "head-injection":
            reminder = [_user(f"Reminder {number}: the tide turns."), _said("Noted.")]
            agent.messages = [*reminder, *agent.messages]
            body["messages"] = [*copy.deepcopy(reminder), *body["messages"]]
    return body


def _marked(body: dict[str, Any]) -> dict[str, Any]:
    """Marks on the system prompt and on the last two turns of the user."""
    mark = {"type": "ephemeral"}
    body["system"][-1] = {**body["system"][-1], "cache_control": mark}
    users = [m for m in body["messages"] if m["role"] == "user"]
    for message in users[-2:]:
        message["content"][-1] = {**message["content"][-1], "cache_control": mark}
    return body


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def _said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}
