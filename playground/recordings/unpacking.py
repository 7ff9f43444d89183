"""Bodies that are packed as gzip or deflate, a bounded piece at a time: few bytes may hold many."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

CODINGS: Final = ("gzip", "x-gzip", "deflate")
_EITHER: Final = 47  # zlib's sign for: gzip or zlib, as the head says
_MOST: Final = 64 * 1024  # bytes at a time


class Unpacker:
    """Takes packed bytes, cut anywhere. Raises ValueError for what is not packed so."""

    def __init__(self) -> None:
        self._reader = zlib.decompressobj(_EITHER)

    def pieces(self, packed: bytes) -> Iterator[bytes]:
        """What these bytes hold, in pieces of at most 64 kB."""
        try:
            while packed:
                if self._reader.eof:  # several archives in a row are one body
                    self._reader = zlib.decompressobj(_EITHER)
                yield self._reader.decompress(packed, _MOST)
                packed = self._reader.unconsumed_tail or self._reader.unused_data
        except zlib.error as error:
            raise ValueError(f"not packed as it says ({error})") from error
