"""Requests side by side as one grid, with a row for each origin (the part of a request that a text
comes from, such as a tool or a message) and a column for each request.

The cells of every column are in the order in which their text is sent. If two requests have two
origins in different orders, one of these origins gets two rows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import groupby
from typing import Any, Final

from playground.base.wording import keep_order

Payload = dict[str, Any]
_DECISION_FIELDS: Final = ("badge", "marked", "reason")
_KINDS: Final = (  # of origins, in the order of a request
    "rules",
    "tools",
    "tool",
    "system",
    "agent",
    "system-rules",
    "user-prompt",
    "message",
    "environment",
)


class _Row:
    """A row while the grid is built, without a number because its place may still change."""

    __slots__ = ("label", "origin")

    def __init__(self, origin: str, label: str) -> None:
        self.origin = origin
        self.label = label


def grid(panes: Sequence[Payload]) -> Payload:
    """Return the component's data: `rows` (origin and label), `panes`, and `texts` and `images`,
    with each text and image once. A pane in `panes` has `name`, `note` and `messages`, each with
    `role` and `blocks`. A returned pane has `cells` instead: each is a row's number and the blocks
    in it. A block has its text's number, its kind, the role if it begins a message, and, if any,
    the decision about its mark and the keys of its images. Texts are unchanged; all other words are
    guarded against characters that change the reading direction."""
    rows: list[_Row] = []
    placed: list[list[tuple[_Row, list[tuple[str, Payload]]]]] = []
    for pane in panes:
        runs = [list(run) for _, run in groupby(_blocks(pane), key=lambda each: each[1]["origin"])]
        rows, column_rows = _merge_rows(
            rows, [(run[0][1]["origin"], run[0][1]["label"]) for run in runs]
        )
        placed.append(list(zip(column_rows, runs, strict=True)))
    numbers = {id(row): number for number, row in enumerate(rows)}
    texts: dict[str, int] = {}
    images: dict[str, tuple[str, int, int]] = {}
    return {
        "rows": [[row.origin, keep_order(row.label)] for row in rows],
        "panes": [
            {
                "name": keep_order(pane["name"]),
                "note": keep_order(pane["note"]),
                "parts": pane.get("parts", {}),
                "cells": [
                    [numbers[id(row)], [_block(block, role, texts, images) for role, block in run]]
                    for row, run in cells
                ],
            }
            for pane, cells in zip(panes, placed, strict=True)
        ],
        "texts": list(texts),  # filled by the blocks above
        "images": images,
    }


def with_row(data: Payload, origin: str, label: str) -> Payload:
    """Return the grid with a row of this origin; if there is none, insert an empty row for it."""
    rows = data["rows"]
    if any(each == origin for each, _ in rows):
        return data
    rank = _rank(origin)
    at = next((number for number, (each, _) in enumerate(rows) if _rank(each) > rank), len(rows))
    panes = [
        {**pane, "cells": [[row + (row >= at), blocks] for row, blocks in pane["cells"]]}
        for pane in data["panes"]
    ]
    return {**data, "rows": [*rows[:at], [origin, keep_order(label)], *rows[at:]], "panes": panes}


def _rank(origin: str) -> tuple[int, int]:
    """Return the place of an origin among the parts of a request."""
    kind, _, number = origin.partition(":")
    return _KINDS.index(kind) if kind in _KINDS else -1, int(number) if number.isdecimal() else 0


def _blocks(pane: Payload) -> Iterator[tuple[str, Payload]]:
    """Yield a pane's blocks in order, each with the role of the message that it begins, or ""."""
    for message in pane["messages"]:
        for number, block in enumerate(message["blocks"]):
            yield ("" if number else message["role"], block)


def _block(
    block: Payload, role: str, texts: dict[str, int], images: dict[str, tuple[str, int, int]]
) -> list[Any]:
    number = texts.setdefault(block["text"], len(texts))
    decision: Payload = {
        name: keep_order(value) if isinstance(value := block[name], str) else value
        for name in _DECISION_FIELDS
        if name in block
    }
    keyed = {sha256(image[0].encode()).hexdigest()[:16]: image for image in block.get("images", ())}
    if keyed:
        images |= keyed
        decision["images"] = list(keyed)
    return [number, keep_order(block["kind"]), keep_order(role), *([decision] if decision else [])]


def _merge_rows(
    rows: list[_Row], column: Iterable[tuple[str, str]]
) -> tuple[list[_Row], list[_Row]]:
    """Return all rows, with those that a further column adds; and the row of each run in `column`.
    A run is a stretch of blocks of one origin, given as origin and label. It takes the next row of
    its origin below the previous run's row, or a new row there."""
    places: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        places.setdefault(row.origin, []).append(number)
    added: dict[int, list[_Row]] = {}  # number of a row → the new rows after it
    column_rows: list[_Row] = []
    last = -1
    for origin, label in column:
        free = places.get(origin, [])
        at = bisect_right(free, last)
        if at < len(free):
            last = free[at]
            column_rows.append(rows[last])
        else:
            row = _Row(origin, label)
            added.setdefault(last, []).append(row)
            column_rows.append(row)
    merged = list(added.get(-1, []))
    for number, row in enumerate(rows):
        merged += [row, *added.get(number, [])]
    return merged, column_rows
