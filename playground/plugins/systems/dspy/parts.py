"""Content parts (images, sound, files) that are embedded in a text until it becomes a message.

A part is written as its JSON in hex between U+E000 and U+E001, so that JSON or XML around it does
not change it. A user's own U+E000 is escaped (`protected`), so that no text can pose as a part.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

_HELD: Final = re.compile("\ue000([0-9a-f]+)\ue001")
_OPENER: Final = "\ue000"
_LITERAL: Final = "\ue000\ue002"
_DSPY: Final = re.compile(
    r"<<CUSTOM-TYPE-START-IDENTIFIER>>(.*)<<CUSTOM-TYPE-END-IDENTIFIER>>", re.DOTALL
)


def held(shown: Any) -> Any:
    """Return a list of parts as a text that embeds them, a text escaped, other values unchanged."""
    if not isinstance(shown, list):
        return protected(shown) if isinstance(shown, str) else shown
    return f"{_OPENER}{json.dumps(shown, ensure_ascii=False).encode().hex()}\ue001"


def protected(text: str) -> str:
    """Return a user's text escaped, so that nothing in it is taken for a part."""
    return text.replace(_OPENER, _LITERAL) if _OPENER in text else text


def adopted(text: str) -> str:
    """Convert a text that pydantic made of a `dspy.Type`, which marks parts in its own way."""
    if match := _DSPY.fullmatch(text):
        try:
            return str(held(json.loads(match[1])))
        except ValueError:
            return text
    return text


def content(text: str) -> str | list[dict[str, Any]]:
    """Return a message's content: a text, or a list of texts and parts if it embeds any."""
    pieces = _HELD.split(text)
    if len(pieces) == 1:
        return plain(text)
    found: list[dict[str, Any]] = []
    for index, piece in enumerate(pieces):
        if index % 2:
            found += json.loads(bytes.fromhex(piece))
        elif piece:
            found.append({"type": "text", "text": plain(piece)})
    return found


def plain(text: str) -> str:
    """Return a text with its parts written out: images as addresses, others as JSON."""
    shown = _HELD.sub(lambda match: _address(match[1]), text)
    return shown.replace(_LITERAL, _OPENER)


def _address(held_parts: str) -> str:
    listed = json.loads(bytes.fromhex(held_parts))
    urls = [part["image_url"]["url"] for part in listed if part.get("type") == "image_url"]
    return " ".join(urls) if len(urls) == len(listed) else json.dumps(listed, ensure_ascii=False)
