"""What is chosen on the Cache page stays chosen: over other pages, and in its address."""

from __future__ import annotations

import json
from typing import Any

from streamlit.testing.v1 import AppTest
from test_pages import edit_block, page, strip, trigger

import playground as pg
from playground.base import paths
from playground.cache.answers.headline import headline

SESSION = "02-parallel-calls"


def go_to(app: AppTest, name: str) -> None:
    app.switch_page(str(paths.pages() / f"{name}.py")).run()
    assert not app.exception


def policy(app: AppTest) -> str:
    return str(app.selectbox(key="policy").value)


def marks(app: AppTest) -> list[str]:
    return [str(label) for label in next(e for e in app.multiselect if e.label == "Marks").value]


def test_a_policy_is_kept_while_other_pages_are_looked_at() -> None:
    app = page("cache", session=SESSION)
    app.selectbox(key="policy").set_value("goose").run()
    go_to(app, "compare")
    go_to(app, "cache")
    assert policy(app) == "goose"
    assert app.query_params["policy"] == "goose"


def test_a_policy_is_kept_when_an_edit_makes_another_session_of_a_sample() -> None:
    app = page("cache", session=SESSION)
    app.selectbox(key="policy").set_value("goose").run()
    go_to(app, "compare")
    edit_block(app, "agent", "You keep the harbour.")
    del app.query_params["policy"]  # as a link to the page does
    go_to(app, "cache")
    assert app.selectbox(key="session").value == f"{SESSION}, edited"
    assert policy(app) == "goose"


def test_an_address_wins_over_what_was_chosen_before() -> None:
    app = page("cache", session=SESSION)
    app.selectbox(key="policy").set_value("goose").run()
    go_to(app, "compare")
    app.query_params["policy"] = "claude-code"
    go_to(app, "cache")
    assert policy(app) == "claude-code"


def without_one_mark() -> tuple[AppTest, list[str]]:
    app = page("cache", session=SESSION)
    left = marks(app)[1:]
    assert left
    next(each for each in app.multiselect if each.label == "Marks").set_value(left).run()
    assert marks(app) == left
    return app, left


def test_marks_set_by_hand_are_kept_while_other_pages_are_looked_at() -> None:
    app, left = without_one_mark()
    go_to(app, "compare")
    go_to(app, "cache")
    assert marks(app) == left


def test_marks_set_by_hand_are_kept_when_an_edit_makes_another_session_of_a_sample() -> None:
    app, left = without_one_mark()
    go_to(app, "compare")
    edit_block(app, "agent", "You keep the harbour.")
    go_to(app, "cache")
    assert app.selectbox(key="session").value == f"{SESSION}, edited"
    assert marks(app) == left
    app.selectbox(key="session").set_value("12-long-tool-run").run()
    assert marks(app) == ["message 0 part 0 · system", "message 1 part 0 · user"]


def test_marks_set_by_hand_are_in_the_address() -> None:
    app, left = without_one_mark()
    told = app.query_params["marks"]
    assert marks(page("cache", session=SESSION, marks=told)) == left


def test_an_address_of_marks_that_are_not_there_is_no_error() -> None:
    assert marks(page("cache", session=SESSION, marks="99.1-x")) == []


def test_every_way_to_simulate_has_the_request_that_waits_for_its_answer() -> None:
    """The page had it, the commands and a notebook had not: two costs of one session."""
    session = pg.sample_sessions()[SESSION]
    found = pg.simulate_cache(session, dialect="xml", policy="azad")
    assert session.messages[-1].role == "user"
    assert found.pending
    answered = pg.simulate_cache(
        session, dialect="xml", policy="azad", what_if=pg.WhatIf(pending=False)
    )
    assert len(found.requests) == len(answered.requests) + 1
    on_page = page("cache", session=SESSION, dialect="xml")
    drawn = strip(on_page)
    assert headline(found).text == f"{drawn['sentence']} {drawn['note']}"


def test_a_finding_offers_the_cheapest_policy_which_mends_it_and_says_what_it_saves() -> None:
    app = page("cache", session="12-long-tool-run")
    remedy = offered(app)
    assert (
        remedy["label"] == "Switch policy: Claude Code's marks would probably save $0.17 of $0.23."
    )
    title, _, fix, _ = strip(app)["findings"][remedy["finding"]]
    assert title.startswith("About 7,360 tokens after the last mark")
    assert fix.startswith("Move the last mark to the newest message")
    trigger(app, "bars", "chosen", remedy["key"])
    assert policy(app) == "claude-code"
    assert offered(app) is None


def offered(app: AppTest) -> Any:
    """The policy that the strip offers at a finding."""
    fed = [json.loads(each.proto.json) for each in app.get("bidi_component")]
    (remedy,) = (data["remedy"] for data in fed if "remedy" in (data or ()))
    return remedy
