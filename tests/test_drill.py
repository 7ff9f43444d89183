"""Each file with which a drill once did harm, through the command that it harmed.

The files lie beside this checkout, in ../shared/audit/drill. Where they do not, the tests named in
`ALSO` hold the same by cases of our own.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import test_confined
import test_hostile_files
import test_json_numbers
import test_terminal
from click.testing import CliRunner, Result
from conftest import ROOT
from test_json_numbers import strict

import playground as pg
from playground.base.errors import InputFault
from playground.cli import main
from playground.dialects.raw_prompts import ChatTemplate, chat_template
from playground.plugins.systems.go_templates import bounded

DRILL = ROOT.parent / "shared" / "audit" / "drill"
CONTROLS = "\x1b\x9b\u202e\u2066\u200b"
ALSO: dict[str, Callable[..., object]] = {
    "ansi.json": test_terminal.test_a_hostile_session_reaches_no_terminal_raw,
    "bom.json": test_hostile_files.test_a_byte_order_mark_is_read_or_told,
    "bom16.jsonl": test_hostile_files.test_a_byte_order_mark_is_read_or_told,
    "dbl.jinja": test_confined.test_a_costly_template_ends_soon_and_the_next_is_rendered,
    "go1.yaml": test_confined.test_a_number_of_five_thousand_digits_is_gos_fault,
    "go2.yaml": test_confined.test_a_go_template_that_takes_too_long_is_a_fault,
    **{
        f"inj{number}.json": test_hostile_files.test_a_recordings_name_becomes_no_code
        for number in range(1, 6)
    },
    "ljust.jinja": test_confined.test_a_costly_template_ends_soon_and_the_next_is_rendered,
    "mcp1.json": test_terminal.test_a_yes_is_asked_with_all_that_it_means,
    "mcp2.json": test_terminal.test_the_question_hides_nothing_and_a_no_starts_nothing,
    "mcp3.json": test_terminal.test_a_yes_is_asked_with_all_that_it_means,
    "nant.jsonl": test_json_numbers.test_a_time_of_a_recording_that_is_none_is_a_finding,
    "otlp_inf.json": test_hostile_files.test_a_number_of_a_span_that_is_none_is_told,
    "pow.jinja": test_confined.test_a_costly_template_ends_soon_and_the_next_is_rendered,
    "span_inf.json": test_hostile_files.test_a_number_of_a_span_that_is_none_is_told,
    "spans_inf.json": test_hostile_files.test_a_number_of_a_span_that_is_none_is_told,
    "xss.jsonl": test_hostile_files.test_a_recordings_markup_is_only_text_in_a_page,
}


def run(*arguments: str, **options: str) -> Result:
    return CliRunner().invoke(main, arguments, **options)  # type: ignore[arg-type]


def harmless_name(path: Path) -> None:
    """A recording's name is code: the test that is written of it is a test alone."""
    assert run("export", str(path), "--to", "pytest", "-o", "test_it.py").exit_code in (0, 1)
    module = ast.parse(Path("test_it.py").read_text("utf-8"))
    assert "__import__" not in {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}


def shown(path: Path) -> None:
    done = run("compare", str(path), "-d", "xml")  # `render` gives a pipe the text itself
    assert done.exit_code in (0, 1)
    assert not set(CONTROLS) & set(done.output)


def read(path: Path) -> None:
    done = run("import", str(path), "-o", "out.json")
    assert done.exit_code in (0, 1), done.output
    strict(Path("out.json").read_text())


def refused(path: Path) -> None:
    done = run("import", str(path), "-o", "out.json")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert not Path("out.json").exists()


def told(path: Path) -> None:
    read(path)
    done = run("import", str(path))
    assert {"not-a-number", "time-unread"} & set(done.stderr.replace(":", " ").split())


def ended(path: Path) -> None:
    with pytest.raises(InputFault):
        ChatTemplate.load(path).render([{"role": "user", "content": "hi"}])


def go_ended(path: Path) -> None:
    done = run("template", "run", str(path))
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)


def asked(path: Path) -> None:
    """The question tells all that a yes would do; a no does nothing."""
    done = run("tools", str(path), "--mcp", input="n\n")
    assert done.exit_code == 2
    assert not set(CONTROLS) & set(done.output)
    value = json.loads(path.read_text())["mcpServers"]
    for server in value.values():
        for part in (server.get("command"), *server.get("args", ()), server.get("url")):
            assert part is None or json.dumps(part)[1:-1] in done.output
        for name, held in {**server.get("env", {}), **server.get("headers", {})}.items():
            assert name in done.output and held in done.output
    assert not Path("SCRATCH").exists()


def timed(path: Path) -> None:
    recording = pg.load_recording(path)
    assert recording.reply.content == "ab"
    assert recording.findings
    strict(run("replay", str(path), "--json").stdout)


def page(path: Path) -> None:
    assert run("export", str(path), "--to", "html", "-o", "out.html").exit_code in (0, 1)
    text = Path("out.html").read_text()
    assert "window.PWN=1</script>" not in text
    assert "<img src=x onerror=window.PWN" not in text


CHECKS: dict[str, Callable[[Path], None]] = {
    "ansi": shown,
    "bom": read,
    "bom16": refused,
    "dbl": ended,
    "go": go_ended,
    "inj": harmless_name,
    "ljust": ended,
    "mcp": asked,
    "nant": timed,
    "otlp_inf": told,
    "pow": ended,
    "span_inf": told,
    "spans_inf": told,
    "xss": page,
}


@pytest.mark.skipif(not DRILL.exists(), reason="NOT RUN: ../shared/audit/drill is not beside this")
@pytest.mark.parametrize("name", ALSO)
def test_what_once_did_harm_does_none(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(chat_template, "TIME_LIMIT", 1.0)
    monkeypatch.setattr(bounded, "TIME_LIMIT", 1.0)
    stem = name.partition(".")[0]
    check = CHECKS.get(stem) or CHECKS[stem.rstrip("0123456789")]
    check(DRILL / name)
    assert not Path("SCRATCH").exists()


@pytest.mark.skipif(not DRILL.exists(), reason="NOT RUN: ../shared/audit/drill is not beside this")
def test_every_file_of_the_drill_is_named() -> None:
    assert sorted(path.name for path in DRILL.iterdir()) == sorted(ALSO)
