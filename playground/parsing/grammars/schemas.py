"""A tool's JSON Schema as rules, in one style of writing values.

Members come in the schema's order, because a grammar for any order is 2ⁿ times as large (the
engines' own grammars have an order too). Members that the schema does not name are in the grammar
only if the schema allows them explicitly, or names no members.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

from playground.nouns.tools import Schema
from playground.parsing.grammars import numbers
from playground.parsing.grammars.characters import ALL
from playground.parsing.grammars.expressions import (
    EMPTY,
    IMPOSSIBLE,
    Expression,
    NamedRules,
    Use,
    either,
    in_order,
    optional,
    repeat,
    token,
)
from playground.parsing.grammars.merging import Merger, is_reference, listed_values, types_of
from playground.parsing.grammars.notes import Notes
from playground.parsing.grammars.patterns import NotRegular, pattern_expression
from playground.parsing.grammars.styles import Quotes, Style

MOST_COUNTED: Final = 1000
"""The most characters of a text, or items of a list, that a grammar counts."""
_MOST_VALUES: Final = 3000
# keywords that are ignored, with a note, if a schema lists its values
_IGNORED_KEYWORDS: Final = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength"}
    | {"pattern", "items", "minItems", "maxItems", "properties", "required"}
)
Member = tuple[Expression, bool]  # the expression of a member, and True if it is required


class SchemaRules:
    """The rules for the values of one tool's schema in one style."""

    def __init__(
        self, root: Schema, style: Style, rules: NamedRules, notes: Notes, stem: str, any_value: Use
    ) -> None:
        self.style, self.rules, self.notes = style, rules, notes
        self.merger = Merger(root, notes)
        self._stem, self._any = stem, any_value
        self._references: dict[str, str] = {}
        self._values = 0

    def value(self, schema: Any, place: str) -> Expression:
        if is_reference(schema):
            return self._reference(schema["$ref"], place)
        self._values += 1
        if self._values > _MOST_VALUES:
            self.notes.wider(place, f"the schema has over {_MOST_VALUES:,} parts: any value fits")
            return self._any
        variants = self.merger.variants(schema, place)
        return either(
            self._by_type(self.merger.note_unsupported(variant, place), place)
            if variant
            else self._any
            for variant in variants
        )

    def _reference(self, reference: str, place: str) -> Expression:
        """Make a rule of a reference's target, which may use itself; return a `Use` of the rule."""
        if reference not in self._references:
            target = self.merger.target(reference, place)
            if target is True or target == {}:
                return self._any
            name = self.rules.take(f"{self._stem}-{reference.rsplit('/', 1)[-1]}")
            self._references[reference] = name
            self.rules.named[name] = self.style.as_written(self.value(target, place))
        return Use(self._references[reference])

    def _by_type(self, schema: Schema, place: str) -> Expression:
        values = listed_values(schema)
        if values is not None:
            ignored = sorted(_IGNORED_KEYWORDS & set(schema))
            if ignored:
                self.notes.wider(place, f"{', '.join(ignored)} is ignored: the values are listed")
            return either(map(self.style.exactly, values))
        kinds = types_of(schema)
        if "type" not in schema and len(kinds) == 1:
            self.notes.narrower(place, f"a schema without a type is read as one of type {kinds[0]}")
        if "number" in kinds and "integer" in kinds:
            kinds.remove("integer")
        return either(_TYPES[kind](self, schema, place) for kind in kinds)

    # texts and numbers

    def _string(self, schema: Schema, place: str) -> Expression:
        return self.style.text(text_inside(schema, place, self.notes))

    def _integer(self, schema: Schema, place: str) -> Expression:
        low, high = _bounds(schema)
        return token(numbers.integer(low, high))

    def _number(self, schema: Schema, place: str) -> Expression:
        low, high = _float_bounds(schema)
        for key in ("exclusiveMinimum", "exclusiveMaximum"):
            if _is_number(schema.get(key)) or schema.get(key) is True:
                self.notes.wider(place, f"{key} of a number: the bound itself is allowed, too")
        expression = numbers.number(low, high)
        if expression is None:
            self.notes.wider(
                place, f"the bounds {low} and {high} of a number are not integers: dropped"
            )
            expression = numbers.number()
        elif low is not None or high is not None:
            self.notes.narrower(place, "a number between bounds has no exponent")
        assert expression is not None
        return token(expression)

    def _boolean(self, schema: Schema, place: str) -> Expression:
        return either([in_order(self.style.words[1]), in_order(self.style.words[2])])

    def _null(self, schema: Schema, place: str) -> Expression:
        return in_order(self.style.words[0])

    # lists

    def _array(self, schema: Schema, place: str) -> Expression:
        items, prefix = schema.get("items", True), schema.get("prefixItems", [])
        if isinstance(items, list):  # the form of drafts before 2020-12
            items, prefix = schema.get("additionalItems", True), items
        least, most = _count(schema.get("minItems")) or 0, _count(schema.get("maxItems"))
        if max(least, most or 0) > MOST_COUNTED:
            self.notes.wider(place, f"more than {MOST_COUNTED:,} items are not counted")
            least, most = min(least, MOST_COUNTED), None
        first = [
            self.value(schema_of_item, f"{place}, item {at}")
            for at, schema_of_item in enumerate(prefix)
        ]
        rest = self.value(items, f"{place}, items") if most is None or most > len(first) else EMPTY
        return self.style.within("[", self._items(first, rest, least, most), "]")

    def _items(
        self, first: list[Expression], rest: Expression, least: int, most: int | None
    ) -> Expression:
        """Build `least` to `most` items with commas between them: those of `first`, then any number
        of items as `rest` says."""
        comma, count = self.style.comma, len(first)
        more = None if most is None else most - count
        if not first:
            if most == 0 or (rest == IMPOSSIBLE and not least):
                return EMPTY
            tail = repeat(in_order(comma, rest), max(least - 1, 0), more and more - 1)
            several = in_order(rest, tail)
            return several if least else optional(several)
        tail = repeat(in_order(comma, rest), max(least - count, 0), more)
        for at in range(count - 1, 0, -1):
            tail = in_order(comma, first[at], tail)
            tail = tail if at < least else optional(tail)
        listed = in_order(first[0], tail)
        return listed if least else optional(listed)

    # objects

    def _object(self, schema: Schema, place: str) -> Expression:
        style = self.style
        named, extra = self.members(schema, place)
        listed = [
            (in_order(style.key(key), self.value(each, f"{place}.{key}")), needed)
            for key, each, needed in named
        ]
        more = None
        if extra is not None:
            key = style.any_key([key for key, _, _ in named])
            more = in_order(key, style.colon, self.value(extra, f"{place}, other keys"))
        return style.within("{", self.join_members(listed, more, style.comma), "}")

    def members(self, schema: Schema, place: str) -> tuple[list[tuple[str, Any, bool]], Any]:
        """Return the keys of an object, each with its schema and True if it is required; and the
        schema of all other keys, or None if there are none."""
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        names_required = schema.get("required", [])
        required = (
            [k for k in names_required if isinstance(k, str)]
            if isinstance(names_required, list)
            else []
        )
        extra = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        if extra is None and properties:
            self.notes.narrower(place, "keys that the schema does not name are not allowed")
            extra = False
        other_schema: Any = True if extra is None else extra
        names = dict.fromkeys([*properties, *required])
        listed = [(name, properties.get(name, other_schema), name in required) for name in names]
        return listed, (None if other_schema is False else other_schema)

    def join_members(
        self, members: list[Member], more: Expression | None, comma: Expression
    ) -> Expression:
        """Build members in their order, then any number of `more`, with commas between all.

        An optional member that is left out takes its comma with it.
        """
        rest = EMPTY if more is None else repeat(in_order(comma, more))
        first = EMPTY if more is None else optional(in_order(more, rest))
        for member, needed in reversed(members):
            from_member = in_order(member, rest)
            first = from_member if needed else _or_else(from_member, first)
            following = in_order(comma, member)
            rest = in_order(following if needed else optional(following), rest)
            if len(members) > 2 and not needed:  # used twice from here on
                first, rest = self._share(first), self._share(rest)
        return first

    def _share(self, expression: Expression) -> Expression:
        if expression == EMPTY or isinstance(expression, Use):
            return expression
        return self.rules.add(f"{self._stem}-rest", self.style.as_written(expression))


