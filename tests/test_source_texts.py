"""A text that is edited in place: unchanged it is no step; changed, it is that change alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import playground as pg
from playground.base import paths
from playground.base.errors import InputFault
from playground.dialects import get_dialect
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.parsing.values import dump_json
from playground.sessions.editing import Edit, edited
from playground.sessions.session import Session
from playground.sessions.source_texts import (
    SPLIT,
    SourceText,
    changes_of,
    origin_after,
    source_texts,
    step_to,
)

SAMPLES = {name: pg.load_session(path) for name, path in paths.samples().items()}
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
CALL = ToolCallPart("call_1", "get_tides", {"harbour": "Brest"})


def origins(session: Session) -> list[str]:
    blocks = get_dialect("xml").render(session.prompt_data()).sent
    return list(dict.fromkeys(block.origin for block in blocks))


def sources_of(*parts: object) -> tuple[Session, list[SourceText]]:
    session = Session(messages=(Message("assistant", tuple(parts)),))  # type: ignore[arg-type]
    return session, source_texts(session, "message:0")


@pytest.mark.parametrize("name", SAMPLES)
def test_a_text_that_is_given_back_is_no_step(name: str) -> None:
    session = SAMPLES[name]
    kinds = set()
    for origin in origins(session):
        for source in source_texts(session, origin):
            kinds.add(source.step.action)
            assert step_to(session, source, source.text, whole=False) is None
            if source.whole:
                assert step_to(session, source, source.whole, whole=True) is None
    assert "part" in kinds


@given(text=TEXTS, result=TEXTS, args=st.dictionaries(TEXTS, JSON, max_size=3), value=JSON)
def test_a_changed_text_changes_that_part_alone(
    text: str, result: str, args: dict[str, object], value: object
) -> None:
    parts = (
        TextPart("before"),
        replace(CALL, args={"old": 1}),
        ToolResultPart("call_1", "get_tides", "a text"),
        ToolResultPart("call_1", "get_tides", {"high": "05:12"}),
    )
    session, sources = sources_of(*parts)
    assert [source.is_json for source in sources] == [False, True, False, True]
    wanted = (
        (TextPart(text), text),
        (replace(CALL, args=args), dump_json(args)),
        (replace(parts[2], result=result), result),
        (replace(parts[3], result=value), dump_json(value)),
    )
    for number, (part, typed) in enumerate(wanted):
        step = step_to(session, sources[number], typed, whole=False)
        after = edited(session, [step] if step else []).messages[0].parts
        assert after == (*parts[:number], part, *parts[number + 1 :])


@pytest.mark.parametrize("typed", ["{", "[1]", '"text"', ""])
def test_what_are_no_arguments_is_refused_with_its_place(typed: str) -> None:
    session, (source,) = sources_of(CALL)
    with pytest.raises(InputFault, match="arguments"):
        step_to(session, source, typed, whole=False)


def test_line_ends_that_a_browser_does_not_know_stay() -> None:
    session, (source,) = sources_of(TextPart("one\r\ntwo\r\n"))
    assert step_to(session, source, "one\ntwo\n", whole=False) is None
    step = step_to(session, source, "one\n2\n", whole=False)
    assert step == Edit("part", "one\r\n2\r\n", index=0, part=0)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_change_that_is_offered_is_made_and_leads_on_to_its_block(name: str) -> None:
    session = SAMPLES[name]
    for index, message in enumerate(session.messages[:6]):
        origin = f"message:{index}"
        for label, step in changes_of(session, origin):
            after = edited(session, [step])
            assert after != session, label
            there = origin_after(step, origin)
            if label in ("Earlier", "Later"):
                assert after.messages[int(there.partition(":")[2])] == message
            elif label.startswith("Add a message"):
                assert after.messages[int(there.partition(":")[2])].parts == (TextPart(""),)
            elif label.startswith("Remove this"):
                assert not there
            elif label != SPLIT:
                assert there == origin


def test_the_system_prompt_is_edited_as_what_it_is() -> None:
    own = pg.session([{"role": "user", "content": "Hi"}], system="Be brief.")
    (source,) = source_texts(own, "agent") or source_texts(own, "message:0")
    assert (source.label, source.text) == ("system prompt", "Be brief.")
    assert not any(source_texts(own, origin) for origin in ("rules", "message:9", "tool:none"))
    assert changes_of(own, "rules") == []
    with pytest.raises(InputFault, match="no part"):
        step_to(own, SourceText("text", Edit("part", index=8), ""), "a", whole=False)
