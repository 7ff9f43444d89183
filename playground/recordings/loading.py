"""Files in: a recording from a path or from a file's bytes."""

from __future__ import annotations

from pathlib import Path

from playground.recordings.decoding import decode_stream
from playground.recordings.recording import Recording


def load_recording(path: str | Path) -> Recording:
    return decode_stream([Path(path).read_bytes()], name=Path(path).stem)
