"""Name and arguments inside one JSON object, whose members a `JsonShape` declares.

The reader decides at each key what to do with its value, so the members may come in any order.
"""

from __future__ import annotations

import re
from typing import Final

from playground.base.json_numbers import load_json
from playground.parsing import json_walk, relaxed_json
from playground.parsing.choice import Choice
from playground.parsing.choice_point import choice_point
from playground.parsing.claims import GrowingText
from playground.parsing.declaration import Declaration, JsonShape
from playground.parsing.form import Form
from playground.parsing.notations.json_arguments import (
    ESCAPED,
    claim_arguments,
    decode_arguments,
    read_escaped,
)
from playground.parsing.notations.json_members import (
    ENVELOPE,
    call_object,
    first_member,
    head,
    members_of,
)
from playground.parsing.notations.notation import CallValue, Lead, Notation
from playground.parsing.open_call import BrokenCall, OpenCall
from playground.parsing.patterns import SPACE, has_words
from playground.parsing.reader import Reader, decoded
from playground.parsing.scanner import Scanner, Walk
from playground.parsing.values import dump_json, has_raw_breaks, is_json

_ALIASES: Final = ("arguments", "parameters", "args", "params", "input", "kwargs")
_FUNCTION: Final = "function"  # OpenAI wraps a call in this member
_NAMES: Final = ("name", "tool", "tool_name", "function", "function_name")
_NO_ARGUMENTS: Final = ("", "{}", "null")
_BARE_START: Final = re.compile(r"[A-Za-z_]")
_KEY: Final = "a key in double quotes"
_BARE_KEY: Final = choice_point(Choice(r"[A-Za-z_$][\w$\-]{0,127}+"))
NAME_LIMIT: Final = 256
_NOT_IN_NAME: Final = re.compile(r"[\n<{]")
_BARE_NAME: Final = choice_point(Choice(r"[A-Za-z_][\w.\-]{0,127}+(?=\s{0,16}+(?:,|(?P<last>\})))"))
# the inside of a string, up to its closing quote; an escaped quote closes nothing
_QUOTED: Final = {
    quote: re.compile(rf"[^{quote}\\]*(?:\\.[^{quote}\\]*)*(?={quote})") for quote in "\"'"
}


class JsonCall(Notation):
    hole = "call:json"
    names_tool = True
    meaning = "name and arguments inside one JSON object, its keys by `JsonShape`"
    values = "JSON"
    family = "Name and arguments in one JSON object"
    fields = {"call": "<tool_call>{call:json}</tool_call>"}
    example = (
        '<tool_call>{"name": "write_file", "arguments": {"path": "a.py", "lines": [1, 2]}}'
        "</tool_call>"
    )
    first = "{"
    mends_brackets = True
    restarts = True
    repeats = True
    proves_itself = True

    def write(self, syntax: Declaration, call: CallValue) -> dict[str, str]:
        shape = syntax.shape
        numbers = {"id": call.call_id, "index": str(call.index), "number": str(call.index + 1)}
        call_value = call_object(shape, call.name, call.arguments, numbers[shape.id_is])
        return {self.hole: dump_json(call_value, style=syntax.json)}

    def announce(self, lead: Lead) -> str:
        shape = lead.syntax.shape
        if lead.before and has_words(lead.before):
            return rf"{SPACE}\{{"
        if lead.before:  # punctuation, which any code may have
            return SPACE + first_member(shape, (*_NAMES, *ENVELOPE))
        # only the object itself can prove that it is a call and not JSON in prose
        if lead.strict:
            return head(shape)
        return first_member(shape, (*_NAMES, *ENVELOPE)) if lead.firm else r"\{"

    def without_body_start(self, syntax: Declaration) -> str:
        shape = syntax.shape
        if shape.name_is_key:
            return ""
        keys = "|".join(map(re.escape, dict.fromkeys((shape.arguments[-1], *shape.aliases))))
        return rf'(?<![^\w.\-"])"{SPACE},{SPACE}"(?:{keys})"{SPACE}:'

    def read(self, reader: Reader, call: OpenCall, form: Form) -> Walk[None]:
        shape = form.syntax.shape
        if (yield from reader.scanner.match_here(ESCAPED)):
            yield from _read_escaped_object(reader, call, shape)
        elif shape.name_is_key:
            yield from _read_keyed_object(reader, call)
        else:
            yield from _walk_object(reader, call, shape, ())
        call.body_ended = True
        unused = _take_strays(reader, call)
        decode_arguments(reader, call, shape)
        for key, text in unused.items():
            message = f"{key!r} is not a member of a call: {text!r:.80}"
            reader.scanner.note("unexpected-text", call.place, message)


