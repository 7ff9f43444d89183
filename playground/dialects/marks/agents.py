"""The policies of agents and libraries: which parts of the formatted messages each marks.

Each is a small function from messages to places, with a line on its source. A mark on the last tool
is left out if the system prompt is marked as well, because the prompt comes after the tools and its
cache entry includes them. A "wire user" is one user turn as the provider sees it: results, and the
user's messages after them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple

from playground.base.shared_lists import KeyIndexedList

Messages = Sequence[dict[str, Any]]
PartIndex = tuple[int, int]  # index of a message, index of its part (-1 is the last part)


class AgentPolicy(NamedTuple):
    """An agent's choice of places, and the source that documents it."""

    places: Callable[[Messages], list[PartIndex]]
    source: str


def finder_of_last(messages: Messages) -> Callable[[str, int], list[int]]:
    """Return a function `last(role, count)`: the indexes of a role's last messages, in order."""
    if isinstance(messages, KeyIndexedList):
        return partial(messages.last_with, "role")
    backwards = [message.get("role") for message in reversed(messages)]

    def last(role: str, count: int) -> list[int]:
        places: list[int] = []
        start = -1
        for _ in range(min(count, backwards.count(role))):
            start = backwards.index(role, start + 1)
            places.insert(0, len(backwards) - 1 - start)
        return places

    return last


# Search from the end: reading all messages for each of a session's requests is quadratic.


def _last(messages: Messages, count: int, *roles: str) -> list[int]:
    last = finder_of_last(messages)
    return sorted(index for role in roles for index in last(role, count))[-count:]


def _first(messages: Messages, count: int, role: str) -> list[int]:
    last_places = _last(messages, count, role)
    if len(last_places) < count:
        return last_places  # the role has no more messages
    places = (i for i, message in enumerate(messages) if message.get("role") == role)
    return list(islice(places, count))


def _from_end(messages: Messages, count: int, fits: Callable[[int], bool]) -> list[int]:
    """Return the last indexes for which `fits` is true, at most `count`, in order."""
    fitting = (index for index in range(len(messages) - 1, -1, -1) if fits(index))
    return list(islice(fitting, count))[::-1]


def _last_except_system(messages: Messages, count: int) -> list[int]:
    return _from_end(messages, count, lambda index: messages[index].get("role") != "system")


def _wire_users(messages: Messages, count: int) -> list[int]:
    """Return the indexes at which the last `count` runs of user messages and results end."""

    def is_user(index: int) -> bool:
        return index < len(messages) and messages[index].get("role") in ("user", "tool")

    return _from_end(messages, count, lambda index: is_user(index) and not is_user(index + 1))


def _places(indices: Sequence[int], part: int = -1) -> list[PartIndex]:
    return [(index, part) for index in indices]


def _system(messages: Messages) -> list[PartIndex]:
    return _places(_last(messages, 1, "system"))


def system_only(messages: Messages) -> list[PartIndex]:
    return _system(messages)


def system_and_last_two_users(messages: Messages) -> list[PartIndex]:
    return [*_system(messages), *_places(_last(messages, 2, "user"))]


def system_and_last_two_wire_users(messages: Messages) -> list[PartIndex]:
    return [*_system(messages), *_places(_wire_users(messages, 2))]


# Kodu marks the first question and the last two.
def kodu(messages: Messages) -> list[PartIndex]:
    first, later = _first(messages, 1, "user"), _last(messages, 3, "user")
    return [*_system(messages), *_places(first), *_places(later[1:])]


def openhands(messages: Messages) -> list[PartIndex]:
    first = _places(_first(messages, 1, "system"), part=0)
    return [*first, *_places(_last(messages, 1, "user", "tool"))]


def swe_agent(messages: Messages) -> list[PartIndex]:
    return _places(_last(messages, 2, "user", "tool"), part=0)


def last_message(messages: Messages) -> list[PartIndex]:
    return _places(range(len(messages))[-1:])


