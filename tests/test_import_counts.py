"""Importing loses nothing: counts of the raw file, by a walk of its own, are those of the sessions.

Then single files that were read wrong once, each as small as it can be.
"""

from __future__ import annotations

import base64
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from raw_counts import FOLDER_WALKS, SMALL_WALKS, UNCOUNTED, WALKS, Counts, raw_counts
from session_examples import (
    ANSWER,
    ANTHROPIC,
    ARGS,
    ASK,
    CALL,
    EXAMPLES,
    GEMINI,
    ID,
    NAME,
    OPENAI,
    RESULT,
    SAY,
    TEXT_ARGS,
    TIME,
    TOOL,
    USAGE,
    document,
    hermes_row,
    lines,
    socket_row,
    toolace_row,
)

import playground as pg
from playground.base.errors import InputFault
from playground.nouns.messages import Message, TextPart
from playground.plugins.corpus.requests import sent_requests
from playground.sessions.building import Place, SessionBuilder
from playground.sessions.formats import recognised, request_rows
from playground.sessions.importing import summary
from playground.sessions.loading import LoadedSession, first_session, load_sessions, read_sessions
from playground.sessions.rows import bodies
from playground.sessions.source import Source

SHARED = ROOT.parent / "shared" / "data"
beside = pytest.mark.skipif(
    not SHARED.exists(), reason="NOT RUN: ../shared/data is not beside this checkout"
)
NAMES = ("messages", "calls", "results", "usage")


def counts(sessions: list[LoadedSession]) -> dict[str, int]:
    """What was read, counted as the walks count."""
    found = dict.fromkeys(NAMES, 0)
    for loaded in sessions:
        for message in loaded.session.messages:
            found["messages"] += message.role != "tool" and bool(message.parts)
            found["calls"] += len(message.tool_calls)
            assert message.role == "assistant" or not message.tool_calls, "nobody is sent this call"
            found["results"] += len(message.tool_results)
        found["usage"] += sum(bool(record.usage) for record in loaded.session.requests)
    return found


def different(sessions: list[LoadedSession], data: bytes) -> dict[str, tuple[int, int]]:
    """Figures that differ: ours and the raw file's."""
    form = sessions[0].format
    raw = raw_counts(data, form)
    assert raw is not None
    left_out = UNCOUNTED.get(form, set())
    theirs = dict(zip(NAMES, raw.figures(), strict=True))
    ours = counts(sessions)
    return {
        name: (ours[name], theirs[name])
        for name in NAMES
        if ours[name] != theirs[name] and name not in left_out
    }


@pytest.mark.parametrize("name", [n for n in EXAMPLES if n in WALKS and n != "chatgpt-export"])
def test_an_example_holds_what_its_raw_file_holds(name: str) -> None:
    data = EXAMPLES[name].content
    assert isinstance(data, bytes)
    sessions = list(read_sessions(Source(EXAMPLES[name].name, data)))
    assert sessions[0].format == name
    assert different(sessions, data) == {}


@pytest.mark.parametrize("name", sorted([*SMALL_WALKS, *FOLDER_WALKS]))
def test_an_example_of_a_trace_or_a_recording_holds_what_its_raw_file_holds(
    name: str, tmp_path: Path
) -> None:
    content, raw = EXAMPLES[name].content, Counts()
    if isinstance(content, bytes):
        SMALL_WALKS[name](content, raw)
        sessions = list(read_sessions(Source(EXAMPLES[name].name, content)))
    else:
        FOLDER_WALKS[name](content, raw)
        for inner, data in content.items():
            (tmp_path / inner).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / inner).write_bytes(data)
        sessions = list(load_sessions(tmp_path))
    assert sessions[0].format == name
    assert tuple(counts(sessions).values()) == raw.figures()


def test_every_format_has_a_walk() -> None:
    known = {*WALKS, *SMALL_WALKS, *FOLDER_WALKS}
    # a stream in a file of our own, and a session that was counted when it came
    assert set(EXAMPLES) - known == {"recording", "workspace"}


def test_the_law_can_fail() -> None:
    """A message that is taken away is seen by the comparison, in every format."""
    for name in sorted(set(EXAMPLES) & set(WALKS) - {"chatgpt-export", "aider-llm-history"}):
        data = EXAMPLES[name].content
        assert isinstance(data, bytes)
        sessions = list(read_sessions(Source(EXAMPLES[name].name, data)))
        session = sessions[0].session
        for index, message in enumerate(session.messages):
            if message.role == "tool" and "results" in UNCOUNTED.get(name, set()):
                continue
            if message.role != "tool" and "messages" in UNCOUNTED.get(name, set()):
                continue
            left = (*session.messages[:index], *session.messages[index + 1 :])
            spoiled = replace(sessions[0], session=replace(session, messages=left))
            assert different([spoiled, *sessions[1:]], data), (name, index)


# Files whose counts differ from the walk's for a reason that is known.
KNOWN = {
    "claude__small.jsonl": "lines of an agent and a sub-agent with one message id",
    "grok__chat_history.jsonl": "reasoning at the end, and a hosted tool's line: a finding",
    "2025-06-30_12-46-48Z-fix-unknown-field-error-in-api-request.md": "turns without a text",
}


@beside
def test_files_of_other_projects_hold_what_their_raw_files_hold() -> None:
    read = compared = 0
    for folder in ("session_formats", "more_session_formats"):
        for path in sorted((SHARED / folder).rglob("*")):
            if not path.is_file() or path.suffix in (".yaml", ".yml"):
                continue
            try:
                sessions = list(load_sessions(path))
            except InputFault:
                continue
            read += 1
            if sessions[0].format in WALKS and not any(name in path.name for name in KNOWN):
                compared += 1
                assert different(sessions, path.read_bytes()) == {}, path
    assert read > 150
    assert compared > 90


@beside
def test_examples_of_every_newer_format_are_read() -> None:
    folder = SHARED / "more_session_formats"
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.name != "index.json"):
        sessions = list(load_sessions(path))
        assert any(loaded.session.messages for loaded in sessions), path


# single files


def read(form: str, *values: Any, name: str = "x.jsonl") -> LoadedSession:
    data = lines(*values) if name.endswith("l") else document(values[0])
    loaded = first_session(Source(name, data))
    assert loaded.format == form
    return loaded


def claude(kind: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    common = {"sessionId": "s", "uuid": "u", "isSidechain": False, "version": "2.1.0"}
    return {**common, "type": kind, "message": message, **more}


def use(number: int) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"t{number}", "name": NAME, "input": ARGS}


def done(number: int) -> dict[str, Any]:
    content = [{"type": "tool_result", "tool_use_id": f"t{number}", "content": RESULT}]
    return {"role": "user", "content": content}


def test_pieces_of_one_answer_with_results_between_them_are_one_request() -> None:
    answer = {"id": "m1", "role": "assistant", "model": "m", "usage": USAGE}
    loaded = read(
        "claude-code",
        claude("user", ANTHROPIC[0]),
        claude("assistant", {**answer, "content": [use(1)]}),
        claude("user", done(1)),
        claude("assistant", {**answer, "content": [use(2)]}),
        claude("user", done(2)),
    )
    messages = loaded.session.messages
    assert [m.role for m in messages] == ["user", "assistant", "tool", "tool"]
    assert [call.tool_call_id for call in messages[1].tool_calls] == ["t1", "t2"]
    assert [(r.reply, r.usage) for r in loaded.session.requests] == [(1, USAGE)]
    assert loaded.findings == []


def test_an_agents_own_words_about_an_error_are_no_request() -> None:
    error = {"id": "e", "role": "assistant", "model": "<synthetic>", "usage": {"input_tokens": 0}}
    said = {"id": "m", "role": "assistant", "model": "m", "content": SAY, "usage": USAGE}
    loaded = read(
        "claude-code",
        claude("user", ANTHROPIC[0]),
        claude("assistant", said),
        claude("assistant", {**error, "content": "API Error"}),
    )
    assert [r.model for r in loaded.session.requests] == ["m"]
    assert loaded.session.task.model_name == "m"
    assert loaded.session.messages[-1].text == "API Error"


def test_sub_agents_are_sessions_of_their_own() -> None:
    side = {"isSidechain": True, "agentId": "a1"}
    loaded = list(
        read_sessions(
            Source(
                "s.jsonl",
                lines(
                    claude("user", ANTHROPIC[0]),
                    claude("user", {"role": "user", "content": "look"}, **side),
                    claude("assistant", {"role": "assistant", "content": SAY}, **side),
                    claude("assistant", ANTHROPIC[3]),
                ),
            )
        )
    )
    assert [len(x.session.messages) for x in loaded] == [2, 2]
    assert [x.session.agent.sub_agent for x in loaded] == ["", "a1"]
    assert {(x.session.agent.name, x.session.agent.session) for x in loaded} == {
        ("claude-code", "s")
    }
    assert loaded[0].session.agent.version == "2.1.0"


