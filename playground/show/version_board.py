"""Two versions as a board: the break of the prefix, two strips, findings, and cache reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from playground.base.findings import Finding
from playground.base.fixes import FIXES
from playground.base.wording import dollars, grouped
from playground.questions.versions import VersionDiff
from playground.questions.versions.costs import PrefixCost
from playground.questions.versions.matching import KINDS, BlockChange
from playground.show.board import Figure, Payload, board, card

_MOST_FINDINGS: Final = 12
_MESSAGE: Final = re.compile(r"^messages?[. ](\d+)")


def head(value: VersionDiff, cost: PrefixCost | None) -> Payload:
    """Return a sentence on one provider's cache, or without `cost` on the change; and figures."""
    kinds = value.kinds
    different = (f"{number} {kind}" for kind, number in kinds.items() if number and kind != "same")
    sizes = f"{value.first.size} → {value.second.size}"
    more = "more" if value.tokens >= 0 else "fewer"
    sign = "" if value.is_exact else "~"
    same = f"{kinds['same']:,} of {len(value.changes):,}"
    figures: list[Figure] = [
        (sizes, f"tokens, {sign}{grouped(abs(value.tokens))} {more}", ""),
        (same, f"blocks are the same; {', '.join(different) or 'none differs'}", ""),
    ]
    if cost:
        read = f"{cost.read:,} of {cost.total:,}"
        figures.append((read, "tokens a cache still reads", "bad" if cost.lost else ""))
    note = "Both "
    if cost and (parts := cost.parts) and (parts.before or parts.after):
        note = "Old text {}, new {}; ".format(*parts.excerpts)
    assumed = ", marks assumed" if cost and cost.marks_assumed else ""
    return board(_sentence(value, cost), f"{note}{value.form}{assumed}", figures)


def _sentence(value: VersionDiff, cost: PrefixCost | None) -> str:
    if cost is None:
        return value.headline
    if cost.parts is None:
        if all(change.kind == "same" for change in value.changes):
            return "Nothing differs."
        return f"The new one continues the old one: {cost.read:,} tokens are read from the cache."
    breaks = f"The prefix breaks at {place(value, cost)}"
    if not cost.cached_before:
        return f"{breaks}. The old one leaves nothing in this cache, so nothing is lost."
    if not cost.lost:
        return f"{breaks}, but nothing is paid again."
    price = f", {dollars(cost.nano_dollars / 1e9)}" if cost.nano_dollars else ""
    are = f"would {cost.caution}be " if cost.marks_assumed else f"are {cost.caution}"
    return f"{breaks}: {cost.lost:,} tokens {are}paid again{price}, once."


def place(value: VersionDiff, cost: PrefixCost) -> str:
    """Return the place of the first difference in words; "" if the new one continues the old."""
    if cost.parts is None:
        return ""
    name = cost.parts.cause.removesuffix("_changed")
    if cost.parts.block is None:
        return f"the {name.replace('_', ' ')}"
    at = first_changed(value)
    block = value.changes[at].block if at < len(value.changes) else None
    words = {"tools": "tool ", "system": "the system prompt"}.get(name, "")
    where = words if name == "system" or not block else words + block.name.partition(":")[0]
    return f"character {cost.parts.character:,} of {where}" if cost.parts.character else where


def first_changed(value: VersionDiff) -> int:
    """Return the index of the first block that differs; the number of blocks if none does."""
    kinds = (number for number, change in enumerate(value.changes) if change.kind != "same")
    return next(kinds, len(value.changes))


def strips(value: VersionDiff, cost: PrefixCost | None) -> Payload:
    """Return both versions as strips, one above the other; a click on a block reports its key."""
    columns = [
        {
            "key": f"change:{number}",
            "kind": _kind(change),
            "change": change.kind,
            "name": f"{change.block.name}: {change.kind}",
            "tokens": [side.tokens if side else None for side in (change.before, change.after)],
        }
        for number, change in enumerate(value.changes)
    ]
    legend = [(kind, kind) for kind in ("tools", "system", "assistant")]
    legend += [("user", "user, results")]
    legend += [(kind, kind) for kind in KINDS[1:] if value.kinds[kind]]
    if cost:
        legend += [("read", "read from the cache"), ("uncached", "not read")]
    return board(
        cards=[
            card(
                "strips",
                "All blocks",
                "as wide as their tokens, equal ones aligned; a click goes there",
                key="strips",
                columns=columns,
                at=first_changed(value),
                into=_equal_share(value),
                place=place(value, cost) if cost else "",
                read=_read_share(value, cost) if cost else 1,
                legend=legend,
            )
        ]
    )


