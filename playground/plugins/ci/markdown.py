"""A Markdown table of checks, for a pull request's comment or a job's summary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from playground.base.fixes import with_fix
from playground.base.wording import counted, dollars, grouped

# GitHub takes at most 65,536 characters in a comment.
_MOST_ROWS: Final = 100
_MOST_CHARACTERS: Final = 50_000
_MOST_LINES: Final = 40  # the most lines about a file
_LINE: Final = 400  # the most characters of a line
_HEAD: Final = (
    "| session | model | input tokens before | after | change | still read from the cache "
    "| no longer cached |\n|---|---|--:|--:|--:|--:|--:|"
)


def markdown(outcomes: Sequence[Mapping[str, Any]]) -> str:
    """Write the outcomes of checks: a table of the compared requests, then failures and findings.

    Texts of the sessions are written as code, so that nothing in them becomes markup, a link or a
    mention. What does not fit into a comment is left out, and its number is given.
    """
    failed = sum(bool(outcome["failures"]) for outcome in outcomes)
    verdict = f"{failed} of {counted(len(outcomes), 'session file')} failed" if failed else "passed"
    parts = [f"### Dialect Playground: {verdict}"]
    if rows := [row for outcome in outcomes for row in _rows(outcome)]:
        parts.append("\n".join([_HEAD, *rows[:_MOST_ROWS]]))
        if len(rows) > _MOST_ROWS:
            parts.append(f"{counted(len(rows) - _MOST_ROWS, 'more row')} not shown.")
        parts.append(
            "`~`: estimated. The cache is that of the model's own provider, simulated as if the "
            "old version of the request was sent 20 seconds before the new one."
        )
    blocks = [block for outcome in outcomes if (block := _block(outcome))]
    size = 0
    for number, block in enumerate(blocks):
        size += len(block)
        if size > _MOST_CHARACTERS:
            parts.append(f"{counted(len(blocks) - number, 'more file')} with findings not shown.")
            break
        parts.append(block)
    return "\n\n".join(parts) + "\n"


def _rows(outcome: Mapping[str, Any]) -> Iterator[str]:
    name = _code(str(outcome["session"]))
    if outcome.get("is_new"):
        yield f"| {name} | new file | | | | | |"
    elif outcome.get("is_unreadable"):
        yield f"| {name} | not compared | | | | | |"
    elif "cost_share" in outcome:
        cost = f"{grouped(outcome['cost_share'], 2)} of its full price"
        yield f"| {name} | | | | input costs {cost} | | |"
    else:
        for difference in outcome["differences"]:
            first, second = difference["versions"]
            exact = all(side["count"]["kind"] == "exact" for side in (first, second))
            mark = "" if exact else "~"
            sizes = [f"{mark}{grouped(side['count']['tokens'])}" for side in (first, second)]
            yield (
                f"| {name} | {_code(second['model'])} | {sizes[0]} | {sizes[1]} "
                f"| {difference['tokens']:+,} | {_cache_cells(difference['costs'], mark)} |"
            )


def _cache_cells(costs: Sequence[Mapping[str, Any]], mark: str) -> str:
    """Return the cells of the first provider, which is the model's own if that is known."""
    if not costs:
        return "no provider known |"
    cost = costs[0]
    price = f", about {dollars(cost['nano_dollars'] / 1e9)}" if cost["nano_dollars"] else ""
    marks = ", if marked" if cost["marks_assumed"] else ""
    sure = "" if cost["state"] == "exact" else f" ({cost['state']})"
    read = f"{mark}{grouped(cost['read'])} of {mark}{grouped(cost['cached_before'])}"
    return f"{cost['title']}: {read}{marks}{sure} | {mark}{grouped(cost['lost'])}{price}"


def _block(outcome: Mapping[str, Any]) -> str:
    """Return the failures and findings of one file in a code block; "" if there are none."""
    lines = [
        *outcome["failures"],
        *(
            f"{finding.severity} {finding.code} ({finding.where}): {with_fix(finding)}"
            for finding in outcome["findings"]
        ),
    ]
    if not lines:
        return ""
    shown = [line if len(line) <= _LINE else f"{line[:_LINE]} …" for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        shown.append(f"… and {counted(len(lines) - _MOST_LINES, 'more line')}")
    text = "\n".join(shown)
    fence = "`" * (1 + max([2, *map(len, re.findall("`+", text))]))
    return f"{_code(str(outcome['session']))}\n\n{fence}text\n{text}\n{fence}"


def _code(text: str) -> str:
    """Write a text as code in a cell of a table."""
    plain = " ".join(text.replace("`", "'").split()).replace("|", "\\|")
    return f"`{plain}`" if plain else ""
