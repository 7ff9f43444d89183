"""Ways to write values in a grammar: JSON, Python literals, texts between marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.parsing.grammars.characters import ALL, CONTROL, HEX, NONE, CharacterSet, characters
from playground.parsing.grammars.expressions import (
    EMPTY,
    IMPOSSIBLE,
    Either,
    Exact,
    Expression,
    FreeText,
    InOrder,
    OneOf,
    Repeated,
    Token,
    either,
    in_order,
    optional,
    repeat,
    token,
)
from playground.parsing.grammars.texts import ANY, JSON_TEXT
from playground.parsing.notations import marked_values
from playground.parsing.values import dump_json

_HEX: Final = OneOf(HEX)
_NO_HALF: Final = either(  # four hexadecimal digits that are not half a surrogate pair
    [
        in_order(OneOf(HEX - characters("dD")), repeat(_HEX, 3, 3)),
        in_order(OneOf(characters("dD")), OneOf(characters("0-7")), repeat(_HEX, 2, 2)),
    ]
)
# at most sixteen levels of four blanks, because models may write blanks without an end
_LINE_BREAK: Final = token(in_order("\n", repeat(OneOf(characters(" ")), 0, 64)))
_SHORT: Final = {"\n": "n", "\r": "r", "\t": "t"}
_JSON_SHORT: Final = _SHORT | {"\b": "b", "\f": "f"}


@dataclass(frozen=True)
class Quotes:
    """A way to write a text: the marks around it, and the characters that are escaped inside."""

    open: str
    close: str
    escaped: CharacterSet
    short: tuple[tuple[str, str], ...]
    long: str = ""
    """The letter that begins an escape by code point, as in `\\u00e9`; "" without such escapes."""
    forbidden: CharacterSet = NONE
    """The characters that no text may contain, not even escaped."""

    def unit(self, of: CharacterSet) -> Expression:
        """Build one character of a set, as it is written."""
        ways: list[Expression] = []
        if plain := of - self.escaped - self.forbidden:
            ways.append(OneOf(plain))
        if self.long:
            ways += self._escapes(of)
        return either(ways)

    def _escapes(self, of: CharacterSet) -> list[Expression]:
        escaped = (of & self.escaped) - self.forbidden
        if of == ALL and not self.forbidden:
            letters = "".join(letter for _, letter in self.short)
            return [in_order("\\", either([OneOf(characters(letters)), in_order("u", _NO_HALF)]))]
        short = dict(self.short)
        return [
            Exact("\\" + (short.get(chr(number)) or self._numbered(number)))
            for first, last in escaped.ranges
            for number in range(first, last + 1)
        ]

    def _numbered(self, number: int) -> str:
        return f"u00{number:02x}" if self.long == "u" else f"x{number:02x}"


def _quotes(mark: str, short: dict[str, str], long: str, without: Sequence[str]) -> Quotes:
    """Return quotes with escapes. In texts of limited length, no character may begin one of the
    words `without`."""
    escapes = tuple({mark: mark, "\\": "\\", **short}.items())
    forbidden = characters("".join(word[0] for word in without))
    return Quotes(mark, mark, CONTROL | characters(mark, "\\"), escapes, long, forbidden)


@dataclass(frozen=True)
class Style:
    """A way to write values. A model may leave out the blanks that the dialect writes."""

    name: str
    words: tuple[str, str, str]
    """null, true and false."""
    quotes: tuple[Quotes, ...]
    any_text: Expression
    constant: Callable[[Any], str]
    """Writes a value that the schema or the call's form fixes."""
    comma: Expression
    colon: Expression
    write_key: Callable[[str], str]
    any_key: Callable[[Sequence[str]], Expression]
    """Builds a key other than the given ones."""
    without: tuple[str, ...] = ()
    """Words that no text may contain, because the reader finds them inside of strings too."""
    in_text: bool = False
    """True if the values are inside a JSON string."""
    any_escape: bool = False
    """True if that string may also escape characters that need no escape."""
    edge: Expression = EMPTY
    """The white space inside a bracket."""
    last: Expression = EMPTY
    """The text that may follow the last member or item."""
    number: Expression | None = None
    """Any number, if it is written in another way than in JSON."""

    def within(self, opener: str, inside: Expression, closer: str) -> Expression:
        """Put brackets around something."""
        return in_order(opener, self.edge, inside, self.edge, closer)

    def as_written(self, expression: Expression) -> Expression:
        """Return an expression as it is written in the call: escaped if inside a JSON string."""
        return escape_for_json(expression, self.any_escape) if self.in_text else expression

    def key(self, name: str) -> Expression:
        """Build a member's key and its colon."""
        return in_order(self.write_key(name), self.colon)

    def text(self, inside: Callable[[Quotes], Expression] | None = None) -> Expression:
        """Build any text, or with `inside` the text that it makes for each kind of quotes."""
        if inside is None:
            return self.any_text
        return either(token(in_order(q.open, inside(q), q.close)) for q in self.quotes)

    def exactly(self, value: Any) -> Expression:
        """Build exactly this value; impossible if its text holds one of the words `without`."""
        text = self.constant(value)
        return IMPOSSIBLE if any(word in text for word in self.without) else Exact(text)