def test_a_compaction_is_kept_as_a_boundary() -> None:
    boundary = {"subtype": "compact_boundary", "compactMetadata": {"preTokens": 9}}
    at = "2026-01-02T04:04:05+01:00"
    loaded = read(
        "claude-code",
        claude("user", ANTHROPIC[0]),
        claude("assistant", {"role": "assistant", "content": SAY}),
        {"type": "system", "uuid": "u", "sessionId": "s", "timestamp": at, **boundary},
        claude("user", {"role": "user", "content": "summary"}, isCompactSummary=True),
    )
    (compaction,) = loaded.session.compactions
    assert (compaction.message, compaction.tokens_before) == (2, 9)
    assert compaction.at == "2026-01-02T03:04:05Z"


def test_times_are_utc_and_what_is_no_time_is_none_and_a_finding() -> None:
    def message(at: Any) -> dict[str, Any]:
        return {"role": "assistant", "content": SAY, "timestamp": at}

    times = ["2026-01-02T04:04:05+01:00", 1767323045, 1767323045000, "2026-01-02T03:04:05Z"]
    times.append("Fri, 02 Jan 2026 03:04:05 GMT")
    loaded = read("message-lines", *(message(at) for at in [*times, "yesterday", -1]))
    ats = [r.at for r in loaded.session.requests]
    assert ats == ["2026-01-02T03:04:05Z"] * 5 + ["", ""]
    unread = [f for f in loaded.findings if f.code == "time-unread"]
    assert [f.message for f in unread] == ["not a time: 'yesterday'", "not a time: -1"]


def test_a_request_has_the_time_of_its_beginning() -> None:
    """claude-tap stamps a row at its answer's end; Claude Code has a line for each piece."""
    row = {**TAPPED, "request_id": "r", "turn": 1, "timestamp": "2026-01-02T03:04:05.500+00:00"}
    for duration, sent in ((1500, "2026-01-02T03:04:04Z"), (None, "2026-01-02T03:04:05.500000Z")):
        session = read("request-rows", {**row, "duration_ms": duration, "usage": USAGE}).session
        assert session.rows[0].at == session.requests[0].at == sent
    started = {**row, "start_time": "2026-01-02T03:04:01Z"}
    assert read("request-rows", started).session.rows[0].at == "2026-01-02T03:04:01Z"
    answer = {"id": "m1", "role": "assistant", "model": "m"}
    texts = [{**answer, "content": [{"type": "text", "text": text}]} for text in ("One", "Two")]
    times = [f"2026-01-02T03:04:0{second}Z" for second in (1, 9)]
    pieces = [claude("assistant", t, timestamp=at) for t, at in zip(texts, times, strict=True)]
    (request,) = read("claude-code", claude("user", QUESTION), *pieces).session.requests
    assert request.at == times[0]


def test_objects_on_one_line_are_a_line_each() -> None:
    """Qwen Code: two lines whose break was not written."""
    data = lines(claude("user", ANTHROPIC[0]), claude("assistant", ANTHROPIC[3])).replace(
        b"}\n{", b"}{"
    )
    for end in (b"", lines(claude("user", ANTHROPIC[0]))):
        loaded = first_session(Source("x.jsonl", data + end))
        assert [m.text for m in loaded.session.messages][:2] == [ASK, ANSWER]
        assert loaded.findings == []
    broken = data.rstrip(b"\n") + b'{"type": "us'
    with pytest.raises(InputFault, match="Extra data"):
        first_session(Source("x.jsonl", broken), "claude-code")


def observed(*messages: Any) -> LoadedSession:
    generation = {"type": "GENERATION", "input": json.dumps({"messages": messages})}
    return read("langfuse-trace", {"id": "t", "observations": [generation]}, name="t.json")


def test_messages_that_a_framework_printed_are_messages() -> None:
    """Agno's: a model of pydantic as text, in which values may look like fields."""
    loaded = observed(
        "role='system' content='Say \\'x=1\\' y=2' name=None tool_calls=None metrics=M(a=0, b={})",
        f"role='user' content={ASK!r} name=None",
        f"role='assistant' content=None tool_calls=[{CALL!r}] metrics=M(a=0)",
        f"role='tool' content={RESULT!r} tool_call_id={ID!r} tool_calls=None",
    )
    messages = loaded.session.messages
    assert [m.role for m in messages] == ["system", "user", "assistant", "tool"]
    assert [m.text for m in messages][:2] == ["Say 'x=1' y=2", ASK]
    assert [(c.tool_call_id, c.args) for c in messages[2].tool_calls] == [(ID, ARGS)]
    assert [(r.tool_call_id, r.result) for r in messages[3].tool_results] == [(ID, RESULT)]
    assert loaded.findings == []


def test_what_is_printed_and_no_message_is_told() -> None:
    loaded = observed({"role": "user", "content": ASK}, "role='user' content=Text(", "x")
    assert [m.text for m in loaded.session.messages] == [ASK]
    assert [f.code for f in loaded.findings] == ["part-lost", "part-lost"]


def test_calls_that_stand_in_a_tools_message_are_calls() -> None:
    """Koog's."""
    loaded = observed(
        {"role": "user", "content": ASK},
        {"role": "tool", "content": json.dumps([{"function": CALL["function"], "id": ID}])},
        {"role": "tool", "content": RESULT},
    )
    (call,) = loaded.session.messages[1].tool_calls
    assert (call.tool_call_id, call.tool_name, call.args) == (ID, NAME, ARGS)
    assert [r.result for r in loaded.session.messages[2].tool_results] == [RESULT]


def test_a_whole_completion_is_no_stream_that_broke_off() -> None:
    """One that says how it ended can be replayed; one that does not is a reply all the same."""
    choice = {"index": 0, "message": OPENAI[3]}
    reply = {"object": "chat.completion", "choices": [choice], "usage": USAGE}
    loaded = read("reply", reply, name="x.json")
    assert [m.text for m in loaded.session.messages] == [ANSWER]
    assert [r.usage for r in loaded.session.requests] == [USAGE]
    assert loaded.findings == []
    ended = {**reply, "choices": [{**choice, "finish_reason": "stop"}]}
    loaded = read("stream", ended, name="x.json")
    assert [r.reply.content for r in loaded.session.recordings] == [ANSWER]
    assert loaded.findings == []


def test_a_line_that_leaves_nothing_is_a_finding() -> None:
    noise = {"kind": "noise", "payload": 1}
    loaded = read("message-lines", *OPENAI, noise, noise)
    assert [(f.code, f.where, f.severity) for f in loaded.findings] == [
        ("lines-left-out", "line 5", "warning")
    ]
    assert "2 lines of the kind 'noise'" in loaded.findings[0].message


def test_a_file_in_which_most_lines_leave_nothing_is_refused() -> None:
    noise = [{"kind": "noise", "payload": n} for n in range(5)]
    with pytest.raises(InputFault, match=r"x\.jsonl:5: nothing is kept of 5 of the 9 "):
        read("message-lines", *OPENAI, *noise)


def test_content_under_another_name_is_read_and_under_none_is_a_finding() -> None:
    said = [{"role": "user", "text": ASK}, {"role": "assistant", "text": SAY}]
    loaded = read("openai-chat", {"id": "1", "messages": said}, name="x.json")
    assert [m.text for m in loaded.session.messages] == [ASK, SAY]
    odd = [*said, {"role": "user", "utterance": "?"}]
    loaded = read("openai-chat", {"messages": odd}, name="x.json")
    assert [f.code for f in loaded.findings] == ["part-lost"]
    assert "utterance" in loaded.findings[0].message


def test_a_message_without_a_role_is_no_result_of_the_call_that_waits() -> None:
    loaded = read("openai-chat", {"messages": [*OPENAI[:2], {"content": "?"}]}, name="x.json")
    assert [m.role for m in loaded.session.messages] == ["user", "assistant"]
    assert "part-lost" in [f.code for f in loaded.findings]


def test_text_in_front_of_the_first_turn_of_a_history_is_told() -> None:
    text = f"# Title\n\nA note.\n\n_**User**_\n\n{ASK}\n"
    loaded = first_session(Source("x.md", text.encode()))
    assert [f.message for f in loaded.findings] == ["text before the first turn: 'A note.'"]


def test_sealed_reasoning_is_kept_and_told() -> None:
    content = [{"type": "redacted_thinking", "data": "AAAA"}, {"type": "text", "text": SAY}]
    loaded = read("claude-code", claude("assistant", {"role": "assistant", "content": content}))
    assert [part.type for part in loaded.session.messages[0].parts] == ["reasoning", "text"]
    assert [f.code for f in loaded.findings] == ["reasoning-sealed"]


