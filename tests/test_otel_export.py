"""Sessions as OpenTelemetry's spans, there and back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import terminals
from hypothesis import given, settings
from hypothesis import strategies as st
from session_examples import EXAMPLES
from test_importing import on_disk

import playground as pg
from playground.nouns.messages import (
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from playground.nouns.prompt_data import DynamicTaskConfig, TaskConfig
from playground.nouns.tools import ToolExample, ToolMetadata
from playground.plugins.importers.otel_export import dump_otel, unknown_times
from playground.sessions.loading import load_sessions, read_sessions, receipt_of_sessions
from playground.sessions.native_format import dump_session, plain_session
from playground.sessions.session import (
    Agent,
    Compaction,
    ExpectedCall,
    ExpectedReply,
    RequestRecord,
    RequestRow,
    Session,
)
from playground.sessions.source import Source


def source(text: str) -> Source:
    return Source("x.json", text.encode())


def assert_kept(session: Session) -> None:
    """The trace holds all but recordings and bodies, and each text, call and count of the trace is
    in the session that is read back."""
    text = dump_otel(session)
    (again,) = loaded = list(read_sessions(source(text)))
    assert again.format == "otel-spans"
    # as a file has it: a model that was assumed for a body's form is none of the session's
    assert plain_session(again.session) == plain_session(replace(session, recordings=(), rows=()))
    assert receipt_of_sessions(source(text), loaded).silent == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_format_goes_there_and_back(name: str, tmp_path: Path) -> None:
    for loaded in load_sessions(on_disk(EXAMPLES[name], tmp_path)):
        assert_kept(loaded.session)


@pytest.mark.parametrize("name", pg.sample_sessions())
def test_samples_go_there_and_back(name: str) -> None:
    assert_kept(pg.sample_sessions()[name])


_TEXT = st.text(max_size=8)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9) | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXT, inner, max_size=2),
    max_leaves=4,
)
_OBJECTS = st.dictionaries(_TEXT, _VALUES, max_size=2)
_PARTS = st.one_of(
    st.builds(TextPart, text=_TEXT),
    st.builds(ReasoningPart, text=_TEXT, signature=st.none() | _TEXT),
    st.builds(
        ImagePart,
        url=st.sampled_from(["data:image/png;base64,iVBO", "data:;base64,", "https://x.org/y.png"])
        | _TEXT,
        detail=st.none() | st.sampled_from(["low", ""]),
    ),
    st.builds(ToolCallPart, tool_call_id=_TEXT, tool_name=_TEXT, args=_OBJECTS),
    st.builds(
        ToolResultPart,
        tool_call_id=_TEXT,
        tool_name=_TEXT,
        result=_VALUES,
        is_error=st.booleans(),
    ),
)
_ROLES = st.sampled_from(["system", "user", "assistant", "tool"])
_MESSAGES = st.builds(Message, role=_ROLES, parts=st.lists(_PARTS, max_size=3).map(tuple))
_USAGES = st.sampled_from(
    [
        None,
        {"odd": 3},
        {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 90},
        {
            "prompt_tokens": 95,
            "completion_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 9},
        },
    ]
)
_RECORDS = st.builds(
    RequestRecord,
    reply=st.integers(-1, 7),
    model=st.sampled_from(["", "gpt-5", "anthropic/claude-sonnet-4-5"]),
    at=st.sampled_from(["", "2026-01-02T03:04:05.678901+00:00", "yesterday", "1960-01-01"]),
    seconds=st.none() | st.floats(0, 1e6),
    stop_reason=_TEXT,
    usage=_USAGES,
    agent_version=_TEXT,
    diagnostics=st.none() | _OBJECTS,
)
_COMPACTIONS = st.builds(
    Compaction,
    message=st.integers(0, 6),
    tokens_before=st.none() | st.integers(0, 9),
    history=st.none() | st.lists(st.integers(0, 5), max_size=3, unique=True).map(tuple),
)
_TOOLS = st.builds(
    ToolMetadata,
    name=st.text(min_size=1, max_size=8),
    description=_TEXT,
    input_schema=_OBJECTS,
    examples=st.lists(st.builds(ToolExample, explanation=_TEXT, parameters=_OBJECTS), max_size=1),
)
_SESSIONS = st.builds(
    Session,
    title=_TEXT,
    purpose=_TEXT,
    scripted=st.booleans(),
    task=st.builds(TaskConfig, user_agent_prompt=_TEXT, user_prompt=_TEXT)
    | st.builds(TaskConfig, model_name=st.sampled_from(["gpt-5", "openai/gpt-5"])),
    dynamic=st.builds(DynamicTaskConfig, dynamic_environment_details_block=_TEXT),
    tools=st.lists(_TOOLS, max_size=2).map(tuple),
    messages=st.lists(_MESSAGES, max_size=6).map(tuple),
    requests=st.lists(_RECORDS, max_size=4).map(tuple),
    agent=st.builds(Agent, name=_TEXT, version=_TEXT, session=_TEXT, sub_agent=_TEXT),
    compactions=st.lists(_COMPACTIONS, max_size=2).map(tuple),
    expected=st.lists(
        st.builds(ExpectedReply, message=st.integers(1, 3), calls=st.just((ExpectedCall("x"),))),
        max_size=1,
    ).map(tuple),
    parameters=st.dictionaries(
        st.sampled_from(["temperature", "stop", "max_tokens", "n", "tool_choice"]), _VALUES
    ),
)


@settings(max_examples=100)
@given(session=_SESSIONS)
def test_any_session_goes_there_and_back(session: Session) -> None:
    text = dump_otel(session)
    assert dump_otel(session) == text
    (again,) = read_sessions(source(text))
    assert plain_session(again.session) == plain_session(session)


# The fields that https://github.com/open-telemetry/semantic-conventions-genai (model/gen-ai/
# gen-ai-input-messages.json) requires of each type of part.
_REQUIRED = {
    "text": {"content"},
    "reasoning": {"content"},
    "blob": {"modality", "content"},
    "uri": {"modality", "uri"},
    "tool_call": {"name"},
    "tool_call_response": {"response"},
}


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}


def spans_of(session: Session) -> list[dict[str, Any]]:
    (resource,) = json.loads(dump_otel(session))["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    return [{**span, **attributes(span)} for span in scope["spans"]]


@settings(max_examples=20)
@given(session=_SESSIONS)
def test_messages_are_of_the_published_schema(session: Session) -> None:
    run, *requests = spans_of(session)
    assert len(run["traceId"]) == 32
    assert len({span["spanId"] for span in (run, *requests)}) == len(requests) + 1
    for span in requests:
        assert (span["traceId"], span["parentSpanId"]) == (run["traceId"], run["spanId"])
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        for name in ("gen_ai.input.messages", "gen_ai.output.messages"):
            for message in json.loads(span.get(name, "[]")):
                assert message.keys() == {"role", "parts"}
                for part in message["parts"]:
                    assert _REQUIRED[part["type"]] <= part.keys()


def test_a_span_says_what_its_request_sent_and_cost() -> None:
    usage = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 90}
    session = Session(
        task=TaskConfig(model_name="anthropic/claude-sonnet-4-5", user_agent_prompt="Be brief."),
        messages=(
            Message("user", (TextPart("One?"),)),
            Message("assistant", (TextPart("1"),)),
            Message("user", (TextPart("A summary"),)),
            Message("assistant", (TextPart("2"),)),
        ),
        requests=(
            RequestRecord(1, at="2026-01-02T03:04:05.678901+00:00", seconds=1.5),
            RequestRecord(3, "anthropic/claude-sonnet-4-5", stop_reason="end_turn", usage=usage),
        ),
        compactions=(Compaction(2, history=()),),
        parameters={"stop": "END", "temperature": 0.5, "tool_choice": "auto"},
    )
    _, first, last = spans_of(session)
    assert first["startTimeUnixNano"] == "1767323045678901000"
    assert first["endTimeUnixNano"] == "1767323047178901000"
    assert [m["parts"][0]["content"] for m in json.loads(last["gen_ai.input.messages"])] == [
        "A summary"
    ]
    assert last["gen_ai.provider.name"] == "anthropic"
    assert json.loads(last["gen_ai.system_instructions"])[0]["content"] == "Be brief."
    assert last["gen_ai.usage.input_tokens"] == "95"
    assert last["gen_ai.usage.cache_read.input_tokens"] == "90"
    assert last["gen_ai.usage.output_tokens"] == "7"
    assert last["gen_ai.response.finish_reasons"] == {"values": [{"stringValue": "end_turn"}]}
    assert last["gen_ai.request.stop_sequences"] == {"values": [{"stringValue": "END"}]}
    assert "gen_ai.request.tool_choice" not in last  # no attribute of the convention's
    (again,) = read_sessions(source(dump_otel(session)))
    assert [found.code for found in again.findings] == ["counts-converted"]


def test_a_changed_trace_is_read_as_any_other() -> None:
    session = pg.sample_sessions()["02-parallel-calls"]
    for changed in ("playground.session", "playground.reply"):
        text = dump_otel(session).replace(f'"{changed}"', '"lost"')
        (again,) = read_sessions(source(text))
        assert [m.parts for m in again.session.messages if m.role != "system"] == [
            m.parts for m in session.messages
        ]


def test_requests_of_unknown_times_keep_their_place_among_others() -> None:
    """A transcript's last request, which nobody has answered, has no time: it was sent in 1970."""
    session = pg.sample_sessions()["02-parallel-calls"]
    first = RequestRecord(session.replies[0], at="2026-11-20T10:00:00+00:00", seconds=2.0)
    trace = json.loads(dump_otel(replace(session, requests=(first,))))
    spans = trace["resourceSpans"][0]["scopeSpans"][0]["spans"]
    starts = [int(span["startTimeUnixNano"]) for span in spans[1:]]
    assert len(starts) > 1 and starts == sorted(starts) and starts[0] > 0
    for span in spans:
        span["attributes"] = [
            each for each in span["attributes"] if not each["key"].startswith("playground.")
        ]
    (again,) = read_sessions(source(json.dumps(trace)))
    said = [message for message in again.session.messages if message.role != "system"]
    assert len(said) == len(session.messages)


