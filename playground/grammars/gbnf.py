"""llama.cpp's GBNF and xgrammar's EBNF, which grew out of it: the same rules, other escapes.

Neither can say what a text must not hold: each state of a free text's automaton is a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from playground.grammars.characters import CharacterSet
from playground.grammars.expressions import (
    Either,
    Exact,
    Expression,
    FreeText,
    InOrder,
    OneOf,
    Repeated,
    Token,
    Use,
)
from playground.grammars.texts import TextState, states

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_IN_SET: Final = {"]": "\\]", "[": "\\[", "^": "\\x5E", "-": "\\x2D"}
_IN_SET_XGRAMMAR: Final = {"]": "\\]", "[": "\\x5B", "^": "\\^", "-": "\\-"}


def gbnf(rules: Mapping[str, Expression], root: str) -> str:
    """The rules as llama.cpp reads them; the rule `root` is its `root`."""
    return _write(rules, root, _IN_SET)


def ebnf(rules: Mapping[str, Expression], root: str) -> str:
    """The rules as xgrammar reads them; the rule `root` is its `root`."""
    return _write(rules, root, _IN_SET_XGRAMMAR)


def _write(rules: Mapping[str, Expression], root: str, in_set: Mapping[str, str]) -> str:
    writer = _Writer(root, in_set)
    lines = [f"{writer.name(name)} ::= {writer.top(rule)}" for name, rule in rules.items()]
    return "\n".join([*lines, *writer.lines]) + "\n"


class _Writer:
    def __init__(self, root: str, in_set: Mapping[str, str]) -> None:
        self.root, self.in_set = root, in_set
        self.lines: list[str] = []
        self._names: dict[Expression, str] = {}

    def name(self, rule: str) -> str:
        return "root" if rule == self.root else f"r-{rule}"

    def top(self, given: Expression) -> str:
        if isinstance(given, Either):
            return " | ".join(map(self.text, given.items))
        return self.text(given)

    def text(self, given: Expression) -> str:
        match given:
            case Exact(text):
                return f'"{"".join(map(_char, text))}"'
            case OneOf(of):
                return self._set(of)
            case FreeText():
                return self._free(given)
            case Token():
                return self._token(given)
            case Use(rule):
                return self.name(rule)
            case InOrder(items):
                return f"({' '.join(map(self.text, items))})" if items else '""'
            case Either(items):
                return f"({' | '.join(map(self.text, items))})"
            case Repeated(item, least, most):
                text = self.text(item)
                # a name, a set, one text or what has brackets already
                single = not isinstance(item, Repeated) and not text.startswith('""')
                return f"{text if single else f'({text})'}{_times(least, most)}"

    def _set(self, of: CharacterSet) -> str:
        given, sign = (of.others, "^") if of.is_most else (of, "")
        nul = "\\x00" if sign else ""
        ranges = (self._range(first, last) for first, last in given.ranges)
        return f"[{sign}{nul}{''.join(ranges)}]"

    def _range(self, first: int, last: int) -> str:
        start, stop = self._in_set(chr(first)), self._in_set(chr(last))
        return start if first == last else f"{start}-{stop}"

    def _in_set(self, char: str) -> str:
        return self.in_set.get(char) or ('"' if char == '"' else _char(char))

    def _free(self, given: FreeText) -> str:
        """The first of the rules that a free text becomes."""
        if given not in self._names:
            stem = self._names[given] = self._own("text")
            listed = states(given.shape, given.without, given.then)
            self.lines += _state_rules(stem, listed, self._set, self.text(Exact(given.then)))
        return self._names[given]

    def _token(self, given: Token) -> str:
        """What several rules use, such as any string, is a rule of its own."""
        if given not in self._names:
            name = self._names[given] = self._own("token")
            self.lines.append(f"{name} ::= {self.text(given.inside)}")
        return self._names[given]

    def _own(self, kind: str) -> str:
        """A name that no rule has, nor begins with: states of a text add their numbers."""
        return f"{kind}-{len(self._names) + 1}"


def _state_rules(
    stem: str, listed: list[TextState], written: Callable[[CharacterSet], str], then: str
) -> list[str]:
    """A rule for each state; the first has the stem for its name."""

    def name(index: int) -> str:
        return stem if index == 0 else f"{stem}-{index}"

    lines = []
    for index, state in enumerate(listed):
        ways = [f"{written(chars)} {name(target)}" for chars, target in state.row]
        ways += [then] if state.ends else []
        lines.append(f"{name(index)} ::= {' | '.join(ways)}")
    return lines


def _times(least: int, most: int | None) -> str:
    named = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if (least, most) in named:
        return named[least, most]
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"


def _char(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    number = ord(char)
    if 0x20 <= number < 0x7F:
        return char
    if number < 0x100:
        return f"\\x{number:02X}"
    return f"\\u{number:04X}" if number < 0x10000 else f"\\U{number:08X}"
