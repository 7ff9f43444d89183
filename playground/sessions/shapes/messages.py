"""Read messages in any provider's shape: chat messages, items of OpenAI's Responses, LangChain.

All roles are mapped to system, user, assistant and tool. Results inside a user's message become
messages of the role `tool`. A message that cannot be read gives a finding.
"""

from __future__ import annotations

from typing import Any, Final

from playground.nouns.messages import ImagePart, Part, ReasoningPart, Role, TextPart
from playground.recordings.apis.response_items import (
    CLIENT_RUN_CALLS,
    OTHER_CALLS,
    asked_of_provider,
    provider_result,
)
from playground.sessions.building import Place, SessionBuilder, json_or_text, text_part
from playground.sessions.shapes.fields import listed
from playground.sessions.shapes.parts import CITATIONS, note_left_out, read_parts, result_value
from playground.sessions.shapes.results import CONTENT, add_with_results, holds_result, read_result

ROLES: Final[dict[str, Role]] = {
    **dict.fromkeys(("system", "developer", "system_message", "_system_prompt"), "system"),
    **dict.fromkeys(("user", "human", "prompter", "user_message", "human_message"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "gpt", "gemini", "agent", "bot"), "assistant"),
    **dict.fromkeys(
        ("chatgpt", "chatbot", "claude", "assistant_message", "ai_message"), "assistant"
    ),
    **dict.fromkeys(("agent_message", "aimessagechunk", "llm"), "assistant"),
    **dict.fromkeys(("function_call", "function-call", "tool_calls"), "assistant"),
    **dict.fromkeys(("tool", "function", "observation", "toolresult", "tool_result"), "tool"),
    **dict.fromkeys(("tool_response", "tool_output", "function_response", "ipython"), "tool"),
    **dict.fromkeys(("function-response", "function_result", "tool_message"), "tool"),
    **dict.fromkeys(("functionexecutionresult", "toolcallexecutionevent"), "tool"),  # AutoGen
    **dict.fromkeys(("toolcallrequestevent", "toolcallsummary"), "assistant"),
}
_ITEM_KINDS: Final = ("function_call", "custom_tool_call", "reasoning", "mcp_call")
_OUTPUT_KINDS: Final = (
    "function_call_output",
    "custom_tool_call_output",
    "tool_search_output",
    "program_output",
)
_ROLE_FIELDS: Final = ("role", "from", "sender", "speaker", "author", "type")
_CALL_FIELDS: Final = (
    "tool_calls",
    "toolCalls",
    "toolInvocations",
    "toolRequests",
    "tool_requests",
)
# Most messages have only these fields, of which `content` alone holds text.
_COMMON_FIELDS: Final = {
    "role", "type", "content", "id", "model", "usage", "timestamp", "stop_reason", "stop_sequence",
    "tool_calls", "tool_call_id", "name",
}  # fmt: skip
# Fields of a message that has content: those above, and three of Anthropic's that hold no text.
_COMMON_FIELDS_WITH_CONTENT: Final = {
    *_COMMON_FIELDS,
    "container",
    "context_management",
    "stop_details",
}
_GEMINI_FIELDS: Final = {"role", "parts"}
_GEMINI_ROLES: Final[dict[str, Role]] = {"user": "user", "model": "assistant"}
_PLAIN_ROLES: Final[tuple[Role, ...]] = ("user", "assistant", "system")
_CALL_ROLES: Final = {"function_call", "function-call", "tool_calls", "tool_call"}
# Fields with a known meaning; any other field that is not empty may be the content.
_KNOWN_FIELDS: Final = {
    *_ROLE_FIELDS, *CONTENT, *_CALL_FIELDS, "id", "uuid", "name", "model", "timestamp",
    "created_at", "usage", "stop_reason", "finish_reason", "metadata", "refusal", "reasoning",
    "reasoning_content", "reasoning_details", "thinking", "tool_plan", "thinking_blocks",
    "thoughts", "images", "files",
    "attachments", "additional_kwargs", "response_metadata", "function_call", "cache_control",
    "status", "audio", "annotations", "object", "kind", "session_id", "sessionId", "parentId",
    "parent_id",
}  # fmt: skip
# The fields of the usual items of a response; Codex adds metadata to each item.
_CODEX_FIELDS: Final = {"metadata", "internal_chat_message_metadata_passthrough"}
_PLAIN_CALL: Final = {"type", "id", "call_id", "name", "namespace", "status", *_CODEX_FIELDS}
_PLAIN_RESULT: Final = {"type", "id", "call_id", "output", *_CODEX_FIELDS}
_PLAIN_RESULT_KINDS: Final = {"function_call_output", "custom_tool_call_output"}
# Type of a call -> the field with its arguments, and all its fields.
_PLAIN_CALLS: Final = {
    "function_call": ("arguments", {*_PLAIN_CALL, "arguments"}),
    "custom_tool_call": ("input", {*_PLAIN_CALL, "input"}),
}
_NO_CALL: Final[tuple[str, set[str]]] = ("", set())


