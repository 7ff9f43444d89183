"""Protect the environment's credentials from servers that the user names by address.

LiteLLM's adapters read the environment: they sent `OPENAI_ORGANIZATION` to any OpenAI-compatible
server, and `WATSONX_TOKEN` and `GIGACHAT_ACCESS_TOKEN` to any address that the user gave. So
`wiretap.watch` passes every request through this module. A server named by address gets only the
allowed headers and no value of an environment variable, except in the conversation's own text. A
request to such a server, one that is recorded, or one with a key may not go to a second server.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from playground.base.errors import InputFault

if TYPE_CHECKING:
    import httpx

NO_KEY: Final = "none"  # LiteLLM asks for a key, and gets this one

# All other headers are left out, so that a future adapter cannot add a secret header.
_ALLOWED_HEADERS: Final = frozenset(
    {
        "host",
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "transfer-encoding",
        "user-agent",
        "anthropic-version",
        "anthropic-beta",
    }
)
_OPENAI_HEADERS: Final = frozenset({"openai-organization", "openai-project"})
_CONVERSATION: Final = frozenset(  # fields of a body whose texts are never changed
    {"messages", "tools", "model", "input", "prompt", "system", "contents"}
)
# Headers with keys. On a redirect, httpx removes only `Authorization`; it would send the others.
_KEY_HEADERS: Final = frozenset(
    {"api-key", "x-api-key", "x-goog-api-key", "ocp-apim-subscription-key", "x-amz-security-token"}
)
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
# characters; a shorter value of the environment ("1", "en") is not a secret
_SHORTEST_SECRET: Final = 4

_own_hosts: set[tuple[str, int]] = set()  # host and port of each server given by address


def withhold_credentials_from(base_url: str) -> None:
    """From now on, send no value of the environment to the server at this address."""
    _own_hosts.add(_host_and_port(base_url))


def clean_request(request: httpx.Request) -> httpx.Request:
    """Return a request without the values that its receiver must not get. The original `request` is
    never changed, because clients read it again later (OpenAI's client reads its headers)."""
    import httpx

    if _host_and_port(str(request.url)) not in _own_hosts:
        foreign = set() if _is_openai(request.url.host) else _OPENAI_HEADERS & set(request.headers)
        return _copy(request, headers=_headers(request, foreign)) if foreign else request
    others = {name for name, value in request.headers.items() if not _may_pass(name, value)}
    withheld = {value for value in os.environ.values() if len(value) >= _SHORTEST_SECRET}
    headers = _headers(request, others)
    parameters = [pair for pair in request.url.params.multi_items() if pair[1] not in withheld]
    url = request.url.copy_with(params=httpx.QueryParams(tuple(parameters)))
    body = json_object(request)
    allowed = {
        key: value if key in _CONVERSATION else _without(value, withheld)
        for key, value in body.items()
        if key in _CONVERSATION or not _is_withheld(value, withheld)
    }
    if allowed == body:
        return _copy(request, headers=headers, url=url)
    del headers["content-length"]
    return _copy(request, headers=headers, url=url, content=json.dumps(allowed).encode())


def redirect_fault(
    request: httpx.Request, response: httpx.Response, *, watched: bool
) -> InputFault | None:
    """Return the fault of an answer that redirects to another server, or None.

    A redirect would send a request, and perhaps a key, to another server. Checked are requests to
    servers named by address, those with a header of `_KEY_HEADERS`, and `watched` (recorded) ones.
    """
    location = response.headers.get("location")
    if response.status_code not in _REDIRECTS or not location:
        return None
    is_checked = (
        watched
        or _host_and_port(str(request.url)) in _own_hosts
        or bool(_KEY_HEADERS & set(request.headers))
    )
    import httpx

    try:
        target = request.url.join(location)
    except (
        ValueError,
        httpx.InvalidURL,
    ):  # a redirect without a valid address, which no client can follow
        return None
    if not is_checked or _origin(target) == _origin(request.url):
        return None
    shown = str(target.copy_with(query=None, fragment=None, username=None, password=None))
    return InputFault(
        f"the server answers {response.status_code} and redirects to {shown[:200]}; a "
        "request for one server is not sent to another",
        where=f"{request.url.scheme}://{request.url.netloc.decode('ascii').rpartition('@')[2]}",
        expected="the final address, which answers without a redirect",
    )


def _origin(url: httpx.URL) -> tuple[str, str, int]:
    return url.scheme, *_host_and_port(str(url))


def _copy(request: httpx.Request, **changed: Any) -> httpx.Request:
    import httpx

    try:
        body: dict[str, Any] = {"content": request.content}
    except httpx.RequestNotRead:  # the body is a stream, which is read while it is sent
        body = {"stream": request.stream}
    unchanged = {"url": request.url, "extensions": request.extensions, **body}
    return httpx.Request(request.method, **{**unchanged, **changed})


def _headers(request: httpx.Request, names: Collection[str]) -> httpx.Headers:
    headers = request.headers.copy()
    for name in names:
        del headers[name]
    return headers


def _may_pass(name: str, value: str) -> bool:
    return name.lower() in _ALLOWED_HEADERS or value.removeprefix("Bearer ") == NO_KEY


def _is_openai(host: str) -> bool:
    return host == "openai.com" or host.endswith(".openai.com")


def _is_withheld(value: Any, withheld: Collection[str]) -> bool:
    return isinstance(value, str) and value in withheld


def _without(value: Any, withheld: Collection[str]) -> Any:
    """Return a value of the body without the values of `withheld`, at any depth."""
    match value:
        case dict():
            return {
                k: _without(v, withheld) for k, v in value.items() if not _is_withheld(v, withheld)
            }
        case list():
            return [_without(item, withheld) for item in value if not _is_withheld(item, withheld)]
        case _:
            return value


def json_object(request: httpx.Request) -> dict[str, Any]:
    """Return the body of a request; {} if the body is a stream, or not a JSON object."""
    try:
        value = json.loads(request.content)
    except (ValueError, RuntimeError):  # RuntimeError if the body is a stream
        return {}
    return value if isinstance(value, dict) else {}


def _host_and_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
