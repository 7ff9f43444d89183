"""What stores something says how many values were starred out, and of which kind."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner
from secret_examples import fill_example
from streaming import answering, events
from streamlit.testing.v1 import AppTest

import playground
from playground.base import paths
from playground.cli import main
from playground.plugins.own_dialects.declaring import FIRST
from playground.plugins.own_dialects.storage import keep_dialect
from playground.plugins.proxy.terminal_report import TerminalReport
from playground.recordings.append_only_file import LinesInMemory
from playground.recordings.recorder import Recorder
from playground.recordings.scrubbing import Tally, describe_stars, scrubbed, searcher
from playground.sessions.workspaces import belongings_on_disk

SAID, (TOKEN, OTHER, PASSWORD) = fill_example("keys ghp_{a36} and ghp_{a36}, password: {a14} .")
SENTENCE: Final = "3 values starred out: 2 access tokens, 1 password"
# Who stars out and counts: what they say goes through one function.
COUNTING: Final = {
    "recordings/scrub_channels.py", "recordings/recorder.py", "recordings/wire_scrubbing.py",
    "llm/record.py", "sessions/entries.py", "sessions/workspaces/belongings.py",
    "plugins/own_dialects/storage.py", "plugins/corpus/cleaning.py", "plugins/proxy/exchange.py",
    "plugins/mcp_server/answers.py", "plugins/proxy/watching.py", "recordings/value_scrubbing.py",
}  # fmt: skip
# Who only shows: a fault's words, an address, a parameter.
SHOWING: Final = {
    "recordings/recording.py", "questions/provider_parameters.py", "plugins/proxy/forwarding.py",
    "plugins/proxy/upstream.py", "plugins/systems/flink_agents/litellm_model.py",
}  # fmt: skip
SCRUBBERS: Final = {
    "scrubbed", "scrubbed_value", "scrubbed_with", "starred", "BodyScrubber", "WireScrubber"
}  # fmt: skip
# Who stores what was starred out, and has to say it.
SAYING: Final = {
    "cli/terminal.py": 1, "cli/workspace.py": 1, "cli/streams.py": 1, "cli/experiments.py": 1,
    "plugins/corpus/commands.py": 1, "plugins/corpus/page_building.py": 1,
    "plugins/proxy/terminal_report.py": 1, "plugins/proxy/page.py": 1, "app/state.py": 3,
    "app/answers.py": 1, "app/shared/workspace.py": 1, "app/shared/belongings.py": 1,
    "plugins/own_dialects/dialect_file.py": 1, "plugins/mcp_server/answers.py": 1,
}  # fmt: skip
STORING: Final = {"new_entry", "with_edits", "with_recording", "keep_dialect", "build_corpus"}


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ({}, "no value starred out"),
        ({"password": 1}, "1 value starred out: 1 password"),
        ({"openai": 1, "groq": 1, "password": 1}, "3 values starred out: 2 API keys, 1 password"),
        ({"named": 2, "environment": 1}, "3 values starred out: 2 keys or tokens, "
            "1 value of the environment"),
        ({"email": 1200}, "1,200 values starred out: 1200 e-mail addresses"),
        ({"of an older version": 2}, "2 values starred out: 2 of an older versions"),
    ],
)  # fmt: skip
def test_a_sentence_says_how_many_of_which_kind(counts: dict[str, int], sentence: str) -> None:
    assert describe_stars(counts) == sentence


def _called(path: Path) -> list[str]:
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return [ast.unparse(call.func) for call in calls]


def test_whoever_calls_the_scrubber_is_known_to_count_or_only_to_show() -> None:
    """A new caller stands in one of the two lists; one that counts leaves no find uncounted."""
    root = Path(playground.__file__).parent
    calls = {str(p.relative_to(root)): _called(p) for p in sorted(root.rglob("*.py"))}
    of_scrubbers = {name for name, called in calls.items() if SCRUBBERS & {*called}}
    assert of_scrubbers - {"recordings/scrubbing.py"} <= COUNTING | SHOWING
    for name in COUNTING - {"recordings/value_scrubbing.py"}:
        plain = [call for call in calls[name] if "." not in call]  # not a method of one that counts
        assert not {"scrubbed", "scrubbed_value"} & {*plain}, name


def test_whoever_stores_says_it() -> None:
    """Each module that makes an entry, a dialect's file or a corpus calls the one function."""
    root = Path(playground.__file__).parent
    saying = {"describe_stars", "tell_starred_secrets"}
    found = {}
    for path in sorted((*root.rglob("*.py"), *paths.pages().glob("*.py"))):
        called = [call.rpartition(".")[2] for call in _called(path)]
        name = str(path.relative_to(root)) if path.is_relative_to(root) else path.name
        if saying & {*called}:
            found[name] = sum(each in saying for each in called)
        elif STORING & {*called}:
            found[name] = 0
    told_by_others = {"sessions/entries.py", "plugins/proxy/storage.py", "plugins/corpus/runs.py"}
    assert {name for name, count in found.items() if not count} <= told_by_others
    assert found.items() >= SAYING.items()


