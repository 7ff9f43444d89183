"""Parameters, one after the other, each value between its own markers, as `param` declares.

A value is raw text. It ends at a closer only if the text after this closer may follow a closer, so
a value may hold its own markers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

from playground.base.errors import SyntaxFault
from playground.base.findings import DECLARED
from playground.nouns.events import MarkupEvent
from playground.parsing import json_walk
from playground.parsing.choice import Kind
from playground.parsing.choice_point import ChoicePoint
from playground.parsing.claims import Claim, GrowingText
from playground.parsing.declaration import Declaration
from playground.parsing.form import Form
from playground.parsing.marker import Marker
from playground.parsing.notations.json_arguments import claim_arguments, decode_arguments, unwrap
from playground.parsing.notations.notation import CallValue, Lead, Neighbours, Notation
from playground.parsing.notations.param_choices import (
    after_call,
    after_object,
    closes_solidly,
    headless_openers,
    inside_call,
    inside_value,
    param_opener,
    param_template,
    value_markers,
)
from playground.parsing.notations.param_values import is_type, param_shape, read_param, write_param
from playground.parsing.open_call import BrokenCall, OpenCall
from playground.parsing.patterns import (
    NAME_END,
    SPACE,
    any_form,
    has_words,
    last_piece,
    without_names,
)
from playground.parsing.reader import Reader
from playground.parsing.scanner import Walk
from playground.parsing.template import Hole, declared_text


class Params(Notation):
    hole = "params"
    meaning = "the parameters, each as `param` says"
    values = "plain text, typed by the tool's schema"
    family = "A tag for each parameter"
    fields = {
        "call": "<function={name}>{params}</function>",
        "param": "<parameter={key}>{value}</parameter>",
    }
    example = (
        "<function=write_file><parameter=path>a.py</parameter>"
        "<parameter=lines>[1, 2]</parameter></function>"
    )
    follows_tags = True
    ends_itself = False  # only the call's closer shows that a parameter was the last

    def check(self, syntax: Declaration) -> None:
        if not syntax.param:
            raise SyntaxFault(f"{syntax.call!r} has {{params}}, but no param template for one")
        separator = syntax.param_separator
        if separator and (separator.strip() or not closes_solidly(param_template(syntax))):
            raise SyntaxFault(
                f"param_separator {separator!r} has to be white space, and parameters have to end"
                f" with more than white space; {syntax.param!r} may hold the separator itself"
            )

    def write(self, syntax: Declaration, call: CallValue) -> dict[str, str]:
        params = [
            write_param(syntax, key, value, call.schema_of(key))
            for key, value in call.arguments.items()
        ]
        return {self.hole: syntax.param_separator.join(params)}

    def announce(self, lead: Lead) -> str:
        syntax = lead.syntax
        # an opener that ends in a literal proves a call; a name or a blank at its end does not
        bare = isinstance(last_piece(syntax.call_template.before), Hole) or _begins_after_blank(
            syntax
        )
        if not (bare or lead.firm or syntax.known_names):
            return ""
        end = f"{SPACE}{lead.closing}" if lead.closing else NAME_END
        json = "" if bare else rf"|{SPACE}\{{"  # an object may replace the parameters
        openers = any_form((param_opener(syntax), *headless_openers(syntax)))
        return f"(?:{SPACE}{without_names(openers)}|{end}{json})"

    def evidence(self, lead: Lead) -> str:
        end = f"|{SPACE}{lead.closing}" if lead.closing else ""
        return f"(?:{SPACE}{param_opener(lead.syntax)}{end})"

    def closer_of(self, key: str, syntax: Declaration) -> str:
        return closer_of(key, syntax)

    def choice_points(self, neighbours: Neighbours) -> tuple[ChoicePoint, ...]:
        return (
            inside_call(neighbours),
            inside_value(neighbours),
            after_call(neighbours),
            after_object(neighbours),
        )

    def read(self, reader: Reader, call: OpenCall, form: Form) -> Walk[None]:
        return _read_params(reader, call, form)


def _begins_after_blank(syntax: Declaration) -> bool:
    """Return True if the form has a blank between a call's opener and the first parameter."""
    last, first = syntax.call_template.before[-1:], param_template(syntax).before[:1]
    ends = any(isinstance(piece, str) and piece.endswith(" ") for piece in last)
    return ends or any(isinstance(piece, str) and piece.isspace() for piece in first)


# reading


