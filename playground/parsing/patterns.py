"""Literals and choices as patterns that may be matched partially, however the text is cut.

Every repetition is bounded and possessive and none is nested, so that no text makes them slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import regex

from playground.parsing.syntax import Hole, Piece

SPACE: Final = r"(?:\s|<[be]os>){0,64}+"  # <bos> and <eos> leak in between markers
NO_NAME: Final = r"""\s<>="'`{}\[\]|"""  # no part of a name or key, in any dialect
IDENTIFIER: Final = r"[A-Za-z_][\w.\-]{0,127}+"
LINE: Final = r"[^\s`][^\n`]{0,255}+"
WORD: Final = r"[\w+#.\-]{0,24}+"
# attributes that the form does not ask for are read over
ATTRIBUTES: Final = r"""(?:\s{1,8}+[\w:.\-]{1,32}+="[^"]{0,64}+"){0,4}+"""
LINE_START: Final = r"(?<!\S[ \t]{0,6})"
CONTEXT: Final = 8  # characters before the place that LINE_START may look at


class Choice(NamedTuple):
    """One thing that may come: its pattern, and the characters with which it begins."""

    pattern: str
    first: str
    texts: tuple[str, ...] = ()  # where the pattern is nothing but these
    varying: bool = False  # one of its texts begins another of them


FENCE: Final = Choice(f"(?P<fence>{LINE_START}(?:`{{3,64}}+|~{{3,64}}+))", "`~")


@dataclass(frozen=True, slots=True)
class Wait:
    """A place where the engine waits: `first` finds candidates fast, `pattern` decides.

    `varying` names the groups that more text could lengthen, such as a run of back-ticks, or a
    marker that another marker begins with.
    """

    first: re.Pattern[str]
    pattern: regex.Pattern[str]
    groups: tuple[str, ...]
    varying: frozenset[str]

    def kind(self, match: regex.Match[str]) -> str:
        """Which choice has matched. (`lastgroup` is wrong where a name occurs in two forms.)"""
        return next((group for group in self.groups if match[group] is not None), "")


def literals(group: str, texts: Iterable[str]) -> list[Choice]:
    """A choice of markers. White space around one is no part of it, but for a leading blank."""
    listed = [_bare(text) for text in sorted(set(texts), key=len, reverse=True)]
    if not listed:
        return []
    pattern = "|".join(literal(text) for text in listed)
    first = "".join(text[0] + text.lstrip()[0] for text in listed)
    return [Choice(f"(?P<{group}>{pattern})", first, tuple(listed))]


def _bare(text: str) -> str:
    return " " * text.startswith(" ") + text.strip()


def pieces_pattern(
    pieces: Iterable[Piece],
    holes: Mapping[str, str],
    value_before: bool = False,
    value_after: bool = False,
    block: bool = False,
) -> str:
    """A pattern for pieces. White space is tolerated, but at a value's edge one line break is all:
    what lies beyond it belongs to the value."""
    listed = list(pieces)
    before = after = ""
    if value_before and listed:
        listed[0], before = _edge(listed[0], start=True)
    if value_after and listed:
        listed[-1], after = _edge(listed[-1], start=False)
    texts = [_piece(piece, holes, first=index == 0) for index, piece in enumerate(listed)]
    if value_after and len(listed) > 1 and isinstance(listed[-1], str) and listed[-1].isspace():
        texts[-1] = re.escape(listed[-1])  # more than this belongs to the value
    if value_before:
        texts.insert(0, _optional("\n" if block else before))
    if value_after:
        texts.append(_optional("\n" if block else after))
    return "".join(texts)


def _piece(piece: Piece, holes: Mapping[str, str], first: bool) -> str:
    """One piece; behind a hole, other attributes and white space before a tag are read over."""
    if isinstance(piece, Hole):
        return holes[piece.name]
    if piece.isspace():
        return re.escape(piece) if first else SPACE
    if not first and re.match(r'"\s*/?>', piece):
        return '"' + ATTRIBUTES + literal(piece[1:])
    return (SPACE if not first and piece[:1] in "<[" else "") + literal(piece)


def _edge(piece: Piece, start: bool) -> tuple[Piece, str]:
    """A piece without its outer white space, and that white space."""
    if isinstance(piece, Hole) or piece.isspace():
        return piece, ""  # white space that is all there is must be there
    bare = piece.lstrip() if start else piece.rstrip()
    return bare, piece[: -len(bare)] if start else piece[len(bare) :]


def _optional(space: str) -> str:
    blanks = r"[ \t]{0,16}+" if space == "\n" else ""
    return f"(?:{blanks}{re.escape(space)})?+" if space else ""