def automatic(messages: Messages) -> list[PartIndex]:
    """Return the place that the provider would mark: the last message that is not empty."""
    return _places(_from_end(messages, 1, lambda index: bool(messages[index].get("content"))))


def system_and_last_message(messages: Messages) -> list[PartIndex]:
    return [*_system(messages), *_places(_last_except_system(messages, 1))]


def every_system(messages: Messages) -> list[PartIndex]:
    return _places(_last(messages, 4, "system"))


def opencode(messages: Messages) -> list[PartIndex]:
    first = _places(_first(messages, 2, "system"))
    return [*first, *_places(_last_except_system(messages, 2))]


def hermes_agent(messages: Messages) -> list[PartIndex]:
    return [*_system(messages), *_places(_last_except_system(messages, 3))]


def aider(messages: Messages) -> list[PartIndex]:
    """Return the system prompt and the last question.

    Aider also marks its repository map and chat files, which a session does not keep apart.
    """
    return [*_system(messages), *_places(_last(messages, 1, "user"))]


AGENTS: Final[dict[str, AgentPolicy]] = {
    "system-only": AgentPolicy(system_only, "the least that any agent marks"),
    "system-and-last-two-users": AgentPolicy(
        system_and_last_two_users, "Roo Code over OpenRouter, RooCodeInc/Roo-Code@cb83656"
    ),
    "claude-code": AgentPolicy(
        system_and_last_two_wire_users, "Claude Code 2.1.203, captured in askalf/dario#683"
    ),
    "cline": AgentPolicy(
        system_and_last_two_wire_users, "Cline and Roo Code, RooCodeInc/Roo-Code@cb83656"
    ),
    "kodu": AgentPolicy(kodu, "kodu-ai/claude-coder@78a56b1e"),
    "goose": AgentPolicy(system_and_last_two_wire_users, "block/goose@00f8525"),
    "openhands": AgentPolicy(openhands, "OpenHands/software-agent-sdk@611629e, llm.py"),
    "swe-agent": AgentPolicy(swe_agent, "SWE-agent/SWE-agent@3ea751c, history_processors.py"),
    "mini-swe-agent": AgentPolicy(last_message, "SWE-agent/mini-swe-agent@a83fcae"),
    "langchain": AgentPolicy(
        system_and_last_message, "langchain-anthropic 1.7.10, prompt_caching.py"
    ),
    "pydantic-ai": AgentPolicy(
        system_and_last_message, "pydantic/pydantic-ai@4fda389, all three settings on"
    ),
    "litellm-injection": AgentPolicy(
        every_system, "LiteLLM 1.109.1, cache_control_injection_points as they are"
    ),
    "opencode": AgentPolicy(opencode, "sst/opencode@47767a7, transform.ts"),
    "vscode": AgentPolicy(opencode, "VS Code's Messages API, microsoft/vscode#315505"),
    "hermes-agent": AgentPolicy(hermes_agent, "system_and_3, a third party's survey"),
    "aider": AgentPolicy(aider, "Aider-AI/aider@5dc9490, chat_chunks.py"),
    "automatic": AgentPolicy(automatic, "Anthropic's automatic caching, its documentation"),
}


def marked_parts(
    messages: Messages, places: Callable[[Messages], list[PartIndex]]
) -> Iterator[tuple[int, int, bool]]:
    """Yield each of the `places` that the messages really have: the indexes of the message and of
    its part, and True if the part may be marked (False for an empty text)."""
    for message, part in places(messages):
        content = messages[message].get("content") or ""
        if isinstance(content, list):
            parts = content
        elif isinstance(content, str):
            parts = [{"type": "text", "text": content}]
        else:
            continue
        index = len(parts) + part if part < 0 else part
        if not 0 <= index < len(parts) or not isinstance(chosen := parts[index], dict):
            continue
        # Anthropic answers a mark on an empty text with a 400; here the place stays unmarked.
        empty = chosen.get("type") == "text" and not chosen.get("text")
        yield message, index, not empty
