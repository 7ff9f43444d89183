"""Tools from Python functions: types come from annotations, descriptions from docstrings.

Arguments that a model cannot give (`*args`, `**kwargs`) are left out, and a type without a JSON
Schema becomes any value. Both are reported as findings; so is a docstring that describes another
signature.
"""

from __future__ import annotations

import functools
import inspect
import typing
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, TypeAdapter, create_model
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.fields import FieldInfo
from pydantic_core import SchemaError

from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.nouns.tools import ToolMetadata, allowed_types

if TYPE_CHECKING:
    from docstring_parser import Docstring, DocstringParam

_NO_SCHEMA: Final = (PydanticUserError, PydanticSchemaGenerationError, TypeError, ValueError)
_PARAMETERS: Final = "__parameter_names__"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter as it is declared. Without a default, `default` is `inspect.Parameter.empty`."""

    name: str
    annotation: Any = Any
    default: Any = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class FunctionSignature:
    """The parameters and the docstring of a function, live or in a source file."""

    name: str
    docstring: str = ""
    parameters: tuple[Parameter, ...] = ()
    findings: list[Finding] = field(default_factory=list)


def create_schema_from_function(
    name: str, func: Callable[..., Any], injected_args: Collection[str] = ()
) -> type[BaseModel]:
    """Build a pydantic model of a function's arguments. Its `model_json_schema()` is for the
    language model.

    A description comes from a `Field`, a text in `Annotated` or the docstring (numpy, Google,
    Sphinx, Epydoc), in this order; without any it is `Parameter: NAME`. `injected_args` are given
    by the program and hidden from the language model.
    """
    return model_of(_with_name(signature_of(func), name), injected_args)


def tool_from_function(
    func: Callable[..., Any], name: str = "", injected_args: Collection[str] = ()
) -> tuple[ToolMetadata, list[Finding]]:
    """Make a tool from a function, and report what no schema can express."""
    return tool_from_signature(_with_name(signature_of(func), name), injected_args)


def tool_from_signature(
    signature: FunctionSignature, injected_args: Collection[str] = ()
) -> tuple[ToolMetadata, list[Finding]]:
    """Make a tool from a signature, and report what no schema can express."""
    model = model_of(signature, injected_args)
    schema = model.model_json_schema()
    documented = _parse_docstring(signature.docstring)
    tool = ToolMetadata(
        name=signature.name, description=(documented.description or "").strip(), input_schema=schema
    )
    return tool, [
        *signature.findings,
        *_docstring_mismatches(tool, signature, documented, injected_args),
    ]


def signature_of(func: Callable[..., Any]) -> FunctionSignature:
    """Read the signature of a live function without calling it."""
    name = getattr(func, "__name__", "tool")
    findings: list[Finding] = []
    try:
        hints = typing.get_type_hints(_annotations_holder(func), include_extras=True)
    except Exception as error:  # an annotation may be any expression
        findings.append(finding("annotation-unread", f"tool {name}", f"annotations: {error}"))
        hints = {}
    parameters = []
    for parameter in inspect.signature(func).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            stars = "*" if parameter.kind == parameter.VAR_POSITIONAL else "**"
            findings.append(var_arguments_finding(name, stars + parameter.name))
            continue
        annotation = hints.get(parameter.name, Any)
        known_type = check_annotation(annotation, name, parameter.name, findings)
        parameters.append(Parameter(parameter.name, known_type, parameter.default))
    return FunctionSignature(name, func.__doc__ or "", tuple(parameters), findings)


def _annotations_holder(func: Callable[..., Any]) -> Callable[..., Any]:
    if isinstance(func, functools.partial):
        return _annotations_holder(func.func)
    return func if inspect.isroutine(func) or inspect.isclass(func) else type(func).__call__


def var_arguments_finding(tool: str, written: str) -> Finding:
    """Make a finding about arguments that no signature names, which a model cannot give."""
    message = f"{written} is left out: the signature does not name its arguments"
    return finding("var-arguments", f"tool {tool}", message)


def check_annotation(annotation: Any, tool: str, name: str, findings: list[Finding]) -> Any:
    """Return the annotation, or Any with a finding if pydantic has no JSON Schema for it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            TypeAdapter(annotation).json_schema()
    except _NO_SCHEMA as error:
        why = str(error).splitlines()[0]
        place = f"tool {tool}, parameter {name}"
        findings.append(finding("annotation-unread", place, f"any value is allowed: {why}"))
        return Any
    return annotation


