"""Read the bodies of an exchange with any provider: a request, and a complete reply."""

from __future__ import annotations

from typing import Any, Final

from playground.base.characters import plain_bytes
from playground.nouns.messages import Part, ReasoningPart, TextPart
from playground.nouns.wire_bodies import MARKS
from playground.recordings.apis.response_items import ASKED
from playground.recordings.recording import Recording, provider_parts
from playground.sessions.building import Place, SessionBuilder, json_or_text
from playground.sessions.rows import row_after
from playground.sessions.shapes.facts import facts
from playground.sessions.shapes.fields import dict_or_finding, list_or_finding, listed, mapping
from playground.sessions.shapes.messages import read_message, read_messages
from playground.sessions.shapes.parameters import parameters_of_body
from playground.sessions.shapes.parts import note_left_out, read_parts
from playground.sessions.shapes.results import add_with_results


def conversation(body: Any) -> list[Any] | None:
    """Return the messages in any provider's request body; None if it has none."""
    if not isinstance(body, dict):
        return None
    for key in ("messages", "input", "contents"):
        found = json_or_text(body.get(key))
        if isinstance(found, list):
            return found
    for key in ("prompt", "input", "inputText", "message"):
        text = _single_prompt(body.get(key))
        if isinstance(text, str):
            return [*listed(body.get("chat_history")), {"role": "user", "content": text}]
    return None


def _single_prompt(prompt: Any) -> Any:
    """Return the text of a list of one text, else the value. (Completions take lists of
    prompts.)"""
    match prompt:
        case [str(text)]:
            return text
    return prompt


def _of_user(contents: Any) -> Any:
    """Return Gemini's contents, with the role `user` for contents without a role."""
    if not isinstance(contents, list):
        return contents
    return [
        {"role": "user", **each} if isinstance(each, dict) and "parts" in each else each
        for each in contents
    ]


def read_request(builder: SessionBuilder, body: dict[str, Any], place: Place) -> None:
    """Read a request: system prompt, messages, tools, model and parameters."""
    if isinstance(config := body.get("config"), dict) and "contents" in body:
        body = {**config, **body}  # the form of Gemini's own library
    names = ("system", "instructions", "system_prompt")  # the last occurs in agents' files
    key = next((name for name in names if body.get(name)), "system")
    system = body.get(key)
    for name in ("systemInstruction", "system_instruction"):
        if isinstance(value := body.get(name), dict | str):
            system, key = value.get("parts") if isinstance(value, dict) else value, name
    if parts := read_parts(builder, system, place.at(key)):
        builder.add_message("system", parts, place.at(key))
    for name in ("messages", "input", "contents", "prompt", "inputText", "message"):
        if body.get(name):
            read_messages(builder, listed(body.get("chat_history")), place.at("chat_history"))
            prompt = _of_user(body[name]) if name == "contents" else _single_prompt(body[name])
            read_messages(builder, prompt, place.at(name))
            break
    config = body.get("toolConfig")
    tools = body.get("tools") or (config.get("tools") if isinstance(config, dict) else None)
    builder.add_tools(tools or body.get("functions"), place.at("tools"))
    model = body.get("model") or body.get("modelId") or body.get("model_id")
    builder.set_metadata(model=model if isinstance(model, str) else "")
    builder.set_parameters(parameters_of_body(body), place)


# Ollama writes its counts next to the message, not in an object.
_OLLAMA_COUNTS: Final = (
    "prompt_eval_count", "eval_count", "total_duration", "load_duration", "prompt_eval_duration",
    "eval_duration",
)  # fmt: skip


def reply_facts(body: dict[str, Any] | None) -> dict[str, Any]:
    """Return the facts of a complete reply, such as model, usage, time and stop reason."""
    known = facts(body)
    if body and "usage" not in known and "eval_count" in body:
        known["usage"] = {key: body[key] for key in _OLLAMA_COUNTS if key in body}
    return known


def usage_of(reply: dict[str, Any] | None, file_usage: Any) -> Any:
    """Return the usage in a reply, or else the usage that the file has outside the reply."""
    return reply_facts(reply).get("usage") or file_usage


