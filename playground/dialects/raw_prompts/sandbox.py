"""The sandbox in which a chat template is rendered: its permissions and its bounds for values.

It equals transformers' sandbox: jinja2's immutable sandbox, trimmed blocks, and a `tojson` that
escapes no characters. The checks here give a clear error for too large values; anything else is
stopped by the limits of the worker process (`confined`).
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import Any, Final, NoReturn

from jinja2 import Template, TemplateSyntaxError, nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment

from playground.base.errors import InputFault

SIZE_LIMIT: Final = 20_000_000  # most characters of the output, and of any text in the template
_SEQUENCES: Final = (str, list, tuple)
MOST_BITS: Final = 10_000  # most bits of a power's result: about 3,000 digits


def render(job: Mapping[str, Any]) -> str:
    """Render a job's `source` with the variables `given`. Raises InputFault if this fails.

    `now` is an ISO time, or None for the real time.
    """
    name = job["name"]
    now = datetime.datetime.fromisoformat(job["now"]) if job["now"] else None
    variables = {
        **job["tokens"],
        "strftime_now": lambda form: (now or datetime.datetime.now()).strftime(form),
        **job["given"],
    }
    try:
        return _generate(_compile(job["source"], name, job["mutable"]), variables, name)
    except (InputFault, MemoryError):
        raise
    except _Refused as refused:
        raise InputFault(f"the template refuses: {refused}", where=name) from None
    except Exception as error:
        problem = f"the template fails: {type(error).__name__}: {error}"
        raise InputFault(problem, where=name) from error


def _generate(template: Template, variables: Mapping[str, Any], name: str) -> str:
    pieces: list[str] = []
    size = 0
    # `render` would join everything before the size could be checked.
    for piece in template.generate(variables):
        pieces.append(piece)
        size += len(piece)
        if size > SIZE_LIMIT:
            raise InputFault(f"writes more than {SIZE_LIMIT:,} characters", where=name)
    return "".join(pieces)


@lru_cache(maxsize=64)
def _compile(source: str, name: str, mutable: bool) -> Template:
    """Compile a template; each worker caches it. Raises InputFault with the line."""
    try:
        return _environment(mutable).from_string(source)
    except TemplateSyntaxError as error:
        problem = f"is not a Jinja template: {error.message}"
        raise InputFault(problem, where=name, line=error.lineno) from error


class _Generation(Extension):
    """The tag `{% generation %}`, which marks what a model wrote, for training only."""

    tags = {"generation"}

    def parse(self, parser: Any) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


class _Sandbox(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"*", "**", "%"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if _too_large(operator, left, right):
            raise SecurityError(f"{operator} makes too large a value")
        return super().call_binop(context, operator, left, right)


class _MutableSandbox(_Sandbox):
    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return SandboxedEnvironment.is_safe_attribute(self, obj, attr, value)


@lru_cache(maxsize=2)
def _environment(mutable: bool) -> ImmutableSandboxedEnvironment:
    environment = (_MutableSandbox if mutable else _Sandbox)(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    for name in ("center", "indent", "wordwrap"):
        environment.filters[name] = _bounded(environment.filters[name])
    environment.globals["raise_exception"] = _raise_exception
    return environment


def _too_large(operator: str, left: Any, right: Any) -> bool:
    match operator:
        case "**":
            return _power_too_large(left, right)
        case "%":
            return isinstance(left, str) and any(int(n) > 10_000 for n in _numbers(left))
        case _:
            return _product_too_large(left, right)


def _power_too_large(left: Any, right: Any) -> bool:
    """Return True if a power is too large, even a power of powers (`((9**64)**64)**64`)."""
    if not isinstance(right, int | float):
        return False
    bits = left.bit_length() if isinstance(left, int) else 1
    return abs(right) > 64 or bits * abs(right) > MOST_BITS


def _product_too_large(left: Any, right: Any) -> bool:
    """Return True if a repeated text or list is too long, or a product of numbers too large."""
    repeated = isinstance(left, _SEQUENCES) or isinstance(right, _SEQUENCES)
    first, second = _length_or_value(left), _length_or_value(right)
    if not isinstance(first, int) or not isinstance(second, int):
        return False
    return first * second > (SIZE_LIMIT if repeated else 10**30)


def _length_or_value(value: Any) -> Any:
    return len(value) if isinstance(value, _SEQUENCES) else value


def _numbers(text: str) -> list[str]:
    """Return the numbers in a format such as `%100000d`, each up to nine digits."""
    digits = "".join(char if char.isdigit() else " " for char in text)
    return [number[:9] for number in digits.split()]


def _bounded(filter_: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that refuses a width of more than 10,000 characters."""
    # Filters with the attribute `jinja_pass_arg` get the environment before the value.
    first_width = 2 if hasattr(filter_, "jinja_pass_arg") else 1

    @wraps(filter_)
    def bounded(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(a, int) and a > 10_000 for a in (*args[first_width:], *kwargs.values())):
            raise ValueError("a width of more than 10,000 characters")
        return filter_(*args, **kwargs)

    return bounded


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


class _Refused(Exception):
    """The error of a template's own raise_exception."""


def _raise_exception(message: str) -> NoReturn:
    raise _Refused(str(message))
