"""How many requests a session is of: the same number wherever it is counted."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

import playground as pg
from playground.cache.answers.requests import billed_for
from playground.cache.answers.what_if import WhatIf
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.plugins.corpus.requests import sent_requests
from playground.plugins.trials.plan import own_calls
from playground.sessions.importing import summary
from playground.sessions.loading import LoadedSession, first_session, load_sessions
from playground.sessions.session import RequestRecord, Session
from playground.sessions.source import Source

BLOCK = """TO LLM 2026-01-02T03:04:0{n}
-------
SYSTEM You edit code.
-------
USER Change a.py.
ASSISTANT Here is how.
-------
USER Change b.py.
-------
ASSISTANT Like this.
-------
USER {ask}
LLM RESPONSE 2026-01-02T03:04:0{n}
ASSISTANT Done.
"""


READ = {"inputCacheRead": 0, "inputCacheCreation": 0}


def counted(loaded: LoadedSession) -> tuple[int, int, int]:
    """By import, corpus and simulation."""
    found = pg.simulate_cache(loaded.session)
    return (
        summary(loaded, [], "")["requests"],
        len(sent_requests(loaded.session).requests),
        len(found.requests) - found.pending,
    )


def test_examples_before_the_first_reply_are_no_requests() -> None:
    """aider sends a conversation of examples with every request."""
    text = "".join(BLOCK.format(n=n, ask=ask) for n, ask in enumerate(["One?", "Two?"]))
    read = list(load_sessions(text))
    assert [counted(each) for each in read] == [(1, 1, 1)] * 2
    assert [each.session.messages[each.session.replies[0]].text for each in read] == ["Done."] * 2


def test_examples_are_no_requests_where_calls_are_joined_either() -> None:
    say, call = TextPart("so"), ToolCallPart("c", "look", {})
    result = ToolResultPart("c", "look", "it")
    round_ = (Message("assistant", (call,)), Message("tool", (result,)))
    ask = Message("user", (say,))
    messages = (ask, *round_, ask, *round_, *round_, Message("assistant", (say,)))
    records = tuple(RequestRecord(reply=n) for n in (4, 6, 8))
    session = Session(messages=messages, requests=records)
    assert session.replies == [4, 6, 8]
    assert len(pg.simulate_cache(session).requests) == 3
    assert len(pg.simulate_cache(session, what_if=WhatIf(parallel=2)).requests) == 2
    assert [each.message for each in own_calls(session)] == [4, 6]


@pytest.mark.parametrize("recorded", [(), (-1,)])
def test_a_session_that_records_no_reply_has_one_for_each_answer(recorded: tuple[int, ...]) -> None:
    say = (TextPart("so"),)
    messages = tuple(Message(role, say) for role in ("user", "assistant", "user", "assistant"))
    records = tuple(RequestRecord(reply=n) for n in recorded)
    session = Session(messages=messages, requests=records)
    assert session.replies == [1, 3]
    assert counted(LoadedSession(session, [])) == (2, 2, 2)


def test_answers_of_which_nothing_is_known_are_counted_beside_others() -> None:
    known = {"role": "assistant", "content": "b", "usage": {"input_tokens": 5, "output_tokens": 1}}
    ask, unknown = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}
    for answers in ([known, unknown], [unknown, known], [unknown, unknown]):
        messages = [message for answer in answers for message in (ask, answer)]
        lines = "".join(f"{json.dumps(message)}\n" for message in messages)
        assert counted(first_session(Source("chat.jsonl", lines.encode()))) == (2, 2, 2)


def test_what_a_codex_compaction_says_anew_answered_no_request() -> None:
    def item(role: str, text: str) -> dict[str, object]:
        content = [{"type": "output_text", "text": text}]
        return {"type": "message", "role": role, "content": content}

    def line(n: int, kind: str, payload: Mapping[str, object]) -> str:
        told = {"timestamp": f"2026-01-02T03:04:0{n}Z", "type": kind, "payload": payload}
        return json.dumps(told) + "\n"

    compacted = {"message": "", "replacement_history": [item("user", "a"), item("assistant", "z")]}
    text = (
        line(0, "session_meta", {"id": "s"})
        + line(1, "response_item", item("user", "a"))
        + line(2, "response_item", item("assistant", "b"))
        + line(3, "compacted", compacted)
        + line(4, "response_item", item("user", "c"))
        + line(5, "response_item", item("assistant", "d"))
    )
    loaded = first_session(Source("rollout.jsonl", text.encode()))
    assert sum(each.role == "assistant" for each in loaded.session.messages) == 3
    assert counted(loaded) == (2, 2, 2)


def test_the_bill_of_a_kimi_compaction_is_not_that_of_the_answer_before_it() -> None:
    def line(kind: str, **fields: object) -> str:
        return json.dumps({"type": kind, "time": 1785617920000, **fields}) + "\n"

    def bill(count: int) -> str:
        return line("usage.record", model="m", usage={**READ, "inputOther": count, "output": 1})

    part = {"type": "content.part", "part": {"type": "text", "text": "b"}}
    text = (
        line("metadata", protocol_version="1")
        + line("context.append_message", message={"role": "user", "content": "a"})
        + line("context.append_loop_event", event=part)
        + bill(7)
        + bill(900)  # of the compaction
        + line("context.apply_compaction", summary="short", compactedCount=2)
    )
    loaded = first_session(Source("wire.jsonl", text.encode()))
    (billed,) = billed_for(loaded.session)
    assert billed is not None and billed.total == 7
    assert counted(loaded)[:2] == (1, 1)
    assert [each.reply for each in loaded.session.requests] == [1, -1]
