"""The last imported text or file: recognised once, in a callback, and stored until it is used."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import Final

from playground.app import state
from playground.app.shared import belongings
from playground.questions.recognised_documents import Recognised
from playground.questions.recognition import recognise

_BROUGHT: Final = "brought"
_TARGET: Final = "target"
_TEMPLATE: Final = "chat template"


def take(key: str) -> None:
    """Recognise the new text or file in the box with this key."""
    typed = state.component_value(key, "typed")
    if not typed:
        return
    data = base64.b64decode(typed["base64"]) if "base64" in typed else str(typed["text"])
    name = str(typed.get("name") or "")
    # an empty file is recognised too, because the result has a message about it
    found = asdict(recognise(data, name)) if data or name else None
    state.put(_BROUGHT, {"number": int(typed["number"]), "found": found})


def last() -> Recognised | None:
    """Return the last imported thing if it has not been used yet."""
    found = (state.get(_BROUGHT) or {}).get("found")
    return Recognised(**found) if found else None


def number() -> int:
    """Return the number of the text that `last` is about, in the order of the box's texts."""
    return int((state.get(_BROUGHT) or {}).get("number", 0))


def forget() -> None:
    """Forget the imported thing after its use."""
    state.put(_BROUGHT, None)


def set_target(page: str) -> None:
    """Make the next run go to the page of this name."""
    state.put(_TARGET, page)


def has_target() -> bool:
    return bool(state.get(_TARGET))


def taken_target() -> str:
    """Return the name of the page to go to, and forget it; "" for none."""
    page = state.get(_TARGET) or ""
    state.put(_TARGET, "")
    return str(page)


def keep_template(name: str, text: str) -> None:
    """Store a chat template for the Raw prompt page: its file's name and its text."""
    belongings.keep(_TEMPLATE, [name, text])


def kept_template() -> tuple[str, str] | None:
    """Return the name and text of the chat template that was imported last."""
    found = belongings.value(_TEMPLATE)
    return (found[0], found[1]) if found else None


def forget_template() -> None:
    """Forget the imported template."""
    belongings.keep(_TEMPLATE, None)
