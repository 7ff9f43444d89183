"""JSON in a stream: values end by balance and string-awareness, never by a marker inside them.

Single quotes and comments are seen through too: strict JSON has neither outside of a string.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from playground.parsing.claims import Claim
from playground.parsing.open_call import BrokenCall
from playground.parsing.quiet import Quiet, quiet_string, quiet_until
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
_SCALAR_END: Final = re.compile(r"[\n,}\]<]")


def value(scanner: Scanner, emit: Claim, restart: Wait | None = None) -> Walk[None]:
    """Claim one JSON value by `emit`, piece by piece."""
    first = yield from scanner.peek()
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
    depth, inside, position = 0, "", scanner.at
    places = _places(restart)
    while True:
        pattern, quiet = places[inside]
        match = pattern.search(scanner.text, position)
        if match is None:
            scanner.claim_cut(emit, len(scanner.text))
            scanner.rest(quiet, emit)
            yield
            position = scanner.at
            continue
        char = match[0]
        if char in _UNDECIDED and match.end() == len(scanner.text):
            # held back, not claimed: what follows decides what it is
            scanner.claim_cut(emit, match.start())
            scanner.rest(quiet, emit)
            yield
            position = scanner.at
            continue
        if inside == '"' and char not in _ENDS:
            assert restart is not None  # nothing else is looked for in a string
            if _undecided(scanner, emit, match.start(), restart):
                scanner.rest(quiet, emit)
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
        inside, deeper = _AFTER[inside, char]
        depth += deeper
        if depth == 0 and not inside:
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
        found[opener] = _Place(pattern, quiet_string(pattern, started and started.look))
    return found


def skip_gap(scanner: Scanner) -> Walk[bool]:
    """Claim white space and comments as markup; whether there was a comment."""
    commented = False
    while True:
        yield from scanner.skip_space()
        if (yield from scanner.peek()) != "/":
            return commented
        commented = True
        yield from balanced(scanner, scanner.claim_markup())
