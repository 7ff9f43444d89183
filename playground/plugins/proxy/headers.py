"""The headers to pass on, and their credentials. Headers of a single connection are not passed on.

`Accept-Encoding` is reduced to the compressions that the recorder can read.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final
from urllib.parse import unquote

from playground.recordings.environment import environment_secrets
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
# Headers that are forwarded even if `Connection` names them, because a message needs them.
_ALWAYS_FORWARDED: Final = frozenset({b"content-length", b"authorization", b"x-api-key"})
# Names of headers and query parameters that hold a credential.
CREDENTIAL_NAME: Final = re.compile(
    r"auth|token|key|secret|passw|pwd|cookie|credential|sig|code", re.I
)
_BLOCK: Final = 256  # characters; a longer credential is cut into blocks, which are searched for
_MOST_BLOCKS: Final = 64


def for_provider(headers: Headers, authorization: str = "") -> list[tuple[bytes, bytes]]:
    """Return the headers for the provider, made from the client's.

    Compressions that the recorder cannot read are left out. `authorization`, which comes from the
    upstream's address, replaces the client's header of this name.
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
    """Return the headers for the client, made from the provider's."""
    lower_case = [(name.lower(), value) for name, value in headers]
    dropped = _connection_headers(lower_case)
    return [(name, value) for name, value in lower_case if name not in dropped]


def _connection_headers(headers: Headers) -> set[bytes]:
    """Return the names of those headers that concern only their connection.

    `Connection` may name further headers. `Content-Length` is added if the body is chunked, because
    it must be ignored then (RFC 9112, 6.3): a server that used it would read one message as two.
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
    """Return the accepted compressions that the recorder can read, or `identity`."""
    names = [name.strip() for name in accepted.decode("latin-1").split(",")]
    known = (*CODINGS, "identity")
    readable = [name for name in names if name.partition(";")[0].strip().lower() in known]
    if not readable and any(name.startswith("*") for name in names):
        readable = ["gzip"]
    return ", ".join(readable or ["identity"]).encode()


def credentials(headers: Headers, query: str) -> tuple[str, ...]:
    """Return a client's credentials, so that stars can replace them wherever they recur. A long
    credential is returned in blocks. Values under eight characters, paths, numbers and plain words
    are left out."""
    blocks = (
        secret[len(secret) * n // count : len(secret) * (n + 1) // count]
        for name, value in (*_decoded(headers), *query_values(query))
        if CREDENTIAL_NAME.search(name)
        for secret in environment_secrets({"COOKIE" if "cookie" in name else "KEY": value})
        for count in [-(-len(secret) // _BLOCK)]
        for n in range(count)
    )
    return tuple(dict.fromkeys(islice(blocks, _MOST_BLOCKS)))


def _decoded(headers: Headers) -> Iterator[tuple[str, str]]:
    """Yield names and values of headers; for `Basic`, also the encoded pair and the password."""
    for raw_name, raw in headers:
        name, value = raw_name.decode("latin-1").lower(), raw.decode("latin-1")
        yield name, value
        scheme, _, pair = value.partition(" ")
        if scheme.lower() == "basic":
            yield name, pair.rstrip("=")
            with suppress(ValueError):
                yield name, base64.b64decode(pair).decode("latin-1").partition(":")[2]


def query_values(query: str) -> list[tuple[str, str]]:
    """Return the names and values of a query. A name without `=` is its own value. A value with
    percent signs is also returned decoded."""
    parts = [part.partition("=") for part in re.split("[&;]", query) if part]
    named = [(name, value if sign else name) for name, sign, value in parts]
    return [*named, *((name, unquote(value)) for name, value in named if "%" in value)]
