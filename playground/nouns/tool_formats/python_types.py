"""Types from the type expressions of Python source, by their tree: no code of a file is executed.

Only names from a table, and classes that the file itself declares, are known. Anything else raises
`Unread`, except an enum's computed value, which becomes the member's name in small letters.
"""

from __future__ import annotations

import ast
import collections.abc
import datetime
import decimal
import enum
import operator
import typing
import uuid
from collections.abc import Mapping
from functools import reduce
from typing import Any, Final, Literal

import typing_extensions
from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, create_model
from pydantic.fields import FieldInfo

from playground.base.python_source import expression

_FORMS: Final = ("Any", "Optional", "Union", "Literal", "Annotated", "List", "Dict", "Tuple", "Set")
_ABSTRACT: Final = ("Sequence", "Mapping", "Iterable", "MutableMapping", "Collection")
_PLAIN: Final = (str, int, float, bool, bytes, list, dict, tuple, set, frozenset)
_TIME_TYPES: Final = (datetime.date, datetime.datetime, datetime.time, datetime.timedelta)
_KNOWN: Final[Mapping[str, Any]] = {
    **{kind.__name__: kind for kind in (*_PLAIN, *_TIME_TYPES, uuid.UUID, decimal.Decimal)},
    **{name: getattr(typing, name) for name in _FORMS},
    **{name: getattr(collections.abc, name) for name in _ABSTRACT},
    "object": Any,
}
_MODEL_BASES: Final = ("BaseModel", "RootModel")
_ENUM_BASES: Final = ("Enum", "IntEnum", "StrEnum")
_FIELD_ARGUMENTS: Final = (
    *("default", "description", "title", "alias", "examples", "deprecated", "pattern"),
    *("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length"),
)
REQUIRED: Final = object()
UNKNOWN: Final = object()


class Unread(Exception):
    """Raised for an expression that is not a known type or value; the message quotes it."""


