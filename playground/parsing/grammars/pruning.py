"""The removal of branches and rules that no text can fulfil."""

from __future__ import annotations

from collections.abc import Mapping

from playground.parsing.grammars.expressions import (
    IMPOSSIBLE,
    Either,
    Expression,
    InOrder,
    Repeated,
    Use,
    either,
    in_order,
    repeat,
)


def prune(named: Mapping[str, Expression], root: str) -> dict[str, Expression]:
    """Return the rules that the root uses, directly or not, in the order in which they are met.

    Parts that no text can fulfil, such as a list that must hold itself, are left out.
    """
    writable = _writable(named)
    reached: dict[str, Expression] = {}
    queue = [root]
    while queue:
        name = queue.pop(0)
        if name not in reached:
            reached[name] = _without(named[name], writable)
            queue += _uses(reached[name])
    return reached


def _writable(named: Mapping[str, Expression]) -> set[str]:
    """Return the rules that some text fulfils."""
    writable: set[str] = set()
    while True:
        larger = {name for name, each in named.items() if _without(each, writable) != IMPOSSIBLE}
        if larger == writable:
            return writable
        writable = larger


def _without(expression: Expression, writable: set[str]) -> Expression:
    """Return an expression without the parts that use rules outside of `writable`."""
    match expression:
        case Use(rule):
            return expression if rule in writable else IMPOSSIBLE
        case InOrder(items):
            return in_order(*(_without(item, writable) for item in items))
        case Either(items):
            possible = [_without(item, writable) for item in items]
            return either(item for item in possible if item != IMPOSSIBLE)
        case Repeated(item, least, most):
            return repeat(_without(item, writable), least, most)
        case _:
            return expression


def _uses(expression: Expression) -> list[str]:
    match expression:
        case Use(rule):
            return [rule]
        case InOrder(items) | Either(items):
            return [name for item in items for name in _uses(item)]
        case Repeated(item):
            return _uses(item)
        case _:
            return []
