"""Execute a template's tree with data: write the text, or raise a fault that names line and column.

This module limits steps, output and depth; `bounded.py` limits time and memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from playground.plugins.systems.go_templates import nodes
from playground.plugins.systems.go_templates.evaluation import MOST_OUTPUT, Evaluation, MissingKey
from playground.plugins.systems.go_templates.functions import NAMES
from playground.plugins.systems.go_templates.nodes import Node
from playground.plugins.systems.go_templates.parser import Trees, parse
from playground.plugins.systems.go_templates.tokens import quote_text
from playground.plugins.systems.go_templates.values import (
    INVALID,
    Interface,
    encode,
    from_json,
    is_true,
    join_output,
    unwrap,
    whole_characters,
)
from playground.plugins.systems.go_templates.verbs import default_text

MOST_DEPTH: Final = 100  # nested template calls; Go's own limit is 100,000
MOST_STEPS: Final = 2_000_000


@dataclass(frozen=True, slots=True)
class Rendered:
    """A template's text, the fields that it looked up (`used`), and those that the data lacks
    (`missing`). A field is named as in the template: `.user.name`, or `.name` within a `with`."""

    text: str
    used: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def render(source: str, data: Any, name: str = "t", missingkey: MissingKey = "default") -> Rendered:
    """Render like `bounded.render`, but in this process, without limits on time and memory."""
    source = whole_characters(source)
    trees = _trees(source, name)
    state = _Run(trees, source, name, missingkey)
    root = from_json(data)
    root = INVALID if root is None else root
    state.begin(root)
    return Rendered(join_output(state.out), _names(state.looked_up), _names(state.not_found))


def _names(looked_up: Mapping[int, Node]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(node) for node in looked_up.values()))


@lru_cache(maxsize=256)
def _trees(source: str, name: str) -> Trees:
    return parse(source, name, NAMES)


class _Break(Exception):
    """A signal to leave the innermost range."""


class _Continue(Exception):
    """A signal to continue with the next item of the innermost range."""


class _Run(Evaluation):
    """One execution of a template: it visits the nodes in order and collects their output."""

    def __init__(self, trees: Trees, source: str, name: str, missing_key: MissingKey) -> None:
        super().__init__(source, name, missing_key)
        self._trees = trees
        self._depth = self._size = self._steps = 0

    def begin(self, data: Any) -> None:
        self._variables = [("$", data)]
        try:
            self._walk(data, self._trees[self._name])
        except RecursionError:
            self._fail("the template is nested too deeply")

    def _write(self, text: str) -> None:
        self._size += len(text)
        if self._size > MOST_OUTPUT:
            self._fail(f"it writes more than {MOST_OUTPUT:,} characters")
        self.out.append(text)

    # nodes

    def _walk(self, dot: Any, node: Node) -> None:
        self._node = node
        self._steps += 1
        if self._steps > MOST_STEPS:
            self._fail(f"it takes more than {MOST_STEPS:,} steps")
        _WALKS[type(node)](self, dot, node)

    def _sequence(self, dot: Any, node: nodes.Sequence) -> None:
        for inner in node.nodes:
            self._walk(dot, inner)

    def _text(self, dot: Any, node: nodes.Text) -> None:
        self._write(node.text)

    def _action(self, dot: Any, node: nodes.Action) -> None:
        value = self._pipeline(dot, node.pipeline)
        if not node.pipeline.variables:
            self._node = node
            plain = unwrap(value)
            self._write("<no value>" if plain is INVALID else default_text(plain))

    def _jump(self, dot: Any, node: nodes.Jump) -> None:
        raise _Break if node.keyword == "break" else _Continue

    def _branch(self, dot: Any, node: nodes.Branch) -> None:
        variables_before = len(self._variables)
        if node.keyword == "range":
            self._range(dot, node)
        else:
            value = self._pipeline(dot, node.pipeline)
            if is_true(value):
                self._walk(value if node.keyword == "with" else dot, node.body)
            elif node.otherwise is not None:
                self._walk(dot, node.otherwise)
        del self._variables[variables_before:]

    def _range(self, dot: Any, node: nodes.Branch) -> None:
        value = unwrap(self._pipeline(dot, node.pipeline))
        variables_before, has_items = len(self._variables), False
        try:
            for index, element in self._elements(value, node):
                has_items = True
                self._bind(node.pipeline, index, element)
                try:
                    self._walk(element, node.body)
                except _Continue:
                    pass
                finally:
                    del self._variables[variables_before:]
        except _Break:
            pass
        if not has_items and node.otherwise is not None:
            self._walk(dot, node.otherwise)

    def _elements(self, value: Any, node: nodes.Branch) -> Iterator[tuple[Any, Any]]:
        """Yield indices or keys with elements; for a number n, the numbers below n as elements."""
        match value:
            case list():
                yield from ((index, Interface(item)) for index, item in enumerate(value))
            case dict():  # in the order of the keys, as Go iterates over maps
                yield from ((key, Interface(value[key])) for key in sorted(value, key=encode))
            case int() if not isinstance(value, bool):
                if len(node.pipeline.variables) > 1:
                    self._fail(f"can't use {value} to iterate over more than one variable")
                yield from ((INVALID, type(value)(number)) for number in range(value))
            case _ if value is not INVALID:
                self._fail(f"range can't iterate over {default_text(value)}")

    def _bind(self, pipeline: nodes.Pipeline, index: Any, element: Any) -> None:
        """Set the variables of a range: the element, or the index and the element."""
        names = [variable.names[0] for variable in pipeline.variables]
        values = (index, element)[2 - len(names) :] if names else ()
        for place, (name, value) in enumerate(zip(names, values, strict=True)):
            if pipeline.assigns:
                self._assign(name, value)
            else:
                top = len(self._variables) - len(names) + place
                self._variables[top] = (self._variables[top][0], value)

    def _call(self, dot: Any, node: nodes.Call) -> None:
        tree = self._trees.get(node.name)
        if tree is None:
            self._fail(f"template {quote_text(node.name)} not defined")
        if self._depth >= MOST_DEPTH:  # fails with Go's message, which names Go's limit
            self._fail("exceeded maximum template depth (100000)")
        value = INVALID if node.pipeline is None else self._pipeline(dot, node.pipeline)
        outer = self._variables, self._running, self._depth
        self._variables, self._running = [("$", value)], node.name
        self._depth += 1
        self._walk(value, tree)
        self._variables, self._running, self._depth = outer


_Walk = Callable[[_Run, Any, Any], Any]
_WALKS: Final[dict[type[Node], _Walk]] = {
    nodes.Sequence: _Run._sequence,
    nodes.Text: _Run._text,
    nodes.Action: _Run._action,
    nodes.Jump: _Run._jump,
    nodes.Branch: _Run._branch,
    nodes.Call: _Run._call,
}
