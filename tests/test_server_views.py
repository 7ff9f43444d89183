"""A recording as servers hand it over: both readings, the smallest report, the command line."""

from __future__ import annotations

import ast
import json
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import DIALECTS

import playground as pg
from playground.base import paths
from playground.cli import main
from playground.dialects.declared import DeclaredDialect
from playground.nouns.events import (
    ArgumentEvent,
    CallAbortedEvent,
    CallEndedEvent,
    CallStartedEvent,
    Event,
    Span,
    TextEvent,
    merged,
    owned_text,
)
from playground.nouns.messages import TextPart, ToolCallPart
from playground.nouns.tools import ToolMetadata
from playground.plugins.systems.go_templates.literals import unquote
from playground.questions.experiments import cross_read
from playground.questions.server_report import (
    LITERALS,
    client_view,
    server_report,
    smaller,
    suite_test,
)
from playground.questions.server_view import dropped_by_servers, server_view
from playground.recordings.recording import Recording, TextChunk
from playground.servers import ServerReading, all_servers, server_names, unclosed_calls
from playground.servers.segments import segments
from playground.servers.view import Language, Server
from playground.show.replays import player
from playground.show.rows import cross_readings

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Brest"}}\n</tool_call>'
WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "description": "",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
}
TEXT = f"I look at the weather first.\n{CALL}\nThen I shall tell you, {'in many words ' * 20}."


def recording(text: str, size: int = 5) -> Recording:
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return Recording(
        "two",
        "hermes",
        tuple(TextChunk(at=index / 10, text=piece) for index, piece in enumerate(pieces)),
    )


@pytest.fixture
def session_file(tmp_path: Path) -> Path:
    given = json.loads((paths.samples()["05-call-in-a-fence"]).read_text())
    given["recordings"] = [
        {"name": "one", "dialect": "hermes", "chunks": [{"at": 0, "text": TEXT}]}
    ]
    path = tmp_path / "session.json"
    path.write_text(json.dumps(given))
    return path


def test_a_timeline_holds_both_readings() -> None:
    timeline = pg.replay(recording(TEXT), "hermes", server="vllm")
    assert timeline.server is not None
    assert timeline.result.content.strip().endswith("in many words .")
    assert timeline.server.content == "I look at the weather first.\n"
    assert timeline.server.name == "vllm:hermes"
    assert pg.replay(recording(TEXT), "hermes").server is None


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_recording_is_handed_over_as_the_whole_text_is(size: int) -> None:
    client_view = server_view(recording(TEXT, size), "hermes", "vllm")
    assert client_view.events == pg.parse(TEXT, "hermes", server="vllm").events


def test_every_server_has_a_reading() -> None:
    readings = [server_view(recording(TEXT), "hermes", name) for name in server_names()]
    assert [reading.server for reading in readings] == server_names()
    lossy = {reading.server for reading in readings if reading.dropped}
    assert {"vllm", "sglang"} <= lossy
    assert not {"kodu", "gptme", "smolagents"} & lossy


def test_a_report_has_the_smallest_reply_that_shows_the_difference() -> None:
    made = server_report(recording(TEXT), "hermes", "vllm")
    assert [found.code for found in made.reading.server_findings] == ["server-drops"]
    assert made.text == f"{CALL}T"
    assert "vllm:hermes drops text after a call" in made.issue
    assert "vllm 0.33.0 vllm/tool_parsers/hermes_tool_parser.py" in made.issue
    assert f"extract_tool_calls({json.dumps(made.text)}, " in made.test
    assert 'get_tool_parser("hermes")' in made.test
    compile(made.test, "test_it.py", "exec")
    assert '"content": "é"' in server_report(recording(f"{CALL}é"), "hermes", "vllm").issue
    nothing = server_report(recording(TEXT), "hermes", "smolagents")
    assert (nothing.text, nothing.test, nothing.issue) == ("", "", "")


def test_a_smaller_text_still_shows_it() -> None:
    words = [("one two three four", False)]
    assert smaller(words, lambda text: "three" in text) == "three"
    letters = [("aXbYc", False), ("whole", True), ("def", True)]
    assert smaller(letters, lambda text: {*"XYw"} <= {*text}) == "XYwhole"


