"""Parts of calls that lack the other parts. They are read as text, each with a finding.

Servers remove special tokens of their tokenizer, and models forget brackets and tags.
"""

from __future__ import annotations

import re
from typing import Final

from playground.parsing.choice import Choice, Group, Kind
from playground.parsing.form_builder import FormBuilder
from playground.parsing.notations.notation import Lead
from playground.parsing.patterns import (
    LINE_START,
    begins,
    has_words,
    literal,
    name_before,
    pieces_pattern,
    prefix,
    without_names,
)
from playground.parsing.template import Hole, Piece, holes_of

_COMPOUND: Final = re.compile(r"[A-Z]\w+[_ ][A-Z]")
# the white space after a brace in printed JSON
_MARGINS: Final = ("", " ", "\n  ", "\n    ", "\n        ", "\n\t")


def bare_sections(builder: FormBuilder) -> list[Choice]:
    """Return the openers of sections, for places without a call after them."""
    openers = [
        (pieces_pattern(template.before, {}), begins(template.before))
        for template in builder.sections
        if not holes_of(template.before)
    ]
    group = Group(Kind.BARE_SECTION, builder.number)
    return [Choice(text, first, group, varying=True) for text, first in openers if has_words(text)]


def remnants(builders: list[FormBuilder]) -> list[Choice]:
    """Return openers, closers and bodies that occur alone. A remnant that several forms share is
    returned once."""
    choices = [
        choice
        for remnant in (
            _opener,
            _header,
            _closer,
            _value_closer,
            _body,
            _without_section,
            _without_body_start,
            _inner_markers,
        )
        for builder in builders
        for choice in remnant(builder)
    ]
    return list({choice.pattern: choice for choice in choices}.values())


def _opener(builder: FormBuilder) -> list[Choice]:
    """Return the opener of a call, for places without a call after it. It has to be a tag or a
    control token, because prose has none."""
    return _marker(builder, Kind.BARE_CALL, (builder.syntax.call_template.before or ("",))[0])


def _header(builder: FormBuilder) -> list[Choice]:
    """Return the header of a message to a tool, without a call to that tool after it."""
    choices = []
    for template in builder.sections:
        head, *following = template.before
        if following[:1] != [Hole("name")] or not isinstance(head, str) or not has_words(head):
            continue
        tag = str(following[1]).partition("><")[0] if len(following) > 1 else ""
        if tag.startswith("<"):
            pieces = (head, following[0], f"{tag}>")
            pattern = without_names(pieces_pattern(pieces, {"name": name_before(pieces, "name")}))
            group = Group(Kind.BARE_CALL, builder.number)
            choices.append(Choice(pattern, begins(pieces), group, varying=True))
    return choices


def _value_closer(builder: FormBuilder) -> list[Choice]:
    """Return the closer of a parameter when none is open."""
    param = builder.syntax.param_template
    return _marker(builder, Kind.BARE_CLOSE, param.after[-1]) if param and param.after else []


def _without_section(builder: FormBuilder) -> list[Choice]:
    """Return a call that begins a line and lacks its section, or the sign before its name."""
    syntax, (first, *following) = builder.syntax, builder.syntax.call_template.before or ("",)
    # the sign, such as the `>` of a call `>name(…)`
    has_sign = isinstance(first, str) and first.strip() and not has_words(first)
    pieces = tuple(following if has_sign else (first, *following))
    has_literal = any(isinstance(piece, str) and len(piece.strip()) > 1 for piece in pieces)
    if builder.knows_names or pieces[:1] != (Hole("name"),) or not has_literal:
        return []
    if not (has_sign or syntax.section_required):
        return []
    lead = Lead(syntax, "", without_names(builder.closing.pattern), strict=True, firm=True)
    lookahead = builder.notation.evidence(lead) or builder.notation.announce(lead)
    head = without_names(pieces_pattern(pieces, builder.holes(pieces)))
    pattern = rf"{LINE_START}{head}(?={without_names(lookahead)})"
    return (
        [Choice(pattern, (), Group(Kind.BARE_BODY, builder.number), varying=True)]
        if lookahead
        else []
    )


def _closer(builder: FormBuilder) -> list[Choice]:
    """Return the closer of a call when none is open."""
    after = builder.syntax.call_template.after
    if builder.knows_names and "name" in holes_of(after):
        group = Group(Kind.BARE_CLOSE, builder.number)
        return [Choice(without_names(builder.closing.pattern), begins(after), group, varying=True)]
    last = (after or ("",))[-1]
    # the end of a code fence may come before a closer, but does not belong to it
    return _marker(builder, Kind.BARE_CLOSE, last.lstrip("`\n") if isinstance(last, str) else last)


def _inner_markers(builder: FormBuilder) -> list[Choice]:
    """Return the markers that occur only inside a call, after its opener or before a parameter."""
    syntax = builder.syntax
    first, *following = syntax.call_template.before or ("",)
    param = syntax.param_template.before[:1] if syntax.param_template else ()
    pieces = [piece for piece in (*following, *param) if piece != first]
    return [choice for piece in pieces for choice in _marker(builder, Kind.BARE_BODY, piece)]


def _marker(builder: FormBuilder, kind: Kind, piece: Piece) -> list[Choice]:
    marker, line_start = piece.strip() if isinstance(piece, str) else "", builder.syntax.line_start
    # at the start of a line a single word may be prose; a compound such as `BEGIN_ARG:` is not
    is_markup = marker[:1] in ("<", "[", "]") or (line_start and _COMPOUND.match(marker))
    if not is_markup or not has_words(re.escape(marker)):
        return []
    group = Group(kind, builder.number)
    if line_start:
        return [Choice(LINE_START + literal(marker), (prefix((marker,)),), group, varying=True)]
    return [Choice(literal(marker), (prefix((marker,)),), group, (marker,), varying=True)]


def _body(builder: FormBuilder) -> list[Choice]:
    """Return the head of a body that needs nothing else to prove that it is a call."""
    syntax, notation = builder.syntax, builder.notation
    group = Group(Kind.BARE_BODY, builder.number)
    lookahead = notation.evidence(Lead(syntax, "", builder.closing.pattern, strict=True, firm=True))
    if lookahead and syntax.section_required and builder.knows_names:
        head = pieces_pattern(syntax.call_template.before, builder.holes())
        listed = (
            rf"{LINE_START}(?:\[\s{{0,8}}+)?{without_names(head)}(?={without_names(lookahead)})"
        )
        first = builder.heads() or begins(syntax.call_template.before)
        return [Choice(listed, group=group, varying=True, heads=("[", *first) if first else ())]
    templates = (syntax.call_template, *syntax.sections)
    openers = [pieces_pattern(template.before, builder.holes()) for template in templates]
    if not notation.proves_itself or not any(map(has_words, openers)):
        return []
    head = notation.announce(Lead(syntax, "", "", strict=True, firm=False))
    # code is full of braces, so a brace counts only before a name
    names = [f'"{name[:3]}' for name in syntax.shape.name]
    first = tuple(f"{{{margin}{name}" for name in names for margin in _MARGINS)
    return [Choice(without_names(head), first, group, varying=True, loose=True)]


def _without_body_start(builder: FormBuilder) -> list[Choice]:
    """Return the text that follows a name, for a body without its beginning."""
    pattern = builder.notation.without_body_start(builder.syntax)
    group = Group(Kind.BARE_BODY, builder.number)
    if not pattern:
        return []
    return [Choice(pattern, ('", "', '","'), group, varying=True, loose=True)]
