"""A run of the proxy as pandas tables, and its predictions beside its bills as a figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from playground.plugins.proxy.ledger import Ledger, Passed
from playground.show.kept_figures import LEGEND


def sessions(ledger: Ledger) -> pd.DataFrame:
    """Return a row for each session, the newest first: requests, tokens read, breaks, dollars."""
    rows = []
    for name, passed in reversed(ledger.sessions.items()):
        billed = [each.billed for each in passed if each.billed]
        breaks = [found for each in passed if (found := each.breaks)]
        rows.append(
            {
                "session": name,
                "begins with": passed[0].title,
                "requests": len(passed),
                "breaks": len(breaks),
                "read, % of billed": _share(billed),
                "billed, $": _dollars([each["nano"] for each in billed]),
                "lost by breaks, $": _dollars([found["lost_nano"] for found in breaks]),
                "last": _clock(passed[-1].at),
            }
        )
    return pd.DataFrame(rows)


def requests(passed: Sequence[Passed]) -> pd.DataFrame:
    """Return a row for each request of a session: prediction, bill, and where the cache breaks."""
    return pd.DataFrame([_request(each) for each in passed])


def _request(each: Passed) -> dict[str, Any]:
    expected, billed = each.expected or {}, each.billed or {}
    parts = () if each.refused else (expected.get("cause"), expected.get("place"))
    broken = " at ".join(filter(None, parts))
    return {
        "request": expected.get("number"),
        "at": _clock(each.at),
        "read, expected": expected.get("read"),
        "read, billed": billed.get("read"),
        "written, billed": billed.get("written"),
        "input, expected": expected.get("total"),
        "input, billed": billed.get("total"),
        "breaks": broken,
        "expected, $": _dollars([expected.get("nano")]),
        "billed, $": _dollars([billed.get("nano")]),
        "answer": _answer(each),
    }


def causes(ledger: Ledger) -> pd.DataFrame:
    """Return a row for each cause of cache breaks, the most expensive first."""
    counts: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    nano: Counter[str] = Counter()
    for each in ledger.passed:
        if (expected := each.breaks) and not each.blocked:
            cause = str(expected["cause"])
            counts[cause] += 1
            lost[cause] += expected["lost"]
            nano[cause] += expected["lost_nano"] or 0
    return pd.DataFrame(
        [
            {
                "cause": cause,
                "breaks": counts[cause],
                "tokens not read": lost[cause],
                "about, $": _dollars([nano[cause] or None]),
            }
            for cause in sorted(counts, key=lambda cause: (-nano[cause], -lost[cause], cause))
        ]
    )


def strip(passed: Sequence[Passed]) -> go.Figure:
    """Draw two bars for each request, expected and billed: tokens read, written, and the rest."""
    figure = go.Figure()
    numbers = [(each.expected or {}).get("number") for each in passed]
    for name, offset, pick in (("expected", 0, _expected), ("billed", 1, _billed)):
        parts = [pick(each) for each in passed]
        base = [0] * len(parts)
        for index, kind in enumerate(("read", "written", "rest")):
            values = [part[index] for part in parts]
            figure.add_bar(
                x=numbers,
                y=values,
                base=base,
                name=f"{kind}, {name}",
                offsetgroup=str(offset),
                marker={"color": _COLOURS[kind]},
                opacity=1.0
                if offset
                else 0.55,  # of the whole trace, so that the legend shows it too
            )
            base = [one + other for one, other in zip(base, values, strict=True)]
    figure.update_layout(
        barmode="group",
        height=280,
        margin={"t": 10, "b": 10, "l": 10, "r": 10},
        xaxis_title="request",
        yaxis={"title": "tokens", "tickformat": ",d"},
        legend=LEGEND,
    )
    return figure


_COLOURS = {"read": "#2a9d6f", "written": "#e0a030", "rest": "#b0504a"}


def _expected(each: Passed) -> tuple[int, int, int]:
    found = each.expected or {"read": 0, "written": 0, "total": 0}
    return found["read"], found["written"], found["total"] - found["read"] - found["written"]


def _billed(each: Passed) -> tuple[int, int, int]:
    found = each.billed or {"read": 0, "written": 0, "total": 0}
    return found["read"], found["written"], found["total"] - found["read"] - found["written"]


def _answer(each: Passed) -> str:
    if each.blocked:
        return "blocked"
    if each.status is None and each.error is None:
        return "under way"
    status = str(each.status or "none")
    return f"{status}, {each.error.get('type')}" if each.error else status


def _share(billed: Sequence[dict[str, Any]]) -> float | None:
    total = sum(each["total"] for each in billed)
    return round(100 * sum(each["read"] for each in billed) / total, 1) if total else None


def _dollars(nanos: Sequence[int | None]) -> float | None:
    known = [each for each in nanos if each is not None]
    return round(sum(known) / 1e9, 6) if known else None


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).astimezone().strftime("%H:%M:%S")
