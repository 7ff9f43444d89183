"""Messages in any provider's shape into a builder: chat messages, items of responses, LangChain.

Roles are mapped to the four that there are; results inside a user's message become messages of
the role `tool`, as they are sent. A message of which nothing can be read is a finding.
"""

from __future__ import annotations

from typing import Any, Final

from playground.nouns.messages import ImagePart, Part, ReasoningPart, Role, TextPart
from playground.recordings.apis.response_items import (
    ASKED_CALLS,
    OTHER_CALLS,
    asked_of_provider,
    given_by,
)
from playground.sessions.building import Place, SessionBuilder, json_or_text, text_part
from playground.sessions.shapes.block_messages import of_blocks
from playground.sessions.shapes.fields import listed
from playground.sessions.shapes.parts import SOURCES, note_beside, read_parts, result_value
from playground.sessions.shapes.plain_items import read_plain_item
from playground.sessions.shapes.results import CONTENT, add, holds_result, read_result

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
_ITEMS: Final = ("function_call", "custom_tool_call", "reasoning", "mcp_call")
_OUTPUTS: Final = (
    "function_call_output",
    "custom_tool_call_output",
    "tool_search_output",
    "program_output",
)
_SAID: Final = ("role", "from", "sender", "speaker", "author", "type")
_CALLS: Final = ("tool_calls", "toolCalls", "toolInvocations", "toolRequests", "tool_requests")
# Most messages have these fields and no others: what is said stands in the content alone.
_PLAIN: Final = {
    "role", "type", "content", "id", "model", "usage", "timestamp", "stop_reason", "stop_sequence",
    "tool_calls", "tool_call_id", "name",
}  # fmt: skip
# What else stands beside content, and says nothing.
_PLAIN_BESIDE: Final = {*_PLAIN, "container", "context_management", "stop_details"}
_OF_GEMINI: Final = {"role", "parts"}
_GEMINI_ROLES: Final[dict[str, Role]] = {"user": "user", "model": "assistant"}
_PLAIN_ROLES: Final[tuple[Role, ...]] = ("user", "assistant", "system")
_CALL_ROLES: Final = {"function_call", "function-call", "tool_calls", "tool_call"}
# Fields that stand beside what was said; anything else that is not empty may be what was said.
_BESIDE: Final = {
    *_SAID, *CONTENT, *_CALLS, "id", "uuid", "name", "model", "timestamp", "created_at", "usage",
    "stop_reason", "finish_reason", "metadata", "refusal", "reasoning", "reasoning_content",
    "reasoning_details", "thinking", "tool_plan", "thinking_blocks", "thoughts", "images", "files",
    "attachments", "additional_kwargs", "response_metadata", "function_call", "cache_control",
    "status", "audio", "annotations", "object", "kind", "session_id", "sessionId", "parentId",
    "parent_id",
}  # fmt: skip


def read_messages(builder: SessionBuilder, values: Any, place: Place) -> None:
    """A list of messages, or that list as JSON text; another text alone is the user's."""
    values = json_or_text(values)
    if isinstance(values, str):
        values = [{"role": "user", "content": values}]
    for index, value in enumerate(values if isinstance(values, list) else [values]):
        before = len(builder.messages)
        read_message(builder, value, place.at(index))
        join_thought(builder, before)


def role_of(value: dict[str, Any]) -> Role | None:
    """Return the role that a message says it has, by any of the names that a role is given
    under.
    """
    given = value.get("role")
    role = ROLES.get(given) if type(given) is str else None
    return role or ROLES.get(_role_name(value))


def _role_name(value: dict[str, Any]) -> str:
    given = value.get("role")
    if isinstance(given, str) and given in ROLES:
        return given
    for key in _SAID:
        given = value.get(key)
        if isinstance(given, dict):
            given = given.get("role")
        if isinstance(given, str) and given:
            return (
                given.lower() if given.lower() in ROLES else given.removesuffix("Message").lower()
            )
    return ""


def read_message(builder: SessionBuilder, value: Any, place: Place) -> None:
    """Read one message of any provider; one of no known shape is a finding."""
    if not isinstance(value, dict):
        builder.lost(f"a message that is a {type(value).__name__}", place)
        return
    if _plain_message(builder, value, place) or read_plain_item(builder, value, place):
        return
    outer, value = value, bare_message(value)
    if outer is not value:
        note_beside(builder, outer, place, SOURCES)
    if _item(builder, value, place):
        return
    given = _role_name(value)
    role = ROLES.get(given)
    if role is None and given and builder.open_call(given):  # LangGraph: the tool's name
        value = {**value, "tool_call_id": builder.open_call(given), "name": given}
        role = "tool"
    if role is None:
        builder.lost(f"a message with the role {given!r}", place)
    elif role == "tool" and holds_result(value):
        read_result(builder, value, place)
    elif _is_unknown(value):
        named = ", ".join(sorted(map(str, value)))
        builder.lost(f"a message whose content stands under no known name ({named})", place)
    elif role == "tool":
        read_result(builder, value, place)
    else:
        add(builder, role, _parts(builder, value, place, given in _CALL_ROLES), place)


