"""A reader of Python keyword arguments: literals only, nothing is evaluated.

A small reader takes what models write, and records if it tolerated a mistake: quotes that should
have been escaped, words without quotes, an object in place of the arguments, keywords as names, NUL
characters, line breaks in strings. Literals that it does not know (with prefixes, strings in a row,
hexadecimal numbers) are read by Python's own parser. grammars/well_formed.py says which literals
are plain: a call with any other has a finding.
"""

from __future__ import annotations

import ast
import keyword
import math
import re
import warnings
from contextlib import suppress
from typing import Any, Final

from playground.base.json_numbers import NotANumber, load_json, number_of
from playground.parsing.python_strings import closes

_CONSTANTS: Final = {"true": True, "false": False, "null": None}
_ALL_CONSTANTS: Final = _CONSTANTS | {"True": True, "False": False, "None": None}
# `nan` and `inf` are not literals of Python: models copy them from printed output
_NO_NUMBERS: Final = frozenset({"NaN", "Infinity", "nan", "inf"})
_RELAXED: Final = "relaxed-python"
_SPACE: Final = re.compile(r"\s*")
_NAME: Final = re.compile(r"[^\W\d]\w*")
_NUMBER: Final = re.compile(r"[+\-]?(?:\s*[\d.][\w.+\-]*|(?:Infinity|inf|NaN|nan)\b)")
PLAIN_NUMBER: Final = (
    r"(?:-[ \t\r\n]*)?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+\-]?[0-9]+)?"
)
_PLAIN: Final = re.compile(PLAIN_NUMBER)
# words up to the next argument; not brackets, quotes or operators, which expressions have
_WORDS: Final = re.compile(r"[^\W\d_][\w .:/@\-]*(?=\Z|,)")
# a string's text up to the next quote; a quote after a backslash does not count
_INSIDE: Final = {
    quote: re.compile(rf"(?s)[^{quote}\\]*(?:\\.[^{quote}\\]*)*(?={quote})") for quote in "\"'"
}
_ESCAPE: Final = re.compile(r"(?s)\\(.)")
_ESCAPES: Final = frozenset("\\'\"abfnrtvxuUN01234567\r\n")
_FOREIGN_ESCAPE: Final = re.compile(r"\\[^\x00-\xff]")


def read_keywords(text: str, is_call: bool = False) -> tuple[dict[str, Any], list[str]]:
    """Return keyword arguments as a dict, and the codes of findings.

    There are no findings if all values are plain literals of Python and no argument is given twice.
    JSON's true, false and null are read too. With `is_call` the text is certainly a call, not code
    in prose; then words without quotes, and an object in place of the arguments, are read as well.
    Raises ValueError if the text cannot be read, RecursionError if it is nested too deeply.
    """
    reader = _Reader(text, is_call)
    try:
        arguments = reader.keywords()
    except (ValueError, IndexError, OverflowError):
        try:
            return _parse_python(text), [_RELAXED]  # r'…' and the like are not plain
        except SyntaxError as error:
            raise ValueError(f"expected name='text' or the like, but {reader.place}") from error
    if reader.forgave:
        with suppress(ValueError, SyntaxError):
            arguments = _parse_python(text)
    is_plain = not (reader.forgave or reader.is_relaxed)
    return arguments, [_RELAXED] * (not is_plain) + ["duplicate-argument"] * reader.has_doubles


def read_literal(text: str) -> Any:
    """Return the value of one literal. Raises ValueError or RecursionError."""
    return read_keywords(f"it={text}")[0]["it"]


def _parse_python(text: str) -> dict[str, Any]:
    from playground.base.python_source import expression  # few replies write Python

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            source = f"f({text}\n)"
            call = expression(source)
    except MemoryError as error:
        raise ValueError(str(error)) from error
    if not isinstance(call, ast.Call) or call.args or not isinstance(call.func, ast.Name):
        raise ValueError("expected keyword arguments")
    return {
        _keyword(argument): _json_value(_literal(argument, source)) for argument in call.keywords
    }


