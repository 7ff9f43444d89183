"""Find what providers cache in a request body: the tools, the system prompt and the messages.

It knows the bodies of Anthropic, OpenAI (chat, responses), Bedrock, Gemini and OpenRouter.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from playground.base.shared_lists import SharedList
from playground.nouns.messages import PICTURE_KINDS

_WRITER: Final = json.JSONEncoder(ensure_ascii=False)  # `dumps` would make one for each block
MARKS: Final = ("cache_control", "cachePoint", "prompt_cache_breakpoint")
_MARKS: Final = frozenset(MARKS)
_KINDS: Final = {  # kinds of parts, by the keys of Bedrock and Gemini
    "toolUse": "tool_use",
    "toolResult": "tool_result",
    "functionCall": "tool_use",
    "function_call": "tool_use",
    "functionResponse": "tool_result",
    "function_response": "tool_result",
}
_HELD_AS_BLOCKS: Final = frozenset(
    ("messages", "input", "contents", "tools", "functions", "system", "instructions",
     "systemInstruction", "system_instruction"),
)  # fmt: skip
_CONVERSE: Final = frozenset(
    ("inferenceConfig", "toolConfig", "additionalModelRequestFields", "guardrailConfig", "modelId")
)
_PART_KEYS: Final = frozenset(("text", "cachePoint", "toolUse", "toolResult", "image", "document"))
_ANTHROPIC: Final = frozenset(("system", "anthropic_version", "cache_control", "thinking"))
_HISTORIES: Final = (  # fields that refer to messages that the provider keeps
    "previous_response_id", "conversation", "previous_interaction_id", "cachedContent",
    "cached_content", "prompt",
)  # fmt: skip
_AS_NAMED: Final = (  # parameters that caching rules name as a body does
    "speed", "prompt_cache_key", "context_management", "user_id", "workspace_id", "container",
    "inference_geo",
)  # fmt: skip
_MORE: Final = "additionalModelRequestFields"


def mark_holders(kind: str, value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects that may hold a block's mark: the block itself, the parts of a result, and
    the function of an OpenAI tool."""
    if kind == "text":
        return [value]
    content, function = value.get("content"), value.get("function")
    parts = content if kind == "tool_result" and isinstance(content, list) else ()
    return [holder for holder in (*parts, function, value) if isinstance(holder, dict)]


def holds_marks(body: Mapping[str, Any]) -> bool:
    """Return True if any object in a body has a mark's key."""
    values: list[Any] = [dict(body)]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            if not _MARKS.isdisjoint(value):
                return True
            value = value.values()
        values += [inner for inner in value if isinstance(inner, dict | list | tuple | SharedList)]
    return False


def kind_of(part: dict[str, Any]) -> str:
    kind = part.get("type")
    if kind in ("text", "input_text", "output_text") or (kind is None and "text" in part):
        return "text"
    key = next(iter(part), "")
    return str(kind or _KINDS.get(key, key))


def identity(kind: str, value: dict[str, Any]) -> str:
    """Return a block's content without marks; the order of keys in schemas and arguments counts."""
    # A text alone and a list of one text part are the same to the provider: a recorded request that
    # changed from one to the other read all of its 3,211 tokens from the cache.
    if kind == "text":
        return str(value.get("text") or "")
    # The outer keys are sorted, because libraries differ in their order, which does not matter.
    plain = {
        key: item if isinstance(item, str) else _unmarked(item)
        for key, item in sorted(value.items())
        if key not in MARKS and item is not None
    }
    if "content" in plain and kind == "tool_result":  # a text alone equals a list of it, as above
        plain["content"] = _text_alone(plain["content"])
    return _WRITER.encode(plain)


def _text_alone(content: Any) -> Any:
    """Return the text of a list of one text part; return any other content unchanged."""
    match content:
        case [{"type": "text", "text": str(text)} as part] if len(part) == 2:
            return text
    return content


def _unmarked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unmarked(item) for item in value]
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items() if key not in MARKS}
    return value


def parts_of(content: Any) -> Iterator[dict[str, Any]]:
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    for part in content if isinstance(content, list) else ():
        yield part if isinstance(part, dict) else {"type": "text", "text": str(part)}


def tools_of(body: dict[str, Any]) -> Any:
    """Return the tools of a body, also those in Bedrock's `toolConfig` or in OpenAI's older
    `functions`."""
    config = body.get("toolConfig")
    tools = body.get("tools") or (config.get("tools") if isinstance(config, dict) else None)
    functions = body.get("functions")
    if isinstance(tools, list) and isinstance(functions, list):
        return [*tools, *functions]
    return tools or functions


def system_of(body: dict[str, Any]) -> Any:
    gemini = body.get("systemInstruction") or body.get("system_instruction")
    return gemini.get("parts") if isinstance(gemini, dict) else body.get("system")


def raw_messages_of(body: dict[str, Any]) -> Any:
    """Return a body's messages unchanged, even if they are not a list."""
    for key in ("messages", "input", "contents"):
        if key in body:
            return body[key]
    return None


