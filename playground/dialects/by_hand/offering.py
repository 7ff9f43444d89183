"""Wrap the methods of dialects written by hand, so that callers may rely on them.

Azad's own `MyDialect` defines `format_tool_call(self, call)`; our base class passes `tools` too.
Callers pass all arguments; a wrapped override gets those that its signature takes. A wrapped
override that returns a value of another type raises InputFault, so that no view fails on it later.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterable
from inspect import Parameter
from typing import Any, Final

from playground.base.arguments import wrong
from playground.dialects.marks.policies import CacheDecision
from playground.nouns.messages import Message
from playground.parsing.parser import DialectParser

_POSITIONAL: Final = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)

# The methods that a dialect may write with fewer arguments than callers pass.
OVERRIDABLE: Final = (
    "format_dialect_rules",
    "format_example",
    "format_tool_call",
    "format_tool_result",
    "format_history_item",
    "create_parser",
    "is_native_toolcalling",
    "format_system_prompt",
    "format_tool_schema",
    "format_tools_schema",
    "format_messages",
    "render",
)

# Method -> the type of its value, the type of the value's items, both in words. Dicts are messages.
_LIST: Final = list | tuple
_TEXTS: Final = (
    "format_dialect_rules format_example format_tool_call format_tool_result format_tool_docs "
    "format_tool_doc format_system_rules format_user_prompt format_user_agent_prompt"
)
RETURNED: Final[dict[str, tuple[Any, type, str]]] = {
    **dict.fromkeys(_TEXTS.split(), (str, str, "a text")),
    "format_messages": (_LIST, dict, "a list of messages"),
    "format_history": (_LIST, dict, "a list of messages"),
    "format_system_prompt": (dict, dict, "a message"),
    "format_history_item": (dict | None, dict, "a message, or None"),
    "split_message": (_LIST, Message, "a list of Messages"),
    "inject_prompt_cache": (_LIST | None, CacheDecision, "None, or a list of CacheDecisions"),
    "create_parser": (DialectParser, DialectParser, "a DialectParser"),
}


def wrap_override(override: Callable[..., Any], declared: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `override` so that it may be called as `declared` is.

    The wrapper leaves out optional arguments that `override` does not take. Return `override`
    unchanged if it takes all arguments, or if it cannot be called at all (see `call_fault`).
    """
    signature = inspect.signature(declared)
    required, offered = _arguments(signature)
    accepted = _accepted_arguments(override, declared)
    if accepted is None or _same_positions(override, required, offered):
        return override

    @functools.wraps(override)
    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        bound = signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        values = bound.arguments
        optional = {own_name: values[name] for own_name, name in accepted.items()}
        return override(*(values[name] for name in required), **optional)

    return wrapper


def check_result(override: Callable[..., Any], method: str) -> Callable[..., Any]:
    """Wrap `override` so that it raises InputFault if it returns a wrong value."""
    types, item, expected = RETURNED[method]

    @functools.wraps(override)
    def wrapper(self: Any, *arguments: Any, **keywords: Any) -> Any:
        value, where = override(self, *arguments, **keywords), f"{method} of dialect {self.name!r}"
        values = value if isinstance(value, list | tuple) else [] if value is None else [value]
        is_right = item is dict or all(isinstance(each, item) for each in values)
        if not (is_right and isinstance(value, types)):
            raise wrong(where, value, expected)
        if item is dict:
            check_messages(values, where)
        return value

    return wrapper


def check_messages(messages: Iterable[Any], where: str) -> None:
    """Raise InputFault for a message that is not in LiteLLM's form."""
    for index, message in enumerate(messages):
        place = f"{where}, message {index}"
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise wrong(place, message, 'a dict such as {"role": "user", "content": "…"}')
        content, calls = message.get("content"), message.get("tool_calls") or []
        if not isinstance(content, str | list | None):
            raise wrong(f"{place}, content", content, "a text or a list of parts")
        for number, part in enumerate(content if isinstance(content, list) else ()):
            if not _is_part(part):
                expected = 'a dict such as {"type": "text", "text": "…"}'
                raise wrong(f"{place}, part {number}", part, expected)
        for call in calls if isinstance(calls, list) else [calls]:
            match call:
                case {"function": {"name": str()}}:
                    continue
            raise wrong(f"{place}, tool_calls", call, "a list of calls of named functions")


def _is_part(part: Any) -> bool:
    kind = part.get("type") if isinstance(part, dict) else None
    return isinstance(kind, str) and (kind != "text" or isinstance(part.get("text"), str))


def call_fault(override: Callable[..., Any], declared: Callable[..., Any]) -> str:
    """Return why an override cannot be called as `declared` is, or ""."""
    if _accepted_arguments(override, declared) is not None:
        return ""
    passed_names = [name for name in inspect.signature(declared).parameters if name != "self"]
    own_names = [name for name in inspect.signature(override).parameters if name != "self"]
    name = getattr(override, "__name__", "?")
    return f"{name}({', '.join(own_names)}) cannot be called as {name}({', '.join(passed_names)})"


def _arguments(signature: inspect.Signature) -> tuple[list[str], list[str]]:
    """Return the names of the required and of the optional arguments."""
    parameters = signature.parameters.items()
    required = [name for name, p in parameters if p.default is Parameter.empty]
    return required, [name for name, _ in parameters if name not in required]


def _same_positions(override: Callable[..., Any], required: list[str], offered: list[str]) -> bool:
    """Return True if an override takes all arguments in their positions, and requires no others."""
    parameters = inspect.signature(override).parameters.values()
    positional = [parameter for parameter in parameters if parameter.kind in _POSITIONAL]
    extra = positional[len(required) :]
    demanded = any(parameter.default is Parameter.empty for parameter in extra)
    return [parameter.name for parameter in extra] == offered and not demanded


def _accepted_arguments(
    override: Callable[..., Any], declared: Callable[..., Any]
) -> dict[str, str] | None:
    """Return the optional arguments that an override takes: the override's name -> the declared.

    Return None if it takes too few arguments, or requires a further one. A required argument with
    another name is recognised by its position: Azad's `rules_file_name` is `rules_path`.
    """
    required, offered = _arguments(inspect.signature(declared))
    parameters = list(inspect.signature(override).parameters.values())
    kinds = [parameter.kind for parameter in parameters]
    count = sum(kind in _POSITIONAL for kind in kinds)
    if count < len(required) and Parameter.VAR_POSITIONAL not in kinds:
        return None
    later = parameters[len(required) :]
    extra = [p for p in later if p.kind in (*_POSITIONAL, Parameter.KEYWORD_ONLY)]
    accepted: dict[str, str] = {}
    for parameter, by_position in itertools.zip_longest(extra, offered[: len(extra)]):
        if parameter.name in offered:
            accepted[parameter.name] = parameter.name
        elif parameter.default is Parameter.empty:
            if by_position is None or parameter.kind is Parameter.KEYWORD_ONLY:
                return None  # no declared argument has its position
            accepted[parameter.name] = by_position
    if Parameter.VAR_KEYWORD in kinds:
        accepted |= {name: name for name in offered if name not in accepted.values()}
    return accepted


def name_from_class(class_name: str) -> str:
    """Return the name of a dialect whose class has this name: `MyDialect` is `my-dialect`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", class_name).lower()


def gives_name(kind: type) -> bool:
    """Return True if a class names its dialect, by a value or, as a dataclass, by a field."""
    annotated = "name" in (vars(kind).get("__annotations__") or {})
    default = name_from_class(kind.__name__)
    return annotated or vars(kind).get("name", default) != default
