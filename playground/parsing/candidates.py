"""Patterns that find candidates: places in a text where a choice may begin.

`re` runs them at the speed of C. They may find too much, never too little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Protocol

from playground.parsing.patterns import LEAKED, LINE_START, WORD_START

ANY_LINE: Final = r"(?<![^\n])[ \t]{0,6}\S"  # the beginning of any line with text
# The look-behind of a choice's pattern -> the look-behind in the candidate pattern. The second one
# follows the first character, because `re` finds a character many times faster than it checks a
# look-behind at every place. For a line's start it allows one blank: more take long to compile.
_LOOK_BACK: Final = {LINE_START: r"(?<!\S[\s\S])(?<!\S[ \t][\s\S])", WORD_START: r"(?<!\w[\s\S])"}
_FIRST_OF_LINE: Final = r"(?<![^\n][\s\S])"
_HEAD: Final = 5
_SPACES: Final = re.compile(r"\s{1,256}")


class WithBeginnings(Protocol):
    """The fields of a choice that describe its beginning."""

    @property
    def pattern(self) -> str: ...

    @property
    def begins(self) -> tuple[str, ...]: ...

    @property
    def heads(self) -> tuple[str, ...]: ...


def any_beginning(beginnings: Iterable[str]) -> str:
    """Build a pattern for any beginning, or for a line break before one; "" if one is blank."""
    listed = sorted(set(beginnings))
    if not all(text.strip() for text in listed):
        return ""
    pattern = any_of(listed)
    return rf"\n(?={pattern}|\Z)|{pattern}" if pattern else ""


def any_of(texts: Iterable[str], look_back: str = "") -> str:
    """Build a pattern for any of the texts, or for the beginning of one at the end of the searched
    text.

    A beginning that texts share is written once; the rest of a single text is written flat, which
    is compiled faster. `look_back` is put after the first character. Return "" if a text is empty,
    because it would match everywhere.
    """
    following: dict[str, list[str]] = {}
    for text in texts:
        if not text:
            return ""
        following.setdefault(text[0], []).append(text[1:])
    branches = ((re.escape(char), _any_rest(rests)) for char, rests in following.items())
    return "|".join(f"{char}{look_back}{rest}" for char, rest in branches)


def _any_rest(rests: list[str]) -> str:
    if len(rests) > 1:
        return rf"(?:{rest}|\Z)" if (rest := any_of(rests)) else ""
    cut_rests = (re.escape(rests[0][:size]) + r"\Z" for size in reversed(range(len(rests[0]))))
    return f"(?:{'|'.join((re.escape(rests[0]), *cut_rests))})" if rests[0] else ""


def candidates_of(choices: Iterable[WithBeginnings]) -> str:
    """Build the pattern that finds where any of the choices may begin.

    A choice that may begin with anything makes every character a candidate, or, if it must begin a
    line, the first character of every line.
    """
    listed = list(choices)
    anything = [choice for choice in listed if not choice.begins and not choice.heads]
    if not all(LINE_START in choice.pattern for choice in anything):
        return r"[\s\S]"
    texts = {(text, _look_back_of(choice)) for choice in listed for text in choice.begins}
    texts |= {(text, _FIRST_OF_LINE) for choice in listed for text in choice.heads}
    spaced = {text[1:] for text, _ in texts if text.startswith(" ")}
    solid = {(text.lstrip(" "), look_back) for text, look_back in texts if text.strip(" ")}
    # a leaked token for white space may come before a marker, so the search stops at it as well, if
    # it shares its first character with a beginning
    solid |= {(leak, "") for leak in LEAKED if any(leak[0] == text[0] for text, _ in solid)}
    branches = [ANY_LINE] if anything else []
    for look_back in sorted({look_back for _, look_back in solid}):
        branches.append(any_of(sorted(text for text, its in solid if its == look_back), look_back))
    if spaced:
        # of several blanks before a marker, only the first is a candidate: if each were, the blanks
        # after it would be read again and again
        leaks = re.escape("".join(sorted({text[0] for text in LEAKED})))
        following = any_of(sorted(spaced))
        ahead = rf"(?=\s{{0,64}}+(?:[{leaks}]|{following}|\Z))" if following else ""
        branches.append(rf" (?<!  ){ahead}")
    return "|".join(branches)


def _look_back_of(choice: WithBeginnings) -> str:
    """Return a candidate's look-behind, if the choice's pattern begins with one, or else ""."""
    return next(
        (look_back for start, look_back in _LOOK_BACK.items() if choice.pattern.startswith(start)),
        "",
    )


def begin_alike(choice: WithBeginnings, others: Iterable[WithBeginnings]) -> bool:
    """Return True if the choice and one of the others may begin with the same characters."""
    texts = [text for other in others for text in other.begins or ("",)]
    return any(may_begin(choice, text) for text in texts)


def may_begin(choice: WithBeginnings, head: str) -> bool:
    """Return True if the choice may begin with `head`, judged by its declared beginnings.

    Comparing a few characters saves compiling the choice's pattern.
    """
    bare = head.lstrip()
    if not choice.begins or not bare or bare.startswith(LEAKED):
        return True  # a leaked token for white space may come before any marker
    if any(leak.startswith(bare) for leak in LEAKED):
        return True
    solid = [start.strip() for start in choice.begins]
    if "" in solid and head[0].isspace():
        return True  # such a choice begins with white space alone
    return any(bare.startswith(start) or start.startswith(bare) for start in solid if start)


def head_at(text: str, place: int) -> str:
    """Return the first characters at a place, as many as `may_begin` needs.

    White space before them is one blank.
    """
    head = text[place : place + _HEAD]
    if not head[:1].isspace():
        return head
    spaces = _SPACES.match(text, place)
    assert spaces
    return " " + text[spaces.end() : spaces.end() + _HEAD]
