"""What a user made is not lost: by bringing something, by discarding edits, by a browser's editor;
and a long recording does not make every run slow."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from playground.nouns.messages import Message, Role, TextPart
from playground.nouns.prompt_data import TaskConfig
from playground.sessions.joining import joined
from playground.sessions.line_ends import as_edited, with_line_ends_of
from playground.sessions.session import Agent, Compaction, RequestRow, Session


def message(role: Role, text: str) -> Message:
    return Message(role, (TextPart(text),))


OLD = Session(
    task=TaskConfig(user_agent_prompt="old", model_name="m1"),
    messages=(message("user", "a"), message("assistant", "b")),
    compactions=(Compaction(1),),
    rows=(RequestRow({"system": "old"}),),
    agent=Agent(name="claude-code"),
)
NEW = Session(
    task=TaskConfig(user_agent_prompt="new", model_name="m2", system_rules=False),
    messages=(message("user", "x"),),
)


def test_what_is_known_of_messages_goes_with_them() -> None:
    after = joined(OLD, NEW)
    assert (after.messages, after.task.user_agent_prompt) == (NEW.messages, "new")
    assert after.task.model_name == "m2"
    assert (after.compactions, after.rows, after.agent) == ((), (), Agent())
    alone = joined(OLD, Session(tools=()))
    assert alone == OLD


def test_a_system_message_outlives_its_conversation() -> None:
    told = Session(messages=(message("system", "S"), message("user", "a")))
    after = joined(told, Session(messages=(message("user", "x"),)))
    assert after.task.user_agent_prompt == "S"
    assert joined(OLD, told).task.user_agent_prompt == ""  # the message says it


TEXT = st.text(st.sampled_from("ab\r\n"), max_size=12)


@given(TEXT, TEXT)
def test_an_editor_changes_no_line_end(before: str, typed: str) -> None:
    assert with_line_ends_of(before, as_edited(before)) == before
    after = with_line_ends_of(before, as_edited(typed))
    assert as_edited(after) == as_edited(typed)


def test_one_character_changes_one_character() -> None:
    before = "a\r\nb\r\nc\n"
    assert with_line_ends_of(before, "a\nbb\nc\n") == "a\r\nbb\r\nc\n"
    assert with_line_ends_of("a\r\nb", "a\nx\nb") == "a\r\nx\r\nb"


def bring_into() -> None:
    import json

    import streamlit as st

    from playground.app import state
    from playground.app.shared import bring, history
    from playground.plugins.trials import step_editor
    from playground.questions.recognition import recognise
    from playground.sessions.editing import Edit

    first = {"messages": [{"role": "user", "content": "mine\r\nown"}]}
    state.add_file("mine.json", json.dumps(first).encode())
    history.edit("mine", Edit("system prompt", "an hour of work"))
    bring._join(recognise('{"messages":[{"role":"user","content":"other"}]}'))
    st.text(state.working_session().session.messages[0].text)
    state.choose(state.SESSION, "mine")
    st.text(state.working_session().session.messages[0].text)
    st.text(history.next_undo("mine"))
    state.choose(state.MODEL, "gpt-4o")
    history.reset("mine")
    st.text(str(state.working_session().changes))
    history.redo("mine")
    history.redo("mine")
    st.text(str(state.working_session().changes))
    step_editor.take_edit("mine\nown!", "mine", Edit("part"), "mine\r\nown")
    st.text(repr(state.working_session().session.messages[0].text))


def test_what_is_brought_and_what_is_discarded_takes_nothing_away() -> None:
    app = AppTest.from_function(bring_into, default_timeout=300).run()
    assert not app.exception
    assert [text.value for text in app.text] == [
        "other",
        "mine\r\nown",
        "system prompt",
        "[]",
        "['system prompt', 'model']",
        repr("mine\r\nown!"),
    ]


def rerun() -> None:
    from time import process_time

    import streamlit as st

    from playground.app import state
    from playground.recordings.recutting import synthetic_recording

    if "made" not in st.session_state:
        recording = synthetic_recording("word and more " * 12_000, "big", "hermes")
        st.session_state[state.SESSION] = state.add_recording("02-parallel-calls", recording)
        st.session_state["made"] = True
    start = process_time()
    found = state.working_session().session.recordings[0]
    st.text(f"{len(found.chunks)} {process_time() - start}")


def test_a_long_recording_costs_the_next_run_nothing() -> None:
    """It was hashed as values at every run: 80 ms and more for 5,000 chunks."""
    app = AppTest.from_function(rerun, default_timeout=300).run()
    again = []
    for _ in range(3):
        app.run()
        chunks, seconds = app.text[0].value.split()
        assert int(chunks) > 4000
        again.append(float(seconds))
    assert min(again) < 0.02
