"""Declared dialects as files: data only, in JSON or TOML; nothing in them is executed.

`dump_dialect` writes the fields that differ from their defaults, `load_dialect` reads them back as
an equal dialect. `folders.py` finds such files and adds them to the registered dialects. A dialect
with something that a file cannot hold (a class's code, checks, the path of a file) is refused.
"""

from __future__ import annotations

import dataclasses
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from playground.base.arguments import takes
from playground.base.errors import InputFault, UnknownNameError
from playground.base.json_numbers import refused_words
from playground.base.user_files import read_user_file, user_text
from playground.dialects import prompts
from playground.dialects.base import Dialect
from playground.dialects.declared import DeclaredDialect
from playground.dialects.files.plain import FieldPlace, Reader, as_plain, default_of, read_fields
from playground.dialects.marks.policies import get_policy
from playground.dialects.raw_prompts import LLAMA3, LLAMA4, LlamaFormat, LlamaPrompt
from playground.nouns.tools import ToolMetadata

SUFFIXES: Final = (".json", ".toml")
MOST_BYTES: Final = 256_000
_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,59}", re.ASCII)
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_TOOL_DOCS: Final = {"described": prompts.DESCRIBED, "json-lines": prompts.JSON_LINES}
_LLAMAS: Final = {"llama3": LLAMA3, "llama4": LLAMA4}
# Fields that a user sets on a machine; a declaration does not have them.
_SETTINGS: Final = ("preflight", "rules_path")


@takes(path="path")
def load_dialect(path: str | Path) -> DeclaredDialect:
    """Load a dialect from its file, .json or .toml.

    Raises InputFault with the file, the line or field, and what was expected.
    """
    return parse_dialect(read_user_file(path, "a dialect's file, .json or .toml"), str(path))


def parse_dialect(data: bytes | str, where: str) -> DeclaredDialect:
    """Read a dialect from a file's text; it is TOML if `where`, the file's name, ends in .toml.

    Raises InputFault.
    """
    return dialect_of(_document(user_text(data, where, MOST_BYTES), where), where)


def dialect_of(document: Any, where: str) -> DeclaredDialect:
    """Build a dialect from plain data, as JSON or TOML give it.

    Raises InputFault, which names the field.
    """
    dialect: DeclaredDialect = read_fields(
        DeclaredDialect, document, FieldPlace(where), _READERS, _SETTINGS
    )
    return dialect


@takes(dialect=Dialect)
def dump_dialect(dialect: Dialect) -> str:
    """Write a declared dialect as its file's text, in JSON.

    Raises InputFault if it is more than a declaration: if it has methods of its own, checks, or
    rules from another file.
    """
    return dialect_text(plain_dialect(dialect))


def dialect_text(plain: Mapping[str, Any]) -> str:
    """Write plain data as a file's text."""
    text = json.dumps(plain, ensure_ascii=False, indent=1)
    if not text.isascii() and _SURROGATES.search(text):  # UTF-8 has no lone surrogates: escape them
        text = json.dumps(plain, indent=1)
    return text + "\n"


def plain_dialect(dialect: Dialect) -> dict[str, Any]:
    """Return a declared dialect as plain data, without fields at their defaults.

    Raises InputFault if it is more than a declaration.
    """
    place = FieldPlace(f"dialect {dialect.name!r}")
    if not isinstance(dialect, DeclaredDialect) or _has_code(type(dialect)):
        raise place.fault(f"{type(dialect).__name__} has code of its own", "a DeclaredDialect")
    for name in _SETTINGS:
        if getattr(dialect, name):
            problem = "a setting of this machine, and no part of a declaration"
            raise place.of(name).fault(problem, "none")
    _name(dialect.name, place.of("name"))
    plain: dict[str, Any] = {}
    for field in dataclasses.fields(DeclaredDialect):
        value = getattr(dialect, field.name)
        if field.name not in _SETTINGS and value != default_of(field):
            write = _WRITERS.get(field.name)
            plain[field.name] = write(value, place.of(field.name)) if write else as_plain(value)
    return plain