def model_of(signature: FunctionSignature, injected_args: Collection[str] = ()) -> type[BaseModel]:
    """Build the pydantic model of a signature's arguments.

    Raises InputFault if pydantic refuses, for instance because of bounds that a type cannot have.
    """
    documented = {p.arg_name: p.description for p in _parse_docstring(signature.docstring).params}
    fields: dict[str, Any] = {}
    parameters: dict[str, str] = {}
    for index, parameter in enumerate(signature.parameters):
        if parameter.name in injected_args:
            continue
        name, described = parameter.name, _description(parameter, documented)
        if name.startswith("_") or hasattr(BaseModel, name):  # pydantic does not allow such a field
            name = f"parameter_{index}"
            described["alias"] = parameter.name
        # In pydantic's notation `...` means "no default"; None would be a default.
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        # The annotation's own metadata comes after the docstring's description, and overrides it.
        parameters[name] = parameter.name
        fields[name] = (
            Annotated[_with_first_note(parameter.annotation, Field(**described))],
            default,
        )
    config = ConfigDict(protected_namespaces=())
    try:
        model: type[BaseModel] = create_model(signature.name, __config__=config, **fields)
    except (*_NO_SCHEMA, SchemaError) as error:
        why = str(error).splitlines()[-1].strip()
        raise InputFault(f"no schema for its arguments: {why}", where=signature.name) from error
    setattr(model, _PARAMETERS, parameters)
    return model


def parameter_names(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the parameter's name of each field in a model of a function's arguments; {} for any
    other model."""
    names: Mapping[str, str] = getattr(model, _PARAMETERS, {})
    return names


def _description(parameter: Parameter, documented: Mapping[str, str | None]) -> dict[str, Any]:
    """Return a parameter's description for pydantic; {} if a `Field` (in `Annotated` or as the
    default) has a description."""
    notes = getattr(parameter.annotation, "__metadata__", ())
    if any(isinstance(note, FieldInfo) for note in (*notes, parameter.default)):
        return {}
    text = next((note for note in notes if isinstance(note, str)), "")
    fallback = f"Parameter: {parameter.name}"
    return {"description": text or documented.get(parameter.name, fallback)}


def _with_first_note(annotation: Any, first: FieldInfo) -> Any:
    """Return the arguments for `Annotated`: the type, `first`, and then the type's own metadata."""
    base = getattr(annotation, "__origin__", annotation)
    notes = getattr(annotation, "__metadata__", None)
    return (base, first, *notes) if notes is not None else (annotation, first)


def _with_name(signature: FunctionSignature, name: str) -> FunctionSignature:
    if not name:
        return signature
    return FunctionSignature(name, signature.docstring, signature.parameters, signature.findings)


def _parse_docstring(docstring: str) -> Docstring:
    import docstring_parser

    try:
        return docstring_parser.parse(docstring)
    except docstring_parser.ParseError:
        return docstring_parser.Docstring()


_WRITTEN_TYPES: Final[Mapping[str, str]] = {
    "str": "string",
    "string": "string",
    "int": "integer",
    "integer": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}


def _docstring_mismatches(
    tool: ToolMetadata,
    signature: FunctionSignature,
    documented: Docstring,
    injected_args: Collection[str],
) -> list[Finding]:
    """Report parameters in a docstring that do not exist or have another type."""
    findings = []
    names = {*tool.parameters, *injected_args}
    # A docstring may describe `*args`: another finding says that they are left out.
    has_stars = any(found.code == "var-arguments" for found in signature.findings)
    stars = {"args", "kwargs"} if has_stars else set()
    for parameter in _documented_parameters(documented):
        name = parameter.arg_name.lstrip("*")
        place = f"tool {tool.name}, parameter {name}"
        if name not in names | stars:
            existing = ", ".join(tool.parameters) or "none"
            text = f"the docstring describes it, but the signature has: {existing}"
            findings.append(finding("docstring-lies", place, text))
            continue
        documented_type = _WRITTEN_TYPES.get((parameter.type_name or "").strip().lower())
        allowed = allowed_types(tool.parameter_schema(name))
        # `float` in the docstring of an `int` parameter is careless, but harms no call.
        wider = documented_type == "number" and "integer" in allowed
        if documented_type and allowed and documented_type not in allowed and not wider:
            text = (
                f"{parameter.type_name} in the docstring, {' or '.join(sorted(allowed))} declared"
            )
            findings.append(finding("docstring-lies", place, text))
    return findings


def _documented_parameters(documented: Docstring) -> list[DocstringParam]:
    """Return the parameters of a docstring. The library takes an underlined `Returns:` for a
    parameter, which is left out with all later ones."""
    names = [parameter.arg_name for parameter in documented.params]
    end = next((i for i, name in enumerate(names) if name.endswith(":")), len(names))
    return documented.params[:end]
