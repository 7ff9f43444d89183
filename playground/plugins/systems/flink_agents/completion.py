"""A chat model's answer, complete or in pieces, and its conversion from and to DSPy's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from playground.nouns.tool_formats import read_tools
from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.flink_agents.chat_message import ChatMessage, MessageRole


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of a model, with its reasoning, usage and cost in US dollars.

    `usage` has the provider's own counts; `cost` is None if no price is known. `stop_reason` is
    `stop`, `tool_calls`, or `length` for an answer that was cut off at `max_tokens`.
    """

    message: ChatMessage
    model: str = ""
    reasoning: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    cost: float | None = None
    stop_reason: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a streamed answer. The last piece has only the completion."""

    text: str = ""
    reasoning: str = ""
    completion: Completion | None = None


def dspy_request(
    messages: Sequence[Mapping[str, Any]], parameters: Mapping[str, Any]
) -> tuple[list[ChatMessage], list[ToolMetadata], dict[str, Any]]:
    """Convert DSPy's request in OpenAI's form to messages, tools and other parameters."""
    rest = {name: value for name, value in parameters.items() if name != "tools"}
    return [_from_openai(m) for m in messages], read_tools(parameters.get("tools") or []), rest


def dspy_answers(done: Completion) -> list[Any]:
    """Convert a completion to DSPy's list of answers: a text, or a dict if the completion has more
    than text."""
    parts = {
        "text": done.message.content,
        "tool_calls": done.message.tool_calls,
        "reasoning_content": done.reasoning,
    }
    more = {name: value for name, value in parts.items() if value and name != "text"}
    return [{"text": done.message.content, **more} if more else done.message.content]


def _from_openai(message: Mapping[str, Any]) -> ChatMessage:
    """Convert a message in OpenAI's form. A list of content parts becomes `extra_args.content`,
    because a ChatMessage holds only text."""
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
