"""Files of coding agents that hold more than the least example of their format."""

from __future__ import annotations

import json
from typing import Any

from session_examples import ANSWER, ARGS, ASK, EXAMPLES, ID, NAME, RESULT, SAY, TIME, TOOL, zipped

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
