"""A browser that has not heard that a widget is gone sends its value once more: that is no edit."""

from __future__ import annotations

import ast
from pathlib import Path

from streamlit.testing.v1 import AppTest
from test_pages import page, payloads, press, rules

ROOT = Path(__file__).parent.parent
PLUGINS = ROOT / "playground" / "plugins"
SOURCES = [
    *(ROOT / "playground" / "app").rglob("*.py"),
    *(ROOT / "pages").glob("*.py"),
    *(PLUGINS / "guides").rglob("*.py"),
    *(PLUGINS / "savings").rglob("*.py"),
    *(PLUGINS / "trials").rglob("*.py"),
]


def fields() -> None:
    import streamlit as st

    from playground.app import state
    from playground.app.shared import widget_changes

    taken: list[object] = []
    key = widget_changes.place("field", "first")
    changed = widget_changes.of(
        key, lambda value, more: taken.append((value, more)), "more", shown="first"
    )
    for sent in ("first", "second", "second", "first"):  # the first is what it was drawn with
        state.put(key, sent)
        changed()
    st.text(repr(taken))
    st.text(widget_changes.place("field", "first"))
    st.text(widget_changes.place("field", "of another hand"))
    chosen = widget_changes.of("several", taken.append, shown=["a", "b"])
    state.put("several", ["b", "a"])  # in the order in which they were clicked
    chosen()
    st.text(str(len(taken)))


def test_only_what_was_not_known_is_a_change() -> None:
    app = AppTest.from_function(fields).run()
    assert not app.exception
    assert [text.value for text in app.text] == [
        "[('second', 'more'), ('first', 'more')]",
        "field",
        "field (1)",
        "2",
    ]


def test_a_choice_that_is_taken_back_at_once_is_an_edit() -> None:
    app = page("compare", session="02-parallel-calls")
    for on in (False, True):
        rules(app, on)
    assert "system-rules" in str(payloads(app))
    press(app, "Undo")
    assert "system-rules" not in str(payloads(app))


CALLS = [
    (path, keyword)
    for path in SOURCES
    for node in ast.walk(ast.parse(path.read_text()))
    if isinstance(node, ast.Call)
    for keyword in node.keywords
    if keyword.arg in ("on_change", "on_select", "on_rest", "on_click")
]


def test_every_change_goes_through_the_one_place_that_knows_what_is_none() -> None:
    """`stay` does nothing, and what only hands a callback on has it from there."""
    found = [(path, ast.unparse(word.value)) for path, word in CALLS if word.arg != "on_click"]
    assert len(found) > 30
    handed_on = {"'rerun'", "on_change", "on_select", "rests", "stay", "readings.stay"}
    for path, told in found:
        known = (
            told in handed_on
            or told.startswith("widget_changes.of(")
            or told.endswith(".on_change")
        )
        assert known, f"{path}: {told}"


def test_a_click_is_done_to_its_end_though_another_run_is_asked_for_meanwhile() -> None:
    """What Streamlit's own method does without ours in its place: the look ends the callback."""
    for ours, done in ((True, "whole"), (False, "None")):
        app = AppTest.from_function(interrupted, args=(ours,)).run()
        app.button[0].click().run()
        assert not app.exception
        assert [text.value for text in app.text] == [done]


def interrupted(ours: bool) -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx
    from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
    from streamlit.runtime.state import SafeSessionState

    from playground.app import state
    from playground.app.shared import callbacks

    def act() -> None:
        context = get_script_run_ctx()
        assert context is not None and context.script_requests is not None
        context.script_requests.request_rerun(RerunData())
        with st.spinner("drawn"):  # both this and the next look for another run
            state.put("done", "whole")

    callbacks.lose_no_click()
    if not ours:
        replaced = SafeSessionState.on_script_will_rerun
        SafeSessionState.on_script_will_rerun = replaced.__wrapped__  # type: ignore[method-assign,attr-defined]
    st.button("Act", on_click=act)
    st.text(str(state.get("done")))
