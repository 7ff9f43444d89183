"""Questions and their answers in words: raw prompts, cache marks, what changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import playground as pg
from playground.base.errors import InputFault
from playground.base.findings import finding
from playground.cache.answers.headline import headline
from playground.cache.answers.placement import place_cache
from playground.cache.answers.requests import sent_at
from playground.cache.answers.what_if import WhatIf
from playground.cache.answers.wire import cache_on_wire, lost_marks
from playground.dialects.raw_prompts import ChatTemplate
from playground.dialects.rendering import Draft
from playground.dialects.request_messages import Rendering, RequestMessages
from playground.llm.payloads import WireCall
from playground.nouns.events import FindingEvent, Span, TextEvent
from playground.nouns.messages import ToolCallPart
from playground.nouns.prompt_data import DynamicTaskConfig
from playground.questions.experiments import EventChange, change_words
from playground.questions.raw_prompt import paired_dialect, raw_prompt
from playground.questions.restreaming import answers, restreamed
from playground.recordings.recording import Recording, TextChunk
from playground.sessions.session import RequestRecord

SESSION = pg.sample_sessions()["02-parallel-calls"]
HERMES = ChatTemplate(
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{% for c in m.tool_calls or [] %}<tool_call>\n{{ c.function | tojson }}\n</tool_call>"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MARK = {"cache_control": {"type": "ephemeral"}}
PICTURE = "data:image/png;base64,iVBORw0KGgo="
WITHOUT_CALLS = ChatTemplate("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}")


def test_a_raw_prompt_names_the_dialect_that_reads_the_reply() -> None:
    made = raw_prompt(SESSION.prompt_data(), "llama3")
    assert made.dialect == "llama3-json"
    assert made.text.startswith("<|begin_of_text|><|start_header_id|>system<|end_header_id|>")
    assert raw_prompt(SESSION.prompt_data(), "llama4").dialect == "llama4-pythonic"
    of_template = raw_prompt(SESSION.prompt_data(), HERMES)
    assert (of_template.dialect, of_template.format) == ("hermes", "chat-template")
    assert of_template.text.endswith("<|im_start|>assistant\n")
    with pytest.raises(InputFault, match="no-such-file.jinja: No such file or directory"):
        raw_prompt(SESSION.prompt_data(), "no-such-file.jinja")


def test_a_template_that_writes_no_calls_is_paired_with_no_dialect() -> None:
    assert paired_dialect(HERMES) == "hermes"
    assert paired_dialect(WITHOUT_CALLS) == ""
    assert paired_dialect(ChatTemplate("{{ raise_exception('no tools here') }}")) == ""


def test_what_if_has_the_sessions_own_environment_or_a_stand_in() -> None:
    own = replace(
        SESSION, dynamic=DynamicTaskConfig(dynamic_environment_details_block="# Environment\nx")
    )
    bare = replace(SESSION, dynamic=DynamicTaskConfig())
    assert WhatIf().environment_of(own) == WhatIf("after").environment_of(own) == "# Environment\nx"
    assert WhatIf("none").environment_of(own) == ""
    assert WhatIf().environment_of(bare) == ""
    assert WhatIf("inside").environment_of(bare).startswith("# Environment\nopen file: ")


def test_thresholds_are_told_in_tokens_and_for_gemini_in_characters_too() -> None:
    told = place_cache(SESSION, "xml", model="anthropic/claude-sonnet-4-5").thresholds
    assert told == (
        "3 marks; about 690 tokens (525 to 943): too few, this model caches 1,024 or more"
    )
    gemini = place_cache(SESSION, "xml", model="gemini/gemini-2.5-pro").thresholds
    assert gemini.endswith(
        "; 2,360 of 2,360 characters count for Gemini (the policy azad needs 16,000 for a mark)"
    )
    unknown = place_cache(SESSION, "xml", model="nobody/knows").thresholds
    assert unknown.endswith("; no minimum is known for this model")


def test_marks_that_arrive_are_not_lost_and_those_that_do_not_are_named() -> None:
    rendering = (
        pg.get_dialect("xml")
        .with_policy("azad")
        .render(SESSION.with_model("anthropic/claude-sonnet-4-5").prompt_data())
    )
    marked = [
        (index, number)
        for index, message in enumerate(rendering.messages)
        for number, part in enumerate(message["content"])
        if isinstance(part, dict) and "cache_control" in part
    ]
    assert marked
    sent = cache_on_wire(SESSION, "xml", policy="azad", model="anthropic/claude-sonnet-4-5")
    assert (sent.findings, lost_marks(rendering, sent.calls)) == ([], [])
    dropped = cache_on_wire(SESSION, "xml", policy="azad", model="openai/gpt-4o")
    lost = lost_marks(rendering, dropped.calls)
    assert [found.code for found in lost] == ["mark-lost"] * len(marked)
    assert [found.where for found in lost] == [f"message {m} part {p}" for m, p in marked]


@pytest.mark.parametrize(
    "last",
    [
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": ""}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": PICTURE}}]},
        {"role": "assistant", "tool_calls": [{"id": "c2", "function": {"name": "look"}}]},
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_sent", [True, False])
def test_a_mark_on_a_block_without_a_text_is_lost_too(last: dict[str, Any], is_sent: bool) -> None:
    """An empty text is in any other, so such a mark took another mark's place."""
    field = "tool_calls" if "tool_calls" in last else "content"
    marked = last | {field: [last[field][0] | MARK]}
    text = {"role": "user", "content": [{"type": "text", "text": "go on"} | MARK]}
    calls = [WireCall("POST", "", {"messages": [marked if is_sent else last, text]})]
    request = RequestMessages.as_written([Draft(marked), Draft(text)])
    lost = [mark.where for mark in lost_marks(Rendering("native", request, None, []), calls)]
    assert (len(lost), "message 1 part 0" in lost) == (not is_sent, False)


