"""Write a session as OpenTelemetry's spans in OTLP's JSON: one for the run, one for each request.

The attributes are those of https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/. Facts
without an attribute in the convention get attributes whose names begin with `playground.`;
`otel_own.py` reads the session back from all these attributes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.base.wording import counted
from playground.cache.usage import billed_of, output_of
from playground.dialects.marks.providers import UNKNOWN, route_of, rules_and_model
from playground.nouns import messages as nouns
from playground.nouns.tools import ToolMetadata
from playground.parsing.values import dump_json
from playground.sessions.native_format import plain_session
from playground.sessions.rows import bodies
from playground.sessions.session import Agent, RequestRecord, Session

_SCOPE: Final = "dialect-playground"
_INTERNAL: Final = 1  # SPAN_KIND_INTERNAL
_CLIENT: Final = 3  # SPAN_KIND_CLIENT
_MOST: Final = 200_000_000  # the most characters of the messages in all spans
_Json = dict[str, Any]
# LiteLLM's names of providers -> `gen_ai.provider.name`; other names are used unchanged.
_PROVIDERS: Final = {
    UNKNOWN: "unknown",
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "models": "gcp.gemini",  # Google's API writes models/gemini-…
    "vertex_ai": "gcp.vertex_ai",
    "xai": "x_ai",
}
_PROVIDER_ID: Final = re.compile(r"[a-z\d_]+")  # as LiteLLM writes them
_SAME: Final = "temperature top_p top_k frequency_penalty presence_penalty seed stream max_tokens"
# Parameters for which the convention has an attribute -> the attribute's name.
_PARAMETERS: Final = {
    **{name: name for name in (*_SAME.split(), "stop_sequences")},
    "max_completion_tokens": "max_tokens",
    "stop": "stop_sequences",
    "n": "choice.count",
}


def dump_otel(session: Session) -> str:
    """Return the session as a trace. Each request's span holds all messages that were sent.

    Ids are digests of the session, so that the same session gives the same trace. Recordings and
    request bodies are left out. Raises InputFault if the repeated messages are too long.
    """
    texts = [dump_json(_message(message)) for message in session.messages]
    requests = _requests(session)
    histories = [session.history(stop) for stop, _ in requests]
    size = sum(len(texts[index]) for history in histories for index in history)
    if size > _MOST:
        problem = f"each span repeats the messages before it: {size:,} characters in all"
        raise InputFault(problem, where=session.title, expected=f"at most {_MOST:,}")
    facts = _facts(session)
    trace = _digest(facts + "".join(texts), 16)
    root = _digest(f"{trace} run", 8)
    prompt, tools = session.task.user_agent_prompt, [_tool(tool) for tool in session.tools]
    repeated = {
        "gen_ai.conversation.id": session.agent.session,
        "gen_ai.system_instructions": dump_json([{"type": "text", "content": prompt}])
        if prompt
        else "",
        "gen_ai.tool.definitions": dump_json(tools) if tools else "",
    }
    models = _models_of(session, requests)
    spans = [
        {
            "traceId": trace,
            "spanId": _digest(f"{trace} {number}", 8),
            "parentSpanId": root,
            **_request_span(texts, stop, record, history, repeated | models[number]),
        }
        for number, ((stop, record), history) in enumerate(zip(requests, histories, strict=True))
    ]
    _add_missing_times(spans)
    shown = {index for history in histories for index in history}
    shown |= {stop for stop, _ in requests}
    unsent = {index: texts[index] for index in range(len(texts)) if index not in shown}
    providers = {each["gen_ai.provider.name"] for each in models}
    own = {
        "gen_ai.provider.name": providers.pop() if len(providers) == 1 else "unknown",
        **repeated,
        "playground.session": facts,
        "playground.unsent": _indexed(unsent),
    }
    run = {"traceId": trace, "spanId": root, **_run_span(session.agent, own, spans)}
    resource = _attributes({"service.name": session.agent.name or _SCOPE})
    scope = {"scope": {"name": _SCOPE}, "spans": [run, *spans]}
    document = {"resourceSpans": [{"resource": {"attributes": resource}, "scopeSpans": [scope]}]}
    return dump_json(document, indent=1) + "\n"


def _add_missing_times(spans: Sequence[dict[str, Any]]) -> None:
    """Let each request without a time begin and end when the one before it ended. Requests before
    all known times get the first of these; without any known time, all spans begin in 1970."""
    latest = next((span[_TIMES[0]] for span in spans if span[_TIMES[0]] != "0"), "0")
    for span in spans:
        if span[_TIMES[0]] == "0":
            span |= dict.fromkeys(_TIMES, latest)
        latest = span[_TIMES[1]]


def _facts(session: Session) -> str:
    """Return the session as JSON without messages, tools, recordings and rows."""
    rest = replace(session, messages=(), tools=(), recordings=(), rows=())
    return dump_json(plain_session(rest))


def _requests(session: Session) -> list[tuple[int, RequestRecord | None]]:
    """Return the index of each request's answer and its record, in the order of the answers.

    The index is -1 for a request without an answer. The last entry may be a request that is still
    to come; its index is the number of messages.
    """
    found: list[tuple[int, int, RequestRecord | None]] = []  # the first number is the sort key
    recorded, last = set(), -1
    for record in session.requests:
        answer = record.reply if record.reply < len(session.messages) else -1
        last = answer if answer >= 0 else last
        recorded.add(answer)
        found.append((last, max(answer, -1), record))
    found += [(reply, reply, None) for reply in session.replies if reply not in recorded]
    found.sort(key=lambda each: each[0])
    after = max((answer for _, answer, _ in found), default=-1) + 1
    if after < len(session.messages):
        found.append((len(session.messages), len(session.messages), None))
    return [(answer, record) for _, answer, record in found]


def _run_span(agent: Agent, own: dict[str, str], spans: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the span of the run; its attributes `own` belong to no single request."""
    times = [int(span[key]) for span in spans for key in _TIMES if span[key] != "0"]
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": agent.name,
        "gen_ai.agent.version": agent.version,
    }
    return {
        "name": f"invoke_agent {agent.name}".strip(),
        "kind": _INTERNAL,
        _TIMES[0]: str(min(times, default=0)),
        _TIMES[1]: str(max(times, default=0)),
        "attributes": _attributes(attributes | own),
    }


