"""Texts of a shard: each once, by the hash of what it says, in frames of zstd.

A block is JSON: a message, a tool, a system prompt, a request's body. In a redacted corpus it says
how long its texts were and what they hash to, and none of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from playground.errors import InputFault

_FRAME: Final = 1 << 20  # characters of JSON, before they are packed
_AT_ONCE: Final = 10_000  # rows of an index
_LEVEL: Final = (
    3  # of zstd: 2.9 times smaller on random words; higher levels cost more than parsing
)
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
    """Writes blocks; `add` gives a block's number in the shard."""

    def __init__(self, pack: Path) -> None:
        self._file = pa.OSFile(str(pack), "wb")
        self._codec = pa.Codec("zstd", _LEVEL)
        self._numbers: dict[bytes, int] = {}
        self._kinds: list[str] = []
        self._places: list[tuple[int, int]] = []  # start and length within the frame
        self._frames: list[tuple[int, int, int, int]] = []  # blocks, offset, packed, unpacked
        self._open: list[bytes] = []
        self._size = self._offset = 0

    def add(self, kind: str, value: Any) -> tuple[int, bytes]:
        """The number and the hash (16 bytes) of a JSON value's block."""
        data = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
        key = blake2b(data, digest_size=16).digest()
        return self.copy(kind, key, data), key

    def copy(self, kind: str, key: bytes, data: bytes) -> int:
        """The number of a block that is written already: its hash, and the JSON of its value."""
        number = self._numbers.setdefault(key, len(self._numbers))
        if number == len(self._kinds):
            self._kinds.append(kind)
            self._places.append((self._size, len(data)))
            self._open.append(data)
            self._size += len(data)
            if self._size >= _FRAME:
                self._flush()
        return number

    def close(self, index: Path) -> None:
        """Write what is still open, and the index."""
        self._flush()
        self._file.close()
        frames = [frame[1:] for frame in self._frames for _ in range(frame[0])]
        columns = [
            list(self._numbers),
            self._kinds,
            *([row[column] for row in frames] for column in range(3)),
            *([row[column] for row in self._places] for column in range(2)),
        ]
        arrays = [pa.array(c, t) for c, t in zip(columns, _SCHEMA.types, strict=True)]
        pq.write_table(pa.Table.from_arrays(arrays, schema=_SCHEMA), index, compression="zstd")

    def abandon(self) -> None:
        """Nothing more comes of it."""
        with suppress(OSError):
            self._file.close()

    def _flush(self) -> None:
        if not self._open:
            return
        data = b"".join(self._open)
        packed = self._codec.compress(data, asbytes=True)
        self._file.write(packed)
        self._frames.append((len(self._open), self._offset, len(packed), len(data)))
        self._offset += len(packed)
        self._open, self._size = [], 0


class BlockReader:
    """Gives the blocks of a shard by their numbers. Raises InputFault for files that are torn."""

    def __init__(self, pack: Path, index: Path) -> None:
        self._pack = pack
        try:
            self._index = pq.read_table(index)
        except (OSError, pa.ArrowInvalid) as error:
            raise _torn(index, error) from error
        self._frame = lru_cache(maxsize=8)(self._read)

    def value(self, number: int) -> Any:
        """The block's JSON value."""
        row = {name: self._index[name][number].as_py() for name in _SCHEMA.names[2:]}
        data = self._frame(row["frame"], row["packed"], row["unpacked"])
        try:
            return json.loads(data[row["start"] : row["start"] + row["length"]])
        except ValueError as error:
            raise _torn(self._pack, error) from error

    def all(self) -> Iterator[tuple[str, bytes, bytes]]:
        """Every block in its order, as `BlockWriter.copy` takes it."""
        for batch in self._index.to_batches(_AT_ONCE):
            for row in batch.to_pylist():
                data = self._frame(row["frame"], row["packed"], row["unpacked"])
                yield row["kind"], row["hash"], data[row["start"] : row["start"] + row["length"]]

    def key(self, number: int) -> bytes:
        """The block's hash."""
        found: bytes = self._index["hash"][number].as_py()
        return found

    def _read(self, offset: int, packed: int, unpacked: int) -> bytes:
        try:
            with pa.OSFile(str(self._pack), "rb") as file:
                file.seek(offset)
                data = pa.Codec("zstd").decompress(file.read(packed), unpacked, asbytes=True)
        except (OSError, pa.ArrowInvalid) as error:
            raise _torn(self._pack, error) from error
        return bytes(data)


def _torn(path: Path, error: Exception) -> InputFault:
    expected = "a whole file: build the corpus again, which replaces it"
    return InputFault(f"torn ({str(error).splitlines()[0]})", where=str(path), expected=expected)
