"""The command line as a user meets it: output, exit status, one clear line for bad input."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from terminals import on_terminal, run

import playground
from playground.base.errors import InputFault
from playground.base.paths import samples
from playground.base.wording import percent
from playground.cli.terminal import guarded, print_json_array
from playground.dialects import REGISTRY, dialect_names, get_dialect
from playground.nouns.messages import ToolCallPart
from playground.questions.detection import detect
from playground.questions.recognition import recognise
from playground.sessions.loading import load_session

PACKAGE = Path(playground.__file__).parent
PLAYGROUND = [str(Path(sys.executable).with_name("playground"))]


def output(*arguments: str, status: int = 0) -> Any:
    done = run(*arguments, "--json")
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def test_help_names_every_command() -> None:
    done = run("--help")
    assert done.returncode == 0
    for command in ("app", "render", "compare", "cache", "replay", "carry", "detect", "samples"):
        assert f"\n  {command} " in done.stdout
    assert "..." not in done.stdout.partition("Prompts:")[2]  # no help is cut
    sections = re.findall(r"^(\S.*):$", done.stdout, re.MULTILINE)
    assert sections[1:] == [
        "Prompts", "Caching", "Replies", "Dialects", "Sessions", "This program", "Plugins",
    ]  # fmt: skip


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from playground.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'streamlit', 'litellm', 'pandas', 'plotly', 'pydantic', 'rich'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_render_gives_the_request_itself() -> None:
    (rendered,) = output("render", "02-parallel-calls", "-d", "native")
    session = load_session(samples()["02-parallel-calls"])
    assert rendered["messages"] == get_dialect("native").format_messages(session.prompt_data())
    assert [tool["function"]["name"] for tool in rendered["tools"]] == ["get_weather", "get_tides"]
    assert rendered["cache"][0]["reason"] == "last-system"


def test_render_prints_text_with_a_heading_for_each_dialect() -> None:
    done = run("render", "02-parallel-calls", "-d", "xml", "-d", "hermes")
    assert done.returncode == 0
    assert done.stdout.startswith("##### xml\n=== system\n")
    assert "##### hermes\n" in done.stdout
    assert "<get_weather>\n<city>Brest, France</city>" in done.stdout


def test_compare_counts_every_dialect() -> None:
    rows = output("compare", "01-plain-chat")
    assert [row["dialect"] for row in rows] == dialect_names()
    for row in rows:
        assert row["characters"] == sum(row["by_kind"].values())


def test_compare_names_the_dialects_of_a_finding() -> None:
    """A finding that several dialects share is one line, with their names."""
    lines = run("compare", "02-parallel-calls").stderr.splitlines()
    assert len(lines) == len(set(lines)) == 6
    assert [line.split()[1] for line in lines].count("refused-request") == 2
    assert "(call call_w, argument city; in llama3-code, gptme-xml, " in "\n".join(lines)
    one = run("compare", "02-parallel-calls", "-d", "llama3-code", "-d", "hermes").stderr
    assert "argument city; in llama3-code)" in one
    both = run("compare", "02-parallel-calls", "-d", "llama3-code", "-d", "gptme-xml").stderr
    assert "argument city; in every dialect)" in both


def test_compare_counts_tokens_offline() -> None:
    told = ("compare", "01-plain-chat", "-d", "xml", "--tokens")
    (row,) = output(*told, "--model", "openai/gpt-4o")
    assert row["tokens_kind"] == "exact"
    assert row["tokens_range"] == [row["tokens"]] * 2
    assert 100 < row["tokens"] < 400
    (guessed,) = output(*told, "--model", "anthropic/claude-sonnet-4-5")
    assert guessed["tokens_kind"] == "estimate"
    assert guessed["tokens_range"][0] < guessed["tokens"] < guessed["tokens_range"][1]


def test_cache_tells_marks_and_reasons() -> None:
    (above,) = output("cache", "07-gemini-above", "-d", "xml")
    (below,) = output("cache", "08-gemini-below", "-d", "xml")
    assert [p["marked"] for p in above["parts"]] == [True, True, False, True]
    assert (above["text_characters"], below["text_characters"]) == (16_010, 15_990)
    assert {p["reason"] for p in below["parts"]} == {"below-gemini-threshold"}
    assert "too few characters" in run("cache", "08-gemini-below", "-d", "xml").stdout


def test_replay_gives_calls_findings_and_events() -> None:
    shown = output("replay", "05-call-in-a-fence")
    assert [call["name"] for call in shown["tool_calls"]] == ["read_file"]
    assert [finding["code"] for finding in shown["findings"]] == [
        "more-recordings",
        "call-in-fence",
    ]
    assert shown["events"][0]["event"] == "text"
    aborted = output("replay", "04-truncated-call", "--name", "cut in JSON, hermes")
    assert aborted["aborted"][0]["reason"] == "truncated-call"


def test_a_number_behind_a_name_is_never_ignored(tmp_path: Path) -> None:
    reply = tmp_path / "reply.txt"
    reply.write_text('<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>')
    assert run("replay", str(reply)).returncode == 0
    rows = "".join(
        json.dumps({"messages": [{"role": "user", "content": said}]}) + "\n" for said in "ab"
    )
    for command in ("replay", "detect"):
        done = run(command, f"{reply}#2")
        assert (done.returncode, "reply.txt" in done.stderr) == (2, True), (command, done)
    for number, status in ((2, 0), (3, 2)):
        asked = ["render", "-d", "hermes", "--json", "--", f"-#{number}"]
        piped = run(*asked, stdin=rows)
        assert piped.returncode == status, piped.stderr
        if status == 0:
            (rendered,) = json.loads(piped.stdout)
            assert rendered["messages"][-1]["content"][0]["text"] == "b"


def test_replay_reads_typed_arguments_by_the_tools_that_are_named(tmp_path: Path) -> None:
    reply = tmp_path / "reply.txt"
    reply.write_text("<get_tides><harbour>Brest</harbour><metres>true</metres></get_tides>")
    tools = tmp_path / "tools.json"
    schema = {"type": "object", "properties": {"metres": {"type": "boolean"}}}
    tools.write_text(json.dumps([{"name": "get_tides", "input_schema": schema}]))
    for options, metres in (((), "true"), (("--tools", str(tools)), True)):
        (call,) = output("replay", str(reply), *options)["tool_calls"]
        assert call["arguments"] == {"harbour": "Brest", "metres": metres}
    sample = output("replay", str(reply), "--tools", "02-parallel-calls")
    assert sample["tool_calls"] == [call]
    own = output("replay", "02-parallel-calls", "--tools", str(tools))["tool_calls"]
    assert own != output("replay", "02-parallel-calls")["tool_calls"]


def test_replay_chooses_the_dialect_by_the_tools_that_are_named(tmp_path: Path) -> None:
    """The dialect was chosen without them: `<tool-use>` was taken for a call in xml."""
    tools = tmp_path / "tools.json"
    tools.write_text('[{"name": "write", "input_schema": {"type": "object"}}]')
    call = '<tool-use>\n<write>\n{"path": "a.md"}\n</write>\n</tool-use>'
    fenced, reply = tmp_path / "fenced.txt", tmp_path / "reply.txt"
    fenced.write_text(f"```xml\n{call}\n```")
    reply.write_text(f"I look.\n{call}")
    named = ("--tools", str(tools))
    assert output("detect", str(reply), *named)[0]["dialect"] == "gptme-xml"
    for source, stdin in ((str(reply), ""), (str(fenced), ""), ("-", reply.read_text())):
        shown = json.loads(run("replay", source, *named, "--json", stdin=stdin).stdout)
        assert shown["dialect"] == "gptme-xml", source
        assert [each["name"] for each in shown["tool_calls"]] == ["write"]
    assert output("replay", str(reply))["dialect"] == "xml"


def test_replay_under_another_dialect() -> None:
    shown = output("replay", "02-parallel-calls", "-d", "hermes")
    assert shown["tool_calls"] == []
    codes = [finding["code"] for finding in shown["findings"]]
    assert codes == ["more-recordings", "foreign-markup", "unread-call"]
    assert "<get_weather>" in shown["content"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["render", "nope.json", "-d", "xml"], "nope.json: No such file or directory"),
        (
            ["render", "01-plain-chat", "-d", "klingon"],
            "unknown dialect 'klingon'; did you mean 'inkling'?\n",
        ),
        (
            ["render", "01-plain-chat", "-d", "mine/harbour.toml"],
            "'mine/harbour.toml' is a file, not a dialect's name; expected its dialect's name, and "
            "its folder in the variable PLAYGROUND_DIALECTS\n",
        ),
        (
            ["cache", "01-plain-chat", "--policy", "x"],
            "unknown policy 'x'; the nearest of 19: ",
        ),
        (
            ["replay", "02-parallel-calls", "--name", "x"],
            "unknown recording 'x'; the nearest of 5: two ",
        ),
        (["compare", "/"], "/: a folder with too many files; expected at most 10,000"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"playground: {message}")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_what_nobody_recorded_can_be_replayed_too(tmp_path: Path) -> None:
    """An answer of a session is streamed again, and says so; a file may hold a reply alone."""
    again = run("replay", "07-gemini-above")
    assert "=== content" in again.stdout
    assert "Not a recorded stream: message" in again.stdout
    reply = tmp_path / "reply.txt"
    reply.write_text('Fine.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>')
    assert output("replay", str(reply))["tool_calls"][0]["name"] == "f"
    reply.write_text("Only words.")
    assert output("replay", str(reply), "-d", "hermes")["content"] == "Only words."
    reply.write_text("Only words.")
    unknown = run("replay", str(reply))
    assert unknown.returncode == 0
    assert "warning no-dialect (the whole text)" in unknown.stderr
    assert "=== content\nOnly words." in unknown.stdout
    assert "timing " in unknown.stdout
    assert "unread\n" in unknown.stdout
    assert "read as" not in unknown.stdout
    questions = tmp_path / "questions.json"
    questions.write_text('[{"role": "user", "content": "x"}]')
    assert "has no recordings and no answers" in run("replay", str(questions)).stderr


@pytest.mark.parametrize(
    ("text", "codes"), [('{"messages": [}', ["unknown-json"]), ("[1] As it says", [])]
)
def test_json_of_an_unknown_form_is_read_as_a_reply_with_a_warning(
    text: str, codes: list[str], tmp_path: Path
) -> None:
    reply = tmp_path / "reply.json"
    reply.write_text(text)
    command = ("replay", str(reply), "-d", "hermes", "--strict")
    assert [each["code"] for each in output(*command, status=len(codes))["findings"]] == codes
    warned = "warning unknown-json (the whole text): JSON that cannot be read: read as a reply"
    for options in ([], ["--csv"], ["--server", "vllm"], ["--report", "vllm"]):
        done = run(*command, *options)
        assert (done.returncode, done.stderr.count(warned)) == (len(codes), len(codes)), options
        assert done.stderr.count("read as a reply") == len(codes)


JOURNAL = "<think>\nI write it.\n</think>\n\n```append journal.md\n# Journal\n\nDone today."


def test_detect_bring_and_replay_choose_by_one_threshold(tmp_path: Path) -> None:
    reply = tmp_path / "journal.txt"
    reply.write_text(JOURNAL)
    assert detect(JOURNAL).dialect is None
    assert recognise(JOURNAL).dialect == ""
    replayed = output("replay", str(reply))
    assert (replayed["tool_calls"], replayed["aborted"]) == ([], [])
    assert "no-dialect" in [found["code"] for found in replayed["findings"]]
    assert replayed["dialect"] is None  # what it was read in is nobody's guess
    told = run("replay", str(reply), "--report", "vllm")
    assert (told.returncode, "-d NAME" in told.stderr) == (2, True)


def test_a_call_that_a_server_left_in_the_content_is_told_of(tmp_path: Path) -> None:
    """A server that had no parser for its model: the call is text, and nothing said so."""
    text = get_dialect("gemma4").format_example("tides", {"port": "Brest"})
    message = {"role": "assistant", "content": text, "tool_calls": []}
    for choice in ({"message": message}, message):  # a log may have flattened the message
        reply = {"id": "x", "object": "chat.completion", "model": "google/gemma-4-31b"}
        reply["choices"] = [{"index": 0, "finish_reason": "stop", **choice}]  # type: ignore[assignment]
        (file := tmp_path / "reply.json").write_text(json.dumps(reply))
        done = run("replay", str(file))
        assert text in done.stdout
        assert done.returncode == 0
        assert "gemma4 sees 1 call here, native none" in done.stderr


def test_gptme_has_no_parser_for_others_dialects(tmp_path: Path) -> None:
    reply = tmp_path / "reply.txt"
    reply.write_text(get_dialect("hermes").format_tool_call(ToolCallPart("", "f", {"a": 1})))
    two = run("replay", str(reply), "--server", "gptme", "--server", "vllm").stdout
    assert [line.split()[2].partition(":")[0] for line in two.splitlines() if line[:2] == "##"] == [
        "gptme",
        "vllm",
    ]
    both = run("replay", str(reply), "--server", "gptme", "--server", "vllm", "--json")
    assert (both.returncode, "2 servers, and --json" in both.stderr) == (2, True)
    told = run("replay", str(reply), "--server", "gptme")
    assert "warning no-parser (hermes): gptme d27f98d has no parser" in told.stderr


def test_calls_of_another_dialect_than_the_one_that_was_named_are_told(tmp_path: Path) -> None:
    reply = tmp_path / "reply.txt"
    reply.write_text('<tool_calls>\n{"name": "say", "arguments": {"a": 1}}\n</tool_calls>')
    told = run("replay", str(reply), "-d", "minimax-m2", "--server", "vllm")
    assert told.returncode == 0
    assert told.stderr.count("warning foreign-markup") == 1


def test_one_of_several_recordings_says_so(tmp_path: Path) -> None:
    given = json.loads(samples()["05-call-in-a-fence"].read_text())
    chunks = [{"at": 0, "text": "Hi."}]
    names = ["first", "second", "third"]
    given["recordings"] = [{"name": n, "dialect": "hermes", "chunks": chunks} for n in names]
    path = tmp_path / "many.json"
    path.write_text(json.dumps(given))
    assert "this is 1 of 3 recordings; another: --name 'second'" in run("replay", str(path)).stderr
    told = output("replay", str(path))
    assert told["recordings"] == names
    assert [found["code"] for found in told["findings"]] == ["more-recordings"]
    assert "1 of 3" not in run("replay", str(path), "--name", "second").stderr


def test_a_broken_file_names_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"format": "playground-session/1",\n "messages": [{"role": "wizard"}]}')
    done = run("render", str(path), "-d", "xml")
    assert done.returncode == 2
    assert f"{path}:2, field messages.0.role: " in done.stderr


def test_findings_give_status_1_if_strict(tmp_path: Path) -> None:
    path = tmp_path / "orphan.json"
    part = {"type": "tool_result", "tool_call_id": "9", "tool_name": "t", "result": "x"}
    message = {"role": "tool", "parts": [part]}
    path.write_text(json.dumps({"format": "playground-session/1", "messages": [message]}))
    done = run("render", str(path), "-d", "xml")
    assert done.returncode == 0
    assert done.stderr.startswith("error orphan-result (messages.0): ")


def test_escape_sequences_of_a_session_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "escape.json"
    message = {"role": "user", "parts": [{"type": "text", "text": "\x1b[2Jboo\x9b"}]}
    path.write_text(json.dumps({"format": "playground-session/1", "messages": [message]}))
    shown, _ = on_terminal("render", str(path), "-d", "xml")
    assert "\\x1b[2Jboo\\x9b" in shown.decode()
    assert b"\x1b" not in shown


def test_a_reader_that_stops_early_is_no_error() -> None:
    command = f"{PLAYGROUND[0]} render 03-long-file -d xml | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == "=== system\n"


def test_detect_ranks_dialects_for_a_reply_from_standard_input() -> None:
    text = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'
    done = subprocess.run(
        [*PLAYGROUND, "detect", "-", "--json"], input=text, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    best = json.loads(done.stdout)[0]
    assert (best["dialect"], best["calls"], best["as_written"]) == ("hermes", 1, True)


def test_replay_says_that_it_left_a_fence_out_and_a_named_dialect_reads_it(tmp_path: Path) -> None:
    """One file had three answers: a call, no call with a finding, and nobody's."""
    file = tmp_path / "reply.txt"
    file.write_text('```json\n{"name": "now", "parameters": {"zone": "Paris"}}\n```\n')
    pasted = run("replay", str(file))
    assert "=== call now" in pasted.stdout
    assert "left out: whoever pasted it probably added it" in pasted.stderr
    asked = run("replay", str(file), "-d", "llama3-json")
    assert "=== call" not in asked.stdout
    assert "call-in-fence" in asked.stderr
    assert "wrapped-body" not in asked.stderr


