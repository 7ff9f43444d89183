"""Predictions beside bills: a bill stands first, and nothing certain stands against it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import playground as pg
from playground.cache.answers.cells import billed_breaks
from playground.cache.answers.headline import headline
from playground.cache.answers.what_if import WhatIf
from playground.cli import main
from playground.nouns.messages import Message, TextPart
from playground.plugins.corpus.breaks import breaks_of
from playground.plugins.corpus.requests import sent_requests
from playground.sessions.native_format import dump_session
from playground.sessions.session import RequestRecord, RequestRow, Session
from playground.show.strip import strip
from playground.show.wire import simulation_json

MODEL = "claude-sonnet-4-5"
LONG = "a long reply about tides and harbours, again and again. " * 300


def usage(read: int, written: int) -> dict[str, Any]:
    counts = {"cache_read_input_tokens": read, "cache_creation_input_tokens": written}
    return {"input_tokens": 3 * bool(read + written), "output_tokens": 5, **counts}


def session(bills: list[tuple[int, int]], model: str = MODEL) -> Session:
    """A conversation that only grows, as it was billed."""
    pair = (Message("user", (TextPart(LONG),)), Message("assistant", (TextPart("so"),)))
    records = [RequestRecord(2 * n + 1, usage=usage(*each)) for n, each in enumerate(bills)]
    made = Session(messages=pair * len(bills), requests=tuple(records))
    return made.with_model(model)


# What such a provider bills for each of its requests, in tokens: 3,427 for each reply and its text.
SIZES = [3_525, 6_952, 10_379, 13_806, 17_233]
TOTALS = st.lists(st.booleans(), min_size=4, max_size=4)


@given(hits=TOTALS)
def test_no_request_is_certain_whose_bill_says_otherwise(hits: list[bool]) -> None:
    bills = [(0, SIZES[0])]
    for before, size, hit in zip(SIZES, SIZES[1:], hits, strict=False):
        bills.append((before, size - before) if hit else (0, size))
    found = pg.simulate_cache(session(bills), policy="claude-code")
    missed = [number for number, hit in enumerate(hits, 1) if not hit]
    assert [each.number for each in found.unexplained] == missed
    for number in missed:
        one = found.requests[number]
        assert one.sureness != "certain" and "nothing in the session explains" in one.reason
    assert len(found.failures(no_cache_break=True)) == len(missed)
    assert [each["number"] for each in simulation_json(found)["unexplained"]] == missed
    assert ("unexplained" in [each.code for each in found.findings]) == bool(missed)
    flags = [(number, f"{number + 1}: {SIZES[number - 1]:,}") for number in missed]
    assert strip(found)["breaks"] == flags  # in tokens, as those of the chart below them
    verdict, text = headline(found)
    lost = sum(SIZES[number - 1] for number in missed)
    assert (verdict == "broken") == bool(missed) == (f"{lost:,} tokens" in text)
    assert ("Nothing breaks." in text) == (not missed)


def test_a_break_is_told_at_the_bill_behind_an_aborted_request() -> None:
    bills = [(0, SIZES[0]), (0, 0), (0, SIZES[2])]
    found = pg.simulate_cache(session(bills), policy="claude-code")
    assert [each.number for each in found.unexplained] == [2]
    (failed,) = found.failures(no_cache_break=True)
    assert failed.startswith("request 3 was billed 0 of ") and "unexplained" in failed


@pytest.mark.parametrize("more", [0, 90_000])
def test_check_and_corpus_see_the_same_breaks_in_bills(more: int) -> None:
    """Also where nothing is certain: the cache was warm before the first request, or the bills are
    of `more` than the session holds, such as its tools."""
    totals = [size + more for size in SIZES[:4]]
    reads = [2_000, totals[0], 2_000, totals[2]]
    bills = [(read, total - read) for read, total in zip(reads, totals, strict=True)]
    made = session(bills)
    found = pg.simulate_cache(made, policy="claude-code")
    assert [one.sureness for one in found.requests[:2]] != ["certain", "certain"]
    seen = list(breaks_of(made, sent_requests(made)))
    assert [(each.number, each.lost) for each in found.unexplained] == [
        (each.n, each.lost_tokens) for each in seen
    ]
    assert [each.n for each in seen] == [2]
    (failed,) = found.failures(no_cache_break=True)
    assert failed.startswith("request 3 was billed 2,000 of ")
    assert "unexplained" in [each.code for each in found.findings]
    assert "1 of 4 bills shows a break" in headline(found).text


def test_nothing_is_certain_after_a_bill_of_more_than_the_session_holds() -> None:
    """The request that nobody has answered yet has no bill of its own."""
    made = session([(10_000, 90_000)])
    made = replace(made, messages=(*made.messages, made.messages[0]))
    billed, pending = pg.simulate_cache(made, policy="claude-code").requests
    assert (billed.state, pending.state) == ("unpredictable", "unpredictable")
    assert "100,003 tokens were billed, but the session holds" in pending.reason
    plain = replace(made, requests=())
    assert pg.simulate_cache(plain, policy="claude-code").requests[1].state == "exact"


def hourly(wait: int) -> Session:
    """Two requests so many seconds apart, whose writes were billed to live for an hour."""
    bills = [(0, SIZES[0]), (SIZES[0], SIZES[1] - SIZES[0])]
    made = session(bills)
    records = [
        replace(
            record,
            at=f"2026-11-20T10:{minute:02}:00+00:00",
            usage={
                **usage(*bill),
                "cache_creation": {"ephemeral_1h_input_tokens": bill[1]},
            },
        )
        for record, bill, minute in zip(made.requests, bills, (0, wait // 60), strict=True)
    ]
    return replace(made, requests=tuple(records))


def test_a_lifetime_that_was_billed_decides_what_has_expired() -> None:
    made = hourly(600)
    found = pg.simulate_cache(made, policy="claude-code")
    assert [list(one.written) for one in found.requests] == [["1h"], ["1h"]]
    assert (found.breaks, found.failures(no_cache_break=True)) == ([], [])
    assert "what is written lives for 1h, as it was billed" in found.origins
    short = pg.simulate_cache(made, policy="claude-code", what_if=WhatIf(ttl="5m"))
    assert short.requests[1].reason.endswith("had expired")
    plain = pg.simulate_cache(session([(0, 9)]), policy="claude-code")
    assert list(plain.requests[0].written) == ["5m"]
    assert not any("lives for" in line for line in plain.origins)
    other = pg.simulate_cache(made, model="openai/gpt-5.6", policy="claude-code")
    assert list(other.requests[0].written) == ["30m"]  # it knows no such lifetime


SYSTEM = [{"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}]


def body(*said: str) -> dict[str, Any]:
    """A request whose system prompt and last message are marked."""
    messages: list[dict[str, Any]] = [
        {"role": ("user", "assistant")[n % 2], "content": [{"type": "text", "text": text}]}
        for n, text in enumerate(said)
    ]
    messages[-1]["content"][0]["cache_control"] = {"type": "ephemeral"}
    return {"model": MODEL, "system": SYSTEM, "messages": messages}


@pytest.mark.parametrize(("read", "lost"), [(4_000, 0), (0, 4_000)])
def test_a_bill_is_contradicted_behind_the_session_s_own_break(read: int, lost: int) -> None:
    """The messages are others, so the system prompt alone should be read: less is told of."""
    bodies = [body(f"one {LONG}"), body(f"two {LONG}")]
    plain = pg.simulate_cache(bodies, usages=[usage(0, 8_000), usage(4_000, 4_000)])
    should = plain.requests[1].read
    assert plain.breaks == [1] and 3_500 < should < 4_500
    found = pg.simulate_cache(bodies, usages=[usage(0, 8_000), usage(read, 8_000 - read)])
    assert found.breaks == [1]
    assert [(each.number, each.lost > 0.5 * lost) for each in found.unexplained] == [
        (1, True)
    ] * bool(lost)
    assert (found.requests[1].state == "exact") == (not lost)


@pytest.mark.parametrize("seconds", [20, 400])
@pytest.mark.parametrize("words", ["four", "so"])
def test_what_was_aborted_explains_no_break_but_may_not_have_come(seconds: int, words: str) -> None:
    """One that says something else, or nothing new, stands between two that go on: the bills show
    what neither explains, unless the cache lived too short for both."""
    begun, gone = (f"one {LONG}",), (f"one {LONG}", "so", LONG)
    between = (*begun, words, LONG)
    bodies = [body(*begun), body(*between), body(*gone)]
    times = [0, seconds / 2, seconds]
    usages = [usage(0, 8_000), None, usage(0, 12_000)]
    found = pg.simulate_cache(bodies, usages=usages, times=times)
    told = [(each.number, each.lost) for each in found.unexplained]
    assert told == ([(2, 8_000)] if seconds < 300 else [])
    rows = [
        RequestRow(
            body=each,
            reply={"usage": bill} if bill else {},
            at=f"2026-10-05T08:{int(at) // 60:02}:{int(at) % 60:02}Z",
        )
        for each, bill, at in zip(bodies, usages, times, strict=True)
    ]
    made = Session(rows=tuple(rows))
    (broken,) = breaks_of(made, sent_requests(made))
    assert (broken.n, broken.lost_tokens) == (2, 8_000)
    assert broken.cause == ("unexplained" if seconds < 300 else "expired")


def sent(bills: list[int], total: int) -> Session:
    """Bodies as they were sent, whose bills stand beside the answers alone."""
    messages, rows, records = [], [], []
    for number, read in enumerate(bills):
        said = [
            {"role": ("user", "assistant")[i % 2], "content": LONG} for i in range(2 * number + 1)
        ]
        rows.append(RequestRow(body={"model": "deepseek/deepseek-chat", "messages": said}))
        messages += [Message("user", (TextPart(LONG),)), Message("assistant", (TextPart(LONG),))]
        details = {"cached_tokens": read}
        counts = {"prompt_tokens": total, "completion_tokens": 5, "prompt_tokens_details": details}
        records.append(RequestRecord(2 * number + 1, usage=counts))
    made = Session(messages=tuple(messages), rows=tuple(rows), requests=tuple(records))
    return made.with_model("deepseek/deepseek-chat")


@pytest.mark.parametrize("policy", ["as-sent", "automatic", "none"])
def test_a_session_s_bill_stands_first_under_every_policy(policy: str) -> None:
    found = pg.simulate_cache(sent([0, 0], 9_000), policy=policy)
    verdict, text = headline(found)
    assert text.startswith("Billed: 0 % of 18,000 input tokens were read from the cache.")
    assert verdict != "good"


def test_a_minimum_that_nobody_knows_is_told_once() -> None:
    found = pg.simulate_cache(sent([0, 0], 9_000), policy="automatic")
    told = [*found.origins, found.reach.line]
    assert sum("minimum" in line or "fewest" in line for line in told) == 1


def test_a_cost_stands_beside_the_uncached_cost_under_the_same_terms() -> None:
    """Long requests cost more a token, and were put beside the price of short ones."""
    plain = pg.simulate_cache(session([(0, 10_000), (10_000, 2_000)]), policy="none")
    assert plain.nano_dollars == plain.uncached_nano_dollars
    assert strip(plain)["figures"][1][1] == "of uncached: $0.048 of $0.066"
    # the list price of claude-sonnet-4-5 above 200,000 tokens is $6 a million in place of $3
    long = pg.simulate_cache(session([(0, 300_000)]), policy="none")
    assert long.paid is not None
    assert long.paid.uncached_nano_dollars == (300_003) * 6_000
    assert long.paid.nano_dollars == 3 * 6_000 + 300_000 * 7_500


def test_what_was_paid_stands_beside_what_is_predicted() -> None:
    # list price of claude-sonnet-4-5 (LiteLLM's cost map): $3 a million; read 0.1, written 1.25
    bills = [(0, 10_000), (10_000, 2_000)]
    found = pg.simulate_cache(session(bills), policy="none")
    assert found.paid is not None
    assert found.cost_permille == 1000  # nothing is marked: predicted in full
    tokens = 3 + 10_000 + 3 + 12_000
    cost = 6 * 1000 + 12_000 * 1250 + 10_000 * 100
    assert (found.paid.tokens, found.paid.permille) == (tokens, cost // tokens)
    assert found.paid.nano_dollars == cost * 3  # thousandths of a token at $3 a million
    assert "Paid: 73 % of the uncached input price ($0.048)." in headline(found).text
    assert simulation_json(found)["paid"]["nano_dollars"] == cost * 3


def test_what_was_paid_is_told_of_other_marks_models_and_what_ifs() -> None:
    made = session([(0, 10_000), (10_000, 2_000)])
    plain = pg.simulate_cache(made, policy="none").paid
    assert plain is not None
    for found in (
        pg.simulate_cache(made, policy="claude-code"),
        pg.simulate_cache(made, policy="claude-code", what_if=WhatIf(ttl="1h")),
    ):
        assert found.paid == plain and str(plain) in headline(found).text
    noted = [replace(each, model=MODEL) for each in made.requests]
    told = replace(made, requests=tuple(noted))
    assert pg.simulate_cache(told, model="gpt-4o-mini", policy="none").paid == plain


def test_each_bill_is_paid_at_the_price_of_its_own_model() -> None:
    made = session([(0, 10_000), (0, 10_000)])
    models = (MODEL, "claude-haiku-4-5")
    noted = [replace(each, model=name) for each, name in zip(made.requests, models, strict=True)]
    found = pg.simulate_cache(replace(made, requests=tuple(noted)), policy="none").paid
    assert found is not None and found.nano_dollars == (10_000 * 1250 + 3 * 1000) * (3 + 1)


OPUS = "claude-opus-4-1-20250805"
_PRICE = {MODEL: 3_450, OPUS: 17_250}  # nano-dollars of a token that is written and not read


@given(which=st.lists(st.sampled_from([MODEL, OPUS]), min_size=5, max_size=5))
def test_a_change_of_the_model_explains_its_break_at_the_price_of_its_own(which: list[str]) -> None:
    """A transcript went from Sonnet to Opus: "nothing explains it" was said of that break, and one
    of Sonnet's was priced by Opus."""
    left: dict[str, int] = {}
    bills = []
    for model, size in zip(which, SIZES, strict=True):
        bills.append((left.get(model, 0), size - left.get(model, 0)))
        left[model] = size
    made = session(bills, which[-1])
    pairs = zip(made.requests, which, strict=True)
    made = replace(made, requests=tuple(replace(record, model=name) for record, name in pairs))
    found = pg.simulate_cache(made, policy="claude-code")
    assert [sent.wire.model for sent in found.row] == which
    assert found.unexplained == [] == found.failures(no_cache_break=len(set(which)) == 1)
    broken = [n for n in range(1, 5) if which[n] != which[n - 1]]
    assert found.breaks == broken
    for miss in billed_breaks(found.billed):
        said = f"the model changed ({which[miss.number - 1]}, then {which[miss.number]})"
        assert said in found.why(miss.number) and said in found.explanation(miss)
        difference = found.differences[miss.number]
        assert difference is not None and difference.cause == "model_changed"
        assert found.lost_nano(miss) == miss.lost * _PRICE[which[miss.number]]
    told = [each for each in strip(found)["findings"] if "paid again" in each[1]]
    assert len(told) == len(broken) and all("The model changed" in each[2] for each in told)
    assert all("left, because the model changed: $" in each[0] for each in told)
    assert sorted(each[3] for each in strip(found)["findings"] if each in told) == broken
    as_one = pg.simulate_cache(made, policy="claude-code", model=MODEL)
    assert as_one.unexplained == [] and {sent.wire.model for sent in as_one.row} == {MODEL}
    assert [*map(as_one.lost_nano, billed_breaks(as_one.billed))] == [
        *map(found.lost_nano, billed_breaks(found.billed))
    ]