@pytest.mark.parametrize(("row", "tool"), [(hermes_row(), NAME), (toolace_row(), "Get Weather")])
def test_calls_in_texts_of_training_data_are_calls(row: dict[str, Any], tool: str) -> None:
    loaded = read("sharegpt", [row], name="x.json")
    messages = loaded.session.messages
    calls = [call for message in messages for call in message.tool_calls]
    results = [result for message in messages for result in message.tool_results]
    assert [(call.tool_name, call.args["city"]) for call in calls] == [(tool, "Oslo")]
    assert [(r.tool_call_id, r.result) for r in results] == [(calls[0].tool_call_id, RESULT)]
    assert [each.name for each in loaded.session.tools] == [NAME]
    assert loaded.findings == []


def test_what_only_looks_like_a_call_stays_text_and_is_told() -> None:
    said = [{"from": "human", "value": ASK}, {"from": "gpt", "value": "[f(open('x'))]"}]
    loaded = read("sharegpt", {"conversations": said}, {"conversations": said})
    assert loaded.session.messages[1].text == "[f(open('x'))]"
    assert [f.code for f in loaded.findings] == ["part-lost", "more-sessions"]


def test_every_branch_of_a_conversation_is_a_session() -> None:
    def node(name: str, parent: str | None, text: str) -> dict[str, Any]:
        role = "user" if name[0] == "u" else "assistant"
        content = {"content_type": "text", "parts": [text]}
        said = {"author": {"role": role}, "content": content}
        return {"id": name, "parent": parent, "message": said}

    nodes = [node("u", None, "q"), node("a", "u", "one"), node("b", "u", "two")]
    tree = {"mapping": {n["id"]: n for n in nodes}, "current_node": "b", "title": "t"}
    loaded = list(read_sessions(Source("c.json", document([tree]))))
    assert [[m.text for m in x.session.messages] for x in loaded] == [["q", "two"], ["q", "one"]]
    assert [f.code for f in loaded[0].findings] == ["other-branches"]


def test_requests_of_one_session_are_rows_beside_its_transcript() -> None:
    loaded = first_session(Source("trace.jsonl", EXAMPLES["request-rows"].content))  # type: ignore[arg-type]
    session = loaded.session
    assert [len(body["messages"]) for body in bodies(session.rows)] == [1, 3]
    assert [(record.reply, bool(record.usage)) for record in session.requests] == [
        (1, True),
        (3, True),
    ]


def test_requests_over_one_socket_are_one_conversation_with_whole_rows() -> None:
    session = first_session(Source("trace.jsonl", lines(socket_row(4)))).session
    said = [text for turn in range(4) for text in (f"question {turn}", f"answer {turn}")]
    assert [message.text for message in session.messages] == said
    inputs = [[item["content"] for item in body["input"]] for body in bodies(session.rows)]
    assert inputs == [said[: 2 * turn + 1] for turn in range(4)]
    assert [row.shared for row in session.rows] == [0, 1, 3, 5]


def test_requests_over_one_socket_are_not_made_whole_one_by_one() -> None:
    """2,000 of them took 20 seconds and more, as the square of their number."""
    exchanges = list(request_rows._exchanges(socket_row(50), Place()))
    assert sum(len(exchange.request["input"]) for exchange in exchanges if exchange.request) == 99


def test_an_answer_of_thousands_of_pieces_is_read_piece_by_piece() -> None:
    """Each piece had all before it checked again, in the square of their number."""
    parts = [TextPart(str(number)) for number in range(6_000)]
    builder = SessionBuilder()
    builder.add_message("assistant", [], Place())
    began = time.process_time()
    for part in parts:
        builder.add_parts([part])
    assert time.process_time() - began < 3  # 0.1 s; before, it was 12
    assert builder.messages == [Message("assistant", tuple(parts))]


def test_a_langsmith_piece_without_an_id_is_told_by_its_place_in_the_trace() -> None:
    asked = {"run_type": "llm", "inputs": {"messages": [QUESTION]}}
    whole = [{**asked, "id": str(n), "dotted_order": f"t{n}"} for n in range(3)]
    pieces = [
        {
            "dotted_order": f"t{n}",
            "outputs": {"messages": [{"role": "assistant", "content": f"{n}"}]},
        }
        for n in (2, 0, 1, 7)
    ]
    loaded = list(read_sessions(Source("r.json", document({"post": whole, "patch": pieces}))))
    assert [x.session.messages[-1].text for x in loaded] == ["0", "1", "2"]
    assert [f.code for f in loaded[0].findings] == ["part-lost"]


# Other shapes that the same tools write: a file's name, its content, its format, and how many
# messages, calls, results and requests with usage it holds.

QUESTION, LAST = OPENAI[0], OPENAI[3]
CALLED = {"role": "assistant", "content": [use(1)]}
EVENT = {"id": "0", "msg": {"type": "agent_message", "message": SAY}}
SHELL = {"type": "exec_command_begin", "call_id": "c", "command": ["ls"]}
SHELL_END = {"type": "exec_command_end", "call_id": "c", "stdout": "x", "exit_code": 0}
TITAN = {"inputTextTokenCount": 3, "results": [{"tokenCount": 5, "outputText": SAY}]}


def cassette(key: str, request: Any, response: Any, path: str) -> bytes:
    exchange = {
        "request": {"uri": f"https://x/{path}", "body": {"string": json.dumps(request)}},
        "response": {"status": 200, "body": response},
    }
    return document({key: [exchange]})