def messages_of(body: dict[str, Any]) -> Sequence[dict[str, Any]]:
    messages = raw_messages_of(body)
    if isinstance(messages, SharedList):  # our own list, which holds only messages
        return messages
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    if not isinstance(messages, list):
        return []
    if set(map(type, messages)) <= {dict}:
        return messages
    return [message for message in messages if isinstance(message, dict)]


def settings_of(body: dict[str, Any]) -> dict[str, Any]:
    """Return a body's fields without tools, system prompt and messages (`toolConfig` is kept)."""
    return {k: v for k, v in body.items() if k not in _HELD_AS_BLOCKS and v is not None}


def api_of(body: dict[str, Any]) -> str:
    """Return the form of a body: messages, chat, responses, converse or gemini."""
    if "contents" in body:
        return "gemini"
    if "input" in body:
        return "responses"
    if not _CONVERSE.isdisjoint(body) or _has_converse_parts(body):
        return "converse"
    return "messages" if not _ANTHROPIC.isdisjoint(body) else "chat"


def _has_converse_parts(body: dict[str, Any]) -> bool:
    """Return True if the first part of the system prompt or of a message has a key for its kind, as
    in Converse; in other forms it has a `type`."""
    messages = body.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    for content in (body.get("system"), first.get("content") if isinstance(first, dict) else None):
        part = content[0] if isinstance(content, list) and content else None
        if isinstance(part, dict) and "type" not in part and not _PART_KEYS.isdisjoint(part):
            return True
    return False


def model_of(body: Mapping[str, Any]) -> str:
    """Return the model that a body names; Converse writes it as `modelId`. "" if it names none."""
    return str(body.get("model") or body.get("modelId") or "")


def ttl_of(body: dict[str, Any]) -> str | None:
    """Return the lifetime that a body sets for all its cache entries, or None if it sets none."""
    options = body.get("prompt_cache_options")
    ttl = options.get("ttl") if isinstance(options, dict) else None
    return ttl if isinstance(ttl, str) and ttl else None


def is_deferred(tool: dict[str, Any]) -> bool:
    """Return True for a tool of Anthropic's that is loaded only when a search finds it."""
    is_function = tool.get("type") == "function" or "parameters" in tool or "function" in tool
    return tool.get("defer_loading") is True and not is_function


def referenced_tools(value: Any) -> Iterator[str]:
    """Yield the names in the tool references of a block, in order."""
    if isinstance(value, list):
        for item in value:
            yield from referenced_tools(item)
    elif isinstance(value, dict):
        if value.get("type") == "tool_reference":
            yield str(value.get("tool_name") or value.get("name"))
        for item in value.values():
            if isinstance(item, dict | list):
                yield from referenced_tools(item)


_OPAQUE_FIELDS: Final = frozenset(
    ("file_id", "file_url", "file_data", "file", "image_url", "image", "video", "audio",
     "input_audio", "encrypted_content", "data", "bytes", "s3Location", "url", "fileData",
     "inlineData", "inline_data", "redactedContent", "container_id"),
)  # fmt: skip
_OPAQUE_KINDS: Final = frozenset(
    ("container_upload", "image_generation_call", "item_reference", "computer_call_output")
)
_INNER_FIELDS: Final = (
    "source", "content", "output", "document", "toolResult", "functionResponse", "reasoningContent",
)  # fmt: skip
_DEFINITION_FIELDS: Final = frozenset(
    ("input_schema", "parameters", "function", "custom", "toolSpec", "functionDeclarations",
     "function_declarations", "description"),
)  # fmt: skip


def is_opaque(kind: str, value: Mapping[str, Any]) -> bool:
    """Return True if a block's text does not show its number of tokens: it holds a picture, a file
    or an encrypted thought, or is a tool that the provider defines."""
    if kind == "text":
        return False
    if kind == "tool":
        is_named = value.get("type") in ("custom", None) and "name" in value
        return _DEFINITION_FIELDS.isdisjoint(value) and not is_named
    return kind in _OPAQUE_KINDS or _holds_opaque(value)


def _holds_opaque(value: Any) -> bool:
    if isinstance(value, list):
        return any(_holds_opaque(item) for item in value)
    if not isinstance(value, dict):
        return False
    if value.get("type") == "text":  # a text, or a source that is a text
        return False
    if not _OPAQUE_FIELDS.isdisjoint(value):
        return True
    for name in _INNER_FIELDS:
        inner = value.get(name)
        if inner and not isinstance(inner, str) and _holds_opaque(inner):
            return True
    return False


_ADDRESS_FIELDS: Final = ("image_url", "file_url", "fileUri", "file_uri", "uri")


def addresses(value: Any) -> Iterator[str]:
    """Yield the addresses in a block from which the provider fetches something."""
    if isinstance(value, list):
        for item in value:
            yield from addresses(item)
    elif isinstance(value, dict):
        for name in (*_ADDRESS_FIELDS, *(["url"] if value.get("type") == "url" else [])):
            source = value.get(name)
            source = source.get("url") if isinstance(source, dict) else source
            if isinstance(source, str) and not source.startswith("data:"):
                yield source
        for name in (*_INNER_FIELDS, "fileData", "file_data", "s3Location", "image", "video"):
            if isinstance(value.get(name), dict | list):
                yield from addresses(value[name])