def _or_else(first: Expression, second: Expression) -> Expression:
    return optional(first) if second == EMPTY else either([first, second])


def text_inside(schema: Schema, place: str, notes: Notes) -> Callable[[Quotes], Expression] | None:
    """Return a function from quotes to the texts that a schema allows; None if it allows all."""
    least, most = _count(schema.get("minLength")) or 0, _count(schema.get("maxLength"))
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        try:
            pattern_expression(pattern, lambda _: EMPTY)
        except NotRegular as why:
            notes.wider(place, f"pattern {pattern!r:.80} is not in the grammar: {why}")
        else:
            if least > 1 or most is not None or (least and re.search(pattern, "")):
                notes.wider(place, "the text's length is not in the grammar, only its pattern")
            return lambda quotes: pattern_expression(pattern, quotes.unit)
    if max(least, most or 0) > MOST_COUNTED:
        notes.wider(place, f"more than {MOST_COUNTED:,} characters are not counted")
        least, most = min(least, MOST_COUNTED), None
    if not least and most is None:
        return None
    return lambda quotes: repeat(quotes.unit(ALL), least, most)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _numbers(schema: Schema, *keys: str) -> list[Any]:
    """Return the numbers that a schema has under these keys."""
    return [schema[key] for key in keys if _is_number(schema.get(key))]


