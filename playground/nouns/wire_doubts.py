"""Say what is uncertain in a body: contents that it lacks, of unknown size, or maybe refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from playground.nouns.wire_bodies import MARKS, addresses, is_deferred

# The fields of a message that are read, or that do not belong to the prompt.
_READ_FIELDS: Final = {
    "role", "content", "parts", "tool_calls", "function_call", "type", "id", "status",
    "cache_control", "clear_at",
}  # fmt: skip
_FETCHED_KINDS: Final = ("mcp", "mcp_toolset", "item_reference")
_SEARCHES: Final = ("file_search", "web_search", "web_search_preview")  # OpenAI's
# Kinds of OpenAI's items, with the fields whose contents the model reads
_ITEMS: Final = {
    "reasoning": ("encrypted_content", "content"),
    "file_search_call": ("results",),
    "web_search_call": ("results",),
    "code_interpreter_call": ("outputs",),
}
_CLEARED_AT: Final = "next_user_message"


def of_body(body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Describe what is uncertain in a body, apart from its tools: it has no message, or it asks for
    the latest version of a skill."""
    if not messages:
        yield "the body has no message"
    container = body.get("container")
    skills = container.get("skills") if isinstance(container, dict) else None
    for skill in skills if isinstance(skills, list) else ():
        if isinstance(skill, dict) and skill.get("version", "latest") == "latest":
            yield f"the latest version of skill {skill.get('skill_id')} may have other contents"


def of_tools(tools: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Describe what is uncertain in the tools: a doubt if all of them are deferred, then the doubts
    about each tool."""
    if tools and all(each.get("defer_loading") is True for each in tools):
        yield "every tool is deferred: a provider may refuse it"
    for number, tool in enumerate(tools):
        yield from of_tool(tool, f"tools[{number}]")


def of_tool(tool: Mapping[str, Any], path: str) -> Iterator[str]:
    """Describe what is uncertain in a tool: how much of it is in the prompt or on a server."""
    kind = str(tool.get("type") or "")
    inner = tool.get("tools") if kind == "namespace" else None
    nested = [each for each in inner if isinstance(each, dict)] if isinstance(inner, list) else []
    if is_deferred(dict(tool)):
        if any(key in tool for key in MARKS):
            yield "a mark on a deferred tool: documented as allowed, reported as error 400"
    elif any(each.get("defer_loading") for each in (tool, *nested)):
        yield "how much of a deferred function is in the prompt is not stated"
    if kind in _SEARCHES or (kind.startswith("web_search_2") and "name" not in tool):
        yield f"the results of {path} ({kind}) are on the server, not in the body"
    if kind == "shell" and "skill_reference" in json.dumps(tool.get("environment"), default=str):
        yield f"the skills of {path} are on the server, not in the body"
    yield from fetched(tool, path)


def of_message(message: Mapping[str, Any], path: str, before: str) -> Iterator[str]:
    """Describe what is uncertain in a message; `before` is the role of the previous message."""
    yield from _unread(message, path)
    kind, content = str(message.get("type") or ""), message.get("content")
    parts = (
        [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    )
    if any(each.get("type") == "compaction" for each in (message, *parts)):
        yield f"{path} is a compaction: it is not known how much of the messages before it is read"
    fields = _ITEMS.get(kind)
    if fields and not any(message.get(name) for name in fields):
        yield f"the contents of {path} ({kind}) are on the server, not in the body"
    if (cleared := message.get("clear_at")) and cleared != _CLEARED_AT:
        yield f"no rule mentions {path}.clear_at with the value {cleared!r}"
    if before != "user" and message.get("role") == "system":
        yield f"{path} is of role system and follows no message of the user: it may be refused"


def of_references(names: Iterable[str], declared: Iterable[str]) -> Iterator[str]:
    """Name the references to tools that the body does not declare."""
    for name in sorted(set(names).difference(declared)):
        yield f"a reference names the tool {name!r}, which the body does not declare"


def _unread(message: Mapping[str, Any], path: str) -> Iterator[str]:
    """Name the fields of a message that have a value but are not read. Items without a role and
    results of tools have no such fields, because each is read as one block."""
    is_one_block = message.get("role", "tool") in ("tool", "function")
    if not is_one_block and not _READ_FIELDS.issuperset(message):
        for key, value in message.items():
            if key not in _READ_FIELDS and value not in (None, "", [], {}):
                yield f"no rule mentions {path}.{key}"


def fetched(value: Mapping[str, Any], path: str) -> Iterator[str]:
    """Describe contents that the provider fetches: they are not in the body, and may change."""
    if value.get("type") in _FETCHED_KINDS:
        yield f"the target of {path} ({value['type']}) is not in the body"
        return
    content = value.get("content", value.get("parts", value.get("output")))
    if isinstance(content, list):
        for address in addresses(content):
            yield f"the file at {address[:60]}, which {path} names, is not in the body"


# Fields of a tool, a result or a call, with values that mean the same as leaving the field out
_NAMED_DEFAULTS: Final[Mapping[str, Any]] = {
    "defer_loading": False,
    "eager_input_streaming": True,
    "is_error": False,
    "type": "custom",
    "caller": {"type": "direct"},
}


def without_defaults(text: str) -> Any:
    """Return a block's text as data, without fields that have their default value."""
    try:
        data = json.loads(text)
    except ValueError:
        return text
    if not isinstance(data, dict):
        return text
    return {k: v for k, v in data.items() if k not in _NAMED_DEFAULTS or v != _NAMED_DEFAULTS[k]}
