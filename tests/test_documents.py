"""Documents cannot rot: their code runs, generated ones are up to date, the notebook executes."""

from __future__ import annotations

import doctest
import json
import pydoc
import re
import shlex
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner
from conftest import ROOT
from strategies import TOOLS
from tour import JOBS

import playground as pg
from playground.cache.simulated import State
from playground.cli import main
from playground.dialects.by_hand.plugins import fault_of
from playground.dialects.checking import check_tool_call
from playground.dialects.declared import DeclaredDialect
from playground.dialects.files import parse_dialect
from playground.dialects.marks.own_policies import parse_policy
from playground.dialects.reading import parse
from playground.nouns.messages import ToolCallPart
from playground.questions.comparison import compare
from playground.sessions.loading import first_session
from playground.sessions.source import Source

pytestmark = pytest.mark.early

README = ROOT / "README.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), re.S | re.M)


def executed(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(code, "document", "exec"), names)
    return names


def test_the_readmes_python_runs_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    names = executed(blocks(README, "python")[0])
    assert capsys.readouterr().out == "get_tides {'harbour': 'Brest'}\n"
    assert len(names["messages"]) == 6


def test_the_cache_labs_document_runs_and_its_policy_is_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = ROOT / "docs" / "cache-lab.md"
    executed(blocks(document, "python")[0])
    assert "volatile-system" in capsys.readouterr().out
    assert parse_policy(blocks(document, "json")[0], "x").name == "tail"
    for state in get_args(State):
        assert f"| `{state}` |" in document.read_text()


# Their code is run by a test of its own, here or beside what it is about.
TESTED_APART = {"cache-lab", "derived-dialects", "own-dialect", "signatures", "workspace"}


@pytest.mark.parametrize(
    "name",
    [
        path.stem
        for path in sorted((ROOT / "docs").glob("*.md"))
        if path.stem not in TESTED_APART and blocks(path, "python")
    ],
)
def test_the_code_of_a_document_runs_as_it_stands(name: str) -> None:
    for code in blocks(ROOT / "docs" / f"{name}.md", "python"):
        executed(code)


def test_the_tutorials_commands_print_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    document = ROOT / "docs" / "tutorial.md"
    for name, text in zip(("reply.txt", "cut.txt"), blocks(document, "text"), strict=True):
        Path(name).write_text(text)
    shown = blocks(document, "console")
    assert len(shown) == 5
    for block in shown:
        command, _, output = block.partition("\n")
        done = CliRunner().invoke(main, command.removeprefix("$ playground ").split())
        assert (done.exit_code, done.stdout.rstrip()) == (0, output.rstrip()), command
    detected = CliRunner().invoke(main, ["detect", "reply.txt"]).stdout
    assert detected.splitlines()[1].startswith("hermes ")


def test_what_is_read_first_is_short() -> None:
    assert len(CONTRIBUTING.read_bytes()) <= 8_000
    assert len(README.read_text().splitlines()) <= 120
    assert len((ROOT / "CHANGELOG.md").read_text().splitlines()) <= 40


def test_the_document_of_signatures_runs_from_its_first_block_to_its_last() -> None:
    names: dict[str, Any] = {}
    document = ROOT / "docs" / "signatures.md"
    found = blocks(document, "python")
    assert len(found) == 4
    for code in found:
        exec(compile(code, document.name, "exec"), names)
    assert names["content"][1]["image_url"]["url"] == "https://example.org/quay.png"