def test_what_is_told_of_dialects_and_policies_alike_stands_in_one_line() -> None:
    """The matrix of all was 1,445 lines; each of its figures is still told, and none other."""
    asked = ["cache", "simulate", "12-long-tool-run", "--every-dialect"]
    lines = run(*asked).stdout.splitlines()
    assert len(lines) < 40
    assert lines[-1].startswith("-d NAME prints a line for each policy")
    cells = json.loads(run(*asked, "--json").stdout)
    told = {
        (first.split(",")[0], policy.split(",")[0], read, cost)
        for first, policy, read, cost, *_ in (
            re.split(r"\s{2,}", line.strip()) for line in lines[1:-1]
        )
    }
    figures = {
        (
            cell["dialect"],
            cell["policy"],
            percent(cell["read_permille"] / 1000),
            percent(cell["cost_permille"] / 1000),
        )
        for cell in cells
        if cell["read_permille"] is not None  # else requests would be refused
    }
    told = {each for each in told if each[2].endswith("%") and each[3].endswith("%")}
    assert told <= figures
    assert {each[2:] for each in told} == {each[2:] for each in figures}


@pytest.mark.parametrize("options", [[], ["--every-dialect"], ["--policy", "azad"], ["--json"]])
def test_a_terminal_shows_a_simulation_below_the_progress_bar(options: list[str]) -> None:
    command = ("cache", "simulate", "02-parallel-calls", *options)
    answer, _ = on_terminal(*command)
    shown, _ = on_terminal(*command, with_errors=True)
    bar, found, _ = shown.partition(answer)
    assert found, shown
    assert (bar[-1:] == b"\n" and b"100%" in bar) if "--json" not in options else not bar