def _request_span(
    texts: list[str], answer: int, record: RequestRecord | None, history: list[int], own: _Json
) -> _Json:
    """Return the span of a request: the messages sent, the answer, if any, and attributes `own`."""
    model = record.model if record else ""
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.response.model": model,
        **own,
        "gen_ai.input.messages": f"[{', '.join(texts[i] for i in history)}]" if history else "",
    }
    if 0 <= answer < len(texts):
        attributes |= {"gen_ai.output.messages": f"[{texts[answer]}]", "playground.reply": answer}
    if history != list(range(len(history))):  # after a compaction
        attributes["playground.history"] = dump_json(history)
    if record is not None:
        attributes |= _usage(record.usage)
        if record.stop_reason:
            attributes["gen_ai.response.finish_reasons"] = [record.stop_reason]
    name = (model or own["gen_ai.request.model"]).rpartition("/")[2]
    return {
        "name": f"chat {name}".strip(),
        "kind": _CLIENT,
        **_times(record),
        "attributes": _attributes(attributes),
    }


def _models_of(session: Session, requests: list[tuple[int, RequestRecord | None]]) -> list[_Json]:
    """Return each request's model and provider; for the last request, the parameters, too.

    A request that is stored as sent names its model. Any other request gets the session's model in
    three cases: its answer names that model; its answer names none, and no answer names another;
    or the request is still to come.
    """
    pairs = zip(session.rows, bodies(session.rows), strict=True)
    sent = [(row.url, str(body.get("model") or "")) for row, body in pairs if not row.sub_agent]
    ids, named, count = list(map(id, session.requests)), session.named_model, len(session.messages)
    of_record = dict(zip(ids, sent, strict=True)) if len(ids) == len(sent) else {}
    is_mixed = any(not _is_of(named, each.model) for each in session.requests)
    found: list[_Json] = []
    for answer, record in requests:
        url, model = of_record.get(id(record), ("", ""))
        answered = record.model if record else ""
        if id(record) in of_record:
            model = rules_and_model(url, model)[1]
        elif _is_of(named, answered) if answered else answer == count or not is_mixed:
            model = named
        provider = _provider(url, answered or model)
        found.append({"gen_ai.provider.name": provider, "gen_ai.request.model": model})
    return [*found[:-1], *(last | _parameters(session) for last in found[-1:])]


def _is_of(named: str, model: str) -> bool:
    """Return True if `model` is "" or, apart from routes and a date at its end, is `named`."""
    rest = model.rpartition("/")[2].removeprefix(named.rpartition("/")[2])
    return not model or bool(re.fullmatch(r"(?:[-@]\d{4}.*)?", rest))


def _provider(url: str, model: str) -> str:
    """Return the provider at an address. If the address has no host, return the provider with which
    the model's name begins (`azure/…`), or else the model's maker, unless many serve it."""
    if "aiplatform.googleapis.com" in url:
        return "gcp.vertex_ai"
    has_host = url and not url.startswith("/")
    name = route_of(url) if has_host else model.rpartition("/")[0].partition("/")[0]
    if not (has_host or _PROVIDER_ID.fullmatch(name)):  # a name such as Qwen is of who made it
        name = rules_and_model("/", model)[0].partition("-before-")[0]
    return _PROVIDERS.get(name, name or "unknown")


