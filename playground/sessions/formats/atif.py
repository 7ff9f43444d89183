"""Read and write ATIF, the Agent Trajectory Interchange Format.

Each step has a source: system, user or agent (https://harborframework.com/docs/trajectory-format).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.base.findings import Finding, finding
from playground.nouns.messages import (
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolResultPart,
)
from playground.parsing.values import dump_json
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.session import Agent, RequestRecord, Session
from playground.sessions.shapes.fields import (
    dict_or_finding,
    list_or_finding,
    mapping,
    object_in,
    objects_or_findings,
)
from playground.sessions.shapes.parts import read_parts, result_value
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source

VERSION: Final = "ATIF-v1.8"
_ROLES: Final[dict[str, Role]] = {"system": "system", "user": "user", "agent": "assistant"}
_SOURCES: Final = {"system": "system", "user": "user", "assistant": "agent"}
_USAGE: Final = ("prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd")
_ENDINGS: Final = {"jpeg": (".jpeg", ".jpg"), "gif": (".gif",), "webp": (".webp",)}


class Atif(SessionFormat):
    name = "atif"
    title = "ATIF trajectory"
    left_aside = {"notes": "notes on the file"}
    keeps = Keeps("yes", "yes", "yes", "no", "token ids, audio and sub-agents are not read")

    def recognises(self, source: Source) -> bool:
        document = source.document
        return isinstance(document, dict) and (
            str(document.get("schema_version", "")).startswith("ATIF")
            or {"agent", "steps"} <= document.keys()
        )

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        value = object_in(source)
        builder = SessionBuilder()
        agent = dict_or_finding(builder, value.get("agent"), Place(field="agent"))
        extra = dict_or_finding(builder, value.get("extra"), Place(field="extra"))
        builder.title = str(extra.get("title") or value.get("session_id") or source.stem)
        builder.purpose = str(extra.get("purpose") or "")
        builder.agent_prompt = str(extra.get("user_agent_prompt") or "")
        builder.environment = str(extra.get("environment") or "")
        parameters = dict_or_finding(
            builder, extra.get("parameters"), Place(field="extra.parameters")
        )
        builder.set_parameters(dict(parameters), Place(field="extra.parameters"))
        builder.model = str(agent.get("model_name") or "")
        builder.set_metadata(
            name=agent.get("name"), version=agent.get("version"), session=value.get("session_id")
        )
        builder.add_tools(agent.get("tool_definitions"), Place(field="agent.tool_definitions"))
        place = Place(field="steps")
        for index, step in enumerate(list_or_finding(builder, value.get("steps"), place)):
            _step(builder, step, place.at(index))
        place = Place(field="subagent_trajectories")
        for index, _ in enumerate(
            list_or_finding(builder, value.get("subagent_trajectories"), place)
        ):
            builder.note_loss("a sub-agent's trajectory", place.at(index))
        yield builder


def _step(builder: SessionBuilder, step: Any, place: Place) -> None:
    role = _ROLES.get(str(step.get("source"))) if isinstance(step, dict) else None
    if role is None:
        builder.note_loss("a step without a known source", place)
        return
    parts: list[Part] = []
    if step.get("reasoning_content"):
        parts.append(ReasoningPart(str(step["reasoning_content"])))
    parts += read_parts(builder, _message(step.get("message")), place.at("message"))
    for where, call in objects_or_findings(builder, step.get("tool_calls"), place.at("tool_calls")):
        call_id, name = call.get("tool_call_id"), call.get("function_name")
        parts.append(builder.call(call_id, name, call.get("arguments"), where))
    results = _results(builder, step.get("observation"), place.at("observation"))
    if parts or not results:
        add_with_results(builder, role, parts, place)
    if role == "assistant" and parts:
        usage = _usage(builder, step.get("metrics"), place.at("metrics"))
        model, at = step.get("model_name"), step.get("timestamp")
        builder.add_request(model=model, at=at, usage=usage)
    if results:
        add_with_results(builder, "tool", results, place.at("observation"))


def _results(builder: SessionBuilder, observation: Any, place: Place) -> list[Part]:
    """Return the results of a step's calls, which are in the step's observation."""
    parts: list[Part] = []
    results = dict_or_finding(builder, observation, place).get("results")
    for where, result in objects_or_findings(builder, results, place.at("results")):
        extra = dict_or_finding(builder, result.get("extra"), where.at("extra"))
        content = extra.get("result", result_value(_message(result.get("content"))))
        failed = bool(extra.get("is_error") or extra.get("tool_result_is_error"))
        parts.append(builder.result(result.get("source_call_id"), content, is_error=failed))
    return parts


def _usage(builder: SessionBuilder, value: Any, place: Place) -> dict[str, Any]:
    metrics = dict(dict_or_finding(builder, value, place))
    extra = dict_or_finding(builder, metrics.pop("extra", None), place.at("extra"))
    return {key: value for key, value in {**extra, **metrics}.items() if value is not None}


def _message(content: Any) -> Any:
    """Return content with images in the usual form; ATIF has their file in `source.path`."""
    if not isinstance(content, list):
        return content
    return [
        {"type": "image", "url": mapping(part.get("source")).get("path")}
        if isinstance(part, dict) and part.get("type") == "image"
        else part
        for part in content
    ]


def dump_atif(session: Session) -> str:
    """Return a session's messages, tools, parameters, times and usage as an ATIF trajectory."""
    records = {record.reply: record for record in session.requests}
    steps: list[dict[str, Any]] = []
    for index, message in enumerate(session.messages):
        if message.tool_results and steps and len(message.parts) == len(message.tool_results):
            results = [_result(part) for part in message.tool_results]
            steps[-1].setdefault("observation", {"results": []})["results"] += results
            continue
        steps.append(_dump_step(message, len(steps) + 1, records.get(index)))
    program = session.agent if session.agent.name else Agent("dialect-playground", "1")
    agent: dict[str, Any] = {"name": program.name, "version": program.version}
    agent["model_name"] = session.task.model_name
    if session.tools:
        agent["tool_definitions"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                },
            }
            for tool in session.tools
        ]
    extra = {
        "title": session.title,
        "purpose": session.purpose,
        "user_agent_prompt": session.task.user_agent_prompt,
        "environment": session.dynamic.dynamic_environment_details_block,
        "parameters": session.parameters,
    }
    trajectory = {
        "schema_version": VERSION,
        "session_id": session.agent.session or session.title or "session",
        "agent": agent,
        "steps": steps,
        "extra": {key: value for key, value in extra.items() if value},
    }
    return dump_json(trajectory, indent=1) + "\n"


