"""Say nothing certain of requests that went to several providers, or to an unknown one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import playground as pg
from playground.sessions.session import RequestRecord

SYSTEM = {"role": "system", "content": "You are the tide clerk of a harbour. " * 400}
OPENAI = "https://api.openai.com"
OTHERS = ("https://api.deepseek.com", "https://llm.example.org")


@pytest.mark.parametrize("policy", ["as-sent", "none"])
@pytest.mark.parametrize("other", OTHERS)
def test_a_read_from_another_providers_cache_is_not_predicted(
    other: str, policy: str, tmp_path: Path
) -> None:
    """Each request was `eligible` to read what another provider had seen, at one price."""
    messages, rows = [SYSTEM], []
    for number, host in enumerate((OPENAI, other, OPENAI)):
        messages = [*messages, {"role": "user", "content": f"Question {number}"}]
        body = {"model": "gpt-4.1", "messages": messages}
        answer = {"role": "assistant", "content": f"Answer {number}"}
        reply = {"model": "gpt-4.1", "choices": [{"index": 0, "message": answer}]}
        uri = f"{host}/v1/chat/completions"
        rows.append({"uri": uri, "date": f"2026-11-01T00:00:0{number}Z", "request": body})
        rows[-1]["response"] = {"object": "chat.completion", **reply}
        messages = [*messages, answer]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    session = pg.load_session(tmp_path / "rows.json")
    simulation = pg.simulate_cache(session, policy=policy)
    assert [one.state for one in simulation.requests] == ["unpredictable"] * 3
    reason = "several providers" if other == OTHERS[0] else "no known provider"
    assert all(reason in one.reason for one in simulation.requests)
    assert simulation.nano_dollars is None
    assert "as predicted" not in " ".join(simulation.origins)


def test_models_of_several_providers_are_predicted_with_doubt_in_a_dialect() -> None:
    """Recorded answers name the models; a rendered row was predicted by the first one's rules."""
    models, messages = ("gpt-4.1", "deepseek-chat", "gpt-4.1"), [SYSTEM]
    for number in range(len(models)):
        messages += [{"role": "user", "content": f"Question {number}"}]
        messages += [{"role": "assistant", "content": f"Answer {number}"}]
    session = pg.session(messages, model=models[0])
    records = tuple(map(RequestRecord, session.replies, models))
    session = replace(session, requests=records)
    own = pg.simulate_cache(session, policy="none")
    assert {one.state for one in own.requests} == {"unpredictable"}
    assert "gpt-4.1, deepseek-chat" in own.requests[0].reason
    assert own.nano_dollars is None
    assert "eligible" in {one.state for one in pg.simulate_cache(session, model="gpt-4.1").requests}


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("anthropic/claude-sonnet-4-5", "<synthetic>"),
        ("openrouter/anthropic/claude-sonnet-4.5", "anthropic/claude-haiku-4.5"),
        ("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-haiku-4-5"),
    ],
)
def test_a_name_without_its_gateway_is_no_other_provider(own: str, other: str) -> None:
    """The requests "went to models of several providers", which nothing showed."""
    turns = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}] * 2
    session = pg.session([SYSTEM, *turns], model=own)
    records = tuple(map(RequestRecord, session.replies, (own, other)))
    found = pg.simulate_cache(replace(session, requests=records), policy="none")
    assert "several providers" not in " ".join(one.reason for one in found.requests)
