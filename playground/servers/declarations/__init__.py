"""The declarations of servers: one TOML file for each server, checked when it is read.

A misspelt field or choice, or a missing source, raises InputFault, which names the file, the
parser, the field, the wrong value and the valid ones. A file is read when its server is first
needed.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from playground.base import paths
from playground.base.arguments import takes
from playground.base.errors import InputFault, UnknownNameError
from playground.servers.view import Delivery, Language, Parser, Server, Suite, View

SERVER_NAMES: Final = (
    "vllm",
    "sglang",
    "llama.cpp",
    "ollama",
    "transformers",
    "ai-sdk-parser",
    "rapid-mlx",
    "vllm-mlx",
    "gptme",
    "roo",
    "langchain",
    "continue",
    "aider",
    "kodu",
    "openhands",
    "smolagents",
    "cline",
)
"""The servers, in the order in which they are listed. Each has a file `NAME.toml`."""
_PROVEN: Final = "proven.json"
_LEAST_PROOFS: Final = 3  # replies
_CHOICES: Final = tuple(field.name for field in fields(View) if field.name != "source")
_Text = Annotated[str, Field(min_length=1)]
_Texts = tuple[_Text, ...]
_Table = Mapping[str, Any]
_T = TypeVar("_T")
_M = TypeVar("_M", bound=BaseModel)


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _DefaultEntry(_Entry):
    """The fields of a server's default entry other than the choices of its view."""

    source: _Text
    presets: _Texts = ()


_E = TypeVar("_E", bound=_DefaultEntry)


class _ParserEntry(_DefaultEntry):
    """The fields of a parser's entry other than the choices of its view."""

    name: _Text
    aliases: _Texts = ()
    default_for: _Texts = ()
    also_reads: _Texts = ()
    also_reads_forms: _Texts = ()
    in_suite: bool = True


class _SuiteEntry(_Entry):
    language: Language
    text: _Text


class _PresetsFile(_Entry):
    presets: dict[str, _Table] = {}
    forms: dict[str, _Texts] = {}


class _ServerFile(_Entry):
    default: _Table
    version: str = ""
    date: str = ""
    reads: Delivery = "complete reply"
    source_prefix: str = ""
    other_dialects: _Texts | None = None
    presets: dict[str, _Table] = {}
    parsers: tuple[_Table, ...] = ()
    suite: _SuiteEntry | None = None


@takes(parsers_of="text")
def server_names(parsers_of: str = "") -> list[str]:
    """Return the names that `server=` takes: all servers or, with `parsers_of`, the parsers of that
    server, each followed by its aliases.

    A server's name alone means the parser that it uses for the dialect; `vllm:hermes` names one.
    Raises UnknownNameError for an unknown server.
    """
    if parsers_of:
        parsers = load_server(parsers_of).parsers
        return [f"{parsers_of}:{name}" for each in parsers for name in (each.name, *each.aliases)]
    return list(SERVER_NAMES)


@cache
def all_servers() -> tuple[Server, ...]:
    return tuple(map(load_server, SERVER_NAMES))


@cache
def load_server(server: str) -> Server:
    """Read the declaration of a server, by its name.

    Raises UnknownNameError, which names similar servers; InputFault if the declaration is wrong.
    """
    if server not in server_names():
        raise UnknownNameError("server", server, server_names())
    return read_server(paths.server_declarations() / f"{server}.toml", server)


def read_server(path: Path, name: str) -> Server:
    """Read a server's declaration from a file. Raises InputFault if it is wrong."""
    file = _read(path, _ServerFile)
    shared = _shared_presets()
    own_presets = _check_presets(path.name, file.presets, shared.presets)
    declaration = _Declaration(path.name, file, {**shared.presets, **own_presets}, shared.forms)
    return declaration.server(name)


@cache
def _shared_presets() -> _PresetsFile:
    """Read the presets, and the lists of dialects by form, that all servers share."""
    path = paths.server_declarations() / "presets.toml"
    file = _read(path, _PresetsFile)
    return _PresetsFile(presets=_check_presets(path.name, file.presets, {}), forms=file.forms)


@dataclass(frozen=True)
class _Declaration:
    """A server's file, with the presets that it may use: the shared presets and its own."""

    where: str
    file: _ServerFile
    presets: Mapping[str, _Table]
    forms: Mapping[str, tuple[str, ...]]

    def server(self, name: str) -> Server:
        file = self.file
        _, view = self._view("default", file.default, _DefaultEntry)
        parsers = tuple(self._parser(number, table) for number, table in enumerate(file.parsers))
        self._check_unique(parsers, "name", lambda parser: (parser.name, *parser.aliases))
        self._check_unique(parsers, "default_for", lambda parser: parser.default_for)
        suite = Suite(file.suite.language, file.suite.text) if file.suite else None
        others = file.other_dialects
        return Server(name, file.version, view, parsers, others, suite, file.reads, file.date)

    def _parser(self, number: int, table: _Table) -> Parser:
        place = f"parsers.{table.get('name') or number}"
        entry, view = self._view(place, table, _ParserEntry)
        by_form = (
            dialect
            for form in entry.also_reads_forms
            for dialect in _look_up(self.where, f"{place}.also_reads_forms", form, self.forms)
        )
        also_reads = (*entry.also_reads, *by_form)
        return Parser(
            entry.name, view, entry.default_for, entry.aliases, also_reads, entry.in_suite
        )

    def _view(self, place: str, table: _Table, kind: type[_E]) -> tuple[_E, View]:
        """Split a table into an entry and the choices of a view, and build both."""
        facts = {key: value for key, value in table.items() if key not in _CHOICES}
        entry = _build(self.where, place, kind, facts, (*kind.model_fields, *_CHOICES))
        choices = {key: value for key, value in table.items() if key in _CHOICES}
        _build(self.where, place, View, choices, _CHOICES)  # an error names this place, no preset
        presets = (_look_up(self.where, f"{place}.presets", n, self.presets) for n in entry.presets)
        source = f"{self.file.source_prefix}{entry.source}"
        return entry, View(source=source, **_merge([*presets, choices]))

    def _check_unique(
        self, parsers: Iterable[Parser], field: str, names: Callable[[Parser], Iterable[str]]
    ) -> None:
        """Raise InputFault if two parsers have the same name or alias, or are the default for the
        same dialect: `names` returns one or the other for a parser."""
        owners: dict[str, Parser] = {}
        for parser in parsers:
            for name in names(parser):
                owner = owners.setdefault(name, parser)
                if owner is not parser:
                    problem = f"{name!r} is in parsers.{owner.name}, too"
                    raise _fault(self.where, f"parsers.{parser.name}.{field}", problem)


