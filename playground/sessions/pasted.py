"""Unwrap pasted text: from a `curl` command, Python source, a fence, a log.

Nothing is run: a command is split as a shell would split it, source is read by its syntax tree.
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

MOST_SOURCE: Final = 2_000_000  # characters: a syntax tree takes a hundred times its text's room
# A command, and no sentence about one: an option, a quote or an address comes next.
_CURL: Final = re.compile(
    r"""\s*(?:[$>%]\s+)?curl(?:\.exe)?\s+(?:\\\r?\n\s*)?(?:-|['"$^]|\w+://|[\w-]+(?:\.\w+)*[:/])"""
)
_CARETS: Final = re.compile(r"\^(?:\r?\n([\s\S])|([^\r\n]))")  # what escapes in Windows' shell
_WORD: Final = re.compile(
    r"""(?P<blank>(?:\s|\\\r?\n)+)
      | '(?P<single>[^']*)'
      | \$'(?P<escaped>(?:\\.|[^'\\])*)'
      | "(?P<double>(?:\\.|[^"\\])*)"
      | (?P<bare>(?:\\.|[^\s'"\\$]+|\$(?!'))+)
      | (?P<broken>['"\\])""",
    re.DOTALL | re.VERBOSE,
)
_BODY: Final = ("-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json")
_SOURCE: Final = re.compile(r"\s*(?:[{\[(#]|(?:from|import|with|async|await)\s|\w[\w.]*\s*[=(:])")
_PARTS: Final = ("model", "system", "messages", "contents", "input", "prompt", "tools")
_ESCAPES: Final = dict(zip("abtnvfreE", "\a\b\t\n\v\f\r\x1b\x1b", strict=True))
# A line of a server-sent event behind what a logger puts before each: a time, a level, a name.
_LOGGED: Final = re.compile(r"[^{\n]{1,200}?\b(data: ?(?:\{.*|\[DONE\]))")
_BACKSLASH: Final = re.compile(
    r"\\(?:(?:u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|x([0-9a-fA-F]{1,2}))|([0-7]{1,3})|(.))",
    re.DOTALL,
)


@dataclass(frozen=True)
class Unwrapped:
    """A document out of its wrapping: `wrapping` in words, `unread` what of it was left out."""

    text: str
    wrapping: str
    unread: tuple[str, ...] = ()


def unwrapped(text: str) -> Unwrapped | None:
    """Return the document in a command, in source or in a fence; None where there is no wrapping.

    Raises InputFault where there is one, and nothing in it can be read.
    """
    if logged := logged_stream(text):
        return logged
    fenced = in_a_fence(text)
    if fenced is not None:
        inside = fenced[1]
        return _out_of(inside) or Unwrapped(inside, "a code fence")
    return _out_of(text)


def logged_stream(text: str) -> Unwrapped | None:
    """Return the server-sent events of a log, each behind what its logger wrote before it; None
    where a line is none of them.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or lines[0].startswith("data:"):
        return None
    found = [_LOGGED.fullmatch(line) for line in lines]
    events = [event[1] for event in found if event]
    return Unwrapped("\n\n".join(events) + "\n\n", "a log") if len(events) == len(lines) else None


def in_a_fence(text: str) -> tuple[str, str] | None:
    """Return the word at, and the text in, the one fence that is the whole text; None where it is
    not.
    """
    lines = text.strip()
    first, _, rest = lines.partition("\n")
    if not first.startswith("```") or not rest.endswith("```") or rest.count("```") > 1:
        return None
    return first[3:].strip(), rest.removesuffix("```").removesuffix("\n")


def _out_of(text: str) -> Unwrapped | None:
    if _CURL.match(text):
        return _of_curl(text)
    if _is_json(text) or not _SOURCE.match(text) or len(text) > MOST_SOURCE:
        return None
    return _of_source(text)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


# curl


def _of_curl(text: str) -> Unwrapped:
    if '^"' in text:  # as browsers write it for Windows' shell
        text = _CARETS.sub(lambda found: found[1] or found[2], text)
    words = list(_words(text))
    body: list[str] = []
    headers = 0
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.partition("=")
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
        named = "it names a file as its body, and not what is in it"
        raise InputFault(named, where="the curl command", expected="the file's text")
    count = "a header was" if headers == 1 else f"{headers} headers were"
    left = (f"{count} left out, with any key",) if headers else ()
    return Unwrapped("&".join(body), "curl", left)


def _words(text: str) -> Iterator[str]:
    """Yield the words of a command as a POSIX shell splits them. Raises InputFault for an open
    quote.
    """
    pieces: list[str] = []
    place = 0
    while place < len(text):
        found = _WORD.match(text, place)
        if found is None or found.lastgroup == "broken":
            line = text.count("\n", 0, place) + 1
            raise InputFault("a quote that does not end", where="the curl command", line=line)
        place = found.end()
        if found.lastgroup == "blank":
            if pieces:
                yield "".join(pieces)
            pieces = []
        else:
            pieces.append(_UNQUOTED[str(found.lastgroup)](found[str(found.lastgroup)]))
    if pieces:
        yield "".join(pieces)


def _dollar_quoted(text: str) -> str:
    """Decode `$'…'` as bash does; browsers write it for a body that holds quotes."""

    def one(found: re.Match[str]) -> str:
        code = found[1] or found[2] or found[3]
        number = int(code, 16) if code else int(found[4], 8) if found[4] else None
        if number is None:
            return _ESCAPES.get(found[5], found[5] if found[5] in "\\'\"?" else found[0])
        return chr(number) if number <= sys.maxunicode else found[0]

    plain = _BACKSLASH.sub(one, text)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_UNQUOTED: Final[dict[str, Callable[[str], str]]] = {
    "single": str,
    "escaped": _dollar_quoted,
    "double": lambda text: re.sub(r'\\([$`"\\]|\r?\n)', lambda m: m[1].strip("\r\n"), text),
    "bare": lambda text: re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL),
}


# Python


def _of_source(text: str) -> Unwrapped | None:
    """Return the values that Python source writes out: a request's arguments, or what it
    assigns.
    """
    try:
        tree = module(dedent(text))
        values = _Values(tree)
        found = values.asked() or values.assigned()
        if found is None:
            return None
        return Unwrapped(json.dumps(found, ensure_ascii=False), "Python", tuple(values.unread))
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return None


def _asks(keywords: set[str | None]) -> bool:
    """Return True if a call's keywords are a request's; a tool's call may have an `input`."""
    said = keywords & {"input", "prompt"}
    return bool(keywords & {"messages", "contents", "json"}) or (bool(said) and "model" in keywords)


class _NoValue(Exception):
    """A value that the source does not spell out, such as a call or a name from elsewhere."""


class _Values:
    """Literals of a module; what is none is left out, and its line noted in `unread`."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.unread: list[str] = []
        self._names: dict[str, Any] = {}
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                value = self._kept(node.value)
                if value and isinstance(value, dict | list | str):
                    self._names[node.targets[0].id] = value

    def asked(self) -> Any:
        """Return the keyword arguments of a call that asks a model; None where there is no such
        call.
        """
        noted, self.unread = self.unread, []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and _asks({k.arg for k in node.keywords}):
                given = {k.arg: self._kept(k.value) for k in node.keywords if k.arg}
                found = {key: value for key, value in given.items() if value is not None}
                inner = found.get("json")
                return inner if isinstance(inner, dict) else found
        self.unread = noted
        return None

    def assigned(self) -> Any:
        """Return one bare value, one assigned value, or the assigned parts of a request by name."""
        if parts := {key: value for key, value in self._names.items() if key in _PARTS}:
            return parts
        if self._names:
            return next((v for v in self._names.values() if not isinstance(v, str)), None)
        if len(self.tree.body) == 1 and isinstance(self.tree.body[0], ast.Expr):
            value = self._kept(self.tree.body[0].value)
            return value if value and isinstance(value, dict | list) else None
        return None

    def _kept(self, node: ast.expr) -> Any:
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
        self.unread.append(f"line {node.lineno}: not written out, so left out")
        raise _NoValue

    def _items(self, nodes: list[ast.expr]) -> list[Any]:
        kept = (self._kept(node) for node in nodes)
        return [value for value in kept if value is not None]

    def _pairs(self, node: ast.Dict) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant):
                before = len(self.unread)
                kept = self._kept(value)
                if kept is not None or len(self.unread) == before:
                    found[str(key.value)] = kept
        return found
