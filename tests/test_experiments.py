"""Experiments on recordings, and what leaves the page: tests, pages, JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import DIALECTS, TOOL, TOOLS, streams
from terminals import run
from wires import FRAMINGS, WRITERS, Said

import playground as pg
from playground.dialects import dialect_names
from playground.nouns.events import CallAbortedEvent, CallEndedEvent, Event, Span, TextEvent
from playground.nouns.messages import ToolCallPart
from playground.parsing.parser import DialectParser
from playground.questions.experiments import (
    cross_read,
    difference,
    find_changing_cut,
    read_recording,
)
from playground.recordings.recording import (
    BytesChunk,
    ReasoningChunk,
    Recording,
    SignalChunk,
    TextChunk,
    ToolCallChunk,
    add_up,
)
from playground.recordings.recutting import (
    CUTTINGS,
    break_off,
    corrupt_chunk,
    cut_in_two,
    drop_chunk,
    recut,
    text_size,
)
from playground.show.exports import pytest_file, replay_json

SAMPLES = [
    (f"{name}: {recording.name}", session, recording)
    for name, session in pg.sample_sessions().items()
    for recording in session.recordings
]
NATIVE = pg.decode_stream(
    [
        FRAMINGS["events"](
            WRITERS["openai-chat"](
                Said(
                    ("hm ", "🦊"), ("Grü", "ße"), (("t", ('{"a": "', "x\\", 'n"}')), ("u", ("{}",)))
                )
            )
        )
    ]
)


def recorded(text: str, dialect: str) -> Recording:
    data = text.encode()
    return Recording(
        "r", dialect, tuple(TextChunk(text[i : i + 4]) for i in range(0, len(data), 4))
    )


# other cuts


@pytest.mark.parametrize("cutting", CUTTINGS)
@pytest.mark.parametrize("recording", [NATIVE, *(r for _, _, r in SAMPLES)], ids=lambda r: r.name)
def test_another_cutting_says_the_same(cutting: Any, recording: Recording) -> None:
    other = recut(recording, cutting, seed=1)
    assert add_up(other.chunks) == add_up(recording.chunks)
    assert recut(recording, cutting, seed=1) == other
    sizes = [len(c.text.encode()) for c in other.chunks if isinstance(c, TextChunk)]
    limit = {"1 byte": 1, "7 bytes": 7, "random": 11}[cutting]
    assert all(size <= limit for size in sizes)


@given(st.data())
def test_no_cut_changes_an_event_in_any_dialect(data: st.DataObject) -> None:
    dialect = data.draw(st.sampled_from(DIALECTS))
    recording = recorded(data.draw(streams(dialect)), dialect.name)
    found = find_changing_cut(recording, dialect.name, TOOLS, limit=60)
    assert not found.found, (found.cutting, found.changes)


@pytest.mark.parametrize(("name", "session", "recording"), SAMPLES, ids=lambda x: str(x)[:30])
def test_no_cut_changes_a_sample(name: str, session: Any, recording: Recording) -> None:
    found = find_changing_cut(recording, recording.dialect, session.tools, limit=400)
    assert not found.found, name
    assert found.tried >= min(400, text_size(recording) - 1)


def test_every_cut_in_two_is_tried() -> None:
    recording = recorded("ab 🦊 <x", "xml")
    found = find_changing_cut(recording, "xml")
    assert (found.tried, found.of) == (5 + 9, 5 + 9)
    cuts = [cut_in_two(recording, place) for place in range(1, 10)]
    assert all(len(cut.chunks) == 2 for cut in cuts)
    assert isinstance(cuts[3].chunks[0], BytesChunk)


class _Forgetful(DialectParser):
    """A parser with the bug that people look for: it sees a marker only inside one chunk."""

    def feed(self, data: bytes) -> list[Event]:
        text = data.decode("utf-8", "replace")
        kind = CallAbortedEvent if "<call>" in text else TextEvent
        if kind is TextEvent:
            return [TextEvent(Span(0, len(text)), text)]
        return [CallAbortedEvent(Span(0, 0), 0, None, (), "x")]

    def feed_tool_call_delta(self, delta: Any) -> list[Event]:
        return []

    def finish(self) -> list[Event]:
        return []


def test_a_parser_that_depends_on_cuts_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dialect:
        def create_parser(self, *_: Any) -> DialectParser:
            return _Forgetful()

    monkeypatch.setattr("playground.questions.experiments.get_dialect", lambda _: Dialect())
    found = find_changing_cut(Recording("r", "x", (TextChunk("a <call> b"),)), "x")
    assert found.found
    assert found.cutting == "1 byte"
    assert {change.change for change in found.changes} == {"removed", "added"}


# spoiled


def test_breaking_off_is_never_a_whole_call() -> None:
    for name, session, recording in SAMPLES:
        whole = read_recording(recording, recording.dialect, session.tools)
        for after in range(0, len(recording.chunks), 3):
            cut = read_recording(break_off(recording, after), recording.dialect, session.tools)
            calls = [(c.name, c.arguments) for c in cut.tool_calls]
            assert calls == [(c.name, c.arguments) for c in whole.tool_calls][: len(calls)], name


def test_a_lost_and_a_spoiled_chunk() -> None:
    text = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n</tool_call>'
    recording = recorded(text, "hermes")
    whole = read_recording(recording, "hermes", [TOOL]).events
    assert any(isinstance(event, CallEndedEvent) for event in whole)
    for index in range(len(recording.chunks)):
        lost = read_recording(drop_chunk(recording, index), "hermes", [TOOL]).events
        assert difference(whole, lost, spans=False)
        spoiled = corrupt_chunk(recording, index, seed=3)
        assert sum(a != b for a, b in zip(spoiled.chunks, recording.chunks, strict=True)) == 1
        assert corrupt_chunk(recording, index, seed=3) == spoiled
    for index, chunk in enumerate(NATIVE.chunks):
        spoiled = corrupt_chunk(NATIVE, index)
        changes = isinstance(chunk, TextChunk | ReasoningChunk) or (
            isinstance(chunk, ToolCallChunk) and bool(chunk.tool_call["function"]["arguments"])
        )
        assert (spoiled != NATIVE) == changes
        assert not isinstance(chunk, SignalChunk) or spoiled == NATIVE


def test_a_difference_without_spans_tells_what_is_missing_alone() -> None:
    before = read_recording(recorded("one two", "xml"), "xml").events
    after = read_recording(recorded("one", "xml"), "xml").events
    assert [c.change for c in difference(before, after)] == ["removed", "added"]
    assert difference(before, before) == []


def test_every_dialect_reads_the_recording_and_its_own_comes_first() -> None:
    text = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n</tool_call>'
    rows = cross_read(recorded(text, "hermes"), [TOOL])
    assert [row.dialect for row in rows][0] == "hermes"
    assert sorted(row.dialect for row in rows) == sorted(dialect_names())
    by_name = {row.dialect: row for row in rows}
    assert by_name["hermes"].same_calls
    assert by_name["hermes"].text == 0
    assert by_name["native"].calls == 0
    assert by_name["native"].text == len(text)
    assert not by_name["native"].same_calls


# what leaves


def test_detecting_and_cross_reading_count_the_same() -> None:
    text = 'Hm.<tool_call>\n{"name": "lookup", "arguments": {}}\n</tool_call><tool_call>{"na'
    ranked = {found.dialect: found for found in pg.detect(text, [TOOL])}
    for row in cross_read(recorded(text, "hermes"), [TOOL]):
        found = ranked.pop(row.dialect)
        assert (row.calls, row.aborted, row.text) == (
            found.calls,
            found.aborted,
            found.text_characters,
        )
        assert tuple(row.findings) == found.findings
    assert not ranked


def test_the_produced_test_passes_as_it_is_and_fails_when_events_change(tmp_path: Path) -> None:
    chosen = [*SAMPLES[:3], ("native", pg.sample_sessions()["02-parallel-calls"], NATIVE)]
    for number, (_, session, recording) in enumerate(chosen):
        timeline = pg.replay(recording, recording.dialect, session.tools)
        text = pytest_file(recording, timeline, session.tools)
        (tmp_path / f"test_{number}.py").write_text(text, encoding="utf-8")
    (tmp_path / "test_wrong.py").write_text(text.replace('"event": "text"', '"event": "song"'))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert f"1 failed, {len(chosen)} passed" in done.stdout, done.stdout


def test_a_hostile_reply_stays_data_in_the_produced_files(tmp_path: Path) -> None:
    evil = '</script><script>alert(1)</script>"""\n\'\'\' \\" {x} ${y} \u2028'
    recording = Recording('evil """ \\ </title>', "xml", (TextChunk(evil),), note=evil)
    timeline = pg.replay(recording, "xml")
    path = tmp_path / "test_evil.py"
    path.write_text(pytest_file(recording, timeline, ()), encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", str(path)], capture_output=True)
    assert done.returncode == 0, done.stdout
    page = timeline.html()
    assert "alert(1)</script>" not in page
    assert "<script>alert" not in page
    assert "</title></title>" not in page
    assert "http:" not in page.replace("http://www.w3.org", "")
    assert json.loads(replay_json(timeline))["content"] == evil


def test_a_notebook_gets_the_same_module() -> None:
    anywidget = pytest.importorskip("anywidget")
    recording = SAMPLES[0][2]
    widget = pg.replay(recording, recording.dialect).widget()
    assert isinstance(widget, anywidget.AnyWidget)
    assert widget.data["text"]
    assert "export default function host" in str(widget._esm)


# the command line


def test_experiments_by_the_command_line(tmp_path: Path) -> None:
    sample = "02-parallel-calls"
    assert run("experiment", sample, "--cut", "1", cwd=tmp_path).stdout == "no event differs\n"
    done = run("experiment", sample, "--find-cut", cwd=tmp_path)
    assert "none changes any event" in done.stdout
    done = run("experiment", sample, "--break-off", "20", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert "call ended" in {row["event"] for row in json.loads(done.stdout)}
    rows = json.loads(run("experiment", sample, "--every-dialect", "--json", cwd=tmp_path).stdout)
    assert rows[0]["calls"] == 2
    for wrong in (["--lose", "999"], ["--lose", "1", "--corrupt", "1"], []):
        done = run("experiment", sample, *wrong, cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1


def test_exports_by_the_command_line(tmp_path: Path) -> None:
    out = tmp_path / "test_it.py"
    done = run("export", "02-parallel-calls", "--to", "pytest", "-o", str(out), cwd=tmp_path)
    assert done.returncode == 0
    command = [sys.executable, "-m", "pytest", "-q", str(out)]
    assert subprocess.run(command, capture_output=True).returncode == 0
    shown = run("export", "02-parallel-calls", "--to", "json", cwd=tmp_path).stdout
    assert len(json.loads(shown)["tool_calls"]) == 2
    page = run("export", "02-parallel-calls", "--to", "html", cwd=tmp_path).stdout
    assert page.startswith("<!doctype html>")


def test_a_reply_alone_and_answers_are_taken_as_by_replay(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("<get_tides><metres>true</metres></get_tides>")
    tools = ("--tools", "02-parallel-calls")
    for name, options in (("r.txt", ()), ("r.txt", tools), ("07-gemini-above", ())):
        replayed = json.loads(run("replay", name, *options, "--json", cwd=tmp_path).stdout)
        done = run("export", name, *options, "--to", "json", cwd=tmp_path)
        shown = json.loads(done.stdout)
        for key in ("dialect", "content", "tool_calls", "events"):
            assert shown[key] == replayed[key], (name, key)
        cut = run("experiment", name, *options, "--find-cut", cwd=tmp_path)
        assert (cut.returncode, cut.stdout.splitlines()[-1]) == (0, "no event differs")
    (tmp_path / "s.json").write_text('[{"role": "user", "content": "x"}]')
    done = run("export", "s.json", "--to", "json", cwd=tmp_path)
    said = "playground: s.json: this session has no recordings and no answers\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_an_import_that_names_a_form_and_no_file_says_that_nothing_was_written(
    tmp_path: Path,
) -> None:
    (tmp_path / "s.json").write_text('[{"role": "user", "content": "x"}]')
    for form in ("session", "atif", "otel"):
        said = f"nothing was written: name a file or folder, such as -o {form}.json\n"
        for options in ((), ("--json",), ("--receipt",)):
            done = run("import", "s.json", "--to", form, *options, cwd=tmp_path)
            assert (done.returncode, done.stderr[-len(said) :]) == (0, said)
        done = run("import", "s.json", "--to", form, "-o", f"{form}.json", cwd=tmp_path)
        assert "nothing" not in done.stderr and (tmp_path / f"{form}.json").is_file()
    assert "nothing was" not in run("import", "s.json", cwd=tmp_path).stderr


def test_import_by_the_command_line(tmp_path: Path) -> None:
    call = {"id": "", "type": "function", "function": {"name": "t", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "", "content": "r"},
    ]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"messages": messages}))
    done = run("import", str(path), cwd=tmp_path)
    assert done.returncode == 0
    assert "missing-id" in done.stderr
    done = run("import", str(path), "--repair", "-o", "out.json", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("repaired")) == (0, 2)
    part = pg.load_session(tmp_path / "out.json").messages[1].parts[0]
    assert part == ToolCallPart("call_1", "t", {})
    done = run("import", str(path), "--to", "atif", "-o", "a.json", cwd=tmp_path)
    assert json.loads((tmp_path / "a.json").read_text())["schema_version"] == "ATIF-v1.8"
    shown = json.loads(run("import", str(path), "--json", cwd=tmp_path).stdout)
    assert shown[0]["format"] == "openai-chat"
    assert "claude-code" in run("import", "--formats", cwd=tmp_path).stdout
    assert run("import", cwd=tmp_path).returncode == 2