def _plain_message(builder: SessionBuilder, value: dict[str, Any], place: Place) -> bool:
    """Read a message of the most common form; return False, and read nothing, for any other."""
    if "parts" in value and value.keys() == _OF_GEMINI and type(value["parts"]) is list:
        if (spoken := _GEMINI_ROLES.get(str(value["role"]))) is None:
            return False
        add(builder, spoken, read_parts(builder, value["parts"], place, "parts"), place)
        return True
    content = value.get("content")
    known = _PLAIN_BESIDE if content else _PLAIN
    if not known.issuperset(value) or value.get("type", "message") != "message":
        return False
    role = value.get("role")
    if role in _PLAIN_ROLES:
        if not content or "tool_calls" in value:
            add(builder, role, _parts(builder, value, place), place)
        elif type(content) is str:
            builder.say(role, [text_part(content)], place)
        else:
            add(builder, role, read_parts(builder, content, place, "content"), place)
        return True
    if role == "tool" and content is not None:
        read_result(builder, value, place)
        return True
    return False


def bare_message(value: dict[str, Any]) -> dict[str, Any]:
    """Return a message out of what a framework puts around it (LangChain as it serialises and as
    it stores, Continue, Google's ADK); with its role, where AutoGen names the speaker; others as
    they are.
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
        return of_blocks(value)
    if value.get("type") == "TextMessage" and isinstance(value.get("source"), str):
        return {**value, "role": "user" if value["source"] == "user" else "assistant"}
    return value


def _item(builder: SessionBuilder, value: dict[str, Any], place: Place) -> bool:
    """Read an item of a response, which has a type and no role; return False for anything else."""
    kind = str(value.get("type") or "")
    outer = "role" not in value and "from" not in value
    if kind in _OUTPUTS or (kind.endswith("_call_output") and outer):
        add(builder, "tool", read_parts(builder, value, place), place)
        return True
    is_hosted = kind.endswith("_call") or kind in OTHER_CALLS
    if kind not in _ITEMS and not (is_hosted and outer):
        return False
    if kind not in ASKED_CALLS and kind != "reasoning":
        builder.by_provider(str(value.get("name") or kind), place)
    parts = read_parts(builder, _as_call(value, kind), place)
    if builder.messages and builder.messages[-1].role == "assistant":
        builder.add_parts(parts)  # items of one response follow one another
    else:
        add(builder, "assistant", parts, place)
    if gave := given_by(value):  # its provider ran it, and says in the same item what came of it
        add(builder, "assistant", read_parts(builder, gave, place), place)
    return True


def join_thought(builder: SessionBuilder, index: int) -> int:
    """Join an answer to what the model thought before it, where that is a message of its own;
    the index of the whole answer."""
    if not 0 < index < len(builder.messages) or builder.messages[index].role != "assistant":
        return index
    before = builder.messages[index - 1]
    if before.role != "assistant" or any(part.type != "reasoning" for part in before.parts):
        return index
    parts = builder.messages.pop(index).parts
    builder.places.pop(index)
    builder.add_parts(parts, index - 1)
    return index - 1


def _is_unknown(value: dict[str, Any]) -> bool:
    """Return True if no known field holds anything, but an unknown one does."""
    if value.get("content") is not None:
        return False
    if any(value.get(key) is not None for key in (*CONTENT, *_CALLS)):
        return False
    if any(value.get(key) not in (None, "", [], {}) for key in _BESIDE - set(_SAID) - _DATA):
        return False
    rest = (held for key, held in value.items() if key not in _BESIDE)
    return any(isinstance(held, str | list | dict) and held for held in rest)


_DATA: Final = {"id", "uuid", "name", "model", "timestamp", "created_at", "usage", "metadata"}


def _as_call(value: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return a hosted tool's item as a call: what it was to do stands under its own name."""
    if kind in _ITEMS:
        return value
    task = asked_of_provider(value)
    given = {"input": task} if task is not None else {}
    return {**value, **given, "type": "tool_call", "name": value.get("name") or kind}


def _parts(
    builder: SessionBuilder, value: dict[str, Any], place: Place, are_calls: bool = False
) -> list[Part]:
    more = not _MORE.isdisjoint(value)  # most messages have none of these
    parts = _reasoning(builder, value, place) if more else []
    key = "content"
    if value.get(key) is None:
        key = next((key for key in CONTENT if value.get(key) is not None), key)
    content = value.get(key)
    if are_calls and "tool_calls" not in value:
        return parts + _calls(builder, json_or_text(content), place.at(key))
    parts += read_parts(builder, content, place, key)
    if more:
        parts += _besides(builder, value, place, parts)
    return parts


