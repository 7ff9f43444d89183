"""Files of coding agents that hold more than the least example of their format."""

from __future__ import annotations

import json
from typing import Any

import pytest
from session_examples import ANSWER, ARGS, ASK, EXAMPLES, ID, NAME, RESULT, SAY, TIME, TOOL, zipped

import playground as pg
from playground.base.errors import InputFault
from playground.plugins.importers.shapes.options import Options, options_of
from playground.sessions.loading import first_session
from playground.sessions.source import Source


def test_openhands_events_bring_system_prompt_tools_and_calls_without_a_reply() -> None:
    tool = {"function_name": NAME, "tool_call_id": ID}
    agent = {"source": "agent", "timestamp": TIME}
    events: list[dict[str, Any]] = [
        {"id": 0, **agent, "action": "system", "args": {"content": "Be brief.", "tools": [TOOL]}},
        {"id": 1, "source": "user", "action": "message", "args": {"content": ASK}},
        {"id": 2, **agent, "action": "call", "args": {"thought": SAY, **ARGS}}
        | {"tool_call_metadata": tool},
        {"id": 3, **agent, "observation": "call", "cause": 2, "content": RESULT}
        | {"tool_call_metadata": tool},
        {"id": 4, **agent, "action": "run", "args": {"command": "ls"}},
        {"id": 5, **agent, "observation": "error", "cause": 4, "content": "no"},
        {"id": 6, **agent, "action": "message", "args": {"content": ANSWER}},
    ]
    loaded = first_session(Source("e.json", json.dumps(events).encode()))
    assert [each.code for each in loaded.findings if each.severity != "info"] == []
    session = loaded.session
    assert [tool.name for tool in session.tools] == [NAME]
    assert [(message.role, message.text) for message in session.messages] == [
        ("system", "Be brief."),
        ("user", ASK),
        ("assistant", SAY),
        ("tool", ""),
        ("assistant", ""),
        ("tool", ""),
        ("assistant", ANSWER),
    ]
    calls = [call for message in session.messages for call in message.tool_calls]
    assert [(call.tool_call_id, call.tool_name, call.args) for call in calls] == [
        (ID, NAME, ARGS),
        ("event_4", "run", {"command": "ls"}),
    ]
    results = [result for message in session.messages for result in message.tool_results]
    assert [(one.tool_call_id, one.result, one.is_error) for one in results] == [
        (ID, RESULT, False),
        ("event_4", "no", True),
    ]
    assert [request.reply for request in session.requests] == [4, 6]


def test_a_zip_of_cline_s_tasks_takes_each_task_s_own_counts() -> None:
    (history, said), (interface, counts) = EXAMPLES["cline-task"].content.items()  # type: ignore
    for folder in ("", "Downloads/tasks/7/"):
        members = {
            folder + history.rpartition("/")[2]: said,
            folder + interface.rpartition("/")[2]: counts,
        }
        loaded = first_session(Source("tasks.zip", zipped(members)))
        assert loaded.format == "cline-task"
        usage = [request.usage for request in loaded.session.requests if request.usage]
        assert usage == [{"tokensIn": 12, "tokensOut": 3}]


def test_opencode_keeps_an_image_and_names_any_other_file() -> None:
    files = dict(EXAMPLES["opencode"].content)  # type: ignore[arg-type]
    file = {"messageID": "m1", "sessionID": "s", "type": "file"}
    image = {**file, "id": "p8", "mime": "image/png", "url": "data:image/png;base64,iVBORw=="}
    text = {**file, "id": "p9", "mime": "text/plain", "filename": "tides.csv"}
    files["part/m1/8.json"] = json.dumps(image).encode()
    files["part/m1/9.json"] = json.dumps(text).encode()
    loaded = first_session(Source("storage.zip", zipped(files)))
    assert [type(part).__name__ for part in loaded.session.messages[0].parts] == [
        "TextPart",
        "ImagePart",
    ]
    assert ["tides.csv" in found.message for found in loaded.findings] == [True]


def test_codex_s_items_keep_their_ids_and_calls_without_one_get_one() -> None:
    data = EXAMPLES["codex-exec"].content
    assert isinstance(data, bytes)
    call_ids = []
    for given in (data, data.replace(b'"id": "i1", ', b"")):
        session = first_session(Source("log.jsonl", given)).session
        (call,) = (call for message in session.messages for call in message.tool_calls)
        (result,) = (one for message in session.messages for one in message.tool_results)
        assert result.tool_call_id == call.tool_call_id
        call_ids.append(call.tool_call_id)
    assert call_ids[0] == "i1" and call_ids[1] not in ("", "i1", "None")


def test_pi_s_model_is_the_one_that_was_chosen_last() -> None:
    data = EXAMPLES["pi-session"].content
    assert isinstance(data, bytes)
    first, *others = data.decode().splitlines()
    change = {"type": "model_change", "id": "c", "provider": "p", "modelId": "claude-opus-4-5"}
    quiet = [line.replace('"model": "m", ', "") for line in others]
    session = first_session(
        Source("pi.jsonl", "\n".join([first, json.dumps(change), *quiet]).encode())
    ).session
    assert session.named_model == "claude-opus-4-5"


def test_an_error_of_copilot_is_told_by_its_first_eighty_characters() -> None:
    data = EXAMPLES["copilot-chat"].content
    assert isinstance(data, bytes)
    chat = json.loads(data)
    chat["requests"][0]["result"]["errorDetails"] = {"message": "é" * 80 + "x"}
    found = first_session(Source("chat.json", json.dumps(chat).encode())).findings
    (told,) = [each.message for each in found if "an error:" in each.message]
    assert "é" * 80 in told and "éx" not in told


def test_results_in_a_text_go_to_the_calls_that_they_name() -> None:
    def written(tag: str, **values: Any) -> str:
        return f"<{tag}>\n{json.dumps(values)}\n</{tag}>"

    calls = [written("tool_call", name=name, arguments={}) for name in ("tides", "wind")]
    results = [written("tool_response", name=name, content=name) for name in ("wind", "tides")]
    turns = [("human", ASK), ("gpt", "\n".join(calls)), ("tool", "\n".join(results))]
    row = {"conversations": [{"from": who, "value": text} for who, text in turns]}
    session = first_session(Source("rows.jsonl", json.dumps(row).encode())).session
    names = {c.tool_call_id: c.tool_name for m in session.messages for c in m.tool_calls}
    answered = [r for message in session.messages for r in message.tool_results]
    assert [(names[one.tool_call_id], one.result) for one in answered] == [
        ("wind", "wind"),
        ("tides", "tides"),
    ]


def test_options_that_are_no_object_are_named() -> None:
    assert options_of({}, "[1]", '{"temperature": 0.5}') == Options(
        {"temperature": 0.5}, ("a list in the place of options",)
    )


def test_a_file_without_a_recording_says_what_would_be_one() -> None:
    expected = "it holds no recording; expected a stream, a reply, or a session"
    with pytest.raises(InputFault, match=expected):
        pg.load_recording(EXAMPLES["pi-session"].content)
