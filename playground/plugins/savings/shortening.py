"""Policies that shorten a history before it is sent.

A policy gets the requests in their order and remembers its cuts, because a cut is never undone. It
works on the messages of any API, as plain dicts. The system's messages and the user's first message
always stay. A call and its result are never separated.
"""

from __future__ import annotations

import copy
import json
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.shared_lists import SharedList, alike_length
from playground.nouns.wire_estimates import tokens_of

Messages = Sequence[dict[str, Any]]
Size = Callable[[dict[str, Any]], int]  # from a message to its tokens
CLEARED: Final = "[Old tool result content cleared]"
_ASK: Final = "Summarise what was done so far, and what is left to do."
_RESULTS: Final = ("tool_result", "function_call_output", "toolResult", "functionResponse")
"""The values of `type`, or the keys, by which the APIs mark a result."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """One request's messages; `changed` is True if more is cut than in the previous request.

    `summary_history` is the history of the additional request for a summary; None without one.
    """

    messages: Messages
    changed: bool = False
    summary_history: Messages | None = None


class _History:
    """A history, with the sums over its messages that policies need.

    Each request's history continues the previous one's, so that shared messages are summed once.
    """

    def __init__(self) -> None:
        self.messages: Messages = ()
        self.sums = [0]  # tokens before each message
        self.results: list[int] = []  # indexes of the messages that hold a result
        self.result_sums = [0]  # tokens of all results before each of these messages
        self.savings = [0]  # tokens that are saved by clearing all results before each of them

    def take(self, messages: Messages, size: Size) -> int:
        """Take the next request's messages; return how many it shares with the previous one."""
        shared = alike_length(self.messages, messages)
        shared_results = bisect_left(self.results, shared)
        del (
            self.results[shared_results:],
            self.result_sums[shared_results + 1 :],
            self.savings[shared_results + 1 :],
        )
        del self.sums[shared + 1 :]
        for index, message in enumerate(messages[shared:], shared):
            tokens = size(message)
            self.sums.append(self.sums[-1] + tokens)
            if has_result(message):
                self.results.append(index)
                self.result_sums.append(self.result_sums[-1] + tokens)
                self.savings.append(self.savings[-1] + tokens - size(cleared(message)))
        self.messages = messages
        return shared


@dataclass
class Shortening:
    """A policy that shortens histories.

    `limit` is the input in tokens at which the policy begins. `keep` is the number of messages,
    results or tokens that stay. The policy does not cut if less than `least` tokens are saved.
    `summary` is the number of tokens of a summary.
    """

    name: str
    keep: int = 0
    limit: int = 0
    least: int = 0
    summary: int = 1_000
    _history: _History = field(default_factory=_History)
    _cleared: int = 0  # the number of cleared results, which are always the oldest
    # the last history, with its results cleared
    _sent: SharedList[dict[str, Any]] = field(default_factory=SharedList)
    _cut: int = 0  # the number of messages that are cut after the head
    _summaries: int = 0
    _stand_in: dict[str, Any] = field(default_factory=dict)  # the newest summary

    def request(self, messages: Messages, size: Size, fixed: int) -> Shortened:
        """Return the messages to send; `fixed` is the number of tokens of tools and system
        prompt."""
        if not isinstance(messages, SharedList):
            messages = list(messages)  # the caller's list may change
        return _POLICIES[self.name](self, messages, size, fixed)

    def fresh(self) -> Shortening:
        """Return the same policy at its beginning, without a history."""
        return Shortening(self.name, self.keep, self.limit, self.least, self.summary)


def _everything(policy: Shortening, messages: Messages, size: Size, fixed: int) -> Shortened:
    return Shortened(messages)


def _last_messages(policy: Shortening, messages: Messages, size: Size, fixed: int) -> Shortened:
    """Keep only the head (`head_length`) and the newest messages, at every request."""
    head = head_length(messages)
    start = safe_start(messages, max(head, len(messages) - policy.keep))
    changed, policy._cut = start - head > policy._cut, max(policy._cut, start - head)
    return Shortened([*messages[:head], *messages[head + policy._cut :]], changed)


def _last_results(policy: Shortening, messages: Messages, size: Size, fixed: int) -> Shortened:
    """Clear all results except the newest ones, at every request."""
    _take(policy, messages, size)
    return _clear(policy, len(policy._history.results) - policy.keep)


def _clear_at_limit(policy: Shortening, messages: Messages, size: Size, fixed: int) -> Shortened:
    """Above the limit, clear all results except the newest ones, like Anthropic's
    `clear_tool_uses`.

    Nothing is cleared unless enough is saved. The client sends the whole history each time, and the
    server clears it again (Anthropic, Context editing), so each new result clears one more.
    """
    _take(policy, messages, size)
    history = policy._history
    if fixed + history.sums[-1] <= policy.limit:
        return Shortened(messages)
    old = max(0, len(history.results) - policy.keep)
    is_enough = history.savings[old] >= max(1, policy.least)
    return _clear(policy, old) if is_enough else Shortened(messages)


