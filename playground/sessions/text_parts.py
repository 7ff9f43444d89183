"""Parts of text: one of what was said; several as one text, of which an edit changes some."""

from __future__ import annotations

from collections.abc import Sequence

from playground.nouns.messages import Part, TextPart
from playground.sessions import unvalidated


def text_part(text: str) -> TextPart:
    """Return a text as a part."""
    return unvalidated.text(str(text))  # str: of a NotANumber, too


def with_text(parts: Sequence[Part], text: str) -> list[Part]:
    """Return the text of several parts after an edit: each has what it had, the changed one the
    change.
    """
    before = [part.text if isinstance(part, TextPart) else "" for part in parts]
    behind = len("".join(before))
    kept: list[Part] = []
    for own in before[:-1]:
        behind -= len(own)
        if text.startswith(own):  # nothing was changed up to its end
            kept.append(TextPart(own))
            text = text[len(own) :]
            continue
        tail = "".join(before)[-behind:]
        if not text.endswith(tail):  # the change goes on into what follows
            break
        return [*kept, TextPart(text[: len(text) - behind]), *parts[len(kept) + 1 :]]
    return [*kept, TextPart(text)]
