"""Read OpenHands' lists of events, its log of an LLM call, and the output of its resolver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.nouns.messages import Part
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.shapes.fields import (
    dict_or_finding,
    list_in,
    list_or_finding,
    mapping,
    object_in,
    objects_or_findings,
)
from playground.sessions.shapes.messages import read_message, read_messages
from playground.sessions.shapes.parts import read_parts
from playground.sessions.shapes.requests import read_reply, read_request
from playground.sessions.shapes.results import add_with_results
from playground.sessions.source import Source

_LONG: Final = 24  # characters; a task of this length or more is also searched for inside messages
_MESSAGES: Final = {"message", "system"}  # actions that are messages
# Events about the program's state, which are not read.
_QUIET: Final = {"agent_state_changed", "null", "recall", "change_agent_state"}
# An event's own fields. In files older than V0, an action's arguments are next to these.
_EVENT_FIELDS: Final = {
    "action", "observation", "thought", "id", "timestamp", "source", "message", "cause", "timeout",
    "keep_prompt", "is_confirmed", "action_risk", "confirmation_state", "tool_call_metadata",
}  # fmt: skip


class OpenHandsEvents(SessionFormat):
    name = "openhands-events"
    title = "OpenHands events (V0)"
    left_aside = {
        "**.translated_ipython_code": "the Python code that a call was turned into",
        "**.extras.metadata": "the state of the shell",
        "**.extras.formatted_output_and_error": "a call's output, formatted for display",
        "^(?:I (?:read|wrote|edited|am) |Agent state changed|Running |Retrieving content|Command `"
        "|Browsing |No observation|All done! |` executed with exit code)": "status messages",
    }
    keeps = Keeps(
        tools="if the first event has them",
        times="yes",
        usage="yes",
        missing="state changes, and the thoughts of actions that call no tool, are not read",
    )

    def recognises(self, source: Source) -> bool:
        document = source.document
        return isinstance(document, list) and any(map(_is_event, document[:12]))

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        builder = SessionBuilder(title=source.stem)
        for place, event in objects_or_findings(builder, list_in(source), Place()):
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
        tools="yes",
        times="yes",
        usage="yes",
        missing="request options are not read; if tools were written as text, the chat as it was "
        "sent is a second session",
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
        raw = value.get("raw_messages")  # the chat as sent, if tools were written as text
        for messages, title in ((own, ""), (raw, " as sent")):
            if not isinstance(messages, list) or (title and messages == own):
                continue
            builder = SessionBuilder(title=source.stem + title)
            read_request(builder, {**value, "messages": messages}, Place())
            place = Place(field="raw_response" if title else "response")
            reply = dict_or_finding(builder, value.get(place.field), place)
            if not title:
                list_or_finding(builder, raw, Place(field="raw_messages"))
            if reply and not read_reply(builder, reply, place):
                builder.note_loss("a response that is not a reply", place)
            elif reply:
                _set_time(builder, value.get("timestamp"), value.get("latency_sec"))
            yield builder


def _set_time(builder: SessionBuilder, at: Any, seconds: Any = None) -> None:
    """Set the time and duration of the last request in place of those that its reply states."""
    record = builder.requests.pop()
    builder.add_request(
        model=record.model,
        usage=record.usage,
        stop_reason=record.stop_reason,
        at=at,
        seconds=seconds,
    )


class OpenHandsOutput(SessionFormat):
    name = "openhands-output"
    title = "OpenHands resolver output"
    left_aside = {
        "git_patch": "the patch that the run made",
        "result_explanation": "a judge's words about the outcome",
        "issue": "the task",
    }
    keeps = Keeps(times="yes", missing="the patch and the metrics of the whole run are not read")

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
            history = dict_or_finding(builder, value, Place(line)).get("history")
            for index, event in enumerate(list_or_finding(builder, history, within)):
                place = within.at(index)
                for each in event if isinstance(event, list) else [event]:
                    if isinstance(each, dict) and ("action" in each or "observation" in each):
                        _event(builder, each, place)
                    else:
                        read_message(builder, each, place)
            _check_instruction(builder, mapping(value).get("instruction"), line)
            yield builder


def _check_instruction(builder: SessionBuilder, instruction: Any, line: int) -> None:
    """Add a finding if no message holds the task, because it is lost then."""
    if isinstance(instruction, str) and instruction.strip():
        task = instruction.strip()
        texts = [message.text.strip() for message in builder.messages]
        if task not in texts and not any(task in text for text in texts if len(task) >= _LONG):
            builder.note_loss("the instruction", Place(line, "instruction"))


def _event(builder: SessionBuilder, event: dict[str, Any], place: Place) -> None:
    """Read an event: a message, a call or another action, or an observation (a call's result)."""
    tool = dict_or_finding(builder, event.get("tool_call_metadata"), place.at("tool_call_metadata"))
    action = str(event.get("action"))
    arguments = event.get("args")
    if not isinstance(arguments, dict):
        dict_or_finding(builder, arguments, place.at("args"))
        arguments = {k: v for k, v in event.items() if k not in _EVENT_FIELDS or k == "thought"}
    if "observation" in event:
        _observation(builder, event, tool, place)
    elif action == "system":
        read_messages(builder, [{"role": "system", "content": arguments.get("content")}], place)
        builder.add_tools(arguments.get("tools"), place.at("args", "tools"))
    elif tool:
        _call(builder, tool, event, place)
    elif action in _MESSAGES or event.get("source") == "user":
        role = "user" if event.get("source") == "user" else "assistant"
        content = arguments.get("content") or event.get("message")
        start = len(builder.messages)
        read_message(builder, {"role": role, "content": content}, place.at("args", "content"))
        if role == "assistant" and len(builder.messages) > start:
            builder.add_request(at=event.get("timestamp"))
    elif "action" not in event:
        builder.note_loss("an event that is neither an action nor an observation", place)
    elif action not in _QUIET:
        _action(builder, event, arguments, place)


def _call(
    builder: SessionBuilder, tool: dict[str, Any], event: dict[str, Any], place: Place
) -> None:
    """Read a call, or the model's whole answer if the event stores it. An answer with several calls
    is in the event of each call, but is read only once."""
    where = place.at("tool_call_metadata")
    response = dict_or_finding(builder, tool.get("model_response"), where.at("model_response"))
    call_id = str(tool.get("tool_call_id") or "")
    if builder.knows_call(call_id):
        return
    if read_reply(builder, response, where):
        _set_time(builder, event.get("timestamp"))
        return
    inner = dict(dict_or_finding(builder, event.get("args"), place.at("args")))
    parts: list[Part] = read_parts(builder, inner.pop("thought", None), place)
    parts.append(builder.call(call_id, tool.get("function_name"), inner, place))
    add_with_results(builder, "assistant", parts, place)


def _action(
    builder: SessionBuilder, event: dict[str, Any], arguments: dict[str, Any], place: Place
) -> None:
    """Read an action as a call, because the model wrote its calls as text."""
    parts: list[Part] = read_parts(builder, arguments.get("thought"), place)
    inner = {key: value for key, value in arguments.items() if key != "thought"}
    call_id = f"event_{event.get('id', len(builder.messages))}"
    parts.append(builder.call(call_id, event.get("action"), inner, place))
    add_with_results(builder, "assistant", parts, place)
    builder.add_request(at=event.get("timestamp"))


def _observation(
    builder: SessionBuilder, event: dict[str, Any], tool: dict[str, Any], place: Place
) -> None:
    if str(event.get("observation")) in _QUIET:
        return
    content = event.get("content")
    call_id = str(tool.get("tool_call_id") or "") or f"event_{event.get('cause')}"
    if not builder.knows_call(call_id) and "cause" not in event:
        call_id = builder.open_call()  # in old files, events have no ids
    if not builder.knows_call(call_id):
        builder.note_loss(f"an observation of {event.get('observation')!r} without a call", place)
        return
    failed = event.get("observation") == "error"
    name = tool.get("function_name")
    add_with_results(
        builder, "tool", [builder.result(call_id, content, name, is_error=failed)], place
    )
