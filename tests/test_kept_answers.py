"""What the app keeps between runs: its key follows from the values that were asked about."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest
from test_pages import page

from playground.app import compare, raw
from playground.app.shared import cache_asked
from playground.app.shared.components import Picture
from playground.app.shared.memoized import KEYED, digest
from playground.nouns.messages import Message, TextPart
from playground.nouns.prompt_data import DynamicTaskConfig, TaskConfig
from playground.nouns.tools import ToolMetadata
from playground.sessions.entries import new_entry
from playground.sessions.loading import load_session
from playground.sessions.session import Session
from playground.sessions.workspaces import on_disk

TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
TEXTS = st.text(st.characters(), max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)

APP = ROOT / "playground" / "app"
PLUGINS = ROOT / "playground" / "plugins"


def session(environment: str = "") -> Session:
    dynamic = DynamicTaskConfig(dynamic_environment_details_block=environment)
    message = Message("user", (TextPart("When does the tide turn?"),))
    return Session(task=TaskConfig(user_prompt="Be brief."), messages=(message,), dynamic=dynamic)


def test_the_same_template_under_another_name_shows_that_name() -> None:
    app = page("raw", session="01-plain-chat", format="A chat template")
    for name in ("first.jinja", "second.jinja"):
        app.file_uploader(key="template").set_value([(name, TEMPLATE.encode(), "text/plain")])
        app.run()
        assert not app.exception
        assert any(f"The prompt by {name}" in text.value for text in app.text)


def _changed_settings() -> None:
    import streamlit as st

    from playground.app import cache, compare, state

    own = state.working_session().session
    for shown in (own, cache.with_cache_settings(own)):
        st.text(str("Tide tables" in "".join(compare.column(shown, "xml").texts.values())))


def test_cache_settings_reach_every_answer() -> None:
    """A session with other settings carried the digest of the one it was made from."""
    app = AppTest.from_function(_changed_settings, default_timeout=300)
    app.query_params["environment"] = "off"
    app.session_state["session"] = "mine"
    source = {
        "format": "playground-session/1",
        "messages": [{"role": "user", "parts": [{"type": "text", "text": "Hello"}]}],
        "dynamic": {"dynamic_environment_details_block": "Tide tables"},
    }
    on_disk().add("mine", new_entry(load_session(source)))
    app.run()
    assert not app.exception
    assert [text.value for text in app.text] == ["True", "False"]


def test_equal_sessions_share_an_answer_and_changed_ones_do_not() -> None:
    one, same, other = session(), session(), session("tide: low")
    assert compare.column(one, "xml") is compare.column(same, "xml")
    assert compare.column(one, "xml").texts != compare.column(other, "xml").texts
    assert cache_asked.placement(one, "xml", "azad") is cache_asked.placement(same, "xml", "azad")
    assert raw.by_format(one, "llama3") is not raw.by_format(one, "llama4")


@given(VALUES, VALUES)
def test_two_values_have_one_digest_only_if_they_are_equal(first: Any, second: Any) -> None:
    def digest_of(value: Any) -> bytes:
        return digest(ToolMetadata(name="t", input_schema={"default": value}))

    assert (digest_of(first) == digest_of(second)) == (repr(first) == repr(second))


def test_texts_that_run_into_each_other_are_told_apart() -> None:
    parts = [(TextPart("ab"), TextPart("c")), (TextPart("a"), TextPart("bc")), (TextPart("abc"),)]
    assert len({digest(Message("user", each)) for each in parts}) == 3
    assert digest(Message("user", parts[0])) == digest(Message("user", parts[0]))


def test_every_field_of_a_session_is_part_of_its_digest() -> None:
    plain = session()
    tool = ToolMetadata(name="t")
    changes: list[dict[str, Any]] = [
        {"title": "x"},
        {"tools": (tool,)},
        {"messages": ()},
        {"messages": (*plain.messages, *plain.messages)},
        {"dynamic": DynamicTaskConfig(enable_explicit_caching=True)},
        {"task": TaskConfig(model_name="openai/gpt-5")},
    ]
    found = {digest(replace(plain, **change)) for change in changes}
    assert len(found | {digest(plain)}) == len(changes) + 1


def test_what_is_no_value_has_no_digest() -> None:
    with pytest.raises(TypeError, match="no digest for object"):
        digest(object())


def test_equal_pictures_are_drawn_once_whatever_else_changes() -> None:
    one, same, other = ({"panes": [text]} for text in ("a", "a", "b\ud800"))
    assert Picture(one).key == Picture(same).key != Picture(other).key
    assert Picture(one).keyed(selected="x")["key"] == Picture(one).key


def test_arguments_of_kept_functions_are_in_their_keys() -> None:
    """Streamlit leaves out what begins with an underscore; what is not KEYED it hashes slowly."""
    plain = {"str", "int", "float", "bool", "bytes", "None", "list", "tuple", "dict", "Any"}
    plain |= {"Tools", "ToolFormat", *(kind.__name__ for kind in KEYED)}
    seen = 0
    for path in [*APP.rglob("*.py"), *PLUGINS.rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef):
                continue
            if not any(ast.unparse(each).startswith("memoized(") for each in node.decorator_list):
                continue
            seen += 1
            for argument in node.args.args:
                assert not argument.arg.startswith("_"), f"{path}: {node.name}"
                assert argument.annotation is not None
                names = {n.id for n in ast.walk(argument.annotation) if isinstance(n, ast.Name)}
                assert names <= plain, f"{path}: {node.name}, {argument.arg}"
    assert seen > 15


def test_only_what_holds_threads_is_kept_without_a_key() -> None:
    """`st.cache_resource` itself, which would take a key made by hand, is left to `kept`."""
    for path in APP.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and any(
                "st.cache" in ast.unparse(each) for each in node.decorator_list
            ):
                assert not node.args.args, f"{path}: {node.name}"