def _read(path: Path, kind: type[_M]) -> _M:
    """Read a TOML file and check it as a model."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputFault(str(error), where=path.name, expected="a file in TOML") from None
    return _build(path.name, "", kind, data, kind.model_fields)


def _check_presets(
    where: str, presets: Mapping[str, _Table], shared: Mapping[str, _Table]
) -> dict[str, _Table]:
    """Check presets. Each may use shared presets and the presets before it."""
    checked: dict[str, _Table] = {}
    for name, table in presets.items():
        place = f"presets.{name}"
        choices = {key: value for key, value in table.items() if key != "presets"}
        _build(where, place, View, choices, ("presets", *_CHOICES))
        preset_names = table.get("presets", ())
        available = {**shared, **checked}
        used = (_look_up(where, f"{place}.presets", each, available) for each in preset_names)
        checked[name] = _merge([*used, choices])
    return checked


def _merge(tables: Iterable[_Table]) -> _Table:
    """Merge choices: the last value of each counts, but `unsupported_repairs` add up."""
    merged: dict[str, Any] = {}
    repairs: list[str] = []
    for table in tables:
        merged |= table
        repairs += table.get("unsupported_repairs", ())
    return merged | ({"unsupported_repairs": tuple(dict.fromkeys(repairs))} if repairs else {})


def _build(
    where: str, place: str, kind: Callable[..., _T], table: _Table, fields: Collection[str]
) -> _T:
    """Build a model, or a view, from a table that may have these `fields`. Raises InputFault for
    the first wrong field."""
    try:
        return kind(**{key: _freeze(value) for key, value in table.items()})
    except ValidationError as error:
        first = error.errors()[0]
    field = ".".join(map(str, ([place] if place else []) + list(first["loc"])))
    name = str(first["loc"][-1])
    match first["type"]:
        case "extra_forbidden" | "unexpected_keyword_argument":
            raise _fault(where, field, f"no field is called {name!r}", _one_of(name, fields))
        case "missing":
            raise _fault(where, field, "nothing", "a value: this field has to be there")
        case "literal_error":
            choices = first["ctx"]["expected"]
            words = choices.replace("' or '", "', '")[1:-1].split("', '")
            raise _fault(where, field, repr(first["input"]), _one_of(str(first["input"]), words))
        case _:
            problem = first["msg"].removeprefix("Value error, ")
            raise _fault(where, field, f"{first['input']!r}: {problem}")


def _freeze(value: Any) -> Any:
    """Turn the lists of TOML into tuples, at any depth."""
    if isinstance(value, list):
        return tuple(map(_freeze, value))
    return {key: _freeze(item) for key, item in value.items()} if isinstance(value, dict) else value


def _look_up(where: str, field: str, name: str, table: Mapping[str, _T]) -> _T:
    if name not in table:
        raise _fault(where, field, f"{name!r} is not declared", _one_of(name, table))
    return table[name]


def _one_of(name: str, names: Collection[str]) -> str:
    close = get_close_matches(name, names, n=1)
    meant = f"{close[0]!r}, or another " if close else ""
    return f"{meant}one of {', '.join(map(repr, names))}"


def _fault(where: str, field: str, problem: str, expected: str = "") -> InputFault:
    return InputFault(problem, where=where, field=field, expected=expected)


@cache
def proofs() -> _Table:
    """Return the results of runs of the servers' own parsers, by server: version, date, and for
    each parser and dialect the slips in the replies (`reading.slips_of`). A slip has two numbers of
    replies: those that server and view read alike, and all that were tried.
    `benchmarks/against_servers.py --record` writes the table."""
    table: _Table = json.loads((Path(__file__).parent / _PROVEN).read_text("utf-8"))
    return table


def proven_slips(server: Server, parser: str, dialect: str) -> frozenset[str]:
    """Return the slips that this version of the server reads as its view says, in all replies that
    were tried, if these are three or more."""
    tried = _tried_slips(server, parser, dialect).items()
    return frozenset(slip for slip, (equal, of) in tried if equal == of and of >= _LEAST_PROOFS)


def disproved_slips(server: Server, parser: str, dialect: str) -> frozenset[str]:
    """Return the slips for which this version of the server read at least one reply differently
    than its view says."""
    tried = _tried_slips(server, parser, dialect).items()
    return frozenset(slip for slip, (equal, of) in tried if equal < of)


def _tried_slips(server: Server, parser: str, dialect: str) -> Mapping[str, tuple[int, int]]:
    """Return for each slip the number of replies with it that the server and its view read in the
    same way, and the number of all replies with it."""
    recorded = proofs().get(server.name, {})
    if recorded.get("version") != server.version:
        return {}
    slips: Mapping[str, tuple[int, int]] = recorded["slips"].get(f"{parser} {dialect}", {})
    return slips
