"""Find the reason why a connection failed or an answer broke off. LiteLLM says only "Connection
error"."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from playground.base.errors import InputFault, shown_address

_WITHOUT_REASON: Final = "Stream ended before a finish_reason was received"  # LiteLLM 1.110


def check_address(base_url: str) -> None:
    """Raise InputFault for an address to which no request can be sent."""
    try:
        parts = urlsplit(base_url)
        port = parts.port
    except ValueError:  # the message of this error may quote a password
        raise _bad_address(base_url, "its host or port cannot be read") from None
    if parts.scheme.lower() not in ("http", "https"):
        raise _bad_address(base_url, "its scheme is neither http nor https")
    if not parts.hostname:
        raise _bad_address(base_url, "it names no host")
    if port == 0:
        raise _bad_address(base_url, "port 0 cannot be used")


def _bad_address(base_url: str, reason: str) -> InputFault:
    return InputFault(
        f"not the address of a server: {reason}",
        where=shown_address(base_url),
        expected="http://host:port/v1 or https://…",
    )


def ends_without_reason(error: BaseException) -> bool:
    """Return True if LiteLLM reports an answer without a finish reason."""
    return _WITHOUT_REASON in str(error)


def connection_problem(error: BaseException, *, begun: bool = False) -> str:
    """Return the reason why a request did not reach its server or, with `begun`, why its answer
    broke off; "" if the reason is unknown."""
    reason_of = _breaks_off if begun else _no_connection
    return next(filter(None, map(reason_of, _causes(error))), "")


def _no_connection(cause: BaseException) -> str:
    match cause:
        case ssl.SSLCertVerificationError():
            return f"TLS: the server's certificate is not trusted ({cause.verify_message})"
        case ssl.SSLError():
            return f"TLS: {cause.reason or cause}; a server without TLS needs http://"
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
    """Return the reason why an answer broke off after its first bytes; "" if it is unknown."""
    name = type(cause).__name__
    if isinstance(cause, ConnectionResetError):
        return "the answer breaks off: the server closed the connection"
    if isinstance(cause, OSError) and cause.errno is not None:
        return f"the answer breaks off ({cause.strerror})"
    if name == "RemoteProtocolError":
        return f"the answer breaks off: {cause}"
    return "the answer breaks off: nothing more came in time" if name == "ReadTimeout" else ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes, the first cause first, because that is the most specific."""
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    return reversed(chain)
