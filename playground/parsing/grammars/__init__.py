"""Grammars: what a model may write in a dialect, made from the declaration that also reads it."""

from __future__ import annotations

from collections.abc import Sequence

from playground.base.errors import UnknownNameError
from playground.nouns.tools import ToolMetadata
from playground.parsing.declaration import Declaration, Markers
from playground.parsing.grammars.expressions import IMPOSSIBLE
from playground.parsing.grammars.grammar import FORMS, Grammar
from playground.parsing.grammars.notes import Notes, quote_words
from playground.parsing.grammars.replies import ROOT, ReplyRules, WantedReply

__all__ = ["FORMS", "Grammar", "declared_grammar"]

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
) -> Grammar:
    """Build the grammar of a declaration. Raises UnknownNameError for a choice that no tool has."""
    notes = Notes()
    chosen = list(tools)
    if choice not in (AUTO, REQUIRED):
        chosen = [tool for tool in tools if tool.name == choice]
        if not chosen:
            raise UnknownNameError("tool", choice, [AUTO, REQUIRED, *(t.name for t in tools)])
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
    own = [tool for tool in tools if tool.name == syntax.name]
    others = [tool.name for tool in tools if tool.name != syntax.name]
    if others:
        notes.none("calls", f"each calls {syntax.name!r}: {quote_words(others)} cannot be named")
    return own
