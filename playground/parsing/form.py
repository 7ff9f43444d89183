"""A form: one syntax compiled, every place inside its calls and its section where one waits."""

from __future__ import annotations

from typing import NamedTuple

from playground.parsing.choice_point import ChoicePoint
from playground.parsing.declaration import Declaration


class Form(NamedTuple):
    """The waits of one syntax.

    In a section, `after_marker` is where its opener, a call or a marker has just ended,
    `after_text` where what is left of a call was given out as text, `between` any place between
    its calls; all are None without one. `opening` is the opener of a call,
    `close` its closer after white space, `again` where that stutters, `excess` the same after
    brackets too many, `skip` the same closer, looked for anywhere, or any marker that shows that
    the call is over. `restart` is how a JSON call begins, up to its first quote; `more` is another
    JSON object where the call's closer is expected; `alike` ends what looks like a call of an
    unknown tool. `body` are the notation's own waits.
    """

    syntax: Declaration
    after_marker: ChoicePoint | None
    after_text: ChoicePoint | None
    between: ChoicePoint | None
    separator: ChoicePoint
    opening: ChoicePoint
    close: ChoicePoint | None
    again: ChoicePoint | None
    excess: ChoicePoint | None
    skip: ChoicePoint | None
    restart: ChoicePoint | None
    more: ChoicePoint | None
    alike: ChoicePoint | None
    body: tuple[ChoicePoint, ...]
