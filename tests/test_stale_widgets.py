"""A browser that has not heard that a widget is gone sends its value once more: that is no edit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from playground import paths


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """Compare with the first message of a sample open in the editor."""
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path))
    app = AppTest.from_file(str(paths.app_file()), default_timeout=60).run()
    app.switch_page(str(paths.pages() / "compare.py"))
    app.session_state["edit"] = True
    app.session_state["edited part"] = "Messages"
    app.run()
    assert not app.exception
    return app


def written(app: AppTest) -> list[WidgetState]:
    """What the browser holds of the role and the texts of the message that is edited."""
    widgets = [each for each in app.selectbox if each.label == "Role"]
    return [each._widget_state for each in (*widgets, *app.text_area)]


def click(app: AppTest, label: str, stale: Sequence[WidgetState] = ()) -> None:
    """A click, sent with the values of widgets that the browser still holds."""
    next(each for each in app.button if each.label == label).click()
    sent = app._tree.get_widget_states()
    known = {each.id for each in sent.widgets}
    sent.widgets.extend(each for each in stale if each.id not in known)
    app._run(sent)
    assert not app.exception


def messages(app: AppTest) -> list[str]:
    """Role and beginning of each, as the editor offers them."""
    return next(each.options for each in app.selectbox if each.label == "Message")


def test_the_value_of_a_widget_that_is_gone_is_no_edit(app: AppTest) -> None:
    click(app, "Add after")
    added = messages(app)
    stale = written(app)  # of the new message, which is the assistant's and empty
    click(app, "Earlier")
    moved = messages(app)
    click(app, "Undo", stale)
    assert moved != added
    assert messages(app) == added


def test_a_choice_that_is_taken_back_at_once_is_an_edit(app: AppTest) -> None:
    before = messages(app)
    for role in ("assistant", "user"):
        chosen = next(each for each in app.selectbox if each.label == "Role")
        chosen.set_value(role).run()
    assert messages(app) == before
    click(app, "Undo")
    assert messages(app)[0].startswith("0: assistant")
