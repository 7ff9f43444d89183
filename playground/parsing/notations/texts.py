"""Arguments that are plain texts. Each ends at the literal that follows it in the template or, if
none does, at the next marker of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.parsing.choice import Choice, Group, Kind
from playground.parsing.choice_point import ChoicePoint, choice_point
from playground.parsing.claims import GrowingText
from playground.parsing.declaration import Declaration
from playground.parsing.form import Form
from playground.parsing.marker import Marker
from playground.parsing.notations.json_arguments import decode_arguments
from playground.parsing.notations.notation import CallValue, Neighbours, Notation
from playground.parsing.notations.param_choices import holds_own_marker
from playground.parsing.open_call import BrokenCall, OpenCall
from playground.parsing.patterns import LINE_START, WORD, begins, pieces_pattern, prefix
from playground.parsing.reader import Reader
from playground.parsing.scanner import Walk
from playground.parsing.template import Piece, Template, begins_line, holes_of
from playground.parsing.values import dump_json


class Texts(Notation):
    hole = "text:KEY"
    texts_only = True
    holes_after = ("name", "word")
    meaning = "the argument KEY as plain text, up to what follows it; there may be several"
    values = "plain text"
    family = "A word, then text"
    fields = {"call": "<write to={text:path}>{text:content}</write>", "name": "write_file"}
    sample = {"path": "a.py", "content": "x = 1"}
    example = "<write to=a.py>x = 1</write>"
    ends_itself = False  # a text ends at a marker
    keeps_space = True

    def keys(self, syntax: Declaration) -> tuple[str, ...]:
        return () if syntax.objects else _keys(syntax)

    def samples(self, syntax: Declaration) -> dict[str, str]:
        template = syntax.call_template
        between = dict(zip(_texts(template), template.between, strict=True))
        return {
            key: f"the {key}\n" if _ends_line(syntax, between.get(key, ())) else f"the {key}"
            for key in self.keys(syntax)
        }

    def write(self, syntax: Declaration, call: CallValue) -> dict[str, str]:
        """Write the texts.

        If the call's tool or arguments do not fit the form, the last text is the call as Python, or
        its arguments as JSON. A form without `objects` cannot read that text back: `cannot-carry`.
        """
        template = syntax.call_template
        keys = self.keys(syntax) or _texts(template)
        if _fits(syntax, keys, call):
            texts = dict(call.arguments)
        else:
            texts = dict.fromkeys(keys, "") | {keys[-1]: _call_text(syntax, call)}
        lines = {f"line:{key}": texts[key] for key in keys}
        return lines | {f"text:{key}": str(texts[key]) for key in _texts(template)}

    def choice_points(self, neighbours: Neighbours) -> tuple[ChoicePoint, ...]:
        between = neighbours.syntax.call_template.between
        return tuple(_text_end(pieces, neighbours) for pieces in between)

    def read(self, reader: Reader, call: OpenCall, form: Form) -> Walk[None]:
        template = form.syntax.call_template
        for key, closer, end in zip(_texts(template), template.between, form.body, strict=True):
            if closer:
                yield from _read_closed(reader, call, key, end, form)
            else:
                yield from _read_open(reader, call, key, end, form)
        reader.argument = None


# writing


def _keys(syntax: Declaration) -> tuple[str, ...]:
    """Return the names of a call's arguments: those on lines before the body, then the texts."""
    template = syntax.call_template
    lines = [name for name in holes_of(template.before) if name.startswith("line:")]
    return (*(name.removeprefix("line:") for name in lines), *_texts(template))


def _texts(template: Template) -> tuple[str, ...]:
    """Return the names of the arguments in the body's holes."""
    return tuple(name.removeprefix("text:") for name in template.holes)


def _ends_line(syntax: Declaration, pieces: tuple[Piece, ...]) -> bool:
    """Return True if a text ends with a line break, because its closer begins a line."""
    return syntax.line_start and bool(pieces) and not begins_line(pieces)


def _fits(syntax: Declaration, keys: tuple[str, ...], call: CallValue) -> bool:
    """Return True if a call's arguments are texts for all of the form's holes, in order, and are
    read back unchanged: a form with `objects` could take a text for an object, and a form with a
    name of its own reads a call of any other tool as one of its own."""
    arguments: Mapping[str, Any] = call.arguments
    if tuple(arguments) != keys or not all(isinstance(v, str) for v in arguments.values()):
        return False
    if syntax.objects:
        return _reads_back_as_text(arguments[keys[0]])
    return not syntax.name or call.name == syntax.name


def _reads_back_as_text(text: str) -> bool:
    """Return True if a text is read back as a text, not taken for an object or for nothing."""
    return bool(text) and text == text.strip() and not text.startswith("{")


