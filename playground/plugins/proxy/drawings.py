"""Draw a run of the proxy: pandas tables, and a figure of predictions next to bills."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go

from playground.plugins.proxy.ledger import Ledger, LoggedExchange
from playground.show.kept_figures import LEGEND

TITLES: Final = {  # column titles that the glossary does not have
    "begins_with": "begins with",
    "billed_dollars": "billed, $",
    "lost_dollars": "lost, $",
    "expected_read_tokens": "read, expected",
    "billed_read_tokens": "read, billed",
    "billed_written_tokens": "written, billed",
    "expected_tokens": "input, expected",
    "billed_tokens": "input, billed",
    "break_cause": "breaks",
    "provider_diagnosis": "told by the provider",
    "expected_dollars": "expected, $",
    "lost_tokens": "tokens not read",
}


def sessions(ledger: Ledger) -> pd.DataFrame:
    """Return a row for each session, the newest first: requests, tokens read, breaks, dollars."""
    rows = []
    for name, exchanges in reversed(ledger.sessions.items()):
        billed = [exchange.billed for exchange in exchanges if exchange.billed]
        breaks = [forecast for exchange in exchanges if (forecast := exchange.breaks)]
        rows.append(
            {
                "session": name,
                "begins_with": exchanges[0].title,
                "requests": len(exchanges),
                "breaks": len(breaks),
                "read_share": _share(billed),
                "billed_dollars": _dollars([exchange["nano"] for exchange in billed]),
                "lost_dollars": _dollars([forecast["lost_nano"] for forecast in breaks]),
                "last": _clock(exchanges[-1].at),
            }
        )
    return pd.DataFrame(rows)


def requests(exchanges: Sequence[LoggedExchange]) -> pd.DataFrame:
    """Return a row for each request of a session: prediction, bill, and where the cache breaks."""
    frame = pd.DataFrame([_request_row(exchange) for exchange in exchanges])
    diagnoses = [exchange.told_by_provider for exchange in exchanges]
    if any(diagnoses):
        frame.insert(list(frame.columns).index("break_cause"), "provider_diagnosis", diagnoses)
    return frame


def _request_row(exchange: LoggedExchange) -> dict[str, Any]:
    expected, billed = exchange.expected or {}, exchange.billed or {}
    parts = () if exchange.refused else (expected.get("cause"), expected.get("place"))
    cause_and_place = " at ".join(filter(None, parts))
    return {
        "request": expected.get("number"),
        "at": _clock(exchange.at),
        "expected_read_tokens": expected.get("read"),
        "billed_read_tokens": billed.get("read"),
        "billed_written_tokens": billed.get("written"),
        "expected_tokens": expected.get("total"),
        "billed_tokens": billed.get("total"),
        "break_cause": cause_and_place,
        "expected_dollars": _dollars([expected.get("nano")]),
        "billed_dollars": _dollars([billed.get("nano")]),
        "answer": _answer(exchange),
    }


def causes(ledger: Ledger) -> pd.DataFrame:
    """Return a row for each cause of cache breaks, the most expensive first."""
    counts: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    nano: Counter[str] = Counter()
    for exchange in ledger.exchanges:
        if (expected := exchange.breaks) and not exchange.blocked:
            cause = str(expected["cause"])
            counts[cause] += 1
            lost[cause] += expected["lost"]
            nano[cause] += expected["lost_nano"] or 0
    return pd.DataFrame(
        [
            {
                "cause": cause,
                "breaks": counts[cause],
                "lost_tokens": lost[cause],
                "lost_dollars": _dollars([nano[cause] or None]),
            }
            for cause in sorted(counts, key=lambda cause: (-nano[cause], -lost[cause], cause))
        ]
    )


def strip(exchanges: Sequence[LoggedExchange]) -> go.Figure:
    """Draw two bars for each request (expected, billed), split by tokens read, written and rest."""
    figure = go.Figure()
    numbers = [(exchange.expected or {}).get("number") for exchange in exchanges]
    for offset, name in enumerate(("expected", "billed")):
        parts = [_tokens(getattr(exchange, name)) for exchange in exchanges]
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
                else 0.55,  # set for the trace, not its bars, so that the legend is pale, too
            )
            base = [below + value for below, value in zip(base, values, strict=True)]
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


def _tokens(figures: dict[str, Any] | None) -> tuple[int, int, int]:
    if figures is None:
        return 0, 0, 0
    read, written = figures["read"], figures["written"]
    return read, written, figures["total"] - read - written


def _answer(exchange: LoggedExchange) -> str:
    if exchange.blocked:
        return "blocked"
    if exchange.status is None and exchange.error is None:
        return "under way"
    status = str(exchange.status or "none")
    return f"{status}, {exchange.error.get('type')}" if exchange.error else status


def _share(billed: Sequence[dict[str, Any]]) -> float | None:
    total = sum(bill["total"] for bill in billed)
    return round(sum(bill["read"] for bill in billed) / total, 3) if total else None


def _dollars(nanos: Sequence[int | None]) -> float | None:
    known = [nano for nano in nanos if nano is not None]
    return round(sum(known) / 1e9, 6) if known else None


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).astimezone().strftime("%H:%M:%S")
