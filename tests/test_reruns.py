"""What each click of a user costs, whatever the page does."""

from __future__ import annotations

import gc
import sys

import pytest
from streamlit import config

from playground.app.pages import PAGES
from playground.app.serving import warming
from playground.sessions.collector import overlook_what_is_there


def test_no_run_is_followed_by_a_look_at_every_object_there_is() -> None:
    """With all that is loaded, it took a third of a second behind each click."""
    assert config.get_option("runner.postScriptGC") is False


def test_what_was_loaded_is_overlooked_and_what_comes_is_not() -> None:
    gc.unfreeze()
    overlook_what_is_there()
    try:
        assert gc.get_freeze_count() > 10_000
        later: list[object] = []
        later.append(later)
        del later
        assert gc.collect() >= 1
    finally:
        gc.unfreeze()


def test_an_error_while_pages_are_prepared_is_left_to_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It ended the thread with a traceback, and nothing after it was prepared."""
    for name in ("start", "payload", "compare"):
        monkeypatch.setitem(sys.modules, f"playground.app.{name}", None)
    gone = PAGES[0]._replace(parts="playground.app.gone")
    monkeypatch.setattr(warming, "PAGES", (gone,))
    monkeypatch.setattr(warming.page_drawn, "wait", lambda: True)
    gc.unfreeze()
    try:
        warming._prepare()
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
