"""Which headers pass: all but those of one connection, and of packings those that are read here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from playground.recordings.unpacking import CODINGS

Headers = Sequence[tuple[bytes, bytes]]

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
# What frames a message, or says whose it is, goes on whatever `Connection` calls it.
_NOT_DROPPED: Final = frozenset({b"content-length", b"authorization", b"x-api-key"})


def for_provider(given: Headers, authorization: str = "") -> list[tuple[bytes, bytes]]:
    """Return the headers for the provider: the client's, with packings that the recorder can read.

    An `authorization` out of the upstream's address takes the place of the client's.
    """
    dropped = _dropped(given) | {b"host", b"expect"}
    if authorization:
        dropped.add(b"authorization")
    passed = [
        (name, _packings(value) if name == b"accept-encoding" else value)
        for name, value in given
        if name not in dropped
    ]
    if authorization:
        passed.append((b"authorization", authorization.encode("ascii")))
    return passed


def for_client(given: Headers) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer for the client."""
    named = [(name.lower(), value) for name, value in given]
    dropped = _dropped(named)
    return [(name, value) for name, value in named if name not in dropped]


def _dropped(given: Headers) -> set[bytes]:
    """Return the names of what concerns the connection that these headers came by.

    `Connection` may name more of them. Beside chunks a length says nothing (RFC 9112, 6.3), and two
    that read it otherwise would see two messages in one.
    """
    named = {
        option.strip().lower()
        for name, value in given
        if name == b"connection"
        for option in value.split(b",")
    }
    dropped = _OF_A_CONNECTION | (named - _NOT_DROPPED)
    if any(name == b"transfer-encoding" for name, _ in given):
        dropped |= {b"content-length"}
    return set(dropped)


def _packings(accepted: bytes) -> bytes:
    """Of what the client takes, what is read here too."""
    names = [one.strip() for one in accepted.decode("latin-1").split(",")]
    known = (*CODINGS, "identity")
    kept = [one for one in names if one.partition(";")[0].strip().lower() in known]
    if not kept and any(one.startswith("*") for one in names):
        kept = ["gzip"]
    return ", ".join(kept or ["identity"]).encode()
