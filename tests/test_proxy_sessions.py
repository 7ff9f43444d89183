"""Which session a request goes on with: a message that was rewritten makes no new one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from playground.plugins.proxy import page as live
from playground.plugins.proxy.cache_forecast import CacheForecast
from playground.plugins.proxy.exchange import Opened
from playground.plugins.proxy.ledger import Ledger, LoggedExchange
from playground.plugins.proxy.session_matching import Sessions

OPENED = Opened(1, 0.0, "http://a", "anthropic", "", "agent/1", "127.0.0.1", "", "", True)


def conversation(answers: list[str], changed: int | None = None) -> dict[str, Any]:
    messages = []
    for number, answer in enumerate(answers):
        messages.append({"role": "user", "content": f"question {number}"})
        messages.append({"role": "assistant", "content": answer})
    messages.append({"role": "user", "content": "the last one"})
    if changed is not None:
        messages[changed]["content"] = "another text"
    return {"model": "claude-sonnet-4-5", "system": "You triage issues.", "messages": messages}


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("rounds", [3, 6, 40])
def test_a_message_that_was_rewritten_makes_no_new_session(rounds: int, alike: bool) -> None:
    answers = ["ok" if alike else f"answer {n}" for n in range(rounds)]
    for changed in range(2 * rounds):
        sessions: Sessions[None] = Sessions()
        first = sessions.match_request(OPENED, conversation(answers[:-1]), "m")
        sessions.keep(first, None)
        again = sessions.match_request(OPENED, conversation(answers, changed), "m")
        assert (again.name, again.number) == (first.name, 2), changed


def test_another_conversation_with_the_same_answers_is_a_new_one() -> None:
    sessions: Sessions[None] = Sessions()
    first = sessions.match_request(OPENED, conversation(["ok"] * 6), "m")
    sessions.keep(first, None)
    other = conversation(["ok"] * 6)
    for number, message in enumerate(other["messages"]):
        if message["role"] == "user":
            message["content"] = f"something else {number}"
    assert sessions.match_request(OPENED, other, "m").number == 1


@pytest.mark.parametrize(("model", "step"), [("gpt-4o", 128), ("gpt-5.5", 2048)])
def test_a_break_loses_as_many_steps_as_the_models_cache_has_stored(model: str, step: int) -> None:
    forecast, texts = CacheForecast(), ("one " * 9_000, "another " * 9_000)
    for number, text in enumerate(texts):
        opened = replace(OPENED, url="https://api.openai.com/v1/chat/completions", at=9.0 * number)
        said = [{"role": "system", "content": text}, {"role": "user", "content": "What now?"}]
        underway = forecast.forecast(opened, {"model": model, "messages": said, "tools": []})
        forecast.record_sent(underway)
    expected = underway.expected
    assert (expected.breaks, expected.read, expected.lost % step) == (True, 0, 0)


@pytest.mark.parametrize(
    ("states", "told"),
    [
        (["exact", "exact"], "2 exchanges in 1 session. Nothing breaks."),
        (
            ["unknown-provider"] * 2,
            "2 exchanges in 1 session. No caching rules are known for their model, "
            "so no breaks are predicted.",
        ),
        (
            ["exact", "unknown-provider"],
            "2 exchanges in 1 session. No caching rules are known for the model of 1 of them, "
            "so no breaks are predicted.",
        ),
    ],
)
def test_a_run_without_rules_does_not_say_that_nothing_breaks(states: list[str], told: str) -> None:
    passed = tuple(
        LoggedExchange(
            n, 0.0, "a", "t", "", "", "", expected={"state": state, "breaks": False, "lost": 0}
        )
        for n, state in enumerate(states)
    )
    assert live.headline(Ledger(Path("run"), 0.0, "", passed, {"a": [*passed]})) == told
