"""Rows of requests: each is kept as what differs from the row before, and is whole again."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from playground.sessions.formats.request_rows import SharedValues
from playground.sessions.rows import bodies, row_after

MESSAGES = [{"role": "user", "content": text} for text in "abc"]


def test_rows_of_requests_keep_each_request_whole() -> None:
    first = {"model": "m", "system": "one", "messages": MESSAGES[:1]}
    second = {
        "model": "m",
        "system": "two",
        "tools": [{"name": "get_tides"}],
        "messages": MESSAGES[:3],
    }
    third = {"model": "m", "messages": MESSAGES[:2]}
    rows = [row_after(first, None), row_after(second, first), row_after(third, second)]
    assert list(bodies(rows)) == [first, second, third]
    assert [row.shared for row in rows] == [0, 1, 2]
    assert rows[2].gone == ("system", "tools")


LEAVES = st.sampled_from([None, 0, 1, True, False, 0.0, -0.0, 1.0, "", "1", "a"])
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
)
FIELDS = st.dictionaries(st.sampled_from(["model", "tools", "temperature"]), VALUES)
HISTORY = st.dictionaries(
    st.sampled_from(["messages", "input"]), st.lists(VALUES, max_size=4), max_size=1
)
BODIES = st.lists(
    st.builds(lambda fields, history: [*(fields | history).items()], FIELDS, HISTORY)
    .flatmap(st.permutations)
    .map(dict),
    max_size=4,
)


@given(BODIES)
@example([{"a": 1}, {"a": True}, {"a": 1.0}])
@example([{"messages": [1, {"a": 1, "b": 2}]}, {"messages": [True, {"b": 2, "a": 1}]}])
@example([{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"c": 3, "b": 2, "a": 1}])
def test_rows_give_the_text_of_each_request_as_it_was_sent(sent: list[dict[str, Any]]) -> None:
    """By the text, in which 1 is not true and the order of fields counts, as it does to a cache."""
    rows = [row_after(body, before) for body, before in zip(sent, [None, *sent], strict=False)]
    assert list(map(json.dumps, bodies(rows))) == list(map(json.dumps, sent))


@given(BODIES)
@example([{"messages": [{"a": 1}, {"a": True}, {"a": 1.0}]}])
@example([{"messages": [{"a": 1, "b": 2}, {"b": 2, "a": 1}]}])
def test_what_requests_share_is_written_as_it_was_sent(sent: list[dict[str, Any]]) -> None:
    shared = SharedValues()
    assert list(map(json.dumps, map(shared.body, sent))) == list(map(json.dumps, sent))


def test_what_a_request_repeats_is_held_once() -> None:
    """A log of 1.4 GB, whose sessions are interleaved, took more than 3 GB."""
    shared = SharedValues()
    first = shared.body({"tools": [{"name": "get_tides"}], "messages": [{"role": "user"}]})
    second = shared.body({"tools": [{"name": "get_tides"}], "messages": [{"role": "user"}, {}]})
    assert second["tools"][0] is first["tools"][0]
    assert second["messages"][0] is first["messages"][0]
