"""The policies of agents and libraries: which messages each marks, on plain formatted messages.

Each is one small function from messages to places and one line of provenance. A mark on the last
tool is left out where the system prompt, which comes after the tools, is marked as well: its entry
holds them. "Wire user" means what reaches the provider as one user turn: results and what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

Messages = Sequence[dict[str, Any]]
PartIndex = tuple[int, int]  # message, part from its end: -1 is the last one, 0 the first


class AgentPolicy(NamedTuple):
    """Where an agent marks, and where that is known from."""

    places: Callable[[Messages], list[PartIndex]]
    source: str


def _of(messages: Messages, *roles: str) -> list[int]:
    return [index for index, message in enumerate(messages) if message.get("role") in roles]


def _last(indices: Sequence[int], count: int, part: int = -1) -> list[PartIndex]:
    return [(index, part) for index in indices[-count:]]


def _after_system(messages: Messages) -> list[int]:
    return [i for i, message in enumerate(messages) if message.get("role") != "system"]


def _wire_users(messages: Messages) -> list[int]:
    """The last message of every run of user messages and results."""
    users = _of(messages, "user", "tool")
    return [
        index for index, after in zip(users, [*users, -1][1:], strict=True) if after != index + 1
    ]


def _system(messages: Messages) -> list[PartIndex]:
    return _last(_of(messages, "system"), 1)


def system_only(messages: Messages) -> list[PartIndex]:
    return _system(messages)


def system_and_last_two_users(messages: Messages) -> list[PartIndex]:
    return [*_system(messages), *_last(_of(messages, "user"), 2)]


def system_and_last_two_wire_users(messages: Messages) -> list[PartIndex]:
    return [*_system(messages), *_last(_wire_users(messages), 2)]


# Kodu keeps a mark on the first question too, which the history never moves away from.
def kodu(messages: Messages) -> list[PartIndex]:
    users = _of(messages, "user")
    return [*_system(messages), *_last(users[:1], 1), *_last(users[1:], 2)]


def openhands(messages: Messages) -> list[PartIndex]:
    first = [(index, 0) for index in _of(messages, "system")[:1]]
    return [*first, *_last(_of(messages, "user", "tool"), 1)]


def swe_agent(messages: Messages) -> list[PartIndex]:
    return _last(_of(messages, "user", "tool"), 2, part=0)


def last_message(messages: Messages) -> list[PartIndex]:
    return _last(range(len(messages)), 1)


def automatic(messages: Messages) -> list[PartIndex]:
    """The provider looks for the last block that may be marked, so an empty message is passed."""
    return _last([i for i, message in enumerate(messages) if message.get("content")], 1)


def system_and_last_message(messages: Messages) -> list[PartIndex]:
    return [*_system(messages), *_last(_after_system(messages), 1)]


def every_system(messages: Messages) -> list[PartIndex]:
    return _last(_of(messages, "system"), 4)


def opencode(messages: Messages) -> list[PartIndex]:
    first = [(index, -1) for index in _of(messages, "system")[:2]]
    return [*first, *_last(_after_system(messages), 2)]


def hermes_agent(messages: Messages) -> list[PartIndex]:
    return [*_system(messages), *_last(_after_system(messages), 3)]


def aider(messages: Messages) -> list[PartIndex]:
    """A session has no repository map or chat files apart: the prompt and the last question."""
    return [*_system(messages), *_last(_of(messages, "user"), 1)]


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


def marked_parts(messages: Messages, policy: AgentPolicy) -> Iterator[tuple[int, int, bool]]:
    """Message, part, and whether it is marked: an empty text may not be."""
    seen: set[tuple[int, int]] = set()
    for message, part in policy.places(messages):
        content = messages[message].get("content")
        parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        index = len(parts) + part if part < 0 else part
        if not 0 <= index < len(parts) or (message, index) in seen:
            continue
        seen.add((message, index))
        # Anthropic answers such a mark with a 400; here the place is shown as left unmarked.
        empty = parts[index].get("type") == "text" and not parts[index].get("text")
        yield message, index, not empty