def _literal(argument: ast.keyword, source: str) -> Any:
    try:
        return ast.literal_eval(_Constants(source).visit(argument.value))
    except ValueError as error:  # Python's message contains an address in memory
        raise ValueError(f"the value of {argument.arg} is not a literal") from error


def _json_value(value: Any) -> Any:
    """Return a literal as a JSON value: tuples become lists; sets, bytes and the like are
    refused."""
    match value:
        case list() | tuple():
            return [_json_value(item) for item in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: _json_value(item) for key, item in value.items()}
        case None | bool() | int() | float() | str():
            return value
    raise ValueError(f"{value!r:.40} is not a JSON value")


def _keyword(argument: ast.keyword) -> str:
    if argument.arg is None:
        raise ValueError("** is not an argument")
    return argument.arg


class _Constants(ast.NodeTransformer):
    """A transformer that replaces JSON's words by their values, and numbers that JSON does not have
    by their text."""

    def __init__(self, source: str) -> None:
        self._source = source

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in _NO_NUMBERS:
            return ast.Constant(NotANumber(node.id))
        return ast.Constant(_CONSTANTS[node.id]) if node.id in _CONSTANTS else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        operand = self.visit(node.operand)
        is_not_a_number = isinstance(operand, ast.Constant) and isinstance(
            operand.value, NotANumber
        )
        return self._as_text(node) if is_not_a_number else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        overflows = isinstance(node.value, float) and math.isinf(node.value)
        return self._as_text(node) if overflows else node

    def _as_text(self, node: ast.expr) -> ast.Constant:
        return ast.Constant(NotANumber(ast.get_source_segment(self._source, node) or "Infinity"))


