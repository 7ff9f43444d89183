"""The tools of a Python file, from its syntax tree: the file is never imported or executed.

If some functions are marked `@tool` (or `@function_tool`, `@mcp.tool()` …), only those are tools;
otherwise all public functions are. A pydantic model is a tool if nothing else in the file uses it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel

from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.base.python_source import module
from playground.nouns.tool_formats.functions import (
    FunctionSignature,
    Parameter,
    check_annotation,
    tool_from_signature,
    var_arguments_finding,
)
from playground.nouns.tool_formats.python_types import REQUIRED, UNKNOWN, Types, Unread, optional
from playground.nouns.tools import ToolMetadata

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SELF_NAMES: Final = ("self", "cls")
_UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)  # or nested too deep


def read_python(text: str, where: str) -> tuple[list[ToolMetadata], list[Finding]]:
    """Read the tools of Python source. Raises InputFault, with the line, if it is not Python."""
    try:
        return _read(module(text), where)
    except _UNREADABLE as error:
        line = getattr(error, "lineno", None)
        why = getattr(error, "msg", None) or str(error)
        raise InputFault(
            f"not Python: {why}", where=where, line=line, expected="Python source"
        ) from error


def _read(tree: ast.Module, where: str) -> tuple[list[ToolMetadata], list[Finding]]:
    types, findings = Types(), list[Finding]()
    models = _declare_types(tree, types, findings)
    tools: list[ToolMetadata] = []
    for node in _functions(tree):
        try:
            tool, more_findings = tool_from_signature(_signature(node, types))
        except ImportError:  # a package of this program is missing; the file is not at fault
            raise
        except Exception as error:  # pydantic may refuse a field in many ways
            why = str(error).splitlines()[0]
            raise InputFault(why, where=where, line=node.lineno, field=node.name) from error
        tools.append(tool)
        findings += more_findings
    # A model that a function or another model names is the type of an argument, not a tool.
    used = {item.id for item in ast.walk(tree) if isinstance(item, ast.Name)}
    tools += [tool_from_model(model) for name, model in models.items() if name not in used]
    if not tools:
        raise InputFault("holds no tool", where=where, expected="functions or pydantic models")
    return tools, findings


def tool_from_model(model: type[BaseModel]) -> ToolMetadata:
    """Make the tool whose arguments a pydantic model describes."""
    schema = model.model_json_schema()
    description = str(schema.get("description") or "")
    return ToolMetadata(name=model.__name__, description=description, input_schema=schema)


def _declare_types(
    tree: ast.Module, types: Types, findings: list[Finding]
) -> dict[str, type[BaseModel]]:
    """Declare the file's own types, in order. Return its pydantic models by name."""
    models: dict[str, type[BaseModel]] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            try:
                model = types.declare(node)
            except Unread as error:
                text = f"the class is not known: {error}"
                findings.append(finding("annotation-unread", f"line {node.lineno}", text))
                continue
            if model is not None:
                models[node.name] = model
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            types.alias(node.targets[0].id, node.value)
    return models


def _functions(tree: ast.Module) -> Iterator[_Function]:
    """Yield the functions that are tools: the marked functions, also methods; if none is marked,
    the module's public functions."""
    every = [node for node in ast.walk(tree) if isinstance(node, _Function)]
    marked = [node for node in every if any(_is_tool_mark(m) for m in node.decorator_list)]
    if marked:
        return iter(marked)
    return iter(n for n in tree.body if isinstance(n, _Function) and not n.name.startswith("_"))


def _is_tool_mark(mark: ast.expr) -> bool:
    inner = mark.func if isinstance(mark, ast.Call) else mark
    name = inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "")
    return str(name).endswith("tool")


def _signature(node: _Function, types: Types) -> FunctionSignature:
    """Read a signature from the tree, as `inspect` would return it."""
    arguments, findings = node.args, list[Finding]()
    for stars, argument in (("*", arguments.vararg), ("**", arguments.kwarg)):
        if argument is not None:
            findings.append(var_arguments_finding(node.name, stars + argument.arg))
    # In `ast`, defaults of positional parameters are counted from the end; keyword-only parameters
    # have one each.
    positional = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    pairs = [
        *zip(positional, [*missing, *arguments.defaults], strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    parameters = []
    for index, (argument, default) in enumerate(pairs):
        if index == 0 and argument.arg in _SELF_NAMES:
            continue
        parameters.append(_parameter(node.name, argument, default, types, findings))
    return FunctionSignature(
        node.name, ast.get_docstring(node, clean=False) or "", tuple(parameters), findings
    )


def _parameter(
    tool: str, argument: ast.arg, default: ast.expr | None, types: Types, findings: list[Finding]
) -> Parameter:
    place = f"tool {tool}, parameter {argument.arg}"

    def unread(text: str) -> None:
        message = f"{text} is not known without running the file"
        findings.append(finding("annotation-unread", place, message))

    try:
        annotation = types.type_of(argument.annotation)
        annotation_type = check_annotation(annotation, tool, argument.arg, findings)
    except Unread as error:
        unread(f"any value is allowed: {error}")
        annotation_type = Any
    try:
        value = types.value(default)
    except Unread as error:
        unread(f"it is taken as required: {error}")
        value = REQUIRED
    if value is UNKNOWN and default is not None:
        unread(f"it is optional; its default, {ast.unparse(default)[:80]},")
    field_default = inspect.Parameter.empty if value is REQUIRED else optional(value)
    return Parameter(argument.arg, annotation_type, field_default)
