"""A syntax: a declaration of a call's text form, checked when it is made.

One syntax renders (rendering.py) and parses (engine.py); nothing is written twice. Whatever a
dialect needs for its declaration can be imported from here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from playground.errors import SyntaxFault
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
    holes_of,
)
from playground.parsing.values import JsonStyle, Literals
from playground.tools import JSON_TYPES

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


_TYPE_WORD: Final = re.compile(r"\w{1,16}")


@dataclass(frozen=True)
class Syntax(Declaration):
    """A declaration whose templates have the holes that they need, and no others.

    Raises SyntaxFault, quoting the template and the place.
    """

    def __post_init__(self) -> None:
        check_holes(self.call, [notation.hole for notation in NOTATIONS.values()], CALL_HOLES)
        self.notation.check(self)
        if self.param:
            check_holes(self.param, VALUES, PARAM_HOLES)
        beside = SECTION_HOLES if self.one_call_a_section else ()
        for text in self.section_texts:
            check_holes(text, SECTION_BODIES, beside)
        self._check_openers()
        self._check_words()

    def _check_openers(self) -> None:
        """What the engine could wait for without end, or without ever finding it."""
        for text, section in zip(self.section_texts, self.sections, strict=True):
            if not any(isinstance(piece, Hole) or piece.strip() for piece in section.before):
                raise SyntaxFault(
                    f"section {text!r} has nothing before {{calls}}: what stands behind all calls"
                    " without an opener is a stop token"
                )
        for template in filter(None, (self.call_template, self.param_template)):
            names = holes_of(template.before)
            twice = next((name for name in names if names.count(name) > 1), "")
            if twice:
                raise SyntaxFault(
                    f"{{{twice}}} stands twice before the {{{template.body}}} of a template; a"
                    " tool's name may stand in the section too, with one_call_a_section"
                )

    def _check_words(self) -> None:
        """Words that would not be read as they are written."""
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
            raise SyntaxFault(f"JSON has a comma and a colon, and blanks, not {self.json}")

    @property
    def notation(self) -> Notation:
        """How the body of a call is written."""
        return notation_of(self)

    @cached_property
    def text_keys(self) -> tuple[str, ...]:
        """The arguments of a call that holds these texts and nothing else; empty for all others."""
        return self.notation.keys(self)

    @cached_property
    def sample_texts(self) -> dict[str, str]:
        """A text for each of `text_keys`."""
        return self.notation.samples(self)
