"""Bounds of a read: an automatic cache holds only what was sent, and a bill is judged by that."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import playground as pg
from playground.cache.answers.headline import headline
from playground.cache.answers.simulation import simulate_cache
from playground.cache.bounds import TOLERANCE, read_bounds
from playground.cache.prefixes import Billed, TimedRequest
from playground.cache.rules import rule_sets, rules_of
from playground.cache.simulator import CacheSimulator
from playground.cache.validation import ValidationRow, validation_of
from playground.nouns.wire_blocks import read_wire
from playground.show.strip import strip

AUTOMATIC = sorted(n for n, rules in rule_sets().items() if rules.match == "best effort")
LONG = "The station at Blindern says that it is dry, and that it was so all week. " * 200
TURNS = st.lists(
    st.sampled_from([LONG, LONG + "And then? ", "Go on. ", ""]), min_size=1, max_size=4
)


def body_of(texts: list[str]) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": f"{i}: {t}"} for i, t in enumerate(texts)]
    return {"model": "m", "messages": [{"role": "system", "content": LONG}, *messages]}


@pytest.mark.parametrize("provider", AUTOMATIC)
@given(st.lists(TURNS, min_size=1, max_size=4))
def test_no_simulated_read_of_an_automatic_cache_is_above_its_bound(
    provider: str, conversations: list[list[str]]
) -> None:
    rules = rules_of(provider)
    simulator = CacheSimulator(rules)
    sent: list[TimedRequest] = []
    for number, texts in enumerate(conversations):
        wire = read_wire(body_of(texts), "m", rules.value("default_ttl"))
        request = TimedRequest(wire, number * 20.0, rules)
        total = request.sizes[-1]
        bounds = read_bounds(request, sent, Billed(0, 0, total))
        read = simulator.send(request).read
        assert bounds.most is not None
        assert read <= bounds.most + TOLERANCE
        assert bounds.verdict(read) == "within bounds"
        sent.append(request)


@given(st.lists(st.tuples(TURNS, st.integers(60, 180)), min_size=1, max_size=4))
def test_a_bill_gives_the_whole_size_and_only_a_range_of_each_prefix(
    parts: list[tuple[list[str], int]],
) -> None:
    """Each part may have 0.6 to 1.8 times its estimate: only their sum is billed."""
    texts = [text for turns, _ in parts for text in turns]
    percents = [percent for turns, percent in parts for _ in turns]
    wire, rules = read_wire(body_of(texts), "m"), rules_of("anthropic")
    estimates = TimedRequest(wire, 0.0, rules).estimates
    sizes = [estimates[0], *(after - before for before, after in pairwise(estimates))]
    true = list(accumulate(s * p // 100 for s, p in zip(sizes, [100, *percents], strict=True)))
    billed = TimedRequest(wire, 0.0, rules, Billed(0, 0, true[-1]))
    assert billed.size_range(len(true) - 1) == (true[-1], true[-1])
    for block, size in enumerate(true):
        low, high = billed.size_range(block)
        assert low <= billed.sizes[block] <= high
        assert low - len(true) <= size <= high + len(true)  # each part is rounded


def bill(read: int, fresh: int) -> dict[str, Any]:
    details = {"cached_tokens": read}
    return {"prompt_tokens": read + fresh, "prompt_tokens_details": details}


def row_of(*exchanges: tuple[dict[str, Any], dict[str, Any]]) -> list[ValidationRow]:
    url = "https://api.openai.com/v1/chat/completions"
    sent = [
        {"uri": url, "request": {**body, "model": "gpt-4o-mini"}, "usage": usage}
        for body, usage in exchanges
    ]
    return validation_of([("a.json", sent)], []).rows


def test_a_bill_of_an_automatic_cache_has_a_verdict() -> None:
    first, longer = body_of([LONG]), body_of([LONG, "Dry.", "And then?"])
    other = {"model": "m", "messages": [{"role": "user", "content": f"Else: {LONG}"}]}
    rows = row_of(
        (first, bill(2048, 2000)),  # nothing was sent before
        (longer, bill(3968, 120)),
        (longer, bill(0, 4088)),
        (other, bill(1920, 100)),  # it begins otherwise
    )
    assert [row.state for row in rows] == ["best effort"] * 4
    assert [row.verdict for row in rows] == [
        "more than the record could leave",
        "within bounds",
        "within bounds",
        "more than the record could leave",
    ]
    assert rows[0].most_read == 0
    assert rows[1].most_read is not None
    assert 3968 <= rows[1].most_read <= 4088
    counted = validation_of([], []).verdicts
    assert counted == {}


@pytest.mark.parametrize("model", ["gpt-4o-mini", "deepseek/deepseek-chat", "gemini-2.5-flash"])
def test_bounds_and_verdicts_stand_in_the_headline(model: str) -> None:
    bodies = [body_of([LONG]), body_of([LONG, "Dry.", "And then?"]), body_of([LONG, "Dry."])]
    usages = [bill(2048, 2000), bill(3968, 120), bill(0, 4088)]  # nothing was sent before the first
    found = simulate_cache([{**body, "model": model} for body in bodies], usages=usages)
    most = sum(each.most or 0 for each in found.bounds if each)
    assert found.verdicts.count("within bounds") == 2
    told = (
        f"By what this session had sent before, 0 to {most:,} tokens in all could be read from the "
        "cache; 2 of 3 bills agree."
    )
    assert told in headline(found).text
    assert told in strip(found)["note"]
    marked = simulate_cache([{**each, "model": "claude-opus-5"} for each in bodies], usages=usages)
    assert "By what this session had sent" not in headline(marked).text


def test_less_than_was_sure_is_told() -> None:
    wire = read_wire(body_of([LONG]), "m", "5m")
    request = TimedRequest(wire, 0.0, rules_of("anthropic"))
    bounds = read_bounds(request, [], Billed(0, 0, 5000), least=2000)
    assert bounds.verdict(1990) != "less than was sure"
    assert bounds.verdict(0) == "less than was sure"
    assert read_bounds(request, [], Billed(9, 0, 1, summed=True)).verdict(9) == "not judged"


def test_a_bill_does_not_widen_its_own_bound() -> None:
    def asks(question: str) -> dict[str, Any]:
        messages = [{"role": "system", "content": LONG}, {"role": "user", "content": question}]
        return {"model": "gpt-4o", "messages": messages}

    bodies = [asks("Oslo?"), asks("And Bergen?")]
    found = pg.simulate_cache(bodies, usages=[bill(0, 3300), bill(11_904, 96)])
    assert found.verdicts[1] == "more than the record could leave"
    assert found.bounds[1] is not None and found.bounds[1].most is not None
    assert found.bounds[1].most <= 3300


def test_a_simulation_tells_of_less_than_was_sure() -> None:
    marked = {"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}
    body = {"model": "claude-opus-4-8", "max_tokens": 9, "system": [marked]}
    bodies = [{**body, "messages": [{"role": "user", "content": q}]} for q in ("Oslo?", "Rome?")]
    written = {"input_tokens": 9, "cache_creation_input_tokens": 3300}
    found = pg.simulate_cache(bodies, usages=[written, written])
    assert found.verdicts == ["within bounds", "less than was sure"]


@pytest.mark.parametrize("picture", [{"file_id": "file-1"}, {"image_url": "https://a.example/1"}])
def test_a_picture_of_unknown_size_is_judged_by_bills_alone(picture: dict[str, Any]) -> None:
    content = [{"type": "input_image", **picture}]
    asked: list[dict[str, Any]] = [{"role": "user", "content": content}]
    first = {"model": "gpt-4o", "input": asked}
    longer = {"model": "gpt-4o", "input": [*asked, {"role": "user", "content": "And?"}]}
    usage = {"input_tokens": 4000, "input_tokens_details": {"cached_tokens": 3840}}
    assert pg.simulate_cache([first, longer], usages=[None, usage]).verdicts == [None, "not judged"]
    for total, verdict in ((3840, "within bounds"), (1500, "more than the record could leave")):
        found = pg.simulate_cache([first, longer], usages=[{"input_tokens": total}, usage])
        assert found.verdicts[1] == verdict


def test_a_read_beyond_the_requests_that_are_compared_is_not_judged() -> None:
    wire = read_wire(body_of([LONG, "Dry.", "And?"]), "m", "5m")
    other = read_wire({"model": "m", "messages": [{"role": "user", "content": "?"}]}, "m", "5m")
    rules = rules_of("openai")
    first = TimedRequest(wire, 0.0, rules, Billed(0, 0, 4000))
    many = [TimedRequest(other, 1.0, rules, Billed(0, 0, 8))] * 200
    again = Billed(3968, 0, 32)
    assert read_bounds(first, [first, *many], again).verdict(3968) == "not judged"
    assert read_bounds(first, [*many[1:], first], again).verdict(3968) == "within bounds"
