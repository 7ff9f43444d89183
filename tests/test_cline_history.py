"""Cline's history of a task: told by what stands in it, whatever the file is called."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.base.errors import InputFault
from playground.cache.answers.requests import billed_for
from playground.recordings.recording import UNREADABLE, Recording, SignalChunk
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


def codes(loaded: LoadedSession) -> list[str]:
    return [found.code for found in loaded.findings]


def test_results_that_stand_as_text_are_not_missing() -> None:
    loaded = read(history(*(f"[read_file for '{n}.py'] Result:\nx" for n in range(5))), "x.json")
    (told,) = loaded.findings
    assert (told.code, told.severity) == ("results-in-text", "info")
    assert told.message == "5 results, as text and not as a part"
    bare = read(history("[read_file] Result:\nx"), "x.json")
    assert codes(bare) == ["results-in-text"]


def test_what_no_text_answers_is_missing_still() -> None:
    """One of another tool, and one that is spoken of within a line."""
    others = ("[list_files for '.'] Result:\nx", "It says [read_file] Result: x", "no")
    loaded = read(history("[read_file for '0.py'] Result:\nx", *others), "x.json")
    assert sorted(codes(loaded)) == [*["missing-result"] * 3, "results-in-text"]


@pytest.mark.parametrize(
    "header",
    ["X-Api-Key: {}", "api-key: {}", "Authorization: Bearer {}", "Set-Cookie: a={}", "X-Own: {}"],
)
def test_a_line_that_is_no_frame_is_shown_without_its_key(header: str) -> None:
    key = "sk-" + "ant-api03-" + "Ab3xY9Qw" * 5
    if "Own" not in header:
        key = key[-12:]  # one that nothing but its header's name tells
    line = header.format(key)
    chunk = SignalChunk(signal=f"{UNREADABLE}{line}")
    found = Recording("r", "", (chunk,)).findings[0]
    assert found.code == "unreadable-frame"
    assert key[:8] not in found.message
    assert found.message.startswith(header.partition(":")[0])
