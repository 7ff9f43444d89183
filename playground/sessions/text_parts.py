"""Build a text part, and divide an edited text among several parts."""

from __future__ import annotations

from collections.abc import Sequence

from playground.nouns.messages import Part, TextPart
from playground.sessions import unvalidated


def text_part(text: str) -> TextPart:
    return unvalidated.text(str(text))  # str() also makes a NotANumber a plain text


def with_text(parts: Sequence[Part], text: str) -> list[Part]:
    """Divide the edited text of several parts among them; unchanged parts stay. If the edit changes
    several parts, these become one part."""
    texts = [part.text if isinstance(part, TextPart) else "" for part in parts]
    remaining = len("".join(texts))
    unchanged: list[Part] = []
    for part_text in texts[:-1]:
        remaining -= len(part_text)
        if text.startswith(part_text):
            unchanged.append(TextPart(part_text))
            text = text[len(part_text) :]
            continue
        tail = "".join(texts)[-remaining:]
        if not text.endswith(tail):  # the edit changed later parts, too
            break
        changed = TextPart(text[: len(text) - remaining])
        return [*unchanged, changed, *parts[len(unchanged) + 1 :]]
    return [*unchanged, TextPart(text)]
