"""A form: one syntax compiled to choice points, for every place in its calls and its section."""

from __future__ import annotations

from typing import NamedTuple

from playground.parsing.choice_point import ChoicePoint
from playground.parsing.declaration import Declaration


class Form(NamedTuple):
    """The choice points of one syntax."""

    syntax: Declaration
    # in a section; None if the form has no section:
    after_marker: ChoicePoint | None  # right after its opener, after a call or after another marker
    after_text: ChoicePoint | None  # after the remains of a broken call, which are text
    between: ChoicePoint | None  # anywhere between its calls
    half_closer: ChoicePoint | None  # right after a call: the closer without its last tag or word
    # outside of a call and at its end:
    separator: ChoicePoint  # between two calls
    opening: ChoicePoint  # a call's opener
    close: ChoicePoint | None  # a call's closer, after white space
    repeated_closer: ChoicePoint | None  # a second closer, because models repeat closers
    surplus_brackets: ChoicePoint | None  # the closer after brackets that the body did not need
    recovery: ChoicePoint | None  # the end of a call that cannot be read: its closer, or a marker
    restart: ChoicePoint | None  # the beginning of another JSON call, up to its first quote
    next_call: ChoicePoint | None  # another JSON object in place of the closer
    lookalike_end: ChoicePoint | None  # the end of what looks like a call of an unknown tool
    # inside a call:
    body: tuple[ChoicePoint, ...]  # those of the notation
