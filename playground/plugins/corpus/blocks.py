"""Store the texts of a shard, each once, under its hash, in frames that zstd compresses.

A block is a JSON value: a message, a tool, a system prompt, a part of a request's body or a reply,
or a session without these (its skeleton). In a redacted corpus, lengths and hashes replace texts.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from playground.base.errors import InputFault
from playground.plugins.corpus.json_text import json_of
from playground.plugins.corpus.store_protocol import Store

_FRAME_BYTES: Final = 1 << 20  # bytes of JSON in a frame, before it is compressed
_ROWS_AT_ONCE: Final = 32_768  # rows of an index that are written at once
# zstd's level; a higher level would take longer than the parsing of the sessions
_ZSTD_LEVEL: Final = 3
_SCHEMA: Final = pa.schema(
    {
        "hash": pa.binary(16),
        "kind": pa.dictionary(pa.int32(), pa.string()),
        "frame": pa.uint64(),
        "packed": pa.uint32(),
        "unpacked": pa.uint32(),
        "start": pa.uint32(),
        "length": pa.uint32(),
    }
)


class BlockWriter:
    """A writer of blocks that stores equal ones once; `add` returns a block's number and hash."""

    def __init__(self, pack: Path, index: Path) -> None:
        self._file = BlockFile(pack, index)
        self._numbers: dict[bytes, int] = {}

    def add(self, kind: str, value: Any) -> tuple[int, bytes]:
        """Add a JSON value as a block; return the block's number and its hash (16 bytes)."""
        return self.add_text(kind, json_of(value))

    def add_text(self, kind: str, text: str) -> tuple[int, bytes]:
        """Add a block whose value is this JSON text; return its number and hash, like `add`."""
        key, data = _block_of(text)
        number = self._numbers.setdefault(key, len(self._numbers))
        if number == self._file.blocks:  # a new number, because no equal block was added before
            self._file.append(kind, key, data)
        return number, key

    def close(self) -> None:
        self._file.close()

    def abandon(self) -> None:
        self._file.abandon()


def block_of(value: Any) -> tuple[bytes, bytes]:
    """Return the hash and the bytes of a JSON value's block."""
    return _block_of(json_of(value))


def _block_of(text: str) -> tuple[bytes, bytes]:
    data = text.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=16).digest(), data


class BlockFile:
    """A file of blocks and its index, while they are written.

    Only one frame, and the index rows that are not written yet, are in memory.
    """

    def __init__(self, pack: Path, index: Path) -> None:
        self._pack = pa.OSFile(str(pack), "wb")
        self._index = pq.ParquetWriter(index, _SCHEMA, compression="zstd")
        self._codec = pa.Codec("zstd", _ZSTD_LEVEL)
        self._rows: list[tuple[Any, ...]] = []
        self._open: list[tuple[bytes, str, int, bytes]] = []  # hash, kind, start, text
        self._size = self._offset = 0
        self.blocks = 0

    def append(self, kind: str, key: bytes, data: bytes) -> None:
        """Write a block: its kind, its hash, and the JSON of its value."""
        self._open.append((key, kind, self._size, data))
        self._size += len(data)
        self.blocks += 1
        if self._size >= _FRAME_BYTES:
            self._flush()

    def close(self) -> None:
        """Write the last blocks and close the files."""
        self._flush()
        self._write_rows()
        self._index.close()
        self._pack.close()

    def abandon(self) -> None:
        """Close the files after an error, without writing the blocks in memory."""
        for file in (self._index, self._pack):
            with suppress(OSError):
                file.close()

    def _flush(self) -> None:
        if not self._open:
            return
        data = b"".join(block[-1] for block in self._open)
        packed = self._codec.compress(data, asbytes=True)
        self._pack.write(packed)
        frame = (self._offset, len(packed), len(data))
        self._rows += [(key, kind, *frame, at, len(text)) for key, kind, at, text in self._open]
        self._offset += len(packed)
        self._open, self._size = [], 0
        if len(self._rows) >= _ROWS_AT_ONCE:
            self._write_rows()

    def _write_rows(self) -> None:
        if self._rows:
            columns = zip(*self._rows, strict=True)
            arrays = [pa.array(c, t) for c, t in zip(columns, _SCHEMA.types, strict=True)]
            self._index.write_table(pa.Table.from_arrays(arrays, schema=_SCHEMA))
            self._rows = []


class BlockReader:
    """A reader of a shard's blocks by number. Its methods raise InputFault if a file is damaged."""

    def __init__(self, store: Store, pack: str, index: str) -> None:
        self._store, self._pack, self._path = store, pack, index
        try:
            self._index = pq.ParquetFile(store.open_file(index))
        except (OSError, pa.ArrowInvalid) as error:
            raise self._damaged(index, error) from error
        metadata = self._index.metadata
        sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        self._starts = list(accumulate(sizes, initial=0))
        self._group = lru_cache(maxsize=8)(self._read_group)
        self._frame = lru_cache(maxsize=8)(self._read)

    def value(self, number: int) -> Any:
        """Return the block's JSON value."""
        group, place = self._row(number)
        row = {name: group[name][place].as_py() for name in _SCHEMA.names[2:]}
        data = self._frame(row["frame"], row["packed"], row["unpacked"])
        try:
            return json.loads(data[row["start"] : row["start"] + row["length"]])
        except ValueError as error:
            raise self._damaged(self._pack, error) from error

    def all(self) -> Iterator[tuple[str, bytes, bytes]]:
        """Yield the kind, hash and JSON of all blocks, in the order of their numbers."""
        for number in range(len(self._starts) - 1):
            for row in self._group(number).to_pylist():
                data = self._frame(row["frame"], row["packed"], row["unpacked"])
                yield row["kind"], row["hash"], data[row["start"] : row["start"] + row["length"]]

    def key(self, number: int) -> bytes:
        """Return the block's hash."""
        group, place = self._row(number)
        key: bytes = group["hash"][place].as_py()
        return key

    def _row(self, number: int) -> tuple[pa.Table, int]:
        """Return the row group of the index that has a block's row, and the row's index in it."""
        group = bisect_right(self._starts, number) - 1
        return self._group(group), number - self._starts[group]

    def _read_group(self, group: int) -> pa.Table:
        try:
            return self._index.read_row_group(group)
        except (OSError, pa.ArrowInvalid) as error:
            raise self._damaged(self._path, error) from error

    def _read(self, offset: int, packed: int, unpacked: int) -> bytes:
        try:
            with self._store.open_file(self._pack) as file:
                file.seek(offset)
                data = pa.Codec("zstd").decompress(file.read(packed), unpacked, asbytes=True)
        except (OSError, pa.ArrowInvalid) as error:
            raise self._damaged(self._pack, error) from error
        return bytes(data)

    def _damaged(self, name: str, error: Exception) -> InputFault:
        expected = "an undamaged file; building the corpus again replaces it"
        where = f"{self._store.name}/{name}"
        return InputFault(f"damaged ({str(error).splitlines()[0]})", where=where, expected=expected)
