"""Unwrap pasted text: from a `curl` command, Python source, a fence, a log.

Nothing is run. A command is split into words as a shell does; source is parsed to a syntax tree.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from textwrap import dedent
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.python_source import module
from playground.base.registry import load, plugins

MOST_SOURCE: Final = 2_000_000  # characters: a syntax tree takes a hundred times as much memory
# A command: after `curl` comes an option, a quote or an address, not prose.
_CURL: Final = re.compile(
    r"""\s*(?:[$>%]\s+)?curl(?:\.exe)?\s+(?:\\\r?\n\s*)?(?:-|['"$^]|\w+://|[\w-]+(?:\.\w+)*[:/])"""
)
_CARETS: Final = re.compile(r"\^(?:\r?\n([\s\S])|([^\r\n]))")  # escapes of Windows' shell
_WORD: Final = re.compile(
    r"""(?P<blank>(?:\s|\\\r?\n)+)
      | '(?P<single>[^']*)'
      | \$'(?P<escaped>(?:\\.|[^'\\])*)'
      | "(?P<double>(?:\\.|[^"\\])*)"
      | (?P<bare>(?:\\.|[^\s'"\\$]+|\$(?!'))+)
      | (?P<broken>['"\\])""",
    re.DOTALL | re.VERBOSE,
)
_BODY: Final = ("-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json")  # of curl
_SOURCE: Final = re.compile(r"\s*(?:[{\[(#]|(?:from|import|with|async|await)\s|\w[\w.]*\s*[=(:])")
_PARTS: Final = ("model", "system", "messages", "contents", "input", "prompt", "tools")
_ESCAPES: Final = dict(zip("abtnvfreE", "\a\b\t\n\v\f\r\x1b\x1b", strict=True))
# A line of a server-sent event, after a logger's prefix: a time, a level, a name.
_LOGGED: Final = re.compile(r"[^{\n]{1,200}?\b(data: ?(?:\{.*|\[DONE\]))")
_BACKSLASH: Final = re.compile(
    r"\\(?:(?:u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|x([0-9a-fA-F]{1,2}))|([0-7]{1,3})|(.))",
    re.DOTALL,
)


@dataclass(frozen=True)
class Unwrapped:
    """A document without its wrapping, which `wrapping` names; `unread` lists the losses. If
    `is_whole`, only headers may be lost, so a receipt can be computed from the document."""

    text: str
    wrapping: str
    unread: tuple[str, ...] = ()
    is_whole: bool = False


def unwrapped(text: str) -> Unwrapped | None:
    """Return the document in a log, a fence, a command or source; None if there is no wrapping.

    Raises InputFault if a `curl` command has no body that can be read.
    """
    if stream := logged_stream(text):
        return stream
    fence = in_a_fence(text)
    if fence is not None:
        return _unwrap(fence[1]) or Unwrapped(fence[1], "a code fence")
    return _unwrap(text)


def logged_stream(text: str) -> Unwrapped | None:
    """Return the server-sent events in a log, without the log's prefixes. Return None if a line is
    not an event, if the first line has no prefix, or if there is only one line."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or lines[0].startswith("data:"):
        return None
    events = [match[1] for match in map(_LOGGED.fullmatch, lines) if match]
    return Unwrapped("\n\n".join(events) + "\n\n", "a log") if len(events) == len(lines) else None


def in_a_fence(text: str) -> tuple[str, str] | None:
    """Return the word after the opening fence, and the content, if a text is one code fence."""
    first, _, rest = text.strip().partition("\n")
    if not first.startswith("```") or not rest.endswith("```") or rest.count("```") > 1:
        return None
    return first[3:].strip(), rest.removesuffix("```").removesuffix("\n")


def _unwrap(text: str) -> Unwrapped | None:
    if _CURL.match(text):
        return _of_curl(text)
    if _is_json(text) or len(text) > MOST_SOURCE:
        return None
    for target in (each for plugin in plugins().values() for each in plugin.unwrappers):
        own: Unwrapped | None = load(target)(text)
        if own is not None:
            return own
    return _of_source(text) if _SOURCE.match(text) else None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


# curl


def _of_curl(text: str) -> Unwrapped:
    from playground.sessions.shapes.exchanges import model_in

    if '^"' in text:  # a browser wrote it for Windows' shell
        text = _CARETS.sub(lambda match: match[1] or match[2], text)
    words = list(_words(text))
    body: list[str] = []
    headers, model = 0, ""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        model = model or ("" if re.search(r"[\s{]", word) else model_in(word))
        headers += word in ("-H", "--header", "-u", "--user") or name == "--header"
        if word in _BODY:
            body.append(following)
        elif name in _BODY[1:] and equals:
            body.append(value)
        elif word.startswith("-d") and len(word) > 2:
            body.append(word[2:])
    if not body:
        raise InputFault("it sends no body", where="the curl command", expected="-d '{…}'")
    if body[0].startswith("@"):
        problem = "its body is only the name of a file"
        raise InputFault(problem, where="the curl command", expected="the file's text")
    count = "a header was" if headers == 1 else f"{headers} headers were"
    unread = (f"{count} left out, so no API key is kept",) if headers else ()
    return Unwrapped(_with_model("&".join(body), model), "curl", unread, is_whole=True)


def _with_model(body: str, model: str) -> str:
    """Return the JSON of a body with the address's model added, unless the body names a model."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body
    if not model or not isinstance(value, dict) or not value or "model" in value:
        return body
    start = body.index("{") + 1
    return f'{body[:start]}"model": {json.dumps(model)}, {body[start:]}'


def _words(text: str) -> Iterator[str]:
    """Yield the words of a command, as a POSIX shell does. Raises InputFault for an open quote."""
    pieces: list[str] = []
    place = 0
    while place < len(text):
        match = _WORD.match(text, place)
        if match is None or match.lastgroup == "broken":
            line = text.count("\n", 0, place) + 1
            raise InputFault("a quote that does not end", where="the curl command", line=line)
        place = match.end()
        if match.lastgroup == "blank":
            if pieces:
                yield "".join(pieces)
            pieces = []
        else:
            pieces.append(_UNQUOTED[str(match.lastgroup)](match[str(match.lastgroup)]))
    if pieces:
        yield "".join(pieces)


def _dollar_quoted(text: str) -> str:
    """Decode `$'…'` like bash; browsers write it for a body with quotes."""

    def unescape(match: re.Match[str]) -> str:
        code = match[1] or match[2] or match[3]
        number = int(code, 16) if code else int(match[4], 8) if match[4] else None
        if number is None:
            return _ESCAPES.get(match[5], match[5] if match[5] in "\\'\"?" else match[0])
        return chr(number) if number <= sys.maxunicode else match[0]

    plain = _BACKSLASH.sub(unescape, text)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_UNQUOTED: Final[dict[str, Callable[[str], str]]] = {
    "single": str,
    "escaped": _dollar_quoted,
    "double": lambda text: re.sub(r'\\([$`"\\]|\r?\n)', lambda m: m[1].strip("\r\n"), text),
    "bare": lambda text: re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL),
}


