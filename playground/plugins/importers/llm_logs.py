"""Read logs of Simon Willison's LLM: `llm logs --json`, rows of prompts and responses.

Rows of one conversation are a session. Source: LLM's docs/logging.md and llm/logs.py (2025, 2026).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.nouns.messages import Part, TextPart
from playground.sessions.building import Place, SessionBuilder, json_or_text
from playground.sessions.formats.base import Keeps, SessionFormat
from playground.sessions.formats.chat_lines import rows
from playground.sessions.shapes.fields import listed
from playground.sessions.source import Source
from playground.sessions.times import in_seconds

_MARKS: Final = {"prompt", "response", "model", "conversation_id"}


class LlmLogs(SessionFormat):
    name = "llm-logs"
    title = "Logs of LLM (`llm logs --json`)"
    keeps = Keeps("yes", "yes", "yes", missing="attachments are not read")

    def recognises(self, source: Source) -> bool:
        found = source.head if source.is_lines else source.document
        first = found[0] if isinstance(found, list) and found else None
        return isinstance(first, dict) and first.keys() >= _MARKS and "messages" not in first

    def sessions(self, source: Source) -> Iterator[SessionBuilder]:
        found: dict[str, list[tuple[Place, dict[str, Any]]]] = {}
        unknown: list[Place] = []
        for place, value in rows(source):
            if isinstance(value, dict) and value.keys() & {"prompt", "response"}:
                found.setdefault(str(value.get("conversation_id")), []).append((place, value))
            else:
                unknown.append(place)
        for number, (key, logged_rows) in enumerate(found.items()):
            builder = SessionBuilder(title=str(logged_rows[0][1].get("conversation_name") or key))
            builder.set_metadata(name="llm", session=key)
            for place in unknown if number == 0 else ():
                builder.note_loss("an entry that is not a logged response", place)
            logged_rows.sort(key=lambda pair: str(pair[1].get("datetime_utc") or ""))
            for place, row in logged_rows:
                _row(builder, row, place)
            yield builder


def _row(builder: SessionBuilder, row: dict[str, Any], place: Place) -> None:
    _tools(builder, row.get("tools"), place.at("tools"))
    system = _prompt(row, "system")
    if system and not any(m.role == "system" and list(m.parts) == system for m in builder.messages):
        builder.add_message("system", system, place.at("system"))
    for index, result in enumerate(_objects(row.get("tool_results"))):
        output = result.get("exception") or result.get("output")
        call_id, failed = result.get("tool_call_id"), bool(result.get("exception"))
        call_id = call_id or builder.open_call(str(result.get("name") or ""))
        part = builder.result(call_id, output, result.get("name"), is_error=failed)
        builder.add_message("tool", [part], place.at("tool_results", index))
    if prompt := _prompt(row, "prompt"):
        builder.add_message("user", prompt, place.at("prompt"))
    for index, attachment in enumerate(_objects(row.get("attachments"))):
        name = attachment.get("path") or attachment.get("url") or attachment.get("type")
        builder.note_loss(f"an attachment: {str(name)[:60]}", place.at("attachments", index))
    _answer(builder, row, place)


def _answer(builder: SessionBuilder, row: dict[str, Any], place: Place) -> None:
    response = row.get("response")
    parts: list[Part] = [TextPart(response)] if isinstance(response, str) and response else []
    for index, call in enumerate(_objects(row.get("tool_calls"))):
        call_id = call.get("tool_call_id") or builder.new_id()
        where = place.at("tool_calls", index)
        parts.append(builder.call(call_id, call.get("name"), call.get("arguments"), where))
    if not parts:
        return
    builder.add_message("assistant", parts, place.at("response"))
    usage = {k: row[k] for k in ("input_tokens", "output_tokens") if row.get(k) is not None}
    details = json_or_text(row.get("token_details"))
    builder.add_request(
        model=row.get("resolved_model") or row.get("model"),
        at=row.get("datetime_utc"),
        seconds=in_seconds(row.get("duration_ms")),
        usage={**usage, "token_details": details} if isinstance(details, dict) else usage,
    )


def _prompt(row: dict[str, Any], key: str) -> list[Part]:
    """Return a row's prompt or system prompt (`key`): its fragments, and then its own text."""
    texts = [each.get("content") for each in _objects(row.get(f"{key}_fragments"))]
    return [TextPart(text) for text in [*texts, row.get(key)] if isinstance(text, str) and text]


def _tools(builder: SessionBuilder, tools: Any, place: Place) -> None:
    entries = [
        {**each, "input_schema": json_or_text(each.get("input_schema"))} for each in _objects(tools)
    ]
    builder.add_tools(entries, place)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in listed(json_or_text(value)) if isinstance(each, dict)]