def _read_params(reader: Reader, call: OpenCall, form: Form) -> Walk[None]:
    scanner, next_param = reader.scanner, form.body[0]
    strays = GrowingText()
    claim_stray = Claim(scanner, scanner.emit_unexpected.make, strays)
    while True:
        if form.close is None and not (yield from _param_follows(reader, call, form)):
            return
        while not scanner.skip_space():
            yield
        if not call.raw and scanner.peek() == "{":
            yield from _read_object_body(reader, call, form)
        marker = yield from scanner.until(next_param, claim_stray, inside_call=True)
        if marker is None:
            closer = declared_text(form.syntax.call_template.after)
            raise BrokenCall("truncated-call", _cut_before(closer, call))
        kind = marker.kind
        if kind is Kind.PARAM:
            scanner.emit_marker(marker)
            yield from _read_param(reader, call, marker, form)
        elif kind is Kind.OPEN:
            yield from _read_object_block(reader, call, marker, form)
        elif kind is Kind.CLOSE and not reader.closes(marker, call):
            scanner.emit_unexpected(marker.size)
        else:
            _claim_closer(reader, call, marker, form)
            if strays.tell() and holds_arguments(strays.take(), call, form.syntax):
                raise BrokenCall("malformed-arguments", _expected_param(form), is_complete=True)
            unwrap(reader, call)
            return


def _claim_closer(reader: Reader, call: OpenCall, marker: Marker, form: Form) -> None:
    """Claim the call's closer. Any other marker shows that the closer was forgotten; such a marker
    is left for the engine."""
    kind = marker.kind
    if kind is Kind.CLOSE:
        if not marker.well_formed:
            reader.scanner.note_form(marker, form.syntax.call_template.after, where=call.place)
        reader.scanner.emit_marker(marker)
    elif kind in (Kind.CALL, Kind.SECTION) and not call.raw:
        raise BrokenCall("unreadable-call", "another call follows at once", is_complete=True)
    else:
        closer = declared_text(form.syntax.call_template.after)
        message = f"{closer!r} must follow the last parameter: read without it"
        reader.scanner.note("missing-closer", message=message)


def _expected_param(form: Form) -> str:
    return f"the call has no parameter that can be read: expected {form.syntax.param.strip()!r}"


def _cut_before(closer: str, call: OpenCall) -> str:
    """Return the message that the stream ends before a closer; "" if the closer has no text."""
    text = closer.strip().replace("{name}", call.name or "{name}")
    return f"the stream ends inside a call, before {text!r}: aborted" if text else ""


def _read_object_body(reader: Reader, call: OpenCall, form: Form) -> Walk[None]:
    """Read a JSON object in place of the parameters, as models that know both forms write it."""
    yield from claim_arguments(reader, call)
    decode_arguments(reader, call, form.syntax.shape)
    reader.scanner.note("arguments-as-json", call.place)
    while not reader.scanner.skip_space():
        yield


def _read_object_block(reader: Reader, call: OpenCall, opener: Marker, form: Form) -> Walk[None]:
    """Read a JSON object between markers of its own."""
    scanner = reader.scanner
    scanner.emit_marker(opener)
    while not scanner.skip_space():
        yield
    yield from claim_arguments(reader, call)
    decode_arguments(reader, call, form.syntax.shape)
    while not scanner.skip_space():
        yield
    closer = yield from scanner.match_here(form.body[3])
    if closer is None:
        scanner.note("missing-closer", call.place)
    else:
        scanner.emit_marker(closer)


def _param_follows(reader: Reader, call: OpenCall, form: Form) -> Walk[bool]:
    """Return True if another parameter follows, in a call form that has no closer.

    A call without parameters may end only before a marker. Raises BrokenCall for other text, which
    is an unreadable argument, and if the stream ends inside a section.
    """
    scanner, (next_param, _, after, _) = reader.scanner, form.body
    marker = yield from scanner.match_here(next_param)
    if marker is None and scanner.ended:
        if call.in_section:
            raise BrokenCall("truncated-call")
        scanner.note("open-ended", call.place)
    if marker is None and not call.raw and (yield from scanner.match_here(after)) is None:
        raise BrokenCall("malformed-arguments", _expected_param(form), is_complete=True)
    return marker is not None and marker.kind is Kind.PARAM


