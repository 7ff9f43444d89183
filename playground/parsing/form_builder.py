"""Build a syntax's form: for each place in its calls and its section, the patterns to look for.

A notation adds its own choices: `announce` in an opener, `choice_points` inside a body.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from playground.parsing.call_openers import CallOpeners
from playground.parsing.choice import Choice, Group, Kind
from playground.parsing.choice_point import ChoicePoint, after_space, choice_point
from playground.parsing.declaration import Declaration
from playground.parsing.form import Form
from playground.parsing.notations import notation_of
from playground.parsing.notations.notation import Lead, Neighbours
from playground.parsing.outer_choices import OuterChoices
from playground.parsing.patterns import (
    SPACE,
    WRAPPER_END,
    allow_repeated,
    any_form,
    begin_differently,
    begins,
    begins_with_words,
    closer_heads,
    has_words,
    literal,
    lookahead_of,
    name_before,
    pieces_pattern,
    prefix,
    section_ends,
    without_final_space,
    without_list,
    without_names,
)
from playground.parsing.template import Template, declared_text, holes_of

_BLANKS: Final = tuple(" \t\n\r\f\v")
# A key must follow the quote: before punctuation, the quote may be the end of an open string.
_BODY: Final = rf"{SPACE}\{{{SPACE}\"(?=[^\s,}}\]:])"


class FormBuilder(CallOpeners):
    """A builder of the choices of one syntax. Every group has the form's `number`."""

    def __init__(self, syntax: Declaration, number: int, names: tuple[str, ...]) -> None:
        super().__init__(syntax, number, names)
        # only the section that the dialect writes may lack the brackets of its list
        self.unlisted = tuple(filter(None, map(without_list, syntax.sections[:1])))
        self.sections = (*syntax.sections, *self.unlisted)
        ends = section_ends(self.sections)
        self.section_close = f"(?:{'|'.join(ends)})" if ends else ""

    def form(self, outer: OuterChoices, calls: list[Choice], remnants: list[Choice]) -> Form:
        """Build the choice points. `calls` are the openers of all forms of the dialect,
        `remnants` are parts of calls whose other parts are missing."""
        closing, wrapped = self.closing, WRAPPER_END if self._may_be_wrapped() else ""
        return Form(
            syntax=self.syntax,
            after_marker=self._section_choices(outer, calls),
            # closers of punctuation alone, such as `]`, count here too
            after_text=after_space(self.section_closer()),
            between=self._section_choices(outer, calls, remnants),
            half_closer=self._half_closer(),
            separator=choice_point(self._separator()),
            opening=choice_point(self.opening()),
            close=choice_point(Choice(SPACE + wrapped + closing.pattern))
            if closing.pattern
            else None,
            repeated_closer=self._repeated_closer(),
            surplus_brackets=self._surplus_brackets(),
            recovery=self._recovery(outer, calls) if closing.pattern else None,
            restart=restart(self.syntax, self.holes()),
            next_call=self._next_call(),
            lookalike_end=self._lookalike_end(outer, calls),
            body=self.notation.choice_points(self._neighbours(outer)),
        )

    def _repeated_closer(self) -> ChoicePoint | None:
        """Build the choice of a second closer, because models repeat closers. Return None if the
        closer names a tool, because its pattern may then match the closer of any tag."""
        closing = self.closing.pattern
        if not has_words(closing) or "name" in holes_of(self.syntax.call_template.after):
            return None
        return choice_point(Choice(SPACE + closing))

    def _surplus_brackets(self) -> ChoicePoint | None:
        """Build the choice of the closer after surplus brackets of the body; None for a body whose
        brackets are not mended, or a closer without letters."""
        if not self.notation.mends_brackets or not has_words(self.closing.pattern):
            return None
        brackets = rf"{SPACE}(?P<excess>[}}\]]{{1,3}}+){SPACE}"
        return choice_point(Choice(brackets + self.closing.pattern))

    def _recovery(self, outer: OuterChoices, calls: list[Choice]) -> ChoicePoint:
        """Build the choices that end an unreadable call: its closer, or a marker after its end."""
        return choice_point(
            self.closing._replace(group=Group(Kind.CLOSE)),
            *calls,
            *outer.openers(),
            *outer.stops(),
            *self.section_closer(in_prose=True),
        )

    def _lookalike_end(self, outer: OuterChoices, calls: list[Choice]) -> ChoicePoint | None:
        """Build the choices that end what only looks like a call; None if no text can look so."""
        if not self.lookalikes():
            return None
        ending = FormBuilder(self.syntax, self.number, ()).closing
        if self.syntax.section_required:
            ending = self.section_closer()[0]
        closer = ending._replace(group=Group(Kind.CLOSE))
        return choice_point(closer, *calls, *outer.openers(), *outer.stops())

    def _next_call(self) -> ChoicePoint | None:
        """Build the choice of another call between the same markers, with or without a comma or
        semicolon before it. Return None for forms in which it could not be recognised."""
        if not self.syntax.call_template.before or not self.closing.pattern:
            return None
        if not self.notation.repeats or "name" in holes_of(self.syntax.call_template.before):
            return None
        head = self.notation.announce(Lead(self.syntax, "", "", strict=True, firm=False))
        return choice_point(Choice(rf"{SPACE}[,;]?+{SPACE}(?={head})"))

    def _neighbours(self, outer: OuterChoices) -> Neighbours:
        return Neighbours(
            syntax=self.syntax,
            name=self.name,
            knows_names=self.knows_names,
            closing=self.closing,
            section_close=self.section_close,
            section_closers=tuple(self.section_closer()),
            stops=tuple(outer.stops()),
            results=tuple(outer.results()),
            calls=tuple(self._next_calls()),
        )

    # openers

    def _next_calls(self) -> list[Choice]:
        """Return the openers of a call that follows another, also within the same section."""
        opener = self.opening()
        shows_itself = begins_with_words(self.syntax.call_template.before)
        return list(dict.fromkeys([*self._openers(opener), *([opener] if shows_itself else [])]))

    def calls(self) -> list[Choice]:
        """Return the openers that count outside a section: the sections', and the call's own unless
        a section is required."""
        return self._openers(self.opening())

    def calls_in_reasoning(self) -> list[Choice]:
        """Return the openers that count inside reasoning. A call's own opener may be a draft there,
        so something of the call has to follow it."""
        return self._openers(self.opening(firm=True))

    def _openers(self, call_opener: Choice) -> list[Choice]:
        sections = [self._section_opener(template) for template in self.sections]
        return sections if self.syntax.section_required else [*sections, call_opener]

    # sections

    def _section_opener(self, template: Template) -> Choice:
        """Return a section's opener. It counts only before a call, because prose names sections."""
        name = name_before(template.before, "name")
        opener = pieces_pattern(template.before, {"name": f"(?P<recipient>{name})"})
        is_unlisted = template in self.unlisted  # prose may hold such an opener: `functools{…}`
        slip = "(?P<slip>)" if is_unlisted else ""
        call = self.opening(strict=not has_words(opener), firm=is_unlisted)
        end = pieces_pattern(without_final_space(template.after), {})
        empty = [end] if has_words(end) else []
        twice = allow_repeated(opener, template)
        # if any tag may open a call, a second section opener would count as the opener of a call
        begins_differ = begin_differently(
            template.before, self.syntax.call_template.before, template.after
        )
        not_again = "" if twice == opener or begins_differ else f"(?!{opener})"

        def opener_before(*following: str) -> str:
            return f"{twice}(?={SPACE}{not_again}(?:{'|'.join(following)})){slip}"

        lookaheads = [*map(lookahead_of, call.patterns), *empty]
        return Choice(
            opener_before(lookahead_of(call.pattern), *empty),
            begins(template.before),
            Group(Kind.SECTION, self.number),
            # what follows may be the beginning of the same opener, or of another section's
            varying=bool(not_again) or self.number > 0 or len(self.sections) > 1,
            forms=tuple(map(opener_before, lookaheads)),
        )

    def section_closer(self, in_prose: bool = False, orphan: bool = False) -> list[Choice]:
        """Return the closers of the section.

        `in_prose` leaves out a closer of punctuation alone, such as `]`. With `orphan`, return only
        the closer that the dialect itself writes, because the others occur in prose.
        """
        sections = self.sections[:1] if orphan else self.sections
        ends = [end for end in section_ends(sections) if has_words(end) or not in_prose]
        if not ends:
            return []
        closers = [template.after for template in sections]
        first = tuple(text for closer in closers for text in begins(closer))
        texts = tuple("".join(map(str, closer)).strip() for closer in closers)
        group = Group(Kind.SECTION_CLOSE, self.number)
        return [Choice(f"(?:{'|'.join(ends)})", first, group, texts, len(ends) > 1)]

    def _half_closer(self) -> ChoicePoint | None:
        """Build the choice of a section's closer without its last tag or word, such as the `]` of a
        list; None if no closer has such a beginning."""
        closers = [declared_text(section.after) for section in self.syntax.sections]
        heads = {head for closer in closers for head in closer_heads(closer)}
        if not heads:
            return None
        longest_first = sorted(heads, key=lambda head: (-len(head), head))
        pattern = "|".join(map(literal, longest_first))
        return choice_point(Choice(rf"{SPACE}(?:{pattern})", varying=True))

    def _section_choices(
        self, outer: OuterChoices, calls: list[Choice], remnants: list[Choice] | None = None
    ) -> ChoicePoint | None:
        """Build the choices inside a section: right after a marker, or with `remnants` anywhere
        between its calls.

        White space is markup only before a marker, because prose may be here too. In prose a bare
        object is not a call, and punctuation is not a closer. Return None without a section.
        """
        if not self.syntax.section:
            return None
        after_marker = remnants is None
        sections = [call for call in calls if call.group and call.group.kind is Kind.SECTION]
        markers = [
            *([] if after_marker else outer.openers()),
            *sections,  # first, because the opener of the section's own call may be any tag
            *self._earlier_openers(calls),
            self.opening(strict=not after_marker),
            *calls,
            *outer.dropped(),
            *outer.stops(),
            *self.unreadable(),
            *self.section_closer(in_prose=not after_marker),
            *outer.closers(),
        ]
        lookahead = "|".join(dict.fromkeys(lookahead_of(choice.pattern) for choice in markers))
        space = Choice(rf"\s{{1,64}}+(?={lookahead})", _BLANKS, Group(Kind.SPACE))
        # `dict.fromkeys`, because `calls` may contain the same opening
        return choice_point(*dict.fromkeys(markers), space, *(remnants or ()))

    def _earlier_openers(self, calls: list[Choice]) -> list[Choice]:
        """Return the openers of earlier forms that differ from this form's. After a call of this
        form, the next call may be of an earlier one."""
        own = without_names(self.opening().pattern)
        return [
            call
            for call in calls
            if call.group and call.group.number < self.number and without_names(call.pattern) != own
        ]

    def _separator(self) -> Choice:
        """Return the separator between two calls. It counts only if a second call or the section's
        closer follows."""
        if not self.syntax.section:
            following = [self.opening()]
        elif self.syntax.one_call_a_section:
            following = self.calls()
        else:
            following = [self.opening(strict=False)]
        lookaheads = [lookahead_of(choice.pattern) for choice in following]
        before = SPACE if self.syntax.separator.strip() else ""
        if before and not self.syntax.one_call_a_section and self.section_close:
            lookaheads.append(self.section_close)  # models write a comma after the last call, too
        lookahead = "|".join(lookaheads)
        first: tuple[str, ...] = ()
        if not before and all(choice.begins for choice in following):
            first = tuple(f" {text.strip(' ')}" for each in following for text in each.begins)
        return Choice(rf"{before}{literal(self.syntax.separator)}{SPACE}(?={lookahead})", first)


