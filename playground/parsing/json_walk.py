"""JSON in a stream: a value ends at its own bracket or quote, not at a marker in a string.

Single quotes and comments are read too. Strict JSON has neither outside of strings, so it is not
misread.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

from playground.base.json_numbers import load_strict_json_at
from playground.parsing.choice_point import ChoicePoint
from playground.parsing.claims import Claim
from playground.parsing.marker import Lookahead
from playground.parsing.open_call import BrokenCall
from playground.parsing.scanner import Scanner, Walk
from playground.parsing.skip_rule import MatchAt, SkipRule, rule_in_string, rule_until

BLANKS: Final = re.compile(r"[ \t\r\n]*")  # JSON's own white space
# A comment begins after white space or punctuation, because the slashes of `https://x` belong to a
# value without quotes. Outside of strings only a marker has a `<`.
_OUTSIDE: Final = re.compile(r"""["'{}\[\]<]|(?<![^\s,{\[}\]"'])(?://|/\*|/\Z)""")
# opener of a string or comment -> the pattern to search for inside it
_INSIDE: Final = {
    '"': re.compile(r'["\\]'),
    "'": re.compile(r"['\\]"),
    "//": re.compile(r"[\r\n]"),
    "/*": re.compile(r"\*/?"),
}
_ESCAPED_OUTSIDE: Final = re.compile(r'\\(?:"|\Z)|[{}\[\]]')
_ESCAPED_INSIDE: Final = re.compile(r'\\{1,8}"?')
_STRING_CHARS: Final = ('"', "'", "\\")  # ends of a string, and its escapes
_DEPTH: Final = {"{": 1, "[": 1, "}": -1, "]": -1}
# (opener that is open, match) -> (opener that is open after the match, change of the depth)
_AFTER: Final = {
    **{("", opener): (opener, 0) for opener in _INSIDE},
    **{("", bracket): ("", deeper) for bracket, deeper in _DEPTH.items()},
    **{(closer, closer): ("", 0) for closer in ('"', "'")},
    ("//", "\n"): ("", 0),
    ("//", "\r"): ("", 0),
    ("/*", "*/"): ("", 0),
    ("/*", "*"): ("/*", 0),  # a lone `*` does not end a comment
}
# beginnings of an escape, of a comment's opener and of its closer, if the text ends there
_UNDECIDED: Final = ("\\", "/", "*")
# opener that is open -> the matches that `_change_by` can follow without the walk
_SKIPPABLE: Final = {"": frozenset("\"'{}[]"), '"': frozenset('"'), "'": frozenset("'")}
_LONGEST_CHUNK: Final = 64  # characters: longer chunks are read by the walk (`claim_balanced`)
_LEAST_AT_ONCE: Final = 128  # characters: in shorter texts a value is seldom complete
_SCALAR_END: Final = re.compile(r"[\n,}\]<]")


def value(scanner: Scanner, emit: Claim, restart: ChoicePoint | None = None) -> Walk[None]:
    """Claim one JSON value by `emit`, piece by piece; `restart` is that of `claim_balanced`."""
    while (first := scanner.peek()) is None:
        yield
    if first and first in "\"'{[":
        yield from claim_balanced(scanner, emit, restart)
    else:
        yield from scanner.claim_to(_SCALAR_END, emit)


def claim_balanced(scanner: Scanner, emit: Claim, restart: ChoicePoint | None = None) -> Walk[None]:
    """Claim a string, an object, an array or a comment, up to its end.

    It is claimed in one piece if it is complete, or else as its chunks arrive. `restart` matches
    the beginning of another call, up to its first quote. Raises BrokenCall at such a beginning
    inside a string (then the string was never closed), at a marker outside of strings, and at the
    end of the stream.
    """
    is_value = scanner.text[scanner.at] in "{["
    if is_value and (complete := complete_value(scanner)) is not None:
        emit(complete[1] - scanner.at)
        return
    nesting, position = Nesting(restart), scanner.at
    while True:
        match = nesting.place.pattern.search(scanner.text, position)
        if match is None:
            scanner.claim_cut(emit, len(scanner.text))
            scanner.allow_skip(nesting.place.skip_rule, emit, next_rule=nesting.next_rule)
            yield
            position = scanner.at
            continue
        char, inside = match[0], nesting.inside
        if char in _UNDECIDED and match.end() == len(scanner.text):
            # held, because the next character decides what this is
            scanner.claim_cut(emit, match.start())
            scanner.allow_skip(nesting.place.skip_rule, emit, next_rule=nesting.next_rule)
            yield
            position = scanner.at
            continue
        if inside == '"' and char not in _STRING_CHARS:
            assert restart is not None  # a string has no other matches
            if _may_restart(scanner, emit, match.start(), restart):
                scanner.allow_skip(nesting.place.skip_rule, emit, next_rule=nesting.next_rule)
                yield
                position = scanner.at
            else:
                position = match.start() + 1
            continue
        if char == "<" and not inside:
            emit(match.start() - scanner.at)
            raise BrokenCall(
                "malformed-json",
                "'<' comes where the JSON must go on: a bracket or a quote is missing before it",
            )
        position = match.end()
        if char == "\\":
            position += 1  # an escaped character closes nothing
            continue
        if nesting.ends_after(*_AFTER[inside, char]):
            emit(position - scanner.at)
            return


def complete_value(scanner: Scanner) -> tuple[Any, int] | None:
    """Return the object or array that begins here, and the index of its end. Return None if it is
    not complete or not strict JSON, and also if the text is short or was tried before.

    No other call can begin inside: the call's first quote would end a string, and the key after
    that quote would not be JSON. A string alone does not count, because any text may follow it.
    """
    text, at = scanner.text, scanner.at
    if len(text) - at < _LEAST_AT_ONCE or text[at] not in "{[":
        return None
    # a text is tried only once, because a failure may have read all of it
    if scanner.base + len(text) == scanner.incomplete_at:
        return None
    try:
        return load_strict_json_at(text, at)
    except (ValueError, RecursionError):
        scanner.incomplete_at = scanner.base + len(text)
        return None


def escaped_object(scanner: Scanner, emit: Claim) -> Walk[None]:
    """Claim an object with escaped quotes, as in a JSON string, up to its last brace.

    Raises BrokenCall at the end of the stream.
    """
    depth, inside, position = 0, False, scanner.at
    while True:
        pattern = _ESCAPED_INSIDE if inside else _ESCAPED_OUTSIDE
        match = pattern.search(scanner.text, position)
        if match is None or (match[0][-1] == "\\" and match.end() == len(scanner.text)):
            # backslashes at the end of the text are held, because the next character decides
            scanner.claim_cut(emit, match.start() if match else len(scanner.text))
            scanner.allow_skip(rule_until(pattern), emit)
            yield
            position = scanner.at
            continue
        position = match.end()
        if match[0][0] == "\\":
            # `\"` opens or ends a string; `\\\"` is `\"` once unescaped, a quote inside a string;
            # `\\\\\"` is `\\"` once unescaped, which ends the string: 1, 5, 9 … backslashes do
            inside ^= match[0][-1] == '"' and (len(match[0]) - 1) % 4 == 1
            continue
        depth += _DEPTH[match[0]]
        if depth == 0:
            emit(position - scanner.at)
            return


def _may_restart(scanner: Scanner, emit: Claim, place: int, restart: ChoicePoint) -> bool:
    """Return True if only more text can decide if another call begins at `place`.

    Raises BrokenCall if one does begin there.
    """
    opener = restart.match(scanner.text, place, partial=True)
    if opener is None:
        return False
    emit(place - scanner.at)
    if opener.partial and not scanner.ended:
        return True
    if opener.partial:
        raise BrokenCall("truncated-call")
    raise BrokenCall("malformed-json", "another call begins before the JSON ends")


class _Place(NamedTuple):
    """The pattern to search for and the rule for skipping chunks, either outside of strings and
    comments, or inside one kind of string or comment."""

    pattern: re.Pattern[str]
    skip_rule: SkipRule


@lru_cache(maxsize=1024)
def _places_by_opener(restart: ChoicePoint | None) -> dict[str, _Place]:
    """Return the places by the opener of the string or comment that is open, "" for none."""
    places = {"": _Place(_OUTSIDE, rule_until(_OUTSIDE))}
    for opener, pattern in _INSIDE.items():
        if opener not in _STRING_CHARS:
            places[opener] = _Place(pattern, rule_until(pattern))
            continue
        string_restart = restart if opener == '"' else None
        if string_restart is not None:
            # each choice is found by one character, so that `re` searches for all of them fast
            pattern = re.compile(rf'"|\\|{string_restart.candidate_pattern.pattern}')
        places[opener] = _Place(
            pattern, rule_in_string(pattern, string_restart and _restart_at(string_restart))
        )
    return places


def _restart_at(restart: ChoicePoint) -> MatchAt:
    """Return a function that finds another call as `_may_restart` does: by a complete opener,
    whatever follows."""

    def match_at(text: str, place: int) -> Lookahead:
        marker, _ = restart.match_at(text, place)
        return marker, marker is not None and marker.partial

    return match_at


class Nesting:
    """The brackets, string or comment that are open at the current position of a JSON text.

    `depth` counts the open brackets; `inside` is the opener of the open string or comment, "" for
    none.
    """

    __slots__ = ("depth", "inside", "place", "places", "restart")

    def __init__(self, restart: ChoicePoint | None) -> None:
        self.restart, self.places = restart, _places_by_opener(restart)
        self.depth, self.inside, self.place = 0, "", self.places[""]

    def ends_after(self, inside: str, deeper: int) -> bool:
        """Set `inside`, change the depth by `deeper`, and return True if nothing is open then."""
        self.inside, self.place = inside, self.places[inside]
        self.depth += deeper
        return self.depth == 0 and not inside

    def next_rule(self, chunk: str) -> SkipRule | None:
        """Move past a chunk in which something opens or closes, and return the rule after it.

        Return None, and do not move, if the value may end in the chunk or if it needs the walk.
        """
        change = (
            _change_by(self.restart, self.inside, chunk) if len(chunk) <= _LONGEST_CHUNK else None
        )
        if change is None:
            return None
        inside, deeper, least = change
        if self.depth + least < 1:
            return None
        self.inside, self.place = inside, self.places[inside]
        self.depth += deeper
        return self.place.skip_rule


class _Change(NamedTuple):
    """The effect of a chunk: the string or comment open at its end, the depth there (`deeper`),
    and its `least` depth outside of strings. Both depths are relative to the chunk's start."""

    inside: str
    deeper: int
    least: int


@lru_cache(maxsize=4096)  # a cache of tokens: few tokens of a vocabulary hold quotes and brackets
def _change_by(restart: ChoicePoint | None, inside: str, chunk: str) -> _Change | None:
    """Return the effect of a chunk, or None if the walk has to read it.

    The walk has to read: outside of strings, a `<` and a slash that may begin a comment; in a
    string, a backslash at the end of the chunk and what may begin another call; in a comment, what
    may end it.
    """
    places, deeper, least, position = _places_by_opener(restart), 0, len(chunk) + 1, 0
    while (match := places[inside].pattern.search(chunk, position)) is not None:
        char, position = match[0], match.end()
        if char == "\\" and position < len(chunk):
            position += 1  # an escaped character closes nothing
            continue
        if inside not in _SKIPPABLE or char not in _SKIPPABLE[inside]:
            return None
        inside, step = _AFTER[inside, char]
        deeper += step
        least = least if inside else min(least, deeper)
    return _Change(inside, deeper, least)


def goes_on(scanner: Scanner) -> bool:
    """Return True if a comment, or white space that JSON does not have, may come next."""
    char = scanner.text[scanner.at : scanner.at + 1]
    return char == "/" or char.isspace()


def skip_gap(scanner: Scanner) -> Walk[bool]:
    """Claim white space and comments as markup; return True if strict JSON would not allow them."""
    is_relaxed = False
    while True:
        while not scanner.skip_space(BLANKS):
            yield
        if not goes_on(scanner):
            return is_relaxed
        is_relaxed = True
        if scanner.peek() == "/":
            yield from claim_balanced(scanner, scanner.claim_markup())
        else:
            scanner.emit_markup(1)
