"""Grammars of the bodies of calls, with a function for each notation. They allow the texts that
`Notation.write` writes; exceptions are noted (`notes.narrower`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from playground.nouns.tools import Schema, allowed_types
from playground.parsing.declaration import written_name
from playground.parsing.grammars.call_rules import CALL_ID, CallRules
from playground.parsing.grammars.expressions import (
    IMPOSSIBLE,
    Expression,
    FreeText,
    either,
    in_order,
    optional,
    repeat,
    token,
)
from playground.parsing.grammars.styles import Style, bare_key, marked_style, python_style
from playground.parsing.grammars.texts import ANY, LINES, SOME, TextShape, beginning, trimmed_text
from playground.parsing.grammars.values import RawValues
from playground.parsing.grammars.words import longest_word, value_words
from playground.parsing.notations import VALUES
from playground.parsing.notations.json_members import key_order
from playground.parsing.template import Hole, declared_hole, holes_of, leading_text

_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*\Z")


def call_of(rules: CallRules, first: bool) -> Expression:
    """Build a call by its template. `first` is True if no call comes before it."""
    template = rules.syntax.call_template
    body = BODIES[declared_hole(template.body, BODIES)]
    before = (rules.piece(piece, first) for piece in template.before)
    return in_order(*before, body(rules))


# JSON


def _arguments(call: CallRules, style: Style) -> Expression:
    """Build the arguments as one object."""
    rules = call.schema_rules(style)
    schema = {**call.tool.input_schema}
    schema.setdefault("type", "object")
    return rules.style.as_written(rules.value(schema, call.place))


def _json_arguments(call: CallRules) -> Expression:
    return in_order(_arguments(call, call.json_style()), call.after)


def _json_call(call: CallRules) -> Expression:
    """Build one object, its members in the shape's order, or the arguments under the name."""
    shape, style = call.syntax.shape, call.json_style()
    if shape.name_is_key:
        member = in_order(style.key(call.tool.name), _arguments(call, style))
        return in_order(style.within("{", member, "}"), call.after)
    inside = call.json_style(in_text=True) if shape.arguments_as_text else style
    arguments = _arguments(call, inside)
    if shape.arguments_as_text:
        arguments = in_order('"', arguments, '"')
    elif shape.text_key:
        arguments = either([*_one_text(call, shape.text_key, style), arguments])
    members: dict[str, Any] = {}
    if shape.id:
        members[shape.id] = in_order('"', CALL_ID, '"')
    members |= {name: in_order(style.constant(value)) for name, value in shape.constants}
    name = in_order(style.constant(call.tool.name))
    for path, value in ((shape.name, name), (shape.arguments, arguments)):
        node = members
        for step in path[:-1]:
            node = node.setdefault(step, {})
        node[path[-1]] = value
    ordered = {key: members[key] for key in key_order(shape, members)}
    return in_order(_members(ordered, style), call.after)


def _members(members: dict[str, Any], style: Style) -> Expression:
    parts: list[Expression | str] = []
    for name, value in members.items():
        inside = _members(value, style) if isinstance(value, dict) else value
        parts += [style.comma, style.key(name), inside]
    return style.within("{", in_order(*parts[1:]), "}")


def _one_text(call: CallRules, key: str, style: Style) -> list[Expression]:
    """Return the forms of a plain text that is read as the argument `key`, the call's only one; []
    if the tool requires another argument."""
    rules, texts = call.schema_rules(style), []
    for members, _ in call.objects():
        schemas = {name: schema for name, schema, _ in members}
        if key in schemas and not any(needed and name != key for name, _, needed in members):
            text = {"allOf": [schemas[key], {"type": "string"}]}
            texts.append(rules.value(text, f"{call.place}.{key}"))
    return texts


# marked and Python


def _marked_arguments(call: CallRules) -> Expression:
    style = marked_style(call.syntax.string_mark)
    return in_order(_arguments(call, style), call.after)