def _session(folder: Path) -> Path:
    file = folder / "told.json"
    file.write_text(json.dumps([{"role": "user", "content": SAID}]))
    return file


def test_commands_say_it(tmp_path: Path) -> None:
    for arguments in (
        ["workspace", "add", str(_session(tmp_path))],
        ["corpus", "build", str(tmp_path / "corpus"), str(_session(tmp_path)), "--engine=serial"],
    ):
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, done.output
        assert SENTENCE in done.stderr.splitlines(), done.output
    again = CliRunner().invoke(main, arguments)
    assert SENTENCE in again.stderr.splitlines()


def test_a_recording_and_its_export_say_it(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    with answering(lambda: events("fine")) as server:
        done = CliRunner().invoke(
            main,
            ["record", "--session", str(_session(tmp_path)), "--model", "openai/m"]
            + ["-d", "native", "--base-url", server.url, "-o", str(out)],
        )
    assert done.exit_code == 0, done.output
    assert SENTENCE in done.stderr.splitlines(), done.output
    stream = tmp_path / "s.sse"
    stream.write_bytes(b"".join(events(SAID)))
    done = CliRunner().invoke(main, ["export", str(stream), "--to", "json", "-d", "hermes"])
    assert SENTENCE in done.stderr.splitlines(), done.output


def test_the_proxy_says_it_at_its_end() -> None:
    """Of each recording what it counted goes into one count: a key is one, however often sent."""
    counted = Tally()
    for _ in range(2):
        recorder = Recorder(LinesInMemory(), searcher(), name="r", dialect="native", model="m")
        recorder.record_request("http://h/", {"messages": [{"role": "user", "content": SAID}]})
        counted.take(recorder.tally)
    teller = TerminalReport()
    assert [*teller.lines({"starred": counted.counts})] == []
    assert next(iter(teller.summary())) == SENTENCE


def test_small_things_and_dialects_count() -> None:
    counts = belongings_on_disk().change("draft", lambda _: {"text": SAID})
    assert describe_stars(counts) == SENTENCE
    tally = Tally()
    keep_dialect({**FIRST, "name": "mine", "title": SAID}, None, tally)
    assert describe_stars(tally.counts) == SENTENCE


def test_a_page_says_it_in_passing() -> None:
    def page(data: bytes) -> None:
        from playground.app import state

        state.add_file("told.json", data)

    told = json.dumps([{"role": "user", "content": SAID}]).encode()
    app = AppTest.from_function(page, args=(told,), default_timeout=300).run()
    assert not app.exception
    assert [toast.value for toast in app.toast] == [f"{SENTENCE} in what is kept"]


def test_the_sentence_itself_is_no_secret() -> None:
    assert scrubbed(SENTENCE) == SENTENCE
    assert scrubbed(SAID).count("*") == len(TOKEN) + len(OTHER) + len(PASSWORD) + 8