def test_an_answer_without_a_model_went_to_the_model_before_it() -> None:
    made = session([(0, 9)] * 4, f"anthropic/{OPUS}")
    models = ("", MODEL, "", OPUS)
    pairs = zip(made.requests, models, strict=True)
    made = replace(made, requests=tuple(replace(record, model=name) for record, name in pairs))
    found = pg.simulate_cache(made, policy="claude-code")
    # its own name is spelled as the session spells it, so that its route and price are the same
    assert [sent.wire.model for sent in found.row] == [MODEL, MODEL, MODEL, f"anthropic/{OPUS}"]
    changed = pg.simulate_cache(made.with_model("gpt-5.6-sol"))  # to see what it would cost there
    assert {sent.wire.model for sent in changed.row} == {"gpt-5.6-sol"}


def test_what_is_not_known_is_not_called_paid() -> None:
    made = session([(0, 10_000), (10_000, 2_000)], "nobody/knows-it")
    assert pg.simulate_cache(made, policy="none").paid is None  # what a read costs is not noted
    aborted = pg.simulate_cache(session([(0, 10_000), (0, 0)]), policy="none").paid
    assert aborted is not None and aborted.shares == (1249, None)
    assert str(aborted).startswith("Paid for 1 of 2 requests: 125 % of the uncached input price")
    assert pg.simulate_cache(replace(made, requests=()), policy="none").paid is None