def langchain(kind: str, **kwargs: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", kind], "kwargs": kwargs}


def run() -> dict[str, Any]:
    call = {"name": NAME, "args": ARGS, "id": "c"}
    message = langchain("AIMessage", content="", tool_calls=[call])
    return {
        "run_type": "llm",
        "inputs": {"messages": [[langchain("HumanMessage", content=ASK)]]},
        "outputs": {
            "generations": [[{"text": "", "type": "ChatGeneration", "message": message}]],
            "llm_output": {"token_usage": {"prompt_tokens": 3}},
        },
    }


VARIANTS: list[tuple[str, bytes, str, tuple[int, int, int, int]]] = [
    ("x.jsonl", lines({"prompt": ASK}, EVENT), "codex-exec", (2, 0, 0, 0)),
    (
        "x.jsonl",
        lines({"id": "0", "msg": SHELL}, {"id": "0", "msg": SHELL_END}, EVENT),
        "codex-exec",
        (2, 1, 1, 0),
    ),
    (
        "x.json",
        json.dumps(
            [
                {"type": "system", "subtype": "init", "session_id": "s"},
                {"type": "assistant", "session_id": "s", "message": CALLED},
                {"type": "user", "session_id": "s", "message": done(1)},
                {"type": "result", "session_id": "s", "result": SAY},
            ]
        ).encode(),
        "claude-stream-json",
        (2, 1, 1, 0),
    ),
    ("x.jsonl", lines(run()), "langsmith-runs", (2, 1, 0, 1)),
    ("x.jsonl", lines({"prompt": [QUESTION], "completion": [LAST]}), "openai-lines", (2, 0, 0, 0)),
    ("x.jsonl", lines({"messages": json.dumps(OPENAI)}), "openai-lines", (3, 1, 1, 0)),
    ("x.jsonl", lines({"log": {"said": OPENAI}}), "any-chat", (3, 1, 1, 0)),
    (
        "x.txt",
        b"Loaded credentials.\n" + lines({"type": "init", "session_id": "s"}, OPENAI[0]),
        "gemini-stream-json",
        (0, 0, 0, 0),
    ),
    (
        "x.json",
        cassette(
            "http_interactions",
            {"messages": [QUESTION]},
            {"string": json.dumps({"choices": [{"message": LAST}], "usage": USAGE})},
            "v1",
        ),
        "vcr-cassette",
        (2, 0, 0, 1),
    ),
    (
        "x.json",
        cassette(
            "interactions",
            {"inputText": ASK},
            {
                "encoding": "",
                "base64_string": base64.b64encode(json.dumps(TITAN).encode()).decode(),
            },
            "model/amazon.titan/invoke",
        ),
        "vcr-cassette",
        (2, 0, 0, 1),
    ),
]


STRIPPED = [
    {"type": "user", "timestamp": TIME, "message": {"content": ASK}},
    {"type": "assistant", "timestamp": TIME, "message": {"content": [use(1)]}},
    {"type": "user", "timestamp": TIME, "message": {"content": done(1)["content"]}},
]
PIPE = [
    {"type": "control_request", "request_id": "r"},
    {"type": "user", "message": QUESTION},
    {"type": "assistant", "session_id": "s", "message": CALLED},
    {"type": "user", "session_id": "s", "message": done(1)},
]
BINARY = b"""
http_interactions:
- request:
    uri: https://api/v1/chat/completions
    body: {string: '{"messages": [{"role": "user", "content": "q"}]}'}
  response:
    status: {code: 200}
    body:
      string: !binary |-
        eyJjaG9pY2VzIjogW3sibWVzc2FnZSI6IHsicm9sZSI6ICJhc3Npc3RhbnQiLCAiY29udGVudCI6
        ICIzIMKwQyJ9fV19
"""
AGENT = {"name": "a", "system": "be brief", "model": {"id": "m"}, "tools": []}
MANAGED = [
    ["sessions.create", {"id": "sesn_1", "agent": AGENT}],
    ["sessions.events.send", ["sesn_1", {"events": [{"type": "user.message"}]}]],
    [
        "sessions.events.stream",
        {"type": "user.message", "content": [{"type": "text", "text": ASK}]},
    ],
    ["sessions.events.stream", {"type": "agent.tool_use", "id": "e1", "name": NAME, "input": ARGS}],
    ["sessions.events.stream", {"type": "agent.tool_result", "tool_use_id": "e1", "content": []}],
]
REPLY = {"object": "chat.completion", "choices": [{"message": LAST}], "usage": USAGE}
AUTOGEN = [
    {"type": "TextMessage", "source": "user", "content": ASK},
    {"type": "ToolCallRequestEvent", "source": "a", "content": [{**CALL["function"], "id": "c1"}]},
    {"type": "ToolCallExecutionEvent", "content": [{"call_id": "c1", "content": RESULT}]},
    {"type": "TextMessage", "source": "a", "content": SAY},
]
GRAPH = [
    {"type": "human", "content": ASK},
    {"type": "ai", "content": "", "tool_calls": [{"id": "c1", "name": NAME, "args": ARGS}]},
    {"type": "tool", "content": RESULT, "tool_call_id": "c1"},
]
OBSERVED = {
    "type": "GENERATION",
    "traceId": "t",
    "input": json.dumps(OPENAI[:3]),
    "output": json.dumps(LAST),
    "usage": {"input": 12},
}
ADK = [{"author": "weatherman", "content": content} for content in GEMINI[:3]]
IN_ONE = {"role": "tool", "tool_name": NAME, "tool_input": TEXT_ARGS, "tool_output": RESULT}
VARIANTS += [
    ("x.jsonl", lines(*STRIPPED), "claude-code", (2, 1, 1, 0)),
    ("x.json", document({"loglines": STRIPPED}), "claude-code", (2, 1, 1, 0)),
    (
        "x.json",
        document({"messages": [{"direction": "recv", "message": line} for line in PIPE]}),
        "claude-stream-json",
        (2, 1, 1, 0),
    ),
    ("x.yml", BINARY, "vcr-cassette", (2, 0, 0, 0)),
    ("x.jsonl", lines(*MANAGED), "managed-agent-events", (3, 1, 1, 0)),
    ("x.jsonl", lines(OPENAI, OPENAI), "openai-lines", (6, 2, 2, 0)),
    ("x.jsonl", lines({"custom_id": "1", "response": {"body": REPLY}}), "reply", (1, 0, 0, 1)),
    (
        "x.jsonl",
        lines({"custom_id": "1", "result": {"message": {**CALLED, "type": "message"}}}),
        "reply",
        (1, 1, 0, 0),
    ),
    ("x.json", document({"status": 200, "body": json.dumps(REPLY)}), "reply", (1, 0, 0, 1)),
    (
        "x.jsonl",
        lines({"custom_id": "1", "params": {"messages": [QUESTION]}}),
        "request-rows",
        (1, 0, 0, 0),
    ),
    (
        "x.json",
        document({"data": [{"request_body": {"messages": OPENAI[:3]}, "response_body": REPLY}]}),
        "request-rows",
        (3, 1, 1, 1),
    ),
    (
        "x.json",
        document({"type": "result", "session_id": "s", "result": SAY}),
        "claude-stream-json",
        (1, 0, 0, 0),
    ),
    ("x.json", document({"messages": AUTOGEN}), "openai-chat", (3, 1, 1, 0)),
    ("x.json", document({"values": {"messages": GRAPH}}), "any-chat", (2, 1, 1, 0)),
    ("x.jsonl", lines(OBSERVED), "langfuse-trace", (3, 1, 1, 1)),
    ("x.json", document([OBSERVED]), "langfuse-trace", (3, 1, 1, 1)),
    ("x.json", document({"id": "s", "events": ADK}), "any-chat", (2, 1, 1, 0)),
    ("x.json", document({"history": [{"message": m} for m in OPENAI]}), "any-chat", (3, 1, 1, 0)),
    ("x.jsonl", lines({"prompt": ASK, "completion": SAY}), "openai-lines", (2, 0, 0, 0)),
    (
        "x.jsonl",
        lines({"prompt": [QUESTION], "chosen": [LAST], "rejected": [LAST]}),
        "openai-lines",
        (2, 0, 0, 0),
    ),
    ("x.json", document([QUESTION, IN_ONE, LAST]), "openai-chat", (3, 1, 1, 0)),
    (
        "x.json",
        document([*OPENAI[:2], {"role": "tool", "output": RESULT}]),
        "openai-chat",
        (2, 1, 1, 0),
    ),
]


@pytest.mark.parametrize(("name", "data", "form", "figures"), VARIANTS)
def test_other_shapes_of_a_format(
    name: str, data: bytes, form: str, figures: tuple[int, int, int, int]
) -> None:
    if figures == (0, 0, 0, 0):  # what the tool printed first makes it no other file
        assert recognised(Source(name, data)).name == form
        return
    sessions = list(read_sessions(Source(name, data)))
    assert sessions[0].format == form
    assert tuple(counts(sessions).values()) == figures


def test_the_model_of_a_bedrock_request_stands_in_its_address() -> None:
    data = next(data for _, data, _, _ in VARIANTS if b"amazon.titan" in data)
    (loaded,) = read_sessions(Source("x.json", data))
    assert loaded.session.task.model_name == "amazon.titan"
    assert loaded.session.requests[0].usage == {"inputTextTokenCount": 3, "tokenCount": 5}


REFUSED = [
    ("x.db", b"SQLite format 3\0" + b"\0" * 90, "a SQLite database", "goose session export"),
    ("x.parquet", b"PAR1" + b"\0" * 90, "a Parquet file", "JSON lines"),
    ("chat.html", b"<html><body>", "a web page", "conversations.json"),
    ("s.json", document({"projectID": "p", "id": "s"}), "opencode's record", "`storage`"),
    ("x.jsonl", lines({"kind": "a"}, {"kind": "b"}), "(their kinds: 'a', 'b')", "--formats"),
]


@pytest.mark.parametrize(("name", "data", "what", "way_out"), REFUSED)
def test_a_refusal_names_what_it_likely_is_and_a_way_out(
    name: str, data: bytes, what: str, way_out: str
) -> None:
    with pytest.raises(InputFault) as caught:
        list(read_sessions(Source(name, data)))
    assert what in str(caught.value)
    assert way_out in str(caught.value)


def trace(given: Any, gave: Any) -> dict[str, Any]:
    one = {"id": "o", "type": "GENERATION", "startTime": TIME, "input": given, "output": gave}
    return {"trace": {"id": "t"}, "observations": [one]}


FURTHER: list[tuple[Any, str]] = [
    ({"choices": [{"message": LAST}, {"message": LAST}]}, "1 more replies"),
    ({"candidates": [{"content": GEMINI[3]}] * 3}, "2 more replies"),
    ({"generations": [[{"message": LAST}, {"message": LAST}]]}, "1 more replies"),
    ({"generations": [[{"message": LAST}], [{"message": LAST}]]}, "1 more replies"),
]


@pytest.mark.parametrize(("gave", "told"), FURTHER)
def test_further_replies_of_a_traced_call_are_told(gave: Any, told: str) -> None:
    given = {"messages": [QUESTION]}
    runs = [{"run_type": "llm", "inputs": given, "outputs": gave}]
    for form, value in (("langfuse-trace", trace(given, gave)), ("langsmith-runs", runs)):
        loaded = read(form, value, name="x.json")
        assert len(loaded.session.messages) == 2
        assert [told in found.message for found in loaded.findings] == [True]


def test_messages_of_a_traced_call_that_cannot_be_read_are_told() -> None:
    texts = ["<Message object at 0x7f>"]
    for given in ({"messages": [QUESTION, *texts]}, {"messages": texts}):
        loaded = read("langfuse-trace", trace(given, LAST), name="x.json")
        assert "a message that is a str" in [found.message for found in loaded.findings]


def test_each_result_of_a_trace_is_kept_once_however_often_it_is_sent() -> None:
    """Every request of an agent repeats what was said; Pydantic AI's spans repeat it once more."""
    first, second = {"messages": OPENAI[:3]}, {"messages": [*OPENAI[:3], LAST, QUESTION]}
    made = [trace(given, LAST)["observations"][0] for given in (first, second)]
    made[1]["startTime"] = "2026-01-02T03:04:09Z"
    agent = {"type": "AGENT", "metadata": {"attributes": {"all_messages": json.dumps(OPENAI)}}}
    value = {"trace": {"id": "t"}, "observations": [*made, agent]}
    loaded = read("langfuse-trace", value, name="x.json")
    assert counts([loaded])["results"] == 1
    [told] = loaded.findings
    assert (told.code, told.where) == ("lines-left-out", "observations.2")
    said = "observations that are not read as model calls (AGENT 1), at observations.2"
    assert told.message == said


def test_further_choices_in_a_log_of_inspect_are_told() -> None:
    sample = {
        "id": 1,
        "epoch": 1,
        "messages": [QUESTION, {**LAST, "id": "m2"}],
        "events": [
            {"event": "model", "output": {"choices": [{"message": {"id": "m2"}}, {"message": {}}]}}
        ],
    }
    loaded = read("inspect-log", {"eval": {}, "version": 2, "samples": [sample]}, name="x.json")
    assert [found.message for found in loaded.findings] == ["1 more replies to the same request"]


@pytest.mark.parametrize(
    ("model", "asked", "gave", "figures"),
    [
        ("anthropic.claude", {"messages": ANTHROPIC[:3]}, {**CALLED, "usage": USAGE}, (3, 2, 1, 1)),
        ("meta.llama3", {"prompt": ASK}, {"generation": SAY, "token_count": 3}, (2, 0, 0, 1)),
        ("amazon.titan", {"inputText": ASK}, TITAN, (2, 0, 0, 1)),
        ("cohere.command", {"prompt": ASK}, {"generations": [{"text": SAY}]}, (2, 0, 0, 0)),
        ("amazon.nova", {"messages": [{"role": "user", "content": [{"text": ASK}]}]},
         {"output": {"message": {"role": "assistant", "content": [{"text": SAY}]}},
          "usage": {"inputTokens": 3}}, (2, 0, 0, 1)),
    ],
)  # fmt: skip
def test_a_cassette_of_bedrock_holds_any_models_request_and_reply(
    model: str, asked: Any, gave: Any, figures: tuple[int, int, int, int]
) -> None:
    body = {"string": json.dumps(gave)}
    data = cassette("interactions", asked, body, f"model/{model}/invoke")
    sessions = list(read_sessions(Source("x.json", data)))
    assert tuple(counts(sessions).values()) == figures
    assert sessions[0].session.task.model_name == model


def meta(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": TIME, "type": kind, "payload": payload}


SPOKEN = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASK}]}
STEPS = [{"step_id": 1, "source": "user", "message": ASK}]
TAPPED = {
    "request": {"headers": {"user-agent": "codex/0.128.0"}, "body": {"messages": [QUESTION]}},
    "response": {"body": REPLY},
}
QWEN = {"type": "user", "sessionId": "s", "uuid": "u", "version": "0.2.0"}
SPECSTORY = (
    b"<!-- Generated by SpecStory -->\n<!-- Codex CLI Session s1 (t) -->\n\n_**User**_\n\nq\n"
)
AGENTS: list[tuple[str, bytes, str, tuple[str, str, str]]] = [
    ("x.jsonl", lines(claude("user", QUESTION)), "claude-code", ("claude-code", "2.1.0", "s")),
    (
        "x.jsonl",
        lines({**QWEN, "message": GEMINI[0]}),
        "claude-code",
        ("qwen-code", "0.2.0", "s"),
    ),
    (
        "x.jsonl",
        lines(
            {"type": "system", "subtype": "init", "session_id": "s", "claude_code_version": "2.1"},
            {"type": "assistant", "session_id": "s", "message": CALLED},
        ),
        "claude-stream-json",
        ("claude-code", "2.1", "s"),
    ),
    (
        "x.jsonl",
        lines(
            meta("session_meta", {"id": "s", "cli_version": "0.106.0"}),
            meta("response_item", SPOKEN),
        ),
        "codex-rollout",
        ("codex", "0.106.0", "s"),
    ),
    (
        "x.json",
        document({"schema_version": "ATIF-v1.4", "session_id": "s",
                  "agent": {"name": "terminus", "version": "2"}, "steps": STEPS}),
        "atif",
        ("terminus", "2", "s"),
    ),
    ("x.jsonl", lines(TAPPED), "request-rows", ("codex", "0.128.0", "")),
    (
        "x.traj.json",
        document({"messages": OPENAI, "info": {"mini_version": "1.9"}, "trajectory_format": "m"}),
        "mini-swe-agent",
        ("mini-swe-agent", "1.9", ""),
    ),
    ("x.md", SPECSTORY, "specstory", ("codex-cli", "", "s1")),
]  # fmt: skip
AGENTS += [
    (EXAMPLES[form].name, EXAMPLES[form].content, form, agent)  # type: ignore[misc]
    for form, agent in (
        ("opencode-export", ("opencode", "1", "s")),
        ("copilot-cli", ("copilot-cli", "1", "s")),
        ("pi-session", ("pi", "", "e0")),
        ("goose", ("goose", "", "g")),
        ("codex-exec", ("codex", "", "t")),
        ("gemini-stream-json", ("gemini-cli", "", "s")),
        ("gemini-cli-chat", ("gemini-cli", "", "")),
        ("kimi-wire", ("kimi-code", "", "")),
        ("chatgpt-export", ("chatgpt", "", "c")),
        ("claude-ai-export", ("claude.ai", "", "u")),
        ("aider-llm-history", ("aider", "", "")),
        ("managed-agent-events", ("anthropic-managed-agents", "", "")),
    )
]