def _read_param(reader: Reader, call: OpenCall, opener: Marker, form: Form) -> Walk[None]:
    """Read one parameter after its opener, and its closer. Raises BrokenCall if it never ends."""
    scanner, syntax, value_end = reader.scanner, form.syntax, form.body[1]
    shape = param_shape(syntax)
    copy = GrowingText()
    key = _param_key(call, opener.named["key"], syntax)
    if not opener.well_formed or "type" in opener.named:
        _note_opener(reader, call, opener, key, syntax)
    claim, reader.argument = reader.emit_argument(call, key, copy), key

    ends_value = _value_ender(reader, call, key, syntax)
    if shape.json:
        yield from _claim_json(reader, call, key, copy)
    marker = yield from scanner.until(value_end, claim, ends_value, inside_call=True)
    kept_break = 0
    if marker and shape.own_lines and marker.text.startswith("\n"):
        # Both the first and the last line break of a value belong to the form, or both to the
        # value. If the closer was forgotten, the last belongs to the form.
        closed = marker.kind is Kind.CLOSE
        kept_break = 1 if closed and not opener.text.endswith("\n") else 0
    claim(kept_break)
    text = copy.take()
    call.raw.append((key, text))
    if marker is None:
        closer = closer_of(key, syntax)
        last = scanner.events[-1] if scanner.events else None
        if closer and isinstance(last, MarkupEvent) and last.text.lstrip().startswith(closer):
            closer = declared_text(syntax.call_template.after)  # the value's own closer is there
        raise BrokenCall("truncated-call", _cut_before(closer, call))
    kind = marker.kind
    if kind in (Kind.CALL, Kind.SECTION):
        message = f"another call begins in the value of {key}"
        raise BrokenCall("malformed-arguments", message, is_complete=True)
    text = _cut_at_closer(reader, call, key, text, kind, form)
    if opener.text.endswith("\r\n") and marker.text.startswith("\n"):
        text = text.removesuffix("\r")  # a line break `\r\n` belongs to the form as a whole
    if kind is Kind.CLOSE and not marker.well_formed:
        place = f"{call.place}, argument {key}"
        scanner.note_form(marker, param_template(syntax).after, where=place)
    scanner.emit_markup(marker.size - kept_break)
    if reader.switches.entities == "decoded":
        text = unescape(text)
    value, code = read_param(text, opener, call, key, syntax)
    reader.set_value(call, key, value, code)
    reader.argument = None


def _note_opener(
    reader: Reader, call: OpenCall, opener: Marker, key: str, syntax: Declaration
) -> None:
    """Note a parameter's opener that differs from the declared one, or names an unknown type."""
    scanner, place = reader.scanner, f"{call.place}, argument {key}"
    if "slip" in opener.named:
        declared = declared_text(param_template(syntax).before)
        message = (
            f"{opener.text.strip()!r:.60} is read as the opener of {key}{DECLARED}{declared!r}"
        )
        scanner.note("mended-opener", place, message)
        return
    scanner.note_form(opener, param_template(syntax).before, where=place)
    word = opener.named.get("type")
    if word and not is_type(word, syntax):
        message = f"{word!r} is no JSON type: the value is read as JSON"
        scanner.note("mended-form", place, message)


def _claim_json(reader: Reader, call: OpenCall, key: str, copy: GrowingText) -> Walk[None]:
    """Claim a JSON text, list or object, if one begins here. It ends by its own brackets or quotes,
    so it may hold any marker."""
    while (first := reader.scanner.peek()) is None:
        yield
    if first and first in '"{[':
        try:
            yield from json_walk.claim_balanced(
                reader.scanner, reader.emit_argument(call, key, copy)
            )
        except BrokenCall:
            call.raw.append((key, copy.take()))
            raise


def _cut_at_closer(
    reader: Reader, call: OpenCall, key: str, text: str, kind: Kind | None, form: Form
) -> str:
    """Return a value's text without a doubled closer. If the `kind` of the marker after it shows
    that the value's closer was forgotten, the text ends before the last closer inside it."""
    markers = value_markers(form.syntax, call.name or "", key)
    if kind is not Kind.FORGOTTEN and not any(map(text.__contains__, markers)):
        return text
    place = f"{call.place}, argument {key}"
    closer = closer_of(key, form.syntax)
    if kind is not Kind.FORGOTTEN:
        if (inner := without_closers(text, key, form.syntax)) != text:
            message = f"{closer!r} is written twice: read as one"
            reader.scanner.note("doubled-closer", place, message)
            return inner
        marker = next(marker for marker in markers if marker in text)
        message = f"{marker!r} is in the value of {key}, and is kept in it"
        # perhaps the value's own closer was forgotten
        reader.scanner.note("marker-in-value", place, message)
        return text
    inner, _, rest = text.rpartition(closer) if has_words(closer) else ("", "", "")
    if not inner and has_words(closer):
        inner, rest = before_last(closer, text)
    if closer and inner:
        if rest.strip():
            reader.scanner.note("unexpected-text", place, f"after the value: {rest.strip()!r:.80}")
        else:
            reader.scanner.note("missing-closer", place)  # the closer has another letter case
        return inner.removesuffix("\n") if param_shape(form.syntax).own_lines else inner
    message = f"{closer!r} must follow the value, which is read up to the next marker"
    reader.scanner.note("missing-closer", place, message)
    return text


