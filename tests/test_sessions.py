"""Session files: the native format, its schema, the samples, and one clear error for bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

import playground as pg
from playground.base import paths
from playground.base.errors import InputFault, UnknownNameError
from playground.cache.answers.simulation import cache_matrix
from playground.nouns.messages import ImagePart, Message, ReasoningPart, TextPart, ToolCallPart
from playground.nouns.prompt_data import TaskConfig
from playground.nouns.tool_formats import read_tools
from playground.nouns.tools import ToolMetadata
from playground.questions.timeline import replay
from playground.recordings.recording import BytesChunk, Recording, TextChunk, ToolCallChunk
from playground.sessions.checks import check
from playground.sessions.loading import (
    first_session,
    load_session,
    load_sessions,
    sample_sessions,
)
from playground.sessions.native_format import (
    SCHEMA_FILE,
    dump_part,
    dump_session,
    json_schema,
    line_pieces,
    parse_session,
)
from playground.sessions.session import FORMAT, Session
from playground.sessions.source import MAX_BYTES, Source
from playground.sessions.tool_files import read_tool_file

SAMPLES = paths.samples()
each_sample = pytest.mark.parametrize("name", SAMPLES)


# the format


def test_a_session_survives_its_file() -> None:
    session = Session(
        title="all",
        tools=(ToolMetadata(name="t", input_schema={"type": "object", "x-own": [1]}),),
        messages=(
            Message("user", (TextPart("\u2028é"), ImagePart("https://x/y.png", "low"))),
            Message("assistant", (ReasoningPart("hm", "sig"), ToolCallPart("1", "t", {"a": None}))),
        ),
        recordings=(
            Recording(
                "r",
                "xml",
                (TextChunk("a", 0.5), BytesChunk("4oI="), ToolCallChunk({"index": 0})),
                "recorded",
            ),
        ),
    )
    text = dump_session(session)
    assert parse_session(json.loads(text), text, "x") == session


_TAKES_A_NAME: Final[dict[str, tuple[Callable[[Any], object], Callable[[Session], object]]]] = {
    "load_session": (pg.load_session, lambda sample: sample),
    "load_sessions": (
        lambda given: [loaded.session for loaded in pg.load_sessions(given)],
        lambda sample: [sample],
    ),
    "load_recording": (pg.load_recording, lambda sample: sample.recordings[0]),
    "diff": (lambda given: pg.diff(given, given), lambda sample: pg.diff(sample, sample)),
    "raw_prompt": (
        lambda given: pg.raw_prompt(given, "llama3"),
        lambda sample: pg.raw_prompt(sample, "llama3"),
    ),
}


@pytest.mark.parametrize("function", _TAKES_A_NAME)
def test_a_samples_name_stands_for_the_sample(function: str) -> None:
    by_name, of_session = _TAKES_A_NAME[function]
    name = "02-parallel-calls"
    assert by_name(name) == of_session(sample_sessions()[name])
    # one that reads files raises for a missing one as it does for any other file
    fault = UnknownNameError if function == "raw_prompt" else InputFault
    with pytest.raises(fault, match="'02-parallel-cals'; did you mean '02-parallel-calls'"):
        by_name("02-parallel-cals")
    with pytest.raises(fault, match="'nosuch'; the nearest of 12: 01-plain-chat"):
        by_name("nosuch")


def test_a_session_may_be_asked_of_another_model() -> None:
    session = load_session(SAMPLES["02-parallel-calls"])
    own = session.task.model_name
    other = session.with_model("openai/gpt-4o")
    assert (session.task.model_name, other.task.model_name) == (own, "openai/gpt-4o")
    assert other.with_model(own) == session
    assert session.with_model("") is session
    with pytest.raises(InputFault, match="int 3 was given; expected a text"):
        session.with_model(3)  # type: ignore[arg-type]


def test_a_named_model_is_kept_and_one_that_is_assumed_is_said_to_be() -> None:
    """The assumed one is a model that a session may name, too."""
    assumed, named = Session(), Session().with_model(TaskConfig().model_name)
    for session, model in ((assumed, ""), (named, TaskConfig().model_name)):
        again = first_session(Source("a.json", dump_session(session).encode())).session
        assert (again.named_model, session.named_model) == (model, model)
        notes = cache_matrix(
            replace(session, messages=(Message("user", (TextPart("a"),)),)), "native"
        )[0].notes
        assert ("assumed-model" in {note.code for note in notes}) == (not model)


def test_a_recording_is_asked_for_by_name() -> None:
    recordings = (Recording("one", "xml", ()), Recording("two", "xml", ()))
    session = Session(recordings=recordings)
    assert session.recording("two") is recordings[1]
    with pytest.raises(UnknownNameError, match="unknown recording 'three'; known: one, two"):
        session.recording("three")


def test_the_published_schema_is_the_one_of_the_types() -> None:
    assert json.loads(SCHEMA_FILE.read_text()) == json_schema()


@each_sample
def test_a_sample_is_valid_labelled_and_small(name: str) -> None:
    data = SAMPLES[name].read_bytes()
    value = json.loads(data)
    jsonschema.validate(value, json_schema())
    loaded = first_session(Source(name, data))
    about_streams = {"stream-error", "no-end"}  # what a sample of broken streams is there for
    assert {finding.code for finding in loaded.findings} <= about_streams
    assert loaded.session.scripted
    assert loaded.session.title
    assert loaded.session.purpose
    assert all(r.timing == "synthetic" or r.api for r in loaded.session.recordings)
    assert len(data) < 300_000


@each_sample
def test_a_samples_recording_replays_without_loss(name: str) -> None:
    session = load_session(SAMPLES[name])
    for recording in session.recordings:
        timeline = replay(recording, recording.dialect, session.tools)
        position = 0
        for event in timeline.result.events:
            assert event.span.start == position
            position = event.span.stop
        assert position == timeline.steps[-1].stop == len(timeline.text)


SHOWN = {
    "04-truncated-call": [
        ([], ["truncated-call", "unclosed-section"]),
        ([], ["truncated-call"]),
        ([], ["truncated-call"]),
        (["write_file"], ["missing-closer"]),
    ],
    "05-call-in-a-fence": [
        (["read_file"], ["call-in-fence"]),
        (["read_file"], ["call-in-fence", "bare-opener"]),
    ],
    "09-reasoning": [
        (["get_tides"], []),
        (["get_tides"], []),
        (["get_tides"], ["call-in-reasoning"]),
        (["get_tides"], []),
    ],
    "10-cut-characters": [(["write_file"], [])],
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_sample_shows_what_its_purpose_says(name: str) -> None:
    session = load_session(SAMPLES[name])
    seen = []
    for recording in session.recordings:
        result = replay(recording, recording.dialect, session.tools).result
        calls = [call.name for call in result.tool_calls]
        seen.append((calls, [finding.code for finding in result.findings]))
    assert seen == SHOWN[name]


def test_the_cut_characters_come_out_whole() -> None:
    session = load_session(SAMPLES["10-cut-characters"])
    recording = session.recordings[0]
    assert any(isinstance(chunk, BytesChunk) for chunk in recording.chunks)
    (call,) = replay(recording, "hermes", session.tools).result.tool_calls
    assert call.arguments["content"].endswith("👩‍✈️🚢🇫🇷 naïve café")
    assert "\ufffd" not in call.arguments["content"]


def test_the_long_file_holds_what_hurts() -> None:
    session = load_session(SAMPLES["03-long-file"])
    content = session.messages[1].tool_calls[0].args["content"]
    assert len(content.encode()) > 30_000
    for hurting in ('"""', "```", "</tool_call>", "</parameter>", "🚢", "\\\\", "&"):
        assert hurting in content


