"""Drawn faults in the replies of every dialect, and what is read of each: whole answers."""

from __future__ import annotations

import random
from typing import Final

import pytest
from golden_answers import Golden
from strategies import DIALECTS, TOOLS

import playground as pg
from playground.dialects import DeclaredDialect
from playground.nouns.messages import ToolCallPart

CALLS: Final = [
    ToolCallPart("call_1", "list_files", {}),
    ToolCallPart("call_2", "write_file", {"path": "a b.py", "mode": 420, "content": 'x = "<b>"\n'}),
]
PIECES: Final = (
    *("\n", " ", '"', "'", "{", "}", "]", ",", "\\", "&lt;", "<", ">", "</think>", "```", "1", "é"),
    *("<think>", "null", ", mode=7", '"path": "again", ', "list_files", "\n\nThen more. "),
)


def spoil(text: str, dice: random.Random) -> str:
    """Change the text in one place: cut it, or take out, double, turn or insert a piece."""
    at = dice.randrange(len(text) or 1)
    stop = min(len(text), at + dice.choice((1, 1, 3, 12, 40)))
    match dice.choice(("cut", "drop", "drop", "double", "turn", "insert", "insert", "case")):
        case "cut":
            return text[:at]
        case "drop":
            return text[:at] + text[stop:]
        case "double":
            return text[:stop] + text[at:]
        case "turn":
            return text[:at] + text[at:stop][::-1] + text[stop:]
        case "case":
            return text[:at] + text[at:stop].swapcase() + text[stop:]
    return text[:at] + dice.choice(PIECES) + text[at:]


def replies_of(dialect: DeclaredDialect, number: int) -> str:
    dice = random.Random(f"{dialect.name} {number}")
    written = dialect.format_reply(CALLS[: dice.choice((1, 2, 2))])
    reply = dice.choice(("", "I look.\n", "<think>Why?</think>\n")) + written
    reply += dice.choice(("", "\n", "\nThat is all."))
    for _ in range(dice.choice((1, 1, 2))):
        reply = spoil(reply, dice)
    return reply


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_drawn_fault_of_a_reply_is_read_as_it_was(
    dialect: DeclaredDialect, golden: Golden
) -> None:
    answers = {}
    for number in range(7):
        reply = replies_of(dialect, number)
        read = pg.parse(reply, dialect=dialect, tools=TOOLS)
        answers[f"{number} {reply!a}"] = [
            f"{read.content!a} {read.reasoning!a}",
            *(f"{call.name} {call.arguments!a}" for call in read.tool_calls),
            *(f"aborted: {call.reason} {call.name}" for call in read.aborted),
            *(f"{each.code} {each.where}: {each.message!a:.90}" for each in read.findings),
        ]
    golden(answers)