def test_traces_of_several_sessions_may_share_a_file() -> None:
    sessions = [pg.sample_sessions()[name] for name in ("01-plain-chat", "02-parallel-calls")]
    lines = [json.dumps(json.loads(dump_otel(session))) for session in sessions]
    again = list(read_sessions(Source("traces.jsonl", "\n".join(lines).encode())))
    assert {each.session.title for each in again} == {each.title for each in sessions}


def test_the_command_names_what_a_form_does_not_hold(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    path.write_text(dump_session(pg.sample_sessions()["10-cut-characters"]))
    done = terminals.run("import", str(path), "--to", "otel", "-o", str(tmp_path / "trace.json"))
    assert done.returncode == 0
    assert "recordings: 1" in done.stderr
    again = pg.load_session(tmp_path / "trace.json")
    assert again.messages == pg.load_session(path).messages


def test_a_trace_too_long_to_repeat_is_refused() -> None:
    said = Message("assistant", (TextPart("x" * 20_000),))
    with pytest.raises(pg.InputFault, match="repeats the messages"):
        dump_otel(Session(messages=(said,) * 200))


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 90}, 5),
        ({"prompt_tokens": 198, "completion_tokens": 20, "total_tokens": 218}, 198),
    ],
)
def test_a_receipt_counts_each_bill_of_a_trace_once(usage: dict[str, int], read: int) -> None:
    """A trace holds the provider's bill, and beside it the same bill as the convention has it."""
    said = [Message("user", (TextPart("Ebb?"),)), Message("assistant", (TextPart("At noon."),))]
    records = tuple(RequestRecord(n, "gpt-4o", usage=usage) for n in (1, 3))
    text = dump_otel(Session(messages=(*said, *said), requests=records))
    receipt = receipt_of_sessions(source(text), list(read_sessions(source(text))))
    counts = {kind: (in_file, in_sessions) for kind, in_file, in_sessions in receipt.counts}
    assert (counts["requests"], counts["input tokens"]) == ((2, 2), (2 * read, 2 * read))
    assert receipt.silent == []


_GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent"


def test_each_request_has_its_own_model_and_provider() -> None:
    asked, answered = Message("user", (TextPart("Ebb?"),)), Message("assistant", (TextPart("No."),))
    session = Session(
        task=TaskConfig(model_name="claude-sonnet-4-5"),
        messages=(asked, answered, asked, answered),
        requests=(
            RequestRecord(1, "gemini-2.5-flash"),
            RequestRecord(3, "claude-sonnet-4-5-20250929"),
        ),
        rows=(
            RequestRow(body={"contents": []}, url=_GEMINI),
            RequestRow(
                body={"model": "claude-sonnet-4-5", "messages": []},
                gone=("contents",),
                url="https://api.anthropic.com/v1/messages",
            ),
        ),
        parameters={"max_tokens": 9},
    )
    run, first, last = spans_of(session)
    assert first["gen_ai.request.model"] == first["gen_ai.response.model"] == "gemini-2.5-flash"
    assert last["gen_ai.request.model"] == "claude-sonnet-4-5"
    providers = [span["gen_ai.provider.name"] for span in (run, first, last)]
    assert providers == ["unknown", "gcp.gemini", "anthropic"]
    assert "gen_ai.request.max_tokens" not in first
    assert last["gen_ai.request.max_tokens"] == "9"
    _, first, last = spans_of(replace(session, rows=()))  # the answers' models remain
    assert "gen_ai.request.model" not in first
    assert last["gen_ai.request.model"] == "claude-sonnet-4-5"


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("https://api.openai.com/v1/chat/completions", "openai"),
        (
            "https://x.openai.azure.com/openai/deployments/gpt-4o/chat/completions",
            "azure.ai.openai",
        ),
        ("https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse", "aws.bedrock"),
        ("https://europe-west1-aiplatform.googleapis.com/v1/models/m:x", "gcp.vertex_ai"),
        ("https://api.z.ai/api/paas/v4/chat/completions", "zai"),
        ("http://localhost:8080/v1/chat/completions", "unknown"),
        ("", "deepseek"),
    ],
)
def test_an_address_names_the_provider(url: str, provider: str) -> None:
    said = (Message("user", (TextPart("Ebb?"),)), Message("assistant", (TextPart("Noon."),)))
    rows = (RequestRow(body={"model": "deepseek/m"}, url=url),)
    run, span = spans_of(Session(messages=said, requests=(RequestRecord(1),), rows=rows))
    assert run["gen_ai.provider.name"] == span["gen_ai.provider.name"] == provider


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("claude-sonnet-4-5-20250929", "anthropic"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "aws.bedrock"),
        ("gpt-5.6", "openai"),
        ("models/gemini-2.5-pro", "gcp.gemini"),
        ("openrouter/qwen3-coder", "openrouter"),
        ("qwen3-coder", "unknown"),  # many hosts serve it
        ("gpt-oss-120b", "unknown"),
        ("Qwen/Qwen3-8B", "unknown"),  # names of who made it
        ("deepseek-ai/DeepSeek-R1", "unknown"),
    ],
)
def test_a_transcripts_model_names_the_provider(model: str, provider: str, tmp_path: Path) -> None:
    """A transcript of Claude Code has no address, only the model that answered."""
    path = on_disk(EXAMPLES["claude-code"], tmp_path)
    path.write_text(path.read_text().replace('"model": "m"', f'"model": "{model}"'))
    out = tmp_path / "trace.json"
    assert terminals.run("import", str(path), "--to", "otel", "-o", str(out)).returncode == 0
    (resource,) = json.loads(out.read_text())["resourceSpans"]
    spans = [attributes(span) for span in resource["scopeSpans"][0]["spans"]]
    assert {span["gen_ai.provider.name"] for span in spans} == {provider}
    assert spans[1]["gen_ai.response.model"] == model


