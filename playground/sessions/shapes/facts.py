"""Read facts about a message's request, such as model, usage and time, under any tool's names."""

from __future__ import annotations

from typing import Any, Final

from playground.sessions.building import SessionBuilder

_NAMES: Final = {
    "model": (
        "model",
        "modelID",
        "modelId",
        "model_id",
        "model_name",
        "model_slug",
        "modelVersion",
    ),
    "usage": ("usage", "tokens", "token_usage", "tokenUsage", "usageMetadata", "usage_metadata"),
    "at": ("timestamp", "created_at", "createdAt", "create_time", "time", "ts", "date", "created"),
    "stop_reason": ("stop_reason", "stopReason", "finish_reason", "finishReason", "finish"),
    "seconds": ("latency", "seconds"),
    "diagnostics": ("diagnostics", "prompt_cache_diagnostics"),
}
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "model": (str,),
    "usage": (dict,),
    "at": (str, int, float),
    "stop_reason": (str,),
    "seconds": (int, float),
    "diagnostics": (dict,),
}


_FACT_OF_FIELD: Final = {name: fact for fact, names in _NAMES.items() for name in names}


def facts(*holders: Any) -> dict[str, Any]:
    """Return the facts that `_NAMES` lists, each from the first holder that has it."""
    found: dict[str, Any] = {}
    for holder in holders:
        for name, value in holder.items() if isinstance(holder, dict) else ():
            fact = _FACT_OF_FIELD.get(name)
            if fact is None or fact in found:
                continue
            if isinstance(value, dict) and dict not in _TYPES[fact]:  # opencode's time or model
                value = value.get("created", value.get("modelID"))
            if isinstance(value, _TYPES[fact]) and value != "":
                found[fact] = value
    return found


def add_answer_facts(builder: SessionBuilder, start: int, *holders: Any) -> None:
    """Add a request with the facts for the first answer among the messages from `start`. Nothing is
    added before a session's first known fact; then earlier answers get requests, too."""
    for index in range(start, len(builder.messages)):
        if builder.messages[index].role == "assistant":
            known = facts(*holders)
            if known and not builder.requests:
                _add_unknown(builder, start)
            if known or builder.requests:
                builder.add_request(**known, reply=index)
            return


def _add_unknown(builder: SessionBuilder, stop: int) -> None:
    for index, message in enumerate(builder.messages[:stop]):
        if message.role == "assistant":
            builder.add_request(reply=index)