# bad input: what was given, where, what would be right


def minimal(**fields: Any) -> dict[str, Any]:
    return {"format": FORMAT, **fields}


def fault(value: Any, indent: int | None = 1) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value, indent=indent).encode()
    with pytest.raises(InputFault) as caught:
        first_session(Source("my.json", data))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def one_message(part: dict[str, Any], role: str = "assistant") -> dict[str, Any]:
    return minimal(messages=[{"role": "user", "parts": []}, {"role": role, "parts": [part]}])


def test_not_json() -> None:
    assert fault(b'{"a":\n oops}') == (
        "my.json:2: not JSON: Expecting value, column 2; expected a JSON document"
    )


def test_not_utf8() -> None:
    assert fault(b'{"a":\n"\xff"}') == "my.json:2: byte 0xff is not UTF-8; expected UTF-8"


@pytest.mark.parametrize("levels", [257, 300, 900])  # of which pydantic tells in different words
def test_arguments_nested_too_deeply_to_be_written(levels: int) -> None:
    arguments: dict[str, Any] = {}
    for _ in range(levels):
        arguments = {"a": arguments}
    call = ToolCallPart("c", "f", arguments)
    session = Session(messages=(Message("assistant", (call,)),))
    for write in (dump_session, lambda given: "".join(line_pieces(given))):
        with pytest.raises(InputFault) as caught:
            write(session)
        assert str(caught.value) == "a value is nested too deeply to be written"
    with pytest.raises(InputFault):
        dump_part(call)