def test_a_smaller_model_is_none_of_the_named_one() -> None:
    said = (Message("user", (TextPart("Ebb?"),)), Message("assistant", (TextPart("Noon."),)))
    task = TaskConfig(model_name="openai/gpt-4o")
    for answered, asked in (("gpt-4o-mini", None), ("gpt-4o-2024-08-06", "openai/gpt-4o")):
        records = (RequestRecord(1, answered),)
        _, span = spans_of(Session(task=task, messages=said, requests=records))
        assert span.get("gen_ai.request.model") == asked


def test_the_command_says_what_it_knows_no_time_of_and_where_other_sessions_are(
    tmp_path: Path,
) -> None:
    line = json.dumps({"messages": [{"role": r, "content": r} for r in ("user", "assistant")]})
    (tmp_path / "two.jsonl").write_text(f"{line}\n{line.replace('user', 'system', 1)}\n")
    out = tmp_path / "t3.json"
    done = terminals.run("import", str(tmp_path / "two.jsonl"), "--to", "otel", "-o", str(out))
    assert done.returncode == 0
    assert "times-unknown (two line 1): 1 of 1 request without a known time" in done.stderr
    assert f"{out} holds the first session, the folder {tmp_path / 't3'} the others" in done.stderr
    for seconds, told in ((1.5, []), (None, ["1 of 1 request without a known duration"])):
        record = RequestRecord(0, at="2026-01-02T03:04:05Z", seconds=seconds)
        said = (Message("assistant", (TextPart("Noon."),)),)
        found = unknown_times(Session(messages=said, requests=(record,)))
        assert [each.message for each in found] == told
