"""The recording of one exchange: the request, notes such as a prediction, and the answer.

The recorder replaces secrets by stars. Of all headers, only User-Agent is recorded. Bytes
that cannot be unpacked or are not text are only counted, because they may hide secrets.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from playground.base.errors import InputFault
from playground.base.json_numbers import load_json
from playground.base.wording import grouped
from playground.cache.diagnosis import Diagnosis, diagnosis_of
from playground.plugins.proxy.json_layout import layout_of
from playground.plugins.proxy.text_bytes import TextBytes
from playground.recordings.append_only_file import AppendOnlyFile, create_numbered
from playground.recordings.recorder import Recorder
from playground.recordings.scrubbing import Searcher, Tally, TooMuchWork, star_secrets
from playground.recordings.unpacking import CODINGS, TooMuchUnpacked, Unpacker
from playground.recordings.value_scrubbing import BodyScrubber

# Limits in bytes.
MOST_BODY: Final = 32 * 1024 * 1024  # of a request that is parsed: Anthropic takes no more
_MOST_REPLY: Final = 8 * 1024 * 1024  # of an answer that is one JSON object
_KEPT_BYTES: Final = 256 * 1024  # of a stream that the recorder keeps in memory
_MOST_RAW: Final = 1024 * 1024  # of a request as bytes, or of an answer that is not a model's
_MOST_ANSWER: Final = 64 * 1024 * 1024  # of a model's answer that is recorded
# A compressed answer is recorded up to this uncompressed size, or up to this multiple of its
# compressed size if that is more. Text shrinks to about a tenth.
_MOST_UNPACKED: Final = 8 * 1024 * 1024
_MOST_TIMES: Final = 50
# Limits in seconds of work. Scrubbing a megabyte takes 0.1 s; at worst, for a text made only of
# beginnings of secrets, 1 s.
_MOST_SECONDS: Final = 20.0  # on an answer
# on a request, plus the next constant for each byte
_MOST_REQUEST_SECONDS: Final = 1.0
_REQUEST_SECONDS: Final = 0.25 / (1 << 20)  # for each byte of the request
_PIECE: Final = 64 * 1024  # bytes of a request that are searched for secrets at once
_FRAMED: Final = "vnd.amazon.eventstream"  # binary frames around searchable JSON
_ROUNDS: Final = 5  # of decoding percent signs
_LONGEST_USER_AGENT: Final = 200  # characters
_LEAST_FREE: Final = 1024 * 1024 * 1024  # bytes on the disk that recordings leave free
Result = TypeVar("Result")
_WRITE_SECONDS: Final = 0.9  # between writes to disk; not less, because 200 files may be open


@dataclass(frozen=True, slots=True)
class Opened:
    """The facts of an exchange that are known before its body; `at` is in seconds since 1970."""

    number: int
    at: float
    url: str  # of the provider, without the query, which may hold a key
    api: str
    model: str  # from the address, or ""
    agent: str  # the client's User-Agent
    client: str  # the client's address
    session: str  # the client's id of its session, or ""
    coding: str  # the body's Content-Encoding
    asks: bool  # True if a model answers the request
    secrets: tuple[str, ...] = field(default=(), repr=False)  # the client's own credentials

    def clean(self, search: Searcher) -> Opened:
        """Return a copy whose url, model and agent, which are written down, hold no secrets."""
        return replace(
            self,
            url=_clean_address(self.url, search),
            model=_clean_address(self.model, search),
            # shortened only now, because half of a key would not be recognised
            agent=_clean_address(self.agent, search)[:_LONGEST_USER_AGENT],
        )


def _clean_address(address: str, search: Searcher) -> str:
    """Return an address without secrets. It is decoded if a secret in it is percent-encoded."""
    clean = deeper = star_secrets(address, search)
    for _ in range(_ROUNDS):
        decoded = unquote(deeper)
        if decoded == deeper:
            break
        deeper = star_secrets(decoded, search)
        clean = clean if deeper == decoded else deeper
    return clean


class WatchedExchange:
    """One request and its answer, recorded piece by piece.

    `fault` is the reason if not all of the exchange is recorded: for example, the disk is full. The
    exchange is forwarded in any case.
    """

    def __init__(
        self, opened: Opened, folder: Path, cleaner: BodyScrubber, search: Searcher
    ) -> None:
        self.opened = opened
        self.request: dict[str, Any] | None = None  # clean of secrets
        self.usage: dict[str, Any] | None = None
        self.diagnosis: Diagnosis | None = None  # the provider's own diagnosis of its cache
        self.was_asked = False  # True if the request is complete
        self.status = 0
        self.first: float | None = None  # when the answer's first byte came
        self.fault = ""
        self.path: Path | None = None
        self.search = search
        self._folder, self._cleaner = folder, cleaner
        self._body: list[bytes] = []
        self._size = 0
        self._raw = False  # True if the request's body is recorded as bytes
        self._recorded = {"sent": 0, "came": 0}  # bytes recorded as text, not as JSON
        # bytes that are not recorded
        self._unrecorded = {"sent": 0, "came": 0, "packed": 0, "no_text": 0}
        self._texts = {"sent": TextBytes(), "came": TextBytes()}
        self._is_framed = False  # True if the answer is in binary frames
        self._spent = {"sent": 0.0, "came": 0.0}  # seconds of work
        self._lines: AppendOnlyFile | None = None
        self.tally = Tally()  # of starred-out secrets; set at the end
        self._recorder: Recorder | None = None
        self._coding = ""
        self._unpacker: Unpacker | None = None
        self._is_json = False
        self._reply = bytearray()

    def add_request_piece(self, data: bytes) -> None:
        """Take a piece of the request's body."""
        self._size += len(data)
        if self._raw:
            self._record_request(data)
            return
        self._body.append(data)
        if self._size > MOST_BODY:
            self._record_bytes(b"".join(self._body))

    def end_request(self) -> None:
        """Record the complete request as JSON, as bytes, or both if JSON loses the exact text."""
        self.was_asked = True
        if self._raw:
            self._record_request(b"", last=True)
            return
        raw = b"".join(self._body)
        self._body.clear()
        parsed = self._read(raw)
        if parsed is None:
            self._record_bytes(raw)
            self._record_request(b"", last=True)
            return
        body, data = parsed
        tally = Tally()
        began = time.thread_time()
        try:
            search = self.search.time_limited(self._most_seconds)
            clean = self._cleaner.scrubbed(body, tally, search)
            layout = layout_of(body, data)
        except RecursionError:  # nested too deeply to be searched for secrets
            self._record_bytes(data)
            self._record_request(b"", last=True)
            return
        except TooMuchWork:
            self._leave_out(data)
            return
        finally:
            self._spent["sent"] += time.thread_time() - began
        if not layout:  # the JSON value does not give back the exact text, so record bytes, too
            self._record_bytes(data)
            self._record_request(b"", last=True)
        self.request = clean
        details = {"agent": self.opened.agent, "at": self.opened.at, "written": layout}
        details = {key: value for key, value in details.items() if value}
        if self._open_recording(str(clean.get("model") or self.opened.model)):
            self._record(lambda r: r.record_clean_request(self.opened.url, clean, tally, **details))

    def add_note(self, **line: Any) -> None:
        """Add a line to the recording."""
        if self._open_recording():
            self._record(lambda r: r.record_line(line))

    def begin_answer(self, at: float, status: int, coding: str, kind: str) -> None:
        """Begin the answer, `at` seconds after the request; `coding` is its Content-Encoding, and
        `kind` its Content-Type."""
        self.status, self._coding = status, coding
        self._is_json = "json" in kind and "stream" not in kind
        self._is_framed = _FRAMED in kind
        is_read = coding in CODINGS
        self._unpacker = Unpacker(_MOST_UNPACKED, _MOST_TIMES) if is_read else None
        if self._open_recording():
            self._record(lambda r: r.record_status(at, status))

    def add_answer_piece(self, at: float, data: bytes) -> None:
        """Take a piece of the answer, `at` seconds after the request."""
        self.first = at if self.first is None else self.first
        if self._coding:
            self._unrecorded["packed"] += len(data)
            if self._unpacker is None:
                return
        try:
            for plain in self._unpacker.pieces(data) if self._unpacker else (data,):
                if self._is_json and len(self._reply) < _MOST_REPLY:
                    self._reply += plain
                self._record_answer(at, plain)
        except TooMuchUnpacked as error:
            self._cut_short(f"the answer {error}; the rest is forwarded and not recorded")
        except ValueError as error:
            self._cut_short(f"the answer is {error}")

    def _cut_short(self, reason: str) -> None:
        """Stop recording the answer, and store the reason as `fault`."""
        if self._unpacker is not None:
            self._unrecorded["packed"] -= self._unpacker.taken  # these are recorded, unpacked
        self.fault, self._unpacker = reason, None

    def tick(self) -> None:
        """Write data to disk if it has waited long enough. Call this several times a second."""
        self._record(Recorder.tick)

    def end(self, error: dict[str, Any] | None) -> None:
        """End the recording, with an `error` if the exchange was cut off."""
        if self._body or not self._open_recording():  # a body is left if the client hung up early
            self._record_bytes(b"".join(self._body))
        if self._coding and self._unpacker is None and error is None:
            unknown = f"the answer is packed as {self._coding}, which is not read here"
            error = {"type": "unreadable", "message": self.fault or unknown}
        if self._is_incomplete and error is None:
            error = {"type": "unrecorded", "message": self.fault}
        if self._unpacker is not None:
            self._unrecorded["packed"] = 0
        if any(self._unrecorded.values()):
            unrecorded = {way: count for way, count in self._unrecorded.items() if count}
            self._record(lambda r: r.record_line({"not_kept": unrecorded}))
        recording = self._record(lambda r: r.end(error, cut=error is not None))
        self.usage = recording.usage if recording is not None else None
        self.diagnosis = diagnosis_of(recording.diagnostics) if recording is not None else None
        if self.usage is None and self._reply:
            reply = _reply(bytes(self._reply))
            usage = reply.get("usage", reply.get("usageMetadata"))
            self.usage = usage if isinstance(usage, dict) else None
            self.diagnosis = diagnosis_of(reply)
        if self._recorder is not None:
            self.tally.take(self._recorder.tally)
        if self._lines is not None:
            lines, self._lines, self._recorder = self._lines, None, None
            try:
                lines.close()
            except InputFault as fault:
                self.fault = str(fault)

    def _read(self, raw: bytes) -> tuple[dict[str, Any], bytes] | None:
        """Return the body as a JSON object, and its unpacked bytes; None if it is not an object."""
        data = raw
        try:
            if self.opened.coding in CODINGS:
                data = b"".join(Unpacker(MOST_BODY).pieces(raw))
            elif self.opened.coding:
                return None
            value = load_json(data.decode(json.detect_encoding(data)), strict=True)
        except (ValueError, RecursionError):
            return None
        return (value, data) if isinstance(value, dict) else None

    def _record_bytes(self, data: bytes) -> None:
        self._raw = True
        self._record_address()
        # all bytes are checked, as text at the beginning proves little; packed bytes are no text
        if self.opened.coding or not self._texts["sent"].feed(data):
            self._texts["sent"].is_text = False
            self._unrecorded["no_text"] += len(data)
            return
        for start in range(0, len(data), _PIECE):
            self._record_text(data[start : start + _PIECE])

    def _record_address(self) -> None:
        """Record the request's address and agent, and forget the body that was gathered."""
        self._body.clear()
        if self._open_recording(self.opened.model):
            line = {"url": self.opened.url, "agent": self.opened.agent}
            self._record(lambda r: r.record_line(line))

    def _leave_out(self, data: bytes) -> None:
        """Record a request without its body, because a search of it for secrets takes too long."""
        self._record_address()
        self._unrecorded["sent"] += len(data)
        most = grouped(self._most_seconds, 1)
        limit = f"the request took more than {most} seconds to be searched for"
        self.fault = f"{limit} secrets; it is forwarded, and neither recorded nor predicted"

    @property
    def _most_seconds(self) -> float:
        """The seconds that a search of the request may take."""
        return _MOST_REQUEST_SECONDS + self._size * _REQUEST_SECONDS

    def _record_request(self, data: bytes, last: bool = False) -> None:
        """Record bytes of the request if they are text, because a search for secrets finds nothing
        in other bytes."""
        if not self._texts["sent"].feed(data):
            self._unrecorded["no_text"] += len(data)
            data = b""
        self._record_text(data, last)

    def _record_text(self, data: bytes, last: bool = False) -> None:
        """Record bytes of the request, up to the limits on size and time of one exchange."""
        is_slow = self._spent["sent"] > self._most_seconds
        data = self._within_limit("sent", data, 0 if is_slow else _MOST_RAW)
        if data or last:
            began = time.thread_time()
            self._record(lambda r: r.record_body(data, last=last))
            self._spent["sent"] += time.thread_time() - began

    def _open_recording(self, model: str = "") -> bool:
        """Open the recording if it is not open yet; return False if a fault prevents it."""
        if self._recorder is None and not self.fault:
            self.fault = disk_problem(self._folder)
        if self._recorder is None and not self.fault:
            try:
                lines = create_numbered(
                    self._folder / f"{self.opened.number:05}.jsonl", seconds=_WRITE_SECONDS
                )
                name = f"{self._folder.name} {self.opened.number}"
                self._lines, self.path = lines, lines.path
                self._recorder = Recorder(
                    lines,
                    self.search,
                    name=name,
                    dialect="native",
                    model=model,
                    kept_bytes=_KEPT_BYTES,
                )
            except InputFault as fault:
                self.fault = str(fault)
        return self._recorder is not None

    def _record_answer(self, at: float, data: bytes) -> None:
        """Record bytes of the answer, up to the limits on size and time of one exchange."""
        if not self._is_framed and not self._texts["came"].feed(data):
            self._unrecorded["no_text"] += len(data)
            if self.opened.asks and not self.fault:
                problem = "the answer has bytes that are not text; they and all that follows are"
                self.fault = f"{problem} forwarded and not recorded"
            return
        most = _MOST_ANSWER if self.opened.asks else _MOST_RAW
        is_slow = self._spent["came"] > _MOST_SECONDS
        recorded = self._within_limit("came", data, 0 if is_slow else most)
        if len(recorded) < len(data) and not self.fault and (is_slow or self.opened.asks):
            limit = f"has more than {most:,} bytes"
            limit = f"took {_MOST_SECONDS:g} seconds to be recorded so far" if is_slow else limit
            self.fault = f"the answer {limit}; the rest is forwarded and not recorded"
        if recorded:
            began = time.thread_time()
            self._record(lambda r: r.record_bytes(at, recorded))
            self._spent["came"] += time.thread_time() - began

    @property
    def _is_incomplete(self) -> bool:
        """True if a model's answer is not recorded to its end."""
        is_cut = self._unrecorded["came"] or not self._texts["came"].is_text
        return self.opened.asks and bool(is_cut)

    def _within_limit(self, way: str, data: bytes, most: int) -> bytes:
        """Return the bytes of the request ("sent") or the answer ("came") that may still be
        recorded. Count these and the remaining bytes."""
        part = data[: max(0, most - self._recorded[way])]
        self._recorded[way] += len(part)
        self._unrecorded[way] += len(data) - len(part)
        return part

    def _record(self, action: Callable[[Recorder], Result]) -> Result | None:
        """Call the recorder, if it exists. If the disk is full, end only the recording."""
        if self._recorder is None:
            return None
        try:
            return action(self._recorder)
        except InputFault as fault:
            self.fault = str(fault)
            self._recorder = None
            return None


def least_free(total: int) -> int:
    """Return how many bytes recordings leave free on a disk: a twentieth, but at most 1 GB."""
    return min(_LEAST_FREE, total // 20)


def disk_problem(folder: Path) -> str:
    """Return the reason why nothing more may be recorded in a folder; "" if the disk has room.

    Clients decide how much is recorded, but a full disk harms every user of the machine.
    """
    try:
        usage = shutil.disk_usage(folder)
    except OSError:  # the first write will raise the error
        return ""
    least = least_free(usage.total)
    if usage.free >= least:
        return ""
    return f"not recorded: the disk has less than {least >> 20:,} MB left"


def _reply(reply: bytes) -> dict[str, Any]:
    """Return an answer as a dict if it is one JSON object, or else {}."""
    try:
        value = load_json(reply.decode(), strict=True)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