@pytest.mark.parametrize("values", [0, 1, 2])
@pytest.mark.parametrize(
    ("error", "status", "line"),
    [(InputFault("bad"), 2, "bad"), (KeyboardInterrupt(), 130, "stopped"), (OSError("x"), 2, "x")],
)
def test_an_array_that_breaks_off_does_not_parse(
    error: BaseException, status: int, line: str, values: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def cells() -> Iterator[int]:
        yield from range(values)
        raise error

    @guarded
    def command() -> int:
        print_json_array(cells())
        return 0

    with pytest.raises(SystemExit) as ended:
        command()
    printed = capsys.readouterr()
    with pytest.raises(json.JSONDecodeError):
        json.loads(printed.out)
    assert re.findall(r"\d", printed.out) == [*map(str, range(values))]
    assert (ended.value.code, printed.err) == (status, f"playground: {line}\n")


@pytest.mark.parametrize("values", [[], [1], [1, {"a": []}]])
def test_a_complete_array_parses(values: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    print_json_array(values)
    assert json.loads(capsys.readouterr().out) == values


def test_detect_takes_a_session_for_no_reply_but_a_message_alone_for_one(tmp_path: Path) -> None:
    call = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
    asked, said = {"role": "user", "content": "time?"}, {"role": "assistant", "content": call}
    for name, value, status in (
        ("chat.json", {"messages": [asked, said]}, 2),
        ("said.json", [{"name": "now", "arguments": {}}], 0),
        ("alone.json", said, 0),
    ):
        file = tmp_path / name
        file.write_text(json.dumps(value))
        done = run("detect", str(file))
        assert done.returncode == status, done.stderr
        assert ("this is a session" in done.stderr) is (status == 2)


def test_detect_names_no_dialect_for_a_reply_without_calls() -> None:
    for options, said in (([], ""), (["--json"], "[]\n")):
        done = run("detect", "-", *options, stdin="")
        assert (done.returncode, done.stdout) == (0, said)
        assert done.stderr == "no dialect: the reply is empty\n"


def test_detect_takes_no_picture_for_a_reply(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG\r\n")
    done = run("detect", str(path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"playground: {path}:1: byte 0x89 is not UTF-8; expected UTF-8\n"


def test_a_parser_that_is_named_is_asked_in_the_dialect_that_it_reads(tmp_path: Path) -> None:
    """vllm#11402: the reply was guessed to be xLAM's, and so text to the parser for Granite."""
    path = tmp_path / "reply.txt"
    path.write_text('<tool_call>[{"name": "get_tides", "arguments": {"harbour": "Brest"}}]')
    guessed = run("replay", str(path))
    assert "read as granite" not in guessed.stdout
    done = run("replay", str(path), "--server", "vllm:granite")
    assert "read as granite\n" in done.stdout
    assert done.stdout.endswith('=== call get_tides\n{"harbour": "Brest"}\n')


def test_replay_shows_the_text_of_a_call_that_was_given_up(tmp_path: Path) -> None:
    path = tmp_path / "reply.txt"
    path.write_text("<tool_call>look</arg_key><arg_value>Brest</arg_value></tool_call>")
    done = run("replay", str(path), "-d", "glm")
    assert f"=== aborted call look: unreadable-call\n{path.read_text()}\n" in done.stdout


def test_streamlits_options_go_through(tmp_path: Path) -> None:
    done = subprocess.run(
        [*PLAYGROUND, "app", "--server.prt", "1"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert "No such option" in done.stderr and "--server.port" in done.stderr
    assert len(run("app", "--help").stdout.splitlines()) < 20
    bare = run("--server.prt", "1").stderr
    assert bare.startswith("playground: opening the app; `playground --help` lists the commands\n")


@pytest.mark.long
def test_the_cache_commands_take_policies_changes_and_give_json(tmp_path: Path) -> None:
    policy = tmp_path / "own.json"
    policy.write_text('{"name": "tail", "marks": [{"role": "system"}, {"role": ["user", "tool"]}]}')
    sample = ("12-long-tool-run", "-d", "native")
    done = run(
        "check", *sample, "--policy-file", str(policy), "--max-cost-multiple", "0.5", "--json"
    )
    assert (done.returncode, json.loads(done.stdout)["failures"]) == (0, [])
    dear = run("check", *sample, "--timestamp", "--max-cost-multiple", "0.5", "--json")
    assert dear.returncode == 1
    assert len(json.loads(dear.stdout)["failures"]) == 1
    lone = run("cache", *sample, "--timestamp")
    assert (lone.returncode, lone.stdout) == (2, "")
    assert "expected --simulate" in lone.stderr
    for one in ("place", "wire"):
        two = run("cache", one, sample[0], "--policy", "azad", "--policy", "none")
        told = "several policies are named; expected one, or `cache simulate`"
        assert (two.returncode, two.stderr) == (2, f"playground: {told}\n")
    wire = run("cache", "07-gemini-above", "-d", "xml", "--wire", "--json")
    (sent,) = json.loads(wire.stdout)
    assert [call["method"] for call in sent["calls"]] == ["GET", "POST", "POST"]
    assert [one["code"] for one in sent["findings"]] == ["mark-lost"]
    assert wire.returncode == 0
    bad = run("cache", *sample, "--simulate", "--policy-file", str(tmp_path / "none.json"))
    assert bad.returncode == 2
    assert "Traceback" not in bad.stderr


@pytest.mark.parametrize(
    ("subcommand", "flags"),
    [
        (["place", "06-cache-eight-turns"], ["06-cache-eight-turns"]),
        (["place", "07-gemini-above", "-d", "xml"], ["-d", "xml", "07-gemini-above"]),
        pytest.param(
            ["wire", "07-gemini-above", "-d", "xml"],
            ["07-gemini-above", "--wire", "-d", "xml"],
            marks=pytest.mark.long,
        ),
        (
            ["simulate", "12-long-tool-run", "-d", "xml", "--policy", "azad", "--timestamp"],
            ["--timestamp", "12-long-tool-run", "--simulate", "-d", "xml", "--policy", "azad"],
        ),
        (["validate", "nowhere"], ["--validate", "nowhere"]),
    ],
    ids=lambda arguments: arguments[0],
)
@pytest.mark.parametrize(
    "form",
    [pytest.param([], marks=pytest.mark.long, id="text"), pytest.param(["--json"], id="json")],
)
def test_a_cache_subcommand_does_what_its_flag_does(
    subcommand: list[str], flags: list[str], form: list[str]
) -> None:
    named, flagged = run("cache", *subcommand, *form), run("cache", *flags, *form)
    assert (named.returncode, named.stdout, named.stderr) == (
        flagged.returncode,
        flagged.stdout,
        flagged.stderr,
    )
    assert named.stdout or named.returncode == 2


def test_cache_without_anything_says_what_it_needs() -> None:
    done = run("cache")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "playground: no session is named; expected SESSION, or `cache validate FOLDER`\n"
    )
    shown = run("cache", "--help").stdout
    for name in ("place", "wire", "simulate", "validate"):
        assert f"\n  {name} " in shown
    assert "by-flags" not in shown


def test_render_loads_the_file_of_its_dialect_and_no_other_nor_a_format_of_others() -> None:
    program = (
        "import sys\n"
        "from playground.cli import main\n"
        "try: main(['render', '02-parallel-calls', '-d', 'hermes'])\n"
        "except SystemExit: pass\n"
        "print()\n"  # nothing stands behind the last message
        "print(sorted(name for name in sys.modules if name.startswith('playground.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    loaded = set(ast.literal_eval(done.stdout.splitlines()[-1]))
    files = {
        f"playground.dialects.{path.stem}"
        for path in (PACKAGE / "dialects").glob("*.py")
        if re.search(r"^DIALECTS = ", path.read_text(), re.MULTILINE)
    }
    assert len(files) > 10
    assert loaded & files == {"playground.dialects.hermes"}
    folders = ("sessions.formats.", "cli.")
    own = {"sessions.formats.base", "sessions.formats.playground_sessions"}  # a sample's own
    own |= {"cli.command", "cli.prompts", "cli.shared", "cli.terminal"}
    names = {name.removeprefix("playground.") for name in loaded}
    assert {name for name in names if name.startswith(folders)} == own
    unneeded = ["nouns.tool_formats", "dialects.raw_prompts", "base.confined", "base.registry"]
    unneeded += ["sessions.pasted", "sessions.in_memory", "servers"]
    assert not {name for name in names if name.startswith(tuple(unneeded))}
    # each is a thousandth of the command's time; the last 17 know what a provider refuses
    assert len(loaded) <= 155


def test_render_compiles_what_its_calls_ask_for_and_no_more() -> None:
    """`regex` takes a millisecond for 500 characters; the dialect has 57 patterns."""
    program = (
        "from playground.cli import main\n"
        "import regex; from playground.parsing import choice_pattern\n"
        "compiled, compile_one = [], regex.compile\n"
        "choice_pattern.regex.compile = lambda *p: compiled.append(p) or compile_one(*p)\n"
        "try: main(['render', '02-parallel-calls', '-d', 'qwen3-coder'])\n"
        "except SystemExit: pass\n"
        "print()\n"
        "print(len(compiled))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert 0 < int(done.stdout.splitlines()[-1]) <= 11


def test_every_name_of_the_registry_is_that_of_a_dialect_in_its_file() -> None:
    names = [dialect.name for dialect in REGISTRY]
    found = [
        dialect.name
        for path in sorted((PACKAGE / "dialects").glob("*.py"))
        for dialect in getattr(import_module(f"playground.dialects.{path.stem}"), "DIALECTS", ())
    ]
    assert sorted(found) == sorted(names) == sorted(set(names))
