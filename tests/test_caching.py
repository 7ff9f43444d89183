"""Marks of the policy `azad`, the model families, and a reason for every decision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from golden_answers import Golden

import playground as pg
from playground.base.errors import UnknownNameError
from playground.base.shared_lists import SharedList
from playground.cache.answers.placement import place_cache
from playground.dialects import dialect_names, get_dialect
from playground.dialects.marks.agents import AGENTS
from playground.dialects.marks.family import model_family
from playground.dialects.marks.policies import (
    GEMINI_MIN_CHARACTERS,
    POLICIES,
    REASONS,
    CacheRequest,
    apply_marks,
    azad,
    text_characters,
)
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import CacheDialect, DynamicTaskConfig, TaskConfig
from playground.questions.comparison import compare
from playground.sessions.session import Session

CLAUDE = CacheRequest("anthropic/claude-sonnet-4-5")
GEMINI = CacheRequest("gemini/gemini-2.5-pro", explicit_caching=True)


def said(role: str, *texts: str) -> dict[str, Any]:
    if len(texts) == 1:
        return {"role": role, "content": texts[0]}
    return {"role": role, "content": [{"type": "text", "text": text} for text in texts]}


def marked(messages: list[dict[str, Any]], request: CacheRequest) -> list[tuple[int, int]]:
    """The places of the marks, read from the messages after they were applied."""
    apply_marks(messages, azad(messages, request))
    return [
        (i, p)
        for i, message in enumerate(messages)
        if isinstance(message["content"], list)
        for p, part in enumerate(message["content"])
        if part.get("cache_control") == {"type": "ephemeral"}
    ]


def reasons(messages: list[dict[str, Any]], request: CacheRequest) -> list[str]:
    return [decision.reason for decision in azad(messages, request)]


# Anthropic


def test_last_system_second_last_user_and_last_user_are_marked() -> None:
    messages = [said("system", "s"), said("user", "a"), said("assistant", "b"), said("user", "c")]
    assert marked(messages, CLAUDE) == [(0, 0), (1, 0), (3, 0)]
    assert messages[1]["content"] == [
        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
    ]


def test_the_last_user_message_with_two_parts_gets_its_last_two_marked() -> None:
    messages = [
        said("system", "s"),
        said("user", "a", "b"),
        said("assistant", "x"),
        said("user", "c", "d", "e"),
    ]
    assert marked(messages, CLAUDE) == [(0, 0), (1, 1), (3, 1), (3, 2)]


def test_an_empty_text_part_is_never_marked() -> None:
    messages = [
        said("system", "s"),
        said("user", "a", ""),
        said("assistant", "x"),
        said("user", "", "b"),
    ]
    assert marked(messages, CLAUDE) == [(0, 0), (3, 1)]
    assert reasons(messages, CLAUDE) == ["last-system", "empty-text", "empty-text", "last-user"]


def test_a_single_user_message_has_no_second_last() -> None:
    messages = [said("system", "s"), said("user", "a")]
    assert marked(messages, CLAUDE) == [(0, 0), (1, 0)]
    assert reasons(messages, CLAUDE) == [
        "last-system",
        "no-such-message",
        "not-chosen",
        "last-user",
    ]


def test_without_any_message_nothing_fails() -> None:
    assert reasons([], CLAUDE) == ["no-such-message"] * 4


# Gemini


def long_chat(characters: int) -> list[dict[str, Any]]:
    messages = [said("system", "s"), said("user", "u"), said("assistant", "a"), said("user", "")]
    messages[3]["content"] = "x" * (characters - text_characters(messages))
    assert text_characters(messages) == characters
    return messages


def test_gemini_is_marked_at_the_threshold_and_not_below() -> None:
    assert marked(long_chat(GEMINI_MIN_CHARACTERS), GEMINI) == [(0, 0), (1, 0), (3, 0)]
    assert marked(long_chat(GEMINI_MIN_CHARACTERS - 1), GEMINI) == []
    assert reasons(long_chat(GEMINI_MIN_CHARACTERS - 1), GEMINI) == ["below-gemini-threshold"]


def test_gemini_needs_explicit_caching_and_an_assistant_message() -> None:
    off = replace(GEMINI, explicit_caching=False)
    assert reasons(long_chat(20_000), off) == ["explicit-caching-off"]
    first = [said("system", "s"), said("user", "x" * 20_000)]
    assert reasons(first, GEMINI) == ["no-assistant-message"]
    assert marked(first, GEMINI) == []


# the choice


@pytest.mark.parametrize(
    ("model", "asked", "first"),
    [
        ("anthropic/claude-3", None, "last-system"),
        ("anthropic/claude-3", CacheDialect.ANTHROPIC, "last-system"),
        ("anthropic/claude-3", CacheDialect.GEMINI, "contradiction"),
        ("gemini/gemini-2.5-pro", None, "last-system"),
        ("gemini/gemini-2.5-pro", CacheDialect.GEMINI, "last-system"),
        ("gemini/gemini-2.5-pro", CacheDialect.ANTHROPIC, "contradiction"),
        ("openai/gpt-5", None, "model-without-marks"),
        ("openai/gpt-5", CacheDialect.ANTHROPIC, "model-without-marks"),
        ("openai/gpt-5", CacheDialect.GEMINI, "model-without-marks"),
    ],
)
def test_the_choice_is_cache_dialect_by_family(
    model: str, asked: CacheDialect | None, first: str
) -> None:
    request = CacheRequest(model, asked, explicit_caching=True)
    messages = long_chat(20_000)
    assert reasons(messages, request)[0] == first
    assert bool(marked(messages, request)) == (first == "last-system")


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("anthropic/claude-sonnet-4-5", "anthropic"),
        ("claude-3-5-haiku-latest", "anthropic"),
        ("vertex_ai/claude-sonnet-4@20250514", "anthropic"),
        ("bedrock/us.anthropic.claude-sonnet-4-20250514-v1:0", "anthropic"),
        ("bedrock/converse/anthropic.claude-3-haiku-20240307-v1:0", "anthropic"),
        ("openrouter/anthropic/claude-sonnet-4.5", "anthropic"),
        ("gemini/gemini-2.5-pro", "gemini"),
        ("vertex_ai/gemini-2.5-flash", "gemini"),
        ("gemini-2.0-flash", "gemini"),
        ("openrouter/google/gemini-2.5-pro", "gemini"),
        ("my-anthropic-clone/llama-3", "other"),
        ("openai/notclaude-like", "other"),
        ("kodu-claude/sonnet", "anthropic"),
        ("litellm_proxy/my-claude-4", "anthropic"),
        ("proxy/eu-gemini-2.5", "gemini"),
        ("ollama/geminix", "other"),
        ("openai/gpt-5", "other"),
        ("", "other"),
    ],
)
def test_a_family_is_recognised_by_name_parts_not_by_a_substring(name: str, family: str) -> None:
    assert model_family(name) == family


# placement


def session(model: str = "anthropic/claude-sonnet-4-5", environment: str = "") -> Session:
    call = ToolCallPart("1", "ls", {})
    return Session(
        task=TaskConfig(model_name=model),
        dynamic=DynamicTaskConfig(dynamic_environment_details_block=environment),
        messages=(
            Message("user", (TextPart("go"),)),
            Message("assistant", (call,)),
            Message("tool", (ToolResultPart("1", "ls", "x"),)),
            Message("user", (TextPart("and now?"),)),
        ),
    )


@pytest.mark.parametrize("dialect", dialect_names())
def test_every_part_has_a_decision_with_a_known_reason(dialect: str) -> None:
    placement = place_cache(session(environment="ENV"), dialect)
    messages = get_dialect(dialect).format_messages(session(environment="ENV").prompt_data())
    seen = {(part.message, part.part) for part in placement.parts}
    wanted = {
        (i, p)
        for i, message in enumerate(messages)
        if isinstance(message.get("content"), list)
        for p in range(len(message["content"]))
    }
    assert wanted <= seen
    assert all(part.decision.reason in REASONS for part in placement.parts)
    assert {(p.message, p.part) for p in placement.marks} == {
        (i, p) for i, p in wanted if "cache_control" in messages[i]["content"][p]
    }
    assert placement.parts[-1].decision.reason == "environment"
    assert placement.text_characters == text_characters(messages) - len("ENV")
    (column,) = compare(session(environment="ENV"), [dialect]).columns
    assert placement.characters == sum(column.characters.values())


def test_native_results_move_the_marks_away_from_the_tool_loop() -> None:
    native, xml = place_cache(session(), "native"), place_cache(session(), "xml")
    assert [(p.role, p.text) for p in native.marks][1:] == [("user", "go"), ("user", "and now?")]
    assert xml.marks[-1].text == "and now?"
    assert xml.marks[-2].text.startswith("<tool_result")


def test_a_refusal_covers_every_part() -> None:
    placement = place_cache(session("openai/gpt-5"), "xml")
    assert placement.refusal is not None
    assert {part.decision.reason for part in placement.parts} == {"model-without-marks"}


def test_another_policy_or_model_may_be_asked_for() -> None:
    assert place_cache(session(), "xml", policy="none").marks == []
    assert place_cache(session(), "xml", model="openai/gpt-5").marks == []
    with pytest.raises(UnknownNameError, match=r"unknown policy 'best'; the nearest of 19: "):
        place_cache(session(), "xml", policy="best")


class Counting(SharedList[dict[str, Any]]):
    """Messages that count how often somebody looks at one."""

    looks = 0

    def __getitem__(self, index: Any) -> Any:
        self.looks += 1
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for message in super().__iter__():
            self.looks += 1
            yield message


@pytest.mark.parametrize("name", POLICIES)
def test_no_policy_marks_what_a_provider_refuses_or_leaves_the_rest_unmarked(name: str) -> None:
    """Every policy marks a picture as it would a text; never an empty text, and no odd content."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    odd: list[Any] = [None, "", [], [{"type": "text", "text": ""}], 7, ["part"]]

    def places(*contents: Any) -> set[int]:
        roles = ("system", "user", "assistant", "user", "assistant", "user")
        messages = [{"role": r, "content": c} for r, c in zip(roles, contents, strict=True)]
        decisions = POLICIES[name].decide(messages, CLAUDE)
        apply_marks(messages, decisions)
        return {each.message for each in decisions if each.marked and each.message is not None}

    plain = places(*"stuvwx")
    assert plain == places(*"stuvw", [image])
    for content in odd:
        assert places(content, *"tuvwx") == plain - {0}
        marked = places(*"stuvw", content)
        assert marked >= plain - {5} and marked - {4} == plain - {4, 5}, "automatic goes back to 4"


