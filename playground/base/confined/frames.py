"""Messages on a pipe: eight bytes with the length, then the message."""

from __future__ import annotations

from typing import IO, Final

HEAD: Final = 8


def write_frame(stream: IO[bytes], data: bytes) -> None:
    stream.write(len(data).to_bytes(HEAD, "big") + data)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes | None:
    """Return the next message; None if the stream has ended, even in the middle of a message."""
    head = stream.read(HEAD)
    if len(head) < HEAD:
        return None
    size = int.from_bytes(head, "big")
    data = stream.read(size)
    return data if len(data) == size else None
