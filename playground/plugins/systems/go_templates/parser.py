"""Parse tokens into trees: a tree for the template, and one for each template defined in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from playground.plugins.systems.go_templates.faults import TemplateFault
from playground.plugins.systems.go_templates.lexer import Lexer
from playground.plugins.systems.go_templates.literals import (
    LiteralFault,
    complex_number,
    number,
    rune,
    unquote,
)
from playground.plugins.systems.go_templates.nodes import (
    Action,
    Bool,
    Branch,
    Call,
    Chain,
    Command,
    Dot,
    Field,
    Identifier,
    Jump,
    Nil,
    Node,
    Number,
    Pipeline,
    Sequence,
    String,
    Text,
    Variable,
    is_empty,
)
from playground.plugins.systems.go_templates.reader import Reader
from playground.plugins.systems.go_templates.tokens import KEYWORDS, Kind, Token, quote_text

Trees = dict[str, Sequence]
_Source = TypeVar("_Source")
_Result = TypeVar("_Result")
_STRINGS: Final = (Kind.STRING, Kind.RAW_STRING)
_OPERANDS: Final = frozenset(
    [
        Kind.BOOL,
        Kind.CHAR_CONSTANT,
        Kind.COMPLEX,
        Kind.DOT,
        Kind.FIELD,
        Kind.IDENTIFIER,
        Kind.NUMBER,
        Kind.NIL,
        Kind.RAW_STRING,
        Kind.STRING,
        Kind.VARIABLE,
        Kind.LEFT_PAREN,
    ]
)


def parse(text: str, name: str, functions: frozenset[str]) -> Trees:
    """Parse a template and return its trees by name. Raises TemplateFault of phase "parse"."""
    trees: Trees = {}
    parser = _Parser(name, Lexer(text), functions, trees)
    try:
        root = parser.parse()
    except RecursionError:
        raise TemplateFault(f"template: {name}: it is nested too deeply", "parse") from None
    parser.add(name, root)
    return trees


class _Parser(Reader):
    """A parser of one tree of a template."""

    def __init__(
        self, tree_name: str, lexer: Lexer, functions: frozenset[str], trees: Trees
    ) -> None:
        super().__init__(tree_name, lexer)
        self._functions, self._trees = functions, trees
        self._variables = ["$"]
        self._ranges = 0
        self._clauses: dict[Kind, Callable[[Token], Node]] = {
            Kind.BLOCK: self._block,
            Kind.BREAK: self._jump,
            Kind.CONTINUE: self._jump,
            Kind.ELSE: self._else,
            Kind.END: self._end,
            Kind.IF: self._branch,
            Kind.RANGE: self._branch,
            Kind.TEMPLATE: self._call,
            Kind.WITH: self._branch,
        }

    # trees

    def parse(self) -> Sequence:
        root = Sequence(self._peek().pos)
        while (first := self._peek()).kind is not Kind.EOF:
            if first.kind is Kind.LEFT_DELIM:
                delim, token = self._next(), self._next_non_space()
                if token.kind is Kind.DEFINE:
                    self._inner()._definition()
                    continue
                self._put_back(delim, token)
            node = self._text_or_action()
            if isinstance(node, Jump) and node.keyword in ("else", "end"):
                self._fail(f"unexpected {node}")
            root.nodes.append(node)
        return root

    def add(self, name: str, root: Sequence) -> None:
        existing = self._trees.get(name)
        if existing is None or is_empty(existing):
            self._trees[name] = root
        elif not is_empty(root):
            self._fail(f"template: multiple definition of template {quote_text(name)}")

    def _inner(self) -> _Parser:
        return _Parser(self._tree_name, self._lexer, self._functions, self._trees)

    def _definition(self) -> None:
        context = "define clause"
        token = self._next_non_space()
        if token.kind not in _STRINGS:
            self._unexpected(token, context)
        name = self._literal(unquote, token.text)
        self._expect(Kind.RIGHT_DELIM, context)
        self._body(name, context)

    def _body(self, name: str, context: str) -> None:
        root, end = self._list()
        if end.keyword != "end":
            self._fail(f"unexpected {end} in {context}")
        self.add(name, root)

    def _list(self) -> tuple[Sequence, Jump]:
        """Read nodes up to an `else` or `end`; return the nodes and the `else` or `end`."""
        nodes_found = Sequence(self._peek_non_space().pos)
        while self._peek_non_space().kind is not Kind.EOF:
            node = self._text_or_action()
            if isinstance(node, Jump) and node.keyword in ("else", "end"):
                return nodes_found, node
            nodes_found.nodes.append(node)
        return self._fail("unexpected EOF")

    def _text_or_action(self) -> Node:
        token = self._next_non_space()
        if token.kind is Kind.TEXT:
            return Text(token.pos, token.text)
        if token.kind is not Kind.LEFT_DELIM:
            self._unexpected(token, "input")
        self._action_line = token.line
        node = self._action()
        self._action_line = 0
        return node

    def _action(self) -> Node:
        token = self._next_non_space()
        clause = self._clauses.get(token.kind)
        if clause is not None:
            return clause(token)
        self._put_back(token)
        return Action(self._peek().pos, self._pipeline("command", Kind.RIGHT_DELIM))

    # clauses

    def _jump(self, token: Token) -> Node:
        following = self._next_non_space()
        if following.kind is not Kind.RIGHT_DELIM:
            self._unexpected(following, f"{{{{{token.text}}}}}")
        if not self._ranges:
            self._fail(f"{{{{{token.text}}}}} outside {{{{range}}}}")
        return Jump(token.pos, token.text)

    def _else(self, token: Token) -> Node:
        following = self._peek_non_space()
        if following.kind in (Kind.IF, Kind.WITH):  # read like {{else}}{{if …
            return Jump(following.pos, "else")
        return Jump(self._expect(Kind.RIGHT_DELIM, "else").pos, "else")

    def _end(self, token: Token) -> Node:
        return Jump(self._expect(Kind.RIGHT_DELIM, "end").pos, "end")

    def _branch(self, token: Token) -> Branch:
        keyword, variables_before = token.text, len(self._variables)
        pipeline = self._pipeline(keyword, Kind.RIGHT_DELIM)
        self._ranges += keyword == "range"
        body, end = self._list()
        self._ranges -= keyword == "range"
        otherwise = self._otherwise(keyword, end) if end.keyword == "else" else None
        del self._variables[variables_before:]
        return Branch(pipeline.pos, keyword, pipeline, body, otherwise)

    def _otherwise(self, keyword: str, end: Jump) -> Sequence:
        following = self._peek()
        if keyword != "range" and following.kind is KEYWORDS[keyword]:
            return Sequence(end.pos, [self._branch(self._next())])
        nodes_found, end_found = self._list()
        if end_found.keyword != "end":
            self._fail(f"expected end; found {end_found}")
        return nodes_found

    def _block(self, token: Token) -> Node:
        context = "block clause"
        first = self._next_non_space()
        name = self._template_name(first, context)
        pipeline = self._pipeline(context, Kind.RIGHT_DELIM)
        self._inner()._body(name, context)
        return Call(first.pos, name, pipeline)

    def _call(self, token: Token) -> Node:
        context = "template clause"
        first = self._next_non_space()
        name = self._template_name(first, context)
        following = self._next_non_space()
        if following.kind is Kind.RIGHT_DELIM:
            return Call(first.pos, name, None)
        self._put_back(following)
        return Call(first.pos, name, self._pipeline(context, Kind.RIGHT_DELIM))

    def _template_name(self, token: Token, context: str) -> str:
        if token.kind not in _STRINGS:
            self._unexpected(token, context)
        return self._literal(unquote, token.text)

    # pipelines

    def _pipeline(self, context: str, end: Kind) -> Pipeline:
        pipeline = Pipeline(self._peek_non_space().pos)
        while self._declaration(pipeline, context):
            pass
        while (token := self._next_non_space()).kind is not end:
            if token.kind not in _OPERANDS:
                self._unexpected(token, context)
            self._put_back(token)
            pipeline.commands.append(self._command())
        if not pipeline.commands:
            self._fail(f"missing value for {context}")
        for stage, command in enumerate(pipeline.commands[1:], 2):
            if isinstance(command.arguments[0], Bool | Dot | Nil | Number | String):
                self._fail(f"non executable command in pipeline stage {stage}")
        return pipeline

    def _declaration(self, pipeline: Pipeline, context: str) -> bool:
        """Read a declared variable, if there is one; return True if another variable may follow."""
        if self._peek_non_space().kind is not Kind.VARIABLE:
            return False
        variable, after = self._next(), self._peek()
        following = self._peek_non_space()
        if following.kind in (Kind.ASSIGN, Kind.DECLARE):
            self._next_non_space()
            pipeline.assigns = following.kind is Kind.ASSIGN
            self._declare(pipeline, variable)
        elif following.kind is Kind.CHAR and following.text == ",":
            self._next_non_space()
            self._declare(pipeline, variable)
            if context == "range" and len(pipeline.variables) < 2:
                if self._peek_non_space().kind in (
                    Kind.VARIABLE,
                    Kind.RIGHT_DELIM,
                    Kind.RIGHT_PAREN,
                ):
                    return True
                self._fail("range can only initialize variables")
            self._fail(f"too many declarations in {context}")
        elif after.kind is Kind.SPACE:
            self._put_back(variable, after)
        else:
            self._put_back(variable)
        return False

    def _declare(self, pipeline: Pipeline, token: Token) -> None:
        pipeline.variables.append(Variable(token.pos, token.text.split(".")))
        self._variables.append(token.text)

    def _command(self) -> Command:
        command = Command(self._peek_non_space().pos)
        while True:
            self._skip_space()
            if (operand := self._operand()) is not None:
                command.arguments.append(operand)
            token = self._next()
            if token.kind is Kind.SPACE:
                continue
            if token.kind in (Kind.RIGHT_DELIM, Kind.RIGHT_PAREN):
                self._put_back(token)
            elif token.kind is not Kind.PIPE:
                self._unexpected(token, "operand")
            break
        if not command.arguments:
            self._fail("empty command")
        return command

    def _skip_space(self) -> None:
        self._put_back(self._next_non_space())

    def _operand(self) -> Node | None:
        node = self._term()
        if node is None or self._peek().kind is not Kind.FIELD:
            return node
        at, names = self._peek().pos, []
        while self._peek().kind is Kind.FIELD:
            names.append(self._next().text[1:])
        if isinstance(node, Field):
            return Field(at, [*node.names, *names])
        if isinstance(node, Variable):
            return Variable(at, [*node.names, *names])
        if isinstance(node, Bool | String | Number | Nil | Dot):
            self._fail(f"unexpected . after term {quote_text(str(node))}")
        return Chain(at, node, names)

    def _term(self) -> Node | None:
        token = self._next_non_space()
        if token.kind is Kind.LEFT_PAREN:
            return self._pipeline("parenthesized pipeline", Kind.RIGHT_PAREN)
        make = _TERMS.get(token.kind)
        if make is None:
            self._put_back(token)
            return None
        if token.kind is Kind.IDENTIFIER and token.text not in self._functions:
            self._fail(f"function {quote_text(token.text)} not defined")
        if token.kind is Kind.VARIABLE and token.text not in self._variables:
            self._fail(f"undefined variable {quote_text(token.text)}")
        return self._literal(make, token)

    def _literal(self, make: Callable[[_Source], _Result], source: _Source) -> _Result:
        try:
            return make(source)
        except LiteralFault as fault:
            return self._fail(str(fault))


def _number(token: Token) -> Node:
    value = number(token.text)
    return Number(token.pos, token.text, value)


_TERMS: Final[dict[Kind, Callable[[Token], Node]]] = {
    Kind.IDENTIFIER: lambda token: Identifier(token.pos, token.text),
    Kind.DOT: lambda token: Dot(token.pos),
    Kind.NIL: lambda token: Nil(token.pos),
    Kind.VARIABLE: lambda token: Variable(token.pos, [token.text]),
    Kind.FIELD: lambda token: Field(token.pos, [token.text[1:]]),
    Kind.BOOL: lambda token: Bool(token.pos, token.text == "true"),
    Kind.CHAR_CONSTANT: lambda token: Number(token.pos, token.text, rune(token.text)),
    Kind.COMPLEX: lambda token: Number(token.pos, token.text, complex_number(token.text)),
    Kind.NUMBER: _number,
    Kind.STRING: lambda token: String(token.pos, token.text, unquote(token.text)),
    Kind.RAW_STRING: lambda token: String(token.pos, token.text, unquote(token.text)),
}
