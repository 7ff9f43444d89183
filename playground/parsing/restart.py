"""Where a call that was cut off ends: at a call that begins anew inside one of its strings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from playground.parsing.choice import Choice
from playground.parsing.choice_point import ChoicePoint
from playground.parsing.declaration import Declaration
from playground.parsing.notations import notation_of
from playground.parsing.notations.notation import Lead
from playground.parsing.patterns import SPACE, name_before, pieces_pattern, prefix, unnamed

# what follows the quote is a key: what may follow a string that ends there shows that it does
_BODY: Final = rf"{SPACE}\{{{SPACE}\"(?=[^\s,}}\]:])"


def restart(syntax: Declaration, holes: Mapping[str, str]) -> ChoicePoint | None:
    """The opener of a section or a call once more, before another body: its first quote would end
    any string that holds it. None where a body's strings are none of JSON's."""
    notation = notation_of(syntax)
    if not notation.restarts:
        return None
    before = syntax.call_template.before
    call = unnamed(pieces_pattern(before, holes))
    found: dict[str, list[str]] = {}
    for section in syntax.sections:
        opener = pieces_pattern(section.before, {"name": name_before(section.before, "name")})
        found.setdefault(prefix(section.before)[:2], []).append(opener + SPACE + call + _BODY)
    if before:
        found.setdefault(prefix(before)[:2], []).append(call + _BODY)
    elif (
        not syntax.shape.name_is_key
    ):  # whose object begins as any does: `{"`, at a string's end too
        lead = Lead(syntax, "", "", strict=True, firm=False)
        found['{"'] = [notation.announce(lead)]
    told = {start: "|".join(found[start]) for start in found if len(start) > 1}
    return _openers(told)


def _openers(patterns: dict[str, str]) -> ChoicePoint | None:
    """A wait for any of the patterns, by how each begins; None for none of them."""
    if not patterns:
        return None
    # one character is found, whatever has to follow it: what it begins is for `match` to say
    first = (rf"{re.escape(text[0])}(?={re.escape(text[1:])}|\Z)" for text in patterns)
    return ChoicePoint(tuple(map(Choice, patterns.values())), "|".join(first))