@pytest.mark.parametrize(("name", "data", "form", "agent"), AGENTS)
def test_the_agent_and_its_version_are_those_that_the_file_names(
    name: str, data: bytes, form: str, agent: tuple[str, str, str]
) -> None:
    loaded = first_session(Source(name, data))
    assert loaded.format == form
    found = loaded.session.agent
    assert (found.name, found.version, found.session) == agent


# how each tool says that its history was replaced by a summary, at the end of its example
COMPACTED: list[tuple[str, dict[str, Any], int | None]] = [
    (
        "claude-code",
        {"type": "system", "subtype": "compact_boundary", "uuid": "u", "sessionId": "s",
         "timestamp": TIME, "compactMetadata": {"trigger": "auto", "preTokens": 9}},
        9,
    ),
    (
        "claude-stream-json",
        {"type": "system", "subtype": "compact_boundary", "session_id": "s", "timestamp": TIME,
         "compact_metadata": {"trigger": "auto", "pre_tokens": 9}},
        9,
    ),
    ("codex-rollout", {"timestamp": TIME, "type": "compacted", "payload": {"message": "s"}}, None),
    (
        "pi-session",
        {"type": "compaction", "id": "z", "timestamp": TIME, "summary": "sum", "tokensBefore": 9},
        9,
    ),
    ("kimi-wire", {"type": "context.apply_compaction", "summary": "sum", "time": TIME,
                   "tokensBefore": 9}, 9),
    (
        "copilot-cli",
        {"type": "session.compaction_complete", "id": "e", "timestamp": TIME,
         "data": {"preCompactionTokens": 9}},
        9,
    ),
    ("antigravity", {"step_index": 9, "source": "SYSTEM", "type": "CHECKPOINT",
                     "created_at": TIME}, None),
    ("managed-agent-events", {"type": "agent.thread_context_compacted", "id": "z",
                              "processed_at": TIME}, None),
]  # fmt: skip


@pytest.mark.parametrize(("form", "line", "tokens"), COMPACTED)
def test_a_compaction_is_a_boundary_in_every_format_that_says_so(
    form: str, line: dict[str, Any], tokens: int | None
) -> None:
    data = EXAMPLES[form].content
    assert isinstance(data, bytes)
    before = first_session(Source(EXAMPLES[form].name, data)).session
    loaded = first_session(Source(EXAMPLES[form].name, data + lines(line)))
    assert loaded.format == form
    assert before.compactions == ()
    (compaction,) = loaded.session.compactions
    assert compaction.message == len(before.messages)
    assert (compaction.at, compaction.tokens_before) == (TIME, tokens)


def test_a_compaction_may_be_a_part_of_a_message() -> None:
    for form, key, part in (
        ("opencode-export", "parts", {"type": "compaction", "auto": True}),
        ("goose", "content", {"type": "conversationCompacted", "msg": "x"}),
    ):
        data = EXAMPLES[form].content
        assert isinstance(data, bytes)
        value = json.loads(data)
        (value.get("messages") or value["conversation"])[-1][key].append(part)
        loaded = first_session(Source("x.json", document(value)))
        assert loaded.format == form
        assert len(loaded.session.compactions) == 1


def test_a_request_keeps_the_version_of_the_agent_where_another_one_went_on() -> None:
    """A session that was taken up again after an update of its agent."""
    answer = {"role": "assistant", "model": "m", "content": SAY, "usage": USAGE}
    loaded = read(
        "claude-code",
        claude("user", ANTHROPIC[0]),
        claude("assistant", {**answer, "id": "a"}),
        claude("assistant", {**answer, "id": "b"}, version="2.2.0"),
    )
    assert loaded.session.agent.version == "2.1.0"
    assert [r.agent_version for r in loaded.session.requests] == ["", "2.2.0"]


