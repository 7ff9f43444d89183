"""The markers of a syntax that plain text is not expected to contain."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from playground.parsing.declaration import Declaration, JsonShape, Markers, written_name
from playground.parsing.notations import notation_of
from playground.parsing.template import leading_text

# at least four characters, among them a letter and a sign
_HAS_WORD: Final = re.compile(r"(?s)(?=.{4})(?:[^\W\d_].*\W|\W.*[^\W\d_])")


def tags_outside_text(
    syntax: Declaration, markers: Markers, names: Iterable[str]
) -> tuple[str, ...]:
    """Return texts that plain text is not expected to contain: the first tag of each marker, and
    openers that have words but no tag. The markers are the model's special tokens, and those around
    reasoning, sections and calls of tools with these names."""
    return _tags_outside_text(syntax, markers, tuple(names))


@lru_cache(maxsize=256)  # called for each reply
def _tags_outside_text(
    syntax: Declaration, markers: Markers, names: tuple[str, ...]
) -> tuple[str, ...]:
    texts = []
    for form in (syntax, *syntax.also):
        for template in (form.call_template, *form.sections):
            for side in (template.before, template.after):
                texts.append(leading_text(side))
                texts += [leading_text(side, name=written_name(form, name)) for name in names]
    pairs = (*markers.reasoning, *markers.plain)
    texts += [text for pair in pairs for text in (pair.open, pair.close)]
    texts += [*markers.stops, *markers.dropped, markers.result]
    tags = (*map(first_tag, texts), *markers_of_words(syntax, names))
    return tuple(dict.fromkeys(filter(None, tags)))


def markers_of_words(syntax: Declaration, names: Iterable[str]) -> Iterator[str]:
    """Yield the openers that have no tag, such as `**Tool Call:**` or `@name(`. For a
    JSON object without an opener, yield its beginning up to the key that holds the name."""
    for form in (each for each in (syntax, *syntax.also) if not each.slip):
        sections = (leading_text(section.before).strip() for section in form.sections)
        yield from (text for text in sections if _HAS_WORD.search(text) and not first_tag(text))
        if form.section and not form.section_optional:
            continue  # the model writes a call outside of a section only by mistake
        for name in (written_name(form, name) for name in names):
            opener = leading_text(form.call_template.before, name=name).strip()
            if first_tag(opener):
                continue
            if opener == f"{name}(":
                yield f"\n{opener}"  # within a line, prose may name a function like this
            elif _HAS_WORD.search(opener):
                yield opener
            elif notation_of(form).proves_itself and not syntax.section:
                yield opener + _beginning_up_to_name(form.shape)


def _beginning_up_to_name(shape: JsonShape) -> str:
    """Return the last keys before the name in a call's object: `"function": {"name"`."""
    path = [*map(json.dumps, shape.name)]
    if shape.name_is_key:
        return ""
    return f"{{{path[0]}" if len(path) == 1 else ": {".join(path[-2:])


def first_tag(marker: str) -> str:
    """Return a marker up to the end of its first tag; "" for a marker without a tag."""
    tag = re.match(r"\W*\w[^>\]]*[>\]]?", marker.strip())
    return tag[0] if tag and re.search(r"[<>\[\]|]", tag[0]) else ""
