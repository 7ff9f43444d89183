"""A signature: named and typed fields for input and output, and instructions."""

from __future__ import annotations

import ast
import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Optional, Union

from pydantic import BaseModel
from pydantic import Field as PydanticField
from pydantic_core import PydanticUndefined

from playground.base.errors import InputFault
from playground.base.python_source import module
from playground.plugins.systems.dspy.types import (
    Audio,
    Code,
    File,
    History,
    Image,
    Reasoning,
    Tool,
    ToolCalls,
    kind_of,
)
from playground.plugins.systems.dspy.values import allows_none

_KIND_KEY: Final = "__dspy_field_type"  # dspy's key in a field, for "input" or "output"
REQUIRED: Final = PydanticUndefined
_TYPES: Final = (Audio, Code, File, History, Image, Reasoning, Tool, ToolCalls)
_TYPES_BY_NAME: Final[dict[str, Any]] = {
    **{kind.__name__: kind for kind in (str, int, float, bool, list, dict, set, tuple, bytes)},
    **{kind.__name__: kind for kind in (datetime.date, datetime.datetime, datetime.time)},
    **{kind.__name__: kind for kind in _TYPES},
    "Any": Any,
    "None": None,
    "Optional": Optional,
    "Union": Union,
    "Literal": Literal,
    "List": list,
    "Dict": dict,
    "Set": set,
    "Tuple": tuple,
}
_CONSTRAINTS: Final = {
    "gt": "greater than: ",
    "ge": "greater than or equal to: ",
    "lt": "less than: ",
    "le": "less than or equal to: ",
    "min_length": "minimum length: ",
    "max_length": "maximum length: ",
    "multiple_of": "a multiple of the given number: ",
    "allow_inf_nan": "allow 'inf', '-inf', 'nan' values: ",
}


def InputField(desc: str = "", **options: Any) -> Any:  # noqa: N802 - DSPy's name
    """Return an input field for a signature that is a pydantic class.

    `options` are pydantic's; bounds (`ge`, `max_length` …) are written in the prompt.
    """
    return _field("input", desc, options)


def OutputField(desc: str = "", **options: Any) -> Any:  # noqa: N802
    """Return an output field for a signature that is a pydantic class, like `InputField`."""
    return _field("output", desc, options)


def _field(kind: str, desc: str, options: dict[str, Any]) -> Any:
    bounds = [
        f"{_CONSTRAINTS[key]}{value}" for key, value in options.items() if key in _CONSTRAINTS
    ]
    described = {"desc": desc or options.get("description", ""), "constraints": ", ".join(bounds)}
    return PydanticField(**options, json_schema_extra={_KIND_KEY: kind, **described})


@dataclass(frozen=True, slots=True)
class Field:
    """A field: its Python type, its description, and its bounds in words. `default` is the value of
    an output that an answer lacks, or a function that returns this value."""

    annotation: Any = str
    desc: str = ""
    constraints: str = ""
    default: Any = REQUIRED

    def missing(self) -> Any:
        """Return the value of this output for an answer that lacks the field. Without a default,
        that is None if the type allows None, else REQUIRED."""
        if self.default is REQUIRED:
            return None if allows_none(self.annotation) else REQUIRED
        return self.default() if callable(self.default) else self.default


