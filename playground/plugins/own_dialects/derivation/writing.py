"""Find how a template writes values: its style of JSON, its words for values and types, CDATA."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any, Final

from playground.nouns.tools import json_type
from playground.parsing.syntax import JsonStyle, Literals
from playground.parsing.values import PLAIN_JSON, Nested, dump_json
from playground.plugins.own_dialects.asking import KEYS, NAMES, VALUES, AskedCall, AskedTemplate
from playground.plugins.own_dialects.derivation.bodies import Body, bodies_of
from playground.plugins.own_dialects.derivation.frame import TurnFrame

_DEEP: Final = {"x": ["é", {"y": 1}], "z": {}}
_LIST: Final = ["a", {"b": None}]
_WORDS: Final = {"true": True, "false": False, "null": None}
_BY_TYPE: Final = ("a text", 7, 1.5, True, None, ["a"], {"a": 1})  # a value of each JSON type
_ELEMENT: Final = re.compile(r"(\S*)<x>")  # an object's key that is written as an element
# A template may write a text with one of these (special in XML, or a line break) as CDATA.
_CDATA_CHARACTERS: Final = '<>&"\n'


def json_style(text: str) -> JsonStyle:
    """Return the style in which a JSON text was written, or the plain style if none fits."""
    try:
        value = json.loads(text)
    except ValueError:
        return PLAIN_JSON
    last = text.rpartition("\n")[2]
    margin = len(last) - len(last.lstrip(" "))
    for indent, comma, colon, ascii_ in itertools.product(
        (0, 1, 2, 3, 4, 8), (", ", ","), (": ", ":"), (False, True)
    ):
        style = JsonStyle(indent, margin if indent else 0, ", " if indent else comma, colon, ascii_)
        if dump_json(value, style=style) == text:
            return style
    return PLAIN_JSON


def body_fields(template: AskedTemplate, frame: TurnFrame, body: Body) -> dict[str, Any]:
    """Return the fields of a Syntax that say how values are written in a call's body; {} if they
    are written in the default style. (`parameter_fields` is for values in parameters.)"""
    if body.hole == "args:marked":
        return _marked_words(template, frame)
    for value in (_DEEP, "é"):  # "é", as some templates refuse an object without properties
        call = AskedCall(NAMES[0], {KEYS[0]: value})
        region = frame.bare(template.reply((call,)) or "")
        bodies = bodies_of(region, (call,), [template.form.call_id(call, 0)])
        if bodies and bodies[0].hole == body.hole:
            style = json_style(region[bodies[0].start : bodies[0].stop])
            return {"json": style} if style != PLAIN_JSON else {}
    return {}


def _marked_words(template: AskedTemplate, frame: TurnFrame) -> dict[str, Any]:
    """Return the field with the words for true, false and null in a body `{args:marked}`."""
    words = {}
    for name, value in _WORDS.items():
        region = frame.bare(template.reply((AskedCall(NAMES[0], {KEYS[0]: value}),)) or "")
        match = re.search(rf"{KEYS[0]}:\s*([\w.]+)", region)
        words[name] = match[1] if match else ""
    return _literals(words, "json")


def parameter_fields(
    template: AskedTemplate, frame: TurnFrame, typed: str, quoted: bool
) -> dict[str, Any]:
    """Return the fields of a Syntax that say how the values of parameters are written.

    `typed` is a pattern of the text before a value; a group in it matches the word for the value's
    type. If `quoted`, all values are JSON, even texts.
    """
    if quoted:
        style = json_style(value_text(template, frame, _DEEP, typed, True)[1])
        return {"json": style} if style != PLAIN_JSON else {}
    texts = {
        repr(value): value_text(template, frame, value, typed)
        for value in (True, False, None, _LIST, _DEEP)
    }
    words = {name: texts[repr(value)][1] for name, value in _WORDS.items()}
    nested: Nested = "python" if texts[repr(_LIST)][1] == repr(_LIST) else "json"
    style = json_style(texts[repr(_DEEP)][1])
    element = _ELEMENT.match(texts[repr(_DEEP)][1])
    special = _cdata_characters(template, frame, typed)
    return {
        **_literals(words, nested),
        **({"json": style} if style != PLAIN_JSON else {}),
        **({"cdata": True, "cdata_for": special} if special else {}),
        **({"element": element[1]} if element and element[1] else {}),
        **_type_words(template, frame, typed),
    }


def _literals(words: dict[str, str], nested: Nested) -> dict[str, Any]:
    """Return the field `literals`, or {} if it has its default value. An empty word gets its
    default; if two words are then equal, all words get their defaults."""
    clear_words = {name: word for name, word in words.items() if word.strip()}
    literals = Literals(**clear_words, nested=nested)
    if len(literals.words) < len(_WORDS):
        literals = Literals(nested=nested)
    return {"literals": literals} if literals != Literals() else {}


def _type_words(template: AskedTemplate, frame: TurnFrame, typed: str) -> dict[str, Any]:
    if "(" not in typed.replace(r"\(", ""):
        return {}
    words = []
    for value in _BY_TYPE:
        word = value_text(template, frame, value, typed)[0]
        if word and word != json_type(value):
            words.append((json_type(value), word))
    return {"type_words": tuple(dict.fromkeys(words))} if words else {}


def value_text(
    template: AskedTemplate, frame: TurnFrame, value: Any, typed: str, quoted: bool = False
) -> tuple[str, str]:
    """Return the word for a value's type, and the value's text; both "" if the value is not found.

    `typed` is a pattern of the text between key and value. The call also has a second value, so
    that the text between both shows where the first ends. If `quoted`, quotes belong to the value.
    """
    known_call = AskedCall(NAMES[0], {KEYS[0]: VALUES[0], KEYS[1]: VALUES[1]})
    other_call = AskedCall(NAMES[0], {KEYS[0]: value, KEYS[1]: VALUES[1]})
    plain = frame.bare(template.reply((known_call,)) or "")
    region = frame.bare(template.reply((other_call,)) or "")
    after = plain.rpartition(VALUES[0])[2][int(quoted) :]
    key_start = region.find(KEYS[0])
    before = re.compile(typed).match(region, key_start + len(KEYS[0])) if key_start >= 0 else None
    if before is None or not after or not region.endswith(after):
        return "", ""
    word = before[1] if before.re.groups else ""
    return word, region[before.end() : len(region) - len(after)]


def _cdata_characters(template: AskedTemplate, frame: TurnFrame, typed: str) -> str:
    """Return the characters that make the template write a text in a CDATA section."""
    return "".join(
        char
        for char in _CDATA_CHARACTERS
        if value_text(template, frame, f"a{char}b", typed)[1].startswith("<![CDATA[")
    )
