"""Recognise a pasted text by its characters, such as JSON's quotes or Jinja's tags, before it is
parsed."""

from __future__ import annotations

import re
from typing import Final

from playground.base.errors import InputFault
from playground.base.wording import counted
from playground.sessions.documents import parse_json

_MOST_DETECTED: Final = 20_000  # characters of a reply; all dialects read them in 0.1 s
_TAG: Final = re.compile(r"\{[%{].*?[%}]\}", re.DOTALL)  # a tag of Jinja
_USES: Final = re.compile(r"(?<![\w\"'.])messages(?![\w\"'])")  # a variable, not a string or a key
_SPECIAL: Final = r"(?:\s|<[|｜][^<>]*>|<\w+>|\[\w+\])*"  # control tokens, such as <s> or [gMASK]
_TEMPLATE_HEAD: Final = re.compile(_SPECIAL + r"\{[%{#]")
_TEMPLATE_TAIL: Final = re.compile(_SPECIAL)
_BLOCK_END: Final = re.compile(r"\{%-?\s*end\w+\s*-?%\}\s*\Z")
_CLOSERS: Final = ("%}", "}}")
# the inside of a JSON string: without quotes, line breaks, and backslashes that are not escaped
_INSIDE: Final = re.compile(r'[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*')


def decode_quoted(text: str) -> str:
    """Decode a reply that was copied out of JSON with its quotes; return any other unchanged."""
    if text.strip()[:1] != '"':
        return text
    try:
        value = parse_json(text, "pasted")
    except InputFault:
        return text
    return value if isinstance(value, str) else text


def decode_escaped(text: str) -> str | None:
    """Decode a reply that was copied out of JSON without its quotes; return None for any other.

    In such a reply all line breaks and quotes are escaped, and it has at least one of each.
    """
    inner = text.strip()
    if "\\n" not in inner or '\\"' not in inner or not _INSIDE.fullmatch(inner):
        return None
    decoded = decode_quoted(f'"{inner}"')
    return decoded if "\n" in decoded else None  # a text without line breaks was not escaped


def is_template(text: str) -> bool:
    """Return True if a text is a chat template, and not a reply that quotes one. A template begins
    and ends with Jinja (apart from control tokens) and uses `messages`."""
    stop = _last_end(text, *_CLOSERS, "#}")
    if not _TEMPLATE_HEAD.match(text) or not _TEMPLATE_TAIL.fullmatch(text, stop):
        return False
    return _uses_messages(text)


def may_be_template(text: str) -> bool:
    """Return True if a text in which no dialect reads a call may be a chat template.

    Such a template may begin with words (`Below is an instruction …`), but ends with a Jinja tag
    such as `{% endfor %}`.
    """
    block_end = _BLOCK_END.search(text, max(text.rfind("{%"), 0))
    return block_end is not None and _uses_messages(text)


def template_title(text: str) -> str:
    """Return a template's title, which warns if the template never uses `messages`."""
    size = counted(len(text), "character")
    if not _uses_messages(text):
        return f"Jinja template, {size}, in which nothing asks for messages"
    return f"chat template (Jinja), {size}"


def _uses_messages(text: str) -> bool:
    # Search only up to the last end of a tag (not of a comment). After that end, the search from
    # each `{%` would run to the end of the text.
    tags = _TAG.finditer(text, 0, _last_end(text, *_CLOSERS))
    return any(_USES.search(tag[0]) for tag in tags)


def _last_end(text: str, *closers: str) -> int:
    """Return the end of the last of these closers in a text, or 0."""
    start = max(map(text.rfind, closers))
    return start + 2 if start >= 0 else 0


def beginning_and_end(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a long reply without its middle, with a note about that; return a short reply
    unchanged.

    The calls at the beginning and the end suffice to rank dialects.
    """
    if len(text) <= _MOST_DETECTED:
        return text, ()
    half = _MOST_DETECTED // 2
    note = f"ranked by its first and last {half:,} of {len(text):,} characters"
    return text[:half] + text[-half:], (note,)
