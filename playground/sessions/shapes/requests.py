"""A provider's request and its whole reply into a builder: the two bodies of an exchange."""

from __future__ import annotations

from typing import Any

from playground.messages import Part, ReasoningPart, TextPart
from playground.recordings.recording import Recording
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.shapes.messages import add, read_message, read_messages
from playground.sessions.shapes.parts import plain_text, read_parts


def conversation(body: Any) -> list[Any] | None:
    """The list of messages in a request's body, whichever provider's; None where there is none."""
    if not isinstance(body, dict):
        return None
    for key in ("messages", "input", "contents"):
        found = body.get(key)
        if isinstance(found, list):
            return found
    for key in ("prompt", "input"):
        if isinstance(body.get(key), str):
            return [{"role": "user", "content": body[key]}]
    return None


def read_request(builder: SessionBuilder, body: dict[str, Any], place: Place) -> None:
    """System prompt, messages, tools and model of a request."""
    system = body.get("system") or body.get("instructions")
    key = "system"
    for name in ("systemInstruction", "system_instruction"):
        if isinstance(body.get(name), dict):
            system, key = body[name].get("parts"), name
    if parts := read_parts(builder, system, place.at(key)):
        builder.say("system", parts, place.at(key))
    for name in ("messages", "input", "contents", "prompt"):
        if body.get(name):
            read_messages(builder, body[name], place.at(name))
            break
    tools = body.get("tools") or (body.get("toolConfig") or {}).get("tools")
    builder.tools(tools or body.get("functions"), place.at("tools"))
    builder.model = str(body.get("model") or body.get("modelId") or builder.model)


def read_reply(builder: SessionBuilder, body: dict[str, Any], place: Place) -> bool:
    """The assistant's message of a whole (not streamed) response; False where it has none."""
    model = body.get("model") or body.get("modelVersion")
    usage = body.get("usage") or body.get("usageMetadata")
    if isinstance(choices := body.get("choices"), list) and choices:
        first = choices[0] if isinstance(choices[0], dict) else {}
        message = first.get("message") or {"content": first.get("text")}
        read_message(builder, {"role": "assistant", **message}, place.at("choices", 0))
        stop = first.get("finish_reason")
    elif isinstance(candidates := body.get("candidates"), list) and candidates:
        parts = (candidates[0].get("content") or {}).get("parts")
        where = place.at("candidates", 0)
        add(builder, "assistant", read_parts(builder, parts, where), where)
        stop = candidates[0].get("finishReason")
    elif isinstance(items := body.get("output"), list):
        read_items(builder, items, place.at("output"))
        stop = body.get("status")
    elif isinstance(message := body.get("output"), dict) and "message" in message:  # Bedrock
        read_message(builder, message["message"], place.at("output"))
        stop = body.get("stopReason")
    elif body.get("content") is not None and body.get("role", "assistant") == "assistant":
        read_message(builder, {**body, "role": "assistant"}, place)
        stop = body.get("stop_reason")
    elif isinstance(message := body.get("message"), dict):
        read_message(builder, {"role": "assistant", **message}, place.at("message"))
        stop = body.get("done_reason") or body.get("finish_reason")
    else:
        return False
    builder.request(model=model, usage=usage, stop_reason=stop)
    return True


def read_items(builder: SessionBuilder, items: list[Any], place: Place) -> None:
    """The output items of one response: one answer, so one message of the assistant."""
    start = len(builder.messages)
    read_messages(builder, items, place)
    answer = builder.messages[start:]
    if len(answer) > 1 and all(message.role == "assistant" for message in answer):
        place_of_first = builder.places[start]
        del builder.messages[start:], builder.places[start:]
        parts = [part for message in answer for part in message.parts]
        builder.say("assistant", parts, place)
        builder.places[-1] = place_of_first


def read_recording(builder: SessionBuilder, recording: Recording, place: Place) -> None:
    """A streamed reply: its recording, and the message that it adds up to."""
    builder.recordings.append(recording)
    reply = recording.reply
    parts: list[Part] = [ReasoningPart(reply.reasoning)] if reply.reasoning else []
    parts += [TextPart(reply.content)] if reply.content else []
    for call in reply.tool_calls:
        call_id = call.tool_call_id or builder.new_id()
        parts.append(builder.call(call_id, call.name, call.arguments_text, place))
    if not parts and recording.error is not None:
        return
    builder.say("assistant", parts, place)
    builder.request(model=recording.model, usage=recording.usage, stop_reason=recording.stop_reason)


def same_start(earlier: list[Any], later: list[Any]) -> bool:
    """Whether one conversation goes on in the other: the shorter one is its beginning."""
    shorter = min(len(earlier), len(later))
    return shorter > 0 and [_said(m) for m in earlier[:shorter]] == [
        _said(m) for m in later[:shorter]
    ]


def _said(message: Any) -> Any:
    """What a message says, without marks and ids that change from request to request."""
    if not isinstance(message, dict):
        return message
    content = message.get("content", message.get("parts"))
    return message.get("role"), plain_text(content) or str(content)
