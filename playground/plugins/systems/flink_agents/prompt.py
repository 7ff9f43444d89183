"""`Prompt`: a text or messages with `{variables}`, filled in one pass.

Differences from Flink-Agents: a variable may have any name (there `role`, `self` and `_template`
raise), and a role that does not exist is an InputFault. Its design document gives `from_text` the
role `user`; its code writes `system`, and so do we where no role is given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from playground.base.errors import InputFault
from playground.plugins.systems.flink_agents.chat_message import (
    ChatMessage,
    MessageRole,
    read_message,
)
from playground.plugins.systems.flink_agents.resource import ResourceType

_VARIABLE: Final = re.compile(r"\{([^{}]+)\}")


class Prompt(BaseModel):
    """A template of a text, or of messages.

    A variable is what stands between single braces, to the letter: `{ x }` is the variable ` x `.
    One that is not given stays as it is, so JSON in a prompt survives; values are written by
    `str()` and never searched for variables again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    template: str | tuple[ChatMessage, ...]
    role: MessageRole = MessageRole.SYSTEM

    @classmethod
    def resource_type(cls) -> ResourceType:
        return ResourceType.PROMPT

    @staticmethod
    def from_text(text: str, role: MessageRole | str | None = None) -> Prompt:
        """Return a prompt of one text; `role` is that of its message, system unless it is given."""
        spoken = _role(role) if role is not None else MessageRole.SYSTEM
        return Prompt(template=text, role=spoken)

    @staticmethod
    def from_messages(messages: Sequence[ChatMessage | Mapping[str, Any]]) -> Prompt:
        """Return a prompt of messages, or of their fields. Raises InputFault naming message and
        field.
        """
        read = [read_message(m, f"messages.{index}") for index, m in enumerate(messages)]
        return Prompt(template=tuple(read))

    @property
    def variables(self) -> list[str]:
        """The names of all variables, in the order of their first appearance."""
        texts = [self.template] if isinstance(self.template, str) else self._contents()
        return list(dict.fromkeys(name for text in texts for name in _VARIABLE.findall(text)))

    def missing(self, values: Mapping[str, Any]) -> list[str]:
        """Return the variables that `values` does not give: they stay in the prompt as they are."""
        return [name for name in self.variables if name not in values]

    def format_string(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> str:
        """Return the prompt as one text: of messages, lines of `role: content`.

        A message's `extra_args` follow its content as Python writes them, without a blank: that is
        what Flink-Agents sends to completion models.
        """
        given = {**(values or {}), **more}
        if isinstance(self.template, str):
            return _filled(self.template, given)
        lines = [
            f"{m.role.value}: {_filled(m.content, given)}{m.extra_args or ''}"
            for m in self.template
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
        """Return the prompt as messages: of a text one, with this role or the prompt's own.

        A message keeps its role and content; `extra_args` and `tool_calls` are not sent. A
        variable named `role` goes into `values`. Raises InputFault for a role that does not exist.
        """
        given = {**(values or {}), **more}
        if isinstance(self.template, str):
            spoken = _role(role) if role is not None else self.role
            return [ChatMessage(role=spoken, content=_filled(self.template, given))]
        return [ChatMessage(role=m.role, content=_filled(m.content, given)) for m in self.template]

    def _contents(self) -> list[str]:
        return [message.content for message in self.template if isinstance(message, ChatMessage)]


def prompt_of_mcp(result: Any) -> Prompt:
    """Return the prompt that an MCP server gives (`prompts/get`): its messages, text alone.

    Raises InputFault for content of another type.
    """
    plain = result.model_dump(by_alias=True) if hasattr(result, "model_dump") else result
    given = plain.get("messages") if isinstance(plain, Mapping) else None
    if not isinstance(given, list):
        raise InputFault("not a prompt of an MCP server", expected="an object with messages")
    messages = []
    for index, message in enumerate(given):
        content = message.get("content") if isinstance(message, Mapping) else None
        kind = content.get("type") if isinstance(content, Mapping) else type(content).__name__
        if kind != "text" or not isinstance(content, Mapping):
            place = f"messages.{index}.content"
            raise InputFault(f"{kind} in a prompt", field=place, expected="text")
        messages.append({"role": message.get("role"), "content": content.get("text")})
    return Prompt.from_messages(messages)


def _filled(text: str, values: Mapping[str, Any]) -> str:
    def value(found: re.Match[str]) -> str:
        return str(values[found[1]]) if found[1] in values else found[0]

    return _VARIABLE.sub(value, text)


def _role(given: MessageRole | str) -> MessageRole:
    try:
        return MessageRole(given)
    except ValueError as error:
        roles = ", ".join(MessageRole)
        raise InputFault(f"no role {given!r}", field="role", expected=f"one of {roles}") from error
