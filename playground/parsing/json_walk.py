"""JSON in a stream: values end by balance and string-awareness, never by a marker inside them.

Single quotes and comments are seen through too: strict JSON has neither outside of a string.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from playground.parsing.claims import Claim
from playground.parsing.marker import Told
from playground.parsing.open_call import BrokenCall
from playground.parsing.quiet import Look, Quiet, quiet_string, quiet_until
from playground.parsing.scanner import Scanner, Walk
from playground.parsing.wait import Wait

# a comment begins after a gap or punctuation: the slashes of `https://x` are a bare value's own;
# and nothing but a marker has a `<` outside of strings
_OUTSIDE: Final = re.compile(r"""["'{}\[\]<]|(?<![^\s,{\[}\]"'])(?://|/\*|/\Z)""")
# what may open a string or a comment, and what is looked for inside it
_INSIDE: Final = {
    '"': re.compile(r'["\\]'),
    "'": re.compile(r"['\\]"),
    "//": re.compile(r"[\r\n]"),
    "/*": re.compile(r"\*/?"),
}
_ESCAPED_OUTSIDE: Final = re.compile(r'\\(?:"|\Z)|[{}\[\]]')
_ESCAPED_INSIDE: Final = re.compile(r'\\{1,8}"?')
_ENDS: Final = ('"', "'", "\\")  # what ends a string, or escapes in it
_DEPTH: Final = {"{": 1, "[": 1, "}": -1, "]": -1}
# what is open, and how much deeper one is, after a character that counts where something is open
_AFTER: Final = {
    **{("", opener): (opener, 0) for opener in _INSIDE},
    **{("", bracket): ("", deeper) for bracket, deeper in _DEPTH.items()},
    **{(closer, closer): ("", 0) for closer in ('"', "'")},
    ("//", "\n"): ("", 0),
    ("//", "\r"): ("", 0),
    ("/*", "*/"): ("", 0),
    ("/*", "*"): ("/*", 0),  # a lone one does not end a comment
}
_UNDECIDED: Final = ("\\", "/", "*")  # at a cut: an escape, a comment's opener, its closer
# what a chunk may hold that passes by, by what is open
_OPEN: Final = {"": frozenset("\"'{}[]"), '"': frozenset('"'), "'": frozenset("'")}
_SHORT: Final = 64  # characters of such a chunk
_SCALAR_END: Final = re.compile(r"[\n,}\]<]")


def value(scanner: Scanner, emit: Claim, restart: Wait | None = None) -> Walk[None]:
    """Claim one JSON value by `emit`, piece by piece."""
    while (first := scanner.peek()) is None:
        yield
    if first and first in "\"'{[":
        yield from balanced(scanner, emit, restart)
    else:
        yield from scanner.claim_to(_SCALAR_END, emit)


def balanced(scanner: Scanner, emit: Claim, restart: Wait | None = None) -> Walk[None]:
    """Claim a string, an object, an array or a comment: up to where brackets are balanced and
    nothing is open. It is claimed in one piece, unless the text is cut.

    `restart` is how another call begins, up to its first quote: no string holds that, so where it
    stands in one the string never ended. Raises BrokenCall there, and at the end of the stream.
    """
    nesting, position = Nesting(restart), scanner.at
    while True:
        match = nesting.place.pattern.search(scanner.text, position)
        if match is None:
            scanner.claim_cut(emit, len(scanner.text))
            scanner.rest(nesting.place.quiet, emit, turn=nesting.turn)
            yield
            position = scanner.at
            continue
        char, inside = match[0], nesting.inside
        if char in _UNDECIDED and match.end() == len(scanner.text):
            # held back, not claimed: what follows decides what it is
            scanner.claim_cut(emit, match.start())
            scanner.rest(nesting.place.quiet, emit, turn=nesting.turn)
            yield
            position = scanner.at
            continue
        if inside == '"' and char not in _ENDS:
            assert restart is not None  # nothing else is looked for in a string
            if _undecided(scanner, emit, match.start(), restart):
                scanner.rest(nesting.place.quiet, emit, turn=nesting.turn)
                yield
                position = scanner.at
            else:
                position = match.start() + 1
            continue
        if char == "<" and not inside:
            emit(match.start() - scanner.at)
            raise BrokenCall("malformed-json", "a marker stands inside the JSON")
        position = match.end()
        if char == "\\":
            position += 1  # whatever is escaped closes nothing
            continue
        if nesting.ends(*_AFTER[inside, char]):
            emit(position - scanner.at)
            return


def escaped_object(scanner: Scanner, emit: Claim) -> Walk[None]:
    """Claim an object that was escaped once more, as if inside of a string: up to its last brace.
    Raises BrokenCall at the end of the stream."""
    depth, inside, position = 0, False, scanner.at
    while True:
        pattern = _ESCAPED_INSIDE if inside else _ESCAPED_OUTSIDE
        match = pattern.search(scanner.text, position)
        if match is None or (match[0][-1] == "\\" and match.end() == len(scanner.text)):
            # backslashes at a cut are held back: what follows decides what they are
            scanner.claim_cut(emit, match.start() if match else len(scanner.text))
            scanner.rest(quiet_until(pattern), emit)
            yield
            position = scanner.at
            continue
        position = match.end()
        if match[0][0] == "\\":
            # of `\\\"` one backslash is the quote's own once it is unescaped: it ends no string
            inside ^= match[0][-1] == '"' and (len(match[0]) - 1) % 4 == 1
            continue
        depth += _DEPTH[match[0]]
        if depth == 0:
            emit(position - scanner.at)
            return


def _undecided(scanner: Scanner, emit: Claim, place: int, restart: Wait) -> bool:
    """Whether more text has to come before one knows if another call begins at `place`. Raises
    BrokenCall where one does."""
    opener = restart.match(scanner.text, place, partial=True)
    if opener is None:
        return False
    emit(place - scanner.at)
    if opener.partial and not scanner.ended:
        return True
    raise BrokenCall("truncated-call" if opener.partial else "malformed-json")


class _Place(NamedTuple):
    """What is looked for where something is open, or nothing is, and how chunks pass by there."""

    pattern: re.Pattern[str]
    quiet: Quiet


@lru_cache(maxsize=1024)
def _places(restart: Wait | None) -> dict[str, _Place]:
    """The places of a text by what is open."""
    found = {"": _Place(_OUTSIDE, quiet_until(_OUTSIDE))}
    for opener, pattern in _INSIDE.items():
        if opener not in _ENDS:
            found[opener] = _Place(pattern, quiet_until(pattern))
            continue
        started = restart if opener == '"' else None
        if started is not None:
            # each choice begins with one character alone: only so does `re` run through text to any
            pattern = re.compile(rf'"|\\|{started.first.pattern}')
        found[opener] = _Place(pattern, quiet_string(pattern, started and _looking(started)))
    return found


def _looking(restart: Wait) -> Look:
    """What begins another call, as `_undecided` has it: more text changes nothing that is whole."""

    def look(text: str, place: int) -> Told:
        marker, _ = restart.look(text, place)
        return marker, marker is not None and marker.partial

    return look


class Nesting:
    """Where a walk stands in a JSON text: how many brackets are open, and `inside` of which string
    or comment, if any."""

    __slots__ = ("depth", "inside", "place", "places", "restart")

    def __init__(self, restart: Wait | None) -> None:
        self.restart, self.places = restart, _places(restart)
        self.depth, self.inside, self.place = 0, "", self.places[""]

    def ends(self, inside: str, deeper: int) -> bool:
        """What is open from here on; whether nothing is, so that the text is over."""
        self.inside, self.place = inside, self.places[inside]
        self.depth += deeper
        return self.depth == 0 and not inside

    def turn(self, text: str) -> Quiet | None:
        """How chunks pass by behind one that opens or closes something in the text; None where the
        text may end in it, or that is for the walk to say."""
        change = _change(self.restart, self.inside, text) if len(text) <= _SHORT else None
        if change is None or self.depth + change.least < 1:
            return None
        self.inside, self.place = change.inside, self.places[change.inside]
        self.depth += change.deeper
        return self.place.quiet


class _Change(NamedTuple):
    """What a chunk does: what is open behind it, how much deeper one is there, and how deep one was
    at `least` where no string was open."""

    inside: str
    deeper: int
    least: int


@lru_cache(maxsize=4096)  # a model has a vocabulary, of which few tokens hold quotes and brackets
def _change(restart: Wait | None, inside: str, text: str) -> _Change | None:
    """None where what stands in the text is more than quotes, brackets and escapes."""
    places, deep, least, position = _places(restart), 0, len(text) + 1, 0
    while (match := places[inside].pattern.search(text, position)) is not None:
        char, position = match[0], match.end()
        if char == "\\" and position < len(text):
            position += 1  # whatever is escaped closes nothing
            continue
        if inside not in _OPEN or char not in _OPEN[inside]:
            return None
        inside, deeper = _AFTER[inside, char]
        deep += deeper
        least = least if inside else min(least, deep)
    return _Change(inside, deep, least)


def skip_gap(scanner: Scanner) -> Walk[bool]:
    """Claim white space and comments as markup; whether there was a comment."""
    commented = False
    while True:
        while not scanner.skip_space():
            yield
        if scanner.peek() != "/":
            return commented
        commented = True
        yield from balanced(scanner, scanner.claim_markup())
