"""Native tool calling: tools, calls and results are fields of the API, not text.

A call that is written as text is the JSON of a `tool_calls` entry, as some gateways leak it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from playground.base.errors import InputFault
from playground.dialects.declared import DeclaredDialect, result_text, user_content
from playground.nouns.messages import ImagePart, Message, TextPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.parsing.notations.json_members import call_object
from playground.parsing.syntax import JsonShape, Syntax


class NativeDialect(DeclaredDialect):
    """A dialect of OpenAI's fields, which LiteLLM translates for other providers."""

    caches_renderings: ClassVar[bool] = True

    def is_native_toolcalling(self) -> bool:
        return True

    def format_dialect_rules(self, prompt_data: PromptData, rules_path: str | None = None) -> str:
        return self.rules_of_file(rules_path) or ""

    def format_tool_docs(self, prompt_data: PromptData) -> str:
        return ""

    def request_tools(self, prompt_data: PromptData) -> list[dict[str, Any]] | None:
        return self.format_tools_schema(prompt_data.tool_metadata, typed=True) or None

    def split_message(self, message: Message) -> list[Message]:
        """Return a message for each result, because each answers one call, and after these a user's
        message with the texts and images."""
        if not message.tool_results:
            # The API refuses a tool message without a result: its text is sent as the user's.
            return [replace(message, role="user") if message.role == "tool" else message]
        messages = [Message("tool", (result,)) for result in message.tool_results]
        rest = tuple(p for p in message.parts if isinstance(p, TextPart | ImagePart))
        if rest:  # after the results, because these must follow the calls that they answer
            messages.append(Message("user", rest))
        return messages

    def format_history_item(
        self, item: Message, tools: Sequence[ToolMetadata] = ()
    ) -> dict[str, Any] | None:
        if item.role == "tool":
            return self._result(item)
        if item.role == "assistant":
            return self._assistant(item)
        content = user_content(item, result_text)
        return {"role": item.role, "content": content} if content else None

    def _result(self, item: Message) -> dict[str, Any]:
        if len(item.tool_results) != 1:
            raise InputFault(
                f"a native tool message answers one call, not {len(item.tool_results)}",
                expected="one of the messages that split_message gives",
            )
        result = item.tool_results[0]
        content = result_text(result)
        return {"role": "tool", "tool_call_id": result.tool_call_id, "content": content}

    def _assistant(self, item: Message) -> dict[str, Any] | None:
        shape = self.syntax.shape
        calls = [
            call_object(shape, call.tool_name, call.args, call.tool_call_id)
            for call in item.tool_calls
        ]
        if not calls and not item.text:
            return None
        # A missing text is null and not "": some providers refuse an empty text with calls.
        message: dict[str, Any] = {"role": "assistant", "content": item.text or None}
        if calls:  # an empty list of calls is not sent either
            message["tool_calls"] = calls
        return message


DIALECT = NativeDialect(
    name="native",
    title="Native tool calls",
    syntax=Syntax(
        call="{call:json}",
        shape=JsonShape(
            name=("function", "name"),
            arguments=("function", "arguments"),
            aliases=("arguments",),
            constants=(("type", "function"),),
            id="id",
            arguments_as_text=True,
        ),
        line_start=True,
    ),
    rules="",
    result="{result}",
    result_role="tool",
    models="every provider with a tools field (OpenAI chat completions API, 2026-11)",
)

DIALECTS = (DIALECT,)
