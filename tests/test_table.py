"""The table: one row is a call and its text in a dialect, written out in full. Each row is
rendered, and read whole, byte by byte, and with text before and behind it."""

from __future__ import annotations

import pytest
from strategies import DIALECTS, TOOLS

from playground.dialects import get_dialect
from playground.events import (
    ArgumentEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
    MarkupEvent,
)
from playground.messages import ToolCallPart
from playground.reading import parse

CALLS = {
    "one": ToolCallPart("call_1", "list_files", {}),
    "typed": ToolCallPart("call_1", "write_file", {"path": "a b.py", "mode": 420, "note": None}),
    "lines": ToolCallPart("call_1", "write_file", {"path": "x", "content": 'if "a":\n  <b>\n'}),
}

TABLE: dict[tuple[str, str], str] = {
    ("xml", "one"): "<list_files>\n</list_files>",
    ("xml", "typed"): (
        "<write_file>\n<path>a b.py</path>\n<mode>420</mode>\n<note>null</note>\n</write_file>"
    ),
    ("xml", "lines"): (
        '<write_file>\n<path>x</path>\n<content>\nif "a":\n  <b>\n\n</content>\n</write_file>'
    ),
    ("json", "one"): '{"tool_name": "list_files", "args": {}}',
    ("json", "typed"): (
        '{"tool_name": "write_file", "args": {"path": "a b.py", "mode": 420, "note": null}}'
    ),
    ("json", "lines"): (
        '{"tool_name": "write_file", "args": {"path": "x", "content": "if \\"a\\":\\n  <b>\\n"}}'
    ),
    ("native", "one"): (
        '{"id": "call_1", "type": "function", '
        '"function": {"name": "list_files", "arguments": "{}"}}'
    ),
    ("native", "typed"): (
        '{"id": "call_1", "type": "function", "function": {"name": "write_file", '
        '"arguments": "{\\"path\\": \\"a b.py\\", \\"mode\\": 420, \\"note\\": null}"}}'
    ),
    ("native", "lines"): (
        '{"id": "call_1", "type": "function", "function": {"name": "write_file", "arguments": '
        '"{\\"path\\": \\"x\\", \\"content\\": \\"if \\\\\\"a\\\\\\":\\\\n  <b>\\\\n\\"}"}}'
    ),
    ("hermes", "one"): '<tool_call>\n{"name": "list_files", "arguments": {}}\n</tool_call>',
    ("hermes", "typed"): (
        '<tool_call>\n{"name": "write_file", "arguments": '
        '{"path": "a b.py", "mode": 420, "note": null}}\n</tool_call>'
    ),
    ("hermes", "lines"): (
        '<tool_call>\n{"name": "write_file", "arguments": '
        '{"path": "x", "content": "if \\"a\\":\\n  <b>\\n"}}\n</tool_call>'
    ),
    ("qwen3-coder", "one"): "<tool_call>\n<function=list_files>\n</function>\n</tool_call>",
    ("qwen3-coder", "typed"): (
        "<tool_call>\n<function=write_file>\n<parameter=path>\na b.py\n</parameter>\n"
        "<parameter=mode>\n420\n</parameter>\n<parameter=note>\nnull\n</parameter>\n"
        "</function>\n</tool_call>"
    ),
    ("qwen3-coder", "lines"): (
        "<tool_call>\n<function=write_file>\n<parameter=path>\nx\n</parameter>\n"
        '<parameter=content>\nif "a":\n  <b>\n\n</parameter>\n</function>\n</tool_call>'
    ),
    ("llama3-json", "one"): (
        '<|python_tag|>{"type": "function", "name": "list_files", "parameters": {}}'
    ),
    ("llama3-json", "typed"): (
        '<|python_tag|>{"type": "function", "name": "write_file", '
        '"parameters": {"path": "a b.py", "mode": 420, "note": null}}'
    ),
    ("llama3-json", "lines"): (
        '<|python_tag|>{"type": "function", "name": "write_file", '
        '"parameters": {"path": "x", "content": "if \\"a\\":\\n  <b>\\n"}}'
    ),
    ("llama3-function", "one"): "<function=list_files>{}</function>",
    ("llama3-function", "typed"): (
        '<function=write_file>{"path": "a b.py", "mode": 420, "note": null}</function>'
    ),
    ("llama3-function", "lines"): (
        '<function=write_file>{"path": "x", "content": "if \\"a\\":\\n  <b>\\n"}</function>'
    ),
    ("dspy-chat", "one"): (
        "[[ ## next_tool_name ## ]]\nlist_files\n\n[[ ## next_tool_args ## ]]\n{}\n\n"
        "[[ ## completed ## ]]"
    ),
    ("dspy-chat", "typed"): (
        "[[ ## next_tool_name ## ]]\nwrite_file\n\n[[ ## next_tool_args ## ]]\n"
        '{"path": "a b.py", "mode": 420, "note": null}\n\n[[ ## completed ## ]]'
    ),
    ("dspy-chat", "lines"): (
        "[[ ## next_tool_name ## ]]\nwrite_file\n\n[[ ## next_tool_args ## ]]\n"
        '{"path": "x", "content": "if \\"a\\":\\n  <b>\\n"}\n\n[[ ## completed ## ]]'
    ),
}

rows = pytest.mark.parametrize(("dialect", "case"), TABLE, ids=lambda value: str(value))


def test_the_table_has_a_row_for_every_dialect_and_call() -> None:
    assert set(TABLE) == {(dialect.name, case) for dialect in DIALECTS for case in CALLS}


@rows
def test_a_call_is_written_as_the_table_says(dialect: str, case: str) -> None:
    assert get_dialect(dialect).format_tool_call(CALLS[case], TOOLS) == TABLE[dialect, case]


@rows
@pytest.mark.parametrize("behind", ["", "\n", "\n\nThat is all."])
@pytest.mark.parametrize("before", ["", "First:\n"])
def test_its_text_is_read_as_the_call(dialect: str, case: str, before: str, behind: str) -> None:
    text = before + TABLE[dialect, case] + behind
    data = text.encode()
    whole = parse(text, dialect, TOOLS)
    assert whole == parse([data[i : i + 1] for i in range(len(data))], dialect, TOOLS)
    (call,) = whole.tool_calls
    assert (call.name, call.arguments) == (CALLS[case].tool_name, CALLS[case].args)
    assert whole.content.strip() == (before + behind).strip()
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