def test_the_command_tells_both_readings(session_file: Path) -> None:
    done = CliRunner().invoke(main, ["replay", str(session_file), "--server", "vllm"])
    assert done.exit_code == 0
    ours, theirs = done.output.split("##### what vllm:hermes hands over\n")
    assert "Then I shall tell you" in ours
    assert theirs.count("=== call get_weather") == 1
    assert "server-drops" in done.output
    as_json = CliRunner().invoke(main, ["replay", str(session_file), "--server", "vllm", "--json"])
    server = json.loads(as_json.stdout)["server"]
    assert (server["name"], server["parser"]) == ("vllm", "hermes")
    assert [found["code"] for found in server["findings"]] == ["unknown-tool", "server-drops"]


def test_the_command_makes_a_report(session_file: Path) -> None:
    done = CliRunner().invoke(main, ["replay", str(session_file), "--report", "vllm"])
    assert done.exit_code == 0
    assert done.output.startswith("# vllm (parser hermes) loses part of a reply\n")
    nothing = CliRunner().invoke(main, ["replay", str(session_file), "--report", "smolagents"])
    assert (nothing.exit_code, nothing.output) == (
        0,
        "smolagents hands over all of one, read as hermes\n",
    )


def test_a_report_shows_what_is_lost_and_its_test_can_fail() -> None:
    """Markers alone are no loss; of reasoning a suite of tool parsers sees nothing."""
    text = "to=self<|message|>Let me check.<|eom|><|start|>assistant to=user<|message|>42.<|eot|>"
    made = server_report(recording(text), "muse", "vllm")
    assert made.lossless.reasoning == "."
    assert made.reading.reasoning == made.test == ""
    assert '"reasoning": "."' in made.issue


def test_a_reports_test_offers_the_tools_and_asserts_the_arguments() -> None:
    text = (
        '<function name="get_weather"><param name="city">X</param>'
        '<param name="other">lost</param></function>'
    )
    made = server_report(recording(text), "minicpm5", "vllm", [WEATHER])
    calls = [{"name": "get_weather", "arguments": {"city": "X", "other": "lost"}}]
    assert f"assert calls == {json.dumps(calls)}\n" in made.test
    assert ast.literal_eval(made.test.split("for tool in ")[1].split("]\n")[0]) == [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "description": "",
                "parameters": WEATHER["input_schema"],
            },
        }
    ]


def test_a_reports_test_offers_the_tools_that_are_called() -> None:
    made = server_report(recording(TEXT), "hermes", "sglang:qwen25")
    assert '"name": "get_weather", "description": ""' in made.test


@pytest.mark.parametrize(
    ("server", "dialect", "text", "asserted"),
    [
        ("continue", "continue", "```tool\nTOOL_NAME: f\nBEGIN_ARG: a\nRo", "toEqual([])"),
        ("kodu", "xml", "Ok <get_wea", 'toEqual("<")'),
        ("smolagents", "smolagents-code", "Well.\n<code>\nprint(1)", "for call in []\n"),
    ],
)
def test_a_report_about_a_client_has_a_test_that_its_view_fails(
    server: str, dialect: str, text: str, asserted: str
) -> None:
    made = server_report(recording(text), dialect, server)
    assert made.text
    assert asserted in made.test
    assert LITERALS["typescript" if server != "smolagents" else "python"](made.text) in made.test
    # what is asserted is what the client does not hand over
    whole, got = client_view(made.lossless), client_view(made.reading)
    assert (whole["calls"], whole["content"]) != (got["calls"], got["content"])


def test_a_report_says_itself_that_its_reading_is_assumed() -> None:
    text = 'Hi [{"name": "f", "arguments": {"a": "x"}}] lost [{"name": "f", "arguments": {"a": "x"'
    made = server_report(recording(text), "xlam", "ollama")
    assert made.issue.startswith(
        "# ollama may lose part of a reply\n\n"
        "- ollama drops a call that it cannot read\n\n"
        "Not proven: it is not known how ollama reads xlam: "
        "it is assumed to do what most of its parsers do.\n"
    )


