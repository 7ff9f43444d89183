"""Pair the sessions of a baseline with those of a newer file.

They are paired by what they say of themselves, and otherwise by their places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final

from playground.sessions.session import Session


def paired(before: Sequence[Session], now: Sequence[Session]) -> list[tuple[int, int]]:
    """Return the indexes of the same session in both files, in the order of `now`.

    Sessions are the same with the same agent's id, the same first words of the user, or the same
    title, if one session alone has it in each file. The others are paired by their place among the
    rest.
    """
    old, new = dict(enumerate(before)), dict(enumerate(now))
    found: list[tuple[int, int]] = []
    for key in _KEYS:
        first, second = _alone(old.items(), key), _alone(new.items(), key)
        same = [(first[name], place) for name, place in second.items() if name in first]
        for left, right in same:
            del old[left], new[right]
        found += same
    return sorted([*found, *zip(old, new, strict=False)], key=lambda pair: pair[1])


def _alone(
    sessions: Iterable[tuple[int, Session]], key: Callable[[Session], Hashable]
) -> dict[Hashable, int]:
    """Return the indexes of the sessions whose key no other session has."""
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
