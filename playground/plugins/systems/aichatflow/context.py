"""Shorten a conversation to a given limit, or to the model's context. The oldest messages are left
out first, a call always together with its result, and a finding counts them. The system message,
newest question and last message always stay; if these alone do not fit, NoRoom is raised.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.cache.prices import context_tokens
from playground.questions.token_counts import count_tokens


class NoRoom(InputFault):
    """The error of a request that exceeds the limit even with only its necessary messages."""


def fit_messages(
    messages: Sequence[Mapping[str, Any]],
    model: str,
    most_characters: int | None = None,
    most_tokens: int | None = None,
) -> tuple[list[dict[str, Any]], list[Finding]]:
    """Return the messages to send, and a finding if some are left out.

    Characters are those of the messages' JSON; tokens are counted by `count_tokens`. By default
    the limit is the model's context (`max_input_tokens` in LiteLLM's map); without an entry in the
    map, everything is sent. Raises NoRoom if the necessary messages exceed the limit.
    """
    texts = [json.dumps(message, ensure_ascii=False) for message in messages]
    if most_characters is not None:
        return _keep_newest(messages, [len(text) for text in texts], most_characters, "characters")
    limit = most_tokens if most_tokens is not None else context_tokens(model)
    if limit is None or sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) <= limit:
        return [dict(message) for message in messages], []  # fits: no token is less than a byte
    counted = count_tokens({"messages": list(messages)}, model=model, api="openai-chat").by_message
    sizes = [counted.get(index, 0) for index in range(len(messages))]
    unit = "tokens" if most_tokens is not None else f"tokens, the context of {model}"
    return _keep_newest(messages, sizes, limit, unit)


def _keep_newest(
    messages: Sequence[Mapping[str, Any]], sizes: Sequence[int], limit: int, unit: str
) -> tuple[list[dict[str, Any]], list[Finding]]:
    needed, room = _needed_messages(messages), limit
    for index in needed:
        room -= sizes[index]
    if room < 0:
        problem = (
            f"the system message and the newest messages need {limit - room:,}, and the "
            f"limit is {limit:,} {unit}"
        )
        raise NoRoom(problem, expected="a shorter prompt, or a model with more room")
    sent = set(needed)
    for group in reversed(_groups(messages)):
        others = [index for index in group if index not in needed]
        room -= sum(sizes[index] for index in others)
        if room < 0:
            break
        sent.update(others)
    messages_sent = [dict(message) for index, message in enumerate(messages) if index in sent]
    left_out = len(messages) - len(messages_sent)
    if not left_out:
        return messages_sent, []
    count = f"the oldest messages that can be spared ({left_out} of {len(messages)})"
    text = f"{count} are not sent: room for {limit:,} {unit}"
    return messages_sent, [finding("context-cut", "request", text)]


def _needed_messages(messages: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return the indexes of the messages that a request needs.

    These are the newest run of system messages, the newest question, and the last of `_groups`.
    """
    roles = [message.get("role") for message in messages]
    needed = set(_groups(messages)[-1]) if messages else set()
    if "user" in roles:
        needed.add(len(roles) - 1 - roles[::-1].index("user"))
    if "system" in roles:
        newest = len(roles) - 1 - roles[::-1].index("system")
        while newest >= 0 and roles[newest] == "system":
            needed.add(newest)
            newest -= 1
    return needed


def _groups(messages: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Return groups of message indexes; a call and its result form one group."""
    groups: list[list[int]] = []
    for index, message in enumerate(messages):
        follows_call = bool(index) and bool(messages[index - 1].get("function_call"))
        if follows_call and message.get("role") == "function":
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups
