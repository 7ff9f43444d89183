"""Unpack gzip and deflate bodies in bounded pieces, because a few bytes may unpack to very many."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

CODINGS: Final = ("gzip", "x-gzip", "deflate")
_GZIP_OR_ZLIB: Final = 47  # zlib's `wbits` for gzip or zlib, as the header says
_MOST_BYTES: Final = 64 * 1024  # bytes of a piece
_SLICE: Final = 16 * 1024  # packed bytes at a time, since zlib copies unread input at each call
_MOST_ARCHIVES: Final = 4096  # in a row; even an empty archive needs a new reader


class TooMuchUnpacked(ValueError):
    """Packed bytes that hold more than their reader allows."""


class Unpacker:
    """An unpacker of one body, in pieces that are cut anywhere.

    The limit on the unpacked bytes is `bound` or, if that is more, `times` the number of packed
    bytes; without a `bound` there is none. Raises TooMuchUnpacked above the limit or for too many
    archives in a row, and ValueError for bytes that are neither gzip nor deflate.
    """

    def __init__(self, bound: int = 0, times: int = 0) -> None:
        self._reader = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._bound, self._times = bound, times
        self._archives = 1
        self.taken = self.unpacked = 0  # bytes

    def pieces(self, packed: bytes) -> Iterator[bytes]:
        """Yield the unpacked bytes, in pieces of at most 64 kB."""
        for start in range(0, len(packed), _SLICE):
            data = packed[start : start + _SLICE]
            self.taken += len(data)
            try:
                yield from self._slice(data)
            except zlib.error as error:
                raise ValueError(f"not packed as its headers say ({error})") from error

    def _slice(self, packed: bytes) -> Iterator[bytes]:
        while packed:
            if self._reader.eof:  # several archives in a row are one body
                self._begin_another()
            room = self._room()
            piece = self._reader.decompress(packed, min(_MOST_BYTES, max(room, 1)))
            if piece and room <= 0:
                raise TooMuchUnpacked(
                    f"unpacks to more than {self.unpacked:,} bytes, {self.taken:,} packed bytes"
                )
            self.unpacked += len(piece)
            if piece:
                yield piece
            packed = self._reader.unconsumed_tail or self._reader.unused_data

    def _room(self) -> int:
        """Return how many bytes more may come out."""
        if not self._bound:
            return _MOST_BYTES
        return max(self._bound, self._times * self.taken) - self.unpacked

    def _begin_another(self) -> None:
        self._archives += 1
        if self._archives > _MOST_ARCHIVES:
            raise TooMuchUnpacked(f"is packed into more than {_MOST_ARCHIVES:,} archives")
        self._reader = zlib.decompressobj(_GZIP_OR_ZLIB)
