"""Find what providers cache in a request body: the tools, the system prompt and the messages.

Known are Anthropic, OpenAI (chat, responses), Bedrock, Gemini and OpenRouter; others give nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from playground.base.shared_lists import SharedList

MARKS: Final = ("cache_control", "cachePoint", "prompt_cache_breakpoint")
_KINDS: Final = {  # what Bedrock and Gemini name by a key
    "toolUse": "tool_use",
    "toolResult": "tool_result",
    "functionCall": "tool_use",
    "function_call": "tool_use",
    "functionResponse": "tool_result",
    "function_response": "tool_result",
}


_HELD_AS_BLOCKS: Final = frozenset(
    ("messages", "input", "contents", "tools", "system", "instructions", "systemInstruction",
     "system_instruction"),
)  # fmt: skip
_CONVERSE: Final = frozenset(
    ("inferenceConfig", "toolConfig", "additionalModelRequestFields", "guardrailConfig")
)
_ANTHROPIC: Final = frozenset(("system", "anthropic_version", "cache_control", "thinking"))
_HISTORIES: Final = (
    "previous_response_id", "conversation", "previous_interaction_id", "cachedContent",
    "cached_content", "prompt",
)  # fmt: skip
_AS_NAMED: Final = (
    "speed", "service_tier", "prompt_cache_key", "context_management", "user_id", "workspace_id",
    "container", "inference_geo",
)  # fmt: skip


def mark_holders(kind: str, value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the objects that may hold a block's mark: itself, a result's parts, an OpenAI tool."""
    content, function = value.get("content"), value.get("function")
    if kind == "tool_result" and isinstance(content, list):
        yield from (part for part in content if isinstance(part, dict))
    if isinstance(function, dict):
        yield function
    yield value


def kind_of(part: dict[str, Any]) -> str:
    kind = part.get("type")
    if kind in ("text", "input_text", "output_text") or (kind is None and "text" in part):
        return "text"
    key = next(iter(part), "")
    return str(kind or _KINDS.get(key, key))


def identity(kind: str, value: dict[str, Any]) -> str:
    """Return a block's content without marks; order inside schemas and arguments counts."""
    # A text alone and a list of one text part are one block to the provider: a recorded request
    # that changed from one to the other read all of its 3,211 tokens.
    if kind == "text":
        return str(value.get("text") or "")
    # Only the envelope is sorted: providers do not see its order, libraries vary it.
    plain = {k: _unmarked(v) for k, v in sorted(value.items()) if k not in MARKS and v is not None}
    if "content" in plain and kind == "tool_result":  # the same of what a tool answered
        plain["content"] = _text_alone(plain["content"])
    return json.dumps(plain, ensure_ascii=False)


def _text_alone(content: Any) -> Any:
    """The text of a list that holds it alone; anything else as it is."""
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
    config = body.get("toolConfig")
    # Bedrock's Converse keeps its tools one level deeper.
    return body.get("tools") or (config.get("tools") if isinstance(config, dict) else None)


def system_of(body: dict[str, Any]) -> Any:
    gemini = body.get("systemInstruction") or body.get("system_instruction")
    return gemini.get("parts") if isinstance(gemini, dict) else body.get("system")


def messages_of(body: dict[str, Any]) -> Sequence[dict[str, Any]]:
    given = next((body[key] for key in ("messages", "input", "contents") if key in body), None)
    if isinstance(given, SharedList):  # our own, and not looked through at every request
        return given
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    if not isinstance(given, list):
        return []
    if set(map(type, given)) <= {dict}:
        return given
    return [message for message in given if isinstance(message, dict)]


def settings_of(body: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a body beside its tools, its system prompt and its messages."""
    return {k: v for k, v in body.items() if k not in _HELD_AS_BLOCKS and v is not None}


def api_of(body: dict[str, Any]) -> str:
    """Return the form of a body: messages, chat, responses, converse or gemini."""
    if "contents" in body:
        return "gemini"
    if "input" in body:
        return "responses"
    if not _CONVERSE.isdisjoint(body):
        return "converse"
    return "messages" if not _ANTHROPIC.isdisjoint(body) else "chat"


def ttl_of(body: dict[str, Any]) -> str | None:
    """Return the life that a body asks for all of its entries (`prompt_cache_options.ttl`)."""
    options = body.get("prompt_cache_options")
    ttl = options.get("ttl") if isinstance(options, dict) else None
    return ttl if isinstance(ttl, str) and ttl else None


def is_deferred(tool: dict[str, Any]) -> bool:
    """Return True for a tool of Anthropic's that is loaded when it is found, not before."""
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


def has_citations(message: dict[str, Any]) -> bool:
    """Return True if a document in a message has its citations switched on."""
    content = message.get("content")
    return any(
        isinstance(part, dict)
        and isinstance(cited := part.get("citations"), dict)
        and bool(cited.get("enabled"))
        for part in (content if isinstance(content, list) else ())
    )


def parameters_of(body: dict[str, Any], pictures: bool, cites: bool = False) -> dict[str, Any]:
    """Parameters by the rules' names; what a request does not say is no change."""
    config, more = _object(body, "toolConfig"), _object(body, "additionalModelRequestFields")
    output = _object(body, "output_config") or _object(more, "output_config")
    reasoning, text = _object(body, "reasoning"), _object(body, "text")
    # `images` is whether there is any: with Anthropic the first one salts the messages' tier.
    known = {
        "tool_choice": body.get("tool_choice") or config.get("toolChoice"),
        "parallel_tool_calls": body.get("parallel_tool_calls"),
        "thinking": body.get("thinking") or more.get("thinking"),
        "effort": body.get("reasoning_effort") or output.get("effort") or reasoning.get("effort"),
        "output_format": body.get("response_format")
        or body.get("output_format")
        or output.get("format")
        or text.get("format"),
        "verbosity": body.get("verbosity") or text.get("verbosity"),
        "images": pictures or None,
        "citations": cites or None,
        "history": history_of(body),
        **{name: body.get(name) for name in _AS_NAMED},
    }
    return {name: value for name, value in known.items() if value is not None}


def history_of(body: dict[str, Any]) -> str | None:
    """Return the name of what holds the history that this body leaves out, or None."""
    for name in _HISTORIES:
        value = body.get(name)
        if name == "prompt" and not isinstance(value, dict):
            continue  # the text of a completion
        if value:
            held = value.get("id") if isinstance(value, dict) else value
            return f"{name} {held}"
    return None


def forces_a_tool(choice: Any) -> bool:
    """Return True for a choice that forces a tool, in any API's form."""
    if isinstance(choice, dict):
        return choice.get("type") in ("function", "custom", "tool", "any")
    return choice in ("required", "any")


def _object(body: dict[str, Any], name: str) -> dict[str, Any]:
    value = body.get(name)
    return value if isinstance(value, dict) else {}