def test_a_dialect_written_by_hand_step_by_step_works(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for code in blocks(ROOT / "docs" / "own-dialect.md", "python"):
        exec(compile(code, "own-dialect.md", "exec"), names)
    said = capsys.readouterr().out
    assert '3 a plain value does not come back write_file {"path": "", ";content": ""}\n' in said
    assert "~> {name} {params} <~ [{key}]{value}[/{key}]\n((0, 'I look.\\n'),)\n" in said
    assert "\nLet me look.\n get_tides {'harbour': 'Brest'}\n" in said
    assert "'use-tool' is not declared" in said
    assert fault_of(names["dialect"]) == ""
    file, entry = blocks(ROOT / "docs" / "own-dialect.md", "toml")
    assert parse_dialect(file, "mine.toml").name == "use-tool"
    assert "use-tool = " in entry


def test_the_tour_at_the_head_of_help_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = doctest.testmod(pg, optionflags=doctest.ELLIPSIS)
    assert done.failed == 0 and done.attempted >= 20
    assert "<html" in (tmp_path / "five.html").read_text()
    tour = pydoc.plain(pydoc.render_doc(pg)).splitlines()[:80]
    for name in ("session", "compare", "place_cache", "simulate_cache", "replay", "trial"):
        assert any(f"pg.{name}(" in line for line in tour), name


def test_a_dialect_declared_in_four_lines_is_whole() -> None:
    code = blocks(README, "python")[1]
    dialect = executed(code)["dialect"]
    assert isinstance(dialect, DeclaredDialect)
    declaration = code[code.index("DeclaredDialect(\n") :].splitlines()[1:-1]
    assert len(declaration) <= 4
    args = {"path": "a: b", "content": "two\nlines <b>\n", "mode": 7, "tags": ["x"]}
    call = ToolCallPart("call_1", "write_file", args)
    assert check_tool_call(dialect, call, TOOLS) == []
    text = "Well.\n" + dialect.format_tool_call(call, TOOLS)
    data = text.encode()
    result = parse([data[i : i + 1] for i in range(len(data))], dialect, TOOLS)
    assert [(c.name, c.arguments) for c in result.tool_calls] == [("write_file", args)]
    assert result.content == "Well.\n"


def test_the_readmes_commands_work() -> None:
    """In one process, where LiteLLM is loaded once."""
    reply = str(ROOT / "docs" / "formats" / "hermes.md")  # a text that holds calls
    commands = [*blocks(README, "sh")[1:], *blocks(ROOT / "docs" / "command-line.md", "sh")]
    for block in commands:
        for line in block.strip().splitlines():
            program, *arguments = shlex.split(line.replace("reply.txt", reply), comments=True)
            assert program == "playground"
            done = CliRunner().invoke(main, arguments)
            assert done.exit_code == 0, (line, done.output)
            assert done.stdout, line
            for server in (name for name in arguments if name in ("vllm", "sglang")):
                assert re.search(rf"what {server}:\w+ hands over$", done.stdout, re.M), line


def test_the_format_documents_example_is_a_session() -> None:
    (example,) = blocks(ROOT / "docs" / "session-format.md", "json")
    loaded = first_session(Source("docs/session-format.md", example.encode()))
    assert loaded.findings == []
    assert loaded.session.recordings[0].chunks[1].at == 0.44
    assert compare(loaded.session).columns[0].findings[0].code == "reasoning-dropped"


def test_the_format_document_has_each_field_of_the_schema() -> None:
    text = (ROOT / "docs" / "session-format.md").read_text()
    schema = json.loads((ROOT / "playground/sessions/session.schema.json").read_text())
    fields = {name for each in schema["$defs"].values() for name in each.get("properties", ())}
    no_field_of_a_file = {"model_api_key"}
    named = {*re.findall(r"\w+", text)}
    assert {*fields, *schema["properties"]} - named == no_field_of_a_file


def test_links_in_documents_lead_somewhere() -> None:
    own = [path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "formats"]
    for path in [README, CONTRIBUTING, ROOT / "benchmarks" / "README.md", *own]:
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
            if "://" not in target:
                assert (path.parent / target).exists(), f"{path.name} → {target}"


def test_the_tour_tells_the_jobs_that_are_done_in_a_browser() -> None:
    text = (ROOT / "docs" / "tour.md").read_text()
    files = ("test_browser_jobs.py", "test_browser_jobs_own.py")
    code = "".join((ROOT / "tests" / name).read_text() for name in files)
    told = re.findall(r"^\| ([^|]+) \| (\d+) \| [\d.]+ \| [^|]* \| [^|]* \|$", text, re.M)
    assert told == [(job.told, str(job.clicks)) for job in JOBS], "make pictures writes it"
    assert [code.count(f'tour.done("{job.name}"') for job in JOBS] == [1] * len(JOBS)


def test_the_document_of_derived_dialects_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks(ROOT / "docs" / "derived-dialects.md", "python")
    exec(compile(code, "derived-dialects.md", "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith("call: '<do>{call:json}</do>'\n")
    assert printed.endswith("{'port': 'Brest'}\n[]\n")
