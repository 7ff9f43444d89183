"""The body of a call in a response template: the parser of transformers that reads it, and its
options."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from playground.parsing.declaration import Declaration
from playground.parsing.grammars.notes import Notes
from playground.parsing.notations import VALUES
from playground.parsing.patterns import has_words, without_list
from playground.parsing.template import (
    Piece,
    Template,
    begins_line,
    declared_hole,
    holes_of,
    is_line,
)
from playground.plugins.own_dialects.response_templates.patterns import (
    JSON_STRING,
    LINE_BREAK,
    PYTHON_STRING,
    escape,
    group,
    pattern_of,
    without_groups,
)

CUT_OFF: Final = "a call that the reply's end cuts off is delivered as far as it was read"
PYTHON_CALL: Final = "{name}({args:python})"


class Inexpressible(Exception):
    """Raised for a property that no response template can express; the message names it."""


class CallBody(NamedTuple):
    """A call's body: the parser of transformers that reads it (`content`), the parser's options
    (`args`), and the paths to `name` and `arguments` in the parser's result.

    A body with `brackets` ends at its closing bracket; brackets in `strings` do not count. `closer`
    is the pattern of a text's closer, with the line breaks that do not belong to the text.
    """

    content: str
    arguments: Any = "{content}"
    args: Mapping[str, Any] = {}
    name: str = ""
    brackets: str = ""
    strings: str = ""
    closer: str = ""


def body_of(syntax: Declaration, notes: Notes) -> CallBody:
    """Return the way to read a call's body in transformers. Raises Inexpressible if none exists."""
    if syntax.nameless:
        raise Inexpressible("a call has no name; it would have to follow from the arguments")
    if syntax.joined:
        raise Inexpressible("several calls would be read as one call with joined texts")
    hole = declared_hole(syntax.call_template.body, _BODIES)
    if hole not in _BODIES:
        raise Inexpressible(f"no template is known for {{{syntax.call_template.body}}}")
    body = _BODIES[hole](syntax, notes)
    return body._replace(brackets="[]") if list_of(syntax) else body


def list_of(syntax: Declaration) -> Template | None:
    """Return the section around a list of calls, without the list's brackets; None if the dialect
    writes no list of calls.

    Raises Inexpressible if the list has no marker of its own.
    """
    section = syntax.section_template
    if section is None or syntax.separator.strip() != ",":
        return None
    if len(syntax.call_template.pieces) > 1 and syntax.call != PYTHON_CALL:
        return None
    bare = without_list(section)
    if bare is None and not has_words(pattern_of(section.before)):
        raise Inexpressible("no marker shows where a list of calls begins")
    return bare


def _json_call(syntax: Declaration, notes: Notes) -> CallBody:
    shape = syntax.shape
    reasons = {
        "a call's arguments are JSON inside a text": shape.arguments_as_text,
        "a call's name is a key of its JSON": shape.name_is_key,
        "a call's JSON holds reasoning": bool(shape.thought),
        "a key of a call's JSON is not a word": not all(
            re.fullmatch(r"\w+", key) for key in (*shape.name, *shape.arguments)
        ),
    }
    for reason, holds in reasons.items():
        if holds:
            raise Inexpressible(reason)
    if shape.text_key:
        notes.narrower("arguments", f"arguments that are a text are not read as {shape.text_key!r}")
    name, arguments = (f"{{content.{'.'.join(path)}}}" for path in (shape.name, shape.arguments))
    return CallBody("json", arguments, name=name, brackets="{}", strings=JSON_STRING)


def _json_arguments(syntax: Declaration, notes: Notes) -> CallBody:
    return CallBody("json", brackets="{}", strings=JSON_STRING)


def _marked_arguments(syntax: Declaration, notes: Notes) -> CallBody:
    mark = syntax.string_mark
    args = {"unquoted_keys": True, "string_delims": [[mark, mark]]}
    notes.narrower("arguments", "a key that is not a word cannot be read")
    strings = f"{escape(mark)}(?:(?!{escape(mark)}).)*{escape(mark)}"
    return CallBody("json", args=args, brackets="{}", strings=strings)