@dataclass(frozen=True)
class Signature:
    """Input and output fields by name, in order, and the instructions.

    Raises InputFault if two fields have the same name.
    """

    inputs: Mapping[str, Field]
    outputs: Mapping[str, Field]
    instructions: str = ""

    def __post_init__(self) -> None:
        _check_names([*self.inputs, *self.outputs])

    @classmethod
    def parse(cls, text: str, instructions: str = "") -> Signature:
        """Read a signature such as `"question, context: list[str] -> answer: int"`.

        Types are parsed, never evaluated. Raises InputFault, which names the invalid part.
        """
        left, arrow, right = text.partition("->")
        if not arrow:
            raise InputFault(
                f"signature {text!r} has no arrow", expected="inputs and outputs around ->"
            )
        inputs, outputs = _fields(left, text), _fields(right, text)
        return cls(inputs, outputs, instructions or _instructions(inputs, outputs))

    @classmethod
    def of(cls, model: type[BaseModel]) -> Signature:
        """Read a signature from a pydantic class with fields of InputField and OutputField (ours or
        dspy's).

        Raises InputFault for anything else, and for a field that is neither input nor output.
        """
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            raise InputFault(
                f"no signature: {model!r:.80}",
                expected="a pydantic class or a dspy.Signature; Signature.parse reads a text",
            )
        fields: dict[str, dict[str, Field]] = {"input": {}, "output": {}}
        for name, info in model.model_fields.items():
            extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
            kind = str(extra.get(_KIND_KEY, ""))
            if kind not in fields:
                raise InputFault(
                    f"field {name!r} of {model.__name__} is neither input nor output",
                    expected="InputField() or OutputField() as its default",
                )
            desc = str(extra.get("desc") or "")
            fields[kind][name] = Field(
                info.annotation,
                "" if desc == f"${{{name}}}" else desc,  # dspy's text for no description
                str(extra.get("constraints") or ""),
                info.default_factory or info.default,
            )
        instructions_found = getattr(model, "instructions", None) or (model.__doc__ or "").strip()
        return cls(
            fields["input"],
            fields["output"],
            instructions_found or _instructions(fields["input"], fields["output"]),
        )

    def without(self, name: str) -> Signature:
        """Return the same signature without the field of this name."""
        inputs, outputs = (
            {k: f for k, f in fields.items() if k != name} for fields in (self.inputs, self.outputs)
        )
        return replace(self, inputs=inputs, outputs=outputs)

    @property
    def history_field(self) -> str:
        """The name of the input that is a history, or ""."""
        return next((k for k, f in self.inputs.items() if kind_of(f.annotation) == "History"), "")


def as_signature(value: Signature | type[BaseModel]) -> Signature:
    """Return `value` if it is a Signature, or else the result of `Signature.of`, which may raise
    InputFault."""
    return value if isinstance(value, Signature) else Signature.of(value)


def _instructions(inputs: Mapping[str, Field], outputs: Mapping[str, Field]) -> str:
    input_names, output_names = (
        ", ".join(f"`{name}`" for name in names) for names in (inputs, outputs)
    )
    return f"Given the fields {input_names}, produce the fields {output_names}."


def _fields(text: str, signature_text: str) -> dict[str, Field]:
    try:
        function = module(f"def f({text.strip()}): pass").body[0]
        assert isinstance(function, ast.FunctionDef)
        args = [*function.args.args, *function.args.kwonlyargs]
        _check_names([arg.arg for arg in args])
        return {
            arg.arg: Field(type_of_node(arg.annotation) if arg.annotation else str) for arg in args
        }
    except (SyntaxError, KeyError, TypeError) as error:
        raise InputFault(
            f"signature {signature_text!r}: {text.strip()!r} is not a list of fields ({error})",
            expected="names with types such as str, list[str], Literal['a', 'b']",
        ) from error


def _check_names(names: Sequence[str]) -> None:
    repeated = next((name for name in names if names.count(name) > 1), "")
    if repeated:
        problem = f"two fields of a signature are called {repeated!r}"
        raise InputFault(problem, field=repeated, expected="a name of its own for each field")


def type_of_node(node: ast.expr) -> Any:
    match node:
        case ast.Name(id=name):
            return _TYPES_BY_NAME[name]
        case ast.Attribute(value=ast.Name(id="dspy" | "typing" | "datetime"), attr=name):
            return _TYPES_BY_NAME[name]
        case ast.Constant(value=None):
            return None
        case ast.Constant(value=value) if value is ...:
            return ...
        case ast.Subscript(value=outer, slice=ast.Constant(value=str() as language)) if (
            type_of_node(outer) is Code
        ):
            return Code.__class_getitem__(language)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inside):
            items = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            return Literal[tuple(ast.literal_eval(item) for item in items)]
        case ast.Subscript(value=outer, slice=inside):
            items = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            types_inside = tuple(type_of_node(item) for item in items)
            return type_of_node(outer)[types_inside if len(types_inside) > 1 else types_inside[0]]
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return Union[type_of_node(left), type_of_node(right)]  # noqa: UP007 - made at run time
    raise KeyError(ast.unparse(node))
