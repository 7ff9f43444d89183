"""propose_dialect: the form of three replies, right or refused; what it leaves is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from serving import widened
from strategies import DIALECTS

import playground as pg
from playground.base.errors import InputFault
from playground.cli import main
from playground.dialects.declared import DeclaredDialect
from playground.nouns.messages import ToolCallPart
from playground.plugins.own_dialects.derivation import Proposal, nearest_registered

Calls = list[tuple[str, dict[str, str]]]
CALLS: list[Calls] = [
    [("get_tides", {"harbour": "Brest", "day": "monday"})],
    [("list_ships", {"port": "Nantes"}), ("get_tides", {"harbour": "Oslo", "day": "today"})],
    [("moor_ship", {"name": "Albatros", "quay": "North quay 3"})],
]
UNSEEN: Calls = [
    ("send_note", {"to": "Ann", "text": "one two"}),
    ("sail", {"heading": "north west"}),
]
PROSE = ("Let me look that up.\n\n", "I need two things first.\n\n", "Right away.\n\n")
# Forms that are not seen as what they are: elements within elements, marks around texts, types
# beside keys, a table of headings. Each is refused.
REFUSED = {
    *("dspy-chat", "anthropic-legacy", "deepseek-dsml", "deepseek-v4.1", "minimax-m3"),
    *("gigachat3.5", "solar-open2"),
    *("kimi-k3", "gemma4", "functiongemma", "continue"),
}
DECLARED = [d for d in DIALECTS if type(d) is DeclaredDialect and not d.syntax.text_keys]

SPREAD = [*DECLARED[::6], *(d for i, d in enumerate(DECLARED) if i % 6)]  # the first 11 always


def written(dialect: DeclaredDialect, calls: Calls) -> str:
    parts = [ToolCallPart(f"call_{i}", name, args) for i, (name, args) in enumerate(calls, 1)]
    return dialect.format_reply(parts)


def read(proposal: Proposal, text: str) -> Calls:
    return [(call.name, call.arguments) for call in pg.parse(text, proposal.dialect).tool_calls]


def replies_of(dialect: DeclaredDialect) -> list[str]:
    end = dialect.stops[0] if dialect.stops else ""
    pairs = zip(PROSE, CALLS, strict=True)
    return [prose + written(dialect, calls) + end for prose, calls in pairs]


@pytest.mark.parametrize("dialect", widened(SPREAD, 11), ids=lambda dialect: dialect.name)
def test_a_form_that_nobody_registered_is_seen_or_refused(dialect: DeclaredDialect) -> None:
    """As if it were not registered: what is proposed reads calls that it has never seen."""
    replies = replies_of(dialect)
    if dialect.name in REFUSED:
        with pytest.raises(InputFault, match="no form was found that reads the calls"):
            pg.propose_dialect(replies, registered=False)
        return
    proposal = pg.propose_dialect(replies, registered=False)
    assert [list(reading.calls) for reading in proposal.readings] == CALLS
    for call in UNSEEN:
        assert read(proposal, written(dialect, [call])) == [call]
    # every character that is no call's is shown
    shown = ["".join(text for _, text in reading.texts) for reading in proposal.readings]
    assert [prose.strip() in text for prose, text in zip(PROSE, shown, strict=True)] == [True] * 3


def test_a_registered_form_is_proposed_as_it_is() -> None:
    hermes = pg.get_dialect("hermes")
    assert isinstance(hermes, DeclaredDialect)
    proposal = pg.propose_dialect(replies_of(hermes))
    assert proposal.dialect == hermes
    assert proposal.registered[0] == "hermes"
    assert proposal.findings() == []


ODD = [
    "I look.\n~> get_tides [port]Brest[/port][day]monday\n2[/day] <~",
    "~> sail [to]Oslo[/to] <~ ~> moor [quay]3[/quay] <~",
    "~> get_tides [port]Oslo[/port] <~\nMore {{text}} and <|odd|> here.",
]


def test_a_form_that_exists_nowhere_is_read_off_three_replies() -> None:
    proposal = pg.propose_dialect(ODD, "tilde")
    syntax = proposal.dialect.syntax
    assert (proposal.dialect.name, syntax.call, syntax.param, syntax.separator) == (
        "tilde",
        "~> {name} {params} <~",
        "[{key}]{value}[/{key}]",
        " ",
    )
    assert read(proposal, "~> f [a]1[/a] <~") == [("f", {"a": "1"})]
    assert proposal.registered == ()
    assert [reading.texts for reading in proposal.readings] == [
        ((0, "I look.\n"),),
        (),
        ((33, "\nMore {{text}} and <|odd|> here."),),
    ]
    (left,) = proposal.findings()
    assert (left.code, left.where) == ("proposal-left", "reply 3, character 33")
    assert "<|odd|>" in left.message
    assert pg.check_dialect(proposal.dialect, 20).broken == []


def test_what_the_replies_do_not_tell_is_told() -> None:
    proposal = pg.propose_dialect(['<do>{"tool": "f", "with": {"a": "1"}}</do>'])
    assert [f.message for f in proposal.findings() if f.code == "proposal-open"] == [
        "with only one call, markers and values cannot be told apart",
        "no reply holds two calls, so the text around all calls is part of each",
        "no value holds a line break, so it is unknown how one is written",
    ]
    dotted = pg.propose_dialect(['<a>{"name": "x.f", "arguments": {}}</a>'] * 2)
    assert "whether all of 'x.f' is a tool's name" in [f.message for f in dotted.findings()]


def test_thoughts_and_stop_tokens_are_taken() -> None:
    proposal = pg.propose_dialect(
        [
            '<think>hm</think><!{"fn": "f", "kw": {"a": "1"}}!><|im_end|>',
            '<!{"fn": "g", "kw": {}}!>\n<!{"fn": "f", "kw": {"a": "2"}}!><|im_end|>',
        ]
    )
    dialect = proposal.dialect
    assert dialect.syntax.call == "<!{call:json}!>"
    assert (dialect.stops, dialect.reasoning[0].open) == (("<|im_end|>",), "<think>")


@pytest.mark.parametrize(
    ("replies", "told"),
    [
        ([], "there is no reply"),
        (["", "  "], "there is no reply"),
        ("text", "expected a list"),
        (["a", 1], "reply 2: int was given; expected a text"),
        (["x" * 200_001], "the replies are too long; expected 200,000 characters at most"),
        (["Nothing is called.", "Nor here."], "no form was found that reads the calls"),
        # the same tool again and again: nothing says which word is its name
        (['go f {"a": 1} end', 'go f {"a": 2} end'], "no form was found that reads the calls"),
    ],
    ids=range(7),
)
def test_what_cannot_be_proposed_is_told(replies: list[str], told: str) -> None:
    with pytest.raises(InputFault) as caught:
        pg.propose_dialect(replies, registered=False)
    assert told in str(caught.value)


def test_the_nearest_registered_dialects_are_found() -> None:
    proposal = pg.propose_dialect(replies_of(DECLARED[0]), "like-xml", registered=False)
    near = nearest_registered(proposal.dialect)
    assert (near[0].dialect, near[0].reads, near[0].writes) == (DECLARED[0].name, 3, 3)


def test_the_command_proposes_and_writes_a_file(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.txt" for number in range(3)]
    for file, reply in zip(files, ODD, strict=True):
        file.write_text(reply)
    out = tmp_path / "tilde.json"
    command = ["dialect", "propose", *map(str, files), "--name", "tilde", "-o", str(out)]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0
    assert "call: '~> {name} {params} <~'" in done.output
    assert 'get_tides {"port": "Brest", "day": "monday\\n2"}' in done.output
    assert "character 33, left as text: 'More {{text}} and <|odd|> here.'" in done.output
    assert pg.load_dialect(out) == pg.propose_dialect(ODD, "tilde").dialect
    told = CliRunner().invoke(main, ["dialect", "propose", *map(str, files), "--json"])
    found = json.loads(told.stdout)
    assert found["readings"][1]["calls"] == [["sail", {"to": "Oslo"}], ["moor", {"quay": "3"}]]