def test_sub_agents_of_other_tools_are_told_apart() -> None:
    kimi = EXAMPLES["kimi-wire"].content
    assert isinstance(kimi, bytes)
    message = {"role": "user", "content": [{"type": "text", "text": "look"}]}
    line = {"type": "context.append_message", "agentId": "a1", "message": message}
    found = list(read_sessions(Source("wire.jsonl", kimi + lines(line))))
    assert [x.session.agent.sub_agent for x in found] == ["", "a1"]
    source = {"subagent": {"thread_spawn": {"agent_nickname": "Ada"}}}
    head = {"timestamp": TIME, "type": "session_meta", "payload": {"id": "s", "source": source}}
    spoken = {"timestamp": TIME, "type": "response_item", "payload": SPOKEN}
    codex = first_session(Source("rollout.jsonl", lines(head, spoken)))
    assert codex.session.agent.sub_agent == "Ada"


# OpenAI's threads in recorded HTTP, and other recorders' bodies.

THREAD = "https://api.openai.com/v1/threads"


def sent(method: str, address: str, body: Any, answer: Any) -> dict[str, Any]:
    text = answer if isinstance(answer, str) else json.dumps(answer)
    asked = {"method": method, "uri": f"{THREAD}{address}", "body": body and json.dumps(body)}
    return {"request": asked, "response": {"body": {"string": text}, "status": {"code": 200}}}


def thread_message(key: str, role: str, text: str, at: int, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": {"value": text, "annotations": []}}]
    told: dict[str, Any] = {"id": key, "object": "thread.message", "role": role}
    return {**told, "content": content, "created_at": at, "thread_id": "thread_1", **more}


RUN: dict[str, Any] = {"id": "run_1", "object": "thread.run", "thread_id": "thread_1", "model": "m"}
RUN |= {"instructions": "Be brief.", "tools": [TOOL], "created_at": 1_700_000_000}
WAITS = {"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": [CALL]}}
POLLS = [
    {**RUN, "status": "queued"},
    {**RUN, "status": "requires_action", "required_action": WAITS},
    {**RUN, "status": "requires_action", "required_action": WAITS},
]


def polled_thread() -> dict[str, Any]:
    asked = thread_message("msg_1", "user", ASK, 1)
    answer = thread_message("msg_2", "assistant", ANSWER, 2, run_id="run_1")
    done = {**RUN, "status": "completed", "usage": USAGE}
    outputs = {"tool_outputs": [{"tool_call_id": ID, "output": RESULT}]}
    steps = [
        sent("POST", "", {}, {"id": "thread_1", "object": "thread"}),
        sent("POST", "/thread_1/messages", {"role": "user", "content": ASK}, asked),
        sent("POST", "/thread_1/runs", {"assistant_id": "a"}, POLLS[0]),
        *(sent("GET", "/thread_1/runs/run_1", None, poll) for poll in POLLS[1:]),
        sent("POST", "/thread_1/runs/run_1/submit_tool_outputs", outputs, POLLS[0]),
        sent("GET", "/thread_1/runs/run_1", None, done),
        sent("GET", "/thread_1/messages", None, {"object": "list", "data": [answer, asked]}),
    ]
    return {"version": 1, "interactions": steps}


def test_the_requests_to_a_thread_are_one_session() -> None:
    """Each poll was a session of its own, without a word in it."""
    loaded = read("vcr-cassette", polled_thread(), name="c.json")
    session = loaded.session
    assert [(m.role, m.text) for m in session.messages] == [
        ("system", "Be brief."),
        ("user", ASK),
        ("assistant", ""),
        ("tool", ""),
        ("assistant", ANSWER),
    ]
    (call,), (result,) = session.messages[2].tool_calls, session.messages[3].tool_results
    assert (call.tool_call_id, call.tool_name, call.args, result.result) == (ID, NAME, ARGS, RESULT)
    assert [tool.name for tool in session.tools] == [NAME]
    assert [(r.reply, r.model, r.usage) for r in session.requests] == [(4, "m", USAGE)]
    assert loaded.findings == []


def test_a_streamed_run_is_read_once() -> None:
    """Its messages are listed again afterwards."""
    answer = thread_message("msg_2", "assistant", ANSWER, 2, run_id="run_1")
    asked = thread_message("msg_1", "user", ASK, 1)
    delta: dict[str, Any] = {"content": [{"index": 0, "type": "text", "text": {"value": ANSWER}}]}
    events = [
        ("thread.run.created", {**RUN, "status": "queued"}),
        ("thread.message.delta", {"id": "msg_2", "object": "thread.message.delta", "delta": delta}),
        ("thread.run.completed", {**RUN, "status": "completed", "usage": USAGE}),
    ]
    stream = "".join(f"event: {name}\ndata: {json.dumps(value)}\n\n" for name, value in events)
    stream += "event: done\ndata: [DONE]\n\n"
    steps = [
        sent("POST", "/thread_1/messages", {"role": "user", "content": ASK}, asked),
        sent("POST", "/thread_1/runs", {"assistant_id": "a"}, stream),
        sent("GET", "/thread_1/messages", None, {"object": "list", "data": [answer, asked]}),
    ]
    loaded = read("vcr-cassette", {"interactions": steps}, name="c.json")
    assert [(m.role, m.text) for m in loaded.session.messages] == [
        ("user", ASK),
        ("assistant", ANSWER),
    ]
    assert [r.usage for r in loaded.session.requests] == [USAGE]


def test_bodies_of_other_recorders_are_read() -> None:
    """Of transports of httpx, whose answers are Base64, and of google-genai's replays."""
    reply = {"choices": [{"index": 0, "message": OPENAI[3], "finish_reason": "stop"}]}
    data = base64.b64encode(json.dumps(reply).encode()).decode()
    packed = {"data": data, "encoding": "base64", "size": len(data)}
    kept = {
        "request": {"url": "https://x/v1/chat/completions", "content": {"messages": OPENAI[:1]}},
        "response": {"status_code": 200, "content": packed},
    }
    loaded = read("vcr-cassette", {"interactions": [kept]}, name="c.json")
    assert [m.text for m in loaded.session.messages] == [ASK, ANSWER]
    parts = [{"parts": [{"text": ASK}]}]  # without a role, as the SDK sends them
    answer = {"candidates": [{"content": {"role": "model", "parts": [{"text": ANSWER}]}}]}
    replay = {
        "request": {"url": "{U}/models/m:generateContent", "body_segments": [{"contents": parts}]},
        "response": {"status_code": 200, "body_segments": [answer], "byte_segments": []},
    }
    loaded = read("vcr-cassette", {"interactions": [replay]}, name="mldev.json")
    assert [(m.role, m.text) for m in loaded.session.messages] == [
        ("user", ASK),
        ("assistant", ANSWER),
    ]
    assert loaded.findings == []


@pytest.mark.parametrize("key", ["parsed_body", "body"])
def test_a_reply_with_a_field_text_is_the_whole_body(key: str) -> None:
    """A Responses reply says in `text` which format was asked for; no recorder keeps a body so."""
    said = {"type": "output_text", "text": ANSWER, "annotations": []}
    reply = {
        "object": "response",
        "status": "completed",
        "output": [{"type": "message", "role": "assistant", "content": [said]}],
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "usage": {"input_tokens": 4020, "output_tokens": 5, "total_tokens": 4025},
    }
    kept = {
        "request": {"uri": "https://x/v1/responses", key: {"model": "m", "input": ASK}},
        "response": {"status": {"code": 200, "message": "OK"}, key: reply},
    }
    loaded = read("vcr-cassette", {"interactions": [kept]}, name="c.json")
    assert [m.text for m in loaded.session.messages] == [ASK, ANSWER]
    assert [r.usage and r.usage["input_tokens"] for r in loaded.session.requests] == [4020]
    assert loaded.findings == []


def test_a_document_of_bedrock_is_its_text_or_told_by_its_name() -> None:
    plain = base64.b64encode(b"You are a pilot.").decode()
    sources: list[tuple[str, dict[str, Any]]] = [
        ("txt", {"bytes": plain}),
        ("md", {"text": "# Tides"}),
        ("html", {"content": [{"text": "Locks"}]}),
        ("pdf", {"bytes": plain}),
        ("txt", {"bytes": "no base64"}),
    ]
    parts = [
        {"document": {"name": f"file {number}", "format": form, "source": source}}
        for number, (form, source) in enumerate(sources)
    ]
    request = {"messages": [{"role": "user", "content": parts}], "inferenceConfig": {}}
    asked = json.loads(cassette("interactions", request, "", "m/converse"))
    loaded = read("vcr-cassette", asked, name="c.json")
    texts = [part.text for part in loaded.session.messages[0].parts if isinstance(part, TextPart)]
    assert texts == ["You are a pilot.", "# Tides", "Locks"]
    told = [(f.where.rpartition("request.")[2], f.message) for f in loaded.findings]
    assert told == [
        ("messages.0.content.3", "the file 'file 3'"),
        ("messages.0.content.4", "the file 'file 4'"),
    ]


