"""The parser's reader of tokens, which can take tokens back, and its error messages."""

from __future__ import annotations

from typing import Final, NoReturn

from playground.plugins.systems.go_templates.faults import TemplateFault
from playground.plugins.systems.go_templates.lexer import Lexer
from playground.plugins.systems.go_templates.tokens import KEYWORDS, Kind, Token, quote_text

_KEYWORDS: Final = frozenset([*KEYWORDS.values(), Kind.DOT])


class Reader:
    """A reader of the tokens of one tree. Errors name the line of the last token."""

    def __init__(self, tree_name: str, lexer: Lexer) -> None:
        self._tree_name, self._lexer = tree_name, lexer
        self._returned: list[Token] = []  # tokens that were put back; the last is read next
        self._line = 0
        self._action_line = 0

    def _next(self) -> Token:
        if self._returned:
            return self._returned.pop()
        token = self._lexer.next_token()
        self._line = token.line
        return token

    def _put_back(self, *tokens: Token) -> None:
        """Put tokens back; the first of these is read next."""
        self._returned += reversed(tokens)

    def _peek(self) -> Token:
        token = self._next()
        self._put_back(token)
        return token

    def _next_non_space(self) -> Token:
        while (token := self._next()).kind is Kind.SPACE:
            pass
        return token

    def _peek_non_space(self) -> Token:
        token = self._next_non_space()
        self._put_back(token)
        return token

    def _fail(self, message: str) -> NoReturn:
        raise TemplateFault(f"template: {self._tree_name}:{self._line}: {message}", "parse")

    def _unexpected(self, token: Token, context: str) -> NoReturn:
        if token.kind is Kind.ERROR:
            extra = ""
            if self._action_line not in (0, token.line):
                extra = f" in action started at {self._tree_name}:{self._action_line}"
                if token.text.endswith(" action"):
                    extra = extra.removeprefix(" in action")
            self._fail(token.text + extra)
        self._fail(f"unexpected {_token_text(token)} in {context}")

    def _expect(self, kind: Kind, context: str) -> Token:
        token = self._next_non_space()
        if token.kind is not kind:
            self._unexpected(token, context)
        return token


def _token_text(token: Token) -> str:
    if token.kind is Kind.EOF:
        return "EOF"
    if token.kind in _KEYWORDS:
        return f"<{token.text}>"
    if len(token.text.encode("utf-8", "surrogateescape")) > 10:
        return quote_text(token.text[:10]) + "..."
    return quote_text(token.text)
