"""The openers of one syntax's calls: as declared, as models misspell them, and without a readable
body."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from playground.parsing.choice import Choice, Group, Kind
from playground.parsing.declaration import Declaration
from playground.parsing.notations import notation_of
from playground.parsing.notations.notation import Lead
from playground.parsing.patterns import (
    EMPTY,
    IDENTIFIER,
    LINE,
    LINE_START,
    NAME_END,
    NO_MEMBER,
    NOT_IN_PROSE,
    SPACE,
    WORD,
    WORD_START,
    WRAPPER_START,
    allow_repeated,
    any_form,
    begins,
    has_words,
    name_before,
    pieces_pattern,
    slips,
    spaced_begins,
    spaced_name,
    spaced_tag,
    with_slips,
    without_final_space,
    without_names,
)
from playground.parsing.template import Hole, Piece, holes_of, is_line

# tags that other dialects write around calls: no tool's name, unless the session has that tool
_NO_WRAPPER_TAG: Final = "(?!(?:tool|function)_calls?>)"
NAME_SPACES: Final = ("functions", "tools", "default_api")  # models put these before a name


class CallOpeners:
    """The choices that may begin a call of one syntax. Their groups have the form's `number` in its
    plan; `names` are the tools' names, () if no form of the plan depends on them."""

    def __init__(self, syntax: Declaration, number: int, names: tuple[str, ...]) -> None:
        self.syntax, self.number = syntax, number
        self.notation = notation_of(syntax)
        template = syntax.call_template
        self.name = name_of(syntax, names)
        self.knows_names = syntax.known_names and bool(names)
        self.names = (*NAME_SPACES, *names)  # a known name begins with one of these
        ending = without_final_space(template.after)
        closer = pieces_pattern(ending, {"name": f"(?P<close_name>{self.name})"})
        self.closing = Choice(closer, begins(ending))
        self._openings: dict[tuple[bool, bool], Choice] = {}

    def opening(self, strict: bool = True, firm: bool = False) -> Choice:
        """Return the choice of a call's opener: its text up to the body, and a lookahead for what
        distinguishes a call from prose.

        `strict` is False right after a section's opener, where any JSON object is a call. With
        `firm` a part of the body, or the call's closer, must follow the opener.
        """
        if (strict, firm) not in self._openings:
            self._openings[strict, firm] = self._build_opening(strict, firm)
        return self._openings[strict, firm]

    def _build_opening(self, strict: bool, firm: bool) -> Choice:
        template = self.syntax.call_template
        forms = self._opener_patterns
        before = any_form(forms)
        lead = Lead(self.syntax, before, without_names(self.closing.pattern), strict, firm)
        pattern = before
        lookahead = self.notation.announce(lead)
        if lookahead:
            ended = "|(?<=/>)" if EMPTY in before else ""
            wrapped = WRAPPER_START if self._may_be_wrapped() else ""
            opener = allow_repeated(before, template, partly=not self.syntax.section)
            pattern = f"{opener}{wrapped}(?={lookahead}{ended})"
        elif self.notation.follows_tags and has_words(before):
            pattern += NOT_IN_PROSE
        lead_text = template.before[0] if template.before else ""
        if self.syntax.line_start and strict:
            pattern = LINE_START + pattern
        elif strict and self.syntax.section_required and self.notation.proves_itself:
            # not the value of a JSON member; only these forms look back, because it is slow
            pattern = NO_MEMBER + pattern
        elif isinstance(lead_text, str) and lead_text[:1].isalnum() and "=" not in lead_text:
            pattern = WORD_START + pattern  # must not be the end of a longer word
        # without a literal before the body, only the body's first characters can be searched for
        first = begins(template.before) if template.before else tuple(self.notation.first)
        first += spaced_begins(template.before)
        # an earlier form of the plan, which is tried first, may take the bracket into the name
        takes_bracket = self.number > 0 and template.before[-2:] == (Hole("name"), "(")
        # a complete marker of this form may begin a longer marker of an earlier form
        begins_another = self.number > 1 and bool(lookahead)
        varying = NAME_END in pattern or NOT_IN_PROSE in pattern or takes_bracket or begins_another
        return Choice(
            pattern,
            first,
            Group(Kind.CALL, self.number),
            varying=varying,
            heads=self.heads() if self.syntax.line_start and strict else (),
            run=LINE if any(map(is_line, holes_of(template.before[:1]))) else "",
            forms=tuple(pattern.replace(before, form) for form in forms),
        )

    def heads(self) -> tuple[str, ...]:
        """Return the beginnings of a call whose name comes first and must be one of the session's
        tools; () for other calls."""
        if not self.knows_names or self.syntax.call_template.before[:1] != (Hole("name"),):
            return ()
        return tuple(dict.fromkeys(head for name in self.names for head in begins((name,))))

    @cached_property
    def _opener_patterns(self) -> list[str]:
        """Return the patterns of the text before a body: as declared, then as models misspell it.
        A misspelt opener counts only if the text after it shows a call."""
        pieces, space = self.syntax.call_template.before, self.notation.keeps_space
        declared, *misspelt = (
            pieces_pattern(form, self.holes(form), value_after=space)
            for form in (pieces, *slips(pieces))
        )
        lead = Lead(
            self.syntax, declared, without_names(self.closing.pattern), strict=True, firm=True
        )
        lookahead = without_names(self.notation.evidence(lead) or self.notation.announce(lead))
        proof = f"(?={lookahead})" if lookahead else ""
        return with_slips(
            declared,
            [
                text + proof
                for text in (
                    *misspelt,
                    *spaced_name(pieces, declared),
                    *spaced_tag(pieces, declared),
                )
            ],
        )

    def _may_be_wrapped(self) -> bool:
        """Return True if a list or a code fence may surround the body. The call's own markers must
        have words, so that the call is recognised without its body."""
        template = self.syntax.call_template
        names_itself = bool(template.before) and has_words(
            pieces_pattern(template.before, self.holes())
        )
        return names_itself and self.notation.mends_brackets and has_words(self.closing.pattern)

    def holes(self, pieces: tuple[Piece, ...] = ()) -> dict[str, str]:
        """Return the patterns of the holes that may come before a body, by name. The holes are
        those of `pieces`, or of the call's template."""
        before = pieces or self.syntax.call_template.before
        name = self.name if self.syntax.known_names else name_before(before, "name")
        holes = {
            "name": f"(?P<name>{name})",
            "id": f"(?P<id>{name_before(before, 'id')})",
            "index": r"(?P<index>\d{1,20}+)",
            "number": r"\d{1,20}+",
            "word": WORD,
        }
        for hole in holes_of(before):
            if is_line(hole):
                holes[hole] = f"(?P<{hole.replace(':', '_')}>{LINE})"
        return holes

    def unreadable(self) -> list[Choice]:
        """Return the opener that names a tool, in a list; [] if prose may hold such an opener.

        If nothing readable follows it, the call is aborted rather than taken for prose.
        """
        before = self.syntax.call_template.before
        opener = pieces_pattern(before, self.holes(), value_after=self.notation.keeps_space)
        first = before[0] if before else ""
        names_tool = (
            isinstance(first, str) and has_words(re.escape(first)) and "name" in holes_of(before)
        )
        if not names_tool or self.syntax.known_names or self.syntax.line_start:
            return []
        if str(first)[:1].isalnum():
            return []  # an ordinary word occurs in prose, too
        if not re.match(r"<[|｜]|\[", str(first)):
            opener += f"(?={SPACE}[<{{])"  # because prose mentions tags, but no control tokens
        group = Group(Kind.UNREADABLE, self.number)
        return [Choice(opener, begins(before), group, varying=True)]

    def lookalikes(self) -> list[Choice]:
        """Return the openers that look like a call of an unknown tool; [] unless the syntax has
        `known_names`, which makes such a call text.

        The reader decides which names count, because prose has tags too.
        """
        if not self.knows_names:
            return []
        free = CallOpeners(self.syntax, self.number, ())
        template = self.syntax.call_template
        lead = Lead(self.syntax, "", without_names(free.closing.pattern), strict=True, firm=True)
        lookahead = self.notation.evidence(lead)
        opener = pieces_pattern(template.before, free.holes()) + lookahead
        if self.syntax.line_start:
            opener = LINE_START + opener
        openers = [(opener, begins(template.before))]
        if self.syntax.section_required:
            openers = [
                (pieces_pattern(section.before, {}) + SPACE + opener, begins(section.before))
                for section in self.syntax.sections
            ]
        group = Group(Kind.LOOKALIKE, self.number)
        return [Choice(pattern, first, group) for pattern, first in openers] if lookahead else []


def name_of(syntax: Declaration, names: tuple[str, ...]) -> str:
    """Return the pattern of the name in a call of this syntax."""
    if not syntax.known_names:
        return name_before(syntax.call_template.before, "name")
    if not names:
        return f"{_NO_WRAPPER_TAG}{IDENTIFIER}"
    # longer names first: `read` would match the beginning of `read_file`
    any_name = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return rf"(?:(?:{'|'.join(NAME_SPACES)})\.)?+(?:{any_name})"
