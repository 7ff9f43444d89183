"""Where a request goes: which API a path belongs to, and the address behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final, Literal
from urllib.parse import urlsplit

from playground.errors import InputFault

Api = Literal["anthropic", "openai", "gemini", "bedrock"]
PROVIDERS: Final[dict[Api, str]] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "gemini": "https://generativelanguage.googleapis.com",
    "bedrock": "https://bedrock-runtime.{region}.amazonaws.com",
}
# What clients read their base URL from, with what it is here: OpenAI's has the version in it.
VARIABLES: Final[dict[str, tuple[Api, str]]] = {
    "ANTHROPIC_BASE_URL": ("anthropic", ""),
    "ANTHROPIC_API_BASE": ("anthropic", ""),  # LiteLLM's
    "OPENAI_BASE_URL": ("openai", "/v1"),
    "OPENAI_API_BASE": ("openai", "/v1"),  # older clients', and LiteLLM's
    "GOOGLE_GEMINI_BASE_URL": ("gemini", ""),
    "GEMINI_API_BASE": ("gemini", ""),  # LiteLLM's
    "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": ("bedrock", ""),
    "ANTHROPIC_BEDROCK_BASE_URL": ("bedrock", ""),  # Claude Code's
}
# What is told of the proxy in arguments, since they read no variable: Codex 0.169.
ARGUMENTS: Final[dict[str, tuple[str, ...]]] = {
    "codex": ("-c", 'openai_base_url="{address}"'),
}
_PATHS: Final[tuple[tuple[re.Pattern[str], Api], ...]] = (
    (re.compile(r"/v1/messages\b|/v1/complete\b"), "anthropic"),
    (re.compile(r"/v1(?:alpha|beta)\d*/|:(?:streamG|g)enerateContent\b|:countTokens\b"), "gemini"),
    (re.compile(r"/model/[^/]+/(?:converse|invoke)"), "bedrock"),
)
_HEADERS: Final[tuple[tuple[str, Api], ...]] = (
    ("anthropic-version", "anthropic"),
    ("x-api-key", "anthropic"),
    ("x-goog-api-key", "gemini"),
)
_ASKS: Final = re.compile(
    r"/messages$|/chat/completions$|/responses$|/completions$"
    r"|:(?:streamG|g)enerateContent$|/model/[^/]+/(?:converse|invoke)"
)
_VERSION: Final = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?$")
_LOCAL: Final = {"127.0.0.1", "localhost", "::1"}


def api_of(path: str, headers: Mapping[str, str]) -> Api:
    """Whose API a path belongs to; where several have it (`/v1/models`), the headers tell."""
    found = next((api for pattern, api in _PATHS if pattern.search(path)), None)
    if found is not None:
        return found
    return next((api for name, api in _HEADERS if name in headers), "openai")


def asks_a_model(method: str, path: str) -> bool:
    """Whether a request is one that a model answers; others are forwarded and recorded alone."""
    return method == "POST" and bool(_ASKS.search(path.partition("?")[0]))


def signed(headers: Mapping[str, str], query: str) -> bool:
    """Whether AWS's signature covers the request: it holds for the address that was signed."""
    authorization = headers.get("authorization", "")
    return authorization.startswith("AWS4-") or "X-Amz-Signature=" in query


@dataclass(frozen=True)
class Upstreams:
    """The addresses behind the proxy: the one that was `given`, or each API's own."""

    given: str = ""
    known: Mapping[Api, str] = field(default_factory=lambda: PROVIDERS)

    def behind(self, api: Api, path: str) -> str:
        """The address of a path of this API. A base that ends in a version takes the rest alone.

        Anthropic's own address gets the version where a client has left it out: the AI SDK
        (opencode) takes it for a part of `ANTHROPIC_BASE_URL`, Anthropic's SDKs do not.
        """
        base = (self.given or self.known[api]).rstrip("/")
        if base == PROVIDERS["anthropic"] and path.startswith("/messages"):
            base += "/v1"
        version = _VERSION.search(base)
        if version and path.startswith(f"{version[0]}/"):
            path = path[len(version[0]) :]
        return base + path


def upstreams(given: str, environment: Mapping[str, str], port: int, child: bool) -> Upstreams:
    """Where requests go. For a `child` whose environment names an address already, that one:
    what stood between it and its provider stays there. Raises InputFault for what is no address.
    """
    if given:
        return Upstreams(_checked(given, port))
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or "us-east-1"
    known = {api: url.format(region=region) for api, url in PROVIDERS.items()}
    for name, (api, _) in VARIABLES.items() if child else ():
        own = environment.get(name, "")
        if own and known[api] == PROVIDERS[api].format(region=region):
            known[api] = _checked(own, port)
    return Upstreams(known=known)


def for_child(address: str) -> dict[str, str]:
    """The variables by which a child's clients find the proxy at this address."""
    return {name: address + end for name, (_, end) in VARIABLES.items()}


def told_of(command: Sequence[str], address: str) -> list[str]:
    """A child's command, with the arguments by which it finds the proxy at this address."""
    known = ARGUMENTS.get(PurePath(command[0]).stem, ())
    return [command[0], *(each.format(address=address) for each in known), *command[1:]]


def _checked(url: str, port: int) -> str:
    try:
        parts = urlsplit(url)
        own = parts.hostname in _LOCAL and parts.port == port
    except ValueError:
        parts, own = urlsplit(""), False
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        expected = "http:// or https://, a host, and a path without a query"
        raise InputFault(f"{url!r} is no address", where="--upstream", expected=expected)
    if own:
        problem = f"{url!r} is the proxy's own address: it would forward to itself"
        raise InputFault(problem, where="--upstream", expected="the provider's")
    return url
