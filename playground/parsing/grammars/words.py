"""The words of a declaration that must not occur in a text, outside of calls or inside a call.

A reader tolerates white space between the words of a marker, so a text must not even hold the
marker's longest word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from playground.nouns.tools import ToolMetadata
from playground.parsing.declaration import Declaration, Markers, written_name
from playground.parsing.notations import notation_of
from playground.parsing.patterns import words_of
from playground.parsing.template import Hole, Piece, leading_text


def longest_word(marker: str) -> str:
    """Return the word that represents a marker: its longest word, if possible one with a letter."""
    words = [re.sub(r"(?<=.)=[\"']?\Z", "", word) for word in words_of(marker) if word]
    lettered = [word for word in words if any(map(str.isalpha, word))]
    return max(lettered or words, key=len, default="")


def has_letters(marker: str) -> bool:
    """Return True if a marker is more than punctuation."""
    return any(map(str.isalpha, marker))


def value_words(syntax: Declaration, tool: ToolMetadata, key: str) -> tuple[str, ...]:
    """Return the words that the raw value of a parameter must not hold: its closer, and the other
    markers of a call, which show that the closer was forgotten."""
    holes = {"name": written_name(syntax, tool.name), "key": written_name(syntax, key)}
    template, param = syntax.call_template, syntax.param_template
    after = leading_text(param.after, **holes) if param else ""
    # a closer of white space alone has no words: the closer itself must not occur in a value
    words = [longest_word(after) or after]
    words += _marker_words([param.before if param else (), template.before, template.after], holes)
    if any(isinstance(piece, Hole) for piece in template.after):
        # the closer with the tool's name
        words.append(leading_text(template.after, **holes).strip())
    words += _marker_words([s.before for s in syntax.sections], holes)
    words += _marker_words([s.after for s in syntax.sections], holes)
    if syntax.cdata:
        words.append("<![CDATA[")
    return tuple(dict.fromkeys(filter(None, words)))


def _marker_words(listed: Iterable[Sequence[Piece]], holes: dict[str, str]) -> list[str]:
    """Return, for each marker with letters before its first hole, the longest word there."""
    texts = [leading_text(pieces) for pieces in listed]
    return [longest_word(text) for text in texts if has_letters(text)]


def outside_words(
    syntax: Declaration, markers: Markers, tools: Sequence[ToolMetadata]
) -> tuple[str, ...]:
    """Return the words that text outside of calls must not hold: the openers of all forms that are
    read, and the dialect's other markers."""
    words = [word for form in (syntax, *syntax.also) for word in _openers(form, tools)]
    pairs = (*markers.reasoning, *markers.plain)
    tags = [text for pair in pairs for text in (pair.open, pair.close)]
    listed = [*tags, *markers.stops, *markers.dropped, markers.result, *syntax.closers]
    words += [longest_word(text) for text in listed]
    return tuple(dict.fromkeys(filter(None, words)))


def _openers(form: Declaration, tools: Sequence[ToolMetadata]) -> list[str]:
    """Return the words with which a form's calls and sections begin."""
    beginnings = [section.before for section in form.sections]
    if not form.section_required:
        beginnings.append(form.call_template.before)
    openers = []
    for pieces in beginnings:
        first = leading_text(pieces).strip()
        lines = [p for p in pieces if isinstance(p, str) and p.strip()]
        if has_letters(first):
            openers.append(longest_word(first))
        elif pieces and form.known_names:
            openers += [first + tool.name for tool in tools]
        elif first or lines:
            openers.append(first or longest_word(lines[0]))
        else:
            openers.append(notation_of(form).first[:1])
    return openers