def has_pictures(value: Any) -> bool:
    """Return True if a message holds a picture, in a tool's result too."""
    if isinstance(value, list):
        return any(has_pictures(item) for item in value)
    if not isinstance(value, dict):
        return False
    if value.get("type") in PICTURE_KINDS or isinstance(value.get("image"), dict):
        return True
    return any(has_pictures(value[name]) for name in _INNER_FIELDS if name in value)


def has_citations(message: dict[str, Any]) -> bool:
    """Return True if a document in a message has its citations switched on."""
    content = message.get("content")
    return any(
        isinstance(part, dict)
        and isinstance(cited := part.get("citations"), dict)
        and bool(cited.get("enabled"))
        for part in (content if isinstance(content, list) else ())
    )


# Parameters that caching rules name, and their paths in a body; the first with a value counts.
PARAMETER_PATHS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "tool_choice": (("tool_choice",), ("toolConfig", "toolChoice"), ("function_call",)),
    "parallel_tool_calls": (("parallel_tool_calls",),),
    "thinking": (("thinking",), (_MORE, "thinking")),
    "effort": (
        ("reasoning_effort",), ("output_config", "effort"), (_MORE, "output_config", "effort"),
        ("reasoning", "effort"),
    ),
    "output_format": (
        ("response_format",), ("output_format",), ("output_config", "format"),
        (_MORE, "output_config", "format"), ("text", "format"), ("outputConfig", "textFormat"),
    ),
    "verbosity": (("verbosity",), ("text", "verbosity")),
    "service_tier": (("service_tier",), ("serviceTier",)),
    **{name: ((name,),) for name in _AS_NAMED},
}  # fmt: skip


def parameters_of(body: dict[str, Any], pictures: bool, cites: bool = False) -> dict[str, Any]:
    """Return the parameters of a body that are not null, by the names that caching rules use.
    `pictures` and `cites` are True if its messages hold pictures or documents with citations."""
    parameters = {name: _first_at(body, paths) for name, paths in PARAMETER_PATHS.items()}
    # `images` is True if there is a picture: with Anthropic the first picture changes the key under
    # which messages are cached.
    parameters |= {
        "images": pictures or None,
        "citations": cites or None,
        "history": history_of(body),
    }
    return {name: value for name, value in parameters.items() if value is not None}


def _first_at(body: dict[str, Any], paths: tuple[tuple[str, ...], ...]) -> Any:
    for path in paths:
        value: Any = body
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        if value:
            return value
    # If a parameter has a single path, false and 0 are values too.
    return body.get(paths[0][0]) if len(paths) == 1 else None


def settings_left(
    settings: Mapping[str, Any], fields: Iterable[str], parameters: Iterable[str]
) -> Iterator[tuple[str, Any]]:
    """Yield (path in the body, value) for the values in these fields that are not `parameters`."""
    parameter_paths = {path for name in parameters for path in PARAMETER_PATHS.get(name, ())}
    for field in fields:
        yield from _unnamed_values(settings.get(field), (field,), parameter_paths)


def _unnamed_values(
    value: Any, path: tuple[str, ...], parameters: Collection[tuple[str, ...]]
) -> Iterator[tuple[str, Any]]:
    if value is None or path in parameters:
        return
    if isinstance(value, dict) and any(each[: len(path)] == path for each in parameters):
        for key, item in value.items():
            yield from _unnamed_values(item, (*path, key), parameters)
    else:
        yield ".".join(path), value


def history_of(body: dict[str, Any]) -> str | None:
    """Return a body's reference to a history that the provider keeps, or None."""
    for name in _HISTORIES:
        value = body.get(name)
        if name == "prompt" and not isinstance(value, dict):
            continue  # the text of a completion
        if value:
            reference = value.get("id") if isinstance(value, dict) else value
            return f"{name} {reference}"
    return None


def forces_a_tool(choice: Any) -> bool:
    """Return True for a choice that forces a tool, in any API's form."""
    if isinstance(choice, dict) and "type" not in choice:  # Converse's choice, or a `function_call`
        return not {"any", "tool", "name"}.isdisjoint(choice)
    if isinstance(choice, dict):
        return choice["type"] in ("function", "custom", "tool", "any")
    return choice in ("required", "any")


def call_ids(message: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ids of a message's calls, and the ids of the calls that its results answer."""
    listed, content = message.get("tool_calls"), message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if type(content) is list else []
    calls = [
        call for call in (listed if isinstance(listed, list) else ()) if isinstance(call, dict)
    ]
    calls += [part for part in parts if part.get("type") == "tool_use"]
    results = [part.get("tool_use_id") for part in parts if part.get("type") == "tool_result"]
    answered = (message.get("tool_call_id"), *results)
    return tuple(str(call.get("id")) for call in calls), tuple(str(one) for one in answered if one)