def test_a_document_that_is_one_message_is_a_session() -> None:
    value = {"role": "assistant", "content": [{"type": "text", "text": ANSWER}], "api": "x"}
    loaded = read("any-chat", value, name="m.json")
    assert [(m.role, m.text) for m in loaded.session.messages] == [("assistant", ANSWER)]


def test_the_context_of_kimi_cli_is_read() -> None:
    """Its system prompt and its thoughts have names of their own."""
    thought = [{"type": "think", "think": "Hm."}, {"type": "text", "text": ANSWER}]
    loaded = read(
        "message-lines",
        {"role": "_system_prompt", "content": "Be brief."},
        {"role": "user", "content": ASK},
        {"role": "assistant", "content": thought},
    )
    system, _, answer = loaded.session.messages
    assert (system.role, system.text, loaded.findings) == ("system", "Be brief.", [])
    assert [part.type for part in answer.parts] == ["reasoning", "text"]


def test_a_result_that_has_its_calls_id_as_its_own_is_that_calls() -> None:
    """tau2's, which were results of no call."""
    call = {"id": ID, "name": NAME, "arguments": ARGS}
    asked = {"role": "assistant", "content": None, "tool_calls": [call]}
    messages = [OPENAI[0], asked, {"role": "tool", "id": ID, "content": RESULT}]
    loaded = read("any-chat", {"simulations": [{"messages": messages}]}, name="s.json")
    assert [r.tool_call_id for r in loaded.session.messages[2].tool_results] == [ID]
    assert loaded.findings == []


def test_a_folder_of_events_of_openhands_is_one_session(tmp_path: Path) -> None:
    """As its conversations lie on disk; parallel calls are of one answer."""
    content = EXAMPLES["openhands-sdk"].content
    assert isinstance(content, bytes)
    asked, acted, seen, answered = json.loads(content)
    second = {**acted, "tool_call_id": "c2", "tool_call": {**acted["tool_call"], "id": "c2"}}
    error = {**seen, "kind": "AgentErrorEvent", "tool_call_id": "c2", "error": "no such city"}
    state = {"id": "e", "source": "environment", "kind": "ConversationStateUpdateEvent"}
    folder = tmp_path / "conversation" / "events"
    folder.mkdir(parents=True)
    for number, event in enumerate((asked, acted, second, seen, error, state, answered)):
        (folder / f"event-{number:05}-x.json").write_text(json.dumps(event))
    (folder.parent / "base_state.json").write_text("{}")
    (loaded,) = load_sessions(folder.parent)
    assert [m.role for m in loaded.session.messages] == [
        *("user", "assistant", "tool", "tool", "assistant")
    ]
    assert [call.tool_call_id for call in loaded.session.messages[1].tool_calls] == [ID, "c2"]
    (failed,) = loaded.session.messages[3].tool_results
    assert (failed.result, failed.is_error) == ("no such city", True)
    assert [f.code for f in loaded.findings] == ["bookkeeping"]


def test_the_summary_of_a_compaction_is_text() -> None:
    content = [
        {"type": "compaction", "content": "They asked for Oslo."},
        {"type": "text", "text": ANSWER},
    ]
    loaded = read(
        "openai-chat", [OPENAI[0], {"role": "assistant", "content": content}], name="x.json"
    )
    assert loaded.session.messages[1].text == f"They asked for Oslo.{ANSWER}"


def test_one_exchange_as_a_document_keeps_its_request() -> None:
    """As Datadog's test agent keeps them: the reply alone was read, without what was asked."""
    asked = {"model": "m", "messages": [{"role": "user", "content": ASK}], "max_tokens": 9}
    reply = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": ANSWER}]}
    response = {"status": {"code": 200}, "headers": {}, "body": json.dumps(reply)}
    request = {"method": "POST", "url": "https://api.anthropic.com/v1/messages", "headers": {}}
    document = {"request": {**request, "body": json.dumps(asked)}, "response": response}
    (loaded,) = load_sessions(document)
    assert [(m.role, m.text) for m in loaded.session.messages] == [
        ("user", ASK),
        ("assistant", ANSWER),
    ]
    assert loaded.session.parameters == {"max_tokens": 9}
    assert loaded.findings == []


def test_headers_of_a_class_of_aiohttp_s_are_texts_and_no_class_is_made() -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": ASK}]})
    answer = json.dumps({"role": "assistant", "content": ANSWER})
    made = "!!python/object/{}\n      - Accept\n      : - application/json"
    cassette = (
        "interactions:\n- request:\n    body: '{}'\n    headers:\n      ? {}\n    method: POST\n"
        "    uri: https://api.anthropic.com/v1/messages\n  response:\n    body:\n"
        "      string: '{}'\n    status: {{code: 200, message: OK}}\nversion: 1\n"
    )
    for way in ("apply:multidict._multidict.istr", "new:multidict._istr.istr"):
        text = cassette.format(body, made.format(way), answer)
        (loaded,) = read_sessions(Source("c.yaml", text.encode()))
        assert [message.text for message in loaded.session.messages] == [ASK, ANSWER]
    text = cassette.format(body, made.format("apply:os.system"), answer)
    with pytest.raises(InputFault, match="not plain YAML"):
        list(read_sessions(Source("c.yaml", text.encode())))


def test_an_answer_that_was_kept_with_its_headers_may_be_a_stream() -> None:
    stream = EXAMPLES["stream"].content
    assert isinstance(stream, bytes)
    headers = {"content-type": "text/event-stream"}
    kept = {"status": 200, "headers": headers, "body": stream.decode()}
    (loaded,) = load_sessions(kept)
    (alone,) = read_sessions(Source("s.sse", stream))
    assert loaded.session.messages == alone.session.messages
    assert [r.api for r in loaded.session.recordings] == [alone.session.recordings[0].api]


def test_a_demonstration_of_swe_agent_has_thoughts_calls_and_what_was_seen() -> None:
    content = EXAMPLES["swe-agent-demo"].content
    assert isinstance(content, bytes)
    steps = json.loads(content)
    steps[0]["history"][3] |= {"open_file": "a.py", "output_editor": "1:x"}
    [loaded] = load_sessions(json.dumps(steps))
    asked, looked, seen, answered = loaded.session.messages
    assert (asked.text, looked.text, answered.text) == (ASK, SAY, "It is 3 °C.")
    assert looked.tool_calls[0].args == {"command": "look out"}
    told = {"open_file": "a.py", "output_editor": "1:x", "output_terminal": RESULT}
    assert seen.tool_results[0].result == told
    assert seen.tool_results[0].tool_call_id == looked.tool_calls[0].tool_call_id


def test_messages_of_the_agent_sdk_without_types_of_their_blocks_are_read() -> None:
    """As `dataclasses.asdict` writes them; a sub-agent's are a session of their own."""
    thought = {"thinking": "A", "signature": "s"}
    task = {"id": "t", "name": "Task", "input": {"prompt": ASK}}
    done = {"tool_use_id": "t", "content": SAY, "is_error": True}
    messages: list[dict[str, Any]] = [
        {"type": "AssistantMessage", "model": "m", "content": [thought]},
        {"type": "AssistantMessage", "model": "m", "content": [task], "usage": USAGE},
        {"type": "UserMessage", "content": ASK, "parent_tool_use_id": "t"},
        {
            "type": "AssistantMessage", "model": "m", "content": [{"text": SAY}],
            "parent_tool_use_id": "t",
        },
        {"type": "UserMessage", "content": [done]},
        {"type": "ResultMessage", "result": "Done.", "usage": {"input_tokens": 99}},
    ]  # fmt: skip
    main, inner = (loaded.session for loaded in load_sessions(lines(*messages)))
    assert [m.role for m in main.messages] == ["assistant", "tool", "assistant"]
    assert [part.type for part in main.messages[0].parts] == ["reasoning", "tool_call"]
    assert main.messages[1].tool_results[0].is_error
    assert main.messages[2].text == "Done."
    assert [record.usage for record in main.requests] == [USAGE]
    assert [m.text for m in inner.messages] == [ASK, SAY]


