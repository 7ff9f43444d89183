"""Policies that shorten a history before it is sent.

A policy is asked request by request, in order, and remembers what it cut: that stays cut. It works
on any API's messages as plain dicts. The system's messages and the user's first always stay. A
call never loses its result, nor a result its call.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from playground.base.errors import InputFault
from playground.nouns.wire_estimates import tokens_of

Messages = list[dict[str, Any]]
Size = Callable[[dict[str, Any]], int]  # a message's tokens
CLEARED: Final = "[Old tool result content cleared]"
_ASK: Final = "Summarise what was done so far, and what is left to do."
_RESULTS: Final = ("tool_result", "function_call_output", "toolResult", "functionResponse")


@dataclass(frozen=True, slots=True)
class Shortened:
    """One request's messages, and whether more was cut than before.

    `asked` is the history that had to be summarised for it, in a request of its own.
    """

    messages: Messages
    changed: bool = False
    asked: Messages | None = None


@dataclass
class Shortening:
    """A policy that shortens histories.

    `limit` is the input in tokens at which it begins, `keep` what it leaves (messages, results or
    tokens, by policy), `least` the saving below which it does not cut, and `summary` the tokens of
    a summary. `size` estimates the tokens of a message.
    """

    name: str
    keep: int = 0
    limit: int = 0
    least: int = 0
    summary: int = 1_000
    _cleared: set[int] = field(default_factory=set)  # messages whose results are cleared
    _cut: int = 0  # messages behind the head that are gone
    _summaries: int = 0

    def request(self, messages: Sequence[dict[str, Any]], size: Size, fixed: int) -> Shortened:
        """Return the messages to send; `fixed` are the tokens of tools and system prompt."""
        return _POLICIES[self.name](self, list(messages), size, fixed)

    def fresh(self) -> Shortening:
        """Return the same policy as it was before its first request."""
        return Shortening(self.name, self.keep, self.limit, self.least, self.summary)


def _everything(policy: Shortening, messages: Messages, size: Size, fixed: int) -> Shortened:
    return Shortened(messages)


def _last_messages(policy: Shortening, messages: Messages, size: Size, fixed: int) -> Shortened:
    """Keep only the newest messages, at every request."""
    head = head_length(messages)
    start = safe_start(messages, max(head, len(messages) - policy.keep))
    changed, policy._cut = start - head > policy._cut, max(policy._cut, start - head)
    return Shortened([*messages[:head], *messages[head + policy._cut :]], changed)


def _last_results(policy: Shortening, messages: Messages, size: Size, fixed: int) -> Shortened:
    """Clear all but the newest results, at every request."""
    results = [i for i, message in enumerate(messages) if has_result(message)]
    return _clear(policy, messages, results[: max(0, len(results) - policy.keep)])


def _clear_at_limit(policy: Shortening, messages: Messages, size: Size, fixed: int) -> Shortened:
    """Clear all but the newest results above the limit, as Anthropic's `clear_tool_uses` does.

    Nothing is cleared unless it saves enough. The client sends the whole history each time and the
    server clears it again (Anthropic, Context editing), so each new result clears one more.
    """
    if fixed + sum(map(size, messages)) <= policy.limit:
        return Shortened(messages)
    results = [i for i, message in enumerate(messages) if has_result(message)]
    old = results[: max(0, len(results) - policy.keep)]
    saved = sum(size(messages[i]) - size(cleared(messages[i])) for i in old)
    return _clear(policy, messages, old) if saved >= max(1, policy.least) else Shortened(messages)


def _prune(policy: Shortening, messages: Messages, size: Size, fixed: int) -> Shortened:
    """Clear results older than the newest `keep` tokens of results, as opencode does."""
    room, old = policy.keep, []
    for index in range(len(messages) - 1, -1, -1):
        if not has_result(messages[index]) or index in policy._cleared:
            continue
        room -= size(messages[index])
        if room < 0:
            old.append(index)
    saved = sum(size(messages[i]) - size(cleared(messages[i])) for i in old)
    return _clear(policy, messages, old if saved >= max(1, policy.least) else [])


def _summarise(policy: Shortening, messages: Messages, size: Size, fixed: int) -> Shortened:
    """Replace all but the newest messages with a summary, above the limit."""
    head = head_length(messages)
    sent = _summarised(policy, messages, head)
    if fixed + sum(map(size, sent)) <= policy.limit:
        return Shortened(sent)
    start = safe_start(messages, max(head, len(messages) - policy.keep))
    if start - head <= policy._cut:
        return Shortened(sent)  # what is left is needed: a summary of nothing saves nothing
    policy._cut, policy._summaries = start - head, policy._summaries + 1
    asked = [*sent, {"role": "user", "content": _ASK}]
    return Shortened(_summarised(policy, messages, head), True, asked)


def _summarised(policy: Shortening, messages: Messages, head: int) -> Messages:
    if not policy._cut:
        return messages
    words = f"Summary {policy._summaries}: " + "what was done so far " * (policy.summary // 5)
    stand_in = {"role": "user", "content": words}
    return [*messages[:head], stand_in, *messages[head + policy._cut :]]


_POLICIES: Final[dict[str, Callable[[Shortening, Messages, Size, int], Shortened]]] = {
    "keep everything": _everything,
    "keep last messages": _last_messages,
    "drop old results": _last_results,
    "clear tool uses": _clear_at_limit,
    "prune in place": _prune,
    "summarise at limit": _summarise,
}
EVERYTHING: Final = "keep everything"
ON_RESULTS: Final = ("drop old results", "clear tool uses", "prune in place")


def shortenings(limit: int, keep: int = 0, summary: int = 1_000) -> list[Shortening]:
    """Return every policy, with figures that fit the limit; `keep` overrides what each keeps."""
    return [
        Shortening(EVERYTHING),
        Shortening("keep last messages", keep or 20),
        Shortening("drop old results", keep or 3),
        Shortening("clear tool uses", keep or 3, limit),
        Shortening("prune in place", limit * 2 // 5, least=limit // 5),
        Shortening("summarise at limit", keep or 4, limit, summary=summary),
    ]


def shortening(name: str, limit: int, keep: int = 0, summary: int = 1_000) -> Shortening:
    """Return a policy by its name. Raises InputFault."""
    known = {each.name: each for each in shortenings(limit, keep, summary)}
    if name not in known:
        raise InputFault(f"no way of shortening {name!r}", expected=f"one of {', '.join(known)}")
    return known[name]


def head_length(messages: Sequence[dict[str, Any]]) -> int:
    """Return the number of leading messages: the system's and the user's first."""
    for index, message in enumerate(messages):
        if message.get("role") not in ("system", "developer"):
            return min(len(messages), index + 1)
    return len(messages)


def safe_start(messages: Sequence[dict[str, Any]], start: int) -> int:
    """Return the first index from `start` on at which no result has lost its call.

    If only results follow, return the last such index before `start`.
    """
    after = start
    while after < len(messages) and has_result(messages[after]):
        after += 1
    if after < len(messages):
        return after
    while 0 < start < len(messages) and has_result(messages[start]):
        start -= 1
    return start


def has_result(message: dict[str, Any]) -> bool:
    """Return True if a message holds a tool result, in any API's form."""
    if message.get("role") == "tool" or message.get("type") in _RESULTS:
        return True
    return any(_is_result(part) for part in _parts(message))


