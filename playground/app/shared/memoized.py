"""A cache of answers between runs of a page, by the content of their arguments.

A key always follows from the values. If callers passed keys, a caller could change a value and not
its key, and the page would silently show the answer to another question.

Streamlit would hash a session in every run, which takes 60 ms for each megabyte of models. Our
values are frozen, so `digest` computes the digest of an object only once; later uses cost about
0.05 ms.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from hashlib import blake2b
from threading import Lock
from typing import Any, Final, ParamSpec, TypeVar

import streamlit as st
from pydantic import BaseModel, SecretStr

from playground.cache.answers.what_if import WhatIf
from playground.dialects import dialect_files
from playground.dialects.marks.own_policies import OwnPolicy
from playground.nouns.tools import ToolMetadata
from playground.parsing.switches import Switches
from playground.recordings.recording import Recording
from playground.sessions.editing import Edit
from playground.sessions.session import Session

P = ParamSpec("P")
R = TypeVar("R")
Update = Callable[[bytes], None]
Identity = int | tuple[int, ...]

_MOST_KNOWN: Final = 256  # objects, kept alive so that no other object gets the same id
_known: OrderedDict[Identity, tuple[object, bytes]] = OrderedDict()
_lock = Lock()  # every browser session runs in a thread of its own


def memoized(
    entries: int, spinner: str | bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a pure function: at most `entries` answers are cached, for all browser sessions.

    The answers are shared: never change an answer. Arguments are plain values or of the types in
    KEYED. An argument's name must not begin with an underscore, because Streamlit would leave that
    argument out of the key. The states of the dialects' files are part of the key, since a dialect
    is passed by its name.
    """
    resource = st.cache_resource(max_entries=entries, show_spinner=spinner, hash_funcs=_HASHES)

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def answer(*args: Any, dialect_files: tuple[Any, ...], **named: Any) -> R:
            return function(*args, **named)

        cached = resource(answer)

        @wraps(function)
        def current(*args: P.args, **named: P.kwargs) -> R:
            return cached(*args, dialect_files=tuple(map(tuple, dialect_files())), **named)

        return current

    return decorated


def digest(value: object) -> bytes:
    """Return a digest of a frozen value's content: 16 bytes, equal for equal values of one type.

    `value` is a dataclass, a model, or a tuple of these or of plain values. Raises TypeError.
    """
    # A tuple is known by its items, because `replace` validates: that makes a new, equal tuple.
    identity = tuple(map(id, value)) if isinstance(value, tuple) else id(value)
    with _lock:
        if identity in _known:
            _known.move_to_end(identity)
            return _known[identity][1]
    hasher = blake2b(digest_size=16)
    if isinstance(value, tuple):
        _add(hasher.update, value)
    else:
        _add_fields(hasher.update, value, digest_of_tuples=True)
    found = hasher.digest()
    with _lock:
        _known[identity] = (value, found)
        if len(_known) > _MOST_KNOWN:
            _known.popitem(last=False)
    return found


def _add(update: Update, value: object) -> None:
    """Feed a value to a hash, its length first, so that different values feed different bytes."""
    match value:
        case str():
            _add_bytes(update, b"s", value.encode("utf-8", "surrogatepass"))
        case bytes():
            _add_bytes(update, b"b", value)
        case None | bool() | int() | float():
            _add_bytes(update, b"n", repr(value).encode())
        case list() | tuple():
            update(b"l%d:" % len(value))
            for item in value:
                _add(update, item)
        case Mapping():
            update(b"m%d:" % len(value))
            for key, item in value.items():
                _add(update, key)
                _add(update, item)
        case SecretStr():
            _add(update, value.get_secret_value())
        case _:
            _add_fields(update, value)


def _add_fields(update: Update, value: object, digest_of_tuples: bool = False) -> None:
    """Feed a dataclass or a model to a hash. With `digest_of_tuples`, each of its tuples gets a
    digest that is cached: an edited session shares most messages with the unedited session, and
    shared messages are not hashed again at every keystroke."""
    kind: Any = type(value)  # mypy considers a plain `type` unhashable
    _add_bytes(update, b"o", kind.__qualname__.encode())
    for name in _fields(kind):
        field = getattr(value, name)
        if digest_of_tuples and isinstance(field, tuple):
            update(digest(field))
        else:
            _add(update, field)


def _add_bytes(update: Update, kind: bytes, data: bytes) -> None:
    update(b"%b%d:" % (kind, len(data)))
    update(data)


@cache
def _fields(kind: type[Any]) -> tuple[str, ...]:
    if issubclass(kind, BaseModel):
        return tuple(kind.model_fields)
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind))
    raise TypeError(f"no digest for {kind.__qualname__}")


# The types that `digest` hashes. Streamlit hashes all others by content too, but slowly.
KEYED: Final = (Session, Recording, Edit, ToolMetadata, Switches, WhatIf, OwnPolicy)
_HASHES: Final[dict[str | type, Callable[[Any], Any]]] = dict.fromkeys(KEYED, digest)
