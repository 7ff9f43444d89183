"""OpenHands: event lists, the log of each LLM call, and the results of its resolver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.nouns.messages import Part
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import (
    list_in,
    mapping,
    object_in,
    told_list,
    told_mapping,
    told_objects,
)
from playground.sessions.shapes.messages import read_message, read_messages
from playground.sessions.shapes.parts import read_parts
from playground.sessions.shapes.requests import read_reply, read_request
from playground.sessions.shapes.results import add
from playground.sessions.source import Source

_LONG: Final = 24  # characters of a task that may stand within a longer message
_SPEECH: Final = {"message", "system"}
_QUIET: Final = {"agent_state_changed", "null", "recall", "change_agent_state"}
_ABOUT: Final = {  # what an event says of itself; before V0 its arguments stood beside these
    "action",
    "observation",
    "thought",
    "id",
    "timestamp",
    "source",
    "message",
    "cause",
    "timeout",
    "keep_prompt",
    "is_confirmed",
    "action_risk",
    "confirmation_state",
    "tool_call_metadata",
}


class OpenHandsEvents(SessionFormat):
    name = "openhands-events"
    title = "OpenHands events (V0)"
    left_aside = {
        "**.translated_ipython_code": "a call, as it was run",
        "**.extras.metadata": "the state of the shell",
        "**.extras.formatted_output_and_error": "a call's output, once more for the eye",
        "^(?:I (?:read|wrote|edited|am) |Agent state changed|Running |Retrieving content|Command `"
        "|Browsing |No observation|All done! |` executed with exit code)": "the interface's words",
    }
    keeps = Keeps(
        "in the first event, if there",
        "yes",
        "yes",
        "no",
        "state changes; thoughts of actions without a call",
    )

    def recognises(self, source: Source) -> bool:
        document = source.document
        return isinstance(document, list) and any(map(_is_event, document[:12]))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        for place, event in told_objects(builder, list_in(source), Place()):
            _event(builder, event, place)
        yield builder


def _is_event(event: Any) -> bool:
    return (
        isinstance(event, dict)
        and "source" in event
        and ("action" in event or "observation" in event)
    )


class OpenHandsLlmLog(SessionFormat):
    name = "openhands-llm-log"
    title = "OpenHands log of one LLM call"
    keeps = Keeps(
        "yes",
        "yes",
        "yes",
        "no",
        "request options; the chat as sent in a text dialect is a second session",
    )

    def recognises(self, source: Source) -> bool:
        document = source.document
        return (
            isinstance(document, dict)
            and {"messages", "response", "latency_sec"} <= document.keys()
        )

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        value = object_in(source)
        own = list_in(source, "messages")
        raw = value.get("raw_messages")  # what was sent, where tools were written as text
        for messages, title in ((own, ""), (raw, " as sent")):
            if not isinstance(messages, list) or (title and messages == own):
                continue
            builder = SessionBuilder(title=source.stem + title)
            read_request(builder, {**value, "messages": messages}, Place())
            place = Place(field="raw_response" if title else "response")
            reply = told_mapping(builder, value.get(place.field), place)
            if not title:
                told_list(builder, raw, Place(field="raw_messages"))
            if reply and not read_reply(builder, reply, place):
                builder.lost("a response that is not a reply", place)
            elif reply:
                record = builder.requests.pop()
                builder.request(
                    model=record.model,
                    usage=record.usage,
                    stop_reason=record.stop_reason,
                    at=value.get("timestamp"),
                    seconds=value.get("latency_sec"),
                )
            yield builder


class OpenHandsOutput(SessionFormat):
    name = "openhands-output"
    title = "OpenHands resolver output"
    left_aside = {
        "git_patch": "the patch that came of it",
        "result_explanation": "a judge's words about the outcome",
        "issue": "the issue as it was set",
    }
    keeps = Keeps(times="yes", missing="patch, metrics of the whole run")

    def recognises(self, source: Source) -> bool:
        first = source.head[0] if source.head else None
        return (
            isinstance(first, dict)
            and isinstance(first.get("history"), list)
            and "instruction" in first
        )

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        for line, value in source.lines():
            builder = SessionBuilder(title=f"{source.stem} line {line}")
            within = Place(line, "history")
            history = told_mapping(builder, value, Place(line)).get("history")
            for index, event in enumerate(told_list(builder, history, within)):
                place = within.at(index)
                for one in event if isinstance(event, list) else [event]:
                    if isinstance(one, dict) and ("action" in one or "observation" in one):
                        _event(builder, one, place)
                    else:
                        read_message(builder, one, place)
            _tell_instruction(builder, mapping(value).get("instruction"), line)
            yield builder


def _tell_instruction(builder: SessionBuilder, instruction: Any, line: int) -> None:
    """Tell of a task that no message repeats."""
    if isinstance(instruction, str) and instruction.strip():
        task = instruction.strip()
        said = [message.text.strip() for message in builder.messages]
        if task not in said and not any(task in text for text in said if len(task) >= _LONG):
            builder.lost("the instruction", Place(line, "instruction"))


def _event(builder: SessionBuilder, event: dict[str, Any], place: Place) -> None:
    tool = told_mapping(builder, event.get("tool_call_metadata"), place.at("tool_call_metadata"))
    action = str(event.get("action"))
    arguments = event.get("args")
    if not isinstance(arguments, dict):
        told_mapping(builder, arguments, place.at("args"))
        arguments = {k: v for k, v in event.items() if k not in _ABOUT or k == "thought"}
    if "observation" in event:
        _observation(builder, event, tool, place)
    elif action == "system":
        read_messages(builder, [{"role": "system", "content": arguments.get("content")}], place)
        builder.tools(arguments.get("tools"), place.at("args", "tools"))
    elif tool:
        _called(builder, tool, event, place)
    elif action in _SPEECH or event.get("source") == "user":
        role = "user" if event.get("source") == "user" else "assistant"
        content = arguments.get("content") or event.get("message")
        before = len(builder.messages)
        read_message(builder, {"role": role, "content": content}, place.at("args", "content"))
        if role == "assistant" and len(builder.messages) > before:
            builder.request(at=event.get("timestamp"))
    elif "action" not in event:
        builder.lost("an event that is neither an action nor an observation", place)
    elif action not in _QUIET:
        _untracked(builder, event, arguments, place)


def _called(
    builder: SessionBuilder, tool: dict[str, Any], event: dict[str, Any], place: Place
) -> None:
    """A call with the model's answer beside it; parallel calls repeat the same answer."""
    where = place.at("tool_call_metadata")
    response = told_mapping(builder, tool.get("model_response"), where.at("model_response"))
    given = str(tool.get("tool_call_id") or "")
    if builder.knows_call(given):
        return
    if read_reply(builder, response, where):
        record = builder.requests.pop()
        builder.request(
            model=record.model,
            usage=record.usage,
            stop_reason=record.stop_reason,
            at=event.get("timestamp"),
        )
        return
    inner = dict(told_mapping(builder, event.get("args"), place.at("args")))
    parts: list[Part] = read_parts(builder, inner.pop("thought", None), place)
    parts.append(builder.call(given, tool.get("function_name"), inner, place))
    add(builder, "assistant", parts, place)


def _untracked(
    builder: SessionBuilder, event: dict[str, Any], arguments: dict[str, Any], place: Place
) -> None:
    """An action of a model without native calls: the action is the call."""
    parts: list[Part] = read_parts(builder, arguments.get("thought"), place)
    inner = {key: value for key, value in arguments.items() if key != "thought"}
    call_id = f"event_{event.get('id', len(builder.messages))}"
    parts.append(builder.call(call_id, event.get("action"), inner, place))
    add(builder, "assistant", parts, place)
    builder.request(at=event.get("timestamp"))


def _observation(
    builder: SessionBuilder, event: dict[str, Any], tool: dict[str, Any], place: Place
) -> None:
    if str(event.get("observation")) in _QUIET:
        return
    content = event.get("content")
    call_id = str(tool.get("tool_call_id") or "") or f"event_{event.get('cause')}"
    if not builder.knows_call(call_id) and "cause" not in event:
        call_id = builder.open_call()  # before events had ids
    if not builder.knows_call(call_id):
        builder.lost(
            f"an observation of {event.get('observation')!r} that no call asked for", place
        )
        return
    failed = event.get("observation") == "error"
    name = tool.get("function_name")
    add(builder, "tool", [builder.result(call_id, content, name, is_error=failed)], place)
