"""Bounds of a read: an automatic cache holds only what was sent, and a bill is judged by that."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.cache.answers.headline import headline
from playground.cache.answers.simulation import simulate_cache
from playground.cache.bounds import NEAR, read_bounds
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
        assert read <= bounds.most + NEAR
        assert bounds.verdict(read) == "within bounds"
        sent.append(request)


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
    told = f"By what was sent before, 0 to {most:,} tokens could be read from the cache: 2 of 3 bil"
    assert f"{told}ls agree." in headline(found).text
    assert told in strip(found)["note"]
    marked = simulate_cache([{**each, "model": "claude-opus-5"} for each in bodies], usages=usages)
    assert "By what was sent before" not in headline(marked).text


def test_less_than_was_sure_is_told() -> None:
    wire = read_wire(body_of([LONG]), "m", "5m")
    request = TimedRequest(wire, 0.0, rules_of("anthropic"))
    bounds = read_bounds(request, [], Billed(0, 0, 5000), least=2000)
    assert bounds.verdict(1990) != "less than was sure"
    assert bounds.verdict(0) == "less than was sure"
    assert read_bounds(request, [], Billed(9, 0, 1, summed=True)).verdict(9) == "not judged"