def _call_text(syntax: Declaration, call: CallValue) -> str:
    if not syntax.name:
        return dump_json(call.arguments)
    pairs = [f"{key}={value!r}" for key, value in call.arguments.items()]
    return f"{call.name}({', '.join(pairs)})"


# choices


def _text_end(pieces: tuple[Piece, ...], neighbours: Neighbours) -> ChoicePoint:
    """Build the choices that end a text; without a closer, the next marker of any kind."""
    start = LINE_START if neighbours.syntax.line_start and not begins_line(pieces) else ""
    holes = {"word": WORD, "name": f"(?P<close_name>{neighbours.name})"}
    closer = pieces_pattern(pieces, holes, value_before=True)
    if not closer:
        return choice_point(*neighbours.stops, *neighbours.results, *neighbours.calls)
    first = (*begins(pieces), *(() if start else ("\n",)))
    choice = Choice(f"{start}{closer}", first, Group(Kind.CLOSE))
    return choice_point(choice, beginnings=[prefix(pieces)])


# reading


def _read_closed(
    reader: Reader, call: OpenCall, key: str, end: ChoicePoint, form: Form
) -> Walk[None]:
    """Read a text that has a closer. Raises BrokenCall if the stream ends before the closer."""
    text, closer = yield from _read_text(reader, call, key, end, form.syntax)
    if closer is None:
        call.raw.append((key, text))
        raise BrokenCall("truncated-call")
    if not closer.well_formed:
        template = form.syntax.call_template
        declared = template.between[template.holes.index(f"text:{key}")]
        reader.scanner.note_form(closer, declared, where=call.place)
    reader.scanner.emit_marker(closer)
    if form.syntax.joined:
        text = yield from _join_calls(reader, call, key, end, form, text)
    if _is_object(text, form):
        _set_object(reader, call, text, form)
    else:
        reader.set_text(call, key, text)


def _read_open(
    reader: Reader, call: OpenCall, key: str, end: ChoicePoint, form: Form
) -> Walk[None]:
    """Read a text that ends at the next marker or with the stream. At the end of the stream it may
    be cut off, and a finding says so."""
    text, marker = yield from _read_text(reader, call, key, end, form.syntax)
    is_cut = marker is None
    if marker and form.syntax.joined:
        text = yield from _join_calls(reader, call, key, end, form, text)
    if is_cut and not text.strip():
        raise BrokenCall("truncated-call")
    if _is_object(text, form):
        if is_cut:  # after a complete object, the beginning of a marker is text
            reader.scanner.give_back_markup()
        try:
            _set_object(reader, call, text, form)
        except BrokenCall as broken:  # an object that is cut off is truncated, not malformed
            raise BrokenCall("truncated-call") if is_cut else broken from broken
        return
    reader.set_text(call, key, text.strip())
    if is_cut:
        reader.scanner.note("open-ended", call.place)


def _is_object(text: str, form: Form) -> bool:
    """Return True if a text is read as a JSON object: it begins with a brace, or is empty."""
    return False if not form.syntax.objects else not text.strip() or text.lstrip().startswith("{")


def _set_object(reader: Reader, call: OpenCall, text: str, form: Form) -> None:
    if not text.strip():
        reader.scanner.note("mended-form", call.place, "no text: read as no arguments")
    call.raw.append((None, text or "{}"))
    decode_arguments(reader, call, form.syntax.shape)


def _read_text(
    reader: Reader, call: OpenCall, key: str, end: ChoicePoint, syntax: Declaration
) -> Walk[tuple[str, Marker | None]]:
    """Read an argument's text; return it and the marker that ends it."""
    scanner, copy = reader.scanner, GrowingText()
    claim, reader.argument = reader.emit_argument(call, key, copy), key

    def closes_call(marker: Marker) -> bool:
        return reader.closes(marker, call)

    marker = yield from scanner.until(end, claim, closes_call, inside_call=True)
    text = copy.take()
    if holds_own_marker(text, syntax, call.name or ""):
        scanner.note("marker-in-value", call.place)
    return text, marker


def _join_calls(
    reader: Reader, call: OpenCall, key: str, end: ChoicePoint, form: Form, text: str
) -> Walk[str]:
    """Read the calls that follow directly, and return their texts joined to this call's `text`."""
    scanner = reader.scanner
    while separator := (yield from scanner.match_here(form.separator)):
        scanner.emit_marker(separator)
        opener = yield from scanner.match_here(form.opening)
        if opener:
            scanner.emit_marker(opener)
        more, closer = yield from _read_text(reader, call, key, end, form.syntax)
        text += form.syntax.joined + more
        if closer is None:
            raise BrokenCall("truncated-call")
        scanner.emit_marker(closer)
    return text