def test_a_reports_texts_hold_fences() -> None:
    call = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```<｜tool▁call▁end｜>"
    text = f"<｜tool▁calls▁begin｜>{call}lost{call}<｜tool▁calls▁end｜>"
    made = server_report(recording(text), "deepseek-v3", "vllm")
    assert made.text == text.replace("lost", "t")
    assert f"\n````text\n{made.text}\n````\n" in made.issue


def test_a_report_says_who_reads_a_call_that_its_dialect_does_not() -> None:
    made = server_report(recording(CALL), "kimi-k2", "vllm")
    assert made.issue == ""
    assert [found.code for found in made.findings] == ["foreign-markup"]


def test_a_parser_of_another_dialect_is_no_loss_to_report(session_file: Path) -> None:
    made = server_report(recording(CALL), "hermes", "vllm:mistral")
    assert (made.issue, made.reading.content) == ("", CALL)
    assert [found.code for found in made.findings] == ["unread-dialect"]
    done = CliRunner().invoke(main, ["replay", str(session_file), "--report", "vllm:mistral"])
    assert done.exit_code == 0
    assert done.stdout == "vllm:mistral hands over all of one, as text, unread\n"


READ: Final[dict[Language, Callable[[str], Any]]] = {
    "python": ast.literal_eval,
    "go": lambda written: json.loads(unquote(written)),
    "typescript": json.loads,
}


@pytest.mark.parametrize("language", sorted({s.suite.language for s in all_servers() if s.suite}))
@given(st.text())
@example("😀 \x7f\x00\u2028\ufeff\U000e0001 \"\\'`\n\r\t\b\f ｜")
def test_a_literal_is_the_reply_to_the_character(language: Language, text: str) -> None:
    literal, read = LITERALS[language](text), READ[language]
    assert (unquote(literal) if language == "go" else read(literal)) == text
    assert "\n" not in literal
    value = [{"name": text, "arguments": {text: [1, 1.5, True, None, {}]}}]
    assert read(LITERALS[language](value)) == value


def test_a_literal_keeps_letters_beyond_ascii_readable_in_go() -> None:
    assert LITERALS["go"]({"é": 1}) == '"{\\"é\\": 1}"'


@pytest.mark.parametrize("server", [server for server in all_servers() if server.suite])
def test_a_suites_test_has_its_holes_filled(server: Server) -> None:
    spec = next((parser.name for parser in server.parsers), "")
    tools, call = [ToolMetadata(name="f")], f"{CALL}T"
    reading = pg.parse(call, "hermes", server="vllm")
    assert isinstance(reading, ServerReading)
    test = suite_test(server.suite, spec, call, tools, reading)
    assert "{{" not in test
    for part in ("content", "calls"):
        assert f"{{{{{part}}}}}" in server.suite.text if server.suite else False
    if server.suite and server.suite.language == "python":
        compile(test, "test_it.py", "exec")


def test_a_parser_that_a_suite_cannot_name_has_no_test_there() -> None:
    made = server_report(recording(f"{CALL}T"), "hermes", "ollama")
    assert made.issue.startswith("# ollama (parser tools) loses part of a reply")
    assert made.test == ""
    made = server_report(recording(f"{CALL[:-1]}"), "hermes", "ollama:qwen3")
    assert made.issue.startswith("# ollama (parser qwen3-thinking) loses part of a reply")
    assert 'ParserForName("qwen3-thinking")' in made.test


def test_the_command_tells_a_parser_that_is_none(session_file: Path) -> None:
    done = CliRunner().invoke(main, ["replay", str(session_file), "--report", "cline:nosuch"])
    assert done.exit_code == 0
    assert "unknown-parser" in done.stderr


def test_a_report_as_json_is_json_where_nothing_is_lost(session_file: Path) -> None:
    done = CliRunner().invoke(
        main, ["replay", str(session_file), "--report", "smolagents", "--json"]
    )
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"text": "", "test": "", "issue": ""})


