"""Pair the sessions of a baseline with those of a newer file.

Sessions with the same id, first words or title are pairs; the rest are paired in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final

from playground.sessions.session import Session


def paired(before: Sequence[Session], now: Sequence[Session]) -> list[tuple[int, int]]:
    """Return pairs of indexes of the same session in both files, in the order of `now`.

    Sessions are paired by the agent's id, then by the user's first text, then by the title; a key
    that a file has twice is ignored. The remaining sessions are paired in order.
    """
    old, new = dict(enumerate(before)), dict(enumerate(now))
    pairs: list[tuple[int, int]] = []
    for key in _KEYS:
        first, second = _unique_keys(old.items(), key), _unique_keys(new.items(), key)
        matches = [(first[name], place) for name, place in second.items() if name in first]
        for old_place, new_place in matches:
            del old[old_place], new[new_place]
        pairs += matches
    return sorted([*pairs, *zip(old, new, strict=False)], key=lambda pair: pair[1])


def _unique_keys(
    sessions: Iterable[tuple[int, Session]], key: Callable[[Session], Hashable]
) -> dict[Hashable, int]:
    """Return the index of each session by its key, without keys that several sessions have."""
    names = {place: key(session) for place, session in sessions}
    counts = Counter(names.values())
    return {name: place for place, name in names.items() if name and counts[name] == 1}


def _id(session: Session) -> Hashable:
    agent = session.agent
    return agent.session and (agent.session, agent.sub_agent)


def _first_words(session: Session) -> Hashable:
    return next((each.text for each in session.messages if each.role == "user"), "")


def _title(session: Session) -> Hashable:
    return session.title


_KEYS: Final = (_id, _first_words, _title)