def _has_code(kind: type[DeclaredDialect]) -> bool:
    """Return True if a subclass of DeclaredDialect overrides a method."""
    methods = (name for name in dir(DeclaredDialect) if callable(getattr(DeclaredDialect, name)))
    return any(
        getattr(kind, name) is not getattr(DeclaredDialect, name)
        for name in methods
        if not name.startswith("__")
    )


# the text


def _document(text: str, where: str) -> Any:
    try:
        if where.endswith(".toml"):
            return tomllib.loads(text)
        return json.loads(text, object_pairs_hook=lambda pairs: _unique_members(pairs, where))
    except json.JSONDecodeError as error:
        raise InputFault(error.msg, where=where, line=error.lineno, expected="JSON") from error
    except tomllib.TOMLDecodeError as error:
        raise InputFault(str(error), where=where, expected="TOML") from error
    except (ValueError, RecursionError) as error:  # a number with thousands of digits, deep nesting
        problem = f"it cannot be read: {refused_words(error)}"
        raise InputFault(problem, where=where, expected="fields") from error


def _unique_members(pairs: list[tuple[str, Any]], where: str) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise InputFault("is given twice", where=where, field=twice, expected="one of them")
    return dict(pairs)


# fields that need a reader of their own


def _name(value: Any, place: FieldPlace) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise place.fault(
            f"{value!r:.80} is not a name", "letters, digits, '.', '-' and '_', 60 at most"
        )
    return value


def _policy(value: Any, place: FieldPlace) -> str:
    if not isinstance(value, str):
        raise place.fault(f"{type(value).__name__} was given", "the name of a policy")
    try:
        get_policy(value)
    except UnknownNameError as fault:
        raise place.fault(str(fault), "one of them") from fault
    return value


def _tool(value: Any, place: FieldPlace) -> ToolMetadata:
    try:
        return ToolMetadata.model_validate(value)
    except ValidationError as error:
        first_error = error.errors()[0]
        for step in first_error["loc"]:
            place = place.of(step)
        raise place.fault(first_error["msg"], "a tool: name, description, input_schema") from error


def _tool_docs(value: Any, place: FieldPlace) -> prompts.ToolDocs:
    if value not in list(_TOOL_DOCS):
        raise place.fault(f"{value!r:.80} is not a form", f"one of {', '.join(_TOOL_DOCS)}")
    return _TOOL_DOCS[value]


def _tool_docs_name(docs: prompts.ToolDocs, place: FieldPlace) -> str:
    for name, form in _TOOL_DOCS.items():
        if form == docs:
            return name
    raise place.fault("a form of its own", f"one of {', '.join(_TOOL_DOCS)}")


def _llama(value: Any, place: FieldPlace) -> LlamaPrompt:
    prompt: LlamaPrompt = read_fields(LlamaPrompt, value, place, {"format": _llama_format})
    return prompt


def _llama_format(value: Any, place: FieldPlace) -> LlamaFormat:
    if value not in list(_LLAMAS):
        raise place.fault(f"{value!r:.80} is not a format", f"one of {', '.join(_LLAMAS)}")
    return _LLAMAS[value]


def _llama_plain(prompt: LlamaPrompt, place: FieldPlace) -> dict[str, str]:
    format_name = next(name for name, form in _LLAMAS.items() if form == prompt.format)
    return {"format": format_name, "tools": prompt.tools}


_READERS: Final[dict[str, Reader]] = {
    "name": _name,
    "cache_policy": _policy,
    "own_tool": _tool,
    "raw_prompt": _llama,
    "tool_docs": _tool_docs,
}
_WRITERS: Final[dict[str, Reader]] = {
    "cache_policy": _policy,
    "own_tool": lambda tool, place: tool.model_dump(mode="json", exclude_defaults=True),
    "raw_prompt": _llama_plain,
    "tool_docs": _tool_docs_name,
}
