"""A base class that computes a declaration's hash only once, because the hash covers a hundred
texts, and caches need it for each reply."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from typing import Any

from playground.base.wording import short_repr


class HashedOnce:
    """A base for a frozen dataclass whose hash is computed once for each object. The subclass must
    contain `__hash__ = HashedOnce.__hash__`; otherwise `dataclass` generates another one."""

    @cached_property
    def _hash(self) -> int:
        hashed = (
            field
            for field in fields(self)  # type: ignore[arg-type]  # subclasses are dataclasses
            if (field.compare if field.hash is None else field.hash)
        )
        return hash(tuple(getattr(self, field.name) for field in hashed))

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        """Return the fields that differ from their defaults, in one line."""
        listed = fields(self)  # type: ignore[arg-type]  # subclasses are dataclasses
        values = ((each.name, getattr(self, each.name), each.default) for each in listed)
        changed = (f"{name}={value!r}" for name, value, usual in values if value != usual)
        return short_repr(self, *changed)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields without the hash: another process hashes a text differently."""
        return {name: value for name, value in vars(self).items() if name != "_hash"}
