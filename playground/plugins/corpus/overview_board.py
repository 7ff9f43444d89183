"""The overview of a corpus as a board: pictures of sizes, failures, costs and breaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.base.wording import counted, dollars, grouped
from playground.plugins.corpus.answers import CorpusAnswer
from playground.show.board import Figure, Payload, board, card

_FEW: Final = 20  # a share of fewer calls than this says nothing
_MOST_BARS: Final = 8
_MOST_WEEKS: Final = 10
_CUT_OFF: Final = "truncated-call"  # the finding of a call that the end of the reply cuts off
_ORIGINS: Final = {  # column of the question `tokens` -> title of its bar
    "results": "tool results",
    "not_in_transcript": "not in the transcript",
    "assistants": "assistant",
    "users": "users",
    "tools": "tools",
    "system_prompt": "system prompt",
    "output": "output",
}
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Overview:
    """The answers for an overview. `sessions` is the number of sessions; `ignored` has, by the name
    of an answer's field, the filters that the answer could not use."""

    sessions: int
    calls: CorpusAnswer  # malformed calls, by dialect and model
    total: CorpusAnswer  # requests, tokens and cost
    weeks: CorpusAnswer  # requests, tokens and cost, by week
    lost: CorpusAnswer  # breaks by week
    findings: CorpusAnswer  # findings by code
    breaks: CorpusAnswer  # breaks by cause
    ignored: Mapping[str, Sequence[str]]


def overview_board(overview: Overview, chosen: str) -> Payload:
    """Return the board of an overview, on which the bar of the key `chosen` is pressed."""
    cards = [_malformed(overview, chosen), _weeks(overview), _tokens(overview)]
    cards += [
        _bars_by(overview, "findings", "code", chosen),
        _bars_by(overview, "breaks", "cause", chosen),
    ]
    return board(
        _sentence(overview), _note(overview), _figures(overview), cards=[c for c in cards if c]
    )


def _sentence(overview: Overview) -> str:
    rows: dict[str, list[int]] = {}
    for row in overview.calls.records():
        sums = rows.setdefault(row["dialect"] or "no dialect", [0, 0])
        sums[0] += row["malformed"]
        sums[1] += row["calls"]
    shares = sorted((-bad / calls, name) for name, (bad, calls) in rows.items() if calls >= _FEW)
    if not shares:
        return f"{grouped(overview.sessions)} sessions, {grouped(_requests(overview))} requests."
    worst, best = shares[0][1], shares[-1][1]
    bad, calls = rows[worst]
    if not bad:  # dialects with few calls, which are not compared, may have malformed ones
        bad, calls = map(sum, zip(*rows.values(), strict=True))
        return f"{grouped(bad) if bad else 'None'} of {grouped(calls)} calls {_are(bad)} malformed."
    text = f"{worst}: {grouped(bad)} of {grouped(calls)} calls {_are(bad)} malformed."
    bad, calls = rows[best]
    return (
        text
        if best == worst
        else f"{text} {best}: {grouped(bad) if bad else 'none'} of {grouped(calls)}."
    )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _note(overview: Overview) -> str:
    rows = overview.breaks.records()
    count, lost = sum(row["breaks"] for row in rows), _sum(rows, "lost_dollars")
    if not count:
        return "No cache breaks."
    tokens = grouped(_sum(rows, "lost_tokens"))
    costliest = rows[0]["cause"].replace("_", " ")
    price = f", {dollars(lost)}" if lost else ""
    return f"Cache breaks cost {tokens} tokens{price}; the costliest cause: {costliest}."


def _figures(overview: Overview) -> list[Figure]:
    total = next(iter(overview.total.records()), {})
    calls = overview.calls.records()
    bad, mended, failed, answered = (
        sum(row[name] for row in calls) for name in ("malformed", "mended", "failed", "answered")
    )
    findings = sum(row["findings"] for row in overview.findings.records())
    breaks = sum(row["breaks"] for row in overview.breaks.records())
    figures: list[Figure] = [
        (grouped(overview.sessions), "sessions", ""),
        (grouped(_requests(overview)), "requests", ""),
    ]
    if total.get("billed"):
        label = f"{grouped(total['billed'])} billed requests, with output"
        cost = dollars(total["dollars"]) if total["dollars"] is not None else "no price"
        figures.append((cost, label, ""))
    figures += [
        (grouped(bad), "malformed calls", "bad" if bad else ""),
        *(
            [(f"{grouped(failed)} of {grouped(answered)}", "failed tool results", "bad")]
            if failed
            else []
        ),
        *([(grouped(mended), "mended calls", "")] if mended else []),
        (grouped(findings), "findings", ""),
        (grouped(breaks), "cache breaks", "bad" if breaks else ""),
    ]
    return figures


def _requests(overview: Overview) -> int:
    return sum(row["requests"] for row in overview.total.records())


def _sum(rows: Sequence[Row], name: str) -> Any:
    return sum(row[name] or 0 for row in rows)


def _full_note(overview: Overview, name: str, note: str) -> str:
    ignored = overview.ignored.get(name)
    return f"{note}, not filtered by {', '.join(ignored)}" if ignored else note


def _malformed(overview: Overview, chosen: str) -> Payload | None:
    rows = overview.calls.records()[:_MOST_BARS]
    if not rows:
        return None
    most = max((row["malformed_percent"] for row in rows if row["calls"] >= _FEW), default=0) or 1
    bars = []
    for number, row in enumerate(rows):
        few = row["calls"] < _FEW
        share = "" if few else f"{row['malformed_percent']:.1f} % · "
        mended = f", {grouped(row['mended'])} mended" if row["mended"] else ""
        bars.append(
            {
                "key": f"calls:{number}",
                "name": row["dialect"] or "no dialect",
                "of": row["model"] or "no model",
                "share": 0 if few else row["malformed_percent"] / most,
                "figure": f"{share}{grouped(row['malformed'])} of {grouped(row['calls'])}{mended}",
                "tone": "few" if few else "bad",
                "on": chosen == f"calls:{number}",
            }
        )
    note = _full_note(overview, "calls", "by dialect and model")
    return card("bars", "Malformed calls", note, key="calls", grow=1.3, rows=bars)


