"""What the Cache page tells of a request: as it was brought, and of its size in one voice."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import playground as pg
from playground.questions.cache.as_sent import simulate_sent
from playground.questions.cache.headline import headline
from playground.questions.cache.what_if import WhatIf
from playground.questions.cache.wire import cache_as_sent
from playground.sessions.loading import first_session
from playground.sessions.source import Source

SIZES = [
    (name, policy, model)
    for name in ("01-plain-chat", "05-call-in-a-fence", "06-cache-eight-turns", "09-reasoning")
    for policy in ("azad", "none", "system-only")
    for model in ("anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro", "openai/gpt-5")
]


@pytest.mark.parametrize(("name", "policy", "model"), SIZES)
def test_the_headline_and_the_line_below_it_tell_one_size(
    name: str, policy: str, model: str
) -> None:
    """They told 542 and 2,802 tokens of one request: up to the last mark, and in all."""
    session = pg.sample_sessions()[name]
    pending = WhatIf(pending=True)
    given = {"dialect": "xml", "policy": policy, "model": model}
    told = headline(pg.simulate_cache(session, **given, what_if=pending)).text  # type: ignore[arg-type]
    (size,) = re.findall(r"about ([\d,]+) tokens", told)
    assert f"about {size} tokens" in pg.place_cache(session, **given).thresholds


def test_a_provider_that_caches_by_itself_is_not_told_to_lack_marks() -> None:
    session = pg.sample_sessions()["01-plain-chat"]
    told = headline(pg.simulate_cache(session, model="openai/gpt-5", dialect="xml")).text
    assert told.startswith("The provider caches by itself, without marks; nothing can be read: ")
    long = pg.session("water and wind. " * 500, model="openai/gpt-5")
    assert headline(pg.simulate_cache(long)).text.startswith(
        "The provider caches by itself, without marks: the first request only writes, "
    )


MARKED = {
    "model": "claude-sonnet-4-5",
    "system": [
        {"type": "text", "text": "You keep the harbour. " * 300},
        {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}},
    ],
    "tools": [
        {"name": "tides", "input_schema": {"type": "object"}, "cache_control": {"ttl": "1h"}}
    ],
    "messages": [{"role": "user", "content": "High tide?"}],
}


def test_a_request_that_was_brought_keeps_its_own_marks() -> None:
    session = load_session_of(MARKED)
    sent = cache_as_sent(session)
    assert sent is not None
    assert [(b.tier, b.ttl) for b in sent.marks] == [("tools", "1h"), ("system", "5m")]
    assert sent.calls[0].body == MARKED
    found = headline(simulate_sent(session))
    assert found.text.startswith("2 marks: the first request only writes, the next one can read.")
    bare = {key: value for key, value in MARKED.items() if key not in ("system", "tools")}
    unmarked = cache_as_sent(load_session_of(bare))
    assert unmarked is not None and unmarked.marks == []
    assert cache_as_sent(load_session_of({"messages": MARKED["messages"]})) is None


def load_session_of(body: dict[str, Any]) -> pg.Session:
    return first_session(Source("request.json", json.dumps(body).encode())).session