def stripped(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Without white space at the end: what follows a closer is not part of it."""
    if pieces and isinstance(pieces[-1], str):
        return (*pieces[:-1], pieces[-1].rstrip() or pieces[-1])
    return pieces


def name_before(pieces: tuple[Piece, ...], hole: str) -> str:
    """A name ends where the literal behind it begins; in quotes it may hold anything else."""
    stop = ""
    for piece, following in zip(pieces, pieces[1:], strict=False):
        if isinstance(piece, Hole) and piece.name == hole and isinstance(following, str):
            stop = re.escape(following.lstrip()[:1])
            if stop == '"':
                return r'[^"\s/][^"\n]{0,127}+'
    return f"(?!/)[^{NO_NAME}{stop}]{{1,128}}+"


def literal(text: str) -> str:
    """A marker as a pattern: its words exactly, the white space between and around them loosely."""
    words = re.split(r"\s+|(?<=>)(?=\S)|(?<=\S)(?=<)", text)
    return SPACE.join(re.escape(word) for word in words)


def worded(pattern: str) -> bool:
    """Whether a marker is more than punctuation, which prose is full of."""
    bare = re.sub(r"\\[a-zA-Z]|\(\?P<\w+>", "", pattern.replace(SPACE, ""))
    return any(char.isalpha() for char in bare)


def first_character(pieces: tuple[Piece, ...]) -> str:
    """The first character of a form that begins with a literal; none otherwise."""
    if pieces and isinstance(pieces[0], str):
        solid = pieces[0].lstrip()[:1] or first_character(pieces[1:])
        return f" {solid}" if solid and pieces[0].startswith(" ") else solid
    return ""


def beginning(pieces: tuple[Piece, ...]) -> str:
    """The first two characters of a form that begins with a literal, as far as they are known."""
    first = first_character(pieces).strip()
    literals = [piece.lstrip() for piece in pieces[:1] if isinstance(piece, str)]
    return next((text[:2].rstrip() for text in literals if text), first)


def last_piece(pieces: tuple[Piece, ...]) -> Piece:
    """The last piece that is not white space."""
    solid = [p for p in pieces if isinstance(p, Hole) or p.strip()]
    return solid[-1] if solid else ""


def unnamed(pattern: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


def wait(*choices: Choice, beginnings: Iterable[str] = ()) -> Wait:
    """A place where one of the choices may come; `beginnings` are how they all begin, but for one
    line break before them: more than their first characters tell."""
    listed = [choice for choice in choices if choice.pattern]
    first = "".join(sorted({char for choice in listed for char in choice.first}))
    anything = [choice for choice in listed if not choice.first]
    pattern = "|".join(choice.pattern for choice in listed)
    groups = tuple(dict.fromkeys(group for choice in listed if (group := _group(choice))))
    varying = {_group(choice) for choice in listed if choice.pattern.rstrip(")").endswith("+")}
    varying |= {
        _group(choice) for choice in listed if choice.varying or _begins_another(choice, listed)
    }
    searched = _begun(beginnings) or _searched(first, anything)
    return Wait(re.compile(searched), regex.compile(pattern), groups, frozenset(varying))


def _begun(beginnings: Iterable[str]) -> str:
    """What finds candidates by their first two characters, a line break before them or not."""
    listed = sorted(set(beginnings))
    if not all(text.strip() for text in listed):
        return ""
    pairs = [
        re.escape(text[0]) + (rf"(?:{re.escape(text[1])}|\Z)" if text[1:] else "")
        for text in listed
    ]
    found = "|".join(pairs)
    return rf"\n(?={found}|\Z)|{found}" if found else ""


def _searched(first: str, anything: list[Choice]) -> str:
    """What finds candidates: a first character, or the first of a line where that is all one
    knows."""
    if anything and not all(LINE_START in choice.pattern for choice in anything):
        return r"[\s\S]"
    found = [r"(?<![^\n])[ \t]{0,6}\S"] if anything else []
    return "|".join([*found, f"[{re.escape(first)}]"] if first else found)


def _begins_another(choice: Choice, listed: list[Choice]) -> bool:
    """Whether one of the choice's texts is how another choice may begin."""
    others = [regex.compile(other.pattern) for other in listed if other is not choice]
    begun = (o.fullmatch(text, partial=True) for text in choice.texts for o in others)
    return any(match is not None and match.partial for match in begun)


def _group(choice: Choice) -> str:
    match = re.match(r"\(\?P<(\w+)>", choice.pattern)
    return match[1] if match else ""
