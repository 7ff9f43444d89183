"""Find the common start and end of two texts, and cut them at the edges of tags and words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from playground.plugins.own_dialects.asking import common_end, common_start

# Placeholder characters for holes while texts are compared; no template writes them.
MARKS: Final = {
    "name": "\ue000",
    "id": "\ue001",
    "index": "\ue002",
    "number": "\ue003",
    "key": "\ue004",
    "type": "\ue005",
    "is_text": "\ue006",
}
_OPEN, _CLOSE = "<[", ">]"
_HALF_TAG: Final = re.compile(r"<[^<>\n]*\Z|\[/?\w[^\[\]\n]*\Z")
_ASSIGNED: Final = re.compile(r"\s\w+=\Z")  # ` to=`: belongs to the recipient after it


def as_template(text: str) -> str:
    """Return a text with placeholders as a declaration's template: braces are doubled, and
    placeholders become holes."""
    text = text.replace("{", "{{").replace("}", "}}")
    for hole, mark in MARKS.items():
        text = text.replace(mark, f"{{{hole}}}")
    return text


def snap_start(text: str, start: str) -> str:
    """Return `start`, which `text` and other texts begin with, cut back so that it does not end
    inside a tag or a word."""
    size = len(start)
    for opener, closer in zip(_OPEN, _CLOSE, strict=True):
        tag_start = start.rfind(opener)
        # A tag holds no line break, so a bracket with a line break after it begins a list.
        if tag_start > start.rfind(closer) and "\n" not in start[tag_start:]:
            size = min(size, tag_start)
    while 0 < size < len(text) and text[size - 1].isalnum() and text[size].isalnum():
        size -= 1
    if _ASSIGNED.search(text[:size]) and text[size : size + 1].isalnum():
        size = _ASSIGNED.search(text[:size]).start()  # type: ignore[union-attr]
    return text[:size]


def snap_end(text: str, end: str) -> str:
    """Return `end`, which `text` and other texts end with, cut so that it does not begin inside a
    tag or a word."""
    before = text[: len(text) - len(end)]
    for opener, closer in zip(_OPEN, _CLOSE, strict=True):
        tag_start = before.rfind(opener)
        is_inside = tag_start > before.rfind(closer) and "\n" not in before[tag_start:]
        if is_inside and closer in end:
            end = end[end.index(closer) + 1 :]
            before = text[: len(text) - len(end)]
    while end and before and before[-1].isalnum() and end[0].isalnum():
        before, end = before + end[0], end[1:]
    return end


def splits(between: str, before: str, after: str) -> Iterator[tuple[str, str]]:
    """Yield the ways to cut the text `between` two parameters into a closer and an opener.

    The text `after` the last parameter begins with the closer; the text `before` the first
    parameter ends with the opener. Cuts inside a tag or a word, or before white space, come last.
    """
    ways = [
        (between[:place], between[place:])
        for place in range(len(between) + 1)
        if after.startswith(between[:place]) and before.endswith(between[place:])
    ]
    yield from sorted(ways, key=_oddity)


def _oddity(way: tuple[str, str]) -> tuple[bool, bool, int]:
    closer, opener = way
    is_inside = _HALF_TAG.search(closer) is not None or closer[-1:].isalnum()
    return is_inside, opener[:1].isspace(), len(opener) - len(opener.lstrip())


def joints(between: str, before: str, after: str) -> Iterator[tuple[str, str, str]]:
    """Yield the ways to cut the text `between` two calls into closer, separator and opener.

    The text `after` the last call begins with the closer; the text `before` the first call ends
    with the opener. Cuts inside a tag come last. They are tried because `<` or `>` alone may be a
    marker.
    """
    opener, closer = common_end(before, between), common_start(after, between)
    openers = _opener_variants(snap_end(between, opener))
    closers = _closer_variants(snap_start(between, closer))
    closers += [end for end in (closer.rstrip(), closer) if end not in closers]
    for chosen_closer in closers:
        for chosen_opener in openers:
            rest = len(between) - len(chosen_closer) - len(chosen_opener)
            if rest >= 0:
                stop = len(between) - len(chosen_opener)
                yield chosen_closer, between[len(chosen_closer) : stop], chosen_opener


def _opener_variants(opener: str) -> list[str]:
    """Return possible openers: the text, the text stripped, its ends that begin with a tag, ""."""
    tags = [opener[match.start() :] for match in re.finditer("<", opener)][:4]
    return list(dict.fromkeys([opener.lstrip(), opener, opener.lstrip(" \n,;"), *tags, ""]))


def _closer_variants(closer: str) -> list[str]:
    tags = [closer[: match.end()] for match in re.finditer(">", closer)][:4]
    return list(dict.fromkeys([closer.rstrip(), closer, *reversed(tags), ""]))