class Types:
    """The types that a file declares, as far as the file has been read."""

    def __init__(self) -> None:
        self._own: dict[str, Any] = {}

    def declare(self, node: ast.ClassDef) -> type[BaseModel] | None:
        """Register a class if it is a model, typed dict, dataclass or enum. Return it if it is a
        pydantic model; None otherwise.

        Raises Unread for a class that cannot be built, for example with a field of unknown type.
        """
        bases = {_last(base) for base in node.bases}
        decorators = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
        marks = set(map(_last, decorators))
        if bases & set(_ENUM_BASES):
            self._own[node.name] = self._enum(node, bases)
        elif "TypedDict" in bases:
            fields = {name: kind for name, kind, _ in self._fields(node)}
            try:
                self._own[node.name] = typing_extensions.TypedDict(node.name, fields)  # type: ignore[operator]
            except TypeError as error:
                raise Unread(f"{node.name} ({error})") from error
        elif bases & set(_MODEL_BASES) or "dataclass" in marks or any(map(self._is_model, bases)):
            model = self._model(node, bases)
            self._own[node.name] = model
            return model if "dataclass" not in marks else None
        return None

    def alias(self, name: str, value: ast.expr) -> None:
        """Register the type in an assignment `name = value`, if the value is a type."""
        # Most assignments are not types; an assignment may also hide a type of the same name.
        try:
            self._own[name] = self.type_of(value)
        except Unread:
            self._own.pop(name, None)

    def type_of(self, node: ast.expr | None) -> Any:
        """Return the type that an annotation names. Raises Unread."""
        if node is None:
            return Any
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._name(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._union([self.type_of(node.left), self.type_of(node.right)], node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        raise Unread(ast.unparse(node))

    def value(self, node: ast.expr | None) -> Any:
        """Return a default's value, or its pydantic Field.

        REQUIRED means that there is no default, UNKNOWN that only running the file shows the value.
        Raises Unread for a `Field(...)` that pydantic refuses.
        """
        if node is None:
            return REQUIRED
        if isinstance(node, ast.Call) and _last(node.func) == "Field":
            return self.field(node)
        # `Colour.RED`, of an enum in the same file.
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = self._own.get(node.value.id)
            if isinstance(owner, type) and issubclass(owner, enum.Enum):
                return owner.__members__.get(node.attr, UNKNOWN)
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, RecursionError):
            return UNKNOWN

    def field(self, call: ast.Call) -> FieldInfo:
        """Evaluate `Field(...)` by its literal arguments. Raises Unread if pydantic refuses it."""
        arguments = {word.arg: word.value for word in call.keywords if word.arg in _FIELD_ARGUMENTS}
        if call.args:
            arguments["default"] = call.args[0]
        factory = any(word.arg == "default_factory" for word in call.keywords)
        values = {}
        for name, node in arguments.items():
            try:
                values[name] = ast.literal_eval(node)
            except (ValueError, TypeError, RecursionError):
                factory = factory or name == "default"
        if factory:
            # This factory is never called. It makes the field optional; its default is unknown.
            values = {**values, "default_factory": lambda: None}
            values.pop("default", None)
        try:
            field: FieldInfo = Field(**values)
        except (PydanticUserError, TypeError, ValueError) as error:
            raise Unread(f"{ast.unparse(call)} ({error})") from error
        return field

    def _constant(self, node: ast.Constant) -> Any:
        if node.value is None:
            return None
        if not isinstance(node.value, str):
            raise Unread(repr(node.value))
        try:
            return self.type_of(expression(node.value))
        except (SyntaxError, ValueError, RecursionError) as error:
            raise Unread(repr(node.value)) from error

    def _name(self, node: ast.Name | ast.Attribute) -> Any:
        name = _last(node)
        if isinstance(node, ast.Name) and name in self._own:
            return self._own[name]
        if name not in _KNOWN:
            raise Unread(ast.unparse(node))
        return _KNOWN[name]

    def _union(self, kinds: list[Any], node: ast.expr) -> Any:
        try:
            return reduce(operator.or_, kinds)
        except TypeError as error:
            raise Unread(ast.unparse(node)) from error

    def _subscript(self, node: ast.Subscript) -> Any:
        base = self.type_of(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if base is Literal:
            arguments = tuple(self._literal(item) for item in inner)
        elif base is typing.Annotated:
            notes = [self._note(item) for item in inner[1:]]
            arguments = (self.type_of(inner[0]), *(note for note in notes if note is not None))
        else:
            arguments = tuple(
                ... if isinstance(item, ast.Constant) and item.value is ... else self.type_of(item)
                for item in inner
            )
        if base is typing.Union:
            return self._union(list(arguments), node)
        try:
            return base[arguments if len(arguments) != 1 else arguments[0]]
        except TypeError as error:
            raise Unread(f"{ast.unparse(node)} ({error})") from error

    def _literal(self, node: ast.expr) -> Any:
        value = self.value(node)
        if isinstance(value, FieldInfo) or value is UNKNOWN:
            raise Unread(ast.unparse(node))
        return value

    def _note(self, node: ast.expr) -> Any:
        """Return metadata of `Annotated` that is a text or a Field; None for any other metadata."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.Call) and _last(node.func) == "Field":
            return self.field(node)
        return None

    def _fields(self, node: ast.ClassDef) -> list[tuple[str, Any, Any]]:
        return [
            (item.target.id, self.type_of(item.annotation), optional(self.value(item.value)))
            for item in node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
        ]

    def _is_model(self, base: str) -> bool:
        own = self._own.get(base)
        return isinstance(own, type) and issubclass(own, BaseModel)

    def _model(self, node: ast.ClassDef, bases: set[str]) -> type[BaseModel]:
        fields: dict[str, Any] = {
            name: (kind, ... if default is REQUIRED else default)
            for name, kind, default in self._fields(node)
            if typing.get_origin(kind) is not typing.ClassVar and not name.startswith("_")
        }
        model_bases = tuple(self._own[base] for base in sorted(bases) if self._is_model(base))
        config: dict[str, Any] = (
            {"__base__": model_bases}
            if model_bases
            else {"__config__": ConfigDict(protected_namespaces=())}
        )
        try:
            model: type[BaseModel] = create_model(
                node.name, __doc__=ast.get_docstring(node), **config, **fields
            )
            model.model_json_schema()  # fails here, where the class is known
        except Exception as error:
            # pydantic refuses in many ways: names that shadow, types without schema, bad bounds
            raise Unread(f"{node.name} ({str(error).splitlines()[0]})") from error
        return model

    def _enum(self, node: ast.ClassDef, bases: set[str]) -> Any:
        members: dict[str, Any] = {}
        for item in node.body:
            if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
                name = item.targets[0].id
                try:
                    members[name] = ast.literal_eval(item.value)
                except (ValueError, TypeError, RecursionError):
                    members[name] = name.lower()  # auto()
        kind = str if "str" in bases or "StrEnum" in bases else object
        try:
            return enum.Enum(node.name, members, type=None if kind is object else kind)
        except (TypeError, ValueError) as error:
            raise Unread(f"{node.name} ({error})") from error


def optional(value: Any) -> Any:
    """Return a default for pydantic: the value itself, or a Field with some default for UNKNOWN."""
    return Field(default_factory=lambda: None) if value is UNKNOWN else value


def _last(node: ast.expr) -> str:
    """Return the last name of a dotted name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