def _param_key(call: OpenCall, key: str, syntax: Declaration) -> str:
    """Return a parameter's name; without the blanks around it, if only then the tool has it."""
    key = unescape(key) if syntax.escaped_names else key
    bare = key.strip()
    if bare == key:
        return key
    return bare if bare in call.properties and key not in call.properties else key


def _value_ender(
    reader: Reader, call: OpenCall, key: str, syntax: Declaration
) -> Callable[[Marker], bool]:
    """Return a test for markers that end this parameter's value.

    A closer that names another key does not end the value. Text that looks like the next parameter
    or another call may be part of the value, too.
    """

    def ends_value(marker: Marker) -> bool:
        if not reader.closes(marker, call):
            return False  # another tool's closer, with a call after it, is part of the value
        name = marker.named.get("name") or marker.named.get("next_name")
        if name and reader.tools and name not in reader.tools:
            return False
        if following := marker.named.get("next_key"):
            return _is_next_param(call, key, following, syntax, marker.text.startswith("\n"))
        return marker.named.get("close_key") in (None, key)

    return ends_value


def _is_next_param(
    call: OpenCall, key: str, following: str, syntax: Declaration, begins_line: bool
) -> bool:
    """Return True if the opener of the parameter `following` ends the value of `key`. It does if
    the tool has the parameter `following` and the call does not have it yet.

    If the tool's parameters are not known, the opener must be a control token or begin a line.
    """
    if following == key or following in call.arguments:
        return False
    return following in call.properties if call.properties else syntax.reserved or begins_line


def closer_of(key: str, syntax: Declaration) -> str:
    """Return the closer of a parameter, without white space around it."""
    return key.join(param_shape(syntax).closer).strip()


def before_last(closer: str, text: str) -> tuple[str, str]:
    """Return the text before and after the last closer, in any letter case; ("", "") without it."""
    matches = list(re.finditer(re.escape(closer), text, re.IGNORECASE))
    return (text[: matches[-1].start()], text[matches[-1].end() :]) if matches else ("", "")


def without_closers(text: str, key: str, syntax: Declaration) -> str:
    """Remove a parameter's closers from the end of its value: the model wrote the closer twice.

    Closers whose openers are in the value belong to the value, which quotes the dialect's markers.
    """
    closer = closer_of(key, syntax)
    bare = text.rstrip()
    if not bare.endswith(closer) or not has_words(closer):
        return text
    if bare.count(_opener_of(key, syntax)) >= bare.count(closer):
        return text
    space = ""
    while bare.endswith(closer):
        inner = bare[: -len(closer)]
        bare = inner.rstrip()
        space = inner[len(bare) :]
    return bare + (space.removesuffix("\n") if param_shape(syntax).own_lines else space)


def _opener_of(key: str, syntax: Declaration) -> str:
    """Return the words with which a parameter's opener begins, or all of it if its key comes
    first: `<{key}>`."""
    pieces = param_template(syntax).before
    first = str(pieces[0]).strip() if isinstance(pieces[0], str) else ""
    if has_words(re.escape(first)) and not closer_of(key, syntax).startswith(first):
        return first
    return "".join(piece if isinstance(piece, str) else key for piece in pieces).strip()


def holds_arguments(strays: str, call: OpenCall, syntax: Declaration) -> bool:
    """Return True if text between the parameters is probably an unreadable argument.

    That is so if the call has no other argument, or if the text is an object or holds a parameter's
    opener or closer. The call must then not be delivered, because it lacks an argument.
    """
    if not strays.strip():
        return False
    if not call.raw or strays.lstrip().startswith("{"):
        return True
    opener = "".join(p for p in param_template(syntax).before if isinstance(p, str))
    words = re.match(r"\W*[\w:｜|]+", opener)
    if words is not None and words[0].strip() in strays:
        return True
    # a closer with text before it: its opener was forgotten
    closer = next((p.strip() for p in param_template(syntax).after if isinstance(p, str)), "")
    return has_words(closer) and bool(strays.partition(closer)[0].strip()) and closer in strays
