"""The recording file: JSON lines with a header, the raw wire with arrival times, and an end.

    {"format": "playground-recording/2", "name": …, "model": …, …}
    {"request": {…}, "url": …}                   the request's value
    {"sent": "{\n  \"model\": …"}               its bytes, if no usual JSON layout gives them
    {"expected": {…}}                            what a proxy predicted for the request
    {"t": 0.311, "status": 200}
    {"t": 0.312, "raw": "data: {…}\\n\\n"}       bytes as they arrived; "base64" if not UTF-8
    {"t": 0.312, "litellm": {…}}                 what LiteLLM made of them
    {"end": 1.732, "usage": {…}, "error": null, "starred": {"openai": 1}}

Replies are decoded from the wire whenever the file is read. The file grows while the answer
arrives, so it may break off anywhere. A file without an end line is an interrupted recording. The
older form, `playground-recording/1`, was written at once, and has the request in its header.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.json_numbers import integer_words, is_finite, long_integers
from playground.recordings.apis import api_names
from playground.recordings.decoding import LATEST, StreamDecoder
from playground.recordings.recording import Recording

FORMAT: Final = "playground-recording/2"
FORMATS: Final = (FORMAT, "playground-recording/1")
START: Final = b'{"format": "playground-recording/2"'  # the first bytes of each such file
_CUT: Final = {
    "type": "cut",
    "message": "the recording breaks off here: its recorder was stopped before the end",
}


def header(name: str, dialect: str, model: str, server: str = "") -> dict[str, Any]:
    """Return a recording file's first line; `server` is an address that is not the provider's."""
    fields = {"name": name, "dialect": dialect, "model": model, "server": server}
    stated = {key: value for key, value in fields.items() if value}
    return {"format": FORMAT, "timing": "recorded", **stated}


def wire_line(data: bytes, at: float) -> dict[str, Any]:
    """Return one piece of the wire as a line, from which its bytes can be restored."""
    try:
        return {"t": round(at, 6), "raw": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"t": round(at, 6), "base64": base64.b64encode(data).decode("ascii")}


def sent_line(data: bytes) -> dict[str, Any]:
    """Return a piece of a request's body, as it was sent, as a line."""
    try:
        return {"sent": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"sent_base64": base64.b64encode(data).decode("ascii")}


def wire_bytes(line: dict[str, Any]) -> bytes | None:
    """Return the bytes of a line with a piece of the wire; None for any other line. Raises
    ValueError if its `base64` is not Base64."""
    raw, packed = line.get("raw"), line.get("base64")
    if isinstance(raw, str):
        return raw.encode("utf-8", "surrogatepass")
    return base64.b64decode(packed, validate=True) if isinstance(packed, str) else None


def read_recording_file(
    lines: Iterable[tuple[int, Any]], where: str
) -> tuple[Recording, dict[str, Any]]:
    """Return the recording and its request.

    If the file has no end, as after a crash, the recording's error says that it was cut. Raises
    InputFault for a line that cannot be read.
    """
    head: dict[str, Any] = {}
    request: dict[str, Any] = {}
    end: dict[str, Any] = {}
    decoder: StreamDecoder | None = None
    for number, value in _objects(lines, where):
        if decoder is None:
            if not isinstance(value, dict) or value.get("format") not in FORMATS:
                raise InputFault(
                    "not the header of a recording",
                    where=where,
                    line=number,
                    expected=f'"{FORMAT}"',
                )
            head, decoder = value, _decoder(value, where)
            continue
        if "end" in value:
            end = value
        if isinstance(value.get("request"), dict):
            request = value["request"]
        data = _bytes(value, where, number)
        if data is not None:
            decoder.feed(data, _time(value, decoder, where, number))
    if decoder is None:
        raise InputFault("an empty file", where=where, expected=f'a header with "{FORMAT}"')
    if not end and head["format"] == FORMAT:
        end = {"error": _CUT}
    older = head.get("request")
    return _finish(decoder, head, end), request or (older if isinstance(older, dict) else {})


def _time(line: dict[str, Any], decoder: StreamDecoder, where: str, number: int) -> float | None:
    """Return a line's seconds since the request; None, with a finding, if they are not finite.
    Raises InputFault for seconds that are no number, are negative, or are too large."""
    at = line.get("t", 0.0)
    if not is_finite(at):
        digits = long_integers(at)
        decoder.note_unreadable(f"a time of {integer_words(digits) if digits else at}")
        return None
    if not isinstance(at, int | float) or at < 0 or at > LATEST:
        raise InputFault(
            f"a time of {at!r}",
            where=where,
            line=number,
            field="t",
            expected="seconds from 0 to 1e12",
        )
    return float(at)


def _objects(lines: Iterable[tuple[int, Any]], where: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, value in lines:
        if not isinstance(value, dict):
            raise InputFault(
                "a line that is not an object",
                where=where,
                line=number,
                expected="one object on each line",
            )
        yield number, value


def _bytes(line: dict[str, Any], where: str, number: int) -> bytes | None:
    try:
        return wire_bytes(line)
    except (binascii.Error, ValueError) as error:
        raise InputFault(
            f"not Base64 ({error})", where=where, line=number, field="base64"
        ) from error


def cut_header() -> Recording:
    """Return the empty recording of a file that broke off within its first line."""
    return _finish(StreamDecoder(), {}, {"error": _CUT})


def _decoder(head: dict[str, Any], where: str) -> StreamDecoder:
    api = head.get("api")
    if api and api not in api_names():
        raise InputFault(
            f"unknown API {api!r}",
            where=where,
            line=1,
            field="api",
            expected=", ".join(api_names()),
        )
    return StreamDecoder(api or None)


def with_end(recording: Recording, model: str, error: dict[str, Any] | None) -> Recording:
    """Add the model and the error of a file's last line; after an error there is no stop reason."""
    error = recording.error or error
    return replace(
        recording,
        model=recording.model or model,
        error=error,
        stop_reason="" if error else recording.stop_reason,
    )


def _finish(decoder: StreamDecoder, head: dict[str, Any], end: dict[str, Any]) -> Recording:
    recording = decoder.finish(str(head.get("name") or ""), str(head.get("dialect") or "native"))
    error = end.get("error") if isinstance(end.get("error"), dict) else None
    recording = with_end(recording, str(head.get("model") or ""), error)
    prefill, note = str(head.get("prefill") or ""), str(head.get("note") or "")
    return replace(recording, prefill=prefill, note=note)
