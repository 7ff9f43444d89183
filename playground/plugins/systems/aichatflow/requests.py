"""A request of a conversation, in OpenAI's older form (functions) and its newer one (tools)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.dialects.prompts import typed_schema
from playground.nouns.tools import ToolMetadata
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.session import Session
from playground.sessions.shapes.requests import read_request

# A message in OpenAI's older form, as a JSON object. It has no class, because scripts pass and
# receive these messages unchanged. `Sent.session` converts them to
# `playground.nouns.messages.Message`.
PlainMessage = dict[str, Any]
SWITCH: Final = "botSwitchTemplate"
_LEFT_OPEN: Final = {SWITCH: "The conversation goes on with the other template."}
_UNANSWERED: Final = "There is no result: this function is not known here."


@dataclass(frozen=True, slots=True)
class Sent:
    """One request: its parameters by their names in templates, its messages, and its functions."""

    parameters: dict[str, Any]
    messages: list[PlainMessage]
    tools: list[ToolMetadata]

    def body(self, modern: bool = False) -> dict[str, Any]:
        """Return the request's body in OpenAI's older form, with functions.

        With `modern` it has tools, as today's models expect, and asks for one call at a time,
        because a template's message holds only one.
        """
        template_names = ("functions", "call_function")  # these parameters are not OpenAI's
        body = {key: value for key, value in self.parameters.items() if key not in template_names}
        body["messages"] = _with_tool_calls(self.messages) if modern else self.messages
        if not self.tools:  # providers refuse a tool choice without tools
            return body
        tools = [typed_schema(tool) for tool in self.tools]
        choice = _choice(self.parameters.get("call_function"))
        if not modern:
            body["functions"] = [tool["function"] for tool in tools]
            return body if choice is None else {**body, "function_call": choice}
        body |= {"tools": tools, "parallel_tool_calls": False}
        if isinstance(choice, dict):
            choice = {"type": "function", "function": choice}
        return body if choice is None else {**body, "tool_choice": choice}

    def session(self, title: str = "") -> Session:
        """Return the request as a session, which every dialect can render."""
        builder = SessionBuilder(title=title)
        read_request(builder, self.body(modern=True), Place())
        return builder.finish()


def _choice(function: str | None) -> str | dict[str, Any] | None:
    """Return a template's `call_function` in OpenAI's form; None leaves the choice to the
    provider."""
    if function is None:
        return None
    return {"": "none", "*": "auto"}.get(function) or {"name": function}


def _with_tool_calls(messages: Sequence[PlainMessage]) -> list[PlainMessage]:
    """Return the messages with tool calls and results in place of function calls, with new ids.

    OpenAI demands a result for every call. If the run left a call open, because the call switched
    the template or its function is unknown, the call gets a result here.
    """
    converted: list[PlainMessage] = []
    calls = 0
    for index, message in enumerate(messages):
        if function_call := message.get("function_call"):
            calls += 1
            rest = {key: value for key, value in message.items() if key != "function_call"}
            call = {"id": f"call_{calls}", "type": "function", "function": function_call}
            converted.append({"content": None, **rest, "tool_calls": [call]})
            following = messages[index + 1] if index + 1 < len(messages) else {}
            if following.get("role") != "function":
                converted.append(
                    _result(calls, _LEFT_OPEN.get(function_call.get("name"), _UNANSWERED))
                )
        elif message["role"] == "function":
            converted.append(_result(calls, message["content"]))
        else:
            converted.append(message)
    return converted


def _result(calls: int, content: Any) -> PlainMessage:
    return {"role": "tool", "tool_call_id": f"call_{calls}", "content": content}
