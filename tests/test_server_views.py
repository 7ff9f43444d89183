"""A recording as servers hand it over: both readings, the smallest report, the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import playground as pg
from playground import paths
from playground.cli import main
from playground.events import merged
from playground.questions.experiments import cross_read
from playground.questions.server_report import server_report, smaller
from playground.questions.server_view import every_server, server_view
from playground.recordings.recording import Recording, TextChunk
from playground.servers import server_names
from playground.show.frames import cross_readings
from playground.show.payloads import player

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Brest"}}\n</tool_call>'
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
    handed = server_view(recording(TEXT, size), "hermes", "vllm")
    assert handed.events == pg.parse(TEXT, "hermes", server="vllm").events


def test_every_server_has_a_reading() -> None:
    readings = list(every_server(recording(TEXT), "hermes"))
    assert [reading.server for reading in readings] == server_names()
    lossy = {reading.server for reading in readings if reading.dropped}
    assert {"vllm", "sglang"} <= lossy
    assert not {"kodu", "gptme", "smolagents"} & lossy


def test_a_report_has_the_smallest_reply_that_shows_the_difference() -> None:
    made = server_report(recording(TEXT), "hermes", "vllm")
    assert made is not None
    assert [found.code for found in made.reading.told] == ["server-drops"]
    assert made.text == f"{CALL}T"
    assert "vllm:hermes drops text after a call" in made.issue
    assert "vllm 0.33.0 vllm/tool_parsers/hermes_tool_parser.py" in made.issue
    assert f"extract_tool_calls({json.dumps(made.text)}, " in made.test
    assert 'get_tool_parser("hermes")' in made.test
    compile(made.test, "test_it.py", "exec")
    assert server_report(recording(TEXT), "hermes", "cline") is None


def test_a_smaller_text_still_shows_it() -> None:
    words = [("one two three four", False)]
    assert smaller(words, lambda text: "three" in text) == "three"
    letters = [("aXbYc", False), ("whole", True), ("def", True)]
    assert smaller(letters, lambda text: {*"XYw"} <= {*text}) == "XYwhole"


def test_the_command_tells_both_readings(session_file: Path) -> None:
    done = CliRunner().invoke(main, ["replay", str(session_file), "--server", "vllm"])
    assert done.exit_code == 1
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
    assert done.exit_code == 1
    assert done.output.startswith("# vllm (parser hermes) loses part of a reply\n")
    nothing = CliRunner().invoke(main, ["replay", str(session_file), "--report", "cline"])
    assert (nothing.exit_code, nothing.output) == (0, "cline hands over all of one\n")


def test_an_unknown_server_is_bad_input(session_file: Path) -> None:
    done = CliRunner().invoke(main, ["replay", str(session_file), "--server", "vlm"])
    assert done.exit_code == 2
    assert "unknown server 'vlm'; known: vllm, sglang, llama.cpp, ollama" in done.output


def test_the_player_shows_step_by_step_what_is_dropped() -> None:
    timeline = pg.replay(recording(TEXT, 1), "hermes", server="vllm")
    handed = timeline.handed
    assert handed is not None
    assert [step.stop for step in handed.steps] == [step.stop for step in timeline.steps]
    for step in handed.steps:
        assert all(event.span.stop <= step.stop for event in step.events)
    raw = (event for step in handed.steps for event in step.events)
    assert merged(raw) == handed.result.events
    segments = player(handed)["segments"]
    assert segments[-1] == ["finding", len(TEXT) - len(TEXT.split("</tool_call>")[1]), len(TEXT)]
    assert pg.replay(recording(TEXT), "hermes").handed is None


def test_every_dialect_says_what_each_server_drops_of_it() -> None:
    rows = {row.dialect: row for row in cross_read(recording(TEXT), own="hermes")}
    lost = len("".join(TEXT.split("</tool_call>")[1].split()))
    assert rows["hermes"].servers["vllm"] == rows["hermes"].servers["sglang"] == lost
    assert rows["hermes"].servers["ollama"] == 0
    assert "kodu" not in rows["hermes"].servers
    assert set(cross_readings(list(rows.values())).columns) >= {"vllm drops", "ai-sdk-parser drops"}
