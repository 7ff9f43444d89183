"""Half surrogates, which JSON may escape and no file can hold: told, replaced, and never in the way
of writing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from session_examples import EXAMPLES, document

import playground as pg
from playground.base.characters import replace_half_surrogates
from playground.base.errors import InputFault
from playground.base.findings import Finding
from playground.nouns.messages import Message, TextPart, ToolCallPart
from playground.sessions.editing import Edit, edited
from playground.sessions.formats.atif import dump_atif
from playground.sessions.importing import Writer
from playground.sessions.loading import LoadedSession, first_session, read_sessions
from playground.sessions.native_format import dump_session
from playground.sessions.session import Session
from playground.sessions.source import Source
from playground.sessions.tool_files import read_tool_file

HALF = "\ud83d"
OPENAI = {
    "messages": [
        {"role": "user", "content": "x"},
        {
            "role": "assistant",
            "content": "y",
            "tool_calls": [
                {
                    "id": "c",
                    "type": "function",
                    "function": {"name": "f", "arguments": '{"a": "\\ud83d", "\\ud83e": 1}'},
                }
            ],
        },
    ]
}


def halves(value: Any, number: list[int]) -> Any:
    """A JSON value with half a character at the end of the text of this number, in keys and in JSON
    inside a text, too."""
    match value:
        case str():
            number[0] -= 1
            if number[0] == -1:
                return value + HALF
            try:
                inner = json.loads(value)
            except ValueError:
                return value
            return json.dumps(halves(inner, number)) if isinstance(inner, dict | list) else value
        case list():
            return [halves(item, number) for item in value]
        case dict():
            return {halves(k, number): halves(v, number) for k, v in value.items()}
        case _:
            return value


def written(session: Session) -> None:
    """Whatever a session holds can be written, and what is read again is the same."""
    again = first_session(Source("again.json", dump_session(session).encode()))
    assert again.session == session
    dump_atif(session).encode()


_MANY = 10**6  # texts: more than an example has
AS_JSON = sorted(
    name
    for name, example in EXAMPLES.items()
    if isinstance(example.content, bytes) and example.content[:1] in (b"{", b"[")
)


@given(st.sampled_from(AS_JSON), st.integers(0, 99), st.booleans())
def test_half_a_character_anywhere_in_a_file_is_told_and_can_be_written(
    name: str, number: int, by_name: bool
) -> None:
    example = EXAMPLES[name]
    data = example.content
    assert isinstance(data, bytes)
    is_lines = example.name.endswith(("l", ".responses"))
    values = [json.loads(line) for line in (data.splitlines() if is_lines else [data])]
    left = [_MANY]
    halves(values, left)
    spoiled = "\n".join(map(json.dumps, halves(values, [number % (_MANY - left[0])]))).encode()
    assert b"\\ud83d" in spoiled
    try:
        loaded = list(read_sessions(Source(example.name, spoiled), name if by_name else None))
    except InputFault:
        return
    for each in loaded:
        written(each.session)


def codes(loaded: LoadedSession) -> list[tuple[str, str]]:
    return [(found.code, found.where) for found in loaded.findings if "lone" in found.code]


def test_half_a_character_in_arguments_is_told_where_it_stands(tmp_path: Path) -> None:
    loaded = first_session(Source("x.json", document(OPENAI)))
    (call,) = loaded.session.messages[1].tool_calls
    assert call.args == {"a": "\ufffd", "\ufffd": 1}
    assert codes(loaded) == [
        ("lone-surrogate", "messages.1, parts.1.args.a"),
        ("lone-surrogate", "messages.1, parts.1.args"),
    ]
    for out, form in (("s.json", "session"), ("s.jsonl", "session"), ("a.json", "atif")):
        with Writer(str(tmp_path / out), form) as writer:
            writer.write(loaded.session)
        assert pg.load_session(tmp_path / out).messages == loaded.session.messages


def test_what_a_program_puts_into_a_session_is_written_escaped_and_told_when_read() -> None:
    session = Session(messages=(Message("user", (TextPart(f"a{HALF}"),)),))
    for text in (dump_session(session), dump_atif(session)):
        assert '"a\\ud83d"' in text
        loaded = first_session(Source("x.json", text.encode()))
        assert loaded.session.messages[0].text == "a\ufffd"
        assert len(codes(loaded)) == 1


def test_half_a_character_in_a_file_of_tools_is_told() -> None:
    found = read_tool_file(b'[{"name": "f", "description": "\\ud83d"}]', "tools.json")
    assert found.tools[0].description == "\ufffd"
    assert [each.where for each in found.findings] == ["tools.0.description"]


CALL = ToolCallPart("c", "f", {})


@pytest.mark.parametrize(
    "edit",
    [
        Edit("tool", '{"name": "f", "description": "\\ud83d"}'),
        Edit("all tools", '[{"name": "f", "description": "\\ud83d"}]'),
        Edit("part", '{"type": "tool_call", "tool_call_id": "c", "tool_name": "\\ud83d"}'),
        Edit("system prompt", HALF),
    ],
)
def test_half_a_character_in_an_edit_is_said_to_the_one_who_edits(edit: Edit) -> None:
    session = Session(tools=(pg.ToolMetadata(name="f"),), messages=(Message("assistant", (CALL,)),))
    with pytest.raises(InputFault, match="half of a surrogate pair"):
        edited(session, [edit])


def test_what_is_whole_stays_the_same_object() -> None:
    found: list[Finding] = []
    session = Session(messages=(Message("assistant", (CALL, TextPart("é"))),))
    assert replace_half_surrogates(session, "", found) is session
    value = {"é": [1, None, {"a": ("x",)}]}
    assert replace_half_surrogates(value, "", found) is value
    assert not found


def test_two_keys_that_differ_in_a_half_stay_two() -> None:
    found: list[Finding] = []
    assert replace_half_surrogates({HALF: 1, chr(0xD83E): 2}, "a", found) == {
        "\ufffd": 1,
        "\ufffd\ufffd": 2,
    }
    assert [each.where for each in found] == ["a", "a"]
