"""Rules for raw values between a parameter's markers that are read back as the same values.

A text is written as it is, anything else as JSON. The reader decides between them by the schema's
types (`read_value`) or by the markup (`read_marked`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from playground.nouns.tools import Schema, allowed_types
from playground.parsing.grammars.characters import CharacterSet, characters
from playground.parsing.grammars.expressions import (
    IMPOSSIBLE,
    Expression,
    FreeText,
    either,
    in_order,
    token,
)
from playground.parsing.grammars.merging import listed_values, types_of
from playground.parsing.grammars.schemas import SchemaRules, text_inside
from playground.parsing.grammars.styles import Quotes
from playground.parsing.grammars.texts import ANY, LINE, SOME, SOME_LINE, TextShape, beginning
from playground.parsing.values import Untyped

_LIMITS: Final = ("minLength", "maxLength", "pattern")
# type -> the characters with which a value of the type may begin
_FIRST: Final = {"array": "[", "object": "{", "integer": "-0123456789", "number": "-0123456789"}


@dataclass(frozen=True)
class RawValues:
    """A maker of the values of one parameter: JSON by `rules`, text without `words`, each followed
    by `ending`.

    With `block` a text of several lines is on lines of its own. With `quoted`, texts are
    written as JSON as well.
    """

    rules: SchemaRules
    words: tuple[str, ...]
    ending: str
    untyped: Untyped = "text"
    block: bool = False
    quoted: bool = False

    def value(self, schema: Any, read_schema: Schema, place: str) -> Expression:
        """Build a value by `schema`. The reader decides its type by the schema `read_schema`."""
        if self.quoted:
            return self.json(schema, place)
        types = allowed_types(read_schema)
        if not types and (self.untyped == "text" or not read_schema):
            return self.text(schema, place)
        if types and types <= {"string"}:
            return self.text(schema, place)
        # the reader accepts only `types`, so parts of a union that name no type are limited to them
        alternatives = [
            self.json({"allOf": [schema, {"type": sorted(types)}]} if types else schema, place)
        ]
        if not types or "string" in types:
            alternatives.append(self.text(schema, place, other_types=types or set(_FIRST)))
        return either(alternatives)

    def json(self, schema: Any, place: str) -> Expression:
        return in_order(self.rules.value(schema, place), self.ending)

    def text(self, schema: Any, place: str, other_types: set[str] | None = None) -> Expression:
        """Build a text. It cannot be read as a value of one of the types `other_types`."""
        if self.quoted:
            return self.json({"allOf": [schema, {"type": "string"}]}, place)
        forbidden = (
            ""
            if other_types is None
            else '"' + "".join(_FIRST.get(kind, "") for kind in other_types)
        )
        variants = self.rules.merger.variants(schema, place)
        return either(
            self._limited_text(variant, place, forbidden) if variant else self._any("", empty=True)
            for variant in variants
            if _may_be_text(variant)
        )

    def _limited_text(self, schema: Schema, place: str, forbidden: str) -> Expression:
        """Build a text within the limits of a plain schema."""
        self.rules.merger.note_unsupported(schema, place)
        values = listed_values(schema)
        if values is not None:
            texts = [value for value in values if isinstance(value, str)]
            return either(self._constant_text(text, place, forbidden) for text in texts)
        limits = {key: schema[key] for key in _LIMITS if key in schema}
        if limits in ({}, {"minLength": 0}):
            return self._any(forbidden, empty=True)
        if limits == {"minLength": 1}:
            return self._any(forbidden, empty=False)
        inside = text_inside(schema, place, self.rules.notes)
        if inside is None:
            return self._any(forbidden, empty=True)
        excluded = characters("".join(word[0] for word in self.words), forbidden, "\n" * self.block)
        self.rules.notes.narrower(
            place, f"a text with a length or a pattern holds none of {listed_characters(excluded)}"
        )
        quotes = Quotes("", "", excluded, ())
        # one terminal, because one for the text alone would include a line break before the closer
        return token(in_order(inside(quotes), self.ending))

    def _constant_text(self, text: str, place: str, forbidden: str) -> Expression:
        if any(word in text for word in self.words) or text.lstrip()[:1] in tuple(forbidden):
            self.rules.notes.narrower(place, f"the value {text!r:.60} cannot be written")
            return IMPOSSIBLE
        block = f"\n{text}\n" if self.block and "\n" in text else text
        return in_order(block, self.ending)

    def _any(self, forbidden: str, empty: bool) -> Expression:
        if forbidden:
            return self._free(beginning(forbidden, empty))
        if not self.block:
            return self._free(ANY if empty else SOME)
        return either(
            [self._free(LINE if empty else SOME_LINE), in_order("\n", self._free(SOME, "\n"))]
        )

    def _free(self, shape: TextShape, edge: str = "") -> Expression:
        return FreeText(shape, self.words, edge + self.ending)


def listed_characters(excluded: CharacterSet) -> str:
    """List a set of characters for people."""
    listed = [chr(n) for first, last in excluded.ranges for n in range(first, last + 1)]
    return " ".join(map(repr, listed))


def _may_be_text(schema: Schema) -> bool:
    return "type" not in schema or "string" in types_of(schema)
