"""An address to forward to: the part that may be shown, and the secrets in it.

The rule of this module: a password, a key in the query or a token in the path is sent to the
upstream and nowhere else. Our own answers, recordings, the ledger and messages use `shown`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

import httpx

from playground.base.errors import LOOKS_RANDOM, InputFault, shown_address
from playground.plugins.proxy.dot_segments import has_dot_segments
from playground.recordings.environment import environment_secrets
from playground.recordings.scrubbing import scrubbed

_VERSION: Final = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?$")
_LOCAL: Final = {"127.0.0.1", "localhost", "::1"}
_EXPECTED: Final = "http:// or https://, a host and a path; in a password %40 for @, %23 for #"
_UNSENDABLE: Final = re.compile(r"[^\x21-\x7e]")


@dataclass(frozen=True, slots=True)
class Upstream:
    """An address that requests are forwarded to.

    `shown` is the address without password, query and tokens; `secrets` lists these, so that they
    can be replaced by stars elsewhere. `spends` is True if the address holds a credential: every
    client of the proxy then spends it.
    """

    shown: str
    origin: str
    path: str = field(default="", repr=False)
    query: str = field(default="", repr=False)
    authorization: str = field(default="", repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    spends: bool = False

    @property
    def host(self) -> str:
        """The host, and the port if one is given."""
        return self.origin.partition("://")[2]

    def shown_address(self, path: str) -> str:
        """Return the address of a client's path as it may be shown."""
        return self.shown + self._rest(path)

    def target(self, path: str, query: str) -> str:
        """Return path and query as they are sent."""
        queries = "&".join(filter(None, (self.query, query)))
        return self.path + self._rest(path) + (f"?{queries}" if queries else "")

    def _rest(self, path: str) -> str:
        """Return a client's path without the version, if this address ends in it already."""
        version = _VERSION.search(self.path)
        if version and path.startswith(f"{version[0]}/"):
            return path[len(version[0]) :]
        return path


def read_upstream(address: str, where: str = "--upstream", port: int | None = None) -> Upstream:
    """Read an address that a user gave. `port` is the proxy's own on this machine.

    Raises InputFault in one line, which shows the address only if it can hold no secret.
    """
    address = address.strip()
    parts, problem = _split(address)
    if not problem and parts.hostname in _LOCAL and parts.port == port:
        problem = (
            f"{shown_address(address)!r} is the proxy's own address: it would forward to itself"
        )
        raise InputFault(problem, where=where, expected="the provider's")
    if problem:
        problem = f"{shown_address(address)!r} is no address: {problem}"
        raise InputFault(problem, where=where, expected=_EXPECTED)
    user, _, host = parts.netloc.rpartition("@")
    path = parts.path.rstrip("/")
    origin = f"{parts.scheme}://{host}"
    segments = path.split("/")
    shown = "/".join(_shown_segment(segment) for segment in segments)
    return Upstream(
        shown=origin + shown,
        origin=origin,
        path=path,
        query=parts.query,
        authorization=_basic(user) if user else "",
        secrets=tuple(_secrets(parts, user)),
        spends=bool(user) or _holds_key(parts),
    )


def _split(address: str) -> tuple[SplitResult, str]:
    """Return the parts of an address, and what is wrong with it ("" if nothing is)."""
    try:
        parts = urlsplit(address)
        _ = parts.port
        httpx.URL(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")
    except (ValueError, httpx.InvalidURL):  # the error's text may quote a password
        return urlsplit(""), "its host or port cannot be read"
    after_host = parts.path + parts.query
    if parts.scheme not in ("http", "https"):
        return parts, "it does not begin with http:// or https://"
    if not parts.hostname or parts.port == 0:
        return parts, "it names no host, or port 0"
    if "@" in after_host:
        return parts, "there is an @ after its host"
    if "#" in address:
        return parts, "it has a fragment (#), which is sent to nobody"
    if _UNSENDABLE.search(after_host) or len(address) > 8192:
        return parts, "it has characters that no path may have, or too many"
    if has_dot_segments(parts.path):
        return parts, "there are `.` or `..` in its path"
    return parts, ""


def _shown_segment(segment: str) -> str:
    """Return a segment of a path, with stars in place of a token."""
    clean = scrubbed(unquote(segment))
    if clean != unquote(segment):
        return clean
    return "*" * len(segment) if LOOKS_RANDOM.search(segment) else segment


def _basic(user: str) -> str:
    """Return the Authorization header for the `name:password` of an address."""
    name, _, password = user.partition(":")
    pair = f"{unquote(name)}:{unquote(password)}".encode()
    return f"Basic {base64.b64encode(pair).decode()}"


def _holds_key(parts: SplitResult) -> bool:
    """Return True if a path or a query holds a key; a version of an API is none."""
    known = f"{parts.path}?{parts.query}"
    return scrubbed(known) != known or any(map(_as_secrets, _query_values(parts)))


def _secrets(parts: SplitResult, user: str) -> Iterator[str]:
    """Yield the secrets of an address, which an upstream may repeat; no short or plain words."""
    if user:
        yield _basic(user).partition(" ")[2]
    name, _, password = user.partition(":")
    tokens = [each for each in parts.path.split("/") if _shown_segment(each) != each]
    for each in (password or name, *tokens, *_query_values(parts)):
        yield from _as_secrets(each)
        if unquote(each) != each:
            yield from _as_secrets(unquote(each))


def _query_values(parts: SplitResult) -> list[str]:
    """Return the values in a query, except versions as Azure's `api-version`."""
    pairs = [each.partition("=") for each in parts.query.split("&")]
    return [value for name, _, value in pairs if not name.endswith("version")]


def _as_secrets(value: str) -> list[str]:
    """Return the value in a list if it may be a secret, by the rules for environment variables."""
    return environment_secrets({"UPSTREAM_KEY": value})
