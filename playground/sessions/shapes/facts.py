"""Read the facts beside a message about the request that it answered, under many tools' names."""

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


_WHAT: Final = {name: what for what, names in _NAMES.items() for name in names}


def facts(*holders: Any) -> dict[str, Any]:
    """Model, usage, time and stop reason, each of the first holder that gives it."""
    found: dict[str, Any] = {}
    for holder in holders:
        for name, value in holder.items() if isinstance(holder, dict) else ():
            what = _WHAT.get(name)
            if what is None or what in found:
                continue
            if isinstance(value, dict) and what not in (
                "usage",
                "diagnostics",
            ):  # {"created": …}, {"modelID": …}
                value = value.get("created", value.get("modelID"))
            if isinstance(value, _TYPES[what]) and value != "":
                found[what] = value
    return found


def note_answer(builder: SessionBuilder, before: int, *holders: Any) -> None:
    """Note the request of the first answer among the messages since `before`, if there is one.

    Nothing is noted until something is known of one; from then on all are, those before it too."""
    for index in range(before, len(builder.messages)):
        if builder.messages[index].role == "assistant":
            known = facts(*holders)
            if known and not builder.requests:
                _note_unknown(builder, before)
            if known or builder.requests:
                builder.request(**known, reply=index)
            return


def _note_unknown(builder: SessionBuilder, stop: int) -> None:
    for index, message in enumerate(builder.messages[:stop]):
        if message.role == "assistant":
            builder.request(reply=index)
