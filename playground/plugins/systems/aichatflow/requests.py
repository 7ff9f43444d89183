"""A request as a conversation makes it, in OpenAI's older form with functions and in its newer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.dialects.prompts import typed_schema
from playground.nouns.tools import ToolMetadata
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.session import Session
from playground.sessions.shapes.requests import read_request

# A message in OpenAI's older form, as JSON has it: histories, answers and `contentParts` come from
# scripts and go back to them as they are, so there is nothing here for a class to keep.
# `Sent.session` makes them `playground.nouns.messages.Message`.
PlainMessage = dict[str, Any]
SWITCH: Final = "botSwitchTemplate"
_LEFT_OPEN: Final = {SWITCH: "The conversation goes on with the other template."}
_UNANSWERED: Final = "There is no result: this function is not known here."


@dataclass(frozen=True, slots=True)
class Sent:
    """One request: its parameters by the templates' names, the messages, the functions' tools."""

    parameters: dict[str, Any]
    messages: list[PlainMessage]
    tools: list[ToolMetadata]

    def body(self, modern: bool = False) -> dict[str, Any]:
        """Return the request in OpenAI's older form, with functions; `modern`: with tools, as
        models are asked now, and then for one call at a time, which is all that a message of a
        template holds.
        """
        own = ("functions", "call_function")  # what the templates say of tools, in their own words
        body = {key: value for key, value in self.parameters.items() if key not in own}
        body["messages"] = _with_tool_calls(self.messages) if modern else self.messages
        if not self.tools:  # there is nothing to choose then, and providers refuse a choice
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
        """Return the request as a session, for every dialect to render."""
        builder = SessionBuilder(title=title)
        read_request(builder, self.body(modern=True), Place())
        return builder.finish()


def _choice(called: str | None) -> str | dict[str, Any] | None:
    """Return the templates' choice of calls as OpenAI writes it; None leaves it to the provider."""
    if called is None:
        return None
    return {"": "none", "*": "auto"}.get(called) or {"name": called}


def _with_tool_calls(messages: Sequence[PlainMessage]) -> list[PlainMessage]:
    """Function calls and results as tool calls, with ids in order.

    Every call has a result, as OpenAI's form demands: one that a template's run left open, by a
    switch to another template or since nobody knows the function, is answered here.
    """
    found: list[PlainMessage] = []
    calls = 0
    for index, message in enumerate(messages):
        if called := message.get("function_call"):
            calls += 1
            rest = {key: value for key, value in message.items() if key != "function_call"}
            call = {"id": f"call_{calls}", "type": "function", "function": called}
            found.append({"content": None, **rest, "tool_calls": [call]})
            following = messages[index + 1] if index + 1 < len(messages) else {}
            if following.get("role") != "function":
                found.append(_result(calls, _LEFT_OPEN.get(called.get("name"), _UNANSWERED)))
        elif message["role"] == "function":
            found.append(_result(calls, message["content"]))
        else:
            found.append(message)
    return found


def _result(calls: int, content: Any) -> PlainMessage:
    return {"role": "tool", "tool_call_id": f"call_{calls}", "content": content}