# the walk


def _walk_object(
    reader: Reader, call: OpenCall, shape: JsonShape, path: tuple[str, ...], doubled: bool = False
) -> Walk[None]:
    """Walk one object; at each key decide whether its value is the name, the arguments or neither.

    `path` are the keys that lead to the object. Its braces may be `doubled`, as templates write
    them. After a complete member `function` the closing brace may be missing.
    """
    scanner, start, is_complete = reader.scanner, reader.scanner.offset, False
    scanner.emit_markup(1)
    expected, after_comma = _KEY, False
    while True:
        char = scanner.peek()
        if not char or char == "/" or char.isspace():  # otherwise no generator is needed
            call.relaxed |= yield from json_walk.skip_gap(scanner)
            char = scanner.peek() or ""  # a gap ends before a character, or with the reply
        match char:
            case "{" if not doubled and scanner.offset == start + 1:
                call.relaxed = True
                yield from _walk_object(reader, call, shape, path, doubled=True)
            case "}":
                call.relaxed |= after_comma
                scanner.emit_markup(1)
                return
            case ",":
                call.relaxed |= expected == _KEY
                scanner.emit_markup(1)
                expected, after_comma = _KEY, True
            case _ if is_complete and char not in ('"', "'"):
                scanner.note("missing-closer", call.place)
                return
            case "":
                raise BrokenCall("truncated-call")
            case _:
                call.relaxed |= expected != _KEY
                key = yield from _read_key(scanner, call, char, expected)
                value_start, after_comma = scanner.offset, False
                yield from _read_member(reader, call, shape, (*path, key))
                is_complete = (*path, key) == (_FUNCTION,) and bool(call.name and call.raw)
                expected = "`,` or `}`" if scanner.offset > value_start else "a value"


def _read_escaped_object(reader: Reader, call: OpenCall, shape: JsonShape) -> Walk[None]:
    """Read an object with escaped quotes, as in a JSON string, once it has ended."""
    text = yield from claim_arguments(reader, call)
    value = decoded(read_escaped, text, "malformed-json")
    name, arguments = members_of(value, shape)
    if not isinstance(name, str):
        raise BrokenCall("missing-name")
    reader.set_name(call, 0, name)
    call.raw[:] = [(None, dump_json(arguments))]  # in place of the text of the whole call
    call.relaxed = True


def _read_keyed_object(reader: Reader, call: OpenCall) -> Walk[None]:
    """Read `{"name": {arguments}}`: one member, whose key is the call's name."""
    scanner = reader.scanner
    scanner.emit_markup(1)
    if scanner.peek() != '"':
        call.relaxed |= yield from json_walk.skip_gap(scanner)
    if scanner.peek() != '"':
        raise BrokenCall("malformed-json", "expected the call's name in double quotes")
    yield from quoted_name(reader, call)
    yield from _read_colon(scanner, call)
    yield from claim_arguments(reader, call)
    if scanner.peek() != "}":
        call.relaxed |= yield from json_walk.skip_gap(scanner)
    char = scanner.peek()
    if char != "}":
        code = "malformed-json" if char else "truncated-call"
        raise BrokenCall(code, f"the call's object must end here, not {char!r}")
    scanner.emit_markup(1)


def _read_key(scanner: Scanner, call: OpenCall, first: str, expected: str) -> Walk[str]:
    """Read a member's key and its colon. The key may also be bare or in single quotes."""
    text = GrowingText()
    if first in "\"'":
        yield from json_walk.claim_balanced(scanner, scanner.claim_markup(text))
    else:
        marker = yield from scanner.match_here(_BARE_KEY)
        if marker is None:
            raise BrokenCall("malformed-json", f"expected {expected}, not {first!r}")
        text.add(f'"{marker.text}"')
        scanner.emit_markup(marker.size)
    call.relaxed |= first != '"'
    yield from _read_colon(scanner, call)
    return string_value(text.take())