def test_polylogues_blocks_are_calls_results_and_words() -> None:
    use = {
        "id": "b1", "type": "tool_use", "tool_name": NAME, "tool_id": ID, "tool_input": ARGS,
    }  # fmt: skip
    done = {"id": "b2", "type": "tool_result", "tool_id": ID, "text": RESULT}
    said = [{"type": "thinking", "text": "Hm."}, {"type": "text", "text": SAY}]
    messages: list[dict[str, Any]] = [
        {"id": "1", "role": "user", "text": ASK, "blocks": []},
        {"id": "2", "role": "assistant", "text": SAY, "blocks": [*said, use]},
        {
            "id": "3", "role": "tool", "text": "Beside it.",
            "blocks": [{**done, "tool_result_is_error": True}],
        },
    ]  # fmt: skip
    [loaded] = load_sessions(json.dumps({"session_id": "s", "messages": messages}))
    asked, called, came = loaded.session.messages
    assert (asked.text, called.text, came.text) == (ASK, SAY, "Beside it.")
    assert [part.type for part in called.parts] == ["reasoning", "text", "tool_call"]
    assert [(c.tool_call_id, c.tool_name, c.args) for c in called.tool_calls] == [(ID, NAME, ARGS)]
    [result] = came.tool_results
    assert (result.tool_call_id, result.tool_name, result.result) == (ID, NAME, RESULT)
    assert result.is_error
    assert [found.code for found in loaded.findings if found.severity != "info"] == []


def test_a_reply_of_converse_and_one_of_cohere_are_replies() -> None:
    converse = {
        "output": {"message": {"role": "assistant", "content": [{"text": ANSWER}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 12, "outputTokens": 3},
    }
    cohere = {
        "message": {"role": "assistant", "tool_plan": SAY, "tool_calls": [CALL]},
        "finish_reason": "TOOL_CALL",
        "usage": {"tokens": {"input_tokens": 12, "output_tokens": 3}},
    }
    (first,), (second,) = (list(load_sessions(each)) for each in (converse, cohere))
    assert (first.format, second.format) == ("reply", "reply")
    assert first.session.messages[0].text == ANSWER
    parts = second.session.messages[0].parts
    assert [part.type for part in parts] == ["reasoning", "tool_call"]  # the plan, and its call
    assert all(record.usage for each in (first, second) for record in each.session.requests)


def test_a_run_of_an_agent_keeps_what_no_response_of_the_model_holds() -> None:
    """A run that went on keeps items of which the responses are gone."""
    call = {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "x"}
    output = {"type": "custom_tool_call_output", "call_id": "c", "output": "done"}
    state = {
        "$schemaVersion": "1.9",
        "original_input": [{"role": "user", "content": ASK}],
        "model_responses": [],
        "generated_items": [
            {"type": "tool_call_item", "raw_item": call},
            {"type": "tool_call_output_item", "raw_item": output},
            {"type": "handoff_call_item"},
        ],
    }
    (loaded,) = load_sessions(state)
    assert [message.role for message in loaded.session.messages] == ["user", "assistant", "tool"]
    assert "handoff_call_item" in " ".join(found.message for found in loaded.findings)


@pytest.mark.parametrize("with_responses", [True, False])
@pytest.mark.parametrize("own_id", [{"id": "msg_{}"}, {"id": "__fake_id__"}, {"id": None}, {}])
def test_a_run_of_an_agent_says_each_item_once(
    own_id: dict[str, str | None], with_responses: bool
) -> None:
    """Behind other APIs than OpenAI's every message of a run has the same id, or none: of two of
    them one was lost, or both stood twice."""

    def item(number: int, **fields: Any) -> dict[str, Any]:
        return {**{key: id and id.format(number) for key, id in own_id.items()}, **fields}

    def said(number: int, text: str) -> dict[str, Any]:
        content = [{"type": "output_text", "text": text}]
        return item(number, type="message", role="assistant", content=content)

    def call(number: int) -> dict[str, Any]:
        return item(number, type="function_call", call_id=f"c{number}", name="t", arguments="{}")

    def gave(number: int) -> dict[str, Any]:
        return {"type": "function_call_output", "call_id": f"c{number}", "output": f"gave {number}"}

    first, second = [said(1, "a"), call(2), call(3)], [said(4, "b")]
    made = [*first, gave(2), gave(3), *second, said(5, "b")]
    state = {
        "$schemaVersion": "1.9",
        "original_input": ASK,
        "model_responses": [{"output": first}, {"output": second}] if with_responses else [],
        "generated_items": [{"type": "item", "raw_item": each} for each in made],
    }
    (loaded,) = load_sessions(state)
    assert [message.text for message in loaded.session.messages if message.text] == [
        ASK, "a", "b", "b",
    ]  # fmt: skip
    results = [result.result for m in loaded.session.messages for result in m.tool_results]
    assert results == ["gave 2", "gave 3"]
    assert sum(len(message.tool_calls) for message in loaded.session.messages) == 2
    assert "part-lost" not in [found.code for found in loaded.findings]


@pytest.mark.parametrize("start", [b"", b"---\n", b"---\r\n"])
def test_a_torn_recording_of_httpmock_keeps_the_exchanges_before(start: bytes) -> None:
    """What stands before a first line of dashes is no exchange."""
    whole = EXAMPLES["httpmock"].content
    assert isinstance(whole, bytes)
    first, torn = whole.partition(b"---")[0], b'---\nwhen:\n  body: "torn'
    (loaded,) = read_sessions(Source("h.yaml", start + first + torn))
    assert [message.role for message in loaded.session.messages] == ["user", "assistant"]
    assert [found.code for found in loaded.findings if found.severity != "info"] == ["spoiled-rest"]
    with pytest.raises(InputFault, match=r"h\.yaml:\d: not plain YAML"):
        list(read_sessions(Source("h.yaml", start + b"when: [1\nthen: }")))


def test_a_call_of_which_only_codex_interface_was_told_is_a_finding() -> None:
    meta = {"type": "session_meta", "payload": {"id": "s"}}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASK}]}
    told = {"type": "tool_call", "name": NAME, "call_id": "only-told", "input": {}}
    data = lines(
        meta, {"type": "response_item", "payload": said}, {"type": "event_msg", "payload": told}
    )
    (loaded,) = load_sessions(data)
    assert "'only-told'" in " ".join(found.message for found in loaded.findings)


def test_calls_that_stand_in_answers_as_text_are_told_of() -> None:
    """SWE-smith's rows: no call was found in them, and nobody said why."""
    answer = "I look.\n<function=bash>\n<parameter=command>ls</parameter>\n</function>"
    said = [{"role": "user", "content": ASK}, {"role": "assistant", "content": answer}]
    (loaded,) = load_sessions({"messages": said * 2})
    (found,) = [each for each in loaded.findings if each.code == "calls-in-text"]
    assert found.message == "2 answers, the first with '<function='"
    (loaded,) = load_sessions({"messages": [*OPENAI, *said]})
    assert "calls-in-text" not in [each.code for each in loaded.findings]  # it has others


def test_a_cassettes_answer_has_the_time_of_its_header() -> None:
    body = {"model": "m", "messages": OPENAI[:1]}
    reply = {"choices": [{"message": OPENAI[3], "finish_reason": "stop"}]}
    response = {
        "headers": {"Date": ["Fri, 02 Jan 2026 03:04:05 GMT"]},
        "body": {"string": json.dumps(reply)},
    }
    request = {"uri": "https://x/v1", "body": json.dumps(body)}
    (loaded,) = load_sessions({"interactions": [{"request": request, "response": response}]})
    assert [record.at for record in loaded.session.requests] == ["2026-01-02T03:04:05Z"]


@pytest.mark.parametrize("name", [n for n in EXAMPLES if isinstance(EXAMPLES[n].content, bytes)])
def test_import_corpus_and_simulation_count_the_same_requests(name: str) -> None:
    """A request for each answer, or those that came as they were sent; the simulation has the one
    to come too, and says so."""
    data = EXAMPLES[name].content
    assert isinstance(data, bytes)
    for loaded in read_sessions(Source(EXAMPLES[name].name, data)):
        session = loaded.session
        policy = "as-sent" if any(not row.sub_agent for row in session.rows) else ""
        found = pg.simulate_cache(session, policy=policy)
        counted = summary(loaded, [], "")["requests"]
        assert counted == len(found.requests) - found.pending, name
        assert counted == len(sent_requests(session).requests), name


def test_a_tool_that_nobody_asked_for_ran_within_the_answer_before_it() -> None:
    """Antigravity lists steps of tools behind one answer that asks for fewer of them."""
    kinds = ["USER_INPUT", "PLANNER_RESPONSE", "VIEW_FILE", "RUN_COMMAND", "PLANNER_RESPONSE"]
    steps = [
        {"step_index": n, "source": "MODEL", "type": kind, "created_at": TIME, "content": f"{n}"}
        for n, kind in enumerate(kinds)
    ]
    data = "".join(json.dumps(step) + "\n" for step in steps).encode()
    session = first_session(Source("steps.jsonl", data)).session
    roles = [message.role for message in session.messages]
    assert roles == ["user", "assistant", "tool", "tool", "assistant"]
    assert [call.tool_name for call in session.messages[1].tool_calls] == [
        "view_file",
        "run_command",
    ]
    assert [record.reply for record in session.requests] == [1, 4]
