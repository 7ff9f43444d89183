"""Grammars: what a model may write in a dialect, made from the declaration that also reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from playground.base.errors import UnknownNameError
from playground.nouns.tools import ToolMetadata
from playground.parsing.declaration import Declaration, Markers
from playground.parsing.grammars.bodies import BODIES
from playground.parsing.grammars.expressions import IMPOSSIBLE
from playground.parsing.grammars.grammar import FORMS, Grammar
from playground.parsing.grammars.notes import Notes, quote_words
from playground.parsing.grammars.replies import ROOT, ReplyRules, WantedReply
from playground.parsing.grammars.well_formed import ends_by_space, well_formed_rules
from playground.parsing.notations import notation_of

__all__ = ["ACCEPTS", "FORMS", "Grammar", "declared_grammar"]

ACCEPTS: Final = ["written", "well-formed"]
"""The replies that a grammar accepts: as a model should write them, or all well-formed ones."""
AUTO, REQUIRED = "auto", "required"


def declared_grammar(
    name: str,
    syntax: Declaration,
    markers: Markers,
    answer: tuple[str, str],
    tools: Sequence[ToolMetadata],
    choice: str = AUTO,
    several: bool = True,
    reasoning: bool = False,
    accepts: str = "written",
) -> Grammar:
    """Build the grammar of a declaration. Raises UnknownNameError if `choice` is neither "auto" nor
    "required" nor the name of a tool, or if `accepts` is none of ACCEPTS."""
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
            notes.none("calls", f"no grammar is known for {{{form.call_template.body}}}")
            return Grammar(name, {}, tuple(notes.findings))
        if accepts == "well-formed" and ends_by_space(form):
            reason = f"{form.param!r} ends by white space alone, which a value may hold as well"
            notes.none("calls", f"no grammar tells where a value ends: {reason}")
            return Grammar(name, {}, tuple(notes.findings))
    if accepts == "well-formed":
        rules = well_formed_rules(syntax, markers, answer, chosen, choice != AUTO)
        return Grammar(name, rules, (), by_characters=True)
    chosen = _callable(syntax, chosen, notes)
    reply = ReplyRules(syntax, markers, answer, chosen, notes)
    rules = reply.make(WantedReply(choice != AUTO, several, reasoning))
    if rules[ROOT] == IMPOSSIBLE:
        notes.none("calls", "no call can be written of any of the tools")
        rules = {}
    return Grammar(name, rules, tuple(notes.findings), reply.by_characters)


def _callable(syntax: Declaration, tools: list[ToolMetadata], notes: Notes) -> list[ToolMetadata]:
    """Return the tools that a call can name. A form without a name always calls the same tool."""
    if not syntax.name:
        return tools
    callable_tools = [tool for tool in tools if tool.name == syntax.name]
    others = [tool.name for tool in tools if tool.name != syntax.name]
    if others:
        notes.none("calls", f"each calls {syntax.name!r}: {quote_words(others)} cannot be named")
    return callable_tools
