"""Notations: each one's example is true, and a new one is added as CONTRIBUTING says."""

from __future__ import annotations

import ast
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any

import pytest
import test_laws
from conftest import ROOT
from strategies import DIALECTS, held

import playground.parsing
from playground.dialects.checking import check_tool_call
from playground.dialects.declared import DeclaredDialect
from playground.dialects.reading import parse
from playground.lab.guides import Guide
from playground.nouns.events import Event, event_name, owned_text
from playground.nouns.messages import ToolCallPart
from playground.nouns.tools import ToolMetadata
from playground.parsing.declaration import Declaration
from playground.parsing.form import Form
from playground.parsing.notations import NOTATIONS, VALUES, notation_of
from playground.parsing.notations.notation import CallValue, Notation
from playground.parsing.open_call import OpenCall
from playground.parsing.parser import SyntaxParser
from playground.parsing.reader import Reader, decoded, decoded_object
from playground.parsing.rendering import render_call
from playground.parsing.scanner import Walk
from playground.parsing.switches import Switches
from playground.parsing.syntax import Markers, Syntax
from playground.plugins.contributing.recipes import read_recipe
from playground.plugins.own_dialects.laws import check_dialect

LINES = ToolMetadata(
    name="write_file",
    description="",
    input_schema={
        "type": "object",
        "properties": {"lines": {"type": "array"}},
        "additionalProperties": True,
    },
)


def declared(syntax: Syntax) -> DeclaredDialect:
    return DeclaredDialect(name="tried", syntax=syntax, rules="")


def assert_example_is_true(notation: Notation) -> None:
    """The example is what is written, is read back in every cutting, and means nothing cut off."""
    dialect = declared(Syntax(**notation.fields))
    assert render_call(dialect.syntax, "write_file", notation.sample) == notation.example
    data = f"So:\n{notation.example}\nDone.".encode()
    whole = parse(data, dialect, [LINES])
    (call,) = whole.tool_calls
    assert (call.name, call.arguments) == ("write_file", dict(notation.sample))
    assert whole.findings == []
    assert whole.content.strip() == "So:\n\nDone."
    assert parse([data[i : i + 1] for i in range(len(data))], dialect, [LINES]) == whole
    for place in range(len(data)):
        assert parse([data[:place], data[place:]], dialect, [LINES]) == whole
    for stop in range(len(notation.example)):
        cut = parse(notation.example[:stop], dialect, [LINES])
        assert all(c.arguments == dict(notation.sample) for c in cut.tool_calls)


@pytest.mark.parametrize("notation", NOTATIONS.values(), ids=lambda notation: notation.hole)
def test_the_example_of_a_notation_is_written_and_read_back(notation: Notation) -> None:
    assert_example_is_true(notation)


def test_a_notation_stands_under_its_own_hole() -> None:
    for body, notation in NOTATIONS.items():
        assert body == notation.hole
        assert f"{{{notation.hole.replace('KEY', 'path')}}}" in notation.fields["call"]
        assert Syntax(**notation.fields).notation is notation
    assert [value.hole for value in VALUES.values()] == list(VALUES)


@pytest.mark.parametrize("hole", VALUES)
def test_the_example_of_a_value_is_written_and_read_back(hole: str) -> None:
    syntax = Syntax(call="<f {name}>{params}</f>", param=f"<{{key}}>{{{hole}}}</{{key}}>")
    example = VALUES[hole].example
    value = json.loads(example) if VALUES[hole].json else example.strip("\n")
    text = render_call(syntax, "g", {"a": value})
    assert text == f"<f g><a>{example}</a></f>"
    assert parse(text, declared(syntax)).tool_calls[0].arguments == {"a": value}


def test_no_hole_is_named_outside_of_the_notations() -> None:
    """What the rest of the room wants to know of a body, it asks its notation."""
    holes = [*NOTATIONS, *VALUES]
    parts = {hole.partition(":") for hole in holes if ":" in hole}
    names = {
        *holes,
        *(f"{kind}:" for kind, _, _ in parts),
        *(f":{rest}" for *_, rest in parts if rest != "KEY"),
    }
    for path in (ROOT / "playground/parsing").glob("*.py"):
        tree = ast.parse(path.read_text())
        named = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)} & names
        assert named == set(), path
        for node in ast.walk(tree):  # nor is a notation known by its class, or by how it begins
            if isinstance(node, ast.ImportFrom) and "notations." in (node.module or ""):
                assert str(node.module).endswith(".notation"), path
            if isinstance(node, ast.Compare):
                asked = ast.unparse(node.left)
                assert not asked.endswith(("notation.first", "notation.hole")), path


