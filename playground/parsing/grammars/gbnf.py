"""Grammars as one text that both llama.cpp (GBNF) and xgrammar (EBNF) read.

Neither can say what a text must not hold, so each state of a free text's automaton is a rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from playground.parsing.grammars.characters import CharacterSet, characters
from playground.parsing.grammars.expressions import (
    Either,
    Exact,
    Expression,
    FreeText,
    InOrder,
    OneOf,
    Repeated,
    Token,
    Use,
    repetition_sign,
)
from playground.parsing.grammars.texts import TextState, states

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def gbnf(rules: Mapping[str, Expression], root: str) -> str:
    """Write the rules as llama.cpp and xgrammar read them; the rule `root` becomes their `root`."""
    writer = _Writer(root)
    lines = [f"{writer.name(name)} ::= {writer.top(rule)}" for name, rule in rules.items()]
    return "\n".join([*lines, *writer.lines]) + "\n"


class _Writer:
    def __init__(self, root: str) -> None:
        self.root = root
        self.lines: list[str] = []
        self._names: dict[Expression, str] = {}

    def name(self, rule: str) -> str:
        return "root" if rule == self.root else f"r-{rule}"

    def top(self, rule: Expression) -> str:
        if isinstance(rule, Either):
            return " | ".join(map(self.text, rule.items))
        return self.text(rule)

    def text(self, expression: Expression) -> str:
        match expression:
            case Exact(text):
                return f'"{"".join(map(_char, text))}"'
            case OneOf(of):
                return _set(of)
            case FreeText():
                return self._free(expression)
            case Token():
                return self._token(expression)
            case Use(rule):
                return self.name(rule)
            case InOrder(items):
                return f"({' '.join(map(self.text, items))})" if items else '""'
            case Either(items):
                return f"({' | '.join(map(self.text, items))})"
            case Repeated(item, least, most):
                text = self.text(item)
                # a name, a set, one text or something in brackets needs no brackets
                single = not isinstance(item, Repeated) and not text.startswith('""')
                return f"{text if single else f'({text})'}{repetition_sign(least, most)}"

    def _free(self, free_text: FreeText) -> str:
        """Write a free text as rules; return the name of the first."""
        if free_text not in self._names:
            stem = self._names[free_text] = self._new_name("text")
            listed = states(free_text.shape, free_text.without, free_text.ending, free_text.at_end)
            self.lines += _state_rules(stem, listed, self.text(Exact(free_text.ending)))
        return self._names[free_text]

    def _token(self, token: Token) -> str:
        """Write a token as a rule, because several rules may use it; return the rule's name."""
        if token not in self._names:
            name = self._names[token] = self._new_name("token")
            self.lines.append(f"{name} ::= {self.text(token.inside)}")
        return self._names[token]

    def _new_name(self, kind: str) -> str:
        """Return a new name; a text's further states add a hyphen and a number to it."""
        return f"{kind}-{len(self._names) + 1}"


def _set(of: CharacterSet) -> str:
    """Write a set. Escapes come after plain characters, because xgrammar reads all hexadecimal
    digits after an escape as part of the escape.

    `^` and `-` come last: elsewhere they have a meaning, and no escape for them is read by both
    engines.
    """
    # llama.cpp refuses a character whose first bytes are those of an excluded one
    without = of.is_shorter_negated and all(last < 0x80 for _, last in of.others.ranges)
    written = of.others if without else of & _WRITTEN
    ranges = [part for span in written.ranges for part in _split_range(span)]
    listed = sorted((_range(*part) for part in ranges), key=_place_in_set)
    if not without:
        return '"^"' if listed == ["^"] else f"[{''.join(listed)}]"
    return f"[^{''.join(sorted([*listed, _NUL], key=_place_in_set))}]"


_NUL: Final = "\\x00"
_WRITTEN: Final = characters("\0").others


def _place_in_set(text: str) -> int:
    return (
        ["^", "-"].index(text) + 2
        if text in ("^", "-")
        else int(text.startswith(("\\x", "\\u", "\\U")))
    )


def _split_range(span: tuple[int, int]) -> list[tuple[int, int]]:
    """Split a range into the dash and the caret at its ends, and the rest."""
    first, last = span
    ranges = []
    for char in "^-":
        if first < last and ord(char) in (first, last):
            ranges.append((ord(char), ord(char)))
            first += first == ord(char)
            last -= last == ord(char)
    return [*ranges, (first, last)]


def _range(first: int, last: int) -> str:
    start, stop = _in_set(chr(first)), _in_set(chr(last))
    return start if first == last else f"{start}-{stop}"


def _in_set(char: str) -> str:
    if char in "[]":
        return f"\\{char}"
    if char == '"':
        return char
    return _char(char).replace("\\u00", "\\x")


def _state_rules(stem: str, listed: Sequence[TextState], ending: str) -> list[str]:
    """Write a rule for each state; the first rule is named `stem`."""

    def name(index: int) -> str:
        return stem if index == 0 else f"{stem}-{index}"

    lines = []
    for index, state in enumerate(listed):
        ways = [f"{_set(chars)} {name(target)}" for chars, target in state.moves]
        ways += [ending] if state.ends else []
        lines.append(f"{name(index)} ::= {' | '.join(ways)}")
    return lines


def _char(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    number = ord(char)
    if char.isprintable():
        return char
    return f"\\u{number:04X}" if number < 0x10000 else f"\\U{number:08X}"