def _python_arguments(syntax: Declaration, notes: Notes) -> CallBody:
    if list_of(syntax) is None:
        raise Inexpressible("calls in Python's notation are read only in a list")
    notes.narrower("arguments", "Python that JSON cannot hold, such as a tuple, cannot be read")
    name, arguments = "{content.name}", "{content.arguments}"
    return CallBody("python-call-list", arguments, name=name, strings=PYTHON_STRING)


def _params(syntax: Declaration, notes: Notes) -> CallBody:
    template = syntax.param_template
    assert template is not None
    if syntax.element:
        raise Inexpressible("a parameter's value may be nested elements")
    _note_params(syntax, template, notes)
    opener = pattern_of(template.before, {"key": group("key")})
    closer = pattern_of(template.after, {"key": "(?P=key)"})
    if not closer:
        raise Inexpressible("no marker shows where a parameter's value ends")
    value = group("value", ".*?")
    if syntax.cdata:
        value = rf"(?:<!\[CDATA\[{value}\]\]>|{value})"
    if VALUES[template.body].block or ends_line(template.before):
        # A line break after a value is part of the value, unless a line break also precedes it.
        value = f"(?:{LINE_BREAK.removesuffix('?')}{value}{LINE_BREAK}|{value})"
    following = f"(?=\\s*(?:{without_groups(opener)}|\\Z))"
    args: dict[str, Any] = {"tag_pattern": f"{opener}{value}{closer}{following}"}
    if VALUES[template.body].json:
        args["value_parser"] = {"name": "json"}
    return CallBody("xml-inline", args=args)


def _note_params(syntax: Declaration, template: Template, notes: Notes) -> None:
    value, holes = "arguments", holes_of(template.before)
    if not VALUES[template.body].json:
        message = "a value is a text unless `tools=` has its type directly, not by a `$ref`"
        notes.narrower(value, message)
    if {"type", "is_text"} & set(holes):
        notes.narrower(value, "the type in a parameter's opener is not read")
    if syntax.untyped == "json":
        notes.narrower(value, "a value without a schema is a text, even if it is JSON")
    if syntax.escaped_names:
        notes.narrower(value, "names keep their escapes, such as `&quot;`")
    if syntax.object_block[0]:
        notes.narrower(value, f"an object between {syntax.object_block[0]!r} is not read")
    notes.wider("calls", CUT_OFF)


def _texts(syntax: Declaration, notes: Notes) -> CallBody:
    template = syntax.call_template
    key = template.holes[0].removeprefix("text:")
    if template.holes[1:] or any(map(is_line, holes_of(template.before))):
        raise Inexpressible("a call has several texts, and only one can be its body")
    closer = text_marker(syntax, template.after)
    if syntax.objects:
        message = f"arguments that are a text, not a JSON object, are not read as {key!r}"
        notes.narrower("arguments", message)
        return CallBody("json", args={"allow_non_json": True}, closer=closer)
    notes.wider("calls", CUT_OFF)
    return CallBody("text", {key: "{content}"}, {"strip": False} if closer else {}, closer=closer)


def text_marker(syntax: Declaration, pieces: Sequence[Piece]) -> str:
    """Return the closer of a text, with the line breaks at the text's edges that do not belong to
    the text."""
    marker = pattern_of(pieces)
    if not marker:
        return ""
    if begins_line(tuple(pieces)):
        marker = rf"(?:\r?\n)?{marker}"
    elif syntax.line_start:
        marker = rf"(?<![^\n]){marker}"
    return marker + LINE_BREAK if ends_line(pieces) else marker


def ends_line(pieces: Sequence[Piece]) -> bool:
    """Return True if pieces end with a line break."""
    return bool(pieces) and isinstance(pieces[-1], str) and pieces[-1].endswith("\n")


_BODIES: Final[dict[str, Callable[[Declaration, Notes], CallBody]]] = {
    "call:json": _json_call,
    "args:json": _json_arguments,
    "args:marked": _marked_arguments,
    "args:python": _python_arguments,
    "params": _params,
    "text:KEY": _texts,
}
