"""Compare predicted cache use with bills (the usage in answers), for all recordings in a folder.

Three kinds of files can be validated: recorded HTTP of any format, sessions that store their
requests as sent, and JSON objects whose `requests` are a list of `{uri, request, …}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.user_files import check_regular_file
from playground.cache.validation import Validation, validation_of
from playground.recordings.decoding import decode_stream
from playground.sessions.formats import recognised
from playground.sessions.formats.recorded_http import RecordedHttp
from playground.sessions.loading import read_sessions
from playground.sessions.rows import bodies
from playground.sessions.session import Session
from playground.sessions.shapes.exchanges import Exchange
from playground.sessions.shapes.requests import conversation
from playground.sessions.source import Source

_NO_HOST: Final = "/"  # without a recorded address, the provider follows from the model's name


def validate_folder(folder: str | Path) -> Validation:
    """Validate every request of the files in the folder and below it.

    Files that hold no request, or that cannot be read, are named in `left_out` with the reason.
    Raises InputFault if `folder` is no folder.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputFault("not a folder", where=str(folder), expected="a folder of requests")
    read: list[tuple[str, list[dict[str, Any]]]] = []
    left_out: list[str] = []
    for path in sorted(each for each in folder.rglob("*") if each.exists() and not each.is_dir()):
        try:
            check_regular_file(path)  # pipes are skipped
            read.append((path.relative_to(folder).as_posix(), _requests(path)))
        except InputFault as fault:
            left_out.append(str(fault))
    return validation_of(read, left_out)


def _requests(path: Path) -> list[dict[str, Any]]:
    """Return a file's requests, each with its address, answer and usage. Raises InputFault if it
    holds no requests as they were sent."""
    source = Source.open(path)
    if (listed := _listed_requests(source)) is not None:
        return listed
    form = recognised(source)
    if isinstance(form, RecordedHttp):
        requests = [_of_http(each) for each in form.exchanges(source) if _is_chat(each)]
    else:
        sessions = [loaded.session for loaded in read_sessions(source, form.name)]
        requests = [each for session in sessions for each in _of_session(session)]
    if not requests:
        raise InputFault(
            f"it holds no requests as they were sent ({form.title})",
            where=str(path),
            expected="recorded HTTP, or a session that keeps the bodies of its requests",
        )
    return requests


def _listed_requests(source: Source) -> list[dict[str, Any]] | None:
    """Return the exchanges of a file that lists them for a validation; None for any other file."""
    document = source.document
    requests = document.get("requests") if isinstance(document, dict) else None
    if not isinstance(requests, list) or not any(map(_is_listed_request, requests)):
        return None
    return [request for request in requests if isinstance(request, dict)]


def _is_listed_request(value: Any) -> bool:
    return isinstance(value, dict) and "request" in value and "uri" in value


def _is_chat(exchange: Exchange) -> bool:
    """Return True if a request is a conversation with a model, not one for embeddings."""
    return "embedding" not in exchange.url and conversation(exchange.request) is not None


def _of_http(exchange: Exchange) -> dict[str, Any]:
    reply, usage = exchange.reply, None
    if reply is None and exchange.response:
        recording = decode_stream([exchange.response])
        reply, usage = {"model": recording.model}, recording.usage
        reply |= {"diagnostics": recording.diagnostics} if recording.diagnostics else {}
    return {
        "uri": exchange.url,
        "request": exchange.request,
        "response": reply,
        "usage": usage or _usage(reply),
        "status": exchange.status,
        "date": exchange.at,
    }


def _of_session(session: Session) -> Iterator[dict[str, Any]]:
    for row, body in zip(session.rows, bodies(session.rows), strict=True):
        usage = _usage(row.reply)
        exchange = {"response": row.reply, "usage": usage, "date": row.at}
        yield {"uri": row.url or _NO_HOST, "request": body, **exchange}


def _usage(reply: Mapping[str, Any] | None) -> Any:
    """Return the usage that a reply states; a failed reply has none."""
    body = reply or {}
    return body.get("usage", body.get("usageMetadata"))
