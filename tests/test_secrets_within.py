"""What may be secret in a long text: a narrow search of its pieces finds what a wide one does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from keyed_sessions import Keys
from test_secrets import KINDS

from playground.plugins.corpus.clues import clues_in
from playground.plugins.corpus.ngram_filter import NgramFilter
from playground.recordings.scrubbing import Searcher, searcher
from playground.recordings.value_scrubbing import scrubbed_with
from playground.sessions.native_format import plain_session

WORDS = ("pw", "q~", "://", "token", "Quay7734", "sk-ant-", "ß-key")


def narrowed(wide: Searcher, text: str) -> Searcher | None:
    return wide.narrowed_to(text, clues_in(text))


def narrow(value: Any, wide: Searcher) -> Any:
    """The value scrubbed by a searcher that looks only for what stands in its JSON."""
    found = narrowed(wide, json.dumps(value, ensure_ascii=False))
    return value if found is None else scrubbed_with(found, value)


def test_of_each_kind_a_narrow_search_finds_what_a_wide_one_does() -> None:
    for secret, form in KINDS.values():
        told = form.format(secret)
        key, _, rest = told.partition("=")
        for value in (
            [told],
            [f"-{told}", f'"{told}"', f"\x1b[0m{told}\n", f"é{told}\\"],
            {"text": told, "list": ["b", told, {"deep": f"\t{told}"}]},
            {key: rest, told: 1},
            {"value": secret, "of": 1, "name": key, "list": {key: [1, rest, secret]}},
            [f"--{key}", rest, json.dumps({"text": told}), json.dumps(json.dumps([told]))],
        ):
            assert narrow(value, searcher()) == scrubbed_with(searcher(), value)


@pytest.mark.parametrize("ascii_only", [True, False])
def test_secrets_that_are_given_are_found_in_every_form(ascii_only: bool) -> None:
    own = 'Quäy"7734\\' + "lantern"
    wide, text = searcher((own,)), own
    for _ in range(4):
        assert narrow([text], wide) == scrubbed_with(wide, [text]) != [text]
        text = json.dumps(text, ensure_ascii=ascii_only)[1:-1]


@pytest.mark.parametrize("with_rows", [False, True])
def test_a_session_with_keys_everywhere_is_narrowly_searched(with_rows: bool) -> None:
    plain = plain_session(Keys().session(with_rows=with_rows))
    assert narrow(plain, searcher()) == scrubbed_with(searcher(), plain)


def test_where_nothing_tells_of_a_secret_nothing_is_looked_for() -> None:
    assert narrowed(searcher(), '{"path": "The tide is high."}') is None
    assert narrowed(searcher(emails=True), "a@b.org") is not None


@given(st.lists(st.sampled_from(WORDS)), st.text(), st.text())
def test_no_word_that_stands_in_a_text_is_missed(
    words: list[str], before: str, between: str
) -> None:
    text = (before + between.join(words)).encode("utf-8", "surrogatepass")
    found = NgramFilter(WORDS).may_be_in(text)
    assert {word for word in WORDS if word.encode() in text} <= set(found)


def test_few_words_are_told_that_do_not_stand_there() -> None:
    words = [f"{first}{second}{third}" for first in "abxz" for second in "qjy" for third in "vwk"]
    assert NgramFilter(words).may_be_in(b"At six the tide is high, and the quay is dry.") == []
