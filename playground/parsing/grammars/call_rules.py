"""The parts of the grammar of one tool's calls: name, schema, and the text around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from playground.nouns.tools import ToolMetadata
from playground.parsing.declaration import Declaration, written_name
from playground.parsing.grammars.characters import ALL, BLANKS, DIGITS, characters
from playground.parsing.grammars.expressions import (
    EMPTY,
    Expression,
    NamedRules,
    OneOf,
    Use,
    either,
    in_order,
    repeat,
    token,
)
from playground.parsing.grammars.merging import listed_values, types_of
from playground.parsing.grammars.notes import Notes
from playground.parsing.grammars.schemas import SchemaRules, any_value
from playground.parsing.grammars.styles import Style, json_style
from playground.parsing.template import Piece, leading_text

CALL_ID: Final = token(repeat(OneOf(characters("a-z", "A-Z", "0-9", "_.:-")), 1, 64))
_LINE: Final = token(
    in_order(OneOf(ALL - BLANKS - characters("`")), repeat(OneOf(ALL - characters("\n`")), 0, 200))
)


@dataclass
class CallRules:
    """A maker of rules for one tool's calls. Texts without a closer hold no word in `forbidden`.
    All tools share `any_values`, the rules of any value by style."""

    syntax: Declaration
    tool: ToolMetadata
    rules: NamedRules
    notes: Notes
    any_values: dict[Style, Use]
    forbidden: tuple[str, ...]
    _rules_by_style: dict[Style, SchemaRules] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return f"tool {self.tool.name}"

    def schema_rules(self, style: Style) -> SchemaRules:
        """Return the rules of the tool's schema in a style, made once."""
        if style not in self._rules_by_style:
            if style not in self.any_values:
                self.any_values[style] = any_value(style, self.rules)
            self._rules_by_style[style] = SchemaRules(
                self.tool.input_schema,
                style,
                self.rules,
                self.notes,
                self.tool.name,
                self.any_values[style],
            )
        return self._rules_by_style[style]

    def json_style(self, without: Sequence[str] = (), in_text: bool = False) -> Style:
        """Return the style of the dialect's JSON; with `in_text`, of JSON inside a JSON string."""
        return json_style(without, in_text, bool(self.syntax.json.indent))

    def piece(self, piece: Piece, is_first_call: bool) -> Expression | str:
        if isinstance(piece, str):
            return piece
        kind, _, key = piece.name.partition(":")
        match kind:
            case "name":
                return written_name(self.syntax, self.tool.name)
            case "id":
                return CALL_ID
            case "index" | "number":
                start = "0" if kind == "index" else "1"
                return start if is_first_call else token(repeat(OneOf(DIGITS), 1, 3))
            case "line":
                return self._line(key)
        return EMPTY

    def _line(self, key: str) -> Expression:
        values = listed_values(self.tool.parameter_schema(key))
        texts = [v for v in values or [] if isinstance(v, str)]
        return either(in_order(text) for text in texts) if values else _LINE

    def objects(self) -> list[tuple[list[tuple[str, Any, bool]], Any]]:
        """Return the alternative objects that the schema allows: for each, its members, and the
        schema of other members or None."""
        rules = self.schema_rules(self.json_style())
        listed = []
        for variant in rules.merger.variants(self.tool.input_schema, self.place):
            if "object" not in types_of(variant) and "type" in variant:
                self.notes.narrower(self.place, "only arguments that are an object are written")
                continue
            listed.append(
                rules.members(rules.merger.note_unsupported(variant, self.place), self.place)
            )
        return listed

    @property
    def after(self) -> str:
        """The text directly after the body, up to the first hole that is not the tool's name."""
        name = written_name(self.syntax, self.tool.name)
        return leading_text(self.syntax.call_template.after, name=name)
