"""Read requests of the chat APIs: a JSON body, or its list of messages alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.base.findings import finding
from playground.sessions.building import Place, SessionBuilder, json_or_text
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.facts import facts
from playground.sessions.shapes.fields import listed, mapping
from playground.sessions.shapes.messages import read_messages, role_of, unwrap_message
from playground.sessions.shapes.parameters import parameters_of_body
from playground.sessions.shapes.requests import add_row, conversation, read_reply, read_request
from playground.sessions.source import Source

_MOST_ENTRIES = 20  # entries that are examined to recognise messages
_ROLES = {"role", "from", "sender", "author", "speaker"}
_PROMPTS = ("input", "prompt", "inputText")  # a text, or a list of one text
# kinds of parts that only Anthropic's messages have
_BLOCKS = {"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"}


def _messages(value: Any) -> list[Any]:
    """Return the messages of a body, or the list itself; [] if they do not look like messages."""
    found = json_or_text(value.get("messages")) if isinstance(value, dict) else value
    return found if looks_like_messages(found) else []


def looks_like_messages(value: Any) -> bool:
    """Return True if most of the first entries of a list have a known role."""
    if not isinstance(value, list) or not value:
        return False
    known = [isinstance(m, dict) and _has_role(m) for m in value[:_MOST_ENTRIES]]
    return sum(known) > len(known) / 2


def _has_role(message: dict[str, Any]) -> bool:
    """Return True if an entry names its speaker, or has a type and content (LangChain)."""
    inner = unwrap_message(message)
    has_type = "type" in inner and ("content" in inner or "tool_calls" in inner)
    return role_of(inner) is not None and (has_type or bool(_ROLES & inner.keys()))


class _Body(SessionFormat):
    keeps = Keeps(tools="yes", usage="of a reply in the same file")

    def recognises(self, source: Source) -> bool:
        return not source.is_lines and self.fits(source.document)

    def fits(self, value: Any) -> bool:
        raise NotImplementedError

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        read_body(builder, source.value, Place())
        yield builder


class AnthropicMessages(_Body):
    name = "anthropic-messages"
    title = "Anthropic messages request"

    def fits(self, value: Any) -> bool:
        messages = _messages(value)
        blocks = {
            part.get("type")
            for message in messages
            if isinstance(message, dict) and isinstance(message.get("content"), list)
            for part in message["content"]
            if isinstance(part, dict)
        }
        outer = isinstance(value, dict) and ("system" in value or "anthropic_version" in value)
        tools = value.get("tools") if isinstance(value, dict) else None
        schemas = isinstance(tools, list) and any(
            isinstance(tool, dict) and "input_schema" in tool for tool in tools
        )
        return bool(messages) and bool(blocks & _BLOCKS or outer or schemas)


class GeminiContents(_Body):
    name = "gemini-contents"
    title = "Gemini contents request"

    def fits(self, value: Any) -> bool:
        contents = value.get("contents") if isinstance(value, dict) else value
        return (
            isinstance(contents, list)
            and bool(contents)
            and all(
                isinstance(item, dict) and isinstance(item.get("parts"), list) for item in contents
            )
        )

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        value = source.value
        if isinstance(value, list):
            read_request(builder, {"contents": value}, Place())
        else:
            read_body(builder, value, Place())
        yield builder


class OpenAIChat(_Body):
    name = "openai-chat"
    title = "OpenAI chat request or list of messages"

    def fits(self, value: Any) -> bool:
        return bool(_messages(value)) or (isinstance(value, dict) and _asks_in_text(value))


def _asks_in_text(body: dict[str, Any]) -> bool:
    """Return True if a request has its text in another field than `messages`."""
    if isinstance(body.get("input"), list):
        return "model" in body
    has_text = any(body.get(key) and conversation({key: body[key]}) for key in _PROMPTS)
    has_text = has_text or ("chat_history" in body and isinstance(body.get("message"), str))
    return has_text and bool("model" in body or "modelId" in body or parameters_of_body(body))


def read_body(builder: SessionBuilder, value: Any, place: Place) -> None:
    """Read a request's body, and the reply if the file holds both."""
    body = value if isinstance(value, dict) else {"messages": value}
    inner = body.get("request")
    if isinstance(inner, dict) and "messages" not in body:
        body = {**body, **inner}
    read_request(builder, body, place)
    _add_usage(builder, body, place)
    if "response" not in body and "choices" not in body and "output" not in body:
        _add_usage_of_all(builder, body, place)
    add_row(builder, body)
    reply = body.get("response")
    if isinstance(reply, dict):
        read_reply(builder, reply, place.at("response"))
    elif "choices" in body or ("input" in body and isinstance(body.get("output"), list)):
        read_reply(builder, body, place)
    elif "prompt" in body and (answer := body.get("completion")):  # a row of training data
        if not isinstance(answer, list):
            answer = [{"role": "assistant", "content": answer}]
        read_messages(builder, answer, place.at("completion"))


def _add_usage(builder: SessionBuilder, body: dict[str, Any], place: Place) -> None:
    """Add a request for each answer of a saved chat that has a usage."""
    billed = [
        (str(place.at("messages", index)), message)
        for index, message in enumerate(listed(body.get("messages")))
        if isinstance(message, dict) and isinstance(message.get("usage"), dict) and message["usage"]
    ]
    indexes = {each: index for index, each in enumerate(builder.places)} if billed else {}
    for message_place, message in billed:
        reply = indexes.get(message_place, -1)
        if reply >= 0 and builder.messages[reply].role == "assistant":
            known = facts(message)
            known.setdefault("model", message["usage"].get("model"))
            builder.add_request(**known, reply=reply)


def _add_usage_of_all(builder: SessionBuilder, body: dict[str, Any], place: Place) -> None:
    """Give the last answer the usage that the body has. Add a finding if the messages do not end
    with an answer, or if answers have their own usages."""
    usage = mapping(body.get("usage"))
    # `usage` without counts is an option of OpenRouter's requests
    if not any(type(count) is int for count in usage.values()):
        return
    if builder.messages and builder.messages[-1].role == "assistant" and not builder.requests:
        known = {"model": body.get("model"), "usage": usage}
        builder.add_request(**known, reply=len(builder.messages) - 1)
        return
    message = "the body's usage: the last message is no answer, or answers have their own usage"
    builder.findings.append(finding("usage-lost", str(place.at("usage")), message))
