"""Find the unknown words of a request body: fields, kinds and roles, at any depth.

The known words are those of the SDKs' types, in `wire_words.json`, which
`benchmarks/cache_words.py` writes. JSON Schemas, arguments and texts are not looked into.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

# The lists of words that a body of each form is compared with. A body in OpenAI's form may go to
# any provider through LiteLLM and hold Anthropic's blocks, too: "either" has the words of both.
VOCABULARIES: Final = {
    "messages": ("anthropic",),
    "chat": ("chat", "either"),
    "responses": ("responses",),
    "converse": ("converse",),
    "gemini": ("gemini",),
}
_SHOWN: Final = 40  # the most characters of a word that are shown


class UnknownWord(NamedTuple):
    """The path in a body of a word that is not in `vocabulary`."""

    vocabulary: str
    path: str


class _Form(NamedTuple):
    """The known fields of an object. If the object has kinds, its field `by` names the kind, and
    `kinds` has the known fields of each kind.

    A known field maps to the form of its value, to a set of words, or to None for any value.
    """

    by: str
    kinds: dict[str, dict[str, Any]]
    fields: dict[str, Any] | None


def unknown_words(section: str, value: Any, api: str, path: str) -> Iterator[UnknownWord]:
    """Yield the unknown words in a part of a body.

    `section` is the top-level field that the part belongs to, and `path` is the part's path.
    """
    for name in VOCABULARIES.get(api, ()):
        fields = _forms(name).fields or {}
        if section in fields:
            for place in _unknown(value, fields[section], path):
                yield UnknownWord(name, place)


@cache
def _forms(name: str) -> _Form:
    """Return a vocabulary's form of a whole body."""
    rows = _file()[name]["forms"]
    forms = [_Form(row.get("by", ""), {}, {} if "fields" in row else None) for row in rows]

    def linked(value: Any) -> Any:
        return (forms[value] if value else None) if isinstance(value, int) else frozenset(value)

    for form, row in zip(forms, rows, strict=True):
        if form.fields is not None:
            form.fields.update({key: linked(value) for key, value in row["fields"].items()})
    for form, row in zip(forms, rows, strict=True):
        form.kinds.update({kind: forms[n].fields for kind, n in row.get("kinds", {}).items()})
    return forms[0]


@cache
def _file() -> dict[str, Any]:
    file: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_bytes())
    return file


def _unknown(value: Any, form: Any, path: str) -> Iterator[str]:
    if form is None or value is None:
        return
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _unknown(item, form, f"{path}[{number}]")
    elif isinstance(form, frozenset):
        if isinstance(value, dict) or (isinstance(value, str) and value not in form):
            yield f"{path} {str(value)[:_SHOWN]!r}"
    elif isinstance(value, dict):
        yield from _unknown_in_object(value, form, path)


def _unknown_in_object(value: dict[str, Any], form: _Form, path: str) -> Iterator[str]:
    fields, kind = form.fields, value.get(form.by) if form.by else None
    if kind is not None:
        fields = form.kinds.get(kind) if isinstance(kind, str) else None
        if fields is None:
            yield f"{path}.{form.by} {str(kind)[:_SHOWN]!r}"
            return
    elif fields is None:
        yield f"{path} without a {form.by}"
        return
    for key, item in value.items():
        if key not in fields:
            yield f"{path}.{str(key)[:_SHOWN]}"
        elif (field_form := fields[key]) is not None:
            yield from _unknown(item, field_form, f"{path}.{key}")
