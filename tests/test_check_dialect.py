"""check_dialect: it finds what is planted, makes it small, and passes every registered dialect."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conftest import ROOT
from strategies import DIALECTS, NEAR
from test_documents import blocks

import playground as pg
from playground.base.errors import InputFault
from playground.cli import main
from playground.dialects.declared import DeclaredDialect
from playground.dialects.files import dump_dialect
from playground.nouns.events import Event, Span, TextEvent
from playground.parsing.parser import DialectParser
from playground.parsing.syntax import ReasoningTags, Syntax
from playground.plugins.own_dialects.laws import LAWS, LawBreak, LawChecks, check_dialect
from playground.plugins.own_dialects.laws.choices import Choices, smallest

SQUARE = Syntax(call="[[{name}]]\n{params}[[/{name}]]", param="{key}: <{value}>\n")


def declared(syntax: Syntax, **fields: Any) -> DeclaredDialect:
    plain = DeclaredDialect(name="planted", rules="Write a call.", syntax=syntax)
    return dataclasses.replace(plain, **fields)


def broken(checks: LawChecks, law: int) -> LawBreak:
    (check,) = (check for check in checks if check.law == law)
    assert check.broken, f"law {law} holds for {check.tried} examples"
    return check.broken


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_every_registered_dialect_keeps_them(dialect: DeclaredDialect) -> None:
    assert check_dialect(dialect, 5).broken == []


@pytest.mark.long
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_every_registered_dialect_keeps_them_for_long(dialect: DeclaredDialect) -> None:
    assert check_dialect(dialect, 400).broken == []


@pytest.mark.parametrize("dialect", NEAR, ids=lambda dialect: dialect.syntax.param)
def test_forms_that_nobody_registered_keep_them(dialect: DeclaredDialect) -> None:
    """A blank after `=` was lost, and a comma in the last value ended it."""
    assert check_dialect(dialect, 60).broken == []


def test_a_declaration_that_keeps_them_says_so() -> None:
    checks = pg.check_dialect(declared(SQUARE))
    assert [(check.law, check.tried, check.holds) for check in checks] == [
        (law, 50, True) for law in (1, 2, 3, 5, 6, 7, 10)
    ]
    assert checks.broken == []
    assert checks.findings() == []


# what is planted in a declaration

PLANTED: dict[str, tuple[DeclaredDialect, int, str, dict[str, str]]] = {
    "a semicolon ends a value": (
        declared(Syntax(call="[[{name}]]{params}[[end]]", param="{key}={value};")),
        3,
        "a plain value does not come back",
        {
            "call": 'write_file {"path": ";", "content": ""}',
            "read": 'write_file {"path": "", ";content": ""}',
        },
    ),
    "a letter stands around texts": (
        declared(Syntax(call="<f={name}>{args:marked}</f>", string_mark="x")),
        3,
        "a plain value does not come back",
        {"call": 'write_file {"path": "x"}', "written": "<f=write_file>{path:xxx}</f>"},
    ),
    "calls stand where reasoning stands": (
        declared(Syntax(call="<c>{call:json}</c>"), reasoning=(ReasoningTags("<c>", "</c>"),)),
        3,
        "a plain value does not come back",
        {"call": 'write_file {"path": ""}', "read": "no call"},
    ),
    "the rules show a call of nothing": (
        declared(
            Syntax(call="<c>{call:json}</c>"),
            rules='Write <c>{"name": "f", "arguments": {}}</c>.',
        ),
        7,
        "the parser reads calls of f, write_file in the prompt, which shows those of write_file",
        {},
    ),
    "a name and a bracket open a call": (
        declared(Syntax(call="{name}({args:python})")),
        10,
        "prose around a call does not come back as it was",
        {"content": "Well "},
    ),
    "a full stop is a stop token": (
        declared(Syntax(call="<c>{call:json}</c>"), stops=(".",)),
        10,
        "prose around a call does not come back as it was",
        {"content": "1 The\n\nWell The"},
    ),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_what_is_wrong_with_a_declaration_is_found_and_made_small(planted: str) -> None:
    dialect, law, says, shown = PLANTED[planted]
    found = broken(check_dialect(dialect), law)
    assert found.says == says
    assert shown.items() <= dict(found.shown).items()


# what is planted in a parser: the engine keeps these laws for every declaration


class Spoiled(DialectParser):
    """Another parser, and what it says spoiled."""

    def __init__(self, inner: DialectParser, spoil: Callable[..., list[Event]]) -> None:
        self.inner, self.spoil = inner, spoil

    def feed(self, data: bytes) -> list[Event]:
        return self.spoil(self.inner.feed(data), data)

    def finish(self) -> list[Event]:
        return self.spoil(self.inner.finish(), b"")


def spoiled(spoil: Callable[..., list[Event]]) -> pg.Dialect:
    class Planted(pg.get_dialect("hermes").__class__):  # type: ignore[misc]
        def create_parser(self, *given: Any, **named: Any) -> DialectParser:
            return Spoiled(super().create_parser(*given, **named), spoil)

    hermes = pg.get_dialect("hermes")
    assert isinstance(hermes, DeclaredDialect)
    made: pg.Dialect = Planted(name="planted", rules=hermes.rules, syntax=hermes.syntax)
    return made


def by_pieces(events: list[Event], data: bytes) -> list[Event]:
    """What comes alone is told in capitals."""
    return [
        TextEvent(e.span, e.text.upper()) if len(data) == 1 and isinstance(e, TextEvent) else e
        for e in events
    ]


def loses(events: list[Event], data: bytes) -> list[Event]:
    """A text that holds a bracket is gone."""
    return [e for e in events if not (isinstance(e, TextEvent) and "{" in e.text)]


def twice(events: list[Event], data: bytes) -> list[Event]:
    """Spans that lie over each other."""
    ends = [e for e in events if isinstance(e, TextEvent)]
    return [*events, *(TextEvent(Span(e.span.start, e.span.stop), e.text) for e in ends)]


def fails(events: list[Event], data: bytes) -> list[Event]:
    if b"```" in data:
        raise ValueError("a fence")
    return events


@pytest.mark.parametrize(
    ("spoil", "law", "says", "stream"),
    [
        (by_pieces, 1, "another cutting gives other events", "xx"),
        (loses, 2, "the text after character 0 is in no event", "{"),
        (twice, 2, "an event's text differs from characters 0 to 1", "x"),
        (fails, 5, "reading raises ValueError: a fence", "```\n"),
    ],
)
def test_a_parser_that_breaks_a_law_is_found(
    spoil: Callable[..., list[Event]], law: int, says: str, stream: str
) -> None:
    found = broken(check_dialect(spoiled(spoil), laws=[law]), law)
    assert found.says == says
    assert dict(found.shown)["stream"] == stream


def test_a_hand_written_parser_that_delivers_what_was_cut_off_is_found() -> None:
    """The documented dialect, with an end of the stream that ends calls: law 6."""
    code = "\n".join(blocks(ROOT / "docs" / "own-dialect.md", "python")[3:5])
    aborted = 'CallAbortedEvent(here, self.index, self.name, raw, "truncated-call")'
    assert aborted in code
    ended = "CallEndedEvent(here, self.index, 'call_1', self.name, dict(raw), raw)"
    code = code.replace(aborted, ended)
    names: dict[str, Any] = {}
    exec(code, names)
    checks = check_dialect(names["UseTool"](), laws=[6])
    found = broken(checks, 6)
    assert found.says == "a call that was cut off is delivered as another call"
    assert dict(found.shown)["cut off"] == "USE_TOOL: write_f"
    assert dict(found.shown)["delivered"] == "write_f {}"
    assert checks.findings()[0].code == "law-broken"


def test_a_hand_written_dialect_that_cannot_even_write_breaks_every_law() -> None:
    class Mute(pg.get_dialect("hermes").__class__):  # type: ignore[misc]
        def format_tool_call(self, *given: Any) -> str:
            raise RuntimeError("no words")

    hermes = pg.get_dialect("hermes")
    assert isinstance(hermes, DeclaredDialect)
    checks = check_dialect(Mute(name="mute", rules="", syntax=hermes.syntax), 3)
    assert {check.broken.says for check in checks.broken if check.broken} >= {
        "the dialect raises RuntimeError: no words"
    }


# how examples are made small


def test_the_smallest_row_that_fails_is_found() -> None:
    def fails(choices: Choices) -> str | None:
        words = choices.several(lambda: choices.of(("a", "b", "c", "bad")), 9)
        return " ".join(words) if words.count("bad") >= 2 else None

    row = [1, 2, 1, 3, 1, 0, 2, 3, 1, 1, 0]
    assert fails(Choices(row)) == "c bad a bad b"
    assert fails(Choices(smallest(fails, row))) == "bad bad"


def test_the_same_dialect_gives_the_same_answer() -> None:
    dialect = PLANTED["a semicolon ends a value"][0]
    assert check_dialect(dialect).to_dict() == check_dialect(dialect).to_dict()


@pytest.mark.parametrize("examples", [0, -1, True, 10_001, "5"])
def test_a_wrong_number_of_examples_is_told(examples: Any) -> None:
    with pytest.raises(InputFault, match="a number from 1 to 10,000"):
        check_dialect("hermes", examples)


def test_a_law_that_cannot_be_tried_is_told() -> None:
    with pytest.raises(InputFault, match="expected some of 1, 2, 3, 5, 6, 7, 10"):
        check_dialect("hermes", laws=[4])
    assert list(LAWS) == [1, 2, 3, 5, 6, 7, 10]


# the command


def test_the_command_shows_the_smallest_example(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(dump_dialect(PLANTED["a semicolon ends a value"][0]))
    done = CliRunner().invoke(main, ["dialect", "check", str(file)])
    assert done.exit_code == 1
    assert (
        "law 3: Values come back, or the finding names them: a plain value does not" in done.output
    )
    assert "        [[write_file]]path=;;content=;[[end]]\n" in done.output
    told = CliRunner().invoke(main, ["dialect", "check", str(file), "-n", "5", "--json"])
    laws = {each["law"]: each for each in json.loads(told.output)}
    assert laws[3]["example"]["written"] == "[[write_file]]path=;;content=;[[end]]"
    assert laws[1] == {"law": 1, "title": LAWS[1][0], "tried": 5, "holds": True}
    assert CliRunner().invoke(main, ["dialect", "check", "react", "-n", "2"]).exit_code == 0


def test_a_dialect_is_shown_as_its_file(tmp_path: Path) -> None:
    file = tmp_path / "react.json"
    done = CliRunner().invoke(main, ["dialect", "show", "react", "-o", str(file)])
    assert done.exit_code == 0, done.output
    assert pg.load_dialect(file) == pg.get_dialect("react")
    shown = CliRunner().invoke(main, ["dialect", "show", str(file)])
    assert shown.output == file.read_text()
    again = CliRunner().invoke(main, ["dialect", "show", str(file), "-o", str(file), "--force"])
    assert again.exit_code == 2  # never over what was read
    wrong = CliRunner().invoke(main, ["dialect", "show", "react", "-o", str(tmp_path / "a.txt")])
    assert (wrong.exit_code, "expected NAME.json" in wrong.output) == (2, True)


def test_the_answer_draws_itself() -> None:
    checks = check_dialect(PLANTED["a semicolon ends a value"][0], 5)
    assert checks.frame().columns.tolist() == ["law", "title", "examples", "result"]
    assert "[[write_file]]path=;;content=;[[end]]" in checks.html()