def _count(value: Any) -> int | None:
    return int(value) if _is_number(value) and value >= 0 else None


def _bounds(schema: Schema) -> tuple[int | None, int | None]:
    """Return the bounds of an integer; exclusive bounds are moved to the next integer."""
    lows = [math.ceil(bound) for bound in _numbers(schema, "minimum")]
    highs = [math.floor(bound) for bound in _numbers(schema, "maximum")]
    lows += [math.floor(bound) + 1 for bound in _numbers(schema, "exclusiveMinimum")]
    highs += [math.ceil(bound) - 1 for bound in _numbers(schema, "exclusiveMaximum")]
    # in drafts before 6, `exclusiveMinimum: true` makes `minimum` exclusive
    low = max(lows) + (schema.get("exclusiveMinimum") is True) if lows else None
    high = min(highs) - (schema.get("exclusiveMaximum") is True) if highs else None
    return low, high


def _float_bounds(schema: Schema) -> tuple[float | None, float | None]:
    """Return the bounds of a number; exclusive bounds are taken as inclusive."""
    lows = _numbers(schema, "minimum", "exclusiveMinimum")
    highs = _numbers(schema, "maximum", "exclusiveMaximum")
    return max(lows, default=None), min(highs, default=None)


_TYPES: Final[dict[str, Callable[[SchemaRules, Schema, str], Expression]]] = {
    "string": SchemaRules._string,
    "integer": SchemaRules._integer,
    "number": SchemaRules._number,
    "boolean": SchemaRules._boolean,
    "null": SchemaRules._null,
    "array": SchemaRules._array,
    "object": SchemaRules._object,
}


def any_value(style: Style, rules: NamedRules) -> Use:
    """Return the rule for any JSON value in a style."""
    name = rules.take(f"any-{style.name}")
    use = Use(name)
    pair = in_order(style.any_key([]), style.colon, use)
    members = optional(in_order(pair, repeat(in_order(style.comma, pair)), style.last))
    items = optional(in_order(use, repeat(in_order(style.comma, use)), style.last))
    number = style.number or numbers.number()
    assert number is not None
    value = either(
        [
            style.within("{", members, "}"),
            style.within("[", items, "]"),
            style.text(),
            token(number),
            *map(in_order, style.words),
        ]
    )
    rules.named[name] = style.as_written(value)
    return use
