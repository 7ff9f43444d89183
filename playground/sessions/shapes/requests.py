"""A provider's request and its whole reply into a builder: the two bodies of an exchange."""

from __future__ import annotations

from typing import Any, Final

from playground.nouns.messages import Part, ReasoningPart, TextPart
from playground.recordings.apis.response_items import ASKED
from playground.recordings.recording import Recording, provider_parts
from playground.sessions.building import Place, SessionBuilder, json_or_text
from playground.sessions.shapes.facts import facts
from playground.sessions.shapes.fields import listed, mapping, told_list, told_mapping
from playground.sessions.shapes.messages import read_message, read_messages
from playground.sessions.shapes.parameters import parameters_of_body
from playground.sessions.shapes.parts import note_beside, read_parts
from playground.sessions.shapes.results import add


def conversation(body: Any) -> list[Any] | None:
    """Return the list of messages in a request's body, whichever provider's; None where there is
    none.
    """
    if not isinstance(body, dict):
        return None
    for key in ("messages", "input", "contents"):
        found = json_or_text(body.get(key))
        if isinstance(found, list):
            return found
    for key in ("prompt", "input", "inputText", "message"):
        text = _one_prompt(body.get(key))
        if isinstance(text, str):
            return [*_history(body), {"role": "user", "content": text}]
    return None


def _one_prompt(given: Any) -> Any:
    """Return the text of a list that holds it alone: a completion may be asked for several."""
    match given:
        case [str(text)]:
            return text
    return given


def _of_user(contents: Any) -> Any:
    """Gemini's contents, each with a role: one without is the user's."""
    if not isinstance(contents, list):
        return contents
    return [
        {"role": "user", **each} if isinstance(each, dict) and "parts" in each else each
        for each in contents
    ]


def _history(body: dict[str, Any]) -> list[Any]:
    """Return earlier messages, if a request keeps them apart (Cohere's first API)."""
    return listed(body.get("chat_history"))


def read_request(builder: SessionBuilder, body: dict[str, Any], place: Place) -> None:
    """System prompt, messages, tools, model and parameters of a request."""
    if isinstance(config := body.get("config"), dict) and "contents" in body:
        body = {**config, **body}  # as Gemini's own library is asked
    names = ("system", "instructions", "system_prompt")  # the last is what agents' own files say
    key = next((name for name in names if body.get(name)), "system")
    system = body.get(key)
    for name in ("systemInstruction", "system_instruction"):
        if isinstance(given := body.get(name), dict | str):
            system, key = given.get("parts") if isinstance(given, dict) else given, name
    if parts := read_parts(builder, system, place.at(key)):
        builder.say("system", parts, place.at(key))
    for name in ("messages", "input", "contents", "prompt", "inputText", "message"):
        if body.get(name):
            read_messages(builder, _history(body), place.at("chat_history"))
            said = _of_user(body[name]) if name == "contents" else _one_prompt(body[name])
            read_messages(builder, said, place.at(name))
            break
    config = body.get("toolConfig")
    tools = body.get("tools") or (config.get("tools") if isinstance(config, dict) else None)
    builder.tools(tools or body.get("functions"), place.at("tools"))
    model = body.get("model") or body.get("modelId") or body.get("model_id")
    builder.known(model=model if isinstance(model, str) else "")
    builder.asked(parameters_of_body(body), place)


# Ollama writes its counts beside the message, not in an object of their own.
_OLLAMA_COUNTS: Final = (
    "prompt_eval_count",
    "eval_count",
    "total_duration",
    "load_duration",
    "prompt_eval_duration",
    "eval_duration",
)


def reply_facts(body: dict[str, Any] | None) -> dict[str, Any]:
    """Return the known facts of a whole reply: model, usage, time and stop reason."""
    known = facts(body)
    if body and "usage" not in known and "eval_count" in body:
        known["usage"] = {key: body[key] for key in _OLLAMA_COUNTS if key in body}
    return known


