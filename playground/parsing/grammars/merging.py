"""JSON Schemas made plain: references followed, unions split into alternatives, `allOf` merged.

A plain schema has no `$ref`, `anyOf`, `oneOf` or `allOf` at its top; the schemas in it may have.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from playground.nouns.tools import Schema, allowed_types, json_type, target_of
from playground.parsing.grammars.notes import Notes

TYPES: Final = ("string", "integer", "number", "boolean", "null", "array", "object")
_MOST_VARIANTS: Final = 200
_MOST_DEPTH: Final = 40
_FOR_PEOPLE: Final = frozenset(
    {"title", "description", "default", "example", "examples", "deprecated", "$comment"}
)
_UNRESTRICTING: Final = _FOR_PEOPLE | frozenset(
    {"readOnly", "writeOnly", "nullable", "discriminator", "$schema", "$id", "$anchor"}
    | {"$defs", "definitions"}
)
_UNSUPPORTED: Final = (
    *("not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies"),
    *("patternProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems"),
    *("contains", "minContains", "maxContains", "uniqueItems", "minProperties", "maxProperties"),
    *("format", "multipleOf", "contentEncoding", "contentMediaType", "contentSchema"),
    *("$dynamicRef", "$recursiveRef"),
)
_NO_EFFECT: Final[dict[str, tuple[Any, ...]]] = {  # keyword -> its values that restrict nothing
    "uniqueItems": (False,),
    "minProperties": (0,),
    "unevaluatedProperties": (True,),
    "not": (False,),
    "multipleOf": (1,),
}
_UNION: Final = ("anyOf", "oneOf")


def is_reference(schema: Any) -> bool:
    """Return True if a schema is a `$ref` and has no other keyword that restricts values."""
    return (
        isinstance(schema, dict)
        and isinstance(schema.get("$ref"), str)
        and set(schema) - {"$ref"} <= _UNRESTRICTING
    )


class Merger:
    """A maker of plain schemas for one tool. `root` is the schema in which references are looked
    up."""

    def __init__(self, root: Schema, notes: Notes) -> None:
        self.root, self.notes = root, notes

    def variants(self, schema: Any, place: str, depth: int = 0) -> list[Schema]:
        """Return the alternatives of a schema as plain schemas: [{}] if every value fits, [] if
        none does."""
        if schema is False:
            return []
        if not isinstance(schema, dict) or not set(schema) - _UNRESTRICTING:
            if not isinstance(schema, dict | bool):
                self.notes.wider(place, f"{schema!r:.60} is not a schema: any value fits")
            return [{}]
        if depth > _MOST_DEPTH:
            self.notes.wider(place, "the schema leads back to itself: any value fits")
            return [{}]
        schemas = [{k: v for k, v in schema.items() if k not in ("$ref", "allOf", *_UNION)}]
        for parts in self._schema_parts(schema, place):
            alternatives = [v for part in parts for v in self.variants(part, place, depth + 1)]
            schemas = self._product(schemas, alternatives, place)
        return schemas

    def _schema_parts(self, schema: Schema, place: str) -> Iterable[list[Any]]:
        """Yield the parts of a schema, each as a list of alternatives."""
        if "$ref" in schema:
            yield [self.target(schema["$ref"], place)]
        listed = schema.get("allOf")
        for part in listed if isinstance(listed, list) else []:
            yield [part]
        for key in _UNION:
            parts = schema.get(key)
            if isinstance(parts, list) and parts:
                if key == "oneOf" and not _are_disjoint(parts):
                    self.notes.wider(place, "oneOf is read as anyOf: several may fit")
                yield parts

    def target(self, reference: Any, place: str) -> Any:
        """Return the target of a reference. If there is none, note that and return True, the schema
        of any value."""
        target_schema = target_of(reference, self.root) if isinstance(reference, str) else None
        if target_schema is None:
            where = "out of the schema" if not str(reference).startswith("#") else "to nothing"
            self.notes.wider(place, f"$ref {str(reference)[:80]!r} leads {where}: any value fits")
            return True
        return target_schema

    def _product(self, left: list[Schema], right: list[Schema], place: str) -> list[Schema]:
        pairs = [(a, b) for a in left for b in right]
        if len(pairs) > _MOST_VARIANTS:
            text = f"a union of more than {_MOST_VARIANTS} parts: only the first are in the grammar"
            self.notes.narrower(place, text)
            pairs = pairs[:_MOST_VARIANTS]
        merged = (self._merge(a, b, place) for a, b in pairs)
        return [schema for schema in merged if schema is not None]

    def _merge(self, left: Schema, right: Schema, place: str) -> Schema | None:
        """Return the schema of values that fit both; None if no value does."""
        result = {**left}
        for key, value in right.items():
            if key in _UNRESTRICTING or key not in left or left[key] == value:
                result.setdefault(key, value)
                continue
            combined = _combine(key, left[key], value)
            if combined is None:
                self.notes.wider(place, f"{key} is given twice: {value!r:.60} is not kept")
            else:
                result[key] = combined
        if _excludes_other_keys(left, right):
            self.notes.wider(place, "additionalProperties of one part of allOf is not kept")
            result.pop("additionalProperties", None)
        if "type" in left and "type" in right:
            types = [allowed_types({"type": part["type"]}) for part in (left, right)]
            common_types = (types[0] & types[1]) | _integers(*types)
            if not common_types:
                return None
            result["type"] = sorted(common_types)
        return None if result.get("enum") == [] else result

    def note_unsupported(self, schema: Schema, place: str) -> Schema:
        """Return the schema unchanged. Note each of its keywords that no grammar here expresses."""
        for key in _UNSUPPORTED:
            if key in schema and schema[key] not in _NO_EFFECT.get(key, ()):
                self.notes.wider(place, f"{key} {_short(schema[key])} is not in the grammar")
        return schema


def _short(value: Any) -> str:
    return f"{value!r:.60}" if isinstance(value, str | int | float | bool) else "…"


def _integers(left: set[str], right: set[str]) -> set[str]:
    """Return {"integer"} if one side allows integers and the other numbers, or else set()."""
    pairs = ((left, right), (right, left))
    return {"integer"} if any("integer" in a and "number" in b for a, b in pairs) else set()


def _combine(key: str, left: Any, right: Any) -> Any:
    """Combine two values of one keyword; None if only one of them can be kept."""
    match key:
        case "type":
            return left  # the caller combines the types
        case "properties":
            shared = {k: {"allOf": [left[k], right[k]]} for k in left if k in right}
            return {**left, **right, **shared}
        case "required":
            return list(dict.fromkeys([*left, *right]))
        case "enum":
            return [value for value in left if value in right]
        case "minimum" | "exclusiveMinimum" | "minLength" | "minItems":
            return max(left, right)
        case "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems":
            return min(left, right)
        case "items":
            return {"allOf": [left, right]}
        case "additionalProperties":
            return False if False in (left, right) else {"allOf": [left, right]}
    return None


def _excludes_other_keys(left: Schema, right: Schema) -> bool:
    """Return True if one part forbids other keys than its own, and the other part has such keys."""
    for closed, second in ((left, right), (right, left)):
        if closed.get("additionalProperties") is False:
            own_keys = closed.get("properties", {})
            if any(key not in own_keys for key in second.get("properties", {})):
                return True
    return False


def _are_disjoint(parts: list[Any]) -> bool:
    """Return True if no value can fit two parts, because their types differ or the values that they
    require of one property."""
    if not all(isinstance(part, dict) for part in parts):
        return False
    types = [allowed_types(part) for part in parts]
    listed = [kind for each in types for kind in each]
    if all(types) and len(listed) == len(set(listed)):
        return not {"integer", "number"} <= set(listed)
    keys = set.intersection(*(set(_constants(part)) for part in parts))
    return any(len({repr(_constants(p)[key]) for p in parts}) == len(parts) for key in keys)


def _constants(part: Schema) -> dict[str, Any]:
    """Return the required properties for which the schema allows a single value."""
    constants = {}
    properties = part.get("properties")
    for key, schema in properties.items() if isinstance(properties, dict) else ():
        values = schema.get("enum") if isinstance(schema, dict) else None
        if isinstance(schema, dict) and "const" in schema:
            values = [schema["const"]]
        if isinstance(values, list) and len(values) == 1 and key in part.get("required", []):
            constants[key] = values[0]
    return constants


def types_of(schema: Schema) -> list[str]:
    """Return the JSON types that a plain schema allows. Without `type`, its keywords for objects or
    lists decide."""
    if "type" in schema:
        named = allowed_types({"type": schema["type"]})
        return [kind for kind in TYPES if kind in named] or list(TYPES)
    if "properties" in schema or "required" in schema or "additionalProperties" in schema:
        return ["object"]
    return ["array"] if "items" in schema or "prefixItems" in schema else list(TYPES)


def listed_values(schema: Schema) -> list[Any] | None:
    """Return the values that a schema lists and its types allow; None if it lists none."""
    listed = schema.get("enum")
    if "const" in schema:
        values = [schema["const"]]
        if isinstance(listed, list) and schema["const"] not in listed:
            return []
    elif isinstance(listed, list):
        values = listed
    else:
        return None
    named = allowed_types({"type": schema["type"]}) if "type" in schema else set(TYPES)
    if "number" in named:
        named.add("integer")
    return [value for value in values if json_type(value) in named]
