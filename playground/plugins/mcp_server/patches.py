"""JSON Patches (RFC 6902): make a patch from two values, and apply a patch.

Two objects are equal only if their keys are in the same order, because a cache compares texts.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from playground.base.errors import InputFault

Edit = dict[str, Any]
# characters of JSON; a longer value is copied if the other request has it
_SHORT: Final = 120


def written(value: Any) -> str:
    """Return the JSON of a value, its keys in their own order."""
    return json.dumps(value, ensure_ascii=False, default=str)


def step(pointer: str, key: str | int) -> str:
    """Return the JSON Pointer of a member or an item."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


def pointers(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """Yield each long value inside a JSON value: its JSON and its pointer."""
    text = written(value)
    if len(text) > _SHORT:
        yield text, pointer
        members = value.items() if isinstance(value, dict) else ()
        items = enumerate(value) if isinstance(value, list) else members
        for key, item in items:
            yield from pointers(item, step(pointer, key))


def patch_between(
    old: Any, new: Any, pointer: str, sources: Mapping[str, str] | None = None
) -> list[Edit]:
    """Return the edits that turn `old` into `new`. `sources` maps the JSON of long values to the
    pointers from which they can be copied."""
    if written(old) == written(new):
        return []
    if isinstance(old, dict) and isinstance(new, dict):
        kept = [key for key in old if key in new]
        if [*kept, *(key for key in new if key not in old)] == [*new]:
            edits = [{"op": "remove", "path": step(pointer, key)} for key in old if key not in new]
            for key, value in new.items():
                if key in old:
                    edits += patch_between(old[key], value, step(pointer, key), sources)
                else:
                    edits.append(_put(step(pointer, key), value, sources))
            return edits
    if isinstance(old, list) and isinstance(new, list):
        return _patch_of_lists(old, new, pointer, sources)
    if pointer.rpartition("/")[2].isdecimal():  # a list's item: `copy` inserts, so remove first
        return [{"op": "remove", "path": pointer}, _put(pointer, new, sources)]
    return [_put(pointer, new, sources)]


def _patch_of_lists(
    old: Sequence[Any], new: Sequence[Any], pointer: str, sources: Mapping[str, str] | None
) -> list[Edit]:
    """Return the edits that turn one list into another; items at equal places are edited inside."""
    matcher = SequenceMatcher(None, [*map(written, old)], [*map(written, new)], autojunk=False)
    edits: list[Edit] = []
    for kind, start, stop, new_start, new_stop in matcher.get_opcodes():
        if kind == "equal":
            continue
        both = min(stop - start, new_stop - new_start)
        for a, b in zip(old[start : start + both], new[new_start:], strict=False):
            edits += patch_between(a, b, step(pointer, new_start), sources)
            new_start += 1
        for _ in range(start + both, stop):
            edits.append({"op": "remove", "path": step(pointer, new_start)})
        for index in range(new_start, new_stop):
            edits.append(_put(step(pointer, index), new[index], sources))
    return edits


def _put(pointer: str, value: Any, sources: Mapping[str, str] | None) -> Edit:
    """Return the edit that adds a member or an item, or replaces a member."""
    if source := (sources or {}).get(written(value)):
        return {"op": "copy", "from": source, "path": pointer}
    return {"op": "add", "path": pointer, "value": value}


def patched(document: Any, edits: Sequence[Mapping[str, Any]]) -> Any:
    """Return the document after `add`, `copy`, `remove` and `replace` edits, applied in order.

    Raises InputFault for an edit that does not fit.
    """
    document = copy.deepcopy(document)
    for edit in edits:
        try:
            op, *_, last = edit["op"], *_steps(edit["path"])
            holder = _at(document, _steps(edit["path"])[:-1])
            value = _at(document, _steps(edit["from"])) if op == "copy" else edit.get("value")
            if isinstance(holder, list):
                index = len(holder) if last == "-" else int(last)
                holder[index : index + (op in ("remove", "replace"))] = (
                    [] if op == "remove" else [copy.deepcopy(value)]
                )
            elif op == "remove":
                del holder[last]
            else:
                holder[last] = copy.deepcopy(value)
        except (LookupError, ValueError, TypeError) as error:
            expected = "an edit of RFC 6902 that fits the document"
            raise InputFault(f"{edit!r} does not fit", expected=expected) from error
    return document


def _steps(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _at(document: Any, steps: Sequence[str]) -> Any:
    for part in steps:
        document = document[int(part) if isinstance(document, list) else part]
    return document
