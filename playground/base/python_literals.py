"""Values in Python source: constants, lists, dicts, and calls by name; no code is run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from textwrap import dedent
from typing import Any

Names = Mapping[str, ast.expr]


class ComputedError(ValueError):
    """Raised for a value that is computed, so that it is not in the source."""

    def __init__(self, node: ast.expr) -> None:
        super().__init__(f"{ast.unparse(node)[:60]} is computed, and code is not run")


@dataclass(frozen=True)
class LiteralCall:
    """A call: the last part of the function's name, and its arguments."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def bound(self, *order: str) -> dict[str, Any]:
        """Return the arguments by name; `order` has the names of the positional ones."""
        return {**dict(zip(order, self.args, strict=False)), **self.kwargs}


def names_in(body: Iterable[ast.stmt]) -> dict[str, ast.expr]:
    """Return the expression assigned to each name, and the expression that each function returns.

    A function has the key `name()`; it is left out unless its last statement is a `return`.
    """
    names: dict[str, ast.expr] = {}
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                names[name] = value
            case ast.FunctionDef(name=name, body=[*_, ast.Return(value=ast.expr() as value)]):
                names[f"{name}()"] = value
    return names


def value_of(node: ast.expr, names: Names, depth: int = 100) -> Any:
    """Return the value of an expression. For a member such as `Role.USER` it is the text "USER".

    Raises ComputedError for a value that is not in the source, or is nested deeper than `depth`.
    """
    if not depth:
        raise ComputedError(node)

    def inner(part: ast.expr) -> Any:
        return value_of(part, names, depth - 1)

    match node:
        case ast.Constant(value=value) | ast.Attribute(attr=value):
            return value
        case ast.Name(id=name) if name in names:
            return inner(names[name])
        case ast.List() | ast.Tuple():
            return [inner(item) for item in node.elts]
        case ast.Dict(keys=keys) if all(keys):
            pairs = zip(keys, node.values, strict=True)
            return {inner(key): inner(value) for key, value in pairs if key}
        case ast.BinOp(op=ast.Add()):
            both = inner(node.left), inner(node.right)
            if all(isinstance(part, str) for part in both):
                return "".join(both)
        case ast.Call():
            return _call_of(node, names, inner)
    raise ComputedError(node)


def _call_of(node: ast.Call, names: Names, inner: Callable[[ast.expr], Any]) -> Any:
    """Return a LiteralCall, or the text of a `dedent`, or what a function in `names` returns."""
    holder = getattr(node.func, "value", None)
    name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
    if holder is not None and not isinstance(holder, ast.Name | ast.Attribute):
        raise ComputedError(node)  # a method of a computed value
    if f"{name}()" in names and not node.args and not node.keywords:
        return inner(names[f"{name}()"])
    if not name or any(key.arg is None for key in node.keywords):
        raise ComputedError(node)
    args = tuple(map(inner, node.args))
    if name == "dedent" and args and isinstance(args[0], str):
        return dedent(args[0])
    return LiteralCall(name, args, {key.arg: inner(key.value) for key in node.keywords if key.arg})
