"""Tools that a provider runs itself: their calls are told from a client's, their results kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from wires import FRAMINGS

from playground.recordings.decoding import decode_stream
from playground.recordings.recording import Recording, provider_parts
from playground.sessions.loading import LoadedSession, load_sessions

FOUND = [{"type": "web_search_result", "title": "Oslo", "url": "https://example.org"}]
BLOCKS: list[dict[str, Any]] = [
    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "Oslo"}},
    {"type": "web_search_tool_result", "tool_use_id": "s1", "content": FOUND},
    {"type": "text", "text": "It rains."},
]
ITEMS: list[dict[str, Any]] = [
    {"type": "mcp_call", "id": "s1", "name": "ask", "arguments": '{"q": 1}', "output": "forty"},
    {"type": "code_interpreter_call", "id": "s2", "code": "1 + 1", "outputs": [{"logs": "2"}]},
    {"type": "file_search_call", "id": "s3", "queries": ["rain"], "results": [{"text": "wet"}]},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "It rains."}],
    },
]
PARTS: list[dict[str, Any]] = [
    {"executableCode": {"language": "PYTHON", "code": "1 + 1"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
    {"text": "It rains."},
]
ANTHROPIC = {"type": "message", "role": "assistant", "content": BLOCKS, "stop_reason": "end_turn"}
RESPONSE = {"object": "response", "status": "completed", "output": ITEMS}


def anthropic() -> bytes:
    frames: list[dict[str, Any]] = [{"type": "message_start", "message": {"model": "m"}}]
    for index, block in enumerate(BLOCKS):
        frames.append({"type": "content_block_start", "index": index, "content_block": block})
        frames.append({"type": "content_block_stop", "index": index})
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    return FRAMINGS["events"]([*frames, end, {"type": "message_stop"}])


def responses() -> bytes:
    done = [{"type": "response.output_item.done", "item": item} for item in ITEMS]
    end = {"type": "response.completed", "response": {"status": "completed"}}
    return FRAMINGS["events"]([*done, end])


def gemini() -> bytes:
    chunk = {"candidates": [{"content": {"parts": PARTS}, "finishReason": "STOP"}]}
    return FRAMINGS["events"]([chunk])


def results(loaded: LoadedSession) -> list[Any]:
    return [part.result for message in loaded.session.messages for part in message.tool_results]


def told(found: Recording | LoadedSession) -> list[str]:
    return [each.message for each in found.findings if each.code == "run-by-provider"]


@pytest.mark.parametrize(
    ("stream", "calls", "kept"),
    [
        (anthropic(), ["web_search"], 1),
        (responses(), ["ask", "code_interpreter_call", "file_search_call"], 3),
        (gemini(), [], 2),
    ],
)
def test_a_streamed_call_of_the_provider_is_marked_and_what_it_gave_is_kept(
    stream: bytes, calls: list[str], kept: int
) -> None:
    """The result lay in neither content nor findings, and the call looked like a client's."""
    recording = decode_stream([stream])
    assert [call.name for call in recording.reply.tool_calls if call.by_provider] == calls
    assert not [call for call in recording.reply.tool_calls if not call.by_provider]
    parts = provider_parts(recording.chunks)
    assert sum(part.get("type") != "asked_of_provider" for part in parts) == kept
    (message,) = told(recording)
    asked = sum(part.get("type") == "asked_of_provider" for part in parts)
    counts = f"calls: {', '.join(calls) or 'none'}; results with the reply: {kept + asked}"
    assert counts in message
    assert recording.reply.content == "It rains."


def test_a_call_that_the_client_is_to_run_is_not_marked() -> None:
    item = {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}}
    done = {"type": "response.output_item.done", "item": item}
    end = {"type": "response.completed", "response": {"status": "completed"}}
    recording = decode_stream([FRAMINGS["events"]([done, end])])
    assert [call.by_provider for call in recording.reply.tool_calls] == [False]
    assert recording.findings == []


@pytest.mark.parametrize(
    ("stream", "whole", "found"),
    [
        (anthropic(), ANTHROPIC, [FOUND]),
        (responses(), RESPONSE, ["forty", [{"logs": "2"}], "wet"]),
    ],
)
def test_a_stream_and_a_whole_reply_give_the_same_results_of_the_providers_tools(
    stream: bytes, whole: dict[str, Any], found: list[Any]
) -> None:
    """Of the items of a whole response, what the interpreter and the search gave was lost."""
    for given in (stream, json.dumps(whole)):
        (loaded,) = load_sessions(given)
        assert results(loaded) == found
        assert loaded.session.messages[-1].text == "It rains."
        assert told(loaded)
        requests = [record.reply for record in loaded.session.requests]
        assert requests in ([], [len(loaded.session.messages) - 1])


def test_code_that_gemini_ran_is_a_call_and_its_result_in_a_session_of_its_stream() -> None:
    (loaded,) = load_sessions(gemini())
    calls = [part for message in loaded.session.messages for part in message.tool_calls]
    assert [(call.tool_name, call.args) for call in calls] == [
        ("code_execution", {"code": "1 + 1"})
    ]
    assert results(loaded) == ["2"]


def test_a_whole_text_that_its_deltas_do_not_say_is_told() -> None:
    """A stream of which somebody cut the deltas short, and left the whole text at its end."""
    events: list[dict[str, Any]] = [
        {"type": "response.output_text.delta", "item_id": "m", "content_index": 0, "delta": "It"},
        {"type": "response.output_text.done", "item_id": "m", "content_index": 0, "text": "It is"},
        {"type": "response.output_text.delta", "item_id": "m", "content_index": 1, "delta": "ok"},
        {"type": "response.output_text.done", "item_id": "m", "content_index": 1, "text": "ok"},
        {"type": "response.completed", "response": {"status": "completed"}},
    ]
    recording = decode_stream([FRAMINGS["events"](events)])
    assert [(found.code, found.message) for found in recording.findings] == [
        ("unreadable-frame", "a complete text that its deltas do not give: It is")
    ]
    assert recording.reply.content == "Itok"
