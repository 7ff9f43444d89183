"""An address to forward to: its part that may be shown, and its secrets.

A password, a key in the query or a token in the path is sent only to the upstream. The proxy's own
answers and messages, recordings and the ledger have `Upstream.shown` instead.
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
from playground.plugins.proxy.headers import CREDENTIAL_NAME, query_values
from playground.recordings.environment import environment_secrets
from playground.recordings.scrubbing import scrubbed

_VERSION: Final = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?$")
_LOCAL: Final = {"127.0.0.1", "localhost", "::1"}
_EXPECTED: Final = "http:// or https://, a host and a path; in a password %40 for @, %23 for #"
_UNSENDABLE: Final = re.compile(r"[^\x21-\x7e]")
_VERSION_NAME: Final = "api-version"  # Azure's; any other parameter may be a key
_VERSION_VALUE: Final = re.compile(r"[\w.-]{0,40}", re.ASCII)
_SHORTEST_SECRET: Final = 6  # characters of a password; a shorter one is not starred out
_RUN: Final = re.compile(r"[A-Za-z0-9]+")
_SWITCH: Final = re.compile(r"(?<=\d)(?=[A-Za-z])|(?<=[A-Za-z])(?=\d)")
_MIXED_RUN: Final = re.compile(r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])")


@dataclass(frozen=True, slots=True)
class Upstream:
    """An address that requests are forwarded to.

    `shown` is the address without password, query and tokens; `secrets` lists its texts that count
    as secrets, so that they can be starred out elsewhere. `spends` is True if the address holds a
    credential, which every client of the proxy then uses.
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
        """Return the address of a client's path, without secrets."""
        return self.shown + self._rest(path)

    def target(self, path: str, query: str) -> str:
        """Return path and query for a request to the upstream."""
        queries = "&".join(filter(None, (self.query, query)))
        return self.path + self._rest(path) + (f"?{queries}" if queries else "")

    def _rest(self, path: str) -> str:
        """Return a client's path, without the API version if this address ends with it."""
        version = _VERSION.search(self.path)
        return path[len(version[0]) :] if version and path.startswith(f"{version[0]}/") else path


def read_upstream(address: str, where: str = "--upstream", port: int | None = None) -> Upstream:
    """Read a user's address. `port` is the proxy's own port on this machine.

    Raises InputFault, whose message shows the address only if no secret can be in it.
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
    shown = "/".join(shown for _, shown in _segments(path))
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
    """Return the parts of an address, and its problem, or ""."""
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
    return parts, "there are `.` or `..` in its path" if has_dot_segments(parts.path) else ""


def _segments(path: str) -> Iterator[tuple[str, str]]:
    """Yield each segment of a path, and its shown form, which has stars instead of a token."""
    before = ""
    for segment in path.split("/"):
        yield segment, _shown_segment(segment, before)
        before = segment


def _shown_segment(segment: str, before: str) -> str:
    """Return the shown form of a segment that comes after `before`."""
    clean = scrubbed(unquote(segment))
    if clean != unquote(segment):
        return clean
    name, sign, value = segment.partition("=")
    if sign and value and CREDENTIAL_NAME.search(name):
        return f"{name}={'*' * len(value)}"
    return "*" * len(segment) if _is_token(segment) or _names_next(before) else segment


def _names_next(segment: str) -> bool:
    """Return True if a segment, such as `api-key`, says that the next one is a secret."""
    return bool(re.fullmatch(r"(?:[a-z]+[-_]?)?(?:key|token|secret|password)", segment, re.I))


def _is_token(segment: str) -> bool:
    """Return True if a segment looks random, like a token or some names of accounts. In such a
    segment, letters and digits alternate in a run of eight characters or more, or several runs have
    digits, small and capital letters. Names of models (`gpt-4o-2024-11-20`, `mixtral-8x7b`) do not
    look random.
    """
    if LOOKS_RANDOM.search(segment):
        return True
    runs = _RUN.findall(segment)
    if any(len(run) > 7 and len(_SWITCH.findall(run)) > 2 for run in runs):
        return True
    return sum(map(len, runs)) > 11 and sum(bool(_MIXED_RUN.match(run)) for run in runs) > 1


def _basic(user: str) -> str:
    """Return the Authorization header for the `name:password` of an address."""
    name, _, password = user.partition(":")
    pair = f"{unquote(name)}:{unquote(password)}".encode()
    return f"Basic {base64.b64encode(pair).decode()}"


def _holds_key(parts: SplitResult) -> bool:
    """Return True if a path or query may hold a key; Azure's `api-version` does not count."""
    if any(shown != segment for segment, shown in _segments(parts.path)):
        return True
    text = f"{parts.path}?{parts.query}"
    return scrubbed(text) != text or bool(_possible_keys(parts.query))


def _secrets(parts: SplitResult, user: str) -> Iterator[str]:
    """Yield the secrets of an address, because an upstream may repeat them.

    A password, or a value whose name says that it is a key, counts from six characters on. For
    other values the rules for the environment's keys apply: values shorter than eight characters
    and plain words are no secrets.
    """
    if user:
        yield _basic(user).partition(" ")[2].rstrip("=")
        yield from password_secrets(user)
    for segment, shown in _segments(parts.path):
        if shown != segment:
            name, sign, value = segment.partition("=")
            is_named = sign and CREDENTIAL_NAME.search(name)
            yield from _as_passwords(value if is_named else segment)
    for name, value in _possible_keys(parts.query):
        yield from _as_passwords(value) if CREDENTIAL_NAME.search(name) else _as_secrets(value)


def password_secrets(user: str) -> Iterator[str]:
    """Yield the secrets in `name:password`.

    A name without a password counts as a token, and so does a name that looks random before a
    password such as `x-oauth-basic`.
    """
    name, _, password = user.partition(":")
    yield from _as_passwords(password or name)
    yield from _as_secrets(name)


def _possible_keys(query: str) -> list[tuple[str, str]]:
    """Return names and values of a query, except Azure's `api-version`."""
    return [
        (name, value)
        for name, value in query_values(query)
        if name != _VERSION_NAME or not _VERSION_VALUE.fullmatch(value)
    ]


def _as_passwords(value: str) -> Iterator[str]:
    """Yield a value as it is sent, and decoded, if it is long enough to be recognised."""
    for text in dict.fromkeys((value, unquote(value))):
        if len(text) >= _SHORTEST_SECRET:
            yield text


def _as_secrets(value: str) -> Iterator[str]:
    """Yield a value, as sent and decoded, if the rules for the environment's keys apply."""
    yield from environment_secrets({"UPSTREAM_KEY": value, "UPSTREAM_PLAIN_KEY": unquote(value)})
