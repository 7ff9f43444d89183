"""Cache marks that the user sets and clears, in a list or by clicking on drawn parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from playground.app import state
from playground.app.shared import policies, say
from playground.app.shared.cache_asked import CacheQuestion, formatted
from playground.dialects.marks.own_policies import policy_of_places
from playground.dialects.marks.policies import as_parts
from playground.show.policy_bars import CLICKED

# a key of the state: its value is the key of the list's widget, and the labels by part
_MARKS: Final = "marks widget"
# a query parameter: "0.0-3.1" means part 0 of message 0, and part 1 of message 3
_ADDRESS: Final = "marks"
_ADDRESS_READ: Final = "marks of the address were followed"  # True after the first run


def choose(name: str, question: CacheQuestion) -> CacheQuestion:
    """Let the user set and clear marks in the session of this name.

    If the user's marks differ from the policy's, return the question with a new policy that places
    the user's marks.
    """
    dialect = question.dialect
    messages = formatted(question.session, dialect)
    places = {
        f"message {number} part {part} · {message['role']}": (number, part)
        for number, message in enumerate(messages)
        for part in range(len(as_parts(message.get("content"))))
    }
    marks = ((part.message, part.part) for part in question.placement.marks)
    marked = sorted(place for place in marks if place in places.values())
    # the policy's marks are part of the key: if they change, a new widget begins with them
    key = f"marks of {name} {dialect} {marked}"
    before = state.get(state.MARKS_OF + name) or {}
    last = before.get(f"{dialect} {marked}")
    state.put(_MARKS, [key, {f"part:{m}.{p}": label for label, (m, p) in places.items()}])
    # set in every run: Streamlit loses a value if the next action interrupts the run that set it
    state.choose(key, _labels_to_show(key, last, places, marked))
    chosen = st.multiselect(
        "Marks",
        list(places),
        format_func=say.shown,
        key=key,
        select_all=False,
        help="Your marks become a policy of their own, which is compared with the others.",
    )
    clicked = sorted(places[label] for label in chosen)
    state.put(state.MARKS_OF + name, {**before, f"{dialect} {marked}": chosen})
    state.tell_url(_ADDRESS, _address(clicked), _address(marked))
    if clicked == marked:
        policies.drop(CLICKED)
        return question
    own = policy_of_places(CLICKED, messages, clicked)
    policies.show(own)
    st.download_button("These marks as a policy file", own.dumps(), "policy.json")
    return replace(question, policy=CLICKED)


def _address(places: Sequence[tuple[int, int]]) -> str:
    return "-".join(f"{message}.{part}" for message, part in places)


def _labels_to_show(
    key: str,
    last: Sequence[str] | None,
    places: Mapping[str, tuple[int, int]],
    marked: Sequence[tuple[int, int]],
) -> list[str]:
    """Return the labels of the marks to show, from the first of these sources that is set.

    - the widget itself,
    - `last`, the labels of the last run, if the widget is new: another page was opened since then,
      or the first edit of a sample stored a copy, whose new name is part of the widget's key,
    - the address with which the app was opened,
    - the policy.

    After the browser's Back or Forward, only the last two count.
    """
    back = state.went_back()
    for labels in () if back else (state.get(key), last):
        if labels is not None:
            return [label for label in labels if label in places]  # an edit may have removed a part
    first = back or not state.get(_ADDRESS_READ)
    in_address = state.url_values().get(_ADDRESS) if first else None
    state.put(_ADDRESS_READ, True)
    wanted = (_address(marked) if in_address is None else in_address).split("-")
    return [label for label, (m, p) in places.items() if f"{m}.{p}" in wanted]


def take_move(strip: str) -> None:
    """Move, set or clear a mark as the user did on the drawn parts. The component with the key
    `strip` sends `from>to`; an empty `from` sets a mark, an empty `to` clears one."""
    key, labels = state.get(_MARKS)
    gone, _, wanted = str(state.component_value(strip, "mark") or "").partition(">")
    chosen = [each for each in state.get(key) or [] if each != labels.get(gone)]
    label = labels.get(wanted)
    state.choose(key, [*chosen, label] if label and label not in chosen else chosen)
