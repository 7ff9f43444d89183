"""Cache marks that the user sets and clears, by a list or by clicks on drawn parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from playground.app import state
from playground.app.shared import policies, say
from playground.app.shared.cache_asked import CLICKED, Asked, formatted
from playground.app.shared.memoized import digest
from playground.dialects.marks.own_policies import policy_of_places
from playground.dialects.marks.policies import as_parts

_MARKS: Final = "marks widget"  # its key, which follows from the policy's own marks
_ADDRESS: Final = "marks"  # its name there: 0.0-3.1 for the first part of message 0, …
_FOLLOWED: Final = "marks of the address were followed"
_KEPT: Final = "kept "  # + key of the marks' widget: what it held when it was drawn last


def choose(given: Asked) -> Asked:
    """Marks to set and to clear; what differs from the policy is one of the user's own, and is
    what the page is about then."""
    session, dialect = given.session, given.dialect
    messages = formatted(session, dialect)
    places = {
        f"message {number} part {part} · {message['role']}": (number, part)
        for number, message in enumerate(messages)
        for part in range(len(as_parts(message.get("content"))))
    }
    marked = sorted((part.message, part.part) for part in given.placement.marks)
    # other marks of the policy are another widget
    key = f"marks of {digest(session).hex()} {dialect} {marked}"
    state.hold(_MARKS, [key, {f"part:{m}.{p}": label for label, (m, p) in places.items()}])
    # in every run: what one sets is lost where the next action ends it
    state.choose(key, _set_marks(key, places, marked))
    chosen = st.multiselect(
        "Marks",
        list(places),
        format_func=say.shown,
        key=key,
        select_all=False,
        help="Remove marks or add some: a policy that places them so is compared too.",
    )
    clicked = sorted(places[label] for label in chosen)
    state.hold(_KEPT + key, chosen)
    state.tell_url(_ADDRESS, _address(clicked), _address(marked))
    if clicked == marked:
        policies.drop(CLICKED)
        return given
    own = policy_of_places(CLICKED, messages, clicked)
    policies.show(own)
    st.download_button("These marks as a policy file", own.dumps(), "policy.json")
    return replace(given, policy=CLICKED)


def _address(places: Sequence[tuple[int, int]]) -> str:
    return "-".join(f"{message}.{part}" for message, part in places)


def _set_marks(
    key: str, places: Mapping[str, tuple[int, int]], marked: Sequence[tuple[int, int]]
) -> list[str]:
    """Return the labels that are chosen: as the address that the browser went back to says, as the
    widget has them, as it had them before another page was looked at, as the address of the first
    page says, or as the policy does.
    """
    back = state.went_back()
    for held in () if back else (state.held(key), state.held(_KEPT + key)):
        if held is not None:
            return list(held)
    first = back or not state.held(_FOLLOWED)
    asked = state.url_values().get(_ADDRESS) if first else None
    state.hold(_FOLLOWED, True)
    wanted = (_address(marked) if asked is None else asked).split("-")
    return [label for label, (m, p) in places.items() if f"{m}.{p}" in wanted]


def take_move(strip: str) -> None:
    """A mark was moved from one part to another, set on one or cleared: `from>to`, either empty."""
    key, labels = state.held(_MARKS)
    gone, _, wanted = str(state.component_value(strip, "mark") or "").partition(">")
    chosen = [each for each in state.held(key) or [] if each != labels.get(gone)]
    label = labels.get(wanted)
    state.choose(key, [*chosen, label] if label and label not in chosen else chosen)
