"""What importers make without a look at each field is what anybody else makes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from typing import Any

import pytest

from playground.nouns.messages import Message, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from playground.sessions import unvalidated

PAIRS = [
    (unvalidated.text("a"), TextPart("a")),
    (unvalidated.reasoning("a", None), ReasoningPart("a")),
    (unvalidated.reasoning("a", "s"), ReasoningPart("a", "s")),
    (unvalidated.call("i", "n", {"a": 1}), ToolCallPart("i", "n", {"a": 1})),
    (
        unvalidated.result("i", "n", [1], is_error=True),
        ToolResultPart("i", "n", [1], is_error=True),
    ),
    (unvalidated.message("user", (TextPart("a"),)), Message("user", (TextPart("a"),))),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_what_is_made_is_what_pydantic_makes(ours: Any, theirs: Any) -> None:
    assert ours == theirs
    assert type(ours) is type(theirs)
    assert vars(ours) == vars(theirs)
    assert list(vars(ours)) == [each.name for each in fields(theirs)]


def test_what_is_made_shares_the_names_of_its_fields_whoever_made_the_first() -> None:
    program = (
        "import sys\n"
        "from playground.nouns.messages import Message\n"
        "from playground.sessions import unvalidated\n"
        "for _ in range(1_000): theirs = Message('user')\n"
        "ours = unvalidated.message('user', ())\n"
        "print(sys.getsizeof(vars(ours)) < sys.getsizeof(vars(theirs)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "True\n"