def read_messages(builder: SessionBuilder, values: Any, place: Place) -> None:
    """Read a list of messages, also as JSON text; any other text is a user's message."""
    values = json_or_text(values)
    if isinstance(values, str):
        values = [{"role": "user", "content": values}]
    for index, value in enumerate(values if isinstance(values, list) else [values]):
        start = len(builder.messages)
        read_message(builder, value, place.at(index))
        merge_reasoning(builder, start)


def role_of(value: dict[str, Any]) -> Role | None:
    """Return a message's role, from any of the fields that may name it; None if it is unknown."""
    name = value.get("role")
    role = ROLES.get(name) if type(name) is str else None
    return role or ROLES.get(_role_name(value))


def _role_name(value: dict[str, Any]) -> str:
    name = value.get("role")
    if isinstance(name, str) and name in ROLES:
        return name
    for key in _ROLE_FIELDS:
        name = value.get(key)
        if isinstance(name, dict):
            name = name.get("role")
        if isinstance(name, str) and name:
            return name.lower() if name.lower() in ROLES else name.removesuffix("Message").lower()
    return ""


def read_message(builder: SessionBuilder, value: Any, place: Place) -> None:
    """Read a message of any provider; a message of unknown form gives a finding."""
    if not isinstance(value, dict):
        builder.note_loss(f"a message that is a {type(value).__name__}", place)
        return
    if _read_common_message(builder, value, place) or read_plain_item(builder, value, place):
        return
    outer, value = value, unwrap_message(value)
    if outer is not value:
        note_left_out(builder, outer, place, CITATIONS)
    if _read_item(builder, value, place):
        return
    role_name = _role_name(value)
    role = ROLES.get(role_name)
    # in LangGraph's messages, the role is the tool's name
    if role is None and role_name and builder.open_call(role_name):
        value = {**value, "tool_call_id": builder.open_call(role_name), "name": role_name}
        role = "tool"
    if role is None:
        builder.note_loss(f"a message with the role {role_name!r}", place)
    elif role == "tool" and holds_result(value):
        read_result(builder, value, place)
    elif _is_unknown(value):
        fields = ", ".join(sorted(map(str, value)))
        builder.note_loss(f"a message whose content is in no known field ({fields})", place)
    elif role == "tool":
        read_result(builder, value, place)
    else:
        add_with_results(
            builder, role, _parts(builder, value, place, role_name in _CALL_ROLES), place
        )


