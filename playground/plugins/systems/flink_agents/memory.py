"""Flink-Agents' memory of an agent: values by dotted paths.

Source: Apache Flink-Agents 0.3.1, `runtime/local_memory_object.py`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from playground.base.errors import InputFault

_PLAIN_TYPES: Final = (bool, int, float, str, type(None))
_NESTED: Final = "NestedObject"  # Flink-Agents shows this instead of an object


class MemoryType(StrEnum):
    """The kind of a memory: it lasts for one input, or for all inputs with the same key."""

    SENSORY = "sensory"
    SHORT_TERM = "short_term"


class MemoryRef(BaseModel):
    """A reference to a value in a memory."""

    model_config = ConfigDict(frozen=True)

    memory_type: MemoryType = MemoryType.SHORT_TERM
    path: str

    def resolve(self, ctx: Any) -> Any:
        """Return the value, from the memories of a RunnerContext."""
        if self.memory_type is MemoryType.SENSORY:
            return ctx.sensory_memory.get(self)
        return ctx.short_term_memory.get(self)


class MemoryObject:
    """A node of a memory: an object whose fields hold plain values or nested objects."""

    def __init__(
        self, memory_type: MemoryType, store: dict[str, Any] | None = None, prefix: str = ""
    ) -> None:
        self._type, self._prefix = memory_type, prefix
        self._store = store if store is not None else {}
        self._store.setdefault("", _Fields())

    def get(self, path_or_ref: str | MemoryRef) -> Any:
        """Return a field's value, a nested MemoryObject, or None if there is no such field.

        A text is a path from this object; a MemoryRef has a path from the memory's root.
        """
        path = path_or_ref.path if isinstance(path_or_ref, MemoryRef) else self._full(path_or_ref)
        value = self._store.get(path)
        return MemoryObject(self._type, self._store, path) if isinstance(value, _Fields) else value

    def set(self, path: str, value: Any) -> MemoryRef:
        """Set a field, and create the missing objects on its path.

        Raises InputFault for a value that is not plain JSON, or if there is an object at `path`.
        """
        _check_plain(value, f"memory path {path!r}")
        full = self._full(path)
        if isinstance(self._store.get(full), _Fields):
            raise InputFault(f"{full!r} is an object", field=path, expected="a field of its own")
        self._link(full)
        self._store[full] = value
        return MemoryRef(memory_type=self._type, path=full)

    def new_object(self, path: str, *, overwrite: bool = False) -> MemoryObject:
        """Create an object. Raises InputFault if there is a value at `path`, unless `overwrite`."""
        full = self._full(path)
        self._link(full)
        if full in self._store and not isinstance(self._store[full], _Fields) and not overwrite:
            raise InputFault(f"{full!r} is a value", field=path, expected="overwrite=True")
        self._store[full] = _Fields()
        return MemoryObject(self._type, self._store, full)

    def is_exist(self, path: str) -> bool:
        return self._full(path) in self._store

    def get_field_names(self) -> list[str]:
        names = self._store.get(self._prefix)
        return sorted(names) if isinstance(names, _Fields) else []

    def get_fields(self) -> dict[str, Any]:
        """Return the fields; a nested object is the text "NestedObject", as in Flink-Agents."""
        values = {name: self._store[self._full(name)] for name in self.get_field_names()}
        return {n: _NESTED if isinstance(v, _Fields) else v for n, v in values.items()}

    def _full(self, path: str) -> str:
        return ".".join(filter(None, [self._prefix, path]))

    def _link(self, full: str) -> None:
        """Create all objects above the path `full`. List each object and field in its parent."""
        parent = ""
        for name in full.split("."):
            if not isinstance(self._store.get(parent), _Fields):
                self._store[parent] = _Fields()
            self._store[parent].add(name)
            parent = f"{parent}.{name}" if parent else name


class _Fields(set[str]):
    """The names of an object's fields."""


def _check_plain(value: Any, where: str) -> None:
    if type(value) in _PLAIN_TYPES:
        return
    if type(value) is list:
        for index, item in enumerate(value):
            _check_plain(item, f"{where}[{index}]")
    elif type(value) is dict and all(type(key) is str for key in value):
        for key, item in value.items():
            _check_plain(item, f"{where}[{key!r}]")
    else:
        expected = "None, bool, int, float, str, a list, or a dict with text keys"
        raise InputFault(f"a value of type {type(value).__name__}", where=where, expected=expected)
