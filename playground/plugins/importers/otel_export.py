"""Write a session as OpenTelemetry's spans, one for each request, in OTLP's JSON.

The attributes are those of https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/;
what the convention has no attribute for stands under `playground.`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from playground.cache.usage import billed_of, output_of
from playground.nouns.messages import (
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from playground.parsing.values import dump_json
from playground.sessions.session import RequestRecord, Session

_CLIENT: Final = 3  # SPAN_KIND_CLIENT
# LiteLLM's prefixes of models, as `gen_ai.provider.name` has them; others stay as they are.
_PROVIDERS: Final = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex_ai": "gcp.vertex_ai",
    "xai": "x_ai",
}
_OPTIONS: Final = {
    "max_completion_tokens": "max_tokens",
    "n": "choice.count",
    "stop": "stop_sequences",
}


def dump_otel(session: Session) -> str:
    """Return the session as a trace: every span holds the whole history that its request sent.

    Ids are digests of the session's title, so that the same session gives the same trace. Chunks,
    recordings and bodies as they were sent are not in it.
    """
    trace = _digest(session.title, 16)
    spans = [
        {"traceId": trace, "spanId": _digest(f"{session.title} {number}", 8), **span}
        for number, span in enumerate(_spans(session), 1)
    ]
    scope = {"scope": {"name": "dialect-playground"}, "spans": spans}
    resource = _attributes({"service.name": session.agent.name or "dialect-playground"})
    return (
        dump_json(
            {"resourceSpans": [{"resource": {"attributes": resource}, "scopeSpans": [scope]}]},
            indent=1,
        )
        + "\n"
    )


def _spans(session: Session) -> Iterator[dict[str, Any]]:
    """Yield a span for each answered request, and one for messages after the last answer."""
    records = {record.reply: record for record in session.requests}
    for reply in session.replies:
        yield _span(session, reply, [session.messages[reply]], records.get(reply))
    last = max(session.replies, default=-1)
    if last + 1 < len(session.messages):
        yield _span(session, len(session.messages), [], None)


def _span(
    session: Session, stop: int, answer: list[Message], record: RequestRecord | None
) -> dict[str, Any]:
    model = (record.model if record else "") or session.task.model_name
    provider, _, name = model.rpartition("/")
    prefix = provider.partition("/")[0]
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(prefix, prefix or "unknown"),
        "gen_ai.conversation.id": session.agent.session,
        "gen_ai.request.model": session.task.model_name or model,
        "gen_ai.response.model": model,
        "gen_ai.system_instructions": _system_instructions(session),
        "gen_ai.tool.definitions": [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
                **({"examples": list(tool.examples)} if tool.examples else {}),
            }
            for tool in session.tools
        ],
        "gen_ai.input.messages": [_message(session.messages[i]) for i in session.history(stop)],
        "gen_ai.output.messages": [_message(message) for message in answer],
    }
    attributes |= {f"gen_ai.request.{_OPTIONS.get(k, k)}": v for k, v in session.parameters.items()}
    if record is not None:
        attributes |= _usage(record.usage)
        if record.stop_reason:
            attributes["gen_ai.response.finish_reasons"] = [record.stop_reason]
            for message in attributes["gen_ai.output.messages"]:
                message["finish_reason"] = record.stop_reason
    span: dict[str, Any] = {"name": f"chat {name}".strip(), "kind": _CLIENT}
    span |= _times(record)
    listed = {key: value for key, value in attributes.items() if value not in ("", [], None)}
    return {**span, "attributes": _attributes(listed)}


def _times(record: RequestRecord | None) -> dict[str, str]:
    """Return the span's beginning and end in nanoseconds; OTLP has 0 for unknown times."""
    if record is None or not record.at:
        return {"startTimeUnixNano": "0", "endTimeUnixNano": "0"}
    began = round(datetime.fromisoformat(record.at).timestamp() * 1e6) * 1_000
    ended = began + round((record.seconds or 0) * 1e9)
    return {"startTimeUnixNano": str(began), "endTimeUnixNano": str(ended)}


def _usage(usage: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a bill in OpenTelemetry's names: its input includes cached tokens.

    Counts in another provider's form are converted; what cannot be read as a bill is left as it
    is, under `playground.usage`.
    """
    if not usage:
        return {}
    billed, output = billed_of(usage), output_of(usage)
    found: dict[str, Any] = {} if output is None else {"gen_ai.usage.output_tokens": output}
    if billed is None:
        return {**found, "playground.usage": dump_json(usage)}
    found["gen_ai.usage.input_tokens"] = billed.total
    if billed.read:
        found["gen_ai.usage.cache_read.input_tokens"] = billed.read
    if billed.write:
        found["gen_ai.usage.cache_creation.input_tokens"] = billed.write
    return found


def _system_instructions(session: Session) -> list[dict[str, Any]]:
    text = session.task.user_agent_prompt
    return [{"type": "text", "content": text}] if text else []


def _message(message: Message) -> dict[str, Any]:
    return {"role": _role(message), "parts": [_part(part) for part in message.parts]}


def _role(message: Message) -> str:
    """Return `tool` for a message of nothing but results, as the convention has it."""
    only_results = bool(message.parts) and len(message.tool_results) == len(message.parts)
    return "tool" if only_results else message.role


def _part(part: Part) -> dict[str, Any]:
    match part:
        case TextPart():
            return {"type": "text", "content": part.text}
        case ReasoningPart():
            signature = {"signature": part.signature} if part.signature else {}
            return {"type": "reasoning", "content": part.text, **signature}
        case ImagePart():
            return _image(part)
        case ToolCallPart():
            return {
                "type": "tool_call",
                "id": part.tool_call_id,
                "name": part.tool_name,
                "arguments": part.args,
            }
        case ToolResultPart():
            failed = {"is_error": True} if part.is_error else {}
            return {
                "type": "tool_call_response",
                "id": part.tool_call_id,
                "name": part.tool_name,
                "response": part.result,
                **failed,
            }


def _image(part: ImagePart) -> dict[str, Any]:
    head, found, data = part.url.partition(";base64,")
    if found and head.startswith("data:"):
        kind = head.removeprefix("data:")
        return {"type": "blob", "modality": "image", "mime_type": kind, "content": data}
    return {"type": "uri", "modality": "image", "uri": part.url}


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: Any) -> dict[str, Any]:
    """Return a value with its type, as OTLP has it; objects and lists of them are JSON texts."""
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list() if all(isinstance(item, str) for item in value):
            return {"arrayValue": {"values": [{"stringValue": item} for item in value]}}
        case list() | dict() | tuple():
            return {"stringValue": dump_json(value)}
    return {"stringValue": str(value)}


def _digest(text: str, size: int) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[: 2 * size]
