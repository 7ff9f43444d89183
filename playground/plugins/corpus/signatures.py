"""Signatures that are equal for similar texts: forms of malformed calls, first lines of errors, and
bands (parts of a MinHash) of sessions. A redacted corpus has their hashes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

BANDS: Final = 16
# Hashes in a band. Two sessions with 70 % of their shingles in common have an equal band in at
# least half of all cases.
ROWS: Final = 8
_BANDS_FORMAT: Final = b"\n".join([b",".join([b"%d"] * ROWS)] * BANDS)
_MOST_WORDS: Final = 1_000  # words at the beginning of a session from which its bands are made
_MOST_CHARACTERS: Final = 4_000  # characters of a text from which its form or signature is made
_VALUES: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"(?!\s*:)'  # a text in quotes that is not a key
    r"|'(?:[^'\\]|\\.)*'(?!\s*:)"
    r"|\b\d[\d.,:]*\b"
    r"|(?<=>)[^<>]+(?=<)"  # text between two tags
)
_VARIABLE_PARTS: Final = re.compile(
    r"0x[0-9a-f]+|\b[0-9a-f]{8,}(?:-[0-9a-f]{4,})*\b"  # addresses and ids
    r"|(?:[A-Za-z]:)?[\w.~-]*[/\\][\w./\\~-]+"  # paths
    r"|\"[^\"]*\"|'[^']*'|`[^`]*`"
    r"|\d+",
    re.IGNORECASE,
)
_SPACE: Final = re.compile(r"\s+")


def hash_of(text: str) -> int:
    """Return a 64-bit hash of a text; 0 for an empty one."""
    return 0 if not text else _hash_of(text.encode("utf-8", "surrogatepass"))


def _hash_of(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def form_of(raw: str) -> str:
    """Return a malformed call's text with … in place of strings, numbers and texts between tags."""
    return _SPACE.sub(" ", _VALUES.sub("…", raw[:_MOST_CHARACTERS])).strip()


def signature_of(error: str) -> str:
    """Return an error's first line, or a traceback's last line, in lower case; "" without text.

    Numbers, ids, paths and quotations are replaced by ….
    """
    lines = [line.strip() for line in error[:_MOST_CHARACTERS].splitlines() if line.strip()]
    if not lines:
        return ""
    line = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    return _SPACE.sub(" ", _VARIABLE_PARTS.sub("…", line)).lower()


def shingles(texts: Iterable[str]) -> list[str]:
    """Return the shingles of a session's texts: all runs of three words among its first 1,000."""
    words: list[str] = []
    for text in texts:
        words += text.split()
        if len(words) >= _MOST_WORDS:
            break
    del words[_MOST_WORDS:]
    return [*map(" ".join, zip(words, words[1:], words[2:], strict=False))]


def bands_of(texts: list[str]) -> list[int]:
    """Return the bands (hashes of parts of the MinHash) of shingles; [] for fewer than ROWS."""
    if len(texts) < ROWS:
        return []
    from rensa import RMinHash  # part of the extra [corpus]; only a build needs it

    minhash = RMinHash(num_perm=BANDS * ROWS, seed=1)
    minhash.update(texts)
    return [_hash_of(band) for band in (_BANDS_FORMAT % tuple(minhash.digest())).split(b"\n")]
