"""Grammars on the command line and on pages: what the library gives, and nothing else."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from conftest import ROOT
from streamlit.testing.v1 import AppTest

import playground as pg
from playground.cli import main

SAMPLE = "02-parallel-calls"


@pytest.mark.parametrize("form", ["lark", "gbnf", "ebnf", "structural-tag"])
def test_the_command_prints_the_form_that_is_asked_for(form: str) -> None:
    tools = pg.load_session(ROOT / "sample_sessions" / f"{SAMPLE}.json").tools
    made = pg.get_dialect("hermes").grammar(tools, choice="get_tides")
    asked = ["grammar", SAMPLE, "-d", "hermes", "--form", form, "--choice", "get_tides"]
    done = CliRunner().invoke(main, asked)
    assert done.stdout.strip() == made.form(form).strip()
    told = json.loads(CliRunner().invoke(main, [*asked, "--json"]).stdout)
    assert told["text"] == made.form(form)
    assert [each["code"] for each in told["findings"]] == [each.code for each in made.findings]


def test_a_choice_that_is_no_tool_is_one_clear_line() -> None:
    done = CliRunner().invoke(main, ["grammar", SAMPLE, "-d", "hermes", "--choice", "nobody"])
    assert done.exit_code == 2
    assert "unknown tool 'nobody'; the nearest of 4: auto, required, get_tides" in done.stderr


@pytest.mark.parametrize(
    ("page", "values"),
    [("dialects", {"view": "Guide", "guide_view": "Grammar"}), ("compare", {"view": "Grammar"})],
)
def test_a_page_shows_the_grammar_to_copy(page: str, values: dict[str, str]) -> None:
    app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=300)
    for key, value in values.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    assert any(", lark: " in text.value for text in app.text)
    shown = [json.loads(each.proto.json) for each in app.get("bidi_component")]
    assert any("start:" in str(each.get("text")) for each in shown if isinstance(each, dict))
