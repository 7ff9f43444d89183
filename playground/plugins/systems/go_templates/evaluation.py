"""Evaluate the pipeline of an action: variables, fields and function calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NoReturn

from playground.plugins.systems.go_templates import nodes
from playground.plugins.systems.go_templates.faults import TemplateFault
from playground.plugins.systems.go_templates.functions import (
    FUNCTIONS,
    Function,
    FunctionFault,
    Takes,
)
from playground.plugins.systems.go_templates.nodes import Node
from playground.plugins.systems.go_templates.tokens import quote_text
from playground.plugins.systems.go_templates.values import (
    INVALID,
    MISSING,
    Interface,
    encode,
    is_true,
    join_output,
    type_name,
    unwrap,
)

MOST_OUTPUT: Final = 16_000_000  # characters of the output, and of a function's result
MissingKey = Literal["default", "invalid", "zero", "error"]


class Evaluation:
    """The state of an execution: variables, output, and the current node, which errors name.

    In the methods, `dot` is the value that `.` means, and `piped` the result of the command before,
    or MISSING.
    """

    def __init__(self, source: str, name: str, missing_key: MissingKey) -> None:
        self._source, self._name = source, name
        self._running = name  # the template that is executed now, perhaps called by another
        self._missing_key = missing_key
        self._variables: list[tuple[str, Any]] = []
        self._node: Node | None = None
        self.out: list[str] = []
        self.looked_up: dict[int, Node] = {}  # the nodes that read fields, by id(node)
        self.not_found: dict[int, Node] = {}

    def _fail(self, message: str) -> NoReturn:
        where = f"template: {self._name}"
        if self._node is not None:
            source_before = self._source[: self._node.pos]
            column = len(encode(source_before[source_before.rfind("\n") + 1 :]))
            where += f":{source_before.count(chr(10)) + 1}:{column}"
            where += f": executing {quote_text(self._running)} at <{self._node}>"
        raise TemplateFault(f"{where}: {message}", "exec", join_output(self.out))

    # variables

    def _assign(self, name: str, value: Any) -> None:
        for place in range(len(self._variables) - 1, -1, -1):
            if self._variables[place][0] == name:
                self._variables[place] = (name, value)
                return
        self._fail(f"undefined variable: {name}")

    def _value_of(self, name: str) -> Any:
        for variable, value in reversed(self._variables):
            if variable == name:
                return value
        return self._fail(f"undefined variable: {name}")

    # pipelines

    def _pipeline(self, dot: Any, pipeline: nodes.Pipeline) -> Any:
        self._node = pipeline
        value: Any = MISSING
        for command in pipeline.commands:
            value = unwrap(self._command(dot, command, value))
        for variable in pipeline.variables:
            if pipeline.assigns:
                self._assign(variable.names[0], value)
            else:
                self._variables.append((variable.names[0], value))
        return value

    def _command(self, dot: Any, command: nodes.Command, piped: Any) -> Any:
        first, arguments = command.arguments[0], command.arguments
        if isinstance(first, nodes.Field):
            return self._field(dot, first, arguments, piped)
        if isinstance(first, nodes.Chain):
            return self._chain(dot, first, arguments, piped)
        if isinstance(first, nodes.Identifier):
            return self._function(dot, first, command, arguments, piped)
        if isinstance(first, nodes.Variable):
            return self._variable(dot, first, arguments, piped)
        if isinstance(first, nodes.Pipeline):
            self._refuse_arguments(arguments, piped)
            return self._pipeline(dot, first)
        self._node = first
        self._refuse_arguments(arguments, piped)
        if isinstance(first, nodes.Nil):
            self._fail("nil is not a command")
        return self._constant(dot, first)

    def _refuse_arguments(self, arguments: Sequence[Node], piped: Any) -> None:
        if len(arguments) > 1 or piped is not MISSING:
            self._fail(f"can't give argument to non-function {arguments[0]}")

    def _constant(self, dot: Any, node: Node) -> Any:
        if isinstance(node, nodes.Dot):
            return dot
        if isinstance(node, nodes.Number):
            self._node = node
            if isinstance(node.value, int) and not -(2**63) <= node.value < 2**63:
                self._fail(f"{node.text} overflows int")
            return node.value
        assert isinstance(node, nodes.Bool | nodes.String)
        return node.value

    def _field(self, dot: Any, node: nodes.Field, arguments: Sequence[Node], piped: Any) -> Any:
        self._node = node
        return self._fields(dot, node, node.names, arguments, piped)

    def _chain(self, dot: Any, node: nodes.Chain, arguments: Sequence[Node], piped: Any) -> Any:
        self._node = node
        if isinstance(node.node, nodes.Nil):
            self._fail(f"indirection through explicit nil in {node}")
        value = self._argument(dot, None, node.node)
        return self._fields(value, node, node.names, arguments, piped)

    def _variable(
        self, dot: Any, node: nodes.Variable, arguments: Sequence[Node], piped: Any
    ) -> Any:
        self._node = node
        value = self._value_of(node.names[0])
        if len(node.names) == 1:
            self._refuse_arguments(arguments or [node], piped)
            return value
        return self._fields(value, node, node.names[1:], arguments, piped)

    def _fields(
        self, value: Any, node: Node, names: list[str], arguments: Sequence[Node], piped: Any
    ) -> Any:
        for name in names[:-1]:
            value = self._member(value, name, node, False)
        member = self._member(value, names[-1], node, len(arguments) > 1 or piped is not MISSING)
        self.looked_up[id(node)] = node
        if member is INVALID:
            self.not_found[id(node)] = node
        return member

    def _member(self, value: Any, name: str, node: Node, has_arguments: bool) -> Any:
        """Return the entry `name` of the map `value`. If the entry or the map is missing, follow
        `missing_key`. Fail for a value that is no map."""
        if value is INVALID:
            if self._missing_key == "error":
                self._fail(f"nil data; no entry for key {quote_text(name)}")
            return INVALID
        plain = unwrap(value)
        if plain is INVALID:
            self._fail(f"nil pointer evaluating {type_name(value)}.{name}")
        if not isinstance(plain, dict):
            self._fail(f"can't evaluate field {name} in type {type_name(value)}")
        if has_arguments:
            self._fail(f"{name} is not a method but has arguments")
        if name in plain:
            return Interface(plain[name])
        if self._missing_key == "error":
            self._fail(f"map has no entry for key {quote_text(name)}")
        return Interface(None) if self._missing_key == "zero" else INVALID

    # calls

    def _function(
        self, dot: Any, node: nodes.Identifier, blamed: Node, arguments: Sequence[Node], piped: Any
    ) -> Any:
        """Call a function. `blamed` is the node that the function's own errors name."""
        self._node = node
        function, argument_nodes = FUNCTIONS[node.name], arguments[1:]
        self._check_count(function, node.name, len(argument_nodes), piped)
        if node.name in ("and", "or"):
            return self._and_or(dot, node.name == "or", argument_nodes, piped)
        values = [
            self._argument(dot, function.takes(index), argument)
            for index, argument in enumerate(argument_nodes)
        ]
        if piped is not MISSING:
            values.append(self._convert(piped, function.takes(len(argument_nodes))))
        source_text = [str(argument_nodes[0]) if argument_nodes else ""] if function.named else []
        try:
            result = function.call(*source_text, *values)
        except FunctionFault as fault:
            self._node = blamed
            self._fail(f"error calling {node.name}: {fault}")
        if isinstance(result, str) and len(result) > MOST_OUTPUT:
            self._fail(f"{node.name} gives more than {MOST_OUTPUT:,} characters")
        return result

    def _check_count(self, function: Function, name: str, written: int, piped: Any) -> None:
        count, fixed = written + (piped is not MISSING), len(function.fixed)
        if function.variadic is None and count != fixed:
            self._fail(f"wrong number of args for {name}: want {fixed} got {count}")
        if count < fixed:
            self._fail(f"wrong number of args for {name}: want at least {fixed} got {written}")

    def _and_or(self, dot: Any, stop_at: bool, arguments: Sequence[Node], piped: Any) -> Any:
        """Return the first value whose truth is `stop_at` (True for `or`), or else the last one."""
        value: Any = INVALID
        for argument in arguments:
            value = self._argument(dot, "value", argument)
            if is_true(value) == stop_at:
                return value
        return value if piped is MISSING else self._convert(piped, "value")

    def _argument(self, dot: Any, takes: Takes | None, node: Node) -> Any:
        self._node = node
        evaluate = _ARGUMENT_EVALUATORS.get(type(node))
        if evaluate is not None:
            return self._convert(evaluate(self, dot, node), takes)
        if isinstance(node, nodes.Nil):
            if takes == "string":
                self._fail("cannot assign nil to string")
            return INVALID if takes == "value" else None
        if takes == "string" and not isinstance(node, nodes.String):
            self._fail(f"expected string; found {node}")
        return self._constant(dot, node)

    def _convert(self, value: Any, takes: Takes | None) -> Any:
        """Convert a value for a function; fail if the value is no string, but must be one."""
        if takes in ("value", None):
            return value
        plain = unwrap(value)
        if takes == "any":
            return None if plain is INVALID else plain
        if isinstance(plain, str):
            return plain
        if value is INVALID:
            self._fail("invalid value; expected string")
        type_found = type_name(value if plain is INVALID else plain)
        return self._fail(f"wrong type for value; expected string; got {type_found}")


_Evaluate = Callable[[Evaluation, Any, Any], Any]
_ARGUMENT_EVALUATORS: Final[dict[type[Node], _Evaluate]] = {
    nodes.Dot: lambda run, dot, node: dot,
    nodes.Field: lambda run, dot, node: run._field(dot, node, [node], MISSING),
    nodes.Variable: lambda run, dot, node: run._variable(dot, node, [], MISSING),
    nodes.Pipeline: lambda run, dot, node: run._pipeline(dot, node),
    nodes.Identifier: lambda run, dot, node: run._function(dot, node, node, [node], MISSING),
    nodes.Chain: lambda run, dot, node: run._chain(dot, node, [], MISSING),
}
