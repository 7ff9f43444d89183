"""A choice: one thing that may come at a place in a text, and how the reader goes on after it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final, Literal, NamedTuple, TypeGuard

from playground.nouns.events import Role
from playground.parsing.patterns import LINE_START, any_form, begins, literal


class Kind(Enum):
    """The kind of a choice, by which the engine decides how to go on."""

    # outside of a call; a group's number is the index of its form, or of its tags
    CALL = "call"
    UNREADABLE = "unread"  # the opener of a call whose body cannot be read
    LOOKALIKE = "like"  # text that looks like a call of an unknown tool
    SECTION = "section"
    BARE_SECTION = "bare"  # the opener of a section that no call follows
    BARE_CALL = "bare_call"  # the opener of a call that no body follows
    BARE_BODY = "bare_body"  # the body of a call without its opener
    BARE_CLOSE = "bare_close"  # the closer of a call when no call is open
    SECTION_CLOSE = "section_close"
    THINK = "think"
    THINK_CLOSE = "think_close"  # the closer of reasoning when no reasoning is open
    PLAIN = "plain"  # the opener of text in which nothing is a call
    STOP = "stop"  # a stop token
    DROPPED = "dropped"  # a token of the model that leaks into its text
    RESULT = "result"  # the opener of a tool's result, which no model should write
    FENCE = "fence"  # the opener or closer of a code fence
    SPACE = "space"  # white space between the calls of a section
    # inside a call or a pair of tags
    OPEN = "open"  # the opener of reasoning, or of a JSON object in place of parameters
    CLOSE = "close"  # the closer of what is open: a call, a value or tags
    PARAM = "param"  # the opener of a parameter
    FORGOTTEN = "forgotten"  # a marker that shows that a closer was left out

    # hashed by identity, because Enum's own hash is a slow function in Python
    __hash__ = object.__hash__


# kinds of markers after which the reader goes on as before, in text or in a section
Mark = Literal[Kind.SECTION, Kind.STOP, Kind.THINK_CLOSE, Kind.DROPPED, Kind.RESULT, Kind.SPACE]
ROLES: Final[dict[Kind | None, Role]] = {
    Kind.SECTION: "section",
    Kind.STOP: "stop",
    Kind.THINK_CLOSE: "stray",
    Kind.DROPPED: "stray",
    Kind.RESULT: "stray",
    Kind.SPACE: "separator",
}


def is_mark(kind: Kind) -> TypeGuard[Mark]:
    """Return True if nothing that belongs to the marker has to be read after it."""
    return kind in ROLES


class Group(NamedTuple):
    """The named group of a choice: its kind, and the number of its form or tags."""

    kind: Kind
    number: int = 0

    @property
    def name(self) -> str:
        return f"{self.kind.value}_{self.number}"


class Choice(NamedTuple):
    """One thing that may come: its pattern, and the texts with which it may begin."""

    pattern: str
    begins: tuple[str, ...] = ()  # () means anything; " x" is `x` with or without white space
    group: Group | None = None  # None if it is the only choice
    texts: tuple[str, ...] = ()  # the literals, if the pattern has nothing else
    varying: bool = False  # more text may change its match, whatever `texts` say
    heads: tuple[str, ...] = ()  # its beginnings, if it must begin a line
    run: str = ""  # the pattern of a long first part, which alone does not make a marker
    loose: bool = False  # it may differ from `begins` after the first character
    forms: tuple[str, ...] = ()  # the alternatives of a long pattern, compiled one by one

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns that are compiled and matched, one after another."""
        return self.forms or (self.pattern,)

    @property
    def group_name(self) -> str:
        return self.group.name if self.group else ""

    @property
    def repeats(self) -> bool:
        return self.pattern.rstrip(")").endswith("+")


ANY_FENCE: Final = Choice(r"(?:`{3,64}+|~{3,64}+)", ("```", "~~~"), Group(Kind.FENCE))
FENCE: Final = ANY_FENCE._replace(pattern=LINE_START + ANY_FENCE.pattern)


def literals(kind: Kind, texts: Iterable[str], number: int = 0) -> list[Choice]:
    """Return one choice for these literal markers, in a list; [] if there are none.

    The choice's group has this `number`. White space around a marker does not belong to it, except
    for a leading blank.
    """
    # longer texts come first; otherwise a shorter one would match their beginning
    listed = [_strip_marker(text) for text in sorted(set(texts), key=len, reverse=True)]
    if not listed:
        return []
    pattern = any_form([literal(text) for text in listed])
    first = tuple(text for marker in listed for text in begins((marker,)))
    return [Choice(pattern, first, Group(kind, number), tuple(listed))]


def _strip_marker(text: str) -> str:
    blank = " " if text.startswith(" ") else ""
    return blank + text.strip()