def _python_arguments(call: CallRules) -> Expression:
    rules = call.schema_rules(python_style())
    comma = rules.style.comma
    alternatives = []
    for members, extra in call.objects():
        listed: list[tuple[Expression, bool]] = []
        for key, schema, needed in members:
            if not _IDENTIFIER.match(key):
                call.notes.narrower(f"{call.place}.{key}", f"{key!r} is not a Python identifier")
                listed += [(IMPOSSIBLE, True)] if needed else []
                continue
            value = rules.value(schema, f"{call.place}.{key}")
            listed.append((in_order(f"{key}=", value), needed))
        other_keys = None
        if extra is not None:
            names = [key for key, _, _ in members]
            value = rules.value(extra, f"{call.place}, other keys")
            other_keys = in_order(token(bare_key(names)), "=", value)
        alternatives.append(rules.join_members(listed, other_keys, comma))
    return in_order(either(alternatives), call.after)


# parameters


def _params(call: CallRules) -> Expression:
    alternatives = []
    for members, extra in call.objects():
        written = []
        for key, schema, needed in members:
            param = _param(call, key, schema)
            written.append(param if needed else optional(param))
        if extra is not None and _takes_text(extra):
            written.append(repeat(_other_param(call, [key for key, _, _ in members], extra)))
        elif extra is not None:
            call.notes.narrower(
                call.place, "other keys would be read as text, which their schema excludes"
            )
        alternatives.append(in_order(*written))
    return in_order(either(alternatives), call.after)


def _takes_text(schema: Any) -> bool:
    return schema is True or (isinstance(schema, dict) and allowed_types(schema) <= {"string"})


def _values(call: CallRules, key: str, text_after: str) -> RawValues:
    words, template = value_words(call.syntax, call.tool, key), call.syntax.param_template
    assert template is not None
    notation = VALUES[template.body]
    if notation.json:  # a value ends by its own quotes and brackets
        rules = call.schema_rules(call.json_style())
        return RawValues(rules, (), text_after, quoted=True)
    call.notes.narrower(call.place, f"values with {' or '.join(map(repr, words))} are left out")
    rules = call.schema_rules(call.json_style(words))
    return RawValues(rules, words, text_after, call.syntax.untyped, notation.block)


def _param(call: CallRules, key: str, schema: Any) -> Expression:
    """Build one parameter, its value by the schema."""
    template = call.syntax.param_template
    assert template is not None
    name = written_name(call.syntax, key)
    holes = set(holes_of(template.before))
    values = _values(call, key, leading_text(template.after, key=name))
    place, read_schema = f"{call.place}.{key}", call.tool.parameter_schema(key)

    def param(value: Expression, **more: str) -> Expression:
        return in_order(leading_text(template.before, key=name, **more), value)

    if "is_text" in holes:
        text = values.text(schema, place) if _reads_text(read_schema) else IMPOSSIBLE
        json = values.json(_without_texts(schema), place)
        return either([param(text, is_text="true"), param(json, is_text="false")])
    if "type" in holes:
        word = call.syntax.type_word
        text = values.text(schema, place) if _reads_text(read_schema) else IMPOSSIBLE
        alternatives = [param(text, type=word("string"))]
        for kind in ("integer", "number", "boolean", "null", "array", "object"):
            json = values.json(_of_type(schema, kind), place)
            alternatives.append(param(json, type=word(kind)))
        return either(alternatives)
    return param(values.value(schema, read_schema, place))


def _reads_text(schema: Schema) -> bool:
    types = allowed_types(schema)
    return not types or "string" in types


def _without_texts(schema: Any) -> Any:
    others = ["number", "boolean", "null", "array", "object"]
    return _of_type(schema, *others)


def _of_type(schema: Any, *kinds: str) -> Any:
    return {"allOf": [schema, {"type": list(kinds)}]}