def read_reply(builder: SessionBuilder, body: dict[str, Any], place: Place) -> bool:
    """Read the message of a response that was not streamed; return False if it has none."""
    known = reply_facts(body)
    for key in ("choices", "candidates"):
        list_or_finding(builder, body.get(key), place.at(key))
    if isinstance(choices := body.get("choices"), list) and choices:
        note_further_replies(builder, choices, place.at("choices"))
        where = place.at("choices", 0)
        first = dict_or_finding(builder, choices[0], where)
        message = first.get("message") or first.get("delta") or {"content": first.get("text")}
        if not {"message", "delta", "text"} & first.keys():
            builder.note_loss("a choice without a message", where)
        message = dict_or_finding(builder, message, where.at("message"))
        read_message(builder, {"role": "assistant", **message}, where)
        known["stop_reason"] = first.get("finish_reason")
    elif isinstance(candidates := body.get("candidates"), list) and candidates:
        note_further_replies(builder, candidates, place.at("candidates"))
        where = place.at("candidates", 0)
        first = dict_or_finding(builder, candidates[0], where)
        _candidate(builder, first, where)
        known["stop_reason"] = first.get("finishReason")
    elif isinstance(items := body.get("output"), list):
        read_items(builder, items, place.at("output"))
        details = mapping(body.get("incomplete_details"))
        known["stop_reason"] = details.get("reason") or body.get("status")
    elif isinstance(message := body.get("output"), dict) and "message" in message:  # Bedrock
        read_message(builder, message["message"], place.at("output"))
    elif body.get("content") is not None and body.get("role", "assistant") == "assistant":
        read_message(builder, {**body, "role": "assistant"}, place)
    elif isinstance(message := body.get("message"), dict):
        read_message(builder, {"role": "assistant", **message}, place.at("message"))
        known["stop_reason"] = body.get("done_reason") or body.get("finish_reason")
    elif not _plain_reply(builder, body, place, known):
        return False
    outer = {} if "content" in body else body  # a body with `content` was read as a message
    note_left_out(builder, outer, place, ("citations", "search_results"))
    builder.add_request(**known)
    return True


def _candidate(builder: SessionBuilder, candidate: dict[str, Any], place: Place) -> None:
    content = dict_or_finding(builder, candidate.get("content"), place.at("content"))
    add_with_results(builder, "assistant", read_parts(builder, content.get("parts"), place), place)
    note_left_out(builder, candidate, place, ("groundingMetadata", "citationMetadata"))


def note_further_replies(builder: SessionBuilder, replies: list[Any], place: Place) -> None:
    """Add a finding for the replies after the first, because a session has one answer to a
    request."""
    if len(replies) > 1:
        builder.note_loss(f"{len(replies) - 1} more replies to the same request", place)


# Fields with a reply's text, as models on Bedrock and completion servers name them.
_TEXT_FIELDS: Final = ("generation", "completion", "outputText", "response", "text", "output_text")


def _plain_reply(
    builder: SessionBuilder, body: dict[str, Any], place: Place, facts: dict[str, Any]
) -> bool:
    """Read a reply that is only a text, in the body itself or in the first item of a list of
    replies. Return False for any other body."""
    replies = next((body[k] for k in ("results", "outputs", "generations") if body.get(k)), None)
    first = mapping(replies[0]) if isinstance(replies, list) else body
    text = next((first[key] for key in _TEXT_FIELDS if isinstance(first.get(key), str)), None)
    if text is None:
        return False
    if isinstance(replies, list):
        note_further_replies(builder, replies, place)
    read_message(builder, {"role": "assistant", "content": text}, place)
    reasons = (first.get("completionReason"), first.get("finish_reason"), first.get("stop_reason"))
    facts["stop_reason"] = next(filter(None, reasons), facts.get("stop_reason"))
    counts = {key: n for key, n in {**body, **first}.items() if type(n) is int}
    facts.setdefault("usage", {key: n for key, n in counts.items() if "token" in key.lower()})
    return True


