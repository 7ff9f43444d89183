"""Content parts (images, sound, files) that are embedded in a text until it becomes a message.

Parts are written as hexadecimal digits of their JSON between U+E000 and U+E001, because encoding a
text as JSON or XML changes none of these. A user's own U+E000 is escaped (`escape`), so that no
text is mistaken for a part.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

_EMBEDDED: Final = re.compile("\ue000([0-9a-f]+)\ue001")
_OPENER: Final = "\ue000"
_ESCAPED_OPENER: Final = "\ue000\ue002"
_DSPY_EMBEDDED: Final = re.compile(
    r"<<CUSTOM-TYPE-START-IDENTIFIER>>(.*)<<CUSTOM-TYPE-END-IDENTIFIER>>", re.DOTALL
)


def embed(formatted: Any) -> Any:
    """Return a text that embeds a list of parts. Escape a text, and return any other value
    unchanged."""
    if not isinstance(formatted, list):
        return escape(formatted) if isinstance(formatted, str) else formatted
    return f"{_OPENER}{json.dumps(formatted, ensure_ascii=False).encode().hex()}\ue001"


def escape(text: str) -> str:
    """Escape a user's text, so that nothing in it is mistaken for a part."""
    return text.replace(_OPENER, _ESCAPED_OPENER) if _OPENER in text else text


def convert_dspy(text: str) -> str:
    """Convert the text that pydantic makes of a `dspy.Type` to one that embeds parts our way."""
    if match := _DSPY_EMBEDDED.fullmatch(text):
        try:
            return str(embed(json.loads(match[1])))
        except ValueError:
            return text
    return text


def content(text: str) -> str | list[dict[str, Any]]:
    """Return a message's content: a text, or if the text embeds parts, a list of texts and
    parts."""
    pieces = _EMBEDDED.split(text)
    if len(pieces) == 1:
        return plain(text)
    parts: list[dict[str, Any]] = []
    for index, piece in enumerate(pieces):
        if index % 2:
            parts += json.loads(bytes.fromhex(piece))
        elif piece:
            parts.append({"type": "text", "text": plain(piece)})
    return parts


def plain(text: str) -> str:
    """Return a text with its parts written out: images as addresses, others as JSON."""
    text_shown = _EMBEDDED.sub(lambda match: _address(match[1]), text)
    return text_shown.replace(_ESCAPED_OPENER, _OPENER)


def _address(hex_parts: str) -> str:
    parts = json.loads(bytes.fromhex(hex_parts))
    urls = [part["image_url"]["url"] for part in parts if part.get("type") == "image_url"]
    return " ".join(urls) if len(urls) == len(parts) else json.dumps(parts, ensure_ascii=False)
