"""The table: one row of cases/calls.json is a call and its text in a dialect, written out in full.
Each row is rendered, and read whole, byte by byte, and with text before and after it."""

from __future__ import annotations

import json
from itertools import product

import pytest
from conftest import ROOT
from strategies import DIALECTS, GENERAL, TOOLS, held

from playground.dialects import get_dialect
from playground.dialects.checking import check_tool_call
from playground.dialects.reading import parse
from playground.nouns.events import (
    ArgumentEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
    MarkupEvent,
)
from playground.nouns.messages import ToolCallPart

CALLS = {
    "one": ToolCallPart("call_1", "list_files", {}),
    "typed": ToolCallPart("call_1", "write_file", {"path": "a b.py", "mode": 420, "note": None}),
    "lines": ToolCallPart("call_1", "write_file", {"path": "x", "content": 'if "a":\n  <b>\n'}),
}

CASES = json.loads((ROOT / "tests" / "cases" / "calls.json").read_text(encoding="utf-8"))
TABLE: dict[tuple[str, str], str] = {
    (dialect, case): text for dialect, texts in CASES.items() for case, text in texts.items()
}


def test_the_table_has_a_row_for_every_dialect_and_call() -> None:
    assert set(TABLE) == {(dialect.name, case) for dialect in DIALECTS for case in CALLS}


@pytest.mark.parametrize("dialect", CASES)
def test_a_call_is_written_as_the_table_says(dialect: str) -> None:
    written = {case: get_dialect(dialect).format_tool_call(CALLS[case], TOOLS) for case in CALLS}
    assert written == CASES[dialect]


@pytest.mark.parametrize("dialect", [dialect.name for dialect in GENERAL])
def test_its_text_is_read_as_the_call(dialect: str) -> None:
    afters = ("", "\n", "\n\nThat is all.")
    for case, before, after in product(CALLS, ("", "First:\n"), afters):
        check_that_the_call_is_read(dialect, case, before, after)


def check_that_the_call_is_read(dialect: str, case: str, before: str, after: str) -> None:
    template = get_dialect(dialect).syntax.call_template  # type: ignore[attr-defined]
    if template.body.startswith("text:") and not template.after and after.strip():
        return  # nothing but a result ends such a call
    lead = before and before.join(get_dialect(dialect).answer)  # type: ignore[attr-defined]
    text = lead + TABLE[dialect, case] + after
    data = text.encode()
    whole = parse(text, dialect, TOOLS)
    assert whole == parse([data[i : i + 1] for i in range(len(data))], dialect, TOOLS)
    (call,) = whole.tool_calls
    assert call.name == CALLS[case].tool_name
    assert call.arguments == held(get_dialect(dialect), CALLS[case].args)  # type: ignore[arg-type]
    assert whole.content.strip() == (before + after).strip()
    assert whole.findings == []


def events(dialect: str, case: str) -> list[tuple[type[Event], str]]:
    text = TABLE[dialect, case]
    found = parse(text, dialect, TOOLS).events
    return [(type(event), text[event.span.start : event.span.stop]) for event in found]


def test_the_events_of_a_parameter_form() -> None:
    assert events("qwen3-coder", "typed") == [
        (MarkupEvent, "<tool_call>\n"),
        (CallStartedEvent, ""),
        (MarkupEvent, "<function="),
        (CallNamedEvent, "write_file"),
        (MarkupEvent, ">\n<parameter=path>\n"),
        (ArgumentEvent, "a b.py"),
        (MarkupEvent, "\n</parameter>\n<parameter=mode>\n"),
        (ArgumentEvent, "420"),
        (MarkupEvent, "\n</parameter>\n<parameter=note>\n"),
        (ArgumentEvent, "null"),
        (MarkupEvent, "\n</parameter>\n</function>"),
        (CallEndedEvent, ""),
        (MarkupEvent, "\n</tool_call>"),
    ]


def test_the_events_of_a_json_form() -> None:
    assert events("hermes", "typed") == [
        (CallStartedEvent, ""),
        (MarkupEvent, '<tool_call>\n{"name": "'),
        (CallNamedEvent, "write_file"),
        (MarkupEvent, '", "arguments": '),
        (ArgumentEvent, '{"path": "a b.py", "mode": 420, "note": null}'),
        (MarkupEvent, "}\n</tool_call>"),
        (CallEndedEvent, ""),
    ]


@pytest.mark.parametrize("dialect", sorted(set(CASES) - {d.name for d in GENERAL}))
@pytest.mark.parametrize("case", CALLS)
def test_a_call_of_another_tool_is_refused_by_name(dialect: str, case: str) -> None:
    found = check_tool_call(get_dialect(dialect), CALLS[case], TOOLS)
    assert {finding.code for finding in found} == {"cannot-carry"}
