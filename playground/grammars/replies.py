"""A whole reply: reasoning, text, and calls in their sections, as a declaration has them."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from playground.grammars.bodies import CallRules
from playground.grammars.expressions import (
    EMPTY,
    IMPOSSIBLE,
    Either,
    Exact,
    Expression,
    FreeText,
    InOrder,
    Rules,
    Use,
    either,
    in_order,
    optional,
    repeated,
)
from playground.grammars.notes import Notes, quoted
from playground.grammars.pruning import pruned
from playground.grammars.styles import Style
from playground.grammars.texts import ANY, SOME, TextShape
from playground.grammars.words import filled, outside_words, written_name
from playground.parsing.declaration import Declaration, Markers, ReasoningTags
from playground.parsing.template import Piece, holes_of
from playground.tools import ToolMetadata

ROOT: Final = "root"


@dataclass(frozen=True)
class Asked:
    """What a reply may be: `required` is no text without a call, `several` more than one call,
    `reasoning` a thought before anything else."""

    required: bool
    several: bool
    reasoning: bool


class ReplyRules:
    """Makes the rules of a reply with calls of these tools."""

    def __init__(
        self,
        syntax: Declaration,
        markers: Markers,
        answer: tuple[str, str],
        tools: Sequence[ToolMetadata],
        notes: Notes,
    ) -> None:
        self.syntax, self.markers, self.answer = syntax, markers, answer
        self.tools, self.notes, self.rules = tools, notes, Rules()
        self.outside = outside_words(syntax, markers, tools)
        any_values: dict[Style, Use] = {}
        self._calls = [
            CallRules(syntax, tool, self.rules, notes, any_values, self.outside) for tool in tools
        ]

    def make(self, asked: Asked) -> dict[str, Expression]:
        """The rules, the reply's first."""
        root = self.rules.take(ROOT)
        calls = self._all_calls(asked.several)
        reply = calls if asked.required else self._with_text(calls)
        if asked.reasoning:
            reply = self._with_reasoning(reply, asked.required)
        self.rules.named[root] = reply
        return pruned(self.rules.named, root)

    # calls

    def _all_calls(self, several: bool) -> Expression:
        syntax = self.syntax
        own = holes_of(syntax.call_template.pieces)
        counted = bool({"index", "number"} & set(own))
        first = self._one("call", first=True)
        later = self._one("later-call", first=False) if counted and several else first
        if first == IMPOSSIBLE:
            return IMPOSSIBLE
        if counted and several:
            self.notes.wider("calls", "the numbers of calls after the first are not counted")
        more = repeated(in_order(syntax.separator, later)) if several else EMPTY
        listed = in_order(first, more)
        section = syntax.section_template
        if section is None or syntax.one_call_a_section:
            return listed
        return in_order(filled(section.before), listed, filled(section.after))

    def _one(self, name: str, first: bool) -> Expression:
        """One call of any tool, each a rule of its own; in its section, where it has one."""
        found = []
        for call in self._calls:
            expression = call.call(first)
            if expression == IMPOSSIBLE:
                continue
            if self.syntax.one_call_a_section and self.syntax.section_template:
                expression = self._sectioned(expression, call.tool)
            found.append(self.rules.add(f"{name}-{call.tool.name}", expression))
        return either(found)

    def _sectioned(self, call: Expression, tool: ToolMetadata) -> Expression:
        section = self.syntax.section_template
        assert section is not None
        name = written_name(self.syntax, tool.name)

        def text(pieces: Sequence[Piece]) -> str:
            return filled(pieces, name=name)

        return in_order(text(section.before), call, text(section.after))

    # text and reasoning

    def _with_text(self, calls: Expression) -> Expression:
        """Text alone, or calls with text before them or without."""
        before, after = self.answer
        self.notes.narrower("text", f"text beside calls holds none of {quoted(self.outside)}")
        alone = in_order(before, FreeText(ANY, self.outside, after))
        if calls == IMPOSSIBLE:
            return alone
        if before or after:
            marked = in_order(before, FreeText(SOME, self.outside, after), optional("\n"), calls)
            return either([calls, marked, alone])
        return either([calls, self._then(SOME, self.outside, calls), alone])

    def _then(self, shape: TextShape, words: tuple[str, ...], following: Expression) -> Expression:
        """A text up to something: how that begins is a part of the text's own terminal."""
        line = "\n" if self.syntax.line_start else ""
        heads = self._heads(following)
        common = os.path.commonprefix([head for head, _ in heads])
        if common.strip():
            heads = [(common, either(in_order(h[len(common) :], rest) for h, rest in heads))]
        return either(
            in_order(FreeText(ANY if line else shape, words, line + head), rest)
            for head, rest in heads
        )

    def _heads(self, expression: Expression) -> list[tuple[str, Expression]]:
        """The texts with which an expression begins, each with what follows it."""
        match expression:
            case Exact(text):
                return [(text, EMPTY)]
            case InOrder(items) if items:
                rest = in_order(*items[1:])
                return [(head, in_order(more, rest)) for head, more in self._heads(items[0])]
            case Either(items):
                return [found for item in items for found in self._heads(item)]
            case Use(rule):
                return self._heads(self.rules.named[rule])
        return [("", expression)]

    def _with_reasoning(self, reply: Expression, required: bool) -> Expression:
        tags = self.markers.reasoning[:1]
        if not tags:
            self.notes.narrower("reasoning", "the dialect has no marks for it: none is allowed")
            return reply
        return either([self._thought(tags[0], reply), reply])

    def _thought(self, tags: ReasoningTags, reply: Expression) -> Expression:
        opener = "" if self.markers.opens_reasoning else tags.open
        if not tags.close:
            return in_order(opener, self._then(ANY, self.outside, reply))
        least = 1 if self.syntax.line_start else 0
        space = repeated(Exact("\n"), least, 2)
        return in_order(opener, FreeText(ANY, self.outside, tags.close), space, reply)
