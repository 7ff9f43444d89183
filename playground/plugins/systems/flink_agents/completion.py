"""A chat model's answer, complete or in pieces, also in the form that DSPy expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from playground.nouns.tool_formats import read_tools
from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.flink_agents.chat_message import ChatMessage, MessageRole


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer: what it says, what it thought, what it used, what it cost in US dollars.

    `usage` is as the provider counts; `cost` is None where no price is known. `stop_reason` is
    `stop`, `tool_calls`, or `length` for an answer that was cut at `max_tokens`.
    """

    message: ChatMessage
    model: str = ""
    reasoning: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    cost: float | None = None
    stop_reason: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a streamed answer; the last one has the completion, and nothing else."""

    text: str = ""
    reasoning: str = ""
    completion: Completion | None = None


def dspy_request(
    messages: Sequence[Mapping[str, Any]], parameters: Mapping[str, Any]
) -> tuple[list[ChatMessage], list[ToolMetadata], dict[str, Any]]:
    """Return a request as DSPy asks, in OpenAI's form: messages, tools, the other parameters."""
    rest = {name: value for name, value in parameters.items() if name != "tools"}
    return [_from_openai(m) for m in messages], read_tools(parameters.get("tools") or []), rest


def dspy_answers(done: Completion) -> list[Any]:
    """Return a completion as DSPy takes it: its text, or a dict where there is more than text."""
    parts = {
        "text": done.message.content,
        "tool_calls": done.message.tool_calls,
        "reasoning_content": done.reasoning,
    }
    more = {name: value for name, value in parts.items() if value and name != "text"}
    return [{"text": done.message.content, **more} if more else done.message.content]


def _from_openai(message: Mapping[str, Any]) -> ChatMessage:
    """Return a message in OpenAI's form; content parts stand beside the text, for the provider
    alone.
    """
    content = message.get("content") or ""
    extra = {} if isinstance(content, str) else {"content": content}
    if "tool_call_id" in message:
        extra["external_id"] = message["tool_call_id"]
    return ChatMessage(
        role=MessageRole(message["role"]),
        content=content if isinstance(content, str) else "",
        tool_calls=message.get("tool_calls") or [],
        extra_args=extra,
    )
