"""Every command, by walking the parser: help, examples, exit statuses, CSV, completion."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result
from conftest import ROOT

import playground as pg
from playground.cli import main
from playground.cli.command import Command
from playground.sessions.native_format import dump_session
from playground.show.glossary import GLOSSARY, figure, title

# What sends requests, runs until it is stopped, or asks a cluster: tested where its server is.
UNRUN = {
    "app",
    "cache validate",  # needs bodies as they were sent: test_cache_bills.py
    "corpus compact",
    "corpus session",
    "demo-server",
    "mcp",
    "proxy",
    "record",
}
TEMPLATE = """
{%- for message in messages %}{{ '<|turn|>' + message.role + '\\n' }}
{%- if message.tool_calls %}{%- for call in message.tool_calls %}
{{- '<do>' + ({'tool': call.function.name, 'with': call.function.arguments} | tojson) + '</do>' }}
{%- endfor %}{%- else %}{{ message.content }}{%- endif %}{{ '<|over|>\\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{ '<|turn|>assistant\\n' }}{%- endif %}
"""
REPLY = '<tool_call>\n{{"name": "get_tides", "arguments": {{"harbour": "{}"}}}}\n</tool_call>\n'


def commands(
    group: click.Group = main, path: tuple[str, ...] = (), context: click.Context | None = None
) -> Iterator[tuple[str, click.Command, click.Context]]:
    context = context or click.Context(main, info_name="playground")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name), inner)
        else:
            yield " ".join((*path, name)), command, inner


ALL = list(commands())
NAMES = [name for name, _, _ in ALL]
EXAMPLES = [
    (name, example)
    for name, command, _ in ALL
    for example in getattr(command, "examples", ())
    if name not in UNRUN and not (name == "trial" and "--model" in example)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the examples name."""
    path = tmp_path_factory.mktemp("examples")
    samples = ROOT / "sample_sessions"
    shutil.copy(samples / "12-long-tool-run.json", path / "session.json")
    shutil.copy(samples / "12-long-tool-run.json", path / "baseline.json")
    shutil.copy(samples / "02-parallel-calls.json", path / "answer.jsonl")
    for name, harbour in (("reply", "Brest"), ("first", "Brest"), ("second", "Cork")):
        (path / f"{name}.txt").write_text(REPLY.format(harbour))
    (path / "completion.txt").write_text("[[ ## answer ## ]]\n2\n\n[[ ## completed ## ]]\n")
    (path / "prompt.txt").write_text("When is low water at {name}?")
    (path / "mine.json").write_text(pg.dump_dialect(pg.get_dialect("hermes")))
    (path / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    (path / "logs").mkdir()
    (path / "logs" / "one.json").write_text(dump_session(pg.sample_sessions()["01-plain-chat"]))
    done = run("corpus", "build", str(path / "facts"), str(path / "logs"), "--engine", "serial")
    assert done.exit_code == 0, done.output
    author = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
    for words in (["init", "-qb", "main"], ["add", "-A"], [*author, "commit", "-qm", "sessions"]):
        subprocess.run(["git", *words], cwd=path, check=True)
    return path


def run(*arguments: str, **options: Any) -> Result:
    return CliRunner().invoke(main, list(arguments), **options)


@pytest.mark.parametrize(("name", "command", "context"), ALL, ids=NAMES)
def test_a_help_page_has_examples_and_names_each_value(
    name: str, command: click.Command, context: click.Context
) -> None:
    text = command.get_help(context)
    one_line = " ".join(text.split())
    values = [p for p in command.params if not getattr(p, "is_flag", False)]
    shown = [p for p in values if not getattr(p, "hidden", False)]
    assert re.search(r"Examples:\n +playground", text)
    if isinstance(command, Command):
        assert all(example.startswith(name) for example in command.examples)
    for parameter in shown:
        metavar = parameter.make_metavar(context)
        assert metavar not in ("TEXT", "INTEGER", "FLOAT") or parameter.name == "instructions"
        if isinstance(parameter, click.Option) and isinstance(parameter.default, str | int | float):
            assert f"[default: {parameter.default}" in one_line or not parameter.default


@pytest.mark.parametrize(
    ("name", "example"),
    # `carry` of every dialect takes 8 s: test_carrying.py asks the library for it
    [pytest.param(*e, marks=[pytest.mark.long] * (e[1] == "carry"), id=e[1]) for e in EXAMPLES],
)
def test_an_example_of_a_help_page_works(
    name: str, example: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    words = shlex.split(example.partition(" > ")[0])
    if words[0] in ("workspace", "new"):  # test_workspace.py, test_contributing.py
        pytest.skip("it has tests of its own")
    done = run(*words)
    assert done.exit_code == 0, done.output
    assert done.stdout or "-o" in words or "--out" in words


def test_the_examples_of_the_workspace_work_one_after_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    examples = [e for name, e in EXAMPLES if name.startswith("workspace")]
    for example in sorted(examples, key=lambda each: ORDER.index(each.split()[1])):
        assert run(*shlex.split(example)).exit_code == 0, example


ORDER = ["add", "save", "rename", "remove", "restore"]
TABLES = [name for name, c, _ in ALL if any("--csv" in p.opts for p in c.params)]
ONE_TABLE = {
    "cache place": "06-cache-eight-turns -d xml",
    "cache wire": "06-cache-eight-turns",
    "cache simulate": "12-long-tool-run -d xml --policy azad",
    "carry": "-d xml",
    "chat-template audit": "tokenizer_config.json",
    "compaction": "12-long-tool-run",
    "compare": "03-long-file -d xml",
    "detect": "reply.txt",
    "diff": "01-plain-chat 02-parallel-calls",
    "experiment": "02-parallel-calls --find-cut",
    "import": "session.json",
    "replay": "05-call-in-a-fence",
    "signature": "'question -> answer: int' --completion completion.txt",
    "tokens": "02-parallel-calls --model gpt-4o",
    "tools": "02-parallel-calls",
    "trial": "answer.jsonl --own-calls",
}


@pytest.mark.parametrize("name", [n for n in TABLES if n not in UNRUN and "corpus" not in n])
def test_csv_has_the_glossarys_names_and_the_terminal_their_titles(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    words = [*name.split(), *shlex.split(ONE_TABLE.get(name, ""))]
    done = run(*words, "--csv")
    assert done.exit_code == 0, done.output
    head = next(csv.reader(io.StringIO(done.stdout)), [])
    for column in head:
        assert figure(column) is not None or name == "import", column
        assert column == column.lower() and " " not in column and "-" not in column


HEADS = {  # what a terminal shows, in this order
    "cache place": "message|part|role|characters|mark|reason",
    "cache wire": "sent as|part|role|kind|characters|mark",
    "cache simulate": "request|read|written|full price|cost|dollars|state|reason",
    "carry": "dialect|carried|of|refused",
    "compaction": "policy|cuts|prefix lost|marks survive|marks|last request|cost|saved|"
    "saved, dollars|pays from",
    "compare": "dialect|messages|characters|findings",
    "detect": "dialect|calls|reason",
    "dialects": "dialect|results in role|parallel calls|used by",
    "tokens": "by|name|tokens",
    "tools": "tool|parameters|description",
    "trial": "dialect|model|attempts|parsed|tool|arguments|tokens|first word|whole",
}


@pytest.mark.parametrize("name", HEADS)
def test_a_terminals_columns_are_titles_of_the_glossary_in_this_order(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    words = [*name.split(), *shlex.split(ONE_TABLE.get(name, ""))]
    lines = [" ".join(line.split()) for line in run(*words).stdout.splitlines()]
    assert HEADS[name].replace("|", " ") in lines


PAIR = ("01-plain-chat", "02-parallel-calls")
ROWS: dict[str, Callable[[], Any]] = {
    "cache simulate": lambda: pg.simulate_cache("12-long-tool-run", "xml", policy="azad"),
    "cache place": lambda: pg.place_cache("06-cache-eight-turns", "xml"),
    "compaction": lambda: pg.compaction("12-long-tool-run"),
    "compare": lambda: pg.compare("03-long-file", "xml"),
    "diff": lambda: pg.diff(*(pg.sample_sessions()[name] for name in PAIR)),
    "replay": lambda: pg.replay(
        pg.sample_sessions()["05-call-in-a-fence"].recordings[0],
        pg.sample_sessions()["05-call-in-a-fence"].recordings[0].dialect,
        tools=pg.sample_sessions()["05-call-in-a-fence"].tools,
    ),
    "tokens": lambda: pg.count_tokens("02-parallel-calls", model="gpt-4o"),
}


@pytest.mark.parametrize("name", ROWS)
def test_frame_csv_and_json_have_the_same_figures_under_the_same_names(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    words = [*name.split(), *shlex.split(ONE_TABLE[name])]
    frame = ROWS[name]().frame()
    lines = list(csv.DictReader(io.StringIO(run(*words, "--csv").stdout)))
    value = json.loads(run(*words, "--json").stdout)
    first = value[0] if isinstance(value, list) else value
    rows = first.get("rows", value)
    assert list(lines[0]) == list(frame.columns) == [*rows[0]][: len(frame.columns)]
    assert len(lines) == len(frame) == len(rows)
    for column in frame.columns:
        if isinstance(rows[0][column], int | float):
            values = [None if pd.isna(each) else each for each in frame[column]]
            assert [each[column] for each in rows] == values


def test_a_glossarys_name_is_one_word_of_code_with_a_unit_and_a_meaning() -> None:
    for name, entry in GLOSSARY.items():
        assert name.isidentifier() and name == name.lower()
        assert entry.title and entry.meaning and title(name) == entry.title
        for unit in ("tokens", "characters", "dollars", "seconds", "share"):
            assert not name.endswith(f"_{unit}") or entry.unit in (unit, "multiple"), name


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["comapre"], "'compare'"),
        (["cache", "simulat"], "'simulate'"),
        (["--verison"], "'--version'"),
        (["compare", "--dialct", "xml"], "'--dialect'"),
        (["compare", "02-paralel-calls"], "'02-parallel-calls'"),
        (["compare", "03-long-file", "-d", "hermez"], "'hermes'"),
    ],
)
def test_a_word_that_is_nearly_right_is_answered_with_the_right_one(
    words: list[str], hint: str
) -> None:
    done = run(*words)
    assert done.exit_code == 2
    assert "id you mean" in done.stderr and hint in done.stderr


def test_findings_are_no_failure_unless_strict() -> None:
    for words in (
        ["replay", "05-call-in-a-fence"],
        ["experiment", "05-call-in-a-fence", "--lose", "2"],
        ["cache", "simulate", "08-gemini-below", "-d", "xml", "--policy", "claude-code"],
        ["cache", "simulate", "08-gemini-below", "-d", "xml", "--policy", "claude-code", "--json"],
    ):
        assert run(*words).exit_code == 0
        assert run(*words, "--strict").exit_code == 1
    assert run("check", "12-long-tool-run", "--max-cost-multiple", "0.01").exit_code == 1


def completed(*words: str) -> list[str]:
    complete = ShellComplete(main, {}, "playground", "_PLAYGROUND_COMPLETE")
    return [each.value for each in complete.get_completions(list(words[:-1]), words[-1])]


def test_a_shell_completes_commands_dialects_and_samples() -> None:
    assert "compare" in completed("com")
    assert completed("compare", "-d", "qwen3-c") == ["qwen3-coder"]
    assert "02-parallel-calls" in completed("compare", "02")
    assert completed("cache", "simulate", "x", "--policy", "claude") == ["claude-code"]
    for shell in ("bash", "zsh", "fish"):
        done = run("completion", shell)
        assert done.exit_code == 0 and "_PLAYGROUND_COMPLETE" in done.stdout


def test_older_spellings_go_on_working_out_of_sight() -> None:
    session = "06-cache-eight-turns"
    newer = run("cache", "simulate", session, "-d", "xml", "--policy", "azad")
    assert (
        run("cache", session, "--simulate", "-d", "xml", "--policy", "azad").stdout == newer.stdout
    )
    assert run("guide", "--list").stdout.split()[0] == "xml"
    assert "--simulate" not in run("cache", "--help").stdout
    assert "--session" not in run("record", "--help").stdout
    assert run("record", "--session", "nothing", "--model", "openai/x").exit_code == 2


@pytest.mark.parametrize(
    ("command", "default"),
    [
        ("cache simulate", "native"),
        ("cache wire", "native"),
        ("cache place", "all"),
        ("tools", "none; with --tokens, all"),
        ("compare", "all"),
    ],
)
def test_a_help_page_names_the_dialects_that_are_taken_by_default(
    command: str, default: str
) -> None:
    lines = " ".join(run(*command.split(), "--help").stdout.split())
    assert f"Default: {default}." in lines
    assert lines.count("Default: all.") == (default == "all")


_OTHERS = {"check": "--no-cache-break", "experiment": "--find-cut", "export": "--to html"}


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, command, _ in ALL
        if any("--dialect" in each.opts for each in command.params) and name != "record"
    ],
)
def test_an_unknown_dialect_is_named_by_every_command_that_takes_one(name: str) -> None:
    (command,) = (each for known, each, _ in ALL if known == name)
    given = ["02-parallel-calls" for each in command.params if isinstance(each, click.Argument)]
    done = run(*name.split(), *given, "-d", "nope", *_OTHERS.get(name, "").split())
    assert done.exit_code == 2
    assert "unknown dialect 'nope'; the nearest of " in done.stderr.splitlines()[-1]