def _other_param(call: CallRules, names: Sequence[str], schema: Any) -> Expression:
    """Build a parameter that the schema does not name. Its value is read as text."""
    template = call.syntax.param_template
    assert template is not None
    if "key" in holes_of(template.after) or {"type", "is_text"} & set(holes_of(template.before)):
        call.notes.narrower(call.place, "keys that the schema does not name are not allowed")
        return IMPOSSIBLE
    at = template.before.index(Hole("key"))
    before, after = leading_text(template.before[:at]), leading_text(template.before[at + 1 :])
    values = _values(call, "", leading_text(template.after))
    value = values.value(schema, {}, f"{call.place}, other keys")
    return in_order(before, token(bare_key(names)), after, value)


# plain texts


def _texts(call: CallRules) -> Expression:
    """Build arguments that are plain texts; each ends where the template's next piece begins. A
    dialect with `objects` also allows one JSON object in place of all texts."""
    syntax, template = call.syntax, call.syntax.call_template
    keys = tuple(name.removeprefix("text:") for name in template.holes)
    split_holes = (name.partition(":") for name in holes_of(template.before))
    lines = tuple(key for kind, _, key in split_holes if kind == "line")
    alternatives = []
    for members, _ in call.objects():
        schemas = {key: schema for key, schema, _ in members}
        needed = {key for key, _, must in members if must}
        if needed <= {*keys, *lines} <= set(schemas):
            alternatives.append(in_order(*_each_text(call, schemas)))
    if syntax.objects:
        words = tuple(filter(None, (*call.forbidden, longest_word(call.after))))
        rules = call.schema_rules(call.json_style(words))
        text = f"arguments in JSON with {' or '.join(map(repr, words))} are left out"
        call.notes.narrower(call.place, text)
        arguments = {"type": "object", **call.tool.input_schema}
        alternatives.append(in_order(rules.value(arguments, call.place), call.after))
    if not alternatives:
        listed = " and ".join(map(repr, (*lines, *keys)))
        call.notes.refuse(call.place, f"its arguments are not the texts {listed}")
    return either(alternatives)


def _each_text(call: CallRules, schemas: dict[str, Any]) -> list[Expression]:
    syntax, template = call.syntax, call.syntax.call_template
    texts: list[Expression] = []
    for hole, pieces in zip(template.holes, template.between, strict=True):
        key = hole.removeprefix("text:")
        ending = leading_text(pieces, name=written_name(syntax, call.tool.name))
        words = (longest_word(ending),) if ending.strip() else call.forbidden
        place = f"{call.place}.{key}"
        call.notes.narrower(place, f"texts with {' or '.join(map(repr, words))} are left out")
        shape = _text_shape(call, ending, _is_needed(call, schemas[key], place))
        texts.append(FreeText(shape, tuple(filter(None, words)), ending, at_end=not ending))
    return texts


def _is_needed(call: CallRules, schema: Any, place: str) -> bool:
    """Return True if a text must not be empty. The rest of its schema is not enforced, which is
    noted."""
    variants = call.schema_rules(call.json_style()).merger.variants(schema, place)
    if any(set(variant) - {"type", "minLength"} for variant in variants):
        call.notes.wider(
            place, "of a text's schema, only its type and whether it may be empty are enforced"
        )
    return any(variant.get("minLength") for variant in variants)


def _text_shape(call: CallRules, ending: str, needed: bool) -> TextShape:
    if call.syntax.line_start and ending and not ending.startswith("\n"):
        return LINES
    if call.syntax.objects:
        return trimmed_text("{")
    if not ending:  # the reader strips it; blanks alone would be an empty text
        return beginning("", empty=False)
    return SOME if needed else ANY


BODIES: Final[dict[str, Callable[[CallRules], Expression]]] = {
    "call:json": _json_call,
    "args:json": _json_arguments,
    "args:marked": _marked_arguments,
    "args:python": _python_arguments,
    "params": _params,
    "text:KEY": _texts,
}
