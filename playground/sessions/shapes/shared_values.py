"""Share one object between equal values: each request of a file repeats the history before it.

The file then takes memory by its content, not by how often the content is repeated.
"""

from __future__ import annotations

import marshal
from hashlib import blake2b
from typing import Any, Final

_NO_REFERENCES: Final = 2  # marshal's version: equal values give equal bytes, shared or not


class SharedValues:
    """The values of a file's requests, which nobody changes."""

    def __init__(self) -> None:
        self._known: dict[bytes, Any] = {}

    def body(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body with earlier objects for its fields and list entries, if equal."""
        return {key: self._field(value) for key, value in body.items()}

    def _field(self, value: Any) -> Any:
        if type(value) is list:
            return [self._shared(entry) for entry in value]
        return self._shared(value)

    def _shared(self, value: Any) -> Any:
        if type(value) is not dict and type(value) is not str:
            return value
        try:
            written = marshal.dumps(value, _NO_REFERENCES)
        except ValueError:  # it nests too deeply
            return value
        return self._known.setdefault(blake2b(written, digest_size=16).digest(), value)