def _read_common_message(builder: SessionBuilder, value: dict[str, Any], place: Place) -> bool:
    """Read a message of the most common form; return False, and read nothing, for any other."""
    if "parts" in value and value.keys() == _GEMINI_FIELDS and type(value["parts"]) is list:
        if (gemini_role := _GEMINI_ROLES.get(str(value["role"]))) is None:
            return False
        parts = read_parts(builder, value["parts"], place, "parts")
        add_with_results(builder, gemini_role, parts, place)
        return True
    content = value.get("content")
    known = _COMMON_FIELDS_WITH_CONTENT if content else _COMMON_FIELDS
    if not known.issuperset(value) or value.get("type", "message") != "message":
        return False
    role = value.get("role")
    if role in _PLAIN_ROLES:
        if not content or "tool_calls" in value:
            add_with_results(builder, role, _parts(builder, value, place), place)
        elif type(content) is str:
            builder.add_message(role, [text_part(content)], place)
        else:
            add_with_results(builder, role, read_parts(builder, content, place, "content"), place)
        return True
    if role == "tool" and content is not None:
        read_result(builder, value, place)
        return True
    return False


def unwrap_message(value: dict[str, Any]) -> dict[str, Any]:
    """Return a message without a framework's wrapping; return any other message unchanged.

    The frameworks are LangChain (serialised and stored), Continue, Google's ADK, Polylogue, and
    AutoGen, where the role follows from the name of the speaker.
    """
    if isinstance(value.get("kwargs"), dict) and "lc" in value:
        return {**value["kwargs"], "type": str((value.get("id") or [""])[-1])}
    data, inner, content = value.get("data"), value.get("message"), value.get("content")
    if isinstance(data, dict) and "content" in data and "content" not in value:
        return {**data, "type": value.get("type")}
    if isinstance(inner, dict) and "role" in inner and "role" not in value:
        return inner
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        return content if content.get("role") else {**value, **content}
    if isinstance(value.get("blocks"), list) and value["blocks"] and content is None:
        return message_of_blocks(value)
    if value.get("type") == "TextMessage" and isinstance(value.get("source"), str):
        return {**value, "role": "user" if value["source"] == "user" else "assistant"}
    return value


def _read_item(builder: SessionBuilder, value: dict[str, Any], place: Place) -> bool:
    """Read an item of a response, known by its type; return False for anything else."""
    kind = str(value.get("type") or "")
    outer = "role" not in value and "from" not in value
    if kind in _OUTPUT_KINDS or (kind.endswith("_call_output") and outer):
        add_with_results(builder, "tool", read_parts(builder, value, place), place)
        return True
    is_hosted = kind.endswith("_call") or kind in OTHER_CALLS
    if kind not in _ITEM_KINDS and not (is_hosted and outer):
        return False
    if kind not in CLIENT_RUN_CALLS and kind != "reasoning":
        builder.note_provider_tool(str(value.get("name") or kind), place)
    builder.add_to_answer(read_parts(builder, _as_call(value, kind), place), place)
    if results := provider_result(value):  # the item of a hosted tool has the result
        add_with_results(builder, "assistant", read_parts(builder, results, place), place)
    return True


def merge_reasoning(builder: SessionBuilder, index: int) -> int:
    """Merge an answer with a reasoning-only message before it; return the index of the merged
    message."""
    if not 0 < index < len(builder.messages) or builder.messages[index].role != "assistant":
        return index
    previous = builder.messages[index - 1]
    if previous.role != "assistant" or any(part.type != "reasoning" for part in previous.parts):
        return index
    parts = builder.messages.pop(index).parts
    builder.places.pop(index)
    builder.add_parts(parts, index - 1)
    return index - 1


def _is_unknown(value: dict[str, Any]) -> bool:
    """Return True if only unknown fields have a value, apart from the role and metadata."""
    if value.get("content") is not None:
        return False
    if any(value.get(key) is not None for key in (*CONTENT, *_CALL_FIELDS)):
        return False
    if any(
        value.get(key) not in (None, "", [], {})
        for key in _KNOWN_FIELDS - set(_ROLE_FIELDS) - _METADATA_FIELDS
    ):
        return False
    rest = (field for key, field in value.items() if key not in _KNOWN_FIELDS)
    return any(isinstance(field, str | list | dict) and field for field in rest)


_METADATA_FIELDS: Final = {
    "id",
    "uuid",
    "name",
    "model",
    "timestamp",
    "created_at",
    "usage",
    "metadata",
}