def json_style(without: Sequence[str] = (), in_text: bool = False, indented: bool = False) -> Style:
    """Return the style of JSON. `without` are words that no text may hold. `indented` JSON may
    be on one line too."""
    quotes = _quotes('"', _JSON_SHORT, "u", without)
    any_text: Expression = Token(in_order('"', repeat(_json_unit(quotes)), '"'))
    if without:
        any_text = in_order('"', FreeText(JSON_TEXT, tuple(without), '"'))
    chars = ALL - quotes.escaped - quotes.forbidden
    return Style(
        name="json",
        words=("null", "true", "false"),
        quotes=(quotes,),
        any_text=any_text,
        constant=dump_json,
        comma=in_order(",", optional(either([Exact(" "), _LINE_BREAK]) if indented else " ")),
        colon=in_order(":", optional(" ")),
        write_key=dump_json,
        any_key=lambda names: token(in_order('"', other_than(names, chars), '"')),
        without=tuple(without),
        in_text=in_text,
        edge=optional(_LINE_BREAK) if indented else EMPTY,
    )


def _json_unit(quotes: Quotes) -> Expression:
    """Build one character of any text; a half of a surrogate pair is an escape."""
    escape = either([OneOf(characters('"\\/bfnrt')), in_order("u", repeat(_HEX, 4, 4))])
    return either([OneOf(ALL - quotes.escaped), in_order("\\", escape)])


def python_style() -> Style:
    """Return the style of Python literals, their texts in single or double quotes."""
    quotes = tuple(_quotes(mark, _SHORT, "x", ()) for mark in "'\"")
    escape = either(
        [
            OneOf(characters("'\"\\nrt")),
            in_order("x", repeat(_HEX, 2, 2)),
            in_order("u", repeat(_HEX, 4, 4)),
        ]
    )
    escape = in_order("\\", escape)
    texts = (
        in_order(q.open, repeat(either([OneOf(ALL - q.escaped), escape])), q.close) for q in quotes
    )
    chars = ALL - quotes[0].escaped
    return Style(
        name="python",
        words=("None", "True", "False"),
        quotes=quotes,
        any_text=either(map(Token, texts)),
        constant=repr,
        comma=in_order(",", optional(" ")),
        colon=in_order(":", optional(" ")),
        write_key=repr,
        any_key=lambda names: token(in_order("'", other_than(names, chars), "'")),
    )


def marked_style(mark: str) -> Style:
    """Return the style of JSON with bare keys and texts between marks. Nothing is escaped, and
    there are no blanks."""
    first = characters(mark[0])
    return Style(
        name="marked",
        words=("null", "true", "false"),
        quotes=(Quotes(mark, mark, first, ()),),
        any_text=in_order(mark, FreeText(ANY, (mark,), mark)),
        constant=lambda value: marked_values.write(value, mark),
        comma=Exact(","),
        colon=Exact(":"),
        write_key=lambda key: marked_values.write_key(key, mark),
        any_key=lambda names: token(bare_key(names)),
    )


_LETTER: Final = characters("a-z", "A-Z", "_")
_WORD: Final = characters("a-z", "A-Z", "_", "0-9")


def bare_key(names: Sequence[str]) -> Expression:
    """Build an identifier that is none of the names."""
    return other_than(names, _WORD, _LETTER)


def other_than(
    words: Sequence[str], chars: CharacterSet, first: CharacterSet | None = None
) -> Expression:
    """Build a text of `chars` that is not empty and none of the words. With `first` it begins with
    one of those characters."""
    return _other_text([word for word in words if word], chars, first or chars, begun=False)


def _other_text(
    words: list[str], chars: CharacterSet, first: CharacterSet, begun: bool
) -> Expression:
    heads = dict.fromkeys(word[0] for word in words if word)
    more: list[Expression] = []
    if free := first - characters("".join(heads)):
        more.append(in_order(OneOf(free), repeat(OneOf(chars))))
    for head in heads:
        if head in first:
            rest = [word[1:] for word in words if word[:1] == head]
            more.append(in_order(head, _other_text(rest, chars, chars, begun=True)))
    ways = either(more)
    return optional(ways) if begun and "" not in words else ways


def escape_for_json(expression: Expression, any_escape: bool = False) -> Expression:
    """Return an expression of JSON as it is written inside a JSON string. With `any_escape`,
    characters that need no escape may be escaped too."""

    def escape(inside: Expression) -> Expression:
        return escape_for_json(inside, any_escape)

    match expression:
        case Exact(text) if any_escape:
            return in_order(*(escape(OneOf(characters(char))) for char in text))
        case Exact(text):
            return Exact(dump_json(text)[1:-1])
        case OneOf(of):
            unit = _quotes('"', _JSON_SHORT, "u", ()).unit(of)
            return either([unit, *_needless_escapes(of)]) if any_escape else unit
        case InOrder(items):
            return in_order(*map(escape, items))
        case Either(items):
            return either(map(escape, items))
        case Repeated(item, least, most):
            return repeat(escape(item), least, most)
        case Token(inside):
            return token(escape(inside))
        case _:
            return expression


def _needless_escapes(of: CharacterSet) -> Iterator[Expression]:
    """Yield the escapes of characters by their numbers, and that of a slash. `of` holds all
    characters above 255, or none of them."""
    if "/" in of:
        yield Exact("\\/")
    for head in range(16):
        digits = [f"{low:x}" for low in range(16) if chr(16 * head + low) in of]
        if ends := characters(*digits, *map(str.upper, digits)):
            yield in_order("\\u00", OneOf(characters(f"{head:x}", f"{head:X}")), OneOf(ends))
    if "\u0100" in of:
        high = OneOf(HEX - characters("0"))
        yield in_order("\\u", high, repeat(_HEX, 3, 3))
        yield in_order("\\u0", high, repeat(_HEX, 2, 2))
