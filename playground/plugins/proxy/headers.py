"""The headers that are passed on: all but those of one connection.

`Accept-Encoding` is reduced to the compressions that the recorder can read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from playground.recordings.unpacking import CODINGS

Headers = Sequence[tuple[bytes, bytes]]

# Headers of one connection, which are not forwarded (RFC 9110, 7.6.1).
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
# These are forwarded even if `Connection` names them: they frame a message or authorise it.
_NOT_DROPPED: Final = frozenset({b"content-length", b"authorization", b"x-api-key"})


def for_provider(given: Headers, authorization: str = "") -> list[tuple[bytes, bytes]]:
    """Return the client's headers as the provider gets them.

    Compressions that the recorder cannot read are left out. `authorization`, which comes from the
    upstream's address, replaces the client's.
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
    """Return the provider's headers as the client gets them."""
    named = [(name.lower(), value) for name, value in given]
    dropped = _dropped(named)
    return [(name, value) for name, value in named if name not in dropped]


def _dropped(given: Headers) -> set[bytes]:
    """Return the names of the headers that concern only the connection that they came by.

    `Connection` may name more of them. A length beside chunks is dropped: it must be ignored (RFC
    9112, 6.3), and a server that did not would read two messages out of one.
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
    """Return those of the accepted compressions that the recorder can read, or `identity`."""
    names = [one.strip() for one in accepted.decode("latin-1").split(",")]
    known = (*CODINGS, "identity")
    kept = [one for one in names if one.partition(";")[0].strip().lower() in known]
    if not kept and any(one.startswith("*") for one in names):
        kept = ["gzip"]
    return ", ".join(kept or ["identity"]).encode()