@pytest.mark.parametrize("other", [["--server", "vllm"], ["--events"]])
def test_a_report_goes_with_no_other_reading(session_file: Path, other: list[str]) -> None:
    done = CliRunner().invoke(main, ["replay", str(session_file), "--report", "vllm", *other])
    assert done.exit_code == 2
    assert "--report shortens the reply" in done.stderr


def test_an_unknown_server_is_bad_input(session_file: Path) -> None:
    done = CliRunner().invoke(main, ["replay", str(session_file), "--server", "vlm"])
    assert done.exit_code == 2
    said = "unknown server 'vlm'; did you mean 'vllm'?"
    assert said in done.output


def test_the_player_shows_step_by_step_what_is_dropped() -> None:
    timeline = pg.replay(recording(TEXT, 1), "hermes", server="vllm")
    client_view = timeline.delivered
    assert client_view is not None
    assert [step.stop for step in client_view.steps] == [step.stop for step in timeline.steps]
    for step in client_view.steps:
        assert all(event.span.stop <= step.stop for event in step.events)
    raw = (event for step in client_view.steps for event in step.events)
    assert merged(raw) == client_view.result.events
    (column,) = player(client_view)["columns"]
    segments = column["segments"]
    assert column["dropped"] == len(TEXT.split("</tool_call>")[1])
    assert segments[-1] == ["dropped", len(TEXT) - len(TEXT.split("</tool_call>")[1]), len(TEXT)]
    assert pg.replay(recording(TEXT), "hermes").delivered is None


def test_the_player_shows_what_a_mended_call_delivers() -> None:
    """The card held the closing marker that the finding beside it says is none of the value."""
    value, closer = "/tmp/a.txt", "\n</parameter>"
    call = f"<function=read>\n<parameter=path>\n{value}{closer}{closer}\n</function>"
    reply = f"<tool_call>\n{call}\n</tool_call>"
    for text, delivered in ((reply, [value]), (reply.replace(closer, "", 1), [])):
        (column,) = player(pg.replay(recording(text), "qwen3-coder"))["columns"]
        ((key, start, stop, *shown),) = column["calls"][0]["arguments"]
        assert (key, shown) == ("path", delivered)
        assert text[start:stop] == value + closer * len(delivered)


def test_the_player_strikes_an_argument_that_a_server_leaves_out() -> None:
    """vLLM delivers a call that is cut off, without the value in which it was cut."""
    text = "<tool_call>\n<function=write>\n<parameter=path>\na.md\n</parameter>\n"
    text += "<parameter=content>\nA storm"
    timeline = pg.replay(recording(text), "qwen3-coder", server="vllm").delivered
    assert timeline is not None
    (call,) = [each for each in timeline.result.events if isinstance(each, CallEndedEvent)]
    assert dict(call.arguments) == {"path": "a.md"}
    (column,) = player(timeline)["columns"]
    assert [key for key, *_ in column["calls"][0]["arguments"]] == ["path"]
    assert [text[start:stop] for kind, start, stop in column["segments"] if kind == "dropped"] == [
        "A storm"
    ]
    assert column["dropped"] == len("A storm")


@pytest.mark.parametrize("size", [1, 3, 40, 1000])
@pytest.mark.parametrize("server", ["vllm", "ollama", "llama.cpp"])
def test_what_is_handed_over_is_cut_where_the_steps_are(server: str, size: int) -> None:
    timeline = pg.replay(recording(TEXT + CALL + "\nWell <tool_ca", size), "hermes", server=server)
    client_view = timeline.delivered
    assert client_view is not None
    at = 0
    for step in client_view.steps:
        assert all(event.span.stop <= step.stop for event in step.events)
        for event in step.events:  # and no character is in two of them, or in none
            assert event.span.start == at
            at = event.span.stop
    assert merged(e for step in client_view.steps for e in step.events) == client_view.result.events
    assert at == len(timeline.text)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_call_starts_and_ends_at_the_same_step(dialect: DeclaredDialect) -> None:
    """A call started where its opener began to come, steps before anybody could know it."""
    name = dialect.syntax.name or "get_weather"
    call = ToolCallPart("call_1", name, dict(dialect.syntax.sample_texts or {"city": "Brest"}))
    text = dialect.format_reply([TextPart("I look."), call])
    for reply, size, server in product((text, text[:-3]), (1, 5, 12), ("vllm", "llama.cpp")):
        timeline = pg.replay(recording(reply, size), dialect, [WEATHER], server=server)
        assert timeline.delivered
        own, theirs = (
            {
                (type(event), event.span): index
                for index, step in enumerate(view.steps)
                for event in step.events
                if isinstance(event, CallStartedEvent | CallEndedEvent | CallAbortedEvent)
            }
            for view in (timeline, timeline.delivered)
        )
        assert len(own) == 2
        if (reply, server) == (text, "llama.cpp"):  # which hands every dialect's whole calls over
            assert theirs.keys() == own.keys()
        assert {key: own.get(key, index) for key, index in theirs.items()} == theirs


