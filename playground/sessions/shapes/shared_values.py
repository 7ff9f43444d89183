"""Share one object between equally written values, since growing requests repeat their history.

A file of requests then takes memory by its content, not by how often it repeats it.
"""

from __future__ import annotations

import marshal
from hashlib import blake2b
from typing import Any, Final

_NO_REFERENCES: Final = 2  # marshal's version: the same value, however it is shared, in one form


class SharedValues:
    """The values of a file's requests; nobody changes one of them."""

    def __init__(self) -> None:
        self._known: dict[bytes, Any] = {}

    def body(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body with what was there before: its fields, and the entries of its lists."""
        return {key: self._field(value) for key, value in body.items()}

    def _field(self, value: Any) -> Any:
        if type(value) is list:
            return [self._one(entry) for entry in value]
        return self._one(value)

    def _one(self, value: Any) -> Any:
        if type(value) is not dict and type(value) is not str:
            return value
        try:
            written = marshal.dumps(value, _NO_REFERENCES)
        except ValueError:  # it nests too deeply
            return value
        return self._known.setdefault(blake2b(written, digest_size=16).digest(), value)
