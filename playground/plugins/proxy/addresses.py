"""Route a request: find the API of its path, and the address behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final, Literal

from playground.plugins.proxy.upstream import Upstream, read_upstream

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


def api_of(path: str, headers: Mapping[str, str]) -> Api:
    """Whose API a path belongs to; where several have it (`/v1/models`), the headers tell."""
    found = next((api for pattern, api in _PATHS if pattern.search(path)), None)
    if found is not None:
        return found
    return next((api for name, api in _HEADERS if name in headers), "openai")


def asks_a_model(method: str, path: str) -> bool:
    """Return True if a model answers the request; others are only forwarded and recorded."""
    return method == "POST" and bool(_ASKS.search(path.partition("?")[0]))


def signed(headers: Mapping[str, str], query: str) -> bool:
    """Return True if AWS's signature covers the request: it holds for the address that was
    signed.
    """
    authorization = headers.get("authorization", "")
    return authorization.startswith("AWS4-") or "X-Amz-Signature=" in query


@dataclass(frozen=True)
class Upstreams:
    """The addresses behind the proxy: the one that was `given`, or each API's own."""

    given: Upstream | None = None
    known: Mapping[Api, Upstream] = field(default_factory=dict)

    def route(self, api: Api, path: str) -> tuple[Upstream, str]:
        """Return where a path of this API leads, and the path as it is sent there.

        Anthropic's own address gets the version where a client has left it out: the AI SDK
        (opencode) takes it for a part of `ANTHROPIC_BASE_URL`, Anthropic's SDKs do not.
        """
        upstream = self.given or self.known[api]
        if upstream.shown == PROVIDERS["anthropic"] and path.startswith("/messages"):
            path = f"/v1{path}"
        return upstream, path

    @property
    def all(self) -> tuple[Upstream, ...]:
        return (self.given,) if self.given else tuple(self.known.values())


def upstreams(given: str, environment: Mapping[str, str], port: int, child: bool) -> Upstreams:
    """Return where requests go. For a `child` whose environment names an address already, that one:
    what stood between it and its provider stays there. Raises InputFault for what is no address.
    """
    if given:
        return Upstreams(read_upstream(given, port=port))
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or "us-east-1"
    known = {
        api: read_upstream(url.format(region=region), where="AWS_REGION")
        for api, url in PROVIDERS.items()
    }
    named: set[Api] = set()
    for name, (api, _) in VARIABLES.items() if child else ():
        own = environment.get(name, "").strip()
        if own and api not in named:
            named.add(api)
            known[api] = read_upstream(own, where=name, port=port)
    return Upstreams(known=known)


def for_child(address: str) -> dict[str, str]:
    """The variables by which a child's clients find the proxy at this address."""
    return {name: address + end for name, (_, end) in VARIABLES.items()}


def told_of(command: Sequence[str], address: str) -> list[str]:
    """A child's command, with the arguments by which it finds the proxy at this address."""
    known = ARGUMENTS.get(PurePath(command[0]).stem, ())
    return [command[0], *(each.format(address=address) for each in known), *command[1:]]
