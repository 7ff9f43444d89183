"""Find the bodies of calls in replies of a model whose dialect is unknown.

Each finder looks for one notation. It may return texts that are no calls; the caller verifies them.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from playground.parsing.syntax import JsonShape

_DECODER: Final = json.JSONDecoder(strict=False)
_NAME_KEYS: Final = (
    "name",
    "tool_name",
    "tool",
    "function",
    "function_name",
    "action",
    "recipient_name",
)
_NAME: Final = re.compile(r"[A-Za-z_][\w.:/-]{0,79}")
_PYTHON: Final = re.compile(
    r"(?<![\w.])(?P<name>[A-Za-z_][\w.]{0,79})\((?=\s*(?:[A-Za-z_]\w*\s*=|\)))"
)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """The body of a call in a reply, `reply[start:stop]`. `name` is "" if the call's name is
    outside the body."""

    hole: str
    start: int
    stop: int
    name: str
    arguments: Mapping[str, Any]
    shape: JsonShape = field(default_factory=JsonShape)
    param: str = ""


# A finder gets all replies together, because only a call with two parameters shows the text between
# parameters.
Finder = Callable[[Sequence[str]], list[list[Occurrence]]]


def json_calls(replies: Sequence[str]) -> list[list[Occurrence]]:
    """Find JSON objects that hold a name and arguments."""
    return [list(_json_calls(reply)) for reply in replies]


def _json_calls(reply: str) -> Iterator[Occurrence]:
    for start, stop, value in _objects(reply):
        shape = _shape(value)
        if shape is not None:
            name = next(iter(value)) if shape.name_is_key else _value_at(value, shape.name)
            arguments = _value_at(value, (name,) if shape.name_is_key else shape.arguments)
            if isinstance(arguments, str):
                arguments = json.loads(arguments)
            yield Occurrence("call:json", start, stop, name, arguments, shape)


def json_arguments(replies: Sequence[str]) -> list[list[Occurrence]]:
    """Find all JSON objects, because each may be the arguments of a call named before it."""
    return [
        [Occurrence("args:json", start, stop, "", value) for start, stop, value in _objects(reply)]
        for reply in replies
    ]


def python_calls(replies: Sequence[str]) -> list[list[Occurrence]]:
    """Find Python calls with keyword arguments. The body is the text between the brackets."""
    return [_python_calls(reply) for reply in replies]


def _python_calls(reply: str) -> list[Occurrence]:
    calls: list[Occurrence] = []
    position = 0
    for match in _PYTHON.finditer(reply):
        if match.start() < position:
            continue
        for end in re.compile(r"\)").finditer(reply, match.end()):
            arguments = _keywords(reply[match.start() : end.end()])
            if arguments is not None:
                body = (match.end(), end.start())
                calls.append(Occurrence("args:python", *body, "", arguments))
                position = end.end()
                break
    return calls


def parameters(pattern: re.Pattern[str]) -> Finder:
    """Return a finder of parameters that match `pattern`, with only white space between them."""

    def find(replies: Sequence[str]) -> list[list[Occurrence]]:
        rows = [_adjacent_matches(reply, pattern) for reply in replies]
        between = next(
            (
                reply[row[0].end() : row[1].start()]
                for reply, reply_rows in zip(replies, rows, strict=True)
                for row in reply_rows
                if len(row) > 1
            ),
            "",
        )
        follows = all(
            reply.startswith(between, row[-1].end())
            for reply, reply_rows in zip(replies, rows, strict=True)
            for row in reply_rows
        )
        tail = between if follows else ""  # text that ends every parameter, also the last
        return [[_of_parameters(row, tail) for row in reply_rows] for reply_rows in rows]

    return find


_KEY: Final = r"(?P<key>[A-Za-z_][\w.-]{0,79})"
_VALUE: Final = r"(?P<value>.*?)"
# The value contains no other opener, so of two nested tags that match, the inner is the parameter.
_IN_EQUAL: Final = r"(?P<value>(?:(?!<[\w|:.-]+=).)*?)"
_IN_ATTRIBUTE: Final = r"(?P<value>(?:(?!<[\w|:.-]+ [\w-]+=\").)*?)"
_PARAMETER_PATTERNS: Final = (
    rf"<(?P<tag>[\w|:.-]+)=\"?{_KEY}\"?>(?P<lead>\n?){_IN_EQUAL}(?P=lead)</(?P=tag)>",
    rf"<(?P<tag>[\w|:.-]+) [\w-]+=\"{_KEY}\">(?P<lead>\n?){_IN_ATTRIBUTE}(?P=lead)</(?P=tag)>",
    rf"<(?P<tag>[\w|:.-]+)>{_KEY}</(?P=tag)>\s*<(?P<other>[\w|:.-]+)>{_VALUE}</(?P=other)>",
    rf"<{_KEY}>(?P<lead>\n?)(?P<value>[^<]*?)(?P=lead)</(?P=key)>",
    rf"\[{_KEY}\](?P<lead>\n?){_VALUE}(?P=lead)\[/(?P=key)\]",
    rf"\{{\{{{_KEY}\}}\}}(?P<lead>\n?){_VALUE}(?P=lead)\{{\{{/(?P=key)\}}\}}",
    rf"(?m)^[@#$%*+>-]?[ ]?{_KEY} ?(?::=|=>|->|[:=|]) ?(?P<value>[^\n]*)\n",
)
FINDERS: Final[tuple[Finder, ...]] = (
    json_calls,
    json_arguments,
    python_calls,
    *(parameters(re.compile(kind, re.DOTALL)) for kind in _PARAMETER_PATTERNS),
)


# JSON


def _objects(reply: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield the outermost JSON objects in order: start, stop and value."""
    position = 0
    for match in re.compile(r"\{").finditer(reply):
        if match.start() < position:
            continue
        try:
            value, stop = _DECODER.raw_decode(reply, match.start())
        except (ValueError, RecursionError):
            continue
        position = stop
        if isinstance(value, dict):
            yield match.start(), stop, value


