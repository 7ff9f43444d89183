"""Texts that must not hold certain words, as automata.

Engines differ most in such texts: for llguidance a terminal can be a complement; for the others
each state of the automaton becomes a rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from playground.parsing.grammars.characters import (
    ALL,
    BLANKS,
    CONTROL,
    HEX,
    CharacterSet,
    characters,
    escape,
)

Row = tuple[tuple[CharacterSet, int], ...]  # (characters, the state to which they lead)


@dataclass(frozen=True, slots=True)
class TextShape:
    """The shape of a text, apart from the words that it must not hold, as an automaton.

    `rows` has a row for each state, beginning with the first. In the states `ends` the text may
    end. `pattern` describes the same texts.
    """

    rows: tuple[Row, ...]
    ends: frozenset[int]
    pattern: str


def _single_row(of: CharacterSet) -> Row:
    return ((of, 0),)


ANY: Final = TextShape((_single_row(ALL),), frozenset({0}), "(?s:.)*")
SOME: Final = TextShape((((ALL, 1),), ((ALL, 1),)), frozenset({1}), "(?s:.)+")
_LINE: Final = characters("\r\n").others
LINE: Final = TextShape((_single_row(_LINE),), frozenset({0}), r"[^\r\n]*")
SOME_LINE: Final = TextShape((((_LINE, 1),), ((_LINE, 1),)), frozenset({1}), r"[^\r\n]+")
_IN_LINE: Final = characters("\n").others
LINES: Final = TextShape(
    (((_IN_LINE, 1), (characters("\n"), 0)), ((_IN_LINE, 1), (characters("\n"), 0))),
    frozenset({0}),
    r"([^\n]*\n)*",
)
"""Whole lines: nothing, or text that ends with a line break."""


@lru_cache
def beginning(forbidden: str, empty: bool = True) -> TextShape:
    """Return the shape of text that does not begin, after blanks, with one of the characters
    `forbidden`. With `empty` the text may consist of blanks alone."""
    first = (BLANKS | characters(forbidden)).others
    pattern = rf"{BLANKS.pattern}*{first.pattern}(?s:.)*"
    return TextShape(
        (((BLANKS, 0), (first, 1)), ((ALL, 1),)),
        frozenset({0, 1} if empty else {1}),
        rf"({pattern}|{BLANKS.pattern}*)" if empty else pattern,
    )


@lru_cache
def trimmed_text(forbidden: str) -> TextShape:
    """Return the shape of text that is not empty, has no blanks around it, and begins with none of
    the characters `forbidden`."""
    inside = BLANKS.others
    first = inside - characters(forbidden)
    rest: Row = ((BLANKS, 1), (inside, 2))
    return TextShape(
        (((first, 2),), rest, rest), frozenset({2}), rf"{first.pattern}((?s:.)*{inside.pattern})?"
    )


@lru_cache
def not_beginning_with(words: tuple[str, ...]) -> TextShape:
    """Return the shape of text that begins with none of the words."""
    heads = sorted({word[:size] for word in words for size in range(len(word))} | {""})
    free = len(heads)  # the state after a character that leads to no word
    rows: list[Row] = []
    for head in heads:
        next_words = [word for word in words if word.startswith(head) and word != head]
        following = sorted({word[len(head)] for word in next_words})
        ways = [(characters(c), heads.index(head + c)) for c in following if head + c in heads]
        rows.append(((characters(*following).others, free), *ways))
    pattern = _not_beginning(frozenset(words))
    return TextShape((*rows, ((ALL, free),)), frozenset(range(free + 1)), pattern)


def _not_beginning(words: frozenset[str]) -> str:
    """Return the pattern of `not_beginning_with`, for words that are not empty."""
    heads = sorted({word[0] for word in words})
    ways = [f"{characters(*heads).others.pattern}(?s:.)*"]
    for head in heads:
        rest = frozenset(word[1:] for word in words if word[0] == head)
        ways += [] if "" in rest else [f"{escape(head)}{_not_beginning(rest)}"]
    return f"({'|'.join(ways)})?"


PLAIN: Final = (CONTROL | characters('"\\')).others
"""The characters that are written unescaped in a JSON string."""
_PLAIN_PATTERN: Final = r"[^\x{0}-\x{1f}\x{22}\x{5c}]"
JSON_TEXT: Final = TextShape(
    (
        ((PLAIN, 0), (characters("\\"), 1)),
        ((characters('"\\/bfnrt'), 0), (characters("u"), 2)),
        ((HEX, 3),),
        ((HEX, 4),),
        ((HEX, 5),),
        ((HEX, 0),),
    ),
    frozenset({0}),
    rf'({_PLAIN_PATTERN}|\\["\\\/bfnrt]|\\u[0-9a-fA-F]{{4}})*',
)
"""The inside of a JSON string."""


# words


class WordFinder:
    """The automaton of Aho and Corasick. Its states are beginnings of words; state 0 is the empty
    one."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(dict.fromkeys(filter(None, words)))
        beginnings = {word[:size] for word in self.words for size in range(len(word))}
        self.labels = sorted(beginnings | {""}, key=lambda text: (len(text), text))
        self._number = {label: index for index, label in enumerate(self.labels)}
        self.chars = sorted(set("".join(self.words)))

    def step(self, state: int, char: str) -> int:
        """Return the state after one more character; -1 if a word is complete."""
        text = self.labels[state] + char
        if text.endswith(self.words):
            return -1
        while text not in self._number:
            text = text[1:]
        return self._number[text]

    def row(self, state: int) -> Row:
        """Return the target state of each character, except for characters that complete a word."""
        targets: dict[int, list[str]] = {0: []}
        for char in self.chars:
            if (target := self.step(state, char)) >= 0:
                targets.setdefault(target, []).append(char)
        sets = {target: characters(*chars) for target, chars in targets.items()}
        sets[0] |= characters(*self.chars).others
        return tuple((chars, target) for target, chars in sets.items() if chars)

    def may_end(self, state: int, ending: str, at_end: bool) -> bool:
        """Return True if the text may end in this state.

        The text's last characters must not complete a word inside `ending` earlier than `ending`
        alone does. With `at_end` and no `ending`, the text must not end inside a word.
        """
        if at_end and not ending:
            return state == 0
        return self._completion_index(state, ending) == self._completion_index(0, ending)

    def _completion_index(self, state: int, text: str) -> int:
        for at, char in enumerate(text):
            state = self.step(state, char)
            if state < 0:
                return at
        return -1


