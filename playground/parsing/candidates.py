"""What finds candidates in a text: patterns for how choices begin, run by `re` at the speed of C.

They may find too much, never too little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Protocol

from playground.parsing.patterns import LEAKED, LINE_START, WORD_START

ANY_LINE: Final = r"(?<![^\n])[ \t]{0,6}\S"
# what such a pattern begins with, behind the first character of what is searched for: a search for
# characters is many times as fast as one for what stands before them
_BEHIND: Final = {
    LINE_START: "".join(rf"(?<!\S[ \t]{{{blanks}}}[\s\S])" for blanks in range(7)),
    WORD_START: r"(?<!\w[\s\S])",
}
_HEAD: Final = 5
_SPACES: Final = re.compile(r"\s{1,256}")
_FIRST: Final = r"(?<![^\n][\s\S])"  # the same for the first of a line


class Begun(Protocol):
    """What is looked for: a choice, as far as its beginning goes."""

    @property
    def pattern(self) -> str: ...

    @property
    def begins(self) -> tuple[str, ...]: ...

    @property
    def heads(self) -> tuple[str, ...]: ...


def begun(beginnings: Iterable[str]) -> str:
    """What finds candidates by their first characters, a line break before them or not."""
    listed = sorted(set(beginnings))
    if not all(text.strip() for text in listed):
        return ""
    found = any_of(listed)
    return rf"\n(?={found}|\Z)|{found}" if found else ""


def any_of(texts: Iterable[str], behind: str = "") -> str:
    """Any of the texts, or as much of one as stands before the end: more has to come before one
    knows. What they have in common is looked for once, and what stands before their first character
    by `behind`."""
    following: dict[str, list[str]] = {}
    for text in texts:
        if not text:
            return ""
        following.setdefault(text[0], []).append(text[1:])
    found = ((re.escape(char), any_of(rest)) for char, rest in following.items())
    return "|".join(f"{char}{behind}" + (rf"(?:{rest}|\Z)" if rest else "") for char, rest in found)


def searched(choices: Iterable[Begun]) -> str:
    """What finds candidates: how the choices begin, or the first of a line where that is all one
    knows."""
    listed = list(choices)
    anything = [choice for choice in listed if not choice.begins and not choice.heads]
    if not all(LINE_START in choice.pattern for choice in anything):
        return r"[\s\S]"
    texts = {(text, _behind(choice)) for choice in listed for text in choice.begins}
    texts |= {(text, _FIRST) for choice in listed for text in choice.heads}
    spaced = {text[1:] for text, _ in texts if text.startswith(" ")}
    solid = {(text.lstrip(" "), behind) for text, behind in texts if text.strip(" ")}
    # white space that leaked stands before a marker as well, where a search stops at its like
    solid |= {(leak, "") for leak in LEAKED if any(leak[0] == text[0] for text, _ in solid)}
    found = [ANY_LINE] if anything else []
    for behind in sorted({behind for _, behind in solid}):
        found.append(any_of(sorted(text for text, its in solid if its == behind), behind))
    if spaced:
        # blanks before a marker are found by the first of them: each would look at all the others
        leaks = re.escape("".join(sorted({text[0] for text in LEAKED})))
        following = any_of(sorted(spaced))
        ahead = rf"(?=\s{{0,64}}+(?:[{leaks}]|{following}|\Z))" if following else ""
        found.append(rf" (?<!  ){ahead}")
    return "|".join(found)


def _behind(choice: Begun) -> str:
    """What has to stand before a choice."""
    return next(
        (behind for start, behind in _BEHIND.items() if choice.pattern.startswith(start)), ""
    )


def begin_alike(choice: Begun, others: Iterable[Begun]) -> bool:
    """Whether the choice and one of the others may begin with the same characters."""
    texts = [text for other in others for text in other.begins or ("",)]
    return any(may_begin(choice, text) for text in texts)


def may_begin(choice: Begun, head: str) -> bool:
    """Whether how the choice begins leaves it open that it begins with the head: a look at a few
    characters spares compiling its pattern."""
    bare = head.lstrip()
    if not choice.begins or not bare or bare.startswith(LEAKED):
        return True  # what leaked may stand before any marker
    if any(leak.startswith(bare) for leak in LEAKED):
        return True
    solid = [start.strip() for start in choice.begins]
    if "" in solid and head[0].isspace():
        return True  # white space is all that it begins with
    return any(bare.startswith(start) or start.startswith(bare) for start in solid if start)


def head_at(text: str, place: int) -> str:
    """The first characters at a place: as many as tell how a choice begins (see `prefix`), behind
    one blank where white space stands before them."""
    head = text[place : place + _HEAD]
    if not head[:1].isspace():
        return head
    spaces = _SPACES.match(text, place)
    assert spaces
    return " " + text[spaces.end() : spaces.end() + _HEAD]
