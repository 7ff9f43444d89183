"""Rules for a whole reply: reasoning, text, and calls in their sections, by a declaration."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from playground.nouns.tools import ToolMetadata
from playground.parsing.declaration import Declaration, Markers, written_name
from playground.parsing.grammars.bodies import call_of
from playground.parsing.grammars.call_rules import CallRules
from playground.parsing.grammars.expressions import (
    EMPTY,
    IMPOSSIBLE,
    Either,
    Exact,
    Expression,
    FreeText,
    InOrder,
    NamedRules,
    Use,
    either,
    in_order,
    optional,
    repeat,
)
from playground.parsing.grammars.notes import Notes, quote_words
from playground.parsing.grammars.pruning import prune
from playground.parsing.grammars.styles import Style
from playground.parsing.grammars.texts import ANY, SOME
from playground.parsing.grammars.words import outside_words
from playground.parsing.template import Piece, holes_of, leading_text

ROOT: Final = "root"


@dataclass(frozen=True)
class WantedReply:
    """The kinds of reply to allow: `required` excludes replies without a call, `several` allows
    more than one call, and `reasoning` a thought at the beginning."""

    required: bool
    several: bool
    reasoning: bool


class ReplyRules:
    """A maker of rules for a reply with calls of `tools`; `answer_frame` surrounds an answer."""

    def __init__(
        self,
        syntax: Declaration,
        markers: Markers,
        answer_frame: tuple[str, str],
        tools: Sequence[ToolMetadata],
        notes: Notes,
    ) -> None:
        self.syntax, self.markers, self.answer_frame = syntax, markers, answer_frame
        self.tools, self.notes, self.rules = tools, notes, NamedRules()
        self.by_characters = False
        """True if a text's end can only be found character by character."""
        self.forbidden = outside_words(syntax, markers, tools)
        any_values: dict[Style, Use] = {}
        self._calls = [
            CallRules(syntax, tool, self.rules, notes, any_values, self.forbidden) for tool in tools
        ]

    def make(self, wanted: WantedReply) -> dict[str, Expression]:
        """Build the rules, the reply's first."""
        root = self.rules.take(ROOT)
        calls = self._all_calls(wanted.several)
        reply = calls if wanted.required else self._with_text(calls)
        if wanted.reasoning:
            reply = self._with_reasoning(reply, calls)
        self.rules.named[root] = reply
        return prune(self.rules.named, root)

    # calls

    def _all_calls(self, several: bool) -> Expression:
        syntax = self.syntax
        holes = holes_of(syntax.call_template.pieces)
        counted = bool({"index", "number"} & set(holes))
        first = self._one_call("call", first=True)
        later = self._one_call("later-call", first=False) if counted and several else first
        if first == IMPOSSIBLE:
            return IMPOSSIBLE
        if counted and several:
            self.notes.wider("calls", "the numbers of calls after the first are not counted")
        further_calls = repeat(in_order(syntax.separator, later)) if several else EMPTY
        listed = in_order(first, further_calls)
        section = syntax.section_template
        if section is None or syntax.one_call_a_section:
            return listed
        return in_order(leading_text(section.before), listed, leading_text(section.after))

    def _one_call(self, name: str, first: bool) -> Expression:
        """Build one call of any tool, the `first` of the reply or a later one, with a rule for each
        tool. With `one_call_a_section` the call is in its section."""
        calls = []
        for call in self._calls:
            expression = call_of(call, first)
            if expression == IMPOSSIBLE:
                continue
            if self.syntax.one_call_a_section and self.syntax.section_template:
                expression = self._in_section(expression, call.tool)
            calls.append(self.rules.add(f"{name}-{call.tool.name}", expression))
        return either(calls)

    def _in_section(self, call: Expression, tool: ToolMetadata) -> Expression:
        section = self.syntax.section_template
        assert section is not None
        name = written_name(self.syntax, tool.name)

        def text(pieces: Sequence[Piece]) -> str:
            return leading_text(pieces, name=name)

        return in_order(text(section.before), call, text(section.after))

    # text and reasoning

    def _with_text(self, calls: Expression) -> Expression:
        """Build text alone, or calls with or without text before them."""
        before, after = self.answer_frame
        self.notes.narrower("text", f"plain text has none of {quote_words(self.forbidden)}")
        text_only = in_order(before, FreeText(ANY, self.forbidden, after))
        if calls == IMPOSSIBLE:
            return text_only
        if after:
            text_part = in_order(before, FreeText(SOME, self.forbidden, after), optional("\n"))
            return either([calls, in_order(text_part, calls), text_only])
        if before or self.syntax.line_start:
            return either(
                [self._recognisable(calls), in_order(before, self._text_before(calls)), text_only]
            )
        return either([self._text_before(calls), text_only])

    def _recognisable(self, following: Expression) -> Expression:
        """Build `following` so that, if possible, each beginning holds a word that ends a text."""
        return either(in_order(head, rest) for head, rest in self._heads_with_word(following))

    def _text_before(self, following: Expression) -> Expression:
        """Build a text and then `following`, whose beginning belongs to the text's terminal."""
        line = "\n" if self.syntax.line_start else ""
        return either(
            in_order(FreeText(ANY, self.forbidden, line + head), rest)
            for head, rest in self._heads_with_word(following)
        )

    def _heads_with_word(self, following: Expression) -> list[tuple[str, Expression]]:
        """Return the beginnings of an expression, each with what follows it.

        Each should hold a word that free texts may not contain. Otherwise a text's end can only be
        found character by character.
        """
        heads = self._heads(following)
        common = os.path.commonprefix([head for head, _ in heads])
        if self._has_word(common):
            return [(common, either(in_order(h[len(common) :], rest) for h, rest in heads))]
        self.by_characters |= not all(self._has_word(head) for head, _ in heads)
        return heads

    def _has_word(self, head: str) -> bool:
        return any(word in head for word in self.forbidden)

    def _heads(self, expression: Expression) -> list[tuple[str, Expression]]:
        """Return the texts with which an expression begins, each with what follows it."""
        match expression:
            case Exact(text):
                return [(text, EMPTY)]
            case InOrder(items) if items:
                rest = in_order(*items[1:])
                return [(head, in_order(more, rest)) for head, more in self._heads(items[0])]
            case Either(items):
                return [head for item in items for head in self._heads(item)]
            case Use(rule):
                return self._heads(self.rules.named[rule])
        return [("", expression)]

    def _with_reasoning(self, reply: Expression, calls: Expression) -> Expression:
        """Build a reply, alone or after a thought.

        If only a call closes a thought, no text can come between thought and call.
        """
        tags = self.markers.reasoning[:1]
        if not tags:
            self.notes.narrower(
                "reasoning", "the dialect has no tags for reasoning: none is allowed"
            )
            return reply
        opener = "" if self.markers.opens_reasoning else tags[0].open
        if not tags[0].close:
            return either([in_order(opener, self._text_before(calls)), reply])
        least = 1 if self.syntax.line_start else 0
        space = repeat(Exact("\n"), least, 2)
        thought = FreeText(ANY, self.forbidden, tags[0].close)
        return either([in_order(opener, thought, space, reply), reply])