# a new one, by nothing but the text of its recipe


URL_QUERY = "args:url_query"  # the recipe's own
USED = {notation_of(form).hole for d in DIALECTS for form in (d.syntax, *d.syntax.also)}
NEW = [URL_QUERY, *(hole for hole in NOTATIONS if hole not in USED)]


@pytest.fixture
def query(monkeypatch: pytest.MonkeyPatch) -> DeclaredDialect:
    """A dialect in the recipe's notation, which is its three steps: a file and two lines."""
    return dialect_in(URL_QUERY, monkeypatch)


def dialect_in(hole: str, monkeypatch: pytest.MonkeyPatch) -> DeclaredDialect:
    if hole == URL_QUERY:
        code, line, entry = (step.code for step in read_recipe(ROOT, "notation").steps)
        names: dict[str, Any] = {}
        exec(compile(code, "url_query.py", "exec"), names)
        assert line.split()[-1] in names
        ((key, notation),) = eval(f"{{{entry}}}", names).items()
        monkeypatch.setitem(NOTATIONS, key, notation)
    return declared(Syntax(**NOTATIONS[hole].fields))


@pytest.mark.usefixtures("query")
def test_a_new_notation_is_added_as_contributing_says() -> None:
    notation = NOTATIONS[URL_QUERY]
    assert_example_is_true(notation)
    guide = Guide(declared(Syntax(**notation.fields)), [])
    assert ("values", "escaped text, typed by the tool's schema") in guide.summary()


def test_a_notation_without_null_names_the_argument_and_writes_the_others(
    query: DeclaredDialect,
) -> None:
    call = ToolCallPart("call_1", "f", {"a": None, "b": "x"})
    (found,) = check_tool_call(query, call, [LINES])
    assert (found.code, found.where) == ("cannot-carry", "call call_1, argument a")
    assert query.format_tool_call(call, [LINES]) == "<run f?b=x/>"
    assert held(query, call.args) == {"b": "x"}


class Base64(Notation):
    """A notation that takes every JSON value for an object."""

    hole = "args:base"
    meaning = values = family = "JSON in Base64"
    fields = {"call": "[run {name} {args:base}]"}
    example = "[run write_file eyJwYXRoIjogImEucHkiLCAibGluZXMiOiBbMSwgMl19]"
    keeps_space = True

    def write(self, syntax: Declaration, call: CallValue) -> dict[str, str]:
        return {self.hole: b64encode(json.dumps(call.arguments).encode()).decode()}

    def read(self, reader: Reader, call: OpenCall, form: Form) -> Walk[None]:
        scanner, end = reader.scanner, re.compile(r"[^\w+/=]")
        text = yield from reader.claim_all(
            call, "(base64)", lambda emit: scanner.claim_to(end, emit)
        )
        for key, value in self.decode(text):
            reader.set_value(call, key, value)

    def decode(self, text: str) -> Any:
        return decoded(lambda text: from_base64(text).items(), text, "malformed-json")


class MendedBase64(Base64):
    def decode(self, text: str) -> Any:
        return decoded_object(from_base64, text, "malformed-json").items()


def from_base64(text: str) -> Any:
    return json.loads(b64decode(text))


