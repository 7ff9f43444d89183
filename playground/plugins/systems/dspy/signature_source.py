"""Read a signature from the source of its class, which is never run."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel, create_model
from pydantic.errors import PydanticUserError

from playground.base import python_source
from playground.base.errors import InputFault
from playground.plugins.systems.dspy.signature import (
    InputField,
    OutputField,
    Signature,
    type_of_node,
)

# The beginning of Python source, perhaps after comments. Prose does not begin like this.
_CLASS: Final = re.compile(
    r"(?>(?:[ \t]*(?:#.*)?\n)*)[ \t]*(?:class \w.*:|import |from \S+ import |@\w)"
)
_FIELDS: Final = {"InputField": InputField, "OutputField": OutputField}


def read_signature(text: str, instructions: str = "") -> Signature:
    """Read a signature from a line such as `question -> answer: int`, or from a class.

    `instructions` replace DSPy's default instructions, or those of the class. Raises InputFault,
    which names the invalid field, or the line of an error in the source.
    """
    classes = signature_classes(text)
    if not classes:
        return Signature.parse(text, instructions)
    signature = _of_class(classes[0])
    return replace(signature, instructions=instructions) if instructions else signature


def signature_classes(text: str) -> list[ast.ClassDef]:
    """Return the classes of a text whose fields are InputField and OutputField.

    Raises InputFault with the line of an error in the source of such a class.
    """
    if "InputField" not in text and "OutputField" not in text:
        return []
    try:
        body = python_source.statements(text)
    except InputFault:
        if _CLASS.match(text):
            raise
        return []
    return [node for node in body if isinstance(node, ast.ClassDef) and _declared(node)]


def _declared(node: ast.ClassDef) -> list[tuple[str, ast.expr | None, ast.Call]]:
    """Return name, type and field call of each field of a class."""
    fields: list[tuple[str, ast.expr | None, ast.Call]] = []
    for line in node.body:
        match line:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind, value=ast.Call() as call):
                fields.append((name, kind, call))
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                fields.append((name, None, call))
    return [field for field in fields if _name(field[2].func) in _FIELDS]


def _of_class(node: ast.ClassDef) -> Signature:
    fields: dict[str, Any] = {}
    for name, kind, call in _declared(node):
        place = f"{node.name}.{name}"
        try:
            annotation = str if kind is None else type_of_node(kind)
        except (KeyError, TypeError) as error:
            raise InputFault(
                f"not a type: {ast.unparse(kind) if kind else ''}",
                field=place,
                expected="a type such as str, list[str], Literal['a', 'b']",
            ) from error
        try:
            arguments = [ast.literal_eval(value) for value in call.args]
            options = {key.arg: ast.literal_eval(key.value) for key in call.keywords if key.arg}
            fields[name] = (annotation, _FIELDS[_name(call.func)](*arguments, **options))
        except (ValueError, TypeError) as error:
            problem = f"arguments that must be computed: {ast.unparse(call)}"
            raise InputFault(
                problem, field=place, expected="literals, such as texts and numbers"
            ) from error
    try:
        model: type[BaseModel] = create_model(node.name, __doc__=ast.get_docstring(node), **fields)
    except (PydanticUserError, NameError, TypeError) as error:
        raise InputFault(str(error), field=node.name, expected="a pydantic class") from error
    return Signature.of(model)


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
