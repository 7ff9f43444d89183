"""`--rules` and `with_rules`: a file's rules are read once, at the door, for every request."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from test_own_dialects import MyDialect

import playground as pg
from playground.base import paths
from playground.base.errors import InputFault
from playground.cli import main
from playground.dialects import get_dialect
from playground.nouns.messages import Message, TextPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.plugins.trials.demo_server import DemoServer, serving
from playground.sessions.native_format import dump_session
from playground.sessions.session import ExpectedCall, ExpectedReply, Session

MINE = "THE RULE OF MINE"
TOOL = ToolMetadata(
    name="get_weather",
    description="The weather of a city.",
    input_schema={
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city", "days"],
    },
)
CALL = ExpectedCall("get_weather", {"city": "Paris, “à la carte”", "days": 3})  # the demo model's
SESSION = Session(
    tools=(TOOL,),
    messages=(Message("user", (TextPart("How is the weather?"),)),),
    expected=(ExpectedReply(1, (CALL,), "weather"),),
)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with serving(SESSION.tools) as running:
        yield running


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    """A session's file, and a file with the rules of XML: the demo model answers in their form."""
    session, rules = tmp_path / "s.json", tmp_path / "xml-rules.md"
    session.write_text(dump_session(SESSION))
    data = PromptData(tool_metadata=[TOOL])
    rules.write_text(get_dialect("xml").format_dialect_rules(data))
    return [str(session), str(rules)]


@pytest.fixture
def piped() -> Iterator[str]:
    """Rules as a shell's `<(…)` gives them: once."""
    read, write = os.pipe()
    os.write(write, MINE.encode())
    os.close(write)
    yield f"/dev/fd/{read}"
    os.close(read)


def test_the_rules_reach_every_provider_though_they_can_be_read_once(piped: str) -> None:
    wanted = ["--provider", "OpenAI", "--provider", "Anthropic", "--provider", "Gemini"]
    done = run("payload", "02-parallel-calls", "-d", "xml", *wanted, "--rules", piped, "--json")
    told = json.loads(done.stdout)
    bodies = [json.dumps(each["calls"][0]["body"]) for each in told]
    assert [body.count(MINE) for body in bodies] == [1, 1, 1]


def test_one_file_gives_the_rules_of_several_dialects_at_once(piped: str) -> None:
    done = run("render", "02-parallel-calls", "-d", "xml", "-d", "hermes", "--rules", piped)
    assert done.stdout.count(MINE) == 2


def test_the_rules_are_on_the_wire(tmp_path: Path) -> None:
    rules = tmp_path / "mine.md"
    rules.write_text(MINE * 100)
    command = ["cache", "wire", "01-plain-chat", "-d", "xml", "--json"]

    (wire,) = json.loads(run(*command, "--rules", str(rules)).stdout)
    (call,) = wire["calls"]
    assert str(call["body"]["system"]).count(MINE) == 100
    assert MINE not in run(*command).stdout


def test_an_answer_is_recorded_that_was_asked_for_by_the_rules(
    server: DemoServer, asked: list[str], tmp_path: Path
) -> None:
    session, rules = asked
    command = ["record", "--session", session, "-d", "hermes", "--model", "openai/demo-taught"]
    command += ["--base-url", f"{server.url}/v1"]
    replies = []
    for out, more in (("own.jsonl", []), ("given.jsonl", ["--rules", rules])):
        done = run(*command, "-o", str(tmp_path / out), *more)
        assert done.exit_code == 0, done.stderr
        replies.append(pg.load_recording(tmp_path / out).reply.content)
    assert "<tool_call>" in replies[0]
    assert "<get_weather>" in replies[1]


def test_a_trial_asks_by_the_rules(server: DemoServer, asked: list[str]) -> None:
    session, rules = asked
    command = ["trial", session, "-d", "hermes", "--repeats", "1", "--yes", "--json"]
    command += ["--model", "openai/demo-taught", "--base-url", f"{server.url}/v1"]
    hits = []
    for more in ([], ["--rules", rules]):
        done = run(*command, *more)
        assert done.exit_code == 0, done.stderr
        (arm,) = json.loads(done.stdout)["arms"]
        hits.append(arm["right_arguments"]["hits"])
    assert hits == [1, 0]  # Hermes reads no XML


def test_a_trial_that_asks_nobody_tells_that_rules_change_nothing(tmp_path: Path) -> None:
    rules = tmp_path / "mine.md"
    rules.write_text(MINE)
    done = run("trial", "02-parallel-calls", "--own-calls", "--rules", str(rules))
    assert done.exit_code == 0
    assert "--rules changes nothing without --model" in done.stderr
    assert "--rules" not in run("trial", "02-parallel-calls", "--own-calls").stderr


COMMANDS = [
    ["render", "02-parallel-calls", "-d", "xml"],
    ["compare", "02-parallel-calls"],
    ["cache", "wire", "02-parallel-calls"],
    ["cache", "simulate", "02-parallel-calls"],
    ["check", "02-parallel-calls", "--no-cache-break"],
    ["payload", "02-parallel-calls"],
    ["trial", "02-parallel-calls", "--own-calls"],
    ["trial", "02-parallel-calls", "--own-calls", "--model", "openai/m", "--yes"],
    ["record", "--session", "02-parallel-calls", "--model", "openai/m", "--base-url", "x:1"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_rules_that_are_none_are_one_line_and_nothing_is_done(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`payload` told it once a provider, `trial` not at all; no name was the folder at hand."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "nobodys.md").write_text(MINE)
    for given, words in (
        (
            "gone.md",
            "gone.md: No such file or directory; expected a text file with the dialect's rules",
        ),
        ("", "no rules: the name of their file is empty"),
        ("empty", "empty: the folder has no rules; expected in it "),
    ):
        done = run(*command, "--rules", given)
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert words in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


# the same in Python


def data_of(sample: str) -> PromptData:
    return pg.load_session(paths.samples()[sample]).prompt_data()


@pytest.mark.parametrize("name", ["hermes", "native", "xml"])
def test_the_rules_are_what_the_method_of_their_name_says(name: str, tmp_path: Path) -> None:
    """`format_dialect_rules` alone went on giving the dialect's own."""
    rules = tmp_path / "mine.md"
    rules.write_text(MINE)
    data = data_of("02-parallel-calls")
    own = get_dialect(name)
    changed = own.with_rules(str(rules))
    rules.write_text("another")
    assert changed.format_dialect_rules(data) == MINE
    assert MINE in str(changed.format_messages(data))
    assert changed.with_rules(None).format_dialect_rules(data) == own.format_dialect_rules(data)
    assert own.with_rules(rules).format_dialect_rules(data) == "another"


def test_rules_are_read_when_they_are_chosen(tmp_path: Path) -> None:
    hermes = get_dialect("hermes")
    with pytest.raises(InputFault, match=r"gone\.md: No such file or directory"):
        hermes.with_rules(str(tmp_path / "gone.md"))
    with pytest.raises(InputFault, match="the folder has no rules; expected in it hermes.md"):
        pg.compare(SESSION, "hermes", rules_path=str(tmp_path))


def test_a_dialect_whose_rules_cannot_be_changed_says_so(tmp_path: Path) -> None:
    """It was a bare AttributeError."""

    fixed = type("Fixed", (MyDialect,), {"rules_path": property(lambda _self: None)})
    rules = tmp_path / "mine.md"
    rules.write_text(MINE)
    told = "dialect 'fixed' cannot have another rules_path: .*expected an attribute"
    with pytest.raises(InputFault, match=told):
        fixed().with_rules(str(rules))
