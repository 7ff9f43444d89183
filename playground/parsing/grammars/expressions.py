"""The grammar of a dialect's replies as plain data, from which each engine's form is written.

The functions put expressions together and keep them small, so no writer has to tidy up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from playground.parsing.grammars.characters import CharacterSet
from playground.parsing.grammars.texts import TextShape


@dataclass(frozen=True, slots=True)
class Exact:
    """A literal text."""

    text: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """One character of a set."""

    of: CharacterSet


@dataclass(frozen=True, slots=True)
class FreeText:
    """Text of a shape that holds none of the words `without`, and then the text `ending`.

    No word begins in the text and ends in `ending`: the first word that a reader finds is wholly in
    `ending`. With `at_end` the text ends the reply. Then it does not end in the beginning of a
    word either, because that would be read as a marker which was cut off.
    """

    shape: TextShape
    without: tuple[str, ...] = ()
    ending: str = ""
    at_end: bool = False


@dataclass(frozen=True, slots=True)
class InOrder:
    """Several expressions in a row; without items, the empty text."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """One of several expressions; without items, nothing can be written at all."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """One expression, `least` to `most` times; `most` None means no limit."""

    item: Expression
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """A reference to the rule of that name."""

    rule: str


@dataclass(frozen=True, slots=True)
class Token:
    """An expression without references. An engine that has terminals reads it as one terminal."""

    inside: Expression


Expression = Exact | OneOf | FreeText | InOrder | Either | Repeated | Use | Token

EMPTY: Final = InOrder(())
IMPOSSIBLE: Final = Either(())


def in_order(*parts: Expression | str) -> Expression:
    """Put expressions in a row; texts that touch become one."""
    items: list[Expression] = []
    for part in parts:
        expression = Exact(part) if isinstance(part, str) else part
        if expression == IMPOSSIBLE:
            return IMPOSSIBLE
        for item in expression.items if isinstance(expression, InOrder) else (expression,):
            _append(items, item)
    return items[0] if len(items) == 1 else InOrder(tuple(items))


def _append(items: list[Expression], item: Expression) -> None:
    last = items[-1] if items else None
    if isinstance(item, Exact) and not item.text:
        return
    if isinstance(item, Exact) and isinstance(last, Exact):
        items[-1] = Exact(last.text + item.text)
    elif isinstance(item, Exact) and isinstance(last, FreeText) and last.ending:
        items[-1] = FreeText(last.shape, last.without, last.ending + item.text)
    else:
        items.append(item)


def either(expressions: Iterable[Expression]) -> Expression:
    """Return a choice of the expressions, each once."""
    alternatives: dict[Expression, None] = {}
    for expression in expressions:
        alternatives |= dict.fromkeys(
            expression.items if isinstance(expression, Either) else (expression,)
        )
    return next(iter(alternatives)) if len(alternatives) == 1 else Either(tuple(alternatives))


def token(inside: Expression) -> Expression:
    """Make an expression a terminal, unless it is impossible."""
    return IMPOSSIBLE if inside == IMPOSSIBLE else Token(inside)


def optional(expression: Expression | str) -> Expression:
    """Return a choice of the expression or nothing."""
    return repeat(Exact(expression) if isinstance(expression, str) else expression, 0, 1)


def repeat(item: Expression, least: int = 0, most: int | None = None) -> Expression:
    """Repeat an expression between `least` and `most` times. An impossible expression becomes the
    empty text if `least` is 0."""
    if most == 0 or item == EMPTY or (item == IMPOSSIBLE and not least):
        return EMPTY
    return item if item == IMPOSSIBLE or (least, most) == (1, 1) else Repeated(item, least, most)


@dataclass
class NamedRules:
    """Expressions by name. A name is taken before its expression exists, so that a rule may use
    itself."""

    named: dict[str, Expression] = field(default_factory=dict)

    def take(self, wish: str) -> str:
        """Reserve a free name like `wish`, of small letters, digits and dashes, for a rule."""
        plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in wish.lower())
        plain = plain.strip("-")[:40].rstrip("-")
        plain = plain if plain[:1].isalpha() else f"rule-{plain}".rstrip("-")
        name, number = plain, 1
        while name in self.named:
            number += 1
            name = f"{plain}-{number}"
        self.named[name] = IMPOSSIBLE
        return name

    def add(self, wish: str, expression: Expression) -> Use:
        """Add an expression under a name of its own; return a reference to it."""
        name = self.take(wish)
        self.named[name] = expression
        return Use(name)


def repetition_sign(least: int, most: int | None) -> str:
    """Return the sign for so many repetitions, which GBNF and Lark write alike."""
    signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if (least, most) in signs:
        return signs[least, most]
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"
