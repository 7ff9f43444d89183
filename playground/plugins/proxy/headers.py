"""Which headers pass: all but those of one connection, and of packings those that are read here;
and what of them is a client's own credential."""

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
# What a header or a part of a query is called that holds a credential.
TELLS: Final = re.compile(r"auth|token|key|secret|passw|pwd|cookie|credential|sig|code", re.I)
_BLOCK: Final = 256  # characters of a credential that are looked for in one
_MOST_BLOCKS: Final = 64


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


def credentials(given: Headers, query: str) -> tuple[str, ...]:
    """Return what a client says to be let in, to be starred out where somebody repeats it.

    By the rules for the environment's keys: nothing of under eight characters, and no plain word.
    """
    blocks = (
        secret[len(secret) * n // count : len(secret) * (n + 1) // count]
        for name, value in (*_decoded(given), *query_values(query))
        if TELLS.search(name)
        for secret in environment_secrets({"COOKIE" if "cookie" in name else "KEY": value})
        for count in [-(-len(secret) // _BLOCK)]
        for n in range(count)
    )
    return tuple(dict.fromkeys(islice(blocks, _MOST_BLOCKS)))


def _decoded(given: Headers) -> Iterator[tuple[str, str]]:
    """Yield names and values of headers; of a name with a password in Base64 the password, too."""
    for raw_name, raw in given:
        name, value = raw_name.decode("latin-1").lower(), raw.decode("latin-1")
        yield name, value
        scheme, _, pair = value.partition(" ")
        if scheme.lower() == "basic":
            yield name, pair.rstrip("=")
            with suppress(ValueError):
                yield name, base64.b64decode(pair).decode("latin-1").partition(":")[2]


def query_values(query: str) -> list[tuple[str, str]]:
    """Return names and values of a query, and these as they are without percent signs. One that
    stands without a name is its own."""
    pairs = [each.partition("=") for each in re.split("[&;]", query) if each]
    named = [(name, value if sign else name) for name, sign, value in pairs]
    return [*named, *((name, unquote(value)) for name, value in named if "%" in value)]
