"""The arguments as one JSON object. The other notations that may hold JSON read it from here.

An object ends by balance: a closer inside a string is the string's own.
"""

from __future__ import annotations

from typing import Any

from playground.json_numbers import load_json
from playground.parsing import json_walk, relaxed_json
from playground.parsing.declaration import Declaration, JsonShape
from playground.parsing.form import Form
from playground.parsing.notations.notation import CallValue, Lead, Notation
from playground.parsing.open_call import BrokenCall, OpenCall
from playground.parsing.patterns import SPACE
from playground.parsing.reader import Reader, decoded
from playground.parsing.scanner import Walk
from playground.parsing.values import dump_json


class JsonArguments(Notation):
    hole = "args:json"
    meaning = "the arguments as a JSON object"
    values = "JSON"
    fields = {"call": "<function={name}>{args:json}</function>"}
    example = '<function=write_file>{"path": "a.py", "lines": [1, 2]}</function>'
    first = "{"
    mends_brackets = True
    restarts = True
    repeats = True

    def write(self, syntax: Declaration, call: CallValue) -> dict[str, str]:
        return {self.hole: dump_json(call.arguments)}

    def announce(self, lead: Lead) -> str:
        # without arguments models leave the object out: the closer is proof as well
        body = rf"\{{|{lead.closing}" if lead.closing else r"\{"
        return f"{SPACE}(?:{body})"

    def read(self, reader: Reader, call: OpenCall, form: Form) -> Walk[None]:
        if (yield from reader.scanner.peek()) == "{":
            yield from claim_arguments(reader, call)
        decode_arguments(reader, call, form.syntax.shape)


def claim_arguments(reader: Reader, call: OpenCall) -> Walk[str]:
    """Claim one JSON value as the call's arguments; `decode_arguments` reads it."""
    scanner = reader.scanner
    return reader.claim_all(
        call, "(JSON)", lambda emit, keep: json_walk.value(scanner, emit, keep, call.restart)
    )


def decode_arguments(reader: Reader, call: OpenCall, shape: JsonShape) -> None:
    """Arguments from their raw text, once: absent and null ones are the empty object."""
    given = [text for _, text in call.raw if text.strip() not in ("", "{}", "null")]
    value = _loaded(call, given[-1] if given else "{}")
    if isinstance(value, str) and shape.text_key:
        value = {shape.text_key: value}
    if isinstance(value, str):  # OpenAI's form: JSON inside a JSON string
        value = _loaded(call, value) if value.strip() else None
        if isinstance(value, dict) and not shape.arguments_as_text:
            reader.scanner.note("arguments-as-text", call.place)
    if not isinstance(value, dict | None):
        raise BrokenCall("arguments-not-object")
    call.arguments = value or {}
    if call.relaxed:
        reader.scanner.note("relaxed-json", call.place)


def _loaded(call: OpenCall, text: str) -> Any:
    """The value of a JSON text; where it is not quite JSON, of what it says all the same."""
    try:
        return decoded(load_json, text, "malformed-json")
    except BrokenCall as broken:
        if broken.code != "malformed-json":
            raise
        try:
            value = relaxed_json.load(text)
        except (ValueError, RecursionError):
            raise broken from None
        call.relaxed = True
        return value
