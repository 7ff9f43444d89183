"""Detection: a dialect's own writing is recognised, foreign markup is named, prose is nothing."""

from __future__ import annotations

import pytest
from strategies import DIALECTS, TOOLS

from playground.dialects.declared import DeclaredDialect
from playground.messages import ToolCallPart
from playground.questions.detection import detect, detect_recording, foreign_markup
from playground.sessions.loading import sample_sessions

CALL = ToolCallPart("call_1", "write_file", {"path": "a.py", "content": "x = 1"})
# forms that another dialect writes character for character
TWINS = {"k-exaone-2": "qwen3-coder", "llama4-pythonic": "pythonic", "ernie45": "hermes"}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_what_a_dialect_writes_is_recognised(dialect: DeclaredDialect) -> None:
    texts = dialect.syntax.sample_texts
    own = ToolCallPart("call_1", dialect.syntax.name or "write_file", texts)
    text = "I will write it.\n" + dialect.format_tool_call(own if texts else CALL, TOOLS)
    best = detect(text, TOOLS)[0]
    assert best.dialect == TWINS.get(dialect.name, dialect.name)
    assert best.as_written
    assert best.reason.startswith("1 complete call, written exactly so, ")


def test_prose_is_read_by_nobody() -> None:
    found = detect("Nothing is called here, not even `<tool_call>`.", TOOLS)
    assert {d.calls for d in found} == {0}
    assert foreign_markup("Nothing is called here.", "xml", TOOLS) is None


def test_foreign_markup_is_a_finding_never_silence() -> None:
    text = '<tool_call>\n{"name": "list_files", "arguments": {}}\n</tool_call>'
    finding = foreign_markup(text, "xml", TOOLS)
    assert finding
    assert finding.code == "foreign-markup"
    assert finding.message == "hermes reads 1 complete call here, xml reads none"
    assert foreign_markup(text, "hermes", TOOLS) is None


@pytest.mark.parametrize("name", sample_sessions())
def test_the_dialect_that_was_recorded_is_found_on_every_sample(name: str) -> None:
    session = sample_sessions()[name]
    for recording in session.recordings:
        found = detect_recording(recording, session.tools)
        assert found[0].dialect == recording.dialect, (recording.name, found[:3])


def test_a_call_that_was_cut_off_is_known_by_how_it_begins() -> None:
    text = '<tool_call>\n{"name": "get_tides", "arguments": {"harbour": "Br'
    assert [each.dialect for each in detect(text)][:2] == ["hermes", "ernie45"]
