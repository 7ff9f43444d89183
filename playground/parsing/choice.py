"""A choice: one thing that may come at a place in a text, and what it is."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final, Literal, NamedTuple, TypeGuard

from playground.events import Role
from playground.parsing.patterns import LINE_START, begins, literal


class Kind(Enum):
    """What a choice is: the engine goes on by it."""

    # outside of a call; those of calls and sections are numbered by form, of tags by tags
    CALL = "call"
    UNREAD = "unread"  # the opener of a call with no body that can be read
    LIKE = "like"  # what looks like a call, of a tool that nobody has
    SECTION = "section"
    BARE = "bare"  # the opener of a section before no call
    BARE_CALL = "bare_call"  # the opener of a call before nothing that could be one
    BARE_BODY = "bare_body"  # what a call holds, without its opener
    BARE_CLOSE = "bare_close"  # the closer of a call, where none is open
    SECTION_CLOSE = "section_close"
    THINK = "think"
    THINK_CLOSE = "think_close"  # of reasoning that was not open
    PLAIN = "plain"
    STOP = "stop"
    DROPPED = "dropped"
    RESULT = "result"
    FENCE = "fence"
    SPACE = "space"  # between the calls of a section
    # at the end, or the beginning, of what is open
    OPEN = "open"
    CLOSE = "close"
    PARAM = "param"
    FORGOTTEN = "forgotten"  # what shows that a closer was left out

    # a member equals itself alone; by its name, as enumerations do it, takes a call of Python
    __hash__ = object.__hash__


# markers that stand for themselves, wherever text or a section is read
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
    """Whether nothing is read behind a marker: it is no more than that."""
    return kind in ROLES


class Group(NamedTuple):
    """The named group of a choice: its kind, and which form or tags it belongs to."""

    kind: Kind
    number: int = 0

    @property
    def name(self) -> str:
        return f"{self.kind.value}_{self.number}"


class Choice(NamedTuple):
    """One thing that may come: its pattern, and the texts with which it may begin."""

    pattern: str
    begins: tuple[str, ...] = ()  # none: it may begin with anything; " x": with white space or `x`
    group: Group | None = None  # None where only one thing is waited for
    texts: tuple[str, ...] = ()  # where the pattern is nothing but these
    varying: bool = False  # more text may make another match of it, whatever its texts say
    heads: tuple[str, ...] = ()  # with which it begins where it is the first of a line, and only so
    run: str = ""  # what it begins with: as long as nothing else has come, more has to
    loose: bool = False  # of `begins` its first character counts alone where others are looked for
    forms: tuple[str, ...] = ()  # the pattern's alternatives, where it is long: few are asked for

    @property
    def asked(self) -> tuple[str, ...]:
        """The patterns that are compiled and asked for, one after another."""
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
    """A choice of markers. White space around one is no part of it, but for a leading blank."""
    # the longest first: of two that begin alike, the shorter would win
    listed = [_bare(text) for text in sorted(set(texts), key=len, reverse=True)]
    if not listed:
        return []
    pattern = "|".join(literal(text) for text in listed)
    first = tuple(text for marker in listed for text in begins((marker,)))
    return [Choice(pattern, first, Group(kind, number), tuple(listed))]


def _bare(text: str) -> str:
    blank = " " if text.startswith(" ") else ""
    return blank + text.strip()