def cleared(message: dict[str, Any]) -> dict[str, Any]:
    """Return the message with each result replaced by a line that says so."""
    if message.get("role") == "tool":
        return {**message, "content": CLEARED}
    if message.get("type") in _RESULTS:
        return {**message, "output": CLEARED}
    key = "content" if "content" in message else "parts"
    return {**message, key: [_cleared_part(part) for part in _parts(message)]}


def _parts(message: dict[str, Any]) -> list[Any]:
    content = message.get("content", message.get("parts"))
    return content if isinstance(content, list) else []


def _is_result(part: Any) -> bool:
    return isinstance(part, dict) and (
        part.get("type") in _RESULTS or any(key in part for key in _RESULTS)
    )


def _cleared_part(part: Any) -> Any:
    if not _is_result(part):
        return part
    if part.get("type") in _RESULTS:
        return {**part, "content": CLEARED}
    key = next(key for key in _RESULTS if key in part)
    inner = copy.deepcopy(part[key])
    if key == "toolResult":
        inner["content"] = [{"text": CLEARED}]
    else:
        inner["response"] = {"result": CLEARED}
    return {**part, key: inner}


def _clear(policy: Shortening, messages: Messages, more: Sequence[int]) -> Shortened:
    changed = any(index not in policy._cleared for index in more)
    policy._cleared.update(more)
    sent = [
        cleared(message) if index in policy._cleared else message
        for index, message in enumerate(messages)
    ]
    return Shortened(sent, changed)


def by_length(message: dict[str, Any]) -> int:
    """Estimate the tokens of a message from its length."""
    return tokens_of(json.dumps(message, ensure_ascii=False))