def _as_call(value: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return a hosted tool's item as a call; the name of the input's field depends on the tool."""
    if kind in _ITEM_KINDS:
        return value
    task = asked_of_provider(value)
    arguments = {"input": task} if task is not None else {}
    return {**value, **arguments, "type": "tool_call", "name": value.get("name") or kind}


def _parts(
    builder: SessionBuilder, value: dict[str, Any], place: Place, are_calls: bool = False
) -> list[Part]:
    """Return a message's parts. With `are_calls`, the content is a call or a list of calls."""
    has_more = not _FIELDS_BESIDE_CONTENT.isdisjoint(value)  # most messages have none of these
    parts = _reasoning(builder, value, place) if has_more else []
    key = "content"
    if value.get(key) is None:
        key = next((key for key in CONTENT if value.get(key) is not None), key)
    content = value.get(key)
    if are_calls and "tool_calls" not in value:
        return parts + _read_calls(builder, json_or_text(content), place.at(key))
    parts += read_parts(builder, content, place, key)
    if has_more:
        parts += _parts_beside_content(builder, value, place, parts)
    return parts


# `tool_plan` is Cohere's
_REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "thinking", "tool_plan")
# Fields other than the content that may hold text, calls or files.
_FIELDS_BESIDE_CONTENT: Final = {
    *_CALL_FIELDS, *_REASONING_FIELDS, "refusal", "reasoning_details", "thinking_blocks", "images",
    "attachments", "files", "additional_kwargs", "function_call", "audio", *CITATIONS,
}  # fmt: skip


def _parts_beside_content(
    builder: SessionBuilder, value: dict[str, Any], place: Place, parts_so_far: list[Part]
) -> list[Part]:
    """Return the parts outside of the content: a refusal, a transcript, calls, images, files."""
    parts: list[Part] = []
    if isinstance(value.get("refusal"), str) and value["refusal"]:
        parts.append(TextPart(value["refusal"]))
    note_left_out(builder, value, place, CITATIONS)
    audio = value.get("audio")
    if isinstance(audio, dict) and audio.get("data"):
        builder.note_beside("audio", place.at("audio"))
    if isinstance(audio, dict) and isinstance(audio.get("transcript"), str):
        parts += [text_part(audio["transcript"])] if audio["transcript"] else []
    calls = next((value[name] for name in _CALL_FIELDS if value.get(name)), None)
    extra = value.get("additional_kwargs")  # LangChain's place for fields that its classes lack
    calls = calls or (extra.get("tool_calls") if isinstance(extra, dict) else None)
    known = {part.tool_call_id for part in parts_so_far if part.type == "tool_call"}
    parts += _read_calls(builder, json_or_text(calls), place.at("tool_calls"), known)
    if isinstance(legacy := value.get("function_call"), dict):
        name, arguments = legacy.get("name"), legacy.get("arguments")
        where = place.at("function_call")
        parts.append(builder.call(builder.new_id(), name, arguments, where))
    return parts + _files(builder, value, place)


def _reasoning(builder: SessionBuilder, value: dict[str, Any], place: Place) -> list[Part]:
    """Return the model's reasoning from the first of the fields that may hold it."""
    for key in _REASONING_FIELDS:
        if isinstance(text := value.get(key), str) and text:
            return [ReasoningPart(text)]
    parts: list[Part] = []
    blocks = value.get("thinking_blocks") or value.get("reasoning_details")
    for block in blocks if isinstance(blocks, list) else ():
        parts += read_parts(builder, block, place.at("thinking_blocks"))
    return parts