def test_a_change_is_a_row_of_words() -> None:
    text = TextEvent(span=Span(3, 5), text="ab")
    assert change_words(EventChange("removed", text)) == ("removed", "text", "3-5", "ab")
    found = FindingEvent(span=Span(5, 6), text="<", finding=finding("malformed-json", "call"))
    change, event, span, said = change_words(EventChange("added", found))
    assert (change, event, span) == ("added", "finding", "5-6")
    assert said.startswith("malformed-json: ")


def test_times_of_requests_count_from_the_first_or_are_not_known() -> None:
    at = ["2026-01-05T10:00:00+00:00", "2026-01-05T11:00:30+01:00"]
    records = tuple(RequestRecord(reply, at=time) for reply, time in zip((1, 3), at, strict=True))
    timed = replace(SESSION, requests=records)
    assert sent_at(timed, [1, 3]) == [0.0, 30.0]
    assert sent_at(timed, [1, 3, 5]) == [0.0, 30.0, 30.0]  # as late as the one before
    assert sent_at(timed, [0, 1, 3]) == [0.0, 0.0, 30.0]
    assert sent_at(timed, [1, 3, 5, 7, 9]) is None  # more than half say nothing
    assert sent_at(replace(SESSION, requests=()), [1]) is None


HEADLINES = [
    (
        {},
        "good",
        "15 requests: 88 % of the input is read from the cache. It probably costs 24 % of",
    ),
    (
        {"dialect": "native"},
        "idle",
        "2 marks, probably none can hit: about 1,004 tokens up to the last one",
    ),
    (
        {"policy": "none"},
        "idle",
        "No marks, and nothing is written or read. It costs the full",
    ),
    ({"seconds_apart": 330}, "idle", "3 marks: what is written is probably not read again."),
    ({"what_if": WhatIf("inside")}, "broken", "15 requests: 78 % of the input is read"),
    ({"model": "nobody/knows"}, "idle", "15 requests: no caching rules are known for this model"),
    ({"model": "openai/gpt-5"}, "good", "15 requests: 86 % of the input is read from the cache."),
]


@pytest.mark.parametrize(("given", "verdict", "begins"), HEADLINES)
def test_one_sentence_says_what_a_simulation_comes_to(
    given: dict[str, Any], verdict: str, begins: str
) -> None:
    session = pg.sample_sessions()["12-long-tool-run"]
    found = headline(pg.simulate_cache(session, **{"dialect": "xml", "policy": "azad", **given}))
    assert (found.verdict, found.text[: len(begins)]) == (verdict, begins)


def test_the_request_that_nobody_has_answered_yet_is_simulated_unless_left_out() -> None:
    session = pg.sample_sessions()["03-long-file"]
    sent = pg.simulate_cache(session, dialect="xml", what_if=WhatIf(pending=False))
    all_of_them = pg.simulate_cache(session, dialect="xml")
    assert (len(sent.requests), len(all_of_them.requests)) == (2, 3)
    assert (sent.pending, all_of_them.pending) == (False, True)
    assert all_of_them.requests[:2] == sent.requests
    assert all_of_them.requests[2].read > 8_000
    answered = pg.sample_sessions()["12-long-tool-run"]  # ends with an answer: nothing is to come
    assert len(pg.simulate_cache(answered, dialect="native").requests) == 15


def test_a_restreamed_answer_is_read_back_by_the_dialect_that_wrote_it() -> None:
    session = pg.sample_sessions()["12-long-tool-run"]
    assert list(answers(session))[-1] == "answer in message 1, re-streamed"
    for name, number in answers(session).items():
        found = pg.replay(restreamed(session, name, "hermes"), "hermes", session.tools).result
        calls = [p for p in session.messages[number].parts if isinstance(p, ToolCallPart)]
        assert [(c.name, c.arguments) for c in found.tool_calls] == [
            (call.tool_name, call.args) for call in calls
        ]
    with pytest.raises(InputFault, match="not an answer of this session"):
        restreamed(session, "another", "hermes")
    with pytest.raises(InputFault, match="native does not write calls as text"):
        restreamed(session, "answer in message 1, re-streamed", "native")


def test_a_timeline_tells_what_was_known_after_a_step() -> None:
    chunks = tuple(map(TextChunk, ["So: <f><path>a</pa", "th></f>", " Done."]))
    tool = pg.ToolMetadata(name="f", parameters={"path": "text"})
    timeline = pg.replay(Recording("cut", "xml", chunks), "xml", [tool])
    told = [(timeline.until(step).content, len(timeline.until(step).tool_calls)) for step in (0, 1)]
    assert told == [("So: ", 0), ("So: ", 1)]
    last = len(timeline.steps) - 1
    assert timeline.until(last).content == "So:  Done."
    assert timeline.until(last).events == timeline.result.events
