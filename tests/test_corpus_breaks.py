"""Breaks that bills show: whatever stands between two of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import playground as pg
from playground.base.findings import CODES
from playground.nouns.messages import Message, TextPart
from playground.plugins.corpus.breaks import breaks_of
from playground.plugins.corpus.building import build_corpus
from playground.plugins.corpus.requests import sent_requests
from playground.sessions.native_format import dump_session
from playground.sessions.session import RequestRecord, RequestRow, Session

# usages of a request that was aborted, as agents and APIs write them
NOTHING: list[dict[str, Any] | None] = [
    {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0},
    {"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
    {"prompt_tokens": 0, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 0}},
    None,
]


def usage(read: int, written: int) -> dict[str, Any]:
    counts = {"cache_read_input_tokens": read, "cache_creation_input_tokens": written}
    return {"input_tokens": 3, "output_tokens": 5, **counts}


def transcript(*usages: dict[str, Any] | None) -> Session:
    parts = [(TextPart("go on"),), (TextPart("done"),)]
    pair = (Message("user", parts[0]), Message("assistant", parts[1]))
    records = [RequestRecord(2 * n + 1, usage=each) for n, each in enumerate(usages)]
    return Session(messages=pair * len(usages), requests=tuple(records))


def sent(*usages: dict[str, Any] | None) -> Session:
    """The same, with the bodies as they were sent."""
    rows = []
    for n, each in enumerate(usages):
        said = [{"role": ("user", "assistant")[i % 2], "content": f"{i}"} for i in range(2 * n + 1)]
        body = {"model": "claude-sonnet-4-5", "messages": said}
        rows.append(RequestRow(body=body, reply={"usage": each} if each else {}))
    return Session(rows=tuple(rows), messages=transcript(*usages).messages)


def lost(session: Session) -> list[tuple[int, int]]:
    found = breaks_of(session, sent_requests(session))
    return [(each.n, each.lost_tokens) for each in found if each.state == "billed"]


FIGURES = st.lists(st.tuples(st.integers(0, 9_000), st.integers(1, 9_000)), min_size=2, max_size=6)


@given(figures=FIGURES, aborted=st.lists(st.tuples(st.integers(1, 6), st.sampled_from(NOTHING))))
def test_what_was_not_billed_hides_no_break(
    figures: list[tuple[int, int]], aborted: list[tuple[int, dict[str, Any] | None]]
) -> None:
    plain = [usage(*each) for each in figures]
    usages: list[dict[str, Any] | None] = [*plain]
    for place, nothing in aborted:
        usages.insert(place, nothing)
    for made in (transcript, sent):
        expected = [tokens for _, tokens in lost(made(*plain))]
        assert [tokens for _, tokens in lost(made(*usages))] == expected


def test_a_break_after_an_aborted_request_is_told_at_the_next_bill() -> None:
    for made in (transcript, sent):
        for nothing in NOTHING:
            session = made(usage(0, 9_000), nothing, usage(0, 9_100))
            assert lost(session) == [(2, 9_000)], (made, nothing)


def test_what_nothing_explains_is_called_as_in_the_cache_lab() -> None:
    session = transcript(usage(0, 9_000), usage(0, 9_100))
    (found,) = breaks_of(session, sent_requests(session))
    assert found.cause == "unexplained"
    assert found.cause in CODES


def test_breaks_tell_how_much_of_what_they_cost_was_billed(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    made = transcript(usage(0, 9_000), usage(0, 9_100)).with_model("claude-sonnet-4-5")
    file.write_text(dump_session(made))
    build_corpus(tmp_path / "o", [file], engine="serial")
    found = pg.corpus(tmp_path / "o").ask("breaks")
    (values,) = found.rows
    row = dict(zip(found.columns, values, strict=True))
    assert (row["billed"], row["lost_tokens"]) == (1, 9_000)
    assert row["billed_dollars"] == row["lost_dollars"] > 0


def test_breaks_are_told_by_session(tmp_path: Path) -> None:
    broken = transcript(usage(0, 9_000), usage(0, 9_100)).with_model("claude-sonnet-4-5")
    twice = transcript(usage(0, 9_000), usage(0, 9_100), usage(0, 9_200))
    for number, each in enumerate((broken, twice.with_model("claude-sonnet-4-5"))):
        (tmp_path / f"{number}.json").write_text(dump_session(each))
    build_corpus(tmp_path / "o", sorted(tmp_path.glob("*.json")), engine="serial")
    corpus = pg.corpus(tmp_path / "o")
    by_session = corpus.ask("breaks", by=["session"])
    found = [dict(zip(by_session.columns, values, strict=True)) for values in by_session.rows]
    assert [(row["breaks"], row["sessions"]) for row in found] == [(2, 1), (1, 1)]
    for told in found:
        assert corpus.session(told["session"]) is not None
        alone = corpus.ask("breaks", session=told["session"])
        assert dict(zip(alone.columns, alone.rows[0], strict=True))["breaks"] == told["breaks"]


def test_what_a_provider_keeps_for_an_hour_has_not_expired_after_ten_minutes() -> None:
    """Whatever the rules of a model, five minutes were its life unless a bill said an hour."""

    def cause(model: str, minutes: int) -> str:
        pair = (Message("user", (TextPart("go on"),)), Message("assistant", (TextPart("done"),)))
        at = ("2026-11-01T10:00:00Z", f"2026-11-01T10:{minutes}:00Z")
        records = tuple(
            RequestRecord(reply, model, time, usage=usage(0, 9_000))
            for reply, time in zip((1, 3), at, strict=True)
        )
        session = Session(messages=pair * 2, requests=records)
        (found,) = breaks_of(session, sent_requests(session))
        return found.cause

    assert cause("claude-sonnet-4-5", 10) == "expired"
    assert cause("gemini-2.5-pro", 10) == "unexplained"
    assert cause("deepseek-chat", 10) == "unexplained"


def test_a_corpus_keeps_the_providers_word_beside_what_was_predicted_and_billed(
    tmp_path: Path,
) -> None:
    session = sent(usage(0, 9_000), usage(9_000, 40), usage(0, 9_100))
    reasons = [None, {"type": "tools_changed", "cache_missed_input_tokens": 9_040}]
    rows = list(session.rows)
    for row, reason in zip(rows[1:], reasons, strict=True):
        assert row.reply is not None
        row.reply["diagnostics"] = {"cache_miss_reason": reason}
    file = tmp_path / "one.json"
    file.write_text(dump_session(session))
    build_corpus(tmp_path / "o", [file], engine="serial")
    corpus = pg.corpus(tmp_path / "o")
    columns = ("diagnosis", "requests", "billed", "lost_tokens", "usual_cause")
    found = [tuple(map(row.get, columns)) for row in corpus.ask("diagnoses").records()]
    assert found == [("none", 1, 0, 0, ""), ("tools_changed", 1, 1, 9_040, "no-breakpoint")]
    (one,) = corpus.ask("breaks", by=["cause", "diagnosis"]).records()
    assert (one["cause"], one["diagnosis"], one["breaks"]) == ("no-breakpoint", "tools_changed", 1)
