"""Say why a server cannot be reached, or its answer ends, where LiteLLM says "Connection error"."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from playground.base.errors import InputFault, shown_address

_WITHOUT_REASON: Final = "Stream ended before a finish_reason was received"  # LiteLLM 1.110's words


def check_address(base_url: str) -> None:
    """Raises InputFault for an address that no request can be sent to."""
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError:  # its words quote what may be a password
        raise _no_address(base_url, "its host or port cannot be read") from None
    if parts.scheme.lower() not in ("http", "https"):
        raise _no_address(base_url, "its scheme is neither http nor https")
    if not parts.hostname:
        raise _no_address(base_url, "it names no host")
    if port == 0:
        raise _no_address(base_url, "port 0 is none")


def _no_address(base_url: str, why: str) -> InputFault:
    return InputFault(
        f"no address of a server: {why}",
        where=shown_address(base_url),
        expected="http://host:port/v1 or https://…",
    )


def ends_without_reason(error: BaseException) -> bool:
    """Return True if an answer came to its end, and LiteLLM misses the reason for it."""
    return _WITHOUT_REASON in str(error)


def connection_problem(error: BaseException, *, begun: bool = False) -> str:
    """Return what kept a request from its server, or cut an answer that had `begun`, or ""."""
    told = _breaks_off if begun else _no_connection
    return next(filter(None, map(told, _causes(error))), "")


def _no_connection(cause: BaseException) -> str:
    match cause:
        case ssl.SSLCertVerificationError():
            return f"TLS: the server's certificate is not trusted ({cause.verify_message})"
        case ssl.SSLError():
            return f"TLS: {cause.reason or cause}; a server without it is reached by http://"
        case ConnectionRefusedError():
            return "connection refused: nothing listens at this port"
        case socket.gaierror():
            return f"no host of this name ({cause.strerror})"
        case ConnectionResetError():
            return "the server closed the connection without an answer"
        case OSError() if cause.errno is not None:
            return f"no connection ({cause.strerror})"
        case _ if type(cause).__name__ == "RemoteProtocolError":
            return f"no HTTP: {cause}"
        case _ if type(cause).__name__ in ("ConnectTimeout", "ReadTimeout"):
            return "the server did not answer in time"
    return ""


def _breaks_off(cause: BaseException) -> str:
    """Something has come: there is a server, it speaks HTTP, and has answered."""
    name = type(cause).__name__
    if isinstance(cause, ConnectionResetError):
        return "the answer breaks off: the server closed the connection"
    if isinstance(cause, OSError) and cause.errno is not None:
        return f"the answer breaks off ({cause.strerror})"
    if name == "RemoteProtocolError":
        return f"the answer breaks off: {cause}"
    return "the answer breaks off: nothing more came in time" if name == "ReadTimeout" else ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Return the causes of an error, the first cause first: it says most."""
    chain: list[BaseException] = []
    found: BaseException | None = error
    while found is not None and found not in chain:
        chain.append(found)
        found = found.__cause__ or found.__context__
    return reversed(chain)
