"""What a request held whose history was replaced: the session says it, all goes by it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import playground as pg
from playground.base.errors import InputFault
from playground.cache.answers.headline import headline
from playground.cache.answers.known_rules import known_rules
from playground.cache.answers.requests import render_requests
from playground.cache.answers.what_if import WhatIf
from playground.dialects import get_dialect
from playground.nouns.messages import Message, Role, TextPart
from playground.plugins.corpus.requests import sent_requests
from playground.sessions.checks import check, repair
from playground.sessions.loading import first_session, load_session
from playground.sessions.message_order import with_messages
from playground.sessions.native_format import dump_session
from playground.sessions.session import Compaction, RequestRecord, Session
from playground.sessions.source import Source
from playground.sessions.stretches import stretches

DIALECTS = pg.dialect_names()
SOME = ("native", "hermes", "xml", "llama3-json")


def said(role: Role, text: str) -> Message:
    return Message(role, (TextPart(text),))


def words(session: Session) -> list[str]:
    return [message.text for message in session.prompt_data().messages]


ROLES: list[Role] = ["system", *("user", "assistant") * 5, "user"]
MESSAGES = tuple(said(role, f"{role} {number}") for number, role in enumerate(ROLES))
#          0       1     2          3     4          5        6          7     8      …  11
# the summary is message 5, behind which message 3 and 4 stay
CUT = Session(
    messages=(*MESSAGES[:5], said("user", "the summary"), *MESSAGES[6:]),
    compactions=(Compaction(5, history=(5, 3, 4)),),
)


def test_the_next_request_begins_with_what_the_compaction_left() -> None:
    expected = ["system 0", "the summary", "user 3", "assistant 4"]
    later = [message.text for message in CUT.messages[6:]]
    assert words(CUT) == [*expected, *later]
    # a request before it holds all that was said before
    assert CUT.history(4) == [0, 1, 2, 3]
    assert CUT.history(6) == [0, 5, 3, 4]
    assert CUT.history(8) == [0, 5, 3, 4, 6, 7]


def test_where_nobody_says_what_stayed_only_what_follows_is_there() -> None:
    unsaid = replace(CUT, compactions=(Compaction(5),))
    assert unsaid.history(8) == [0, 5, 6, 7]
    found = pg.simulate_cache(unsaid, model="claude-sonnet-4-5", policy="claude-code")
    assert "compaction-unsaid" in [each.code for each in found.findings]
    (listed,) = [each for each in check(unsaid) if each.code == "compaction-unsaid"]
    assert (listed.severity, listed.where) == ("info", "messages.5")
    assert not [each for each in check(CUT) if each.code == "compaction-unsaid"]
    told = pg.simulate_cache(CUT, model="claude-sonnet-4-5", policy="claude-code")
    assert "compaction-unsaid" not in [each.code for each in told.findings]


@st.composite
def compacted(draw: st.DrawFn) -> Session:
    """A conversation with compactions at any places, which keep any messages in any order."""
    count = draw(st.integers(2, 14))
    spoken: list[Role] = ["user", "assistant"]
    roles = [draw(st.sampled_from(spoken)) for _ in range(count)]
    messages = tuple(said(role, f"{role} {n}") for n, role in enumerate(roles))
    if draw(st.booleans()):
        messages = (said("system", "be brief"), *messages)
    places = draw(st.lists(st.integers(0, len(messages)), max_size=3, unique=True))
    kept = st.lists(st.integers(0, len(messages) - 1), max_size=4, unique=True).map(tuple)
    cuts = [Compaction(place, history=draw(st.none() | kept)) for place in sorted(places)]
    return Session(messages=messages, compactions=tuple(cuts))


@given(session=compacted(), name=st.sampled_from(DIALECTS))
def test_every_request_is_written_as_a_session_of_what_it_held(session: Session, name: str) -> None:
    dialect, rules = get_dialect(name).with_policy("none"), known_rules("anthropic", "")
    found = render_requests(session, dialect, rules, None, WhatIf(pending=False))
    stops = session.replies
    for rendered, stop in zip(found, stops or [len(session.messages)], strict=True):
        alone = Session(messages=tuple(session.messages[i] for i in session.history(stop)))
        assert list(rendered.messages) == list(dialect.render(alone.prompt_data()).messages)


@given(session=compacted())
def test_every_way_to_ask_sees_the_same_history(session: Session) -> None:
    """The corpus, tokens, placement and the what-if go by the one history."""
    stops = session.replies
    texts = [[session.messages[i] for i in session.history(stop)] for stop in stops]
    sizes = [
        sum(len(each.text) for each in held if each.role in ("user", "assistant")) for held in texts
    ]
    seen = sent_requests(session).requests
    assert [sum(request.sizes[2:4]) for request in seen] == sizes
    if stops:
        (row,) = pg.compaction(session, policies=["keep everything"]).rows
        assert [len(body["messages"]) for body in row.bodies] == [
            len(get_dialect("native").render(_of(held).prompt_data()).messages) for held in texts
        ]
    plain = _of([session.messages[i] for i in session.history()])
    if plain.messages:
        assert pg.count_tokens(session, model="gpt-4o") == pg.count_tokens(plain, model="gpt-4o")
        both = (pg.place_cache(each, "native", policy="claude-code") for each in (session, plain))
        assert len({len(placed.parts) for placed in both}) == 1


def _of(messages: list[Message]) -> Session:
    return Session(messages=tuple(messages))


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("rounds", [1, 2])
def test_what_ifs_hold_the_same_history(name: str, rounds: int) -> None:
    rules = known_rules("anthropic", "")
    changed = WhatIf(parallel=rounds, shuffled_tools=True)
    found = render_requests(CUT, get_dialect(name), rules, 20.0, changed)
    last = json.dumps(found[-1].messages, default=list)
    said_ = set(re.findall(r"(?:user|assistant) \d+|the summary", last))
    assert said_ >= {"the summary", "user 3", "user 11"} and "user 1" not in said_


def test_bills_stand_beside_their_requests_and_the_break_is_a_compaction() -> None:
    usages = [
        {"input_tokens": 1, "cache_creation_input_tokens": 9_000 + n, "cache_read_input_tokens": 0}
        for n in range(5)
    ]
    replies = [i for i, message in enumerate(CUT.messages) if message.role == "assistant"]
    records = tuple(
        RequestRecord(reply, usage=usage) for reply, usage in zip(replies, usages, strict=True)
    )
    found = pg.simulate_cache(replace(CUT, requests=records), model="claude-sonnet-4-5")
    assert [bill.write for bill in found.billed if bill] == [9_000 + n for n in range(5)]
    difference = found.differences[2]
    assert difference is not None and difference.cause == "compacted"


def test_a_compaction_that_the_session_asked_for_is_no_break() -> None:
    system, _, *others = CUT.messages
    long = replace(CUT, messages=(system, said("user", "observations " * 4_000), *others))
    found = pg.simulate_cache(long, model="claude-sonnet-4-5")
    assert found.requests[1].cached_after > found.requests[2].total
    assert (found.compacted, found.breaks) == ([2], [])
    assert found.failures(no_cache_break=True) == []
    assert headline(found).verdict == "good"
    assert "Nothing breaks; the session compacted its history." in headline(found).text
    assert "compacted" in found.why(2)


def test_ways_of_shortening_begin_anew_where_the_session_compacted() -> None:
    found = pg.compaction(CUT, policies=["keep last messages"], keep=1)
    last = [message.get("content") for message in found.rows[1].bodies[-1]["messages"]]
    assert "the summary" in str(last) and len(last) == 3
    assert found.notes[0] == (
        "The session itself compacted its history before turn 3; every policy starts from that."
    )


# formats


def lines(*values: dict[str, Any]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def imported(tmp_path: Path, name: str, text: str) -> Session:
    path = tmp_path / name
    path.write_text(text)
    return load_session(path)


def pi(kind: str, number: int, **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": f"e{number}", "parentId": f"e{number - 1}", **more}


def pi_said(number: int, role: str) -> dict[str, Any]:
    content = [{"type": "text", "text": f"{role} {number}"}]
    return pi("message", number, message={"role": role, "content": content})


PI_HEAD = {"type": "session", "id": "e0", "timestamp": "2026-01-02T03:04:05Z", "cwd": "/w"}
PI = [PI_HEAD, *(pi_said(n, "user" if n % 2 else "assistant") for n in range(1, 7))]


@pytest.mark.parametrize("kept", [{"firstKeptEntryId": "e5"}, {"firstKeptEntryIndex": 5}])
def test_pi_says_from_which_message_on_the_history_stays(
    tmp_path: Path, kept: dict[str, Any]
) -> None:
    cut = pi("compaction", 7, summary="what was done", tokensBefore=9, **kept)
    session = imported(tmp_path, "a.jsonl", lines(*PI, cut, pi_said(8, "user")))
    assert words(session) == ["what was done", "user 5", "assistant 6", "user 8"]
    # a second one takes nothing of the first one's summary
    rest = [pi_said(8, "user"), pi_said(9, "assistant")]
    again = pi("compaction", 10, summary="all of it", firstKeptEntryId="e6")
    session = imported(tmp_path, "b.jsonl", lines(*PI, cut, *rest, again, pi_said(11, "user")))
    assert words(session) == ["all of it", "assistant 6", "user 8", "assistant 9", "user 11"]


def test_the_summary_of_another_branch_of_pi_replaces_nothing(tmp_path: Path) -> None:
    branch = pi("branch_summary", 7, summary="tried there", fromId="x")
    session = imported(tmp_path, "a.jsonl", lines(*PI, branch, pi_said(8, "user")))
    assert words(session)[-2:] == ["tried there", "user 8"]
    assert len(words(session)) == 8 and not session.compactions


def claude(number: int, role: str, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": f"{role} {number}"}
    shared = {"sessionId": "s", "uuid": f"u{number}", "parentUuid": f"u{number - 1}"}
    return {"type": role, **shared, "timestamp": "2026-01-02T03:04:05Z", "message": message, **more}


def boundary(**about: Any) -> dict[str, Any]:
    line = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "sessionId": "s"}
    return {**line, "timestamp": "2026-01-02T03:04:05Z", "compactMetadata": about}


CLAUDE = [claude(n, "user" if n % 2 else "assistant") for n in range(1, 7)]
SUMMARY = claude(7, "user", isCompactSummary=True)


def test_claude_code_keeps_nothing_but_a_segment_that_it_names(tmp_path: Path) -> None:
    end = claude(8, "assistant")
    plain = lines(*CLAUDE, boundary(preTokens=9), SUMMARY, end)
    assert words(imported(tmp_path, "a.jsonl", plain)) == ["user 7", "assistant 8"]
    named = {"headUuid": "u5", "tailUuid": "u6", "anchorUuid": "u7"}
    kept = lines(*CLAUDE, boundary(preservedSegment=named), SUMMARY, end)
    expected = ["user 7", "user 5", "assistant 6", "assistant 8"]
    assert words(imported(tmp_path, "b.jsonl", kept)) == expected
    listed = {"anchorUuid": "u7", "uuids": ["u4", "u6"]}
    kept = lines(*CLAUDE, boundary(preservedMessages=listed), SUMMARY, end)
    expected = ["user 7", "assistant 4", "assistant 6", "assistant 8"]
    assert words(imported(tmp_path, "c.jsonl", kept)) == expected


def codex(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"type": "response_item", "timestamp": "2026-01-02T03:04:05Z", "payload": item}


def test_codex_lists_what_the_history_is_replaced_by(tmp_path: Path) -> None:
    head = {"type": "session_meta", "payload": {"id": "s", "instructions": "be brief"}}
    said_ = [codex("user", "one"), codex("assistant", "two"), codex("user", "three"),
             codex("assistant", "four")]  # fmt: skip
    listed = [codex("user", text)["payload"] for text in ("one", "three, cut", "the summary")]
    cut = {"type": "compacted", "payload": {"message": "", "replacement_history": listed}}
    text = lines(head, *said_, cut, codex("user", "five"))
    expected = ["be brief", "one", "three, cut", "the summary", "five"]
    assert words(imported(tmp_path, "a.jsonl", text)) == expected


def test_openhands_lists_what_is_forgotten_and_where_the_summary_stands(tmp_path: Path) -> None:
    def event(number: int, role: str) -> dict[str, Any]:
        content = [{"type": "text", "text": f"{role} {number}"}]
        message = {"role": role, "content": content}
        source = "user" if role == "user" else "agent"
        return {"id": f"e{number}", "kind": "MessageEvent", "source": source,
                "timestamp": "2026-01-02T03:04:05", "llm_message": message}  # fmt: skip

    events = [event(n, "user" if n % 2 else "assistant") for n in range(1, 7)]
    cut = {"id": "c", "kind": "Condensation", "source": "environment", "summary": "what was done",
           "forgotten_event_ids": ["e2", "e3", "e4"], "summary_offset": 1,
           "timestamp": "2026-01-02T03:04:05"}  # fmt: skip
    text = json.dumps([*events, cut, event(8, "user")])
    expected = ["user 1", "what was done", "user 5", "assistant 6", "user 8"]
    assert words(imported(tmp_path, "a.json", text)) == expected


def test_kimi_says_how_many_messages_are_in_the_summary(tmp_path: Path) -> None:
    def line(number: int, role: str) -> dict[str, Any]:
        content = [{"type": "text", "text": f"{role} {number}"}]
        message = {"role": role, "content": content, "toolCalls": []}
        return {"type": "context.append_message", "time": 1785619064648, "message": message}

    head = {"type": "metadata", "protocol_version": "1.4", "created_at": 1785619064648}
    before = [line(n, "user" if n % 2 else "assistant") for n in range(1, 7)]
    cut = {"type": "context.apply_compaction", "summary": "what was done", "compactedCount": 4}
    session = imported(tmp_path, "wire.jsonl", lines(head, *before, cut, line(8, "user")))
    assert words(session) == ["what was done", "user 5", "assistant 6", "user 8"]
    which = {**cut, "keptUserMessageCount": 2}  # how many, but not which
    session = imported(tmp_path, "wire.jsonl", lines(head, *before, which, line(8, "user")))
    assert session.compactions[0].history is None
    assert words(session) == ["what was done", "user 8"]


def test_opencode_says_where_the_tail_begins_that_stays(tmp_path: Path) -> None:
    def message(number: int, role: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
        info = {"id": f"m{number}", "sessionID": "s", "role": role, "time": {"created": number}}
        told = parts or ({"type": "text", "text": f"{role} {number}"},)
        return {"info": {**info, **more}, "parts": list(told)}

    listed = [message(n, "user" if n % 2 else "assistant") for n in range(1, 7)]
    cut = message(7, "user", {"type": "compaction", "auto": True, "tail_start_id": "m5"})
    summary = message(8, "assistant", summary=True)
    info = {"id": "s", "projectID": "p", "title": "t", "version": "1", "time": {"created": 1}}
    value = {"info": info, "messages": [*listed, cut, summary, message(9, "user")]}
    session = imported(tmp_path, "a.json", json.dumps(value))
    sent = list(filter(None, words(session)))  # what asks for the summary has no text of its own
    assert sent == ["assistant 8", "user 5", "assistant 6", "user 9"]
    # the summary was made of everything before it
    stop = next(i for i, each in enumerate(session.messages) if each.text == "assistant 8")
    assert len(session.history(stop)) == 7


def copilot(*lines: dict[str, Any]) -> Session:
    events = [{"id": "e", "timestamp": "2026-01-05T10:00:00Z", **line} for line in lines]
    data = "".join(json.dumps(line) + "\n" for line in events).encode()
    return first_session(Source("events.jsonl", data), "copilot-cli").session


def event(role: str, text: str) -> dict[str, Any]:
    return {"type": f"{role}.message", "data": {"content": text}}


TALK = [event("system", "S"), *(event(role, role[0] + str(n)) for n in (1, 2) for role in
        ("user", "assistant"))]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "more", "kept"),
    [
        (
            "truncation",
            {"reason": "context_limit", "droppedTokens": 9},
            ["S", "u1", "a1", "u2", "a2"],
        ),
        ("truncation", {"messagesRemovedDuringTruncation": 0}, ["S", "u1", "a1", "u2", "a2"]),
        ("truncation", {"messagesRemovedDuringTruncation": 2}, ["S", "u2", "a2"]),
        ("truncation", {"messagesRemovedDuringTruncation": 99}, ["S"]),
        ("compaction_complete", {"preCompactionTokens": 9}, ["S", "u1", "a1", "u2", "a2"]),
    ],
)
def test_what_is_left_out_is_what_the_log_says_and_never_all(
    kind: str, more: dict[str, Any], kept: list[str]
) -> None:
    """A last line that told of a truncation left one message of the session, without a finding."""
    ended = copilot(*TALK, {"type": f"session.{kind}", "data": more})
    assert [each.text for each in ended.prompt_data().messages] == kept
    gone_on = copilot(*TALK, {"type": f"session.{kind}", "data": more}, event("user", "u3"))
    unsaid = kind == "compaction_complete"  # what is said since is known to be held
    held = ["S", "u3"] if unsaid else [*kept, "u3"]
    assert [each.text for each in gone_on.prompt_data().messages] == held


def test_a_session_keeps_what_its_compactions_left(tmp_path: Path) -> None:
    path = tmp_path / "a.session.json"
    path.write_text(dump_session(CUT))
    assert load_session(path).compactions == CUT.compactions
    moved = with_messages(CUT, [0, 2, 3, 4, 5, 6, 7])
    assert moved.compactions == (Compaction(4, history=(4, 2, 3)),)
    empty = replace(CUT, messages=(*CUT.messages[:1], Message("user", ()), *CUT.messages[2:]))
    mended, _ = repair(empty)
    assert mended.compactions == (Compaction(4, history=(4, 2, 3)),)
    assert words(mended) == words(CUT)


def test_a_compaction_names_messages_that_there_may_be(tmp_path: Path) -> None:
    plain = {"format": "playground-session/1", "messages": []}
    for wrong in ({"message": -1}, {"message": 0, "history": [-1]}):
        (tmp_path / "a.json").write_text(json.dumps({**plain, "compactions": [wrong]}))
        with pytest.raises(InputFault, match=r"field compactions\.0\..*equal to 0"):
            load_session(tmp_path / "a.json")
    far = replace(CUT, compactions=(Compaction(10**12, history=(10**12,)),))
    assert [(*each.lengths,) for each in stretches(far, [2, 4])] == [(2, 4)]
    assert far.history() == list(range(12))


def test_what_no_id_names_is_not_guessed(tmp_path: Path) -> None:
    nameless = {**claude(1, "user"), "uuid": None}
    about = boundary(preservedSegment={"tailUuid": "u2", "anchorUuid": "u7"})
    text = lines(nameless, claude(2, "assistant"), about, SUMMARY)
    session = imported(tmp_path, "a.jsonl", text)
    assert session.compactions[0].history is None


def test_what_codex_keeps_is_no_message_again_and_nothing_is_made_up(tmp_path: Path) -> None:
    def line(**payload: Any) -> dict[str, Any]:
        return {**codex("user", ""), "payload": payload}

    call = {"type": "function_call", "name": "tide", "call_id": "c", "arguments": "{}"}
    done = {"type": "function_call_output", "call_id": "c", "output": "high"}
    odd = {**call, "call_id": "d", "arguments": '{"port": "\\ud800"}'}
    listed = [done, odd, codex("user", "the summary")["payload"]]
    cut = {"type": "compacted", "payload": {"replacement_history": listed}}
    text = lines(line(**call), line(**done), cut, line(**{**done, "call_id": "d"}))
    session = imported(tmp_path, "a.jsonl", text)
    assert session.compactions[0].history == (1, 2, 3)
    (kept,), (last,) = session.messages[1].tool_results, session.messages[-1].tool_results
    assert (kept.tool_name, last.tool_name) == ("tide", "tide")
    assert session.messages[2].tool_calls[0].args == {"port": "\N{REPLACEMENT CHARACTER}"}
    nothing = {"type": "compacted", "payload": {"message": None}}
    session = imported(tmp_path, "b.jsonl", lines(codex("user", "one"), nothing))
    assert words(session) == ["one"] and len(session.messages) == 1
    branch = pi("branch_summary", 7)
    assert len(imported(tmp_path, "c.jsonl", lines(*PI, branch)).messages) == 6


def codex_cuts(count: int) -> str:
    said_ = [codex("user", f"text {number}") for number in range(count)]
    listed = [each["payload"] for each in said_[::-1]]
    return lines(*said_, {"type": "compacted", "payload": {"replacement_history": listed}})


def openhands_cuts(count: int) -> str:
    events = [
        {"id": f"e{number}", "kind": "MessageEvent", "source": "user",
         "llm_message": {"role": "user", "content": [{"type": "text", "text": "so"}]}}
        for number in range(count)
    ]  # fmt: skip
    gone = [f"x{number}" for number in range(2 * count)]
    return lines(*events, {"kind": "Condensation", "forgotten_event_ids": gone})


def claude_cuts(count: int) -> str:
    cut = boundary(preTokens=1)
    return lines(*(each for n in range(count // 2) for each in (claude(n, "assistant"), cut)))


@pytest.mark.parametrize("written", [codex_cuts, openhands_cuts, claude_cuts])
def test_time_grows_with_what_is_compacted(tmp_path: Path, written: Callable[[int], str]) -> None:
    def taken(count: int) -> float:
        text = written(count)
        begun = process_time()
        session = imported(tmp_path, f"{count}.jsonl", text)
        assert len(list(stretches(session, range(1, len(session.messages)))))
        return process_time() - begun

    few = min(taken(500) for _ in range(3))
    many = min(taken(6000) for _ in range(3))  # one may meet the collector
    assert many < 40 * few  # twelve times as much: 144 times would be the square