def test_a_server_view_of_many_steps_takes_linear_time() -> None:
    """At every step what was left of the text behind it was copied."""
    timeline = pg.replay(recording("x", 1), "hermes", server="vllm")
    assert timeline.server is not None
    steps = [replace(timeline.steps[0], stop=stop) for stop in range(4_000, 8_000_001, 4_000)]
    server = replace(timeline.server, events=[TextEvent(0, "x" * 8_000_000)])
    timeline = replace(timeline, steps=steps, server=server)
    taken = []
    for _ in range(3):
        began = time.process_time()
        client_view = timeline.delivered
        taken.append(time.process_time() - began)
    assert client_view is not None and {len(step.events) for step in client_view.steps} == {1}
    assert min(taken) < 0.08  # it was 0.25 s, and is a twentieth of that


def test_a_call_of_many_events_is_one_stretch_in_linear_time() -> None:
    """For each event of a call all before it were asked whether it had ended."""
    nowhere = Span(0, 0)
    arguments = [ArgumentEvent(number, 0, str(number), "1") for number in range(5_000)]
    ended = CallEndedEvent(nowhere, 0, "call_1", "f", {}, ())
    events: list[Event] = [
        CallStartedEvent(nowhere, 0, "call_1"),
        *arguments,
        ended,
        TextEvent(5_000, "x"),
    ]
    taken = []
    for _ in range(3):
        began = time.process_time()
        call, text = segments(events)
        taken.append(time.process_time() - began)
    assert min(taken) < 0.2  # it was 2 s
    assert (call.kind, call.events, text.events) == ("call", events[:-1], events[-1:])


def test_every_dialect_says_what_each_server_drops_of_it() -> None:
    rows = {row.dialect: row for row in cross_read(recording(TEXT), own="hermes")}
    lost = len(TEXT.split("</tool_call>")[1])
    assert rows["hermes"].servers["vllm"] == rows["hermes"].servers["sglang"] == lost
    assert rows["hermes"].servers["ollama"] == lost
    assert rows["hermes"].servers["ai-sdk-parser"] == 0
    assert rows["hermes"].servers["llama.cpp"] == len(TEXT)  # an error
    table = cross_readings(list(rows.values()))
    assert {"vllm_drops_characters", "ai_sdk_parser_drops_characters"} <= {*table.columns}


def test_a_server_without_a_parser_for_a_dialect_is_told_and_no_zero() -> None:
    rows = cross_read(recording(TEXT), own="hermes")
    by_name = {row.dialect: row.servers for row in rows}
    assert by_name["openhands"]["vllm"] is by_name["hermes"]["kodu"] is None
    assert by_name["openhands"]["openhands"] == 0
    table = cross_readings(rows)
    at = table.columns.index("vllm_drops_characters")
    texts = {row[0]: row[at] for row in table.texts()[1]}
    lost = len(TEXT.split("</tool_call>")[1])
    assert (texts["openhands"], texts["hermes"]) == ("no parser", str(lost))
    assert table.texts()[0][at] == "vllm drops"


@pytest.mark.parametrize("text", ["x < 10 is true", "Ok <get_wea"])
def test_a_tag_open_at_the_end_is_lost_by_kodu_alone(text: str) -> None:
    assert pg.parse(text, "xml", server="continue").content == text
    assert pg.parse(text, "xml", server="kodu").content == text[: text.index("<")]