def _equal_share(value: VersionDiff) -> float:
    """Return how much of the first differing block precedes its difference, from 0 to 1."""
    at = first_changed(value)
    if at == len(value.changes) or value.changes[at].kind != "changed":
        return 0
    runs = value.changes[at].words
    size = sum(len(text) for _, text in runs) or 1
    return len(runs[0][1]) / size if runs and runs[0][0] == "same" else 0


def _kind(change: BlockChange) -> str:
    if change.tier != "messages":
        return change.tier
    return "assistant" if change.block.writer == "model" else "user"


def _read_share(value: VersionDiff, cost: PrefixCost) -> float:
    """Return the place on the strips, as a share of their width, up to which the cache is read."""
    if not cost.read:
        return 0.0
    after = [change.tokens[1] for change in value.changes]
    widths = [max(*change.tokens, 1) for change in value.changes]
    total, reached = sum(after) or 1, sum(after) * cost.read / (cost.total or 1)
    whole = sum(size <= reached + total / 1e6 for size in accumulate(after))  # 1e6: rounding
    rest = reached - sum(after[:whole])
    part = widths[whole] * rest / after[whole] if whole < len(after) and after[whole] else 0
    return (sum(widths[:whole]) + part) / (sum(widths) or 1)


def side(value: VersionDiff, chosen: str, findings: Sequence[Payload], new: int) -> Payload:
    """Return the findings that differ, the tokens that each provider's cache still reads, and facts
    about the provider `chosen`. `new` is the number of all findings in the new version."""
    rows = [
        {
            "key": cost.provider,
            "cells": [
                cost.title + ", assumed" * bool(cost.assumption),
                f"{cost.read:,} of {cost.total:,}",
                _price(cost),
            ],
            "tone": "bad" if cost.lost else "good" if cost.read else "",
            "on": cost.provider == chosen,
        }
        for cost in value.costs
    ]
    cost = next((each for each in value.costs if each.provider == chosen), None)
    cards = [card("findings", "Findings", _finding_note(findings, new), rows=findings)]
    title, note = "Tokens that each cache still reads", "and the tokens paid again, once"
    cards += [card("facts", title, note, key="caches", rows=rows)]
    if cost:
        left = ["left by the old", f"{cost.cached_before:,} tokens"]
        facts = [["marks", cost.marks], ["why", cost.reason], ["rules", cost.assumption]]
        details = [{"cells": fact, "tone": ""} for fact in (left, *facts) if fact[1]]
        note = "the new 20 seconds after the old"
        cards += [card("facts", cost.title, note, key="", rows=details)]
    return board(cards=cards)


def _price(cost: PrefixCost) -> str:
    if not cost.lost:
        return "–"
    return dollars(cost.nano_dollars / 1e9) if cost.nano_dollars else f"{cost.lost:,} lost"


def changed_findings(
    value: VersionDiff, before: Sequence[Finding], after: Sequence[Finding]
) -> list[Payload]:
    """Return the findings that only one version has, each with the key of its block."""
    sides = [{(each.code, each.message): each for each in side} for side in (before, after)]
    rows = [("appears", sides[1][each]) for each in sides[1] if each not in sides[0]]
    rows += [("vanishes", sides[0][each]) for each in sides[0] if each not in sides[1]]
    return [_finding(value, change, each) for change, each in rows[:_MOST_FINDINGS]]


def _finding(value: VersionDiff, change: str, finding: Finding) -> Payload:
    remedy = f" Remedy: {FIXES[finding.code]}." if finding.code in FIXES else ""
    text = f"{finding.message}.{remedy}"
    message = _MESSAGE.search(finding.where)
    names = (f"message {message[1]} ",) if message else (finding.where,)
    blocks = enumerate(each.block.name for each in value.changes)
    at = next((number for number, name in blocks if name.startswith(names)), None)
    return {
        "key": "" if at is None else f"change:{at}",
        "tag": change,
        "tone": "good" if change == "vanishes" else "bad",
        "name": finding.code,
        "text": f"{finding.where}: {text}" if finding.where else text,
        "actions": [] if at is None else [("Show it", "show")],
        "given": text,
    }


def _finding_note(findings: Sequence[Payload], new: int) -> str:
    counts = Counter(str(each["tag"]) for each in findings)
    unchanged = f"the same {new} in both" if new else "no findings in either"
    return ", ".join(f"{number} {tag}" for tag, number in counts.items()) or unchanged