def read_reply(builder: SessionBuilder, body: dict[str, Any], place: Place) -> bool:
    """The assistant's message of a whole (not streamed) response; False where it has none."""
    known = reply_facts(body)
    for key in ("choices", "candidates"):
        told_list(builder, body.get(key), place.at(key))
    if isinstance(choices := body.get("choices"), list) and choices:
        only_one(builder, choices, place.at("choices"))
        where = place.at("choices", 0)
        first = told_mapping(builder, choices[0], where)
        message = first.get("message") or first.get("delta") or {"content": first.get("text")}
        if not {"message", "delta", "text"} & first.keys():
            builder.lost("a choice without a message", where)
        said = told_mapping(builder, message, where.at("message"))
        read_message(builder, {"role": "assistant", **said}, where)
        known["stop_reason"] = first.get("finish_reason")
    elif isinstance(candidates := body.get("candidates"), list) and candidates:
        only_one(builder, candidates, place.at("candidates"))
        where = place.at("candidates", 0)
        first = told_mapping(builder, candidates[0], where)
        _candidate(builder, first, where)
        known["stop_reason"] = first.get("finishReason")
    elif isinstance(items := body.get("output"), list):
        read_items(builder, items, place.at("output"))
        known["stop_reason"] = body.get("status")
    elif isinstance(message := body.get("output"), dict) and "message" in message:  # Bedrock
        read_message(builder, message["message"], place.at("output"))
    elif body.get("content") is not None and body.get("role", "assistant") == "assistant":
        read_message(builder, {**body, "role": "assistant"}, place)
    elif isinstance(message := body.get("message"), dict):
        read_message(builder, {"role": "assistant", **message}, place.at("message"))
        known["stop_reason"] = body.get("done_reason") or body.get("finish_reason")
    elif not _plain_reply(builder, body, place, known):
        return False
    _note_sources(builder, body, place)
    builder.request(**known)
    return True


def _candidate(builder: SessionBuilder, candidate: dict[str, Any], place: Place) -> None:
    content = told_mapping(builder, candidate.get("content"), place.at("content"))
    add(builder, "assistant", read_parts(builder, content.get("parts"), place), place)
    note_beside(builder, candidate, place, ("groundingMetadata", "citationMetadata"))


def _note_sources(builder: SessionBuilder, body: dict[str, Any], place: Place) -> None:
    """Note Perplexity's sources; where there is content, they were met in it."""
    if "content" not in body:
        note_beside(builder, body, place, ("citations", "search_results"))


def only_one(builder: SessionBuilder, replies: list[Any], place: Place) -> None:
    """Tell of the replies behind the first: a session has one answer to a request."""
    if len(replies) > 1:
        builder.lost(f"{len(replies) - 1} more replies to the same request", place)


# Where models on Bedrock, and servers of plain text, keep a reply's text.
_TEXTS: Final = ("generation", "completion", "outputText", "response", "text", "output_text")


def _plain_reply(
    builder: SessionBuilder, body: dict[str, Any], place: Place, known: dict[str, Any]
) -> bool:
    """A reply that is text alone, on top or as the first of a list."""
    replies = next((body[k] for k in ("results", "outputs", "generations") if body.get(k)), None)
    first = mapping(replies[0]) if isinstance(replies, list) else body
    text = next((first[key] for key in _TEXTS if isinstance(first.get(key), str)), None)
    if text is None:
        return False
    if isinstance(replies, list):
        only_one(builder, replies, place)
    read_message(builder, {"role": "assistant", "content": text}, place)
    reasons = (first.get("completionReason"), first.get("finish_reason"), first.get("stop_reason"))
    known["stop_reason"] = next(filter(None, reasons), known.get("stop_reason"))
    counted = {key: n for key, n in {**body, **first}.items() if _is_count(key, n)}
    known.setdefault("usage", counted)
    return True


def _is_count(key: str, value: Any) -> bool:
    return "token" in key.lower() and type(value) is int


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
    """A streamed reply: its recording, and the message that it adds up to; around what tools gave
    that the provider ran itself, where there are such."""
    builder.recordings.append(recording)
    reply = recording.reply
    before: list[Part] = [ReasoningPart(reply.reasoning)] if reply.reasoning else []
    said: list[Part] = [TextPart(reply.content)] if reply.content else []
    calls: list[Part] = []
    kept = provider_parts(recording.chunks)
    asked = {part.get("id"): part.get("input") for part in kept if part.get("type") == ASKED}
    for call in reply.tool_calls:
        call_id = call.tool_call_id or builder.new_id()
        arguments = call.arguments_text
        task = asked.get(call_id) if arguments in ("", "{}") else None
        if task:
            given = task if isinstance(task, dict) else {"input": task}
            calls.append(builder.call(call_id, call.name, given, place))
        else:
            calls.append(builder.call(call_id, call.name, arguments, place))
    gave = read_parts(builder, [part for part in kept if part.get("type") != ASKED], place)
    parts = [*before, *calls, *gave, *said] if gave else [*before, *said, *calls]
    if not parts and recording.error is not None:
        return
    add(builder, "assistant", parts, place)
    builder.request(
        model=recording.model,
        usage=recording.usage,
        stop_reason=recording.stop_reason,
        diagnostics=recording.diagnostics,
    )