def test_each_event_of_a_run_on_call_is_looked_at_a_few_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The call's events were copied for each call that it took: 260 kB took half a minute."""
    looked: list[Event] = []
    tells = unclosed_calls._is_missing_closer

    def counted(event: Event) -> bool:
        looked.append(event)
        return tells(event)

    monkeypatch.setattr(unclosed_calls, "_is_missing_closer", counted)
    parameter = "<arg_key>a</arg_key><arg_value>1</arg_value>"
    text = f"<tool_call>f{parameter}\n" * 200 + "</tool_call>"
    result = pg.parse(text, "glm", [{"name": "f"}], server="vllm")
    assert [len(call.raw) for call in result.tool_calls] == [200]
    assert len(looked) < 5 * len(result.events)


def test_a_note_behind_half_an_opener_does_not_hide_it() -> None:
    """The count beside each server was that of a reading without the note."""
    text = "< write_file> <"
    result = pg.parse(text, "xml", [{"name": "write_file"}])
    assert [finding.code for finding in result.findings] == ["near-marker"]
    assert dropped_by_servers(result, "xml")["kodu"] == 1
    reading = pg.parse(text, "xml", [{"name": "write_file"}], server="kodu")
    assert isinstance(reading, ServerReading)
    assert [event.text for event in reading.dropped] == ["<"]


_UNCLOSED_JSON = (
    '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n'
    '<tool_call>\n{"name": "f", "arguments": {"a": 2}}\n</tool_call>'
)
_UNCLOSED_KEYS = (
    "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n"
    "<tool_call>g\n<arg_key>b</arg_key>\n<arg_value>2</arg_value>\n</tool_call>"
)
_UNCLOSED_BODY = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}"
    "<|tool_call_begin|>functions.f:1<|tool_call_argument_begin|>{}<|tool_call_end|>"
    "<|tool_calls_section_end|>"
)


@pytest.mark.parametrize(
    ("dialect", "server", "text", "calls", "content"),
    [
        # its pattern goes from an opener to the first closer: what lies between is no JSON
        ("hermes", "vllm:hermes", _UNCLOSED_JSON, [], _UNCLOSED_JSON),
        ("hermes", "vllm:granite4", _UNCLOSED_JSON, [], _UNCLOSED_JSON),
        ("glm", "vllm:glm47", _UNCLOSED_KEYS, [("f", {"a": 1, "b": 2})], ""),
        ("glm", "ollama", _UNCLOSED_KEYS, [("f", {"a": 1}), ("g", {"b": 2})], ""),
        ("kimi-k2", "vllm", _UNCLOSED_BODY, [("f", {})], ""),
    ],
)
def test_a_call_without_its_closer_takes_the_next_one(
    dialect: str, server: str, text: str, calls: list[tuple[str, object]], content: str
) -> None:
    number = {"type": "integer"}
    tools = [
        {"name": name, "input_schema": {"properties": {"a": number, "b": number}}} for name in "fg"
    ]
    reading = pg.parse(text, dialect, tools, server=server)
    assert [(call.name, call.arguments) for call in reading.tool_calls] == calls
    assert reading.content == content
    assert "".join(map(owned_text, reading.events)) == text


@pytest.mark.parametrize(
    ("schema", "value", "delivered"),
    [
        ({"type": "boolean"}, "True", True),
        ({"type": "boolean"}, "0", False),
        ({"type": "boolean"}, "yes", "yes"),
        ({"type": ["integer", "boolean"]}, "1", 1),
        ({"type": "string"}, "True", "True"),
    ],
)
def test_booleans_of_vllm_are_read_in_any_letter_case(
    schema: object, value: str, delivered: object
) -> None:
    parameter = f"<parameter=a>\n{value}\n</parameter>"
    text = f"<tool_call>\n<function=f>\n{parameter}\n</function>\n</tool_call>"
    tools = [{"name": "f", "input_schema": {"properties": {"a": schema}}}]
    (call,) = pg.parse(text, "qwen3-coder", tools, server="vllm").tool_calls
    assert call.arguments["a"] is delivered or call.arguments["a"] == delivered