def _shape(value: dict[str, Any]) -> JsonShape | None:
    """Return the shape of a call, with name and arguments at most one level down, or None."""
    if len(value) == 1:
        ((key, inner),) = value.items()
        if not isinstance(inner, dict) or not _NAME.fullmatch(key):
            return None
        inner_members = _members(inner)
        return inner_members and _json_shape((key,), *inner_members) or JsonShape(name_is_key=True)
    direct = _members(value)
    if direct:
        return _json_shape((), *direct)
    for key, inner in value.items():  # OpenAI's: {"type": …, "function": {"name": …}}
        inner_members = _members(inner) if isinstance(inner, dict) else None
        if inner_members:
            constants = [(k, v) for k, v in value.items() if isinstance(v, str)]
            return _json_shape((key,), *inner_members, constants=constants)
    return None


def _members(value: dict[str, Any]) -> tuple[str, str, bool] | None:
    """Return the keys of name and arguments, and True if the arguments are JSON in a string. Return
    None without such keys."""
    texts = [k for k, v in value.items() if isinstance(v, str) and _NAME.fullmatch(v)]
    name_keys = [key for key in _NAME_KEYS if key in texts] or (texts if len(texts) == 1 else [])
    objects = [k for k, v in value.items() if isinstance(v, dict)]
    encoded = [k for k, v in value.items() if isinstance(v, str) and _is_object(v)]
    if name_keys and len(objects) == 1 and len(value) <= 4:
        return name_keys[0], objects[0], False
    if name_keys and not objects and len(encoded) == 1:
        return name_keys[0], encoded[0], True
    return None


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict) if text.startswith("{") else False
    except ValueError:
        return False


def _json_shape(
    path: tuple[str, ...],
    name: str,
    arguments: str,
    as_text: bool,
    constants: list[tuple[str, str]] | None = None,
) -> JsonShape:
    return JsonShape(
        name=(*path, name),
        arguments=(*path, arguments),
        aliases=tuple(dict.fromkeys((arguments, *JsonShape().aliases))),
        constants=tuple(constants or ()),
        arguments_as_text=as_text,
    )


def _value_at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


# Python


def _keywords(text: str) -> dict[str, Any] | None:
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            return None
        return {k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


# parameters


def _adjacent_matches(reply: str, pattern: re.Pattern[str]) -> list[list[re.Match[str]]]:
    rows: list[list[re.Match[str]]] = []
    for match in pattern.finditer(reply):
        if rows and not reply[rows[-1][-1].end() : match.start()].strip():
            rows[-1].append(match)
        else:
            rows.append([match])
    return rows


def _of_parameters(row: list[re.Match[str]], between: str) -> Occurrence:
    first, last = row[0], row[-1]
    arguments = {match["key"]: match["value"] for match in row}
    stop = last.end() + len(between)
    return Occurrence("params", first.start(), stop, "", arguments, param=_template(first, between))


def _template(match: re.Match[str], between: str) -> str:
    """Return the declaration of a parameter, with holes in place of its key and its value."""
    text, offset = match[0], match.start()
    key, value = match.span("key"), match.span("value")
    before, mid = text[: key[0] - offset], text[key[1] - offset : value[0] - offset]
    after = text[value[1] - offset :].replace(match["key"], "\0") + between
    before, mid, after = (
        part.replace("{", "{{").replace("}", "}}") for part in (before, mid, after)
    )
    return f"{before}{{key}}{mid}{{value}}{after}".replace("\0", "{key}")
