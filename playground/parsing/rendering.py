"""Write calls as text by filling the holes of their declaration; engine.py reads such text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from playground.nouns.tools import Schema
from playground.parsing.declaration import SECTION_BODY, Declaration
from playground.parsing.notations import notation_of
from playground.parsing.notations.notation import CallValue, SchemaOf
from playground.parsing.template import fill


def no_schema(_key: str) -> Schema:
    return {}


def render_call(
    syntax: Declaration,
    name: str,
    arguments: Mapping[str, Any],
    call_id: str = "",
    schema_of: SchemaOf = no_schema,
    index: int = 0,
) -> str:
    """Render one call, without the section around it. `index` counts the reply's calls
    from 0. If `call_id` fits the syntax's `id_form`, the index in the id is used instead."""
    call_id, index = syntax.written_id(name, call_id, index)
    holes = {
        "name": escape(name) if syntax.escaped_names else name,
        "id": call_id,
        "index": str(index),
        "number": str(index + 1),
        "word": "",  # read, never written: a fence's language
    }
    call = CallValue(name, arguments, call_id, schema_of, index)
    holes |= notation_of(syntax).write(syntax, call)
    return fill(syntax.call_template.pieces, holes)


def render_calls(syntax: Declaration, calls: Iterable[tuple[str, str]]) -> str:
    """Join pairs of a tool's name and its rendered call, in their sections and with the
    separators."""
    listed, section = list(calls), syntax.section_template
    joined = syntax.separator.join(text for _, text in listed)
    if section is None or not listed:
        return joined
    if not syntax.one_call_a_section:
        return fill(section.pieces, {SECTION_BODY: joined})
    return syntax.separator.join(
        fill(section.pieces, {SECTION_BODY: text, "name": name}) for name, text in listed
    )
