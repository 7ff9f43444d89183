"""Signatures of similar texts: shapes of malformed calls, of errors, bands of sessions.

They are computed at the build, so that a redacted corpus can be asked for clusters too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

BANDS: Final = 16
ROWS: Final = 8  # of a band: sessions of which 0.7 is shared meet in one, half of the time or more
_BANDS: Final = b"\n".join([b",".join([b"%d"] * ROWS)] * BANDS)  # all of them, written at once
_WORDS: Final = 1_000  # of a session, from its beginning
_MOST: Final = 4_000  # characters of a text whose form is told
_VALUES: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"(?!\s*:)'  # a text in quotes that is no key
    r"|'(?:[^'\\]|\\.)*'(?!\s*:)"
    r"|\b\d[\d.,:]*\b"
    r"|(?<=>)[^<>]+(?=<)"  # what stands between two tags
)
_PLACES: Final = re.compile(
    r"0x[0-9a-f]+|\b[0-9a-f]{8,}(?:-[0-9a-f]{4,})*\b"  # addresses and ids
    r"|(?:[A-Za-z]:)?[\w.~-]*[/\\][\w./\\~-]+"  # paths
    r"|\"[^\"]*\"|'[^']*'|`[^`]*`"
    r"|\d+",
    re.IGNORECASE,
)
_SPACE: Final = re.compile(r"\s+")


def hash_of(text: str) -> int:
    """64 bits of a text; 0 for none."""
    if not text:
        return 0
    return _hash_of(text.encode("utf-8", "surrogatepass"))


def _hash_of(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")


def form_of(raw: str) -> str:
    """Return a malformed call without its values: texts, numbers and what stands between two
    tags.
    """
    return _SPACE.sub(" ", _VALUES.sub("…", raw[:_MOST])).strip()


def signature_of(error: str) -> str:
    """Return an error's first line that says something, without numbers, ids, paths and
    quotations.
    """
    lines = [line.strip() for line in error[:_MOST].splitlines() if line.strip()]
    if not lines:
        return ""
    told = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    return _SPACE.sub(" ", _PLACES.sub("…", told)).lower()


def shingles(texts: Iterable[str]) -> list[str]:
    """Return every three words that follow one another, of the first thousand words."""
    words: list[str] = []
    for text in texts:
        words += text.split()
        if len(words) >= _WORDS:
            break
    del words[_WORDS:]
    return [*map(" ".join, zip(words, words[1:], words[2:], strict=False))]


def bands_of(found: list[str]) -> list[int]:
    """Return the bands of a set of shingles; none for a text that is too short to tell."""
    if len(found) < ROWS:
        return []
    from rensa import RMinHash  # of the extra [corpus]; who only asks needs none of it

    minhash = RMinHash(num_perm=BANDS * ROWS, seed=1)
    minhash.update(found)
    return [_hash_of(band) for band in (_BANDS % tuple(minhash.digest())).split(b"\n")]
