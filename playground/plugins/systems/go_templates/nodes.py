"""The nodes of a template's tree. `str(node)` is the text that Go prints for it in errors."""

from __future__ import annotations

from dataclasses import dataclass, field

from playground.plugins.systems.go_templates.tokens import quote_text


@dataclass(slots=True)
class Node:
    pos: int  # offset in the template's source


@dataclass(slots=True)
class Sequence(Node):
    """The nodes between two tags."""

    nodes: list[Node] = field(default_factory=list)

    def __str__(self) -> str:
        return "".join(map(str, self.nodes))


@dataclass(slots=True)
class Text(Node):
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True)
class Identifier(Node):
    """The name of a function."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(slots=True)
class Variable(Node):
    """A variable with the fields after it: `$x.a.b`."""

    names: list[str]

    def __str__(self) -> str:
        return ".".join(self.names)


@dataclass(slots=True)
class Dot(Node):
    def __str__(self) -> str:
        return "."


@dataclass(slots=True)
class Nil(Node):
    def __str__(self) -> str:
        return "nil"


@dataclass(slots=True)
class Field(Node):
    names: list[str]

    def __str__(self) -> str:
        return "".join(f".{name}" for name in self.names)


@dataclass(slots=True)
class Bool(Node):
    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(slots=True)
class Number(Node):
    """A constant: an int, a float or a complex number."""

    text: str
    value: int | float | complex

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True)
class String(Node):
    source: str
    value: str

    def __str__(self) -> str:
        return self.source


@dataclass(slots=True)
class Chain(Node):
    """Fields of a value that is neither a field nor a variable: `(…).a.b`."""

    node: Node
    names: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        head = f"({self.node})" if isinstance(self.node, Pipeline) else str(self.node)
        return head + "".join(f".{name}" for name in self.names)


@dataclass(slots=True)
class Command(Node):
    arguments: list[Node] = field(default_factory=list)

    def __str__(self) -> str:
        return " ".join(f"({a})" if isinstance(a, Pipeline) else str(a) for a in self.arguments)


@dataclass(slots=True)
class Pipeline(Node):
    assigns: bool = False
    variables: list[Variable] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)

    def __str__(self) -> str:
        head = ""
        if self.variables:
            names = ", ".join(map(str, self.variables))
            head = f"{names} {'=' if self.assigns else ':='} "
        return head + " | ".join(map(str, self.commands))


@dataclass(slots=True)
class Action(Node):
    pipeline: Pipeline

    def __str__(self) -> str:
        return "{{" + str(self.pipeline) + "}}"


@dataclass(slots=True)
class Branch(Node):
    """An `if`, `with` or `range`."""

    keyword: str
    pipeline: Pipeline
    body: Sequence
    otherwise: Sequence | None

    def __str__(self) -> str:
        head = f"{{{{{self.keyword} {self.pipeline}}}}}{self.body}"
        return (
            f"{head}{{{{else}}}}{self.otherwise}{{{{end}}}}" if self.otherwise else head + "{{end}}"
        )


@dataclass(slots=True)
class Jump(Node):
    """A `break` or `continue`. During parsing, also an `else` or `end`."""

    keyword: str

    def __str__(self) -> str:
        return f"{{{{{self.keyword}}}}}"


@dataclass(slots=True)
class Call(Node):
    """A `template` action, or the call that stands for a `block`."""

    name: str
    pipeline: Pipeline | None

    def __str__(self) -> str:
        argument = f" {self.pipeline}" if self.pipeline else ""
        return f"{{{{template {quote_text(self.name)}{argument}}}}}"


def is_empty(tree: Node | None) -> bool:
    """Return True if a tree holds only white space."""
    if isinstance(tree, Sequence):
        return all(map(is_empty, tree.nodes))
    return tree is None or (isinstance(tree, Text) and not tree.text.strip())