def without_field(session: Session) -> list[Finding]:
    """Return a finding for each kind of facts for which ATIF has no field."""
    parts = (part for message in session.messages for part in message.parts)
    signed = sum(isinstance(part, ReasoningPart) and bool(part.signature) for part in parts)
    ended = sum(bool(record.stop_reason) for record in session.requests)
    counts = {"signatures of thoughts": signed, "stop reasons": ended}
    lost = [f"{name}: {count}" for name, count in counts.items() if count]
    return [finding("not-exported", session.title, text) for text in lost]


def _dump_step(message: Message, number: int, record: RequestRecord | None) -> dict[str, Any]:
    step: dict[str, Any] = {"step_id": number}
    if record is not None and record.at:
        step["timestamp"] = record.at
    step["source"] = _SOURCES.get(message.role, "user")
    if record is not None and record.model:
        step["model_name"] = record.model
    reasoning = [part.text for part in message.parts if isinstance(part, ReasoningPart)]
    step["message"] = _content(message)
    if reasoning:
        step["reasoning_content"] = "\n\n".join(reasoning)
    if message.tool_calls:
        step["tool_calls"] = [
            {
                "tool_call_id": call.tool_call_id,
                "function_name": call.tool_name,
                "arguments": call.args,
            }
            for call in message.tool_calls
        ]
    if message.tool_results:
        step["observation"] = {"results": [_result(part) for part in message.tool_results]}
    if record is not None and record.usage and step["source"] == "agent":
        known = {key: record.usage[key] for key in _USAGE if key in record.usage}
        rest = {key: value for key, value in record.usage.items() if key not in known}
        step["metrics"] = {**known, **({"extra": rest} if rest else {})}
    return step


def _content(message: Message) -> str | list[dict[str, Any]]:
    if not any(isinstance(part, ImagePart) for part in message.parts):
        return message.text
    content: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            content.append({"type": "text", "text": part.text})
        elif isinstance(part, ImagePart):
            source = {"media_type": _media_type(part.url), "path": part.url}
            content.append({"type": "image", "source": source})
    return content


def _media_type(url: str) -> str:
    """Return one of the format's four media types; PNG if the address does not say."""
    for kind, endings in _ENDINGS.items():
        if f"image/{kind}" in url[:40] or url.lower().endswith(endings):
            return f"image/{kind}"
    return "image/png"


def _result(part: ToolResultPart) -> dict[str, Any]:
    is_text = isinstance(part.result, str)
    text = part.result if is_text else dump_json(part.result)
    result: dict[str, Any] = {"source_call_id": part.tool_call_id, "content": text}
    extra = {} if is_text else {"result": part.result}
    if part.is_error:
        extra["is_error"] = True
    return {**result, **({"extra": extra} if extra else {})}