def read_items(builder: SessionBuilder, items: list[Any], place: Place) -> None:
    """Read the output items of a response, as one message if all are the assistant's."""
    start = len(builder.messages)
    read_messages(builder, items, place)
    answer = builder.messages[start:]
    if len(answer) > 1 and all(message.role == "assistant" for message in answer):
        place_of_first = builder.places[start]
        del builder.messages[start:], builder.places[start:]
        parts = [part for message in answer for part in message.parts]
        builder.add_message("assistant", parts, place)
        builder.places[-1] = place_of_first


def read_recording(builder: SessionBuilder, recording: Recording, place: Place) -> None:
    """Read a streamed reply: its recording, its message, and results of the provider's tools."""
    builder.recordings.append(recording)
    reply = recording.reply
    reasoning: list[Part] = [ReasoningPart(reply.reasoning)] if reply.reasoning else []
    texts: list[Part] = [TextPart(reply.content)] if reply.content else []
    calls: list[Part] = []
    hosted = provider_parts(recording.chunks)
    tasks = {part.get("id"): part.get("input") for part in hosted if part.get("type") == ASKED}
    for call in reply.tool_calls:
        call_id = call.tool_call_id or builder.new_id()
        arguments = call.arguments_text
        task = tasks.get(call_id) if arguments in ("", "{}") else None
        if task:
            task = task if isinstance(task, dict) else {"input": task}
            calls.append(builder.call(call_id, call.name, task, place))
        else:
            calls.append(builder.call(call_id, call.name, arguments, place))
    results = read_parts(builder, [part for part in hosted if part.get("type") != ASKED], place)
    # the provider's own tools have results in the reply, before the text that uses them
    parts = [*calls, *results, *texts] if results else [*texts, *calls]
    parts = reasoning + parts
    if not parts and recording.error is not None:
        return
    add_with_results(builder, "assistant", parts, place)
    builder.add_request(
        model=recording.model,
        usage=recording.usage,
        stop_reason=recording.stop_reason,
        diagnostics=recording.diagnostics,
    )


_MARKS: Final = frozenset(MARKS)
_MARKS_IN_BYTES: Final = tuple(mark.encode() for mark in MARKS)
_ENVELOPE: Final = {"request", "response", "choices"}  # fields that a file adds to the body


def add_row(builder: SessionBuilder, body: dict[str, Any]) -> None:
    """Add the request as it was sent, because messages cannot hold its cache marks.

    Skip a body with a list `output`. Skip a row of training data, too: a body that has no model, no
    parameters and no cache marks, and is not in Gemini's form.
    """
    if conversation(body) is None or isinstance(body.get("output"), list):
        return
    is_named = isinstance(body.get("model"), str) or "contents" in body
    if is_named or builder.parameters or is_marked(body):
        sent = {key: value for key, value in body.items() if key not in _ENVELOPE}
        builder.rows.append(row_after(sent, None))


def is_marked(body: Any) -> bool:
    """Return True if a cache mark is anywhere in a body, even in arguments and schemas. The outer
    levels are searched value by value; deeper ones only if their bytes have a mark's name."""
    waiting = [body]
    for _ in range(_OUTER_LEVELS):
        deeper: list[Any] = []
        for each in waiting:
            if _has_mark(each):
                return True
            deeper += _within(each)
        if not deeper:  # such as a row of texts
            return False
        waiting = deeper
    plain = plain_bytes(waiting)
    if plain is not None and not any([mark in plain for mark in _MARKS_IN_BYTES]):
        return False
    while waiting:
        each = waiting.pop()
        if _has_mark(each):
            return True
        waiting += _within(each)
    return False


_OUTER_LEVELS = 3  # the body, its list of messages, each message


def _has_mark(value: Any) -> bool:
    if not isinstance(value, dict) or _MARKS.isdisjoint(value):
        return False
    return any(isinstance(value[mark], dict) for mark in _MARKS & value.keys())


def _within(value: Any) -> list[Any]:
    """Return the values in a dict or list, except texts."""
    values = value.values() if isinstance(value, dict) else listed(value)
    return [each for each in values if type(each) is not str]
