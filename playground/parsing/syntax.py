"""A syntax: a declaration of a call's text form, checked when it is made.

One syntax both renders (rendering.py) and parses (engine.py). Everything that a dialect needs for
its declaration can be imported from here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from playground.base.errors import SyntaxFault
from playground.base.hashed import HashedOnce
from playground.nouns.tools import JSON_TYPES
from playground.parsing.declaration import (
    CALL_HOLES,
    PARAM_HOLES,
    SECTION_BODIES,
    SECTION_HOLES,
    Declaration,
    JsonShape,
    Markers,
    ReasoningTags,
)
from playground.parsing.notations import NOTATIONS, VALUES, notation_of
from playground.parsing.notations.notation import Notation
from playground.parsing.template import (
    Hole,
    Piece,
    Template,
    check_holes,
    compile_template,
    cut_at_body,
    declared_hole,
    holes_of,
)
from playground.parsing.values import JsonStyle, Literals

__all__ = [
    "Hole",
    "JsonShape",
    "JsonStyle",
    "Literals",
    "Markers",
    "Piece",
    "ReasoningTags",
    "Syntax",
    "Template",
    "compile_template",
]

_ID_FORM: Final = re.compile(r"[^{}]*\{name\}[^{}]*[^{}\d]\{index\}")
_TYPE_WORD: Final = re.compile(r"\w{1,16}")


@dataclass(frozen=True, repr=False)
class Syntax(HashedOnce, Declaration):
    """A declaration whose templates have the holes that they need, and no others.

    Raises SyntaxFault, which quotes the template and the place.
    """

    __hash__ = HashedOnce.__hash__

    def __post_init__(self) -> None:
        with _field("call"):
            check_holes(self.call, [notation.hole for notation in NOTATIONS.values()], CALL_HOLES)
            _check_once(self.call_template)
            self._check_call(self.call_template)
        with _field("id_form"):
            if (form := self.id_form) and not (form in self.call and _ID_FORM.fullmatch(form)):
                holes = "have {name}, end with {index} (no digit before it), and occur in"
                raise SyntaxFault(f"{form!r} must {holes} {self.call!r}")
        with _field("param"):
            self.notation.check(self)
            if self.param:
                check_holes(self.param, VALUES, PARAM_HOLES)
                _check_param(self.param, cut_at_body(self.param, PARAM_HOLES))
        allowed = SECTION_HOLES if self.one_call_a_section else ()
        listed = [("section", self.section)]
        for field in ("section_also", "section_slips"):
            listed += [(f"{field}.{at}", text) for at, text in enumerate(getattr(self, field))]
        for place, text in listed if self.section else ():
            with _field(place):
                check_holes(text, SECTION_BODIES, allowed)
                _check_opener(text, cut_at_body(text, SECTION_HOLES))
                _check_after(cut_at_body(text, SECTION_HOLES), ())
        with _field("call"):
            self._check_name(self.call_template)
        self._check_words()

    def _check_call(self, template: Template) -> None:
        """Check the holes before and after a call's body."""
        _check_after(template, self.notation.holes_after)
        lines = [name for name in holes_of(template.before) if declared_hole(name, ()) != name]
        if lines and not self.notation.texts_only:
            raise SyntaxFault(f"{{{lines[0]}}} needs a body of {{text:KEY}}: {self.call!r}")

    def _check_name(self, template: Template) -> None:
        """Check that the call has a name somewhere."""
        sections = holes_of(self.section_template.before) if self.section_template else []
        named = "name" in (*holes_of(template.before), *sections) or self.notation.names_tool
        if not (named or self.name or (self.nameless and not self.notation.texts_only)):
            raise SyntaxFault(
                f"{self.call!r} names no tool: it needs {{name}} before its body, or in the field"
                " `name` the tool that it always calls"
            )

    def _check_words(self) -> None:
        """Check that type words, literals and JSON punctuation can be read back."""
        for kind, word in self.type_words:
            if kind not in JSON_TYPES or not _TYPE_WORD.fullmatch(word):
                raise SyntaxFault(
                    f"type_words has {kind!r} as {word!r}; it takes pairs of one of"
                    f" {', '.join(JSON_TYPES)} and a word of at most 16 letters"
                )
        if len(self.literals.words) < 3 or not all(map(str.strip, self.literals.words)):
            raise SyntaxFault(f"literals are three different words, not {self.literals}")
        spaces = self.json.comma.partition(","), self.json.colon.partition(":")
        if any(not mark or (left + right).strip(" ") for left, mark, right in spaces):
            raise SyntaxFault(f"JSON's comma and colon may only have blanks added: {self.json}")

    @property
    def notation(self) -> Notation:
        """The way in which the body of a call is written."""
        return notation_of(self)

    @cached_property
    def text_keys(self) -> tuple[str, ...]:
        """The arguments of a call, if its form has only texts; empty for other forms."""
        return self.notation.keys(self)

    @cached_property
    def sample_texts(self) -> dict[str, str]:
        return self.notation.samples(self)


@contextmanager
def _field(name: str) -> Iterator[None]:
    """Add the field's name to a SyntaxFault that is raised inside."""
    try:
        yield
    except SyntaxFault as fault:
        fault.field = name
        raise


def _check_opener(text: str, section: Template) -> None:
    """Check that a section has an opener. Without it the engine would wait for the section's end
    again and again."""
    if not any(isinstance(piece, Hole) or piece.strip() for piece in section.before):
        raise SyntaxFault(
            f"section {text!r} has nothing before {{calls}}: if only its end is marked,"
            " declare that as a stop token"
        )


def _check_after(template: Template, allowed: tuple[str, ...]) -> None:
    """Check that only `allowed` holes follow a template's body."""
    bodies = set(template.holes)
    for name in holes_of(template.pieces[len(template.before) :]):
        if name not in bodies and name not in allowed:
            raise SyntaxFault(f"{{{name}}} comes after the {{{template.body}}} of a template")


def _check_param(text: str, template: Template) -> None:
    """Check that a parameter has a name before its value and a marker after it."""
    _check_once(template)
    _check_after(template, ("key",))
    if "key" not in holes_of(template.before):
        raise SyntaxFault(f"{text!r} has no {{key}} before its value")
    marked = any(not isinstance(piece, str) or piece.strip(" \t") for piece in template.after)
    if not marked and not VALUES[template.body].json:
        raise SyntaxFault(
            f"nothing in {text!r} ends a value: after {{{template.body}}} there has to be a marker"
            " or a line break, or {value:json} in its place, which ends by itself"
        )
    after = template.after[0] if template.after else ""
    if str(after).isspace() and str(after)[0] in " \t" and not VALUES[template.body].json:
        raise SyntaxFault(
            f"a blank comes before the line break that ends a value in {text!r}: a value may end"
            " with blanks; leave this one out"
        )
    if isinstance(template.pieces[0], Hole) and isinstance(template.pieces[-1], Hole):
        raise SyntaxFault(
            f"{text!r} begins and ends with a hole: between two parameters there has to be a marker"
        )
    if re.search(r"\n[ \t]*{value:block}|{value:block}[ \t]*\n", text):
        raise SyntaxFault(
            f"a line break is next to {{value:block}} in {text!r}: the hole has line breaks of"
            " its own; leave this one out, or write {value} in its place"
        )


def _check_once(template: Template) -> None:
    """Check that no hole occurs twice before the body."""
    names = holes_of(template.before)
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        hint = "; a section may have one, with one_call_a_section" if twice == "name" else ""
        raise SyntaxFault(f"{{{twice}}} occurs twice before the {{{template.body}}}{hint}")