def _weeks(overview: Overview) -> Payload | None:
    dated = sorted(
        (row for row in overview.weeks.records() if row["week"]), key=lambda row: row["week"]
    )
    if not dated:
        return None
    breaks = {row["week"]: row for row in overview.lost.records()}
    has_cost = any(row["dollars"] for row in dated)
    columns = []
    for row in dated[-_MOST_WEEKS:]:
        size = (row["dollars"] if has_cost else row["requests"]) or 0
        lost = breaks.get(row["week"], {})
        columns.append(
            {
                "label": f"{row['week']:%b} {row['week'].day}",
                "size": size,
                "part": min(lost.get("billed_dollars") or 0, size) if has_cost else 0,
                "figure": (_cost(size) if has_cost else grouped(size)) if size else "–",
                "flag": f"{lost['breaks']}×" if lost else "",
            }
        )
    undated = sum(row["requests"] for row in overview.weeks.records() if not row["week"])
    legend = [["system", "cost"], ["uncached", "lost to breaks"]] if has_cost else []
    legend += [["", f"{grouped(undated)} requests without a date"]] if undated else []
    title = "Cost by week" if has_cost else "Requests by week"
    note = _full_note(
        overview, "weeks", "dollars as billed; breaks above" if has_cost else "breaks above"
    )
    return card("columns", title, note, key="weeks", grow=1.2, columns=columns, legend=legend)


def _cost(size: float) -> str:
    return f"${size:,.2f}" if size >= 0.005 else "<$0.01"  # more text does not fit above a column


def _tokens(overview: Overview) -> Payload:
    total = next(iter(overview.total.records()), {})
    sizes = {words: total.get(name) or 0 for name, words in _ORIGINS.items()}
    most = max(sizes.values(), default=0) or 1
    bars = [
        {"name": words, "of": "", "share": size / most, "figure": grouped(size), "tone": ""}
        for words, size in sorted(sizes.items(), key=lambda each: -each[1])
        if size
    ]
    return card("bars", "Tokens", _full_note(overview, "total", "by what they are"), rows=bars)


def _bars_by(overview: Overview, name: str, column: str, chosen: str) -> Payload | None:
    rows = [row for row in getattr(overview, name).records() if row[column]][:_MOST_BARS]
    if not rows:
        return None
    size = "lost_tokens" if name == "breaks" else name
    most = max(row[size] or 0 for row in rows) or 1
    bars = [
        {
            "key": f"{name}:{row[column]}",
            "name": row[column].replace("_", " ") if column == "cause" else row[column],
            "of": f"in {counted(row['sessions'], 'session')}",
            "share": (row[size] or 0) / most,
            "figure": _figure(name, row),
            "tone": "bad" if name == "breaks" else "",
            "on": chosen == f"{name}:{row[column]}",
        }
        for row in rows
    ]
    titles = {"findings": ("Findings", "by code"), "breaks": ("Cache breaks", "by cause")}
    return card(
        "bars", titles[name][0], _full_note(overview, name, titles[name][1]), key=name, rows=bars
    )


def _figure(name: str, row: Row) -> str:
    if name == "findings":
        return grouped(row[name])
    price = (
        dollars(row["lost_dollars"]) if row["lost_dollars"] else f"{grouped(row['lost_tokens'])} t"
    )
    return f"{price} · {grouped(row[name])}×"


def calls_board(title: str, note: str, shapes: CorpusAnswer) -> Payload:
    """Return a board of malformed calls as they were written: up to three of each form."""
    rows = []
    for row in shapes.records():
        for text, session in zip(row["examples"], row["seen_in"], strict=True):
            mark = "ends here" if row["finding"] == _CUT_OFF else ""
            shown = text.replace("\n", "↵")
            rows.append(
                {
                    "key": session,
                    "name": session,
                    "cells": [
                        [row["finding"], "long"],
                        [f"{shown} {mark}".strip(), "code faulty", mark],
                    ],
                    "actions": [["Replay", "replay"], ["Compare", "compare"]],
                }
            )
    heads = [["session", "13%"], ["finding", "15%"], ["the call", "58%"], ["", "14%"]]
    return _rows_board(title, note, heads, rows)


def sessions_board(title: str, note: str, sessions: CorpusAnswer, page: str) -> Payload:
    """Return a board of a bar's sessions, each with buttons for a page and for Compare."""
    rows = [
        {
            "key": row["id"],
            "name": row["title"] or row["id"],
            "cells": [
                [" ".join(filter(None, (row["agent"], row["version"]))), "long"],
                [row["model"], "long"],
                [f"{row['sent_at']:%Y-%m-%d %H:%M}" if row["sent_at"] else "", "long"],
                [grouped(row["rows"]), "number"],
            ],
            "actions": [[page, page.lower()], ["Compare", "compare"]],
        }
        for row in sessions.records()
    ]
    heads = [["session", "26%"], ["agent", "16%"], ["model", "20%"], ["sent", "14%"]]
    return _rows_board(title, note, [*heads, ["count", "8%"], ["", "16%"]], rows)


def _rows_board(
    title: str, note: str, heads: Sequence[Sequence[str]], rows: Sequence[Payload]
) -> Payload:
    listed = card("rows", title, note, key="behind", heads=heads, rows=rows)
    return board(cards=[{**listed, "actions": [["Keep as filter", "filter"]]}])