def _read_colon(scanner: Scanner, call: OpenCall) -> Walk[None]:
    if scanner.peek() != ":":
        call.relaxed |= yield from json_walk.skip_gap(scanner)
    char = scanner.peek()
    if char != ":":
        code = "malformed-json" if char else "truncated-call"
        raise BrokenCall(code, f"expected a colon after a key, not {char!r}")
    scanner.emit_markup(1)
    while not scanner.skip_space(json_walk.BLANKS):
        yield
    if json_walk.goes_on(scanner):  # rare, so most members need no generator
        call.relaxed |= yield from json_walk.skip_gap(scanner)


def _read_member(
    reader: Reader, call: OpenCall, shape: JsonShape, path: tuple[str, ...]
) -> Walk[None]:
    """Read the value of the member at `path`: reasoning, the name, the arguments, an object around
    these, another member of the form, or a stray member."""
    scanner, text = reader.scanner, GrowingText()
    first = scanner.peek() or ""
    # True if the arguments' member belongs into this object
    holds_arguments = path[:-1] == shape.arguments[:-1]
    quoted = first in ('"', "'")
    call.relaxed |= first == "'"
    if shape.thought and path == (shape.thought,) and first == '"':
        yield from json_walk.claim_balanced(scanner, scanner.emit_reasoning)
    elif path == shape.name and call.name is None and quoted:
        yield from quoted_name(reader, call)
    elif path == shape.name and call.name is None and _BARE_START.match(first):
        yield from bare_name(reader, call)
    elif holds_arguments and path[-1] in (shape.arguments[-1], *shape.aliases):
        if path[-1] != shape.arguments[-1]:
            message = f"{path[-1]!r} stands for {shape.arguments[-1]!r}"
            scanner.note("mended-form", call.place, message)
        yield from _read_arguments(reader, call)
    elif first == "{" and path in (shape.name[: len(path)], shape.arguments[: len(path)]):
        yield from _walk_object(reader, call, shape, path)
    elif call.name is None and (yield from _read_other_name(reader, call, shape, path)):
        pass
    elif _is_form_member(path, shape):
        yield from json_walk.value(scanner, scanner.claim_markup(text))
        member = text.take()
        call.relaxed |= not is_json(member) or has_raw_breaks(member)
        _store_member(call, shape, path, member)
    else:
        yield from json_walk.value(scanner, reader.emit_argument(call, path[-1], text))
        call.strays[path[-1]] = text.take()


def _read_arguments(reader: Reader, call: OpenCall) -> Walk[None]:
    """Read the arguments. Raises BrokenCall if they and a second name belong to another call."""
    if call.raw and call.second_name:
        raise BrokenCall("malformed-json", f"{call.name} and {call.second_name} in one object")
    if call.raw:
        reader.scanner.note(
            "duplicate-argument",
            call.place,
            "the call has two objects of arguments: the last counts",
        )
    yield from claim_arguments(reader, call)


def _store_member(call: OpenCall, shape: JsonShape, path: tuple[str, ...], text: str) -> None:
    """Store the call's id, or a second name, if the member at `path` is one of them."""
    if shape.id and path == (shape.id,):
        call.call_id = string_value(text) or call.call_id
    elif path == shape.name:
        call.second_name = string_value(text)


def _read_other_name(
    reader: Reader, call: OpenCall, shape: JsonShape, path: tuple[str, ...]
) -> Walk[bool]:
    """Read the member at `path` if it names the call in another form that models know; return False
    if it does not.

    The name may be inside `function`, be the key of the arguments, or have another key.
    """
    scanner, key = reader.scanner, path[-1]
    first = scanner.peek()
    if len(path) > 1:
        return False
    if first == "{" and key == _FUNCTION:
        scanner.note("arguments-wrapped", call.place, f"the call is in an object {key!r}")
        yield from _walk_object(reader, call, shape, ())
    elif first == "{" and key in reader.tools:
        scanner.note("mended-name", call.place, f"the name {key!r} is written as a key")
        reader.set_name(call, 0, key)
        yield from claim_arguments(reader, call)
    elif first in ('"', "'") and key in _NAMES:
        message = f"the name has the key {key!r}, not {'.'.join(shape.name)!r}"
        scanner.note("mended-name", call.place, message)
        yield from quoted_name(reader, call)
    else:
        return False
    return True


