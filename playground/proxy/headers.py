"""Which headers pass: all but those of one connection, and of packings those that are read here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from playground.recordings.unpacking import CODINGS

# What concerns one connection and no other (RFC 9110, 7.6.1), and what is named anew.
_OF_A_CONNECTION: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)


def for_provider(given: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers for the provider: the client's, with packings that the recorder can read."""
    passed: list[tuple[bytes, bytes]] = []
    anew = {*_OF_A_CONNECTION, b"host", b"expect"}
    if any(name == b"transfer-encoding" for name, _ in given):
        anew.add(b"content-length")  # which then says nothing (RFC 9112, 6.3)
    for name, value in given:
        if name in anew:
            continue
        passed.append((name, _packings(value) if name == b"accept-encoding" else value))
    return passed


def _packings(accepted: bytes) -> bytes:
    """Of what the client takes, what is read here too."""
    names = [one.strip() for one in accepted.decode("latin-1").split(",")]
    known = (*CODINGS, "identity")
    kept = [one for one in names if one.partition(";")[0].strip().lower() in known]
    if not kept and any(one.startswith("*") for one in names):
        kept = ["gzip"]
    return ", ".join(kept or ["identity"]).encode()


def for_client(given: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer for the client."""
    named = ((name.lower(), value) for name, value in given)
    return [(name, value) for name, value in named if name not in _OF_A_CONNECTION]
