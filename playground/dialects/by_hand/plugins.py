"""Load dialects of other packages. Each is tested first, and a broken one is left out.

A plugin's code is not ours, so any exception in it becomes one line that names its package.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

from playground.base.arguments import items
from playground.base.errors import InputFault, in_words
from playground.base.findings import Finding, finding
from playground.dialects.base import Dialect
from playground.dialects.by_hand.offering import OVERRIDABLE, call_fault, name_from_class
from playground.nouns.messages import Message, TextPart, ToolCallPart, ToolResultPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint  # slow to import, and only needed for types

GROUP: Final = "playground.dialects"
_RAISED: Final = (Exception, SystemExit)  # importing a script may raise SystemExit


@cache
def _tool() -> ToolMetadata:
    return ToolMetadata(
        name="probe",
        description="Takes a text.",
        input_schema={"type": "object", "properties": {"text": {"type": "string"}}},
    )


@dataclass(frozen=True)
class Plugins:
    """The dialects of all entry points (or files), by the entries' names.

    `faults` says why entries were left out, `renamed` which dialects call themselves otherwise.
    """

    dialects: dict[str, Dialect]
    faults: dict[str, str]
    renamed: dict[str, str]

    def findings(self) -> list[Finding]:
        left_out = [finding("dialect-left-out", *each) for each in self.faults.items()]
        return left_out + [finding("dialect-renamed", *each) for each in self.renamed.items()]


def load_plugins(entries: Iterable[EntryPoint], taken_names: Iterable[str]) -> Plugins:
    """Load and try every entry. An entry is left out if it is broken, if its name is in
    `taken_names`, or if an earlier entry has it."""
    names = set(taken_names)
    plugins = Plugins({}, {}, {})
    for entry in entries:
        package = entry.dist.name if entry.dist else entry.value.partition(":")[0]
        try:
            loaded = entry.load()
        except _RAISED as error:
            fault = f"{entry.value} cannot be loaded: {in_words(error)}"
        else:
            fault = fault_of(loaded)
        if not fault and entry.name in names:
            fault = "another dialect has that name already"
        if fault:
            plugins.faults[entry.name] = f"dialect {entry.name!r} of package {package!r}: {fault}"
            continue
        names.add(entry.name)
        if loaded.name not in (entry.name, name_from_class(type(loaded).__name__)):
            plugins.renamed[entry.name] = (
                f"dialect {entry.name!r} of package {package!r} calls itself {loaded.name!r}: "
                f"it is known by its entry point's name, {entry.name!r}"
            )
        plugins.dialects[entry.name] = _with_name(loaded, entry.name)
    return plugins


def fault_of(dialect: object) -> str:
    """Return why a value is not a working dialect, in one line; "" if it is one."""
    return form_fault(dialect) or next(filter(None, map(_trial_fault, _trials(dialect))), "")


def form_fault(dialect: object) -> str:
    """Return why a value is not a dialect, judged by its class and signatures; no method is run."""
    if inspect.isclass(dialect):
        open_methods = ", ".join(sorted(getattr(dialect, "__abstractmethods__", ())))
        lacks = f"; it lacks {open_methods}" if open_methods else ""
        return f"a class, not an instance: give {dialect.__name__}() instead{lacks}"
    if not isinstance(dialect, Dialect):
        return f"a {type(dialect).__name__}, not a playground.Dialect"
    return _signature_fault(type(dialect))


@lru_cache(maxsize=256)
def _signature_fault(kind: type[Dialect]) -> str:
    faults = (call_fault(getattr(kind, name), getattr(Dialect, name)) for name in OVERRIDABLE)
    return next(filter(None, faults), "")


def _trials(dialect: Any) -> list[tuple[str, Callable[[], object]]]:
    """Return a trial for each method that every prompt needs, with the method's name. A trial
    raises what the method raises, and InputFault for a wrong result, which `Dialect` checks."""
    call = ToolCallPart("call_1", "probe", {"text": "a"})
    result = ToolResultPart("call_1", "probe", "b")
    data = PromptData(messages=[Message("user", (TextPart("a"),))], tool_metadata=[_tool()])
    return [
        ("is_native_toolcalling", dialect.is_native_toolcalling),
        ("format_dialect_rules", lambda: dialect.format_dialect_rules(data)),
        ("format_example", lambda: dialect.format_example("probe", {"text": "a"}, _tool())),
        ("format_tool_call", lambda: dialect.format_tool_call(call, [_tool()])),
        ("format_tool_result", lambda: dialect.format_tool_result(result)),
        ("create_parser", lambda: dialect.create_parser(data)),
        ("feed", lambda: items("feed", dialect.create_parser(data).feed(b"a"))),
        ("format_messages", lambda: dialect.render(data)),
    ]


def _trial_fault(trial: tuple[str, Callable[[], object]]) -> str:
    name, run = trial
    try:
        run()
    except InputFault as fault:
        return str(fault)
    except _RAISED as error:
        return f"{name} fails: {in_words(error)}"
    return ""


def _with_name(dialect: Dialect, name: str) -> Dialect:
    """Return the dialect under the entry's name, by which users ask for it."""
    if dialect.name == name:
        return dialect
    renamed = copy.copy(dialect)
    object.__setattr__(renamed, "name", name)
    return renamed