def _prune(policy: Shortening, messages: Messages, size: Size, fixed: int) -> Shortened:
    """Clear all results but the newest `keep` tokens of results, as opencode does."""
    _take(policy, messages, size)
    history = policy._history
    # the first result that has, together with all later ones, at most `keep` tokens
    old = bisect_left(history.result_sums, history.result_sums[-1] - policy.keep)
    old = max(old, policy._cleared)
    saved = history.savings[old] - history.savings[policy._cleared]
    return _clear(policy, old if saved >= max(1, policy.least) else 0)


def _summarise(policy: Shortening, messages: Messages, size: Size, fixed: int) -> Shortened:
    """Above the limit, replace all messages between the head and the newest with a summary."""
    head, history = head_length(messages), policy._history
    history.take(messages, size)
    sent, sums = _summarised(policy, messages, head), history.sums
    tokens = sums[-1]
    if policy._cut:
        gone = min(head + policy._cut, len(messages))
        tokens += size(policy._stand_in) - sums[gone] + sums[head]
    if fixed + tokens <= policy.limit:
        return Shortened(sent)
    start = safe_start(messages, max(head, len(messages) - policy.keep))
    if start - head <= policy._cut:
        return Shortened(sent)  # nothing is left to summarise
    policy._cut, policy._summaries = start - head, policy._summaries + 1
    words = f"Summary {policy._summaries}: " + "what was done so far " * (policy.summary // 5)
    policy._stand_in = {"role": "user", "content": words}
    history_with_question = [*sent, {"role": "user", "content": _ASK}]
    return Shortened(_summarised(policy, messages, head), True, history_with_question)


def _summarised(policy: Shortening, messages: Messages, head: int) -> Messages:
    if not policy._cut:
        return messages
    return [*messages[:head], policy._stand_in, *messages[head + policy._cut :]]


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
    """Return every policy, with figures that follow from `limit`. `keep` replaces the number of
    messages or results that a policy keeps; "prune in place", which keeps tokens, ignores it."""
    return [
        Shortening(EVERYTHING),
        Shortening("keep last messages", keep or 20),
        Shortening("drop old results", keep or 3),
        Shortening("clear tool uses", keep or 3, limit),
        Shortening("prune in place", limit * 2 // 5, least=limit // 5),
        Shortening("summarise at limit", keep or 4, limit, summary=summary),
    ]


def shortening(name: str, limit: int, keep: int = 0, summary: int = 1_000) -> Shortening:
    """Return a policy by its name. Raises InputFault for an unknown name."""
    by_name = {each.name: each for each in shortenings(limit, keep, summary)}
    if name not in by_name:
        known = ", ".join(by_name)
        raise InputFault(f"unknown way of shortening {name!r}", expected=f"one of {known}")
    return by_name[name]


def head_length(messages: Messages) -> int:
    """Return the number of messages that always stay: the system's and the user's first."""
    for index, message in enumerate(messages):
        if message.get("role") not in ("system", "developer"):
            return min(len(messages), index + 1)
    return len(messages)


def safe_start(messages: Messages, start: int) -> int:
    """Return the first index from `start` on at which every result still has its call.

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
    """Return the message with each result replaced by the line `CLEARED`."""
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


def _take(policy: Shortening, messages: Messages, size: Size) -> None:
    """Take the next request's messages, and clear the results that were cleared before."""
    history = policy._history
    shared = history.take(messages, size)
    policy._sent = policy._sent.extended_with(shared, messages[shared:])
    before = bisect_left(history.results, shared)
    _clear_results(policy, before, policy._cleared)


def _clear(policy: Shortening, count: int) -> Shortened:
    """Clear the oldest `count` results. A cleared result stays cleared."""
    changed = count > policy._cleared
    _clear_results(policy, policy._cleared, count)
    policy._cleared = max(policy._cleared, count)
    return Shortened(policy._sent, changed)


def _clear_results(policy: Shortening, start: int, stop: int) -> None:
    history = policy._history
    if indexes := history.results[start : max(0, stop)]:
        tail = list(history.messages[indexes[0] :])
        for index in indexes:
            tail[index - indexes[0]] = cleared(history.messages[index])
        policy._sent = policy._sent.extended_with(indexes[0], tail)


def by_length(message: dict[str, Any]) -> int:
    """Estimate the tokens of a message from its length."""
    return tokens_of(json.dumps(message, ensure_ascii=False))
