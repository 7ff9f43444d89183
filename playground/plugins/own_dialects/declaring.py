"""A dialect's declaration while the user edits it: the document, its fault, and the last readable
document.

The document is the content of the dialect's file. A document that is no valid declaration stays in
the editor; the rest of the page then shows the last readable document.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from playground.app.shared import belongings
from playground.base.errors import InputFault
from playground.dialects import get_dialect
from playground.dialects.declared import DeclaredDialect
from playground.dialects.files import dialect_of, dialect_text, plain_dialect
from playground.plugins.own_dialects import RULES
from playground.sessions.workspaces.dialects import is_kept, kept_text

_DRAFT: Final = "own dialect"
FAULT: Final = "own dialect fault"  # the fault of a callback; the page shows it once
FIRST: Final[dict[str, Any]] = {
    "name": "mine",
    "rules": RULES,
    "syntax": {"call": "<call>{call:json}</call>"},
}


@dataclass(frozen=True)
class DeclarationDraft:
    """The edited document and its `fault`, None if the document is a valid declaration.

    `readable` is the last valid document, and `dialect` the dialect that it declares. `number`
    grows when another document is loaded. `before` is the document that was replaced then, and
    `seen` is the text of the file as it was last opened or saved.
    """

    document: dict[str, Any]
    fault: InputFault | None
    readable: dict[str, Any]
    dialect: DeclaredDialect
    number: int
    before: dict[str, Any] | None
    seen: str | None

    @property
    def text(self) -> str:
        """The text of a file with the readable document."""
        return dialect_text(self.readable)


def draft() -> DeclarationDraft:
    """Return the user's draft, or a draft of `FIRST` if there is none."""
    stored = _stored_draft() or {"document": FIRST}
    document = stored["document"]
    dialect, fault = _read(document)
    readable = document if dialect else stored.get("readable", FIRST)
    if dialect is None:
        dialect, _ = _read(readable)
    if dialect is None:  # stored by an older version, whose declarations are no longer valid
        readable, dialect = FIRST, dialect_of(FIRST, "")
    number, before, seen = stored.get("number", 0), stored.get("before"), stored.get("seen")
    return DeclarationDraft(document, fault, readable, dialect, number, before, seen)


def _stored_draft() -> Any:
    """Return this browser's draft, or one that an older version stored for all browsers."""
    return belongings.value(belongings.of_this_browser(_DRAFT)) or belongings.value(_DRAFT)


def _change(updated: Callable[[Any], Any]) -> None:
    """Change this browser's draft. A draft that was stored for all browsers becomes this one's."""
    old, name = _stored_draft(), belongings.of_this_browser(_DRAFT)
    belongings.change(name, lambda stored: updated(stored or old))
    if name != _DRAFT and belongings.value(_DRAFT) is not None:
        belongings.keep(_DRAFT, None)


def take(document: dict[str, Any], seen: str | None = None) -> None:
    """Replace the document; `take_back` restores the old one. Call this in a callback."""

    def updated(stored: Any) -> Any:
        old = stored or {"document": FIRST}
        number = old.get("number", 0) + 1
        changed = {"document": document, "before": old["document"], "number": number, "seen": seen}
        return changed | _last_readable(document, old)

    _change(updated)


def take_back() -> None:
    """Restore the document that the last `take` replaced. Call this in a callback."""
    before = draft().before
    if before is not None:
        take(before)


def set_field(path: str, value: Any) -> None:
    """Set a field; None removes it. Call this in a callback."""

    def updated(stored: Any) -> Any:
        old = stored or {"document": FIRST}
        document = _with_field(old["document"], path.split("."), value)
        return old | {"document": document} | _last_readable(document, old)

    _change(updated)


def saved(text: str | None) -> None:
    """Store the text that the dialect's file has after saving; None if the file was removed. Call
    this in a callback."""
    _change(lambda stored: (stored or {"document": FIRST}) | {"seen": text})


def field(document: Any, path: str) -> Any:
    """Return a field's value; None if it is missing."""
    for step in path.split("."):
        document = document.get(step) if isinstance(document, dict) else None
    return document


def _with_field(document: Any, path: list[str], value: Any) -> dict[str, Any]:
    changed = dict(document) if isinstance(document, dict) else {}
    step, *rest = path
    if rest:
        changed[step] = _with_field(changed.get(step), rest, value)
    elif value is None:
        changed.pop(step, None)
    else:
        changed[step] = value
    return changed


def _last_readable(document: Any, old: dict[str, Any]) -> dict[str, Any]:
    dialect, _ = _read(document)
    return {"readable": document if dialect else old.get("readable", FIRST)}


def _read(document: Any) -> tuple[DeclaredDialect | None, InputFault | None]:
    try:
        return dialect_of(document, ""), None
    except InputFault as fault:
        return None, fault


def start_from(name: str) -> None:
    """Open a dialect that the user declared, or load a copy of any other registered one."""
    document = plain_dialect(get_dialect(name))
    if is_kept(name):
        take(document, kept_text(name))
    else:
        take(document | {"name": f"my-{name}"})
