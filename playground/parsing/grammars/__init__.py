"""Grammars: what a model may write in a dialect, made from the declaration that also reads it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from playground.base.errors import UnknownNameError
from playground.base.findings import Finding
from playground.nouns.tools import ToolMetadata
from playground.parsing.declaration import Declaration, Markers
from playground.parsing.grammars.bodies import BODIES
from playground.parsing.grammars.expressions import IMPOSSIBLE, Expression
from playground.parsing.grammars.gbnf import gbnf
from playground.parsing.grammars.lark import lark
from playground.parsing.grammars.notes import Notes, quote_words
from playground.parsing.grammars.replies import ROOT, ReplyRules, WantedReply
from playground.parsing.grammars.well_formed import ends_by_space, well_formed_rules
from playground.parsing.notations import notation_of

__all__ = ["ACCEPTS", "FORMS", "Grammar", "declared_grammar"]

ACCEPTS: Final = ["written", "well-formed"]
"""The replies that a grammar accepts: as a model should write them, or all well-formed ones."""
AUTO, REQUIRED = "auto", "required"


@dataclass(frozen=True)
class Grammar:
    """A grammar of what a model may write: `rules` as data, and as text in each engine's form.

    `findings` say where the grammar takes more (`grammar-wider`) or less (`grammar-narrower`) than
    the tools' schemas and the dialect's parser. Without rules there is no grammar: every form is
    "", and a finding `no-grammar` says why.
    """

    dialect: str
    rules: Mapping[str, Expression]
    findings: tuple[Finding, ...] = ()
    by_characters: bool = False
    """True if no marker shows where a text ends: an engine with a lexer (llguidance) then needs a
    terminal for each character."""

    @cached_property
    def lark(self) -> str:
        """The form for llguidance."""
        return self.form("lark")

    @cached_property
    def gbnf(self) -> str:
        """The form for llama.cpp."""
        return self.form("gbnf")

    @cached_property
    def ebnf(self) -> str:
        """The form for xgrammar: the same text as `gbnf`."""
        return self.form("ebnf")

    @cached_property
    def structural_tag(self) -> str:
        """The form for xgrammar, and for servers that pass it to xgrammar: JSON."""
        return self.form("structural-tag")

    def form(self, name: str) -> str:
        """Return the grammar in one of FORMS."""
        return FORMS[name](self) if self.rules else ""


FORMS: Final[dict[str, Callable[[Grammar], str]]] = {
    "lark": lambda grammar: lark(grammar.rules, ROOT, grammar.by_characters),
    "gbnf": lambda grammar: gbnf(grammar.rules, ROOT),
    "ebnf": lambda grammar: gbnf(grammar.rules, ROOT),
    "structural-tag": lambda grammar: structural_tag(grammar.rules, ROOT),
}


def structural_tag(rules: Mapping[str, Expression], root: str) -> str:
    """Write the rules as JSON for xgrammar, vLLM and SGLang: `format` is the whole grammar."""
    content: dict[str, Any] = {"type": "grammar", "grammar": gbnf(rules, root)}
    return json.dumps({"type": "structural_tag", "format": content}, ensure_ascii=False, indent=2)


def declared_grammar(
    name: str,
    syntax: Declaration,
    markers: Markers,
    answer_frame: tuple[str, str],
    tools: Sequence[ToolMetadata],
    choice: str = AUTO,
    several_calls: bool = True,
    with_reasoning: bool = False,
    accepts: str = "written",
) -> Grammar:
    """Build the grammar of a declaration. `answer_frame` has the texts before and after an answer.
    For "written" alone, `several_calls` allows several calls, and `with_reasoning` a thought first.
    Raises UnknownNameError for an unknown `accepts`, and for a `choice` that is no tool's name and
    neither "auto" nor "required"."""
    if accepts not in ACCEPTS:
        raise UnknownNameError("grammar", accepts, list(ACCEPTS))
    notes = Notes()
    chosen = list(tools)
    if choice not in (AUTO, REQUIRED):
        chosen = [tool for tool in tools if tool.name == choice]
        if not chosen:
            raise UnknownNameError("tool", choice, [AUTO, REQUIRED, *(t.name for t in tools)])
    for form in (syntax,) if accepts == "written" else (syntax, *syntax.also):
        if notation_of(form).hole not in BODIES:
            notes.refuse("calls", f"no grammar is known for {{{form.call_template.body}}}")
            return Grammar(name, {}, tuple(notes.findings))
        if accepts == "well-formed" and ends_by_space(form):
            reason = f"{form.param!r} ends by white space alone, which a value may hold as well"
            notes.refuse("calls", f"no grammar tells where a value ends: {reason}")
            return Grammar(name, {}, tuple(notes.findings))
    if accepts == "well-formed":
        rules = well_formed_rules(syntax, markers, answer_frame, chosen, choice != AUTO)
        return Grammar(name, rules, (), by_characters=True)
    chosen = _callable(syntax, chosen, notes)
    reply = ReplyRules(syntax, markers, answer_frame, chosen, notes)
    rules = reply.make(WantedReply(choice != AUTO, several_calls, with_reasoning))
    if rules[ROOT] == IMPOSSIBLE:
        notes.refuse("calls", "no call can be written of any of the tools")
        rules = {}
    return Grammar(name, rules, tuple(notes.findings), reply.by_characters)


def _callable(syntax: Declaration, tools: list[ToolMetadata], notes: Notes) -> list[ToolMetadata]:
    """Return the tools that a call can name: in a form with a fixed name only that tool."""
    if not syntax.name:
        return tools
    callable_tools = [tool for tool in tools if tool.name == syntax.name]
    others = [tool.name for tool in tools if tool.name != syntax.name]
    if others:
        words = f"every call is of {syntax.name!r}, so {quote_words(others)} cannot be called"
        notes.narrower("calls", words)
    return callable_tools