def test_json_nested_too_deeply() -> None:
    assert fault(b"[" * 200_000) == "my.json: nested too deeply to be read"


def test_not_an_object() -> None:
    assert fault([1]) == (
        "my.json: a JSON list not in any known session format; expected a session in one of "
        "the formats that `playground import --formats` lists"
    )


def test_a_wrong_format() -> None:
    assert fault({"format": "other"}) == (
        f"my.json:2, field format: unknown session format 'other'; expected \"{FORMAT}\""
    )


def test_a_wrong_type() -> None:
    message = fault(minimal(title=["no"]))
    assert message == "my.json:3, field title: Input should be a valid string, not ['no']"


def test_an_unknown_field() -> None:
    assert fault(minimal(titel="x")).startswith(
        "my.json:3, field titel: Unexpected keyword argument, not 'x'; expected only the fields"
    )


def test_an_unknown_role() -> None:
    assert fault(minimal(messages=[{"role": "wizard", "parts": []}])) == (
        "my.json:5, field messages.0.role: Input should be 'system', 'user', 'assistant' or 'tool',"
        ' not \'wizard\'; expected "system", "user", "assistant" or "tool"'
    )


def test_a_tool_call_without_id() -> None:
    message = fault(one_message({"type": "tool_call", "tool_name": "t"}))
    assert message.startswith("my.json:11, field messages.1.parts.0.tool_call_id: ")
    assert message.endswith("; expected a value for this field")


def test_an_unknown_part() -> None:
    message = fault(one_message({"type": "song", "text": "la"}))
    assert message.startswith("my.json:11, field messages.1.parts.0: ")
    assert '"text", "reasoning", "image", "tool_call", "tool_result"' in message


def test_a_chunk_without_content_and_one_that_is_no_base64() -> None:
    def recording(chunk: dict[str, Any]) -> dict[str, Any]:
        return minimal(recordings=[{"name": "r", "dialect": "xml", "chunks": [chunk]}])

    assert 'needs one of "text", "reasoning", "base64", "tool_call" or "signal"' in fault(
        recording({"at": 1})
    )
    message = fault(recording({"base64": "*"}))
    assert message.startswith("my.json:9, field recordings.0.chunks.0.base64: not Base64")


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(200 * 1024 * 1024)
    with pytest.raises(
        InputFault, match=r"large\.json: 200 MB is too large for one document; expected"
    ):
        load_session(path)
    assert fault(b" " * (MAX_BYTES + 1)).startswith("my.json: 64 MB is too large")


def test_a_path_that_is_a_folder_or_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputFault, match="a folder not in any known session format"):
        load_session(tmp_path)
    with pytest.raises(InputFault, match="No such file or directory"):
        load_session(tmp_path / "none.json")
    with pytest.raises(InputFault, match="null (byte|character)"):
        load_session("a\0b")


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda s: (
            st.lists(s)
            | st.dictionaries(
                st.sampled_from(
                    ["format", "messages", "role", "parts", "type", "text", "tools", "name"]
                ),
                s,
            )
        ),
    )
)
def test_no_json_at_all_gives_anything_but_a_session_or_an_input_fault(value: Any) -> None:
    if isinstance(value, dict):
        value = {**value, "format": FORMAT}
    try:
        first_session(Source("x", json.dumps(value).encode()))
    except InputFault as caught:
        said = str(caught)
    else:
        said = ""
    assert "Traceback" not in said
    assert "\n" not in said


# findings: odd, but readable


def found(session: dict[str, Any]) -> list[tuple[str, str]]:
    loaded = first_session(Source("x", json.dumps(session).encode()))
    return [(finding.code, finding.where) for finding in loaded.findings]


def test_a_result_without_a_call_and_a_call_without_a_result() -> None:
    result = {"type": "tool_result", "tool_call_id": "9", "tool_name": "t"}
    assert found(one_message(result, "tool")) == [
        ("empty-message", "messages.0"),
        ("orphan-result", "messages.1"),
    ]
    call = {"type": "tool_call", "tool_call_id": "1", "tool_name": "t"}
    turns = [{"role": "assistant", "parts": [call]}, {"role": "user", "parts": []}]
    codes = [code for code, _ in found(minimal(messages=turns + turns))]
    assert codes == [
        "role-order",
        "empty-message",
        "missing-result",
        "duplicate-id",
        "empty-message",
        "missing-result",
    ]


