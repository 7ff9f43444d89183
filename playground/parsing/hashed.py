"""The hash of a declaration, told once: memory that goes by declarations asks for it at each reply,
and theirs is the hash of a hundred texts."""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from typing import Any


class HashedOnce:
    """For a frozen dataclass, whose own body says `__hash__ = HashedOnce.__hash__`: what it would
    hash is hashed once an object."""

    @cached_property
    def _hash(self) -> int:
        told = (
            each
            for each in fields(self)  # type: ignore[arg-type]  # of the dataclass that has this
            if (each.compare if each.hash is None else each.hash)
        )
        return hash(tuple(getattr(self, each.name) for each in told))

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> dict[str, Any]:
        """All but the hash: in another process a text has another one."""
        return {name: value for name, value in vars(self).items() if name != "_hash"}