def _read_calls(
    builder: SessionBuilder, calls: Any, place: Place, known_ids: set[str] | None = None
) -> list[Part]:
    """Return the parts of a call or a list of calls; a call may also hold its result. Calls with an
    id in `known_ids` are skipped, because the content has them."""
    parts: list[Part] = []
    if calls is None or calls == "":
        return parts
    for index, call in enumerate(calls if isinstance(calls, list) else [calls]):
        where = place.at(index)
        call = json_or_text(call)
        if not isinstance(call, dict):
            builder.note_loss(f"a call that is a {type(call).__name__}: {str(call)[:60]!r}", where)
            continue
        call_id, function = call.get("id"), call.get("function")
        if call_id and call_id in (known_ids or ()):
            continue
        if call_id and isinstance(function, dict):  # OpenAI's form, the most common one
            name, arguments = function.get("name"), function.get("arguments")
            parts.append(builder.call(call_id, name, arguments, where))
            continue
        inner = {**call, "type": "tool_call"}
        if not any(call.get(key) for key in _ID_FIELDS):
            inner["id"] = builder.new_id() if known_ids is None else ""
        parts += read_parts(builder, inner, where)
        result = call.get("result", call.get("output"))
        if result is not None and "function" not in call and parts[-1].type == "tool_call":
            failed = call.get("status") == "error" or bool(call.get("is_error"))
            call_id = parts[-1].tool_call_id
            parts.append(builder.result(call_id, result_value(result), is_error=failed))
    return parts


_ID_FIELDS: Final = ("id", "tool_call_id", "toolCallId", "call_id", "callId", "tool_use_id")


def _files(builder: SessionBuilder, value: dict[str, Any], place: Place) -> list[Part]:
    """Return the images and files outside of the content."""
    parts: list[Part] = []
    for index, image in enumerate(listed(value.get("images"))):
        if isinstance(image, str) and image:
            parts.append(ImagePart(_image_address(image)))
        else:
            parts += read_parts(builder, image, place.at("images", index))
    for key in ("attachments", "files"):
        for index, file in enumerate(listed(value.get(key))):
            text = file.get("extracted_content") if isinstance(file, dict) else None
            if isinstance(text, str) and text:
                parts.append(TextPart(text))
            else:
                builder.note_loss(f"an attachment: {str(file)[:60]}", place.at(key, index))
    return parts


def _image_address(image: str) -> str:
    """Return an image's URL or path; bare Base64, as Ollama has it, becomes a data URL. A text of
    less than 260 characters is taken for a path."""
    plain = image.startswith(("http", "data:", "file:", "/", ".")) or len(image) < 260
    return image if plain else f"data:image/png;base64,{image}"


def message_of_blocks(value: dict[str, Any]) -> dict[str, Any]:
    """Return Polylogue's message with its blocks as content, after the message's text if the blocks
    lack this text. The `id` of a block with a `tool_id` is dropped: it is not the call's id."""
    text = value.get("text")
    blocks = [
        {key: field for key, field in each.items() if key != "id"}
        if isinstance(each, dict) and isinstance(each.get("tool_id"), str)
        else each
        for each in value["blocks"]
    ]
    texts = [each.get("text") for each in blocks if isinstance(each, dict)]
    joined = "".join(each for each in texts if isinstance(each, str))
    is_missing = isinstance(text, str) and text.strip() and text.strip() not in joined
    missing = [{"type": "text", "text": text}] if is_missing else []
    return {**value, "text": None, "content": [*missing, *blocks]}


def read_plain_item(builder: SessionBuilder, value: dict[str, Any], place: Place) -> bool:
    """Read a call, or a result that is text, in its usual form; return False for any other item.
    This is a fast path with the same result as the general readers."""
    kind, call_id = value.get("type"), value.get("call_id")
    if not call_id or type(kind) is not str:
        return False
    if kind in _PLAIN_RESULT_KINDS:
        output = value.get("output")
        if type(output) is not str or not _PLAIN_RESULT.issuperset(value):
            return False
        builder.add_message("tool", [builder.result(call_id, output)], place)
        return True
    name, (field, known) = value.get("name"), _PLAIN_CALLS.get(kind, _NO_CALL)
    arguments = value.get(field)
    if not name or arguments is None or not known.issuperset(value):
        return False
    builder.add_to_answer([builder.call(call_id, name, arguments, place)], place)
    return True
