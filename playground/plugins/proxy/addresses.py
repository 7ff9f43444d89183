"""Routing: the API of a provider to which a request belongs, and the address to forward it to."""

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
# Clients' environment variables for base URLs -> the API, and the last part of the URL's path.
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
# Arguments that pass the address to programs that read none of these variables (Codex 0.169).
ARGUMENTS: Final[dict[str, tuple[str, ...]]] = {"codex": ("-c", 'openai_base_url="{address}"')}
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
_MODEL_PATHS: Final = re.compile(
    r"/messages$|/chat/completions$|/responses$|/completions$"
    r"|:(?:streamG|g)enerateContent$|/model/[^/]+/(?:converse|invoke)"
)


def api_of(path: str, headers: Mapping[str, str]) -> Api:
    """Return the API of a path. If several APIs have such a path (`/v1/models`), headers decide."""
    by_path = next((api for pattern, api in _PATHS if pattern.search(path)), None)
    if by_path is not None:
        return by_path
    return next((api for name, api in _HEADERS if name in headers), "openai")


def asks_a_model(method: str, path: str) -> bool:
    """Return True if a model answers the request. The cache is predicted only for such requests."""
    return method == "POST" and bool(_MODEL_PATHS.search(path.partition("?")[0]))


def is_signed(headers: Mapping[str, str], query: str) -> bool:
    """Return True if the request has AWS's signature, which is valid for one address only."""
    authorization = headers.get("authorization", "")
    return authorization.startswith("AWS4-") or "X-Amz-Signature=" in query


@dataclass(frozen=True)
class Upstreams:
    """The addresses to forward to: `given` for all APIs, or else `known`, one for each API."""

    given: Upstream | None = None
    known: Mapping[Api, Upstream] = field(default_factory=dict)

    def route(self, api: Api, path: str) -> tuple[Upstream, str]:
        """Return the upstream for a path of this API, and the path as it is sent there.

        For Anthropic's own address, a missing `/v1` is added, because the AI SDK (opencode) expects
        it in `ANTHROPIC_BASE_URL`, while Anthropic's SDKs do not.
        """
        upstream = self.given or self.known[api]
        if upstream.shown == PROVIDERS["anthropic"] and path.startswith("/messages"):
            path = f"/v1{path}"
        return upstream, path

    @property
    def all(self) -> tuple[Upstream, ...]:
        return (self.given,) if self.given else tuple(self.known.values())


def upstreams(address: str, environment: Mapping[str, str], port: int, child: bool) -> Upstreams:
    """Return the addresses to forward to: `address`, or each API's own address if it is "".

    `child` is True if the proxy starts its client as a child process. Then an address in the
    `environment`, which may be that of a gateway, replaces the API's own.

    Raises InputFault for an invalid address.
    """
    if address:
        return Upstreams(read_upstream(address, port=port))
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or "us-east-1"
    known = {
        api: read_upstream(url.format(region=region), where="AWS_REGION")
        for api, url in PROVIDERS.items()
    }
    named: set[Api] = set()
    for name, (api, _) in VARIABLES.items() if child else ():
        named_address = environment.get(name, "").strip()
        if named_address and api not in named:
            named.add(api)
            known[api] = read_upstream(named_address, where=name, port=port)
    return Upstreams(known=known)


def child_environment(address: str) -> dict[str, str]:
    """Return the environment variables that point the clients in a child process to the proxy."""
    return {name: address + end for name, (_, end) in VARIABLES.items()}


def child_command(command: Sequence[str], address: str) -> list[str]:
    """Return a child's command, with arguments that point it to the proxy if it needs them."""
    arguments = ARGUMENTS.get(PurePath(command[0]).stem, ())
    return [command[0], *(argument.format(address=address) for argument in arguments), *command[1:]]
