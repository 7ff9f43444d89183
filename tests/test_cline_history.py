"""Cline's history of a task: told by what stands in it, whatever the file is called."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.errors import InputFault
from playground.questions.cache.requests import billed_for
from playground.sessions.loading import LoadedSession, first_session
from playground.sessions.source import Source


def history(*results: str) -> list[dict[str, Any]]:
    """A task whose tools answer in the user's text."""
    said: list[dict[str, Any]] = [{"role": "user", "ts": 1767323045000, "content": "Look."}]
    for n, result in enumerate(results):
        use = {"type": "tool_use", "id": f"u{n}", "name": "read_file", "input": {"path": f"{n}.py"}}
        said += [
            {
                "role": "assistant",
                "content": [use],
                "modelInfo": {"modelId": "claude-opus-4-5", "providerId": "p", "mode": "act"},
                "metrics": {"tokens": {"prompt": 100, "completion": 5, "cached": 30}, "cost": 0.5},
                "ts": 1767323046000 + n,
            },
            {"role": "user", "content": [{"type": "text", "text": result}], "ts": 1767323047000},
        ]
    return said


def read(value: object, name: str) -> LoadedSession:
    return first_session(Source(name, json.dumps(value).encode()))


@pytest.mark.parametrize("name", ["mine.json", "tasks/7/api_conversation_history.json"])
def test_a_history_is_cline_s_by_what_it_notes_of_answers(name: str) -> None:
    loaded = read(history("[read_file for '0.py'] Result:\nx"), name)
    (record,) = loaded.session.requests
    assert (loaded.format, record.reply, record.model) == ("cline-task", 1, "claude-opus-4-5")
    assert record.at == "2026-01-02T03:04:06Z"
    assert loaded.session.named_model == "claude-opus-4-5"
    (billed,) = billed_for(loaded.session)
    assert billed is not None and (billed.read, billed.uncached) == (30, 70)
    assert record.usage is not None and record.usage["cost"] == 0.5
    assert loaded.session.title == ("7" if "/" in name else "mine")


def test_an_anthropic_conversation_is_not_cline_s() -> None:
    said = [{key: each[key] for key in ("role", "content")} for each in history("x")]
    assert read(said, "mine.json").format == "anthropic-messages"


def test_what_cline_s_window_shows_is_refused_by_its_name() -> None:
    shown = [
        {"ts": 1767323045000, "type": "say", "say": "task", "text": "Look."},
        {"ts": 1767323045001, "type": "say", "say": "api_req_started", "text": "{}"},
    ]
    for entries in (shown, [{**shown[0], "type": "ask", "ask": "tool"}, *shown]):
        with pytest.raises(InputFault) as told:
            read(entries, "x.json")
        assert "ui_messages.json" in str(told.value)
        assert "api_conversation_history.json" in told.value.expected