def test_the_headline_of_a_table_tells_what_was_paid(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text(dump_session(session([(0, 10_000), (10_000, 2_000)])))
    first = "Billed: 45 % of 22,006 input tokens were read from the cache. Paid: 73 % of the unc"
    for options in ([], ["-d", "native"], ["-d", "native", "--policy", "none"]):
        found = CliRunner().invoke(main, ["cache", "simulate", str(file), *options])
        assert found.stdout.startswith(first)


def broken(*records: dict[str, Any]) -> str:
    """Why the last of three requests was billed as it was, of which nothing is read."""
    made = session([(0, SIZES[0]), (SIZES[0], SIZES[1] - SIZES[0]), (0, SIZES[2])])
    told = zip(made.requests, records, strict=False)
    noted = [replace(each, **more) for each, more in told]
    noted += made.requests[len(noted) :]
    found = pg.simulate_cache(
        replace(made, requests=tuple(noted)), policy="claude-code", seconds_apart=20
    )
    assert found.hints[2] in found.why(2)
    assert simulation_json(found)["hints"] == {"2": found.hints[2]}
    (failed,) = found.failures(no_cache_break=True)
    assert failed.endswith(f"look at: {found.hints[2]}")
    return found.hints[2]


def at(seconds: int) -> dict[str, Any]:
    return {
        "at": f"2026-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}+00:00"
    }


def test_a_break_that_nothing_explains_says_what_to_look_at() -> None:
    assert broken() == "the times of sending are not recorded; 2 blocks more (a mark looks 20 back)"
    late = broken(at(0), at(10), at(2_830))
    assert late.startswith(
        "47 min after the previous request, past the 5 min that the cache keeps an entry;"
    )
    soon = broken(at(0), at(10), at(40))
    assert soon.startswith(
        "30 s after the previous request, within the 5 min that the cache keeps an entry;"
    )
    answering = broken(at(0), at(10) | {"seconds": 8.0}, at(12))
    assert answering.startswith("sent 2 s after the previous one, whose answer took 8 s: in")
    assert "the previous answer ended with 'aborted'" in broken({}, {"stop_reason": "aborted"})
    assert broken(at(0), at(10), at(5)).startswith("its recorded time is 5 s before that")
    aborted = pg.simulate_cache(
        session([(0, SIZES[0]), (0, 0), (0, SIZES[2])]), policy="claude-code"
    )
    assert "1 request between was not billed (aborted, or unanswered)" in aborted.hints[2]


def test_a_break_that_the_session_holds_needs_no_hint() -> None:
    made = session([(0, SIZES[0]), (SIZES[0], SIZES[1] - SIZES[0])])
    assert pg.simulate_cache(made, policy="claude-code").hints == {}
    late = session([(0, SIZES[0]), (0, SIZES[1])])
    found = pg.simulate_cache(late, policy="claude-code", seconds_apart=3_700)
    assert "had expired" in found.why(1) and found.hints == {}