@pytest.mark.parametrize("name", AGENTS)
def test_a_policy_looks_at_few_messages_of_a_long_session(name: str) -> None:
    # a session has as many requests as answers: to look at all of each is the square of that
    said = [{"role": role, "content": "go on"} for role in ("user", "assistant") * 1_000]
    for messages in ([{"role": "system", "content": "be brief"}, *said], said):
        counted = Counting(messages)
        assert AGENTS[name].places(counted) == AGENTS[name].places(messages)
        assert counted.looks < 30


def test_one_policy_obeys_explicit_caching_and_the_help_names_it() -> None:
    chat = pg.session(
        [
            {"role": "user", "content": "word " * 4_000},
            {"role": "assistant", "content": "yes"},
            {"role": "user", "content": "and now?"},
        ],
        model="gemini/gemini-2.5-pro",
    )

    def marks(policy: str, on: bool) -> int:
        return len(place_cache(chat, "glm", policy=policy, explicit_caching=on).marks)

    obeying = [name for name in POLICIES if marks(name, on=True) != marks(name, on=False)]
    assert obeying == ["azad"]
    for helped in (place_cache, pg.session, pg.Session.with_explicit_caching):
        assert '"azad"' in str(helped.__doc__)
    short = place_cache(pg.session("hi"), "glm", policy="cline", model="gemini/gemini-2.5-pro")
    assert short.marks and "(the policy azad needs 16,000 for a mark)" in short.thresholds


SHORT = [
    pg.session(messages=[{"role": "user", "content": "High tide?"}], model="claude-sonnet-4-5"),
    pg.session(
        messages=[
            {"role": "user", "content": [{"type": "text", "text": t} for t in ("How", " high?")]},
            {"role": "assistant", "content": "3 m."},
        ],
        system="Be brief.",
        model="claude-opus-4-5",
    ),
]


@pytest.mark.parametrize("policy", [name for name in pg.policy_names() if name != "as-sent"])
def test_a_policy_marks_or_says_why_not(policy: str, golden: Golden) -> None:
    """Pin every part that the policy looks at, of short sessions and of samples."""
    sessions = {f"short {number}": session for number, session in enumerate(SHORT)}
    sessions |= {n: s for n, s in pg.sample_sessions().items() if n[:2] in ("02", "07", "09", "12")}
    told: dict[str, list[str]] = {}
    for name, session in sessions.items():
        for dialect in ("xml", "native"):
            told[f"{name}, {dialect}"] = [
                f"{part.message}.{part.part} {why.reason}{', marked' * why.marked}"
                for part in pg.place_cache(session, dialect, policy=policy).parts
                if (why := part.decision).reason != "not-chosen"
            ]
    golden(told)
