"""Share one object between equal values, because each request of a file repeats the history. The
file then needs memory for its content only once."""

from __future__ import annotations

import marshal
from hashlib import blake2b
from typing import Any, Final

_NO_REFERENCES: Final = 2  # marshal's version in which equal values give equal bytes


class SharedValues:
    """The values of a file's requests, which nobody changes."""

    def __init__(self) -> None:
        self._known: dict[bytes, Any] = {}

    def body(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body; its fields and list entries are replaced by earlier equal objects."""
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
        except ValueError:  # the value is nested too deeply
            return value
        return self._known.setdefault(blake2b(written, digest_size=16).digest(), value)