def test_a_notation_that_takes_every_value_for_an_object_breaks_law_5(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`[run f WzFd]` holds a list, and raised AttributeError, while every law held."""
    monkeypatch.setitem(NOTATIONS, "args:base", Base64())
    dialect = declared(Syntax(**Base64.fields))
    assert_example_is_true(Base64())
    with pytest.raises(AttributeError, match="no attribute 'items'"):
        test_laws.test_law_5_a_body_of_another_type_than_an_object_is_read(dialect)
    (check,) = check_dialect(dialect).broken
    assert check.law == 5 and check.broken
    says = "reading raises AttributeError: 'list' object has no attribute 'items'"
    assert check.broken.says == says
    assert check.broken.shown[0] == ("stream", "[run write_file WzFd]")


def test_a_body_that_holds_no_object_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NOTATIONS, "args:base", MendedBase64())
    dialect = declared(Syntax(**Base64.fields))
    test_laws.test_law_5_a_body_of_another_type_than_an_object_is_read(dialect)
    assert check_dialect(dialect).broken == []
    for body, value in (("WzFd", "[1]"), ("Nw==", "7"), ("bnVsbA==", "None"), ("Int9Ig==", "'{}'")):
        (found,) = parse(f"[run write_file {body}]", dialect).findings
        assert (found.code, found.message) == (
            "arguments-not-object",
            f"the arguments must be an object, not {value}",
        )


ONE_DIALECT = ([test_laws.each_dialect.mark], [test_laws.each_general.mark])  # and no other cases
LAWS = [law for law in vars(test_laws).values() if getattr(law, "pytestmark", None) in ONE_DIALECT]


def test_every_law_that_needs_a_dialect_alone_is_asked() -> None:
    numbers = [re.findall(r"\d+", law.__name__)[0] for law in LAWS]
    assert sorted(set(numbers), key=int) == ["1", "2", "3", "4", "5", "6", "7", "8", "10"]


@pytest.mark.parametrize("hole", NEW)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_a_dialect_in_a_new_notation_keeps_the_laws(
    law: Callable[[DeclaredDialect], None], hole: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recipe's notation, and each that no registered dialect uses."""
    monkeypatch.setattr(test_laws, "EXAMPLES", 15)
    law(dialect_in(hole, monkeypatch))


def test_a_notation_without_a_grammar_says_so(query: DeclaredDialect) -> None:
    grammar = query.grammar([LINES])
    ((code, message),) = [(found.code, found.message) for found in grammar.findings]
    assert (code, message) == ("no-grammar", "no grammar is known for {args:url_query}")
    assert grammar.rules == {}


def test_a_query_carries_every_kind_of_value_in_every_cutting(query: DeclaredDialect) -> None:
    values: list[Any] = ["", "a=1&b=2", "</>/>", "é\n", 7, True, [1, "x"], {"k": 1.5}, "7"]
    tool = ToolMetadata(
        name="f", description="", input_schema={"type": "object", "properties": {"a": {}, "b": {}}}
    )
    for value in values:
        typed = tool.model_copy(
            update={"input_schema": {"properties": {"a": {"type": _json_type(value)}}}}
        )
        call = ToolCallPart("call_1", "f", {"a": value})
        assert check_tool_call(query, call, [typed]) == [], value
        data = query.format_tool_call(call, [typed]).encode()
        whole = parse(data, query, [typed])
        for size in (1, 2, 3, 7):
            pieces = [data[i : i + size] for i in range(0, len(data), size)]
            assert parse(pieces, query, [typed]) == whole
        assert "".join(map(owned_text, whole.events)).encode() == data
        assert parse(data[:-3], query, [typed]).tool_calls == []
    broken = parse("<run f?a=1&&/>", query, [tool])
    assert [aborted.reason for aborted in broken.aborted] == ["malformed-arguments"]


def _json_type(value: object) -> str:
    names = {str: "string", int: "integer", bool: "boolean", list: "array", dict: "object"}
    return names.get(type(value), "null")


# the essay at the door of parsing/


def told(events: list[Event]) -> str:
    """Events in the words of the essay: `text 'Hm'`, and those without text by name alone."""
    words = [f"{event_name(event)} {owned_text(event)!r}" for event in events]
    return ", ".join(word.removesuffix(" ''") for word in words) or "nothing"


def test_the_essays_reply_is_read_as_the_essay_says() -> None:
    essay = playground.parsing.__doc__ or ""
    (call,) = re.findall(r'call="(.*?)"', essay)
    (param,) = re.findall(r'param="(.*?)"', essay)
    rows = re.findall(r"^    '(.*?)'\n {8}gives (.*?)\n {8}holds ('.*?')$", essay, re.M | re.S)
    assert 55 <= len("".join(chunk for chunk, _, _ in rows)) <= 65
    parser = SyntaxParser(Syntax(call=call, param=param), Markers(), Switches())
    for chunk, given, kept in rows:
        assert told(parser.feed_text(chunk)) == " ".join(given.split())
        assert repr(parser.state.held) == kept
    assert parser.finish() == []


def test_the_tests_that_the_essay_names_are_there() -> None:
    named = re.findall(r"\b(tests/\w+\.py):\s+(\w+)", playground.parsing.__doc__ or "")
    assert len(named) >= 6
    for path, beginning in named:
        assert f"\ndef {beginning}" in (ROOT / path).read_text(), beginning
