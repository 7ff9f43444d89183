"""Split a template into tokens: text, and the parts of the actions between delimiters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from playground.plugins.systems.go_templates.tokens import (
    KEYWORDS,
    Kind,
    Token,
    is_word,
    quote_text,
    rune_name,
)

LEFT, RIGHT = "{{", "}}"
_SPACES: Final = " \t\r\n"
_TERMINATORS: Final = frozenset([*_SPACES, "", ".", ",", "|", ":", ")", "("])
_DIGITS: Final = {"x": "0123456789abcdefABCDEF_", "o": "01234567_", "b": "01_"}


_KINDS_BY_CHARACTER: Final = {"=": Kind.ASSIGN, "|": Kind.PIPE}


class Lexer:
    """A lexer that returns one token at a time; after an error it returns only EOF."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pos = self._start = 0
        self._line = self._start_line = 1
        self._in_action = False
        self._parens = 0

    def next_token(self) -> Token:
        while True:
            token = self._action() if self._in_action else self._lex_text()
            if token is not None:
                return token

    # characters

    def _peek(self) -> str:
        return self._text[self._pos : self._pos + 1]

    def _next(self) -> str:
        character = self._peek()
        self._pos += len(character)
        return character

    def _starts_with(self, text: str, offset: int = 0) -> bool:
        return self._text.startswith(text, self._pos + offset)

    def _token(self, kind: Kind) -> Token:
        """Return the text up to the current position as a token; begin the next token there."""
        token = Token(kind, self._start, self._text[self._start : self._pos], self._start_line)
        self._skip()
        return token

    def _skip(self) -> None:
        self._line += self._text.count("\n", self._start, self._pos)
        self._start, self._start_line = self._pos, self._line

    def _error(self, message: str) -> Token:
        token = Token(Kind.ERROR, self._start, message, self._start_line)
        self._text, self._pos, self._start, self._in_action = "", 0, 0, False
        return token

    def _accept(self, characters: str) -> bool:
        if (character := self._peek()) and character in characters:
            self._pos += 1
            return True
        return False

    def _accept_run(self, characters: str) -> None:
        while self._accept(characters):
            pass

    # between actions

    def _lex_text(self) -> Token | None:
        delimiter = self._text.find(LEFT, self._pos)
        if delimiter < 0:
            self._pos = len(self._text)
            return self._token(Kind.TEXT if self._pos > self._start else Kind.EOF)
        if delimiter > self._pos:
            end = delimiter
            if self._trims_left(delimiter + len(LEFT)):
                end = len(self._text[:delimiter].rstrip(_SPACES))
            self._pos = max(end, self._start)
            text = self._token(Kind.TEXT)
            self._pos = delimiter
            self._skip()
            if text.text:
                return text
        return self._left_delim()

    def _trims_left(self, at: int) -> bool:
        return self._text[at : at + 1] == "-" and self._text[at + 1 : at + 2] in tuple(_SPACES)

    def _left_delim(self) -> Token | None:
        self._pos += len(LEFT)
        marker = 2 if self._trims_left(self._pos) else 0
        if self._starts_with("/*", marker):
            self._pos += marker
            self._skip()
            return self._comment()
        token = self._token(Kind.LEFT_DELIM)
        self._in_action, self._parens = True, 0
        self._pos += marker
        self._skip()
        return token

    def _comment(self) -> Token | None:
        close = self._text.find("*/", self._pos + 2)
        if close < 0:
            return self._error("unclosed comment")
        self._pos = close + 2
        trims = self._trim_length()
        if trims is None:
            return self._error("comment ends before closing delimiter")
        self._pos += trims + len(RIGHT)
        if trims:
            self._skip_spaces()
        self._skip()
        return None

    def _skip_spaces(self) -> None:
        while (character := self._peek()) and character in _SPACES:
            self._pos += 1

    def _trim_length(self) -> int | None:
        """Return the length of the trim marker if a closing delimiter follows, otherwise None."""
        if self._peek() in tuple(_SPACES) and self._starts_with("-" + RIGHT, 1):
            return 2
        return 0 if self._starts_with(RIGHT) else None

    # inside an action

    def _action(self) -> Token | None:
        trims = self._trim_length()
        if trims is not None:
            return self._error("unclosed left paren") if self._parens else self._right_delim(trims)
        character = self._peek()
        if character in _KINDS_BY_CHARACTER:
            self._pos += 1
            return self._token(_KINDS_BY_CHARACTER[character])
        if character in _LEXERS_BY_CHARACTER:
            return _LEXERS_BY_CHARACTER[character](self)
        if is_word(character):
            return self._word()
        self._next()
        if character.isascii() and character.isprintable():
            return self._token(Kind.CHAR)
        return self._error(f"unrecognized character in action: {rune_name(character)}")

    def _right_delim(self, trims: int) -> Token:
        self._pos += trims
        self._skip()
        self._pos += len(RIGHT)
        token = self._token(Kind.RIGHT_DELIM)
        if trims:
            self._skip_spaces()
            self._skip()
        self._in_action = False
        return token

    def _end(self) -> Token:
        return self._error("unclosed action")

    def _space(self) -> Token:
        self._skip_spaces()
        if self._starts_with("-" + RIGHT):  # the last space is part of the trim marker
            self._pos -= 1
            if self._pos == self._start:
                return self._right_delim(2)
        return self._token(Kind.SPACE)

    def _colon(self) -> Token:
        self._pos += 1
        return self._error("expected :=") if self._next() != "=" else self._token(Kind.DECLARE)

    def _paren(self) -> Token:
        opens = self._next() == "("
        self._parens += 1 if opens else -1
        if self._parens < 0:
            return self._error("unexpected right paren")
        return self._token(Kind.LEFT_PAREN if opens else Kind.RIGHT_PAREN)

    def _is_terminated(self) -> bool:
        return self._peek() in _TERMINATORS or self._starts_with(RIGHT)

    def _field(self) -> Token:
        following = self._text[self._pos + 1 : self._pos + 2]
        # a dot at the end of the text is also read as a number
        if not following or "0" <= following <= "9":
            return self._number()
        return self._name(Kind.FIELD, Kind.DOT)

    def _variable(self) -> Token:
        return self._name(Kind.VARIABLE, Kind.VARIABLE)

    def _name(self, kind: Kind, alone: Kind) -> Token:
        self._pos += 1
        if self._is_terminated():
            return self._token(alone)
        while is_word(self._peek()):
            self._pos += 1
        if not self._is_terminated():
            return self._error(f"bad character {rune_name(self._peek())}")
        return self._token(kind)

    def _word(self) -> Token:
        while is_word(self._peek()):
            self._pos += 1
        if not self._is_terminated():
            return self._error(f"bad character {rune_name(self._peek())}")
        word = self._text[self._start : self._pos]
        if word in ("true", "false"):
            return self._token(Kind.BOOL)
        return self._token(KEYWORDS.get(word, Kind.IDENTIFIER))

    def _number(self) -> Token:
        good, kind = self._scan_number(), Kind.NUMBER
        if good and self._peek() and self._peek() in "+-":  # complex: 1+2i
            good = self._scan_number() and self._text[self._pos - 1] == "i"
            kind = Kind.COMPLEX
        if not good:
            return self._error(
                f"bad number syntax: {quote_text(self._text[self._start : self._pos])}"
            )
        return self._token(kind)

    def _scan_number(self) -> bool:
        self._accept("+-")
        digits, base = "0123456789_", ""
        if self._accept("0"):
            base = self._peek().lower()
            if base in _DIGITS:
                self._pos += 1
                digits = _DIGITS[base]
        self._accept_run(digits)
        if self._accept("."):
            self._accept_run(digits)
        exponent = {"0123456789_": "eE", _DIGITS["x"]: "pP"}.get(digits, "")
        if self._accept(exponent):
            self._accept("+-")
            self._accept_run("0123456789_")
        self._accept("i")
        if is_word(self._peek()):
            self._pos += 1
            return False
        return True

    def _char(self) -> Token:
        return self._quotation("'", Kind.CHAR_CONSTANT, "unterminated character constant")

    def _quote(self) -> Token:
        return self._quotation('"', Kind.STRING, "unterminated quoted string")

    def _quotation(self, quote: str, kind: Kind, message: str) -> Token:
        self._pos += 1
        while True:
            character = self._next()
            if character == "\\":
                character = self._next()
                if character not in ("", "\n"):
                    continue
            if character in ("", "\n"):
                return self._error(message)
            if character == quote:
                return self._token(kind)

    def _raw(self) -> Token:
        close = self._text.find("`", self._pos + 1)
        if close < 0:
            return self._error("unterminated raw quoted string")
        self._pos = close + 1
        return self._token(Kind.RAW_STRING)


_LEXERS_BY_CHARACTER: Final[dict[str, Callable[[Lexer], Token]]] = {
    "": Lexer._end,
    **dict.fromkeys(_SPACES, Lexer._space),
    ":": Lexer._colon,
    '"': Lexer._quote,
    "`": Lexer._raw,
    "$": Lexer._variable,
    "'": Lexer._char,
    ".": Lexer._field,
    **dict.fromkeys("+-0123456789", Lexer._number),
    **dict.fromkeys("()", Lexer._paren),
}
