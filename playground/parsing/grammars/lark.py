"""Grammars in llguidance's Lark: terminals for strings, numbers and free texts, rules for the rest.

Its terminals are regular expressions with a complement (`~`) and an intersection (`&`), so a text
that holds no closing marker can be written directly. A text and the marker after it are one
terminal: a terminal of the text alone would also match the marker's beginning.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from playground.parsing.grammars.characters import escape
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
from playground.parsing.grammars.texts import forbidden_ends, states


def lark(rules: Mapping[str, Expression], root: str, by_characters: bool = False) -> str:
    """Write the rules as llguidance reads them; the rule `root` becomes its `start`.

    With `by_characters` each terminal is one character. This is for grammars in which only reading
    character by character shows where a text ends.
    """
    writer = _CharacterWriter(root) if by_characters else _Writer(root)
    lines = [f"{writer.name(name)}: {writer.top(rule)}" for name, rule in rules.items()]
    lines += writer.lines
    lines += [f"{name}: {text}" for text, name in writer.terminals.items()]
    return "\n".join(lines) + "\n"


class _Writer:
    def __init__(self, root: str) -> None:
        self.root = root
        self.terminals: dict[str, str] = {}
        self.lines: list[str] = []

    def name(self, rule: str) -> str:
        return "start" if rule == self.root else f"r_{rule.replace('-', '_')}"

    def top(self, expression: Expression) -> str:
        """Write an expression on the right side of a rule, where alternatives need no brackets."""
        if isinstance(expression, Either):
            return "\n    | ".join(self.text(item) for item in expression.items)
        return self.text(expression)

    def text(self, expression: Expression) -> str:
        match expression:
            case Exact(text):
                return json.dumps(text, ensure_ascii=False)
            case OneOf(characters):
                return self._terminal(f"/{characters.pattern}/")
            case FreeText():
                return self._terminal(_free(expression))
            case Token(inside):
                return self._terminal(f"/{pattern(inside)}/")
            case Use(rule):
                return self.name(rule)
            case InOrder(items):
                return " ".join(map(self.text, items)) or '""'
            case Either(items):
                return f"({' | '.join(map(self.text, items))})"
            case Repeated(item, least, most):
                text = self.text(item)
                # a name, a terminal, one text or something in brackets needs no brackets
                single = isinstance(item, Use | Token | OneOf | FreeText | Exact | Either)
                return f"{text if single else f'({text})'}{repetition_sign(least, most)}"

    def _terminal(self, text: str) -> str:
        return self.terminals.setdefault(text, f"T{len(self.terminals) + 1}")


class _CharacterWriter(_Writer):
    """A writer whose terminals are single characters; a free text is a rule for each state."""

    def text(self, expression: Expression) -> str:
        match expression:
            case Exact(text):
                return " ".join(json.dumps(char, ensure_ascii=False) for char in text)
            case Token(inside):
                return f"({self.text(inside)})"
            case FreeText(shape, without, ending, at_end):
                stem = f"t{len(self.lines)}"
                closer = self.text(Exact(ending)) or '""'
                for index, state in enumerate(states(shape, without, ending, at_end)):
                    ways = [f"{self.text(OneOf(chars))} {stem}_{to}" for chars, to in state.moves]
                    ways += [closer] if state.ends else []
                    self.lines.append(f"{stem}_{index}: {' | '.join(ways)}")
                return f"{stem}_0"
            case Repeated(item, least, most):
                return f"({self.text(item)}){repetition_sign(least, most)}"
        return super().text(expression)


def pattern(expression: Expression) -> str:
    """Write an expression that has no references and no free text as a regular expression."""
    match expression:
        case Exact(text):
            return _quote(text)
        case OneOf(characters):
            return characters.pattern
        case InOrder(items):
            return "".join(map(pattern, items))
        case Either(items):
            return f"({'|'.join(map(pattern, items))})"
        case Repeated(item, least, most):
            text = pattern(item)
            single = isinstance(item, OneOf | Either) or len(text) == 1
            return f"{text if single else f'({text})'}{repetition_sign(least, most)}"
    raise TypeError(f"{expression!r:.80} cannot be part of a terminal")


def _free(free: FreeText) -> str:
    text = f"/{free.shape.pattern}/"
    forbidden = "|".join(map(_quote, free.without))
    if forbidden:
        text += f" & ~/(?s:.)*({forbidden})(?s:.)*/"
    # ends that would make a forbidden word together with the text after them
    ends = "|".join(map(_quote, forbidden_ends(free.without, free.ending, free.at_end)))
    if ends:
        text += f" & ~/(?s:.)*({ends})/"
    return f"({text}) {json.dumps(free.ending, ensure_ascii=False)}" if free.ending else text


def _quote(text: str) -> str:
    return "".join(map(escape, text))