def _is_form_member(path: tuple[str, ...], shape: JsonShape) -> bool:
    """Return True if the member at `path` belongs to the form, or to an API's envelope."""
    constants = (key for key, _ in shape.constants)
    return path == shape.name or path[-1] in (shape.id or "id", *constants, *ENVELOPE)


def _take_strays(reader: Reader, call: OpenCall) -> dict[str, str]:
    """If the call has no arguments yet, make them of its stray members. Return the stray members
    that are not arguments."""
    argument_keys = _argument_keys(call)
    if argument_keys:
        texts = [call.strays[key] for key in argument_keys]
        pairs = [
            f"{dump_json(key)}: {text}" for key, text in zip(argument_keys, texts, strict=True)
        ]
        object_text = texts[0] if _holds_all(argument_keys[0], call) else f"{{{', '.join(pairs)}}}"
        call.raw.append((None, object_text))
        message = f"{', '.join(argument_keys)} next to the name, not in the arguments' object: read"
        reader.scanner.note("arguments-elsewhere", call.place, message)
    return {key: text for key, text in call.strays.items() if key not in argument_keys}


def _argument_keys(call: OpenCall) -> list[str]:
    """Return the keys of the stray members that are arguments; [] if the call has arguments.

    These are the tool's own parameters; or one object under another name; or all stray members, if
    the tool is not known.
    """
    if any(text.strip() not in _NO_ARGUMENTS for _, text in call.raw):
        return []
    declared = [key for key in call.strays if key in call.properties]
    if declared or call.raw:
        return declared
    objects = [key for key in call.strays if _holds_all(key, call)]
    return objects[:1] or ([] if call.tool else list(call.strays))


def _holds_all(key: str, call: OpenCall) -> bool:
    """Return True if a stray member is the object of all arguments, not a single argument."""
    return key not in call.properties and (key in _ALIASES or call.strays[key].startswith("{"))


def bare_name(reader: Reader, call: OpenCall) -> Walk[None]:
    """Read a name without quotes. If there are no arguments, as in `{"name": none}`, it must be a
    tool's name."""
    marker = yield from reader.scanner.match_here(_BARE_NAME)
    if marker is None:
        raise BrokenCall("missing-name")
    alone = marker.named.get("last") and not call.raw and not call.strays
    if alone and marker.text not in reader.tools:
        raise BrokenCall(
            "malformed-json", f"{marker.text} is not a text, and there are no arguments"
        )
    call.relaxed = True
    reader.set_name(call, marker.size, marker.text)


def quoted_name(reader: Reader, call: OpenCall) -> Walk[None]:
    """Wait until the name's string has ended, then set the call's name; the quotes are markup."""
    scanner, quote = reader.scanner, reader.scanner.peek()
    assert quote  # the caller has checked that it is a quote
    scanner.emit_markup(1)
    while True:
        inside = _QUOTED[quote].match(scanner.text, scanner.at)
        text = inside[0] if inside else scanner.text[scanner.at :]
        # checked before the length, so that chunks do not decide which fault is reported
        if _NOT_IN_NAME.search(text[: NAME_LIMIT + 1]):  # the closing quote was forgotten
            raise BrokenCall("missing-name", "the call's name never ends")
        # held text is searched again with every chunk, in quadratic time without a limit
        if len(text) > NAME_LIMIT:
            raise BrokenCall("missing-name", f"no name is longer than {NAME_LIMIT} characters")
        if inside:
            break
        if scanner.ended:
            raise BrokenCall("truncated-call")
        yield
    name = string_value(f"{quote}{text}{quote}")
    if not name:
        raise BrokenCall("missing-name")
    reader.set_name(call, len(text), name)
    scanner.emit_markup(1)


def string_value(text: str) -> str:
    """Return the value of a JSON string, in double or single quotes; "" for anything else."""
    try:
        value = load_json(text) if text[:1] == '"' else relaxed_json.load(text)
    except (ValueError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""
