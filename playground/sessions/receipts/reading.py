"""A receipt of a file: it is read once more, and walked beside."""

from __future__ import annotations

from collections.abc import Sequence

from playground.sessions.formats import get_format
from playground.sessions.loading import Given, LoadedSession, read_sessions, source_of
from playground.sessions.receipts.leaves import leaves_of
from playground.sessions.receipts.receipt import Receipt, receipt_of
from playground.sessions.source import Source


def read_receipt(given: Given, format: str | None = None) -> Receipt:
    """Return the receipt of a file or of content, as `load_sessions` takes it.

    All sessions of it are read, also where a name chooses one. Raises InputFault as that does.
    """
    source = source_of(given)
    source.number = 0
    loaded = list(read_sessions(source, format))
    other = source_of(given)
    other.number = 0
    return receipt_of_sessions(other, loaded)


def receipt_of_sessions(source: Source, loaded: Sequence[LoadedSession]) -> Receipt:
    """Return the receipt of a file of which all sessions were read already."""
    form = loaded[0].format if loaded else ""
    return receipt_of(
        leaves_of(source),
        [each.session for each in loaded],
        [found for each in loaded for found in each.findings],
        get_format(form).left_aside if form else {},
        form,
    )
