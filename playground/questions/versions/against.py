"""Check a request against a baseline: fail if its prefix differs or if it grew too much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.base.fixes import with_fix
from playground.base.wording import grouped
from playground.nouns.wire_blocks import read_wire
from playground.questions.versions.difference import VersionDiff
from playground.questions.versions.matching import BlockChange
from playground.tokens.estimate import any_text_counter

_EXCERPT: Final = 40  # characters of a value that are quoted


def against_failures(
    difference: VersionDiff, most_tokens_more: int | None = None, prefix_may_change: bool = False
) -> list[str]:
    """Return a line for each difference of the prefix, and one if the second has too many more
    tokens.

    The first version is the baseline. The prefix is the model, its parameters, the tools and the
    system prompt. Raises InputFault if nothing is limited: such a check would always pass.
    """
    if prefix_may_change and most_tokens_more is None:
        raise InputFault(
            "the prefix may change, and tokens have no limit", expected="--most-tokens-more as well"
        )
    failed = [] if prefix_may_change else list(_prefix_failures(difference))
    is_decided = undecided_limit(difference, most_tokens_more) is None
    if most_tokens_more is not None and difference.tokens > most_tokens_more and is_decided:
        sign = "" if difference.is_exact else "~"
        failed.append(
            f"input is {sign}{grouped(difference.tokens)} tokens more than the baseline's "
            f"({difference.first.size}, then {difference.second.size}); "
            f"at most {grouped(most_tokens_more)} are allowed"
        )
    return failed


def undecided_limit(difference: VersionDiff, most_tokens_more: int | None) -> Finding | None:
    """Return a finding if no tokenizer is installed and the limit lies within the range of the
    growth. Then the count does not decide, and the check does not fail because of it."""
    first, second, growth = difference.first.count, difference.second.count, difference.tokens
    if most_tokens_more is None or growth <= 0 or second.kind != "estimate":
        return None
    if any_text_counter()[1]:
        return None
    # The tokens of anything but texts are the same in both requests, so they cancel out.
    (old_low, old_high), (new_low, new_high) = first.range, second.range
    least = min(growth, new_low - old_low)
    most = None
    if new_high is not None and old_high is not None:
        most = max(growth, new_high - old_high)
    if least > most_tokens_more or (most is not None and most <= most_tokens_more):
        return None
    words = f"{grouped(least)} to {'any number of' if most is None else grouped(most)} tokens more"
    message = f"{words}, and at most {grouped(most_tokens_more)} are allowed: not decided"
    return finding("undecided-limit", "--most-tokens-more", message)


def undecided_words(difference: VersionDiff, most_tokens_more: int | None) -> str:
    """Return the message and remedy of `undecided_limit`; empty if the count decides."""
    undecided = undecided_limit(difference, most_tokens_more)
    return with_fix(undecided) if undecided else ""


def _prefix_failures(difference: VersionDiff) -> Iterator[str]:
    yield from _parameter_failures(difference)
    prefix = [change for change in difference.changes if change.tier != "messages"]
    if moved := [change.block.name for change in prefix if change.kind == "moved"]:
        yield f"in another order: {', '.join(moved)}"
    for change in prefix:
        if change.kind not in ("same", "moved"):
            yield _change_text(change)


def _parameter_failures(difference: VersionDiff) -> Iterator[str]:
    first, second = difference.first, difference.second
    if first.model != second.model:
        yield f"model: {first.model!r}, then {second.model!r}"
    old, new = (read_wire(side.body).parameters for side in (first, second))
    for name in sorted({*old, *new}):
        if name != "images" and old.get(name) != new.get(name):
            yield f"{name}: {_short(old.get(name))}, then {_short(new.get(name))}"


def _change_text(change: BlockChange) -> str:
    before, after = change.tokens
    name = f"tool {change.block.name}" if change.tier == "tools" else change.block.name
    if change.kind == "added":
        return f"{name}: added, {grouped(after)} tokens"
    if change.kind == "removed":
        return f"{name}: removed, {grouped(before)} tokens"
    detail = change.note or _first_words(change)
    return f"{name}: changed, {after - before:+,} tokens: {detail}"


def _first_words(change: BlockChange) -> str:
    runs = change.words
    first = next(i for i, (kind, _) in enumerate(runs) if kind != "same")
    pair = {kind: text for kind, text in reversed(runs[first : first + 2]) if kind != "same"}
    if len(pair) == 2:
        return f"{_short(pair['removed'])}, then {_short(pair['added'])}"
    return " ".join(f"{_short(text)} {kind}" for kind, text in pair.items())


def _short(value: Any) -> str:
    """Quote the beginning of a value; an ellipsis after the quotes says that it was cut."""
    quoted = repr(value)
    if len(quoted) <= _EXCERPT:
        return quoted
    text = value if isinstance(value, str) else quoted
    return f"{text[:_EXCERPT]!r}{'…' * (len(text) > _EXCERPT)}"
