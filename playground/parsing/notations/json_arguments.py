"""The arguments as one JSON object. Other notations read such an object by this module, too.

An object ends by balance: a closer inside a string belongs to the string.
"""

from __future__ import annotations

from contextlib import suppress
from html import unescape
from json import JSONDecodeError
from typing import Any, Final

from playground.base.json_numbers import load_json, load_strict_json, repeated_keys
from playground.parsing import json_walk, relaxed_json
from playground.parsing.choice import Choice
from playground.parsing.choice_point import choice_point
from playground.parsing.claims import Claim
from playground.parsing.declaration import Declaration, JsonShape
from playground.parsing.form import Form
from playground.parsing.notations.notation import CallValue, Lead, Notation
from playground.parsing.open_call import BrokenCall, OpenCall
from playground.parsing.patterns import SPACE
from playground.parsing.reader import Reader, decoded, json_mistake
from playground.parsing.scanner import Walk
from playground.parsing.values import dump_json, has_raw_breaks

_WRAPPERS: Final = ("arguments", "parameters", "properties", "input", "args", "params", "kwargs")
# models write these in place of an object: the object as a text, or null
_INSTEAD: Final = r'"(?:\s{0,16}+\{|")|null(?!\w)'
ESCAPED: Final = choice_point(Choice(r'\{\s{0,16}+\\"'))
_BODY: Final = choice_point(Choice(rf"(?:\{{|{_INSTEAD})"))


class JsonArguments(Notation):
    hole = "args:json"
    meaning = "the arguments as a JSON object"
    values = "JSON"
    family = "A name, then its arguments as JSON"
    fields = {"call": "<function={name}>{args:json}</function>"}
    example = '<function=write_file>{"path": "a.py", "lines": [1, 2]}</function>'
    first = "{"
    mends_brackets = True
    restarts = True
    repeats = True

    def write(self, syntax: Declaration, call: CallValue) -> dict[str, str]:
        return {self.hole: dump_json(call.arguments, style=syntax.json)}

    def announce(self, lead: Lead) -> str:
        # without arguments models leave the object out, so the closer is proof as well
        body = rf"\{{|{_INSTEAD}|{lead.closing}" if lead.closing else rf"\{{|{_INSTEAD}"
        return f"{SPACE}(?:{body})"

    def read(self, reader: Reader, call: OpenCall, form: Form) -> Walk[None]:
        if (yield from reader.scanner.match_here(_BODY)) is not None:
            yield from claim_arguments(reader, call)
        decode_arguments(reader, call, form.syntax.shape)


def claim_arguments(reader: Reader, call: OpenCall) -> Walk[str]:
    """Claim one JSON value as the call's arguments; `decode_arguments` reads it."""
    scanner = reader.scanner
    escaped = yield from scanner.match_here(ESCAPED)
    complete = None if escaped else json_walk.complete_value(scanner)
    if complete is not None:
        value, stop = complete
        return reader.claim_value(call, stop - scanner.at, value)

    def walk(emit: Claim) -> Walk[None]:
        if escaped:
            return json_walk.escaped_object(scanner, emit)
        return json_walk.value(scanner, emit, call.restart)

    return (yield from reader.claim_all(call, "(JSON)", walk))


def read_escaped(text: str) -> Any:
    """Return the value of JSON with escaped quotes. Raises ValueError or RecursionError."""
    return load_json(load_json(f'"{text.strip()}"'))


def decode_arguments(reader: Reader, call: OpenCall, shape: JsonShape) -> None:
    """Set the call's arguments from their raw text. No text, or null, gives the empty object.
    Raises BrokenCall for text that cannot be read, and for a value that is not an object."""
    texts = [text for _, text in call.raw if text.strip() not in ("", "{}", "null")]
    last = texts[-1] if texts else ""
    if texts:
        value = _load(call, last)
    else:
        value = {} if any(text.strip() == "{}" for _, text in call.raw) else None
    if isinstance(value, str) and shape.text_key:
        value = {shape.text_key: value}
    if isinstance(value, str):  # OpenAI's form: JSON inside a JSON string
        last, value = value, _load(call, value) if value.strip() else None
        if isinstance(value, dict) and not shape.arguments_as_text:
            reader.scanner.note("arguments-as-text", call.place)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        value = value[0]
        reader.scanner.note("arguments-wrapped", call.place, "the object of arguments is in a list")
    if not isinstance(value, dict | None):
        last_text = texts[-1].strip()
        message = f"the arguments must be a JSON object, not {last_text:.60}"
        raise BrokenCall("arguments-not-object", message)
    if value is None:
        reader.scanner.note("no-arguments", call.place)
    call.arguments = value or {}
    for key in repeated_keys(last, call.arguments):
        message = f"{key} is given more than once: the last value counts"
        reader.scanner.note("duplicate-argument", f"{call.place}, argument {key}", message)
    unwrap(reader, call)
    if call.relaxed:
        reader.scanner.note("relaxed-json", call.place, _complaint(texts[-1]) if texts else "")


def _complaint(text: str) -> str:
    """Return the message that strict parsers refuse a text, and why; "" if they read it."""
    try:
        load_strict_json(text)
    except JSONDecodeError as error:
        return f"strict parsers refuse this JSON: {json_mistake(error)}; read as it was meant"
    except (ValueError, RecursionError):
        pass
    return ""


def unwrap(reader: Reader, call: OpenCall) -> None:
    """Unwrap arguments that are in one more object, under a key that the tool does not have."""
    if len(call.arguments) != 1 or call.tool is None:
        return
    ((key, value),) = call.arguments.items()
    if key not in _WRAPPERS or key in call.properties:
        return
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _read_object(value)
    if isinstance(value, dict) and value and set(value) <= call.properties:
        call.arguments = value
        reader.scanner.note("arguments-wrapped", call.place)


def _read_object(text: str) -> Any:
    try:
        return relaxed_json.load(text)
    except (ValueError, RecursionError):
        return None


def _load(call: OpenCall, text: str) -> Any:
    """Return the value of a JSON text. If the text is not strict JSON, mark the call `relaxed`."""
    read_text, value = call.read_value
    if read_text is text:
        return value
    with suppress(ValueError, RecursionError):
        return load_strict_json(text)
    try:
        value = decoded(load_json, text, "malformed-json")
        call.relaxed |= has_raw_breaks(text)
        return value
    except BrokenCall as broken:
        if broken.code != "malformed-json":
            raise
        for load in (relaxed_json.load, read_escaped, lambda text: load_json(unescape(text))):
            try:
                value = load(text)
            except (ValueError, TypeError, RecursionError):
                continue
            call.relaxed = True
            return value
        raise
