"""Choices of a new call inside a string of another call, which shows that the first was cut off."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from playground.parsing.choice import Choice
from playground.parsing.choice_point import ChoicePoint
from playground.parsing.declaration import Declaration
from playground.parsing.notations import notation_of
from playground.parsing.notations.notation import Lead
from playground.parsing.patterns import SPACE, name_before, pieces_pattern, prefix, without_names

# A key must follow the quote: if punctuation follows, the quote may be the end of the string.
_BODY: Final = rf"{SPACE}\{{{SPACE}\"(?=[^\s,}}\]:])"


def restart(syntax: Declaration, holes: Mapping[str, str]) -> ChoicePoint | None:
    """Build the choices of a new call: the opener of a section or a call, up to the first quote of
    its body. No string can hold it, because the quote would end the string.

    Return None if the body's strings are not JSON's.
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
    # with `name_is_key` the object begins like any other, `{"`, and so may the text after a string
    elif not syntax.shape.name_is_key:
        lead = Lead(syntax, "", "", strict=True, firm=False)
        patterns['{"'] = [notation.announce(lead)]
    by_start = {start: "|".join(patterns[start]) for start in patterns if len(start) > 1}
    return _openers(by_start)


def _openers(patterns: dict[str, str]) -> ChoicePoint | None:
    """Make a choice point of the patterns, by how each begins; None if there are none."""
    if not patterns:
        return None
    # the first character shows a candidate; `match` decides what begins there
    first = (rf"{re.escape(text[0])}(?={re.escape(text[1:])}|\Z)" for text in patterns)
    return ChoicePoint(tuple(map(Choice, patterns.values())), "|".join(first))
