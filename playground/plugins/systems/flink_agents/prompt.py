"""Prompts: a text or messages with `{variables}`, which are filled in one pass.

Two rules differ from Flink-Agents': a variable may have any name (there `role`, `self` and
`_template` raise), and an unknown role raises InputFault. The default role of `from_text` is
`system`, as in Flink-Agents' code; its design document says `user`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ConfigDict

from playground.base.errors import InputFault
from playground.plugins.systems.flink_agents.chat_message import (
    ChatMessage,
    MessageRole,
    read_message,
)
from playground.plugins.systems.flink_agents.resource import ResourceType, SerializableResource

_VARIABLE: Final = re.compile(r"\{([^{}]+)\}")


class Prompt(SerializableResource):
    """A template: a text, or messages.

    A variable is the exact text between single braces: `{ x }` is the variable ` x `. A variable
    without a value stays in the text, so JSON in a prompt survives. Values are written with `str()`
    and not searched for variables.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    template: str | tuple[ChatMessage, ...]
    role: MessageRole = MessageRole.SYSTEM

    @classmethod
    def resource_type(cls) -> ResourceType:
        return ResourceType.PROMPT

    def _require_json(self) -> None:
        """Accept every text, even with half a surrogate pair, which JSON cannot hold."""

    @staticmethod
    def from_text(text: str, role: MessageRole | str | None = None) -> Prompt:
        """Return a prompt of a text, which becomes a message with this role (by default
        `system`)."""
        message_role = _role(role) if role is not None else MessageRole.SYSTEM
        return Prompt(template=text, role=message_role)

    @staticmethod
    def from_messages(messages: Sequence[ChatMessage | Mapping[str, Any]]) -> Prompt:
        """Return a prompt of messages, or of dicts of their fields.

        Raises InputFault, which names message and field.
        """
        chat_messages = [read_message(m, f"messages.{index}") for index, m in enumerate(messages)]
        return Prompt(template=tuple(chat_messages))

    @property
    def variables(self) -> list[str]:
        """The names of all variables, in the order of their first appearance."""
        texts = [self.template] if isinstance(self.template, str) else self._contents()
        return list(dict.fromkeys(name for text in texts for name in _VARIABLE.findall(text)))

    def missing(self, values: Mapping[str, Any]) -> list[str]:
        """Return the variables without a value; they stay in the prompt unchanged."""
        return [name for name in self.variables if name not in values]

    def format_string(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> str:
        """Return the prompt as one text; messages become lines `role: content`.

        A message's `extra_args`, if any, follow its content as Python's `repr`, without a space, as
        in the texts that Flink-Agents sends to completion models.
        """
        data = {**(values or {}), **more}
        if isinstance(self.template, str):
            return _fill(self.template, data)
        lines = [
            f"{m.role.value}: {_fill(m.content, data)}{m.extra_args or ''}" for m in self.template
        ]
        return "\n".join(lines)

    def format_messages(
        self,
        values: Mapping[str, Any] | None = None,
        /,
        *,
        role: MessageRole | str | None = None,
        **more: Any,
    ) -> list[ChatMessage]:
        """Return the prompt as messages; a text becomes one message with the role `role`, or else
        with the prompt's own.

        Messages have role and content only, no `extra_args` and no `tool_calls`. The value of a
        variable named `role` must be in `values`. Raises InputFault for an unknown role.
        """
        data = {**(values or {}), **more}
        if isinstance(self.template, str):
            message_role = _role(role) if role is not None else self.role
            return [ChatMessage(role=message_role, content=_fill(self.template, data))]
        return [ChatMessage(role=m.role, content=_fill(m.content, data)) for m in self.template]

    def _contents(self) -> list[str]:
        return [message.content for message in self.template if isinstance(message, ChatMessage)]


def prompt_of_mcp(result: Any) -> Prompt:
    """Convert the result of an MCP server's `prompts/get` to a prompt.

    Raises InputFault for any other object, and for content that is not text.
    """
    plain = result.model_dump(by_alias=True) if hasattr(result, "model_dump") else result
    items = plain.get("messages") if isinstance(plain, Mapping) else None
    if not isinstance(items, list):
        raise InputFault("not a prompt of an MCP server", expected="an object with messages")
    messages = []
    for index, message in enumerate(items):
        content = message.get("content") if isinstance(message, Mapping) else None
        kind = content.get("type") if isinstance(content, Mapping) else type(content).__name__
        if kind != "text" or not isinstance(content, Mapping):
            place = f"messages.{index}.content"
            raise InputFault(f"{kind} in a prompt", field=place, expected="text")
        messages.append({"role": message.get("role"), "content": content.get("text")})
    return Prompt.from_messages(messages)


def _fill(text: str, values: Mapping[str, Any]) -> str:
    def value(match: re.Match[str]) -> str:
        return str(values[match[1]]) if match[1] in values else match[0]

    return _VARIABLE.sub(value, text)


def _role(value: MessageRole | str) -> MessageRole:
    try:
        return MessageRole(value)
    except ValueError as error:
        roles = ", ".join(MessageRole)
        raise InputFault(
            f"unknown role {value!r}", field="role", expected=f"one of {roles}"
        ) from error
