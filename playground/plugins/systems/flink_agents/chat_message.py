"""Flink-Agents' `ChatMessage`, and its forms for OpenAI and Anthropic.

Source: Apache Flink-Agents, discussion 75, and cases run on its code at 8ad3a32.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from playground.base.errors import InputFault


class MessageRole(StrEnum):
    """The role of a message; `tool` is the role of a tool's result."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class ToolCall(dict[str, Any]):
    """A tool call: a dict whose keys are also attributes, as in Flink-Agents' design document."""

    def __getattr__(self, name: str) -> Any:
        try:
            value = self[name]
        except KeyError as error:
            raise AttributeError(name) from error
        return ToolCall(value) if isinstance(value, dict) else value


class ChatMessage(BaseModel):
    """One message; `content` is always a text.

    `tool_calls` are `{id, type: "function", function: {name, arguments}, original_id?}` with
    arguments as values. `extra_args` are sent to the provider in addition to the content, for
    example `partial: True`. Their older name `additional_kwargs` is read, too.
    """

    # This is not `playground.nouns.messages.Message`, because users' programs read and write these
    # fields: text only, calls with two ids, extra arguments for the provider, and an optional role.
    # `lost_calls` finds the messages whose calls would not reach Anthropic.

    model_config = ConfigDict(extra="forbid")

    role: MessageRole = MessageRole.USER
    content: str = ""
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    extra_args: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _rename_additional_kwargs(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "additional_kwargs" in data and "extra_args" not in data:
            rest = {key: value for key, value in data.items() if key != "additional_kwargs"}
            return {**rest, "extra_args": data["additional_kwargs"]}
        return data

    @field_validator("tool_calls")
    @classmethod
    def _wrap_calls(cls, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [ToolCall(call) for call in calls]

    @property
    def additional_kwargs(self) -> dict[str, Any]:
        """The `extra_args` under their older name."""
        return self.extra_args

    def __str__(self) -> str:
        return f"{self.role.value}: {self.content}"


def read_message(value: Any, where: str = "message") -> ChatMessage:
    """Read a message from JSON values. Raises InputFault, which names the field."""
    if isinstance(value, ChatMessage):
        return value
    try:
        return ChatMessage.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join([where, *(str(step) for step in first["loc"])])
        roles = ", ".join(MessageRole)
        expected = f"one of {roles}" if "role" in first["loc"] else "text in content, and a role"
        raise InputFault(str(first["msg"]), field=field, expected=expected) from error


def to_openai_message(message: ChatMessage) -> dict[str, Any]:
    """Return a message in the form of OpenAI's chat API; `extra_args` are added, except to results.

    Raises InputFault for a call without an id or a name, and for a result that names no call.
    """
    if message.role is MessageRole.TOOL:
        call_id = message.extra_args.get("external_id")
        if not isinstance(call_id, str) or not call_id:
            raise InputFault(
                "a tool message that names no call",
                field="extra_args.external_id",
                expected="the id of the call that it answers",
            )
        return {"role": "tool", "content": message.content, "tool_call_id": call_id}
    plain: dict[str, Any] = {"role": message.role.value, "content": message.content}
    if message.tool_calls and message.role is MessageRole.ASSISTANT:
        plain["content"] = message.content or None
        plain["tool_calls"] = [_openai_call(call) for call in message.tool_calls]
    return {**plain, **message.extra_args}


def called_function(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the function (name and arguments) of a tool call. Raises InputFault if there is
    none."""
    function = call.get("function")
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        expected = "a function with a name"
        raise InputFault(f"not a tool call: {call!r:.80}", field="tool_calls", expected=expected)
    return function


def _openai_call(call: Mapping[str, Any]) -> dict[str, Any]:
    ids = [call[key] for key in ("original_id", "id") if call.get(key) is not None]
    if not ids:
        raise InputFault(
            "a tool call without an id", field="tool_calls", expected="original_id or id"
        )
    function = called_function(call)
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    named_function = {"name": function["name"], "arguments": text}
    return {"id": str(ids[0]), "type": "function", "function": named_function}


def to_anthropic_message(message: ChatMessage) -> dict[str, Any]:
    """Return a message as Flink-Agents sends it to Anthropic.

    Its `tool_calls` are lost, unless `extra_args.anthropic_content_blocks` hold the calls, too
    (see `lost_calls`).
    """
    if message.role is MessageRole.TOOL:
        call_id = message.extra_args.get("external_id")
        block = {"type": "tool_result", "tool_use_id": call_id, "content": message.content}
        return {"role": "user", "content": [block]}
    blocks = message.extra_args.get("anthropic_content_blocks")
    if message.role is MessageRole.ASSISTANT and blocks:
        return {"role": "assistant", "content": blocks}
    return {"role": message.role.value, "content": message.content}


def to_anthropic_request(messages: Sequence[ChatMessage]) -> dict[str, Any]:
    """Return the fields `system`, with all system messages in order, and `messages`."""
    request: dict[str, list[dict[str, Any]]] = {"system": [], "messages": []}
    for message in messages:
        if message.role is MessageRole.SYSTEM:
            request["system"].append({"type": "text", "text": message.content})
        else:
            request["messages"].append(to_anthropic_message(message))
    return request


def lost_calls(messages: Sequence[ChatMessage]) -> list[int]:
    """Return the indexes of the messages that lose their tool calls on the way to Anthropic."""
    return [
        index
        for index, message in enumerate(messages)
        if _calls_in_blocks(message) < len(message.tool_calls)
    ]


def _calls_in_blocks(message: ChatMessage) -> int:
    blocks = message.extra_args.get("anthropic_content_blocks")
    listed = blocks if isinstance(blocks, list | tuple) else ()
    return sum(isinstance(block, dict) and block.get("type") == "tool_use" for block in listed)
