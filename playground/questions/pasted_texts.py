"""What a pasted text shows before any reader is asked: quotes of JSON, a template's tags."""

from __future__ import annotations

import re
from typing import Final

from playground.errors import InputFault
from playground.sessions.documents import parse_json

_MOST_LOOKED_AT: Final = 20_000  # characters of a reply: sixty dialects take 0.1 s for them
_TAG: Final = re.compile(r"\{[%{].*?[%}]\}", re.DOTALL)
_ASKS: Final = re.compile(r"(?<![\w\"'.])messages(?![\w\"'])")  # the variable, and no text or key
_SPECIAL: Final = r"(?:\s|<[|｜][^<>]*>|<\w+>|\[\w+\])*"  # control tokens, such as <s> or [gMASK]
_TEMPLATE_HEAD: Final = re.compile(_SPECIAL + r"\{[%{#]")
_TEMPLATE_TAIL: Final = re.compile(_SPECIAL)


def said_in_json(text: str) -> str:
    """A reply that was copied out of JSON still stands in its quotes."""
    if text.strip()[:1] != '"':
        return text
    try:
        value = parse_json(text, "pasted")
    except InputFault:
        return text
    return value if isinstance(value, str) else text


def is_template(text: str) -> bool:
    """Whether a text is a chat template, and no reply that quotes one: it begins and ends with
    Jinja, control tokens aside, and asks for `messages` in between."""
    if not _TEMPLATE_HEAD.match(text) or not _TEMPLATE_TAIL.fullmatch(text, _last_tag(text)):
        return False
    return asks_for_messages(text)


def asks_for_messages(text: str) -> bool:
    tags = _TAG.finditer(text, 0, _last_tag(text))  # each has an end then: no square cost
    return any(_ASKS.search(tag[0]) for tag in tags)


def _last_tag(text: str) -> int:
    """Where the last tag of Jinja ends; 0 where there is none."""
    return max(text.rfind(closer) for closer in ("%}", "}}", "#}")) + 2 if "}" in text else 0


def looked_at(text: str) -> tuple[str, tuple[str, ...]]:
    """A long reply without its middle: where a call begins and where it ends is what tells."""
    if len(text) <= _MOST_LOOKED_AT:
        return text, ()
    half = _MOST_LOOKED_AT // 2
    note = f"ranked by its first and last {half:,} of {len(text):,} characters"
    return text[:half] + text[-half:], (note,)