def unknown_times(session: Session) -> list[Finding]:
    """Return a finding if requests have no start time or no duration."""
    records = [record for _, record in _requests(session)]
    starts = [_times(record)[_TIMES[0]] for record in records]
    timed = [record for record, start in zip(records, starts, strict=True) if start != "0"]
    unknown = {
        "time": len(records) - len(timed),
        "duration": sum(not record or record.seconds is None for record in timed),
    }
    about = counted(len(records), "request")
    listed = [
        f"{count} of {about} without a known {what}" for what, count in unknown.items() if count
    ]
    return [finding("times-unknown", session.title, "; ".join(listed))] if listed else []


def _parameters(session: Session) -> dict[str, Any]:
    """Return the parameters for which the convention has attributes."""
    found: dict[str, Any] = {}
    for name, value in session.parameters.items():
        if name in _PARAMETERS and isinstance(value, bool | int | float | str | list):
            is_stop = _PARAMETERS[name] == "stop_sequences" and isinstance(value, str)
            found[f"gen_ai.request.{_PARAMETERS[name]}"] = [value] if is_stop else value
    return found


_TIMES: Final = ("startTimeUnixNano", "endTimeUnixNano")


def _times(record: RequestRecord | None) -> dict[str, str]:
    """Return the span's start and end in nanoseconds; 0 for an unknown time, as in OTLP."""
    try:
        start = datetime.fromisoformat(record.at if record else "")
    except ValueError:
        return dict.fromkeys(_TIMES, "0")
    since = (start if start.tzinfo else start.replace(tzinfo=UTC)) - datetime.fromtimestamp(0, UTC)
    began = max(0, (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1_000)
    ended = began + round((record.seconds or 0) * 1e9) if record else began
    return {_TIMES[0]: str(began), _TIMES[1]: str(ended)}


def _usage(usage: Mapping[str, Any] | None) -> dict[str, int]:
    """Return a bill's counts as OpenTelemetry means them: the input includes cached tokens."""
    billed, output = (billed_of(usage), output_of(usage)) if usage else (None, None)
    counts = {"output_tokens": output or 0}
    if billed is not None:
        counts["input_tokens"] = billed.total
        counts["cache_read.input_tokens"] = billed.read
        counts["cache_creation.input_tokens"] = billed.write
    return {f"gen_ai.usage.{name}": count for name, count in counts.items() if count}


def _tool(tool: ToolMetadata) -> _Json:
    described = {"type": "function", "name": tool.name, "description": tool.description}
    examples = [example.model_dump() for example in tool.examples]
    more = {"examples": examples} if examples else {}
    return {**described, "parameters": tool.input_schema, **more}


def _indexed(texts: Mapping[int, str]) -> str:
    """Return messages as a JSON object, by their indexes in the session."""
    pairs = ", ".join(f'"{index}": {text}' for index, text in texts.items())
    return f"{{{pairs}}}" if pairs else ""


def _message(message: nouns.Message) -> dict[str, Any]:
    return {"role": message.role, "parts": [_part(part) for part in message.parts]}


def _part(part: nouns.Part) -> dict[str, Any]:
    match part:
        case nouns.TextPart():
            return {"type": "text", "content": part.text}
        case nouns.ReasoningPart():
            signature = {} if part.signature is None else {"signature": part.signature}
            return {"type": "reasoning", "content": part.text, **signature}
        case nouns.ImagePart():
            detail = {} if part.detail is None else {"detail": part.detail}
            return {**_image(part.url), **detail}
        case nouns.ToolCallPart():
            call = {"type": "tool_call", "id": part.tool_call_id, "name": part.tool_name}
            return {**call, "arguments": part.args}
        case nouns.ToolResultPart():
            call = {"type": "tool_call_response", "id": part.tool_call_id, "name": part.tool_name}
            return {**call, "response": part.result} | ({"is_error": True} if part.is_error else {})


def _image(url: str) -> dict[str, str]:
    head, mark, data = url.partition(";base64,")
    if mark and head.startswith("data:"):
        kind = head.removeprefix("data:")
        return {"type": "blob", "modality": "image", "mime_type": kind, "content": data}
    return {"type": "uri", "modality": "image", "uri": url}


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": k, "value": _value(v)} for k, v in values.items() if v not in ("", [])]


def _value(value: Any) -> dict[str, Any]:
    """Return a value in an object that names its type, as in OTLP."""
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(item) for item in value]}}
    return {"stringValue": str(value)}


def _digest(text: str, size: int) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[: 2 * size]