class _Reader:
    """A reader of the arguments of one call. `forgave` is True once it has accepted something that
    Python may read in another way, or not at all. python_strings.py says where strings end."""

    def __init__(self, text: str, is_call: bool) -> None:
        self.text, self.at, self.is_call = text, 0, is_call
        self.forgave = "\0" in text
        # True if a value is not a plain literal but clear: `true`, a tuple, an odd escape or number
        self.is_relaxed = False
        self.has_doubles = False  # True if an argument is given twice

    def keywords(self) -> dict[str, Any]:
        arguments = self._object()
        while self._skip_space():
            name = self._key()
            self.forgave |= keyword.iskeyword(name) or not name.isidentifier()
            self.has_doubles |= name in arguments
            arguments[name] = self._value(0)
            if not self._skip_space():
                break
            self._expect(",")
        return arguments

    def _key(self) -> str:
        """Return a keyword. In a call it may come before a colon, as in JSON."""
        name = self._take(_NAME)
        char = self._next()
        if char == ":" and self.is_call:
            self.forgave = True
        elif char != "=":
            raise ValueError(f"expected '=' at character {self.at}")
        self.at += 1
        return name

    @property
    def place(self) -> str:
        """The place at which reading stopped, described by the text before and after it."""
        before, rest = self.text[: self.at][-24:].strip(), self.text[self.at :][:24].strip()
        following = f"{rest!r} follows" if rest else "the arguments end"
        return f"after {before!r}, {following}" if before else following

    def _object(self) -> dict[str, Any]:
        """Return all arguments from one object, as in `f({"a": 1})` or `f(**{"a": 1})`; {} if there
        is none.

        Models that know JSON better write such calls.
        """
        begins_object = self._skip_space() and self.text.startswith(("{", "**"), self.at)
        if not begins_object or not self.is_call:
            return {}
        self.forgave = True
        self.at += 2 * (self.text[self.at] == "*")
        rest = self.text[self.at :].strip()
        try:
            arguments = load_json(rest)
        except ValueError:
            self._next()
            return self._members(1)
        if not isinstance(arguments, dict):
            raise ValueError("expected keyword arguments, or an object")
        self.at = len(self.text)
        return arguments

    def _skip_space(self) -> bool:
        """Skip white space; return True if anything follows."""
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at < len(self.text)

    def _next(self) -> str:
        """Return the next character after white space. Raises IndexError at the end of the text."""
        self._skip_space()
        return self.text[self.at]

    def _take(self, pattern: re.Pattern[str]) -> str:
        self._next()
        match = pattern.match(self.text, self.at)
        if match is None:
            raise ValueError(f"unexpected {self.text[self.at]!r} at character {self.at}")
        self.at = match.end()
        return match[0]

    def _expect(self, char: str) -> None:
        if self._next() != char:
            raise ValueError(f"expected {char!r} at character {self.at}")
        self.at += 1

    def _value(self, depth: int) -> Any:
        char = self._next()
        if char in "\"'":
            return self._string(char, depth)
        if char in "[(":
            self.is_relaxed |= char == "("
            return self._items({"[": "]", "(": ")"}[char], depth + 1)
        if char == "{":
            return self._members(depth + 1)
        if char.isalpha():
            return self._word(depth)
        number = self._take(_NUMBER)
        self.is_relaxed |= _PLAIN.fullmatch(number) is None
        return number_of("".join(number.split()))

    def _word(self, depth: int) -> Any:
        """Return a constant, or, outside of brackets (`depth` 0), a text without quotes."""
        start, word = self.at, self._take(_NAME)
        text = _WORDS.match(self.text, start)
        self.is_relaxed |= word in _CONSTANTS
        is_constant = word in _ALL_CONSTANTS or word in _NO_NUMBERS
        if depth or not self.is_call or text is None or (is_constant and text[0].strip() == word):
            return _constant(word)
        self.at, self.forgave = text.end(), True
        return text[0].strip()

    def _string(self, quote: str, depth: int) -> str:
        start = stop = self.at = self.at + 1
        first = True
        while match := _INSIDE[quote].match(self.text, self.at):
            stop = match.end()
            self.at = stop + 1
            if closes(self.text, self.at, depth, first):
                has_break = self.text.find("\n", start, stop) >= 0
                self.forgave |= has_break or self.text.find("\r", start, stop) >= 0
                if self.text.find("\\", start, stop) < 0:
                    return self.text[start:stop]
                escapes = _ESCAPE.findall(self.text, start, stop)
                self.is_relaxed |= not _ESCAPES.issuperset(escapes)
                return _unescape(self.text, start, stop)
            self.forgave, first = True, False
        # the string never ends: reading stops after its last backslash escape, or at its last quote
        for match in re.finditer(r"(?s)\\.?", self.text[self.at :]):
            stop = self.at + match.end()
        self.at = max(self.at, stop)
        raise ValueError("a string is never closed")

    def _items(self, closer: str, depth: int) -> Any:
        self.at += 1
        items: list[Any] = []
        comma = closer == "]"  # a single item in parentheses is the item itself
        while self._next() != closer:
            items.append(self._value(depth))
            comma |= self._comma(closer)
        self.at += 1
        return items if comma or not items else items[0]

    def _comma(self, closer: str) -> bool:
        char = self._next()
        if char not in (",", closer):
            raise ValueError(f"expected a comma at character {self.at}")
        self.at += char == ","
        return char == ","

    def _members(self, depth: int) -> dict[str, Any]:
        self.at += 1
        members: dict[str, Any] = {}
        while (char := self._next()) != "}":
            if char not in "\"'":
                raise ValueError(f"expected a key in quotes at character {self.at}")
            key = self._string(char, depth)
            self._expect(":")
            members[key] = self._value(depth)
            self._comma("}")
        self.at += 1
        return members


def _constant(word: str) -> Any:
    if word in _NO_NUMBERS:
        return NotANumber(word)
    if word not in _ALL_CONSTANTS:
        raise ValueError(f"{word} is not a literal")
    return _ALL_CONSTANTS[word]


def _unescape(text: str, start: int, stop: int) -> str:
    """Return a string's inside with its escapes read as Python reads them.

    The text may be long: this takes one pass, and at most two copies of it.
    """
    if _FOREIGN_ESCAPE.search(text, start, stop):
        raise ValueError("a backslash before a letter beyond Latin-1 is left to Python")
    with warnings.catch_warnings():  # about escapes such as "\\d"
        warnings.simplefilter("ignore")
        return text[start:stop].encode("latin-1", "backslashreplace").decode("unicode_escape")