def restart(syntax: Declaration, holes: Mapping[str, str]) -> ChoicePoint | None:
    """Build the choices of a new call: the opener of a section or a call, up to the first quote of
    its body. No string can hold such a beginning, because the quote would end the string.

    Return None if the body's strings are not JSON's, or if no opener shows a new call.
    """
    notation = notation_of(syntax)
    if not notation.restarts:
        return None
    before = syntax.call_template.before
    call = without_names(pieces_pattern(before, holes))
    patterns: dict[str, list[str]] = {}
    for section in syntax.sections:
        opener = pieces_pattern(section.before, {"name": name_before(section.before, "name")})
        patterns.setdefault(prefix(section.before)[:2], []).append(opener + SPACE + call + _BODY)
    if before:
        patterns.setdefault(prefix(before)[:2], []).append(call + _BODY)
    # with `name_is_key` the object begins with `{"`, as text after a string may too
    elif not syntax.shape.name_is_key:
        lead = Lead(syntax, "", "", strict=True, firm=False)
        patterns['{"'] = [notation.announce(lead)]
    by_start = {start: any_form(patterns[start]) for start in patterns if len(start) > 1}
    return _openers(by_start)


def _openers(patterns: dict[str, str]) -> ChoicePoint | None:
    """Make a choice point of patterns by their first characters; None if there are no patterns."""
    if not patterns:
        return None
    # the first character shows a candidate; `match` decides what begins there
    first = (rf"{re.escape(text[0])}(?={re.escape(text[1:])}|\Z)" for text in patterns)
    return ChoicePoint(tuple(map(Choice, patterns.values())), "|".join(first))
