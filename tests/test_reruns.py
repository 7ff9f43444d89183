"""What each click of a user costs, whatever the page does."""

from __future__ import annotations

import gc

from streamlit import config

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