@dataclass(frozen=True, slots=True)
class TextState:
    """A state of a free text: the target state of each character, and if the text may end here."""

    moves: Row
    ends: bool


@lru_cache(maxsize=256)  # calls of all tools have the same free texts
def states(
    shape: TextShape, without: tuple[str, ...], ending: str, at_end: bool = False
) -> tuple[TextState, ...]:
    """Return the states of a `FreeText` that can be reached, beginning with the first."""
    finder = WordFinder(without)
    row_of = cache(finder.row)
    numbers = {(0, 0): 0}
    pairs = [(0, 0)]
    automaton: list[TextState] = []
    for shape_state, word_state in pairs:  # the list grows in this loop
        row = []
        for chars, target in _product(shape.rows[shape_state], row_of(word_state)):
            if target not in numbers:
                numbers[target] = len(pairs)
                pairs.append(target)
            row.append((chars, numbers[target]))
        ends = shape_state in shape.ends and finder.may_end(word_state, ending, at_end)
        automaton.append(TextState(tuple(row), ends))
    return tuple(automaton)


def _product(left: Row, right: Row) -> list[tuple[CharacterSet, tuple[int, int]]]:
    pairs = [(a & b, (to_left, to_right)) for a, to_left in left for b, to_right in right]
    return [(chars, target) for chars, target in pairs if chars]


def forbidden_ends(without: tuple[str, ...], ending: str, at_end: bool = False) -> list[str]:
    """Return the ends that a `FreeText` must not have. If `b` is listed, `ab` need not be."""
    finder = WordFinder(without)
    ends: list[str] = []
    for state, label in enumerate(finder.labels):
        if not finder.may_end(state, ending, at_end) and not any(
            label.endswith(end) for end in ends
        ):
            ends.append(label)
    return ends