# Python


def _of_source(text: str) -> Unwrapped | None:
    """Return the values in Python source: the arguments of a request, or assigned values."""
    try:
        values = _Values(module(dedent(text)))
        value = values.request_arguments() or values.assigned_values()
        if value is None:
            return None
        return Unwrapped(json.dumps(value, ensure_ascii=False), "Python", tuple(values.unread))
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return None


def _are_of_request(keywords: set[str | None]) -> bool:
    """Return True if a call's keywords are those of a request to a model. `input` and `prompt` only
    count beside `model`, because other functions have them, too."""
    has_text = bool(keywords & {"input", "prompt"})
    return bool(keywords & {"messages", "contents", "json"}) or (has_text and "model" in keywords)


class _NoValue(Exception):
    """Raised for a value that is not a literal: a call or an imported name, for example."""


class _Values:
    """The literals of a module; the lines of other values are noted in `unread`."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.unread: list[str] = []
        self._names: dict[str, Any] = {}
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                value = self._value_or_none(node.value)
                if value and isinstance(value, dict | list | str):
                    self._names[node.targets[0].id] = value

    def request_arguments(self) -> Any:
        """Return the keyword arguments of a model's request; None if there is no such call."""
        earlier, self.unread = self.unread, []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and _are_of_request({k.arg for k in node.keywords}):
                values = {k.arg: self._value_or_none(k.value) for k in node.keywords if k.arg}
                values = {key: value for key, value in values.items() if value is not None}
                inner = values.get("json")
                return inner if isinstance(inner, dict) else values
        self.unread = earlier
        return None

    def assigned_values(self) -> Any:
        """Return the variables named like a request's fields, else the first variable that is not a
        text. Without variables, return the only expression if it is a dict or list."""
        if parts := {key: value for key, value in self._names.items() if key in _PARTS}:
            return parts
        if self._names:
            return next((v for v in self._names.values() if not isinstance(v, str)), None)
        if len(self.tree.body) == 1 and isinstance(self.tree.body[0], ast.Expr):
            value = self._value_or_none(self.tree.body[0].value)
            return value if value and isinstance(value, dict | list) else None
        return None

    def _value_or_none(self, node: ast.expr) -> Any:
        try:
            return self._value(node)
        except _NoValue:
            return None

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=str() | int() | float() | None):
                return node.value
            case ast.List() | ast.Tuple():
                return self._items(node.elts)
            case ast.Dict():
                return self._pairs(node)
            case ast.Name(id=name) if name in self._names:
                return self._names[name]
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return -number
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                sides = self._value(left), self._value(right)
                if all(isinstance(side, str) for side in sides):
                    return "".join(sides)
        self.unread.append(f"line {node.lineno}: left out, because it is not a literal value")
        raise _NoValue

    def _items(self, nodes: list[ast.expr]) -> list[Any]:
        values = map(self._value_or_none, nodes)
        return [value for value in values if value is not None]

    def _pairs(self, node: ast.Dict) -> dict[str, Any]:
        pairs: dict[str, Any] = {}
        for key, value_node in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant):
                count = len(self.unread)
                value = self._value_or_none(value_node)
                if value is not None or len(self.unread) == count:  # the source has None
                    pairs[str(key.value)] = value
        return pairs
