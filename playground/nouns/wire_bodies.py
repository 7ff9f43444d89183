"""The cacheable parts of a request body: the tools, the system prompt and the messages.

Known are Anthropic, OpenAI (chat, responses), Bedrock, Gemini and OpenRouter. In the body of
another provider nothing is found.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from playground.base.shared_lists import SharedList

MARKS: Final = ("cache_control", "cachePoint", "prompt_cache_breakpoint")
_KINDS: Final = {  # kinds that Bedrock and Gemini express by a key
    "toolUse": "tool_use",
    "toolResult": "tool_result",
    "functionCall": "tool_use",
    "function_call": "tool_use",
    "functionResponse": "tool_result",
    "function_response": "tool_result",
}


def mark_holders(kind: str, value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the objects that may hold a block's mark: a result's parts, an OpenAI tool, itself."""
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
    """Return a block's content without marks. The order inside schemas and arguments is kept."""
    # A text and a list with that text as its only part are the same to the provider: a recorded
    # request that changed from one to the other read all of its 3,211 tokens from the cache.
    if kind == "text":
        return str(value.get("text") or "")
    # Only the envelope is sorted: its order varies between libraries, and providers ignore it.
    plain = {
        k: _without_marks(v) for k, v in sorted(value.items()) if k not in MARKS and v is not None
    }
    if "content" in plain and kind == "tool_result":  # a tool's answer likewise
        plain["content"] = _text_alone(plain["content"])
    return json.dumps(plain, ensure_ascii=False)


def _text_alone(content: Any) -> Any:
    """Return the text of a list with one plain text part; return any other content unchanged."""
    match content:
        case [{"type": "text", "text": str(text)} as part] if len(part) == 2:
            return text
    return content


def _without_marks(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_marks(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_marks(item) for key, item in value.items() if key not in MARKS}
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
    if isinstance(given, SharedList):  # our own list: not checked again at every request
        return given
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    if not isinstance(given, list):
        return []
    if set(map(type, given)) <= {dict}:
        return given
    return [message for message in given if isinstance(message, dict)]


def parameters_of(body: dict[str, Any], pictures: bool) -> dict[str, Any]:
    """Return the parameters that matter to a cache, by their names in cache rules, without those
    that the request does not have."""
    config = body.get("toolConfig") if isinstance(body.get("toolConfig"), dict) else {}
    output = body.get("output_config") if isinstance(body.get("output_config"), dict) else {}
    reasoning = body.get("reasoning") if isinstance(body.get("reasoning"), dict) else {}
    # `images` is True if there is any: at Anthropic the first image invalidates the messages' tier.
    known = {
        "tool_choice": body.get("tool_choice") or (config or {}).get("toolChoice"),
        "parallel_tool_calls": body.get("parallel_tool_calls"),
        "thinking": body.get("thinking"),
        "effort": body.get("reasoning_effort")
        or (output or {}).get("effort")
        or (reasoning or {}).get("effort"),
        "output_format": body.get("response_format") or body.get("output_format"),
        "verbosity": body.get("verbosity"),
        "speed": body.get("speed"),
        "images": pictures or None,
    }
    return {name: value for name, value in known.items() if value is not None}
