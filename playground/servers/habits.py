"""What parsers of several servers do alike: named choices of a view.

A declaration is `parser` with its file, the habits that its code shows, and the choices that are
its own alone. Two parsers share a habit because the code of both was read, not for their kinship.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from playground.servers.view import Parser, Suite, View

Habit = Mapping[str, Any]

# the text around calls
BEFORE_CALLS: Final[Habit] = {"between": "dropped", "after": "dropped"}
"""Content is what stands before the first call."""
CALLS_ALONE: Final[Habit] = {"before": "dropped", **BEFORE_CALLS}
"""Beside a call there is no content."""
NO_WAY_BACK: Final[Habit] = {**BEFORE_CALLS, "until": "opener"}
"""Content ends at the first opener, whether a call follows it or not."""

# calls that fail
ALL_TEXT: Final[Habit] = {"cut": "reply", "broken": "reply"}
"""One call that fails makes the whole reply content."""
ALL_TEXT_ALONE: Final[Habit] = {"cut": "reply if alone", "broken": "reply if alone"}
"""The same, where no other call was read."""
TEXT_AND_CALLS: Final[Habit] = dict.fromkeys(("cut", "broken", "unread"), "reply and calls")
"""One call that fails makes the whole reply content; those that were read are delivered too."""
STRICT_JSON: Final[Habit] = {"unmended": ("relaxed-json", "unexpected-text")}
"""JSON is read as it stands, and not mended."""
CLOSED_ONLY: Final[Habit] = {"unmended": ("missing-closer",)}
"""A call without its closer is one that was cut off."""
AS_WRITTEN: Final[Habit] = {"unmended": STRICT_JSON["unmended"] + CLOSED_ONLY["unmended"]}
"""Both: no JSON is mended, and no closer."""
EXACT_OPENERS: Final[Habit] = {"unmended": ("mended-opener",)}
"""Openers are read as the template writes them: no other quotes, no blanks."""
LEFT_OUT: Final[Habit] = {"cut": "dropped", "broken": "dropped"}
"""A call that fails leaves nothing."""
CUT_DELIVERED: Final[Habit] = {"cut": "call"}
"""A call that the end cuts off is delivered as far as it was read."""

# forms of a call that several dialects write alike
JSON_IN_TAGS: Final = ("hermes", "exaone-4", "ernie45")
"""A JSON object between `<tool_call>` tags."""
FUNCTION_IN_TAGS: Final = ("qwen3-coder", "mimo", "k-exaone-2")
"""`<function=` and its parameters between `<tool_call>` tags."""

# what runs, and which tools count
OFFERED_ONLY: Final[Habit] = {"unknown": "dropped"}
"""A call of a tool that was not offered is dropped."""
FIRST_SECTION: Final[Habit] = {"sections": "first"}
"""The first section of calls alone is looked for."""
IN_SECTION: Final[Habit] = {"sectionless": "text"}
"""Without the opener of a section no call is looked for."""
ELSE_TEXT: Final[Habit] = {"references": "unread", "exact": True}
"""A value stays text where its JSON needs mending, or a reference in the schema has its type."""
THINKING_TAKEN: Final[Habit] = {"reasoning": "dropped with calls"}
"""Thinking is taken away before calls are looked for, and not given back."""
UNTOUCHED: Final[Habit] = {"orphans": "kept without calls"}
"""A reply without a call is content as it came, stray markers too."""


MLX_SUITE: Final = Suite(
    "python",
    """\
# tests/
import json

from vllm_mlx.tool_parsers import ToolParserManager


def test_nothing_of_a_reply_is_lost():
    parser = ToolParserManager.get_tool_parser("{{parser}}")()
    extracted = parser.extract_tool_calls({{text}}, {"tools": {{tools}}})
    called = extracted.tool_calls
    calls = [{"name": each["name"], "arguments": json.loads(each["arguments"])} for each in called]
    assert calls == {{calls}}
    assert (extracted.content or "").strip() == {{content}}
""",
)
"""Rapid-MLX came of vllm-mlx, and its module kept that name."""


def parser(
    files: str,
    name: str,
    file: str,
    *habits: Habit,
    reads: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    shares: tuple[str, ...] = (),
    tested: bool = True,
    **own: Any,
) -> Parser:
    """A parser whose view was read in `file`, below `files` of the server's source. What is its own
    counts more than a habit, and what is unmended adds up."""
    choices: dict[str, Any] = {key: value for habit in habits for key, value in habit.items()}
    unmended = [code for habit in habits for code in habit.get("unmended", ())]
    choices |= {"unmended": tuple(dict.fromkeys(unmended))} if unmended else {}
    view = View(source=f"{files}{file}", **(choices | own))
    return Parser(name, view, reads, aliases, shares, tested)
