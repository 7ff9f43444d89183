"""The headers that are passed on: all but those of one connection.

`Accept-Encoding` is reduced to the compressions that the recorder can read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from playground.recordings.unpacking import CODINGS

Headers = Sequence[tuple[bytes, bytes]]

# Headers of one connection, which are not forwarded (RFC 9110, 7.6.1).
_CONNECTION_HEADERS: Final = frozenset(
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
_ALWAYS_FORWARDED: Final = frozenset({b"content-length", b"authorization", b"x-api-key"})


def for_provider(headers: Headers, authorization: str = "") -> list[tuple[bytes, bytes]]:
    """Return the client's headers as the provider gets them.

    Compressions that the recorder cannot read are left out. `authorization`, which comes from the
    upstream's address, replaces the client's.
    """
    dropped = _connection_headers(headers) | {b"host", b"expect"}
    if authorization:
        dropped.add(b"authorization")
    passed = [
        (name, _readable_codings(value) if name == b"accept-encoding" else value)
        for name, value in headers
        if name not in dropped
    ]
    if authorization:
        passed.append((b"authorization", authorization.encode("ascii")))
    return passed


def for_client(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Return the provider's headers as the client gets them."""
    lower_case = [(name.lower(), value) for name, value in headers]
    dropped = _connection_headers(lower_case)
    return [(name, value) for name, value in lower_case if name not in dropped]


def _connection_headers(headers: Headers) -> set[bytes]:
    """Return the names of the headers that concern only the connection that they came by.

    `Connection` may name more of them. A length beside chunks is dropped: it must be ignored (RFC
    9112, 6.3), and a server that did not would read two messages out of one.
    """
    named = {
        option.strip().lower()
        for name, value in headers
        if name == b"connection"
        for option in value.split(b",")
    }
    dropped = _CONNECTION_HEADERS | (named - _ALWAYS_FORWARDED)
    if any(name == b"transfer-encoding" for name, _ in headers):
        dropped |= {b"content-length"}
    return set(dropped)


def _readable_codings(accepted: bytes) -> bytes:
    """Return those of the accepted compressions that the recorder can read, or `identity`."""
    names = [name.strip() for name in accepted.decode("latin-1").split(",")]
    known = (*CODINGS, "identity")
    readable = [name for name in names if name.partition(";")[0].strip().lower() in known]
    if not readable and any(name.startswith("*") for name in names):
        readable = ["gzip"]
    return ", ".join(readable or ["identity"]).encode()