def test_a_place_in_the_file_is_told_beside_the_message_where_it_is_another() -> None:
    part = ToolCallPart(tool_call_id="1", tool_name="t", args={})
    session = Session(messages=(Message("assistant", (part,)), Message("user", (TextPart("a"),))))
    same = check(session, ["messages.0", "messages.1"])
    other = check(session, ["line 7", "line 9"])
    assert {each.where for each in same} == {"messages.0"}
    assert {each.where for each in other} == {"messages.0 (line 7)"}


def test_a_cyclic_and_a_broken_ref_of_a_tool() -> None:
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node"}, "lost": {"$ref": "#/$defs/gone"}},
        "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}},
    }
    codes = found(minimal(tools=[{"name": "t", "input_schema": schema}]))
    assert sorted(code for code, _ in codes) == ["cyclic-ref", "unresolved-ref"]
    session = first_session(
        Source("x", json.dumps(minimal(tools=[{"name": "t", "input_schema": schema}])).encode())
    ).session
    assert session.tools[0].input_schema == schema
    assert list(session.tools[0].parameters) == ["tree", "lost"]


def test_a_ref_that_is_nothing_but_itself_is_read() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}}
    tool = ToolMetadata(name="t", input_schema=schema)
    assert tool.parameter_schema("a") == {}


def test_a_lone_surrogate_is_replaced_with_a_finding() -> None:
    data = b'{"format": "playground-session/1", "title": "a\\ud800b"}'
    loaded = first_session(Source("x", data))
    assert loaded.session.title == "a\ufffdb"
    assert [(f.code, f.where) for f in loaded.findings] == [("lone-surrogate", "title")]


# tools


def test_tools_are_read_in_every_common_form() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    forms = [
        {"type": "function", "function": {"name": "t", "description": "d", "parameters": schema}},
        {"type": "function", "name": "t", "description": "d", "parameters": schema},
        {"name": "t", "description": "d", "input_schema": schema},
        {"name": "t", "description": "d", "inputSchema": schema},
    ]
    expected = ToolMetadata(name="t", description="d", input_schema=schema)
    assert read_tools(forms) == [expected] * 4
    assert read_tools({"tools": forms[:1]}) == [expected]


def test_a_tool_without_a_name_is_one_clear_error() -> None:
    with pytest.raises(InputFault) as caught:
        read_tool_file(b'[\n {"name": "a"},\n {"description": "b"}\n]', "tools.json")
    assert str(caught.value).startswith("tools.json:3, field tools.1.name: Field required")


def test_tools_that_are_no_list() -> None:
    with pytest.raises(InputFault, match="tools must be a list, not 'x'"):
        read_tools("x")


def test_nothing_of_the_samples_names_this_machine() -> None:
    for path in SAMPLES.values():
        assert str(ROOT) not in path.read_text()


def test_what_is_whole_of_a_torn_session_file_is_kept() -> None:
    """One that was cut within a message was refused whole, or came in with half a call."""
    session = sample_sessions()["06-cache-eight-turns"]
    text = dump_session(session)
    kept = set()
    for stop in range(200, len(text) - 2, 101):
        (loaded,) = load_sessions(text[:stop])
        assert [found.code for found in loaded.findings][:1] == ["torn-end"]
        found = loaded.session
        whole = len(found.messages)
        kept.add(whole)
        assert found.tools == session.tools[: len(found.tools)]
        assert found.messages[:-1] == session.messages[: max(whole - 1, 0)]
        if found.messages:  # of the last one whole parts
            parts = session.messages[whole - 1].parts
            assert found.messages[-1].parts == parts[: len(found.messages[-1].parts)]
    assert {1, 5, 10, len(session.messages)} <= kept


def test_a_torn_session_file_has_no_half_of_a_call_wherever_it_is_cut() -> None:
    """Behind a backslash at the cut, brackets of a text counted as structure, and a call came in
    without its arguments."""
    args = {"path": 'a } } ] ] \\ "z" \n [{', "list": [{"\\": "}]"}, "\\"], "sure": True}
    parts = (TextPart("] } \\"), ToolCallPart("1", "rm", args))
    said = Message("user", (TextPart("a } \\ b"),))
    session = Session(messages=(said, Message("assistant", parts)))
    text = dump_session(session)
    kept = set()
    for stop in range(text.index('"parts"'), len(text) - 2):
        found = load_session(text[:stop]).messages
        kept.add(sum(len(message.parts) for message in found))
        for message, whole in zip(found, session.messages, strict=False):
            assert message.parts == whole.parts[: len(message.parts)], text[:stop]
    assert kept == {0, 1, 2, 3}


def test_a_torn_session_file_with_another_fault_is_refused() -> None:
    torn = '{"format": "playground-session/1", "title": 7, "messages": [{"role": "us'
    with pytest.raises(InputFault, match="title"):
        load_session(torn)