_THOUGHTS: Final = ("reasoning_content", "reasoning", "thinking", "tool_plan")  # Cohere's plan
# Fields beside the content in which something may be said.
_MORE: Final = {
    *_CALLS, *_THOUGHTS, "refusal", "reasoning_details", "thinking_blocks", "images",
    "attachments", "files", "additional_kwargs", "function_call", "audio", *SOURCES,
}  # fmt: skip


def _besides(
    builder: SessionBuilder, value: dict[str, Any], place: Place, parts_so_far: list[Part]
) -> list[Part]:
    """Read what stands beside the content: a refusal, calls, images and files."""
    parts: list[Part] = []
    if isinstance(value.get("refusal"), str) and value["refusal"]:
        parts.append(TextPart(value["refusal"]))
    note_beside(builder, value, place, SOURCES)
    audio = value.get("audio")
    if isinstance(audio, dict) and audio.get("data"):
        builder.beside("audio", place.at("audio"))
    if isinstance(audio, dict) and isinstance(audio.get("transcript"), str):
        parts += [text_part(audio["transcript"])] if audio["transcript"] else []
    calls = next((value[name] for name in _CALLS if value.get(name)), None)
    extra = value.get("additional_kwargs")  # LangChain's place for what its classes do not have
    calls = calls or (extra.get("tool_calls") if isinstance(extra, dict) else None)
    known = {part.tool_call_id for part in parts_so_far if part.type == "tool_call"}
    parts += _calls(builder, json_or_text(calls), place.at("tool_calls"), known)
    if isinstance(legacy := value.get("function_call"), dict):
        name, arguments = legacy.get("name"), legacy.get("arguments")
        where = place.at("function_call")
        parts.append(builder.call(builder.new_id(), name, arguments, where))
    return parts + _beside(builder, value, place)


def _reasoning(builder: SessionBuilder, value: dict[str, Any], place: Place) -> list[Part]:
    """Return the model's thought from the first of the fields that may hold it."""
    for key in _THOUGHTS:
        if isinstance(text := value.get(key), str) and text:
            return [ReasoningPart(text)]
    parts: list[Part] = []
    blocks = value.get("thinking_blocks") or value.get("reasoning_details")
    for block in blocks if isinstance(blocks, list) else ():
        parts += read_parts(builder, block, place.at("thinking_blocks"))
    return parts


def _calls(
    builder: SessionBuilder, calls: Any, place: Place, known: set[str] | None = None
) -> list[Part]:
    """Return a list of calls, or one; each may hold its result. `known` are calls of the
    content.
    """
    parts: list[Part] = []
    if calls is None or calls == "":
        return parts
    for index, call in enumerate(calls if isinstance(calls, list) else [calls]):
        where = place.at(index)
        call = json_or_text(call)
        if not isinstance(call, dict):
            builder.lost(f"a call that is a {type(call).__name__}: {str(call)[:60]!r}", where)
            continue
        given, function = call.get("id"), call.get("function")
        if given and given in (known or ()):
            continue
        if given and isinstance(function, dict):  # OpenAI's form, which most files have
            name, arguments = function.get("name"), function.get("arguments")
            parts.append(builder.call(given, name, arguments, where))
            continue
        inner = {**call, "type": "tool_call"}
        if not any(call.get(key) for key in _IDS):
            inner["id"] = builder.new_id() if known is None else ""
        parts += read_parts(builder, inner, where)
        result = call.get("result", call.get("output"))
        if result is not None and "function" not in call and parts[-1].type == "tool_call":
            failed = call.get("status") == "error" or bool(call.get("is_error"))
            given = builder.result(parts[-1].tool_call_id, result_value(result), is_error=failed)
            parts.append(given)
    return parts


_IDS: Final = ("id", "tool_call_id", "toolCallId", "call_id", "callId", "tool_use_id")


def _beside(builder: SessionBuilder, value: dict[str, Any], place: Place) -> list[Part]:
    """Images and files that stand beside the content."""
    parts: list[Part] = []
    for index, image in enumerate(listed(value.get("images"))):
        if isinstance(image, str) and image:
            parts.append(ImagePart(_address(image)))
        else:
            parts += read_parts(builder, image, place.at("images", index))
    for key in ("attachments", "files"):
        for index, file in enumerate(listed(value.get(key))):
            text = file.get("extracted_content") if isinstance(file, dict) else None
            if isinstance(text, str) and text:
                parts.append(TextPart(text))
            else:
                builder.lost(f"an attachment: {str(file)[:60]}", place.at(key, index))
    return parts


def _address(image: str) -> str:
    """Ollama's images are Base64 without a head; the others are addresses or paths."""
    plain = image.startswith(("http", "data:", "file:", "/", ".")) or len(image) < 260
    return image if plain else f"data:image/png;base64,{image}"
