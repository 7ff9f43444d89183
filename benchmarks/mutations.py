"""Small changes of code, as `mutants.py` draws them: one operator, number, condition or call.

Strings are never changed, nor code that only guards programmers: assertions, annotations, and the
keywords `frozen`, `slots`, `strict`, `maxsize` and `kw_only`; nor the size of a `memoized` cache.
"""

from __future__ import annotations

import ast
import functools
import os
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TYPE = re.compile(r"(None|str|int|float|bool|list|dict|tuple|bytes|Any|[A-Z][a-z]\w*)\b")
OPPOSITES: dict[type[ast.AST], type[Any]] = {
    ast.Eq: ast.NotEq,
    ast.Lt: ast.LtE,
    ast.Gt: ast.GtE,
    ast.In: ast.NotIn,
    ast.Is: ast.IsNot,
    ast.And: ast.Or,
    ast.Add: ast.Sub,
    ast.Mult: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
}
OPPOSITES |= {after: before for before, after in OPPOSITES.items()} | {ast.Div: ast.Mult}
Change = Callable[[], None]


@dataclass(frozen=True)
class Mutant:
    """One changed place. `index` counts the changes of a file in the order of `changes`."""

    room: str
    path: str
    index: int
    kind: str
    lines: range
    in_function: bool
    change: str

    @property
    def module(self) -> str:
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def text(self) -> str:
        file = (ROOT / self.path).read_text(encoding="utf-8")
        return file.splitlines()[self.lines.start - 1].strip()

    def tree(self) -> ast.Module:
        """Return the file's tree with the change in it."""
        tree = parsed(self.path)
        list(changes(tree))[self.index][3]()
        return tree


def changes(tree: ast.AST, inside: bool = False) -> Iterator[tuple[str, ast.AST, bool, Change]]:
    """Yield each place that can change: its kind, its node, if it is in a function, the change."""
    for node in ast.iter_child_nodes(tree):
        if _is_guard_or_type(node, tree):
            continue
        within = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        outer = isinstance(node, ast.arguments) or node in getattr(tree, "decorator_list", ())
        for kind, change in _changes_of(node):
            yield kind, node, inside and not outer, change
        yield from changes(node, within and not outer)


def _is_guard_or_type(node: ast.AST, parent: ast.AST) -> bool:
    match node:
        case ast.Assert() | ast.keyword(arg="frozen" | "slots" | "strict" | "maxsize" | "kw_only"):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Call(func=ast.Name(id="memoized")):
            return True
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return bool(TYPE.match(ast.unparse(left)) or TYPE.match(ast.unparse(right)))
    return node in (getattr(parent, "annotation", None), getattr(parent, "returns", None))


def _changes_of(node: ast.AST) -> Iterator[tuple[str, Change]]:
    yield from _value_changes(node)
    yield from _condition_changes(node)
    yield from _call_changes(node)
    if isinstance(node, ast.Break | ast.Continue):
        other = ast.Continue if isinstance(node, ast.Break) else ast.Break
        yield "loop", lambda: setattr(node, "__class__", other)


def _value_changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Compare(ops=[op, *others]) if type(op) in OPPOSITES:
            yield "comparison", lambda: setattr(node, "ops", [OPPOSITES[type(op)](), *others])
        case ast.BoolOp(op=op):
            yield "boolean", lambda: setattr(node, "op", OPPOSITES[type(op)]())
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in OPPOSITES:
            yield "operator", lambda: setattr(node, "op", OPPOSITES[type(op)]())
        case ast.Constant(value=bool() as truth):
            yield "constant", lambda: setattr(node, "value", not truth)
        case ast.Constant(value=int() | float() as number):
            yield "constant", lambda: setattr(node, "value", number + 1)


def _condition_changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield "condition", lambda: setattr(node, "test", _negated(test))
        case ast.comprehension(ifs=[test, *others]):
            yield "condition", lambda: setattr(node, "ifs", [_negated(test), *others])


def _call_changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) not in ("None", "False"):
            yield "return", lambda: setattr(node, "value", ast.Constant(None))
        case ast.Expr(value=ast.Call()):
            yield "call", lambda: setattr(node, "value", ast.Constant(None))
        case ast.Call(keywords=keywords):
            for keyword in keywords:
                if keyword.arg and not _is_guard_or_type(keyword, node):
                    yield "keyword", functools.partial(keywords.remove, keyword)
        case ast.Slice():
            for bound in ("lower", "upper"):
                if getattr(node, bound):
                    yield "slice", functools.partial(setattr, node, bound, None)


def _negated(test: ast.expr) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), test), test)


def parsed(path: str) -> ast.Module:
    """Return the tree of a file, named from the root of the repository."""
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def mutant_of(room: str, path: str, index: int) -> Mutant:
    """Return a mutant, with what changes in it and twenty characters around that."""
    kind, node, inside, change = list(changes(parsed(path)))[index]
    near: Any = node.target if isinstance(node, ast.comprehension) else node
    lines = range(near.lineno, near.end_lineno + 1)
    old = ast.unparse(node).strip().partition("\n")[0]
    change()
    new = ast.unparse(node).strip().partition("\n")[0]
    first = len(os.path.commonprefix([old, new]))
    last = len(os.path.commonprefix([old[first:][::-1], new[first:][::-1]]))
    start, behind = max(first - 20, 0), max(last - 20, 0)
    shown = f"{old[start : len(old) - behind]} -> {new[start : len(new) - behind]}"
    return Mutant(room, path, index, kind, lines, inside, shown)


def draw(room: str, folders: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """Draw mutants of a room: first a kind of change, then a place, each as likely as the next."""
    chance = random.Random(f"{seed} {room}")
    kinds: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for folder in folders:
        for file in sorted((ROOT / "playground" / folder).rglob("*.py")):
            path = str(file.relative_to(ROOT))
            for index, (kind, *_) in enumerate(changes(parsed(path))):
                kinds[kind].append((path, index))
    drawn: list[Mutant] = []
    while len(drawn) < count and any(kinds.values()):
        places = kinds[chance.choice([kind for kind in sorted(kinds) if kinds[kind]])]
        drawn.append(mutant_of(room, *places.pop(chance.randrange(len(places)))))
    return drawn


def compiled(tree: ast.Module, path: str) -> CodeType:
    """Compile a tree as an import of the file would."""
    code = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
    assert isinstance(code, CodeType)
    return code


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code and all codes of functions and classes within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)
