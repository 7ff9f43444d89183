"""One exchange as it is recorded: what was sent, what was predicted of it, what came back.

Everything that is kept goes through the recorder, which stars secrets out; of headers nothing is
kept but what the client calls itself. Bytes that nobody here can unpack, or that are no text, are
counted, not kept: no search finds a key in them.
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
from playground.plugins.proxy.text_bytes import TextBytes
from playground.recordings.growing import GrowingFile, numbered
from playground.recordings.recorder import Recorder
from playground.recordings.scrubbing import Searcher, Tally, TooMuchWork, starred
from playground.recordings.unpacking import CODINGS, TooMuchUnpacked, Unpacker
from playground.recordings.value_scrubbing import BodyScrubber
from playground.recordings.written import form_of

MOST_BODY: Final = 32 * 1024 * 1024  # of a request that is read whole: Anthropic takes no more
_MOST_REPLY: Final = 8 * 1024 * 1024  # of an answer that is one JSON object
_KEPT_BYTES: Final = 256 * 1024  # of a stream, whose chunks nobody asks the proxy for
_MOST_RAW: Final = 1024 * 1024  # of bytes that are no request and no answer to one: files
_MOST_ANSWER: Final = 64 * 1024 * 1024  # of a model's answer that is recorded
# Of a packed answer so much is recorded, or so many times what came: text is packed to a tenth.
_MOST_UNPACKED: Final = 8 * 1024 * 1024
_MOST_TIMES: Final = 50
# Text of nothing but beginnings of secrets costs a second a megabyte, any other a tenth.
_MOST_SECONDS: Final = 20.0  # of work on an answer
_MOST_REQUEST_SECONDS: Final = 1.0  # of work on a request, and
_REQUEST_SECONDS: Final = 0.25 / (1 << 20)  # for each byte of it
_PIECE: Final = 64 * 1024
_FRAMED: Final = "vnd.amazon.eventstream"  # binary frames around JSON, which is searched in them
_ROUNDS: Final = 5  # of decoding what stands behind percent signs
_LONGEST_AGENT: Final = 200  # characters of what a client calls itself
_LEAST_FREE: Final = 1024 * 1024 * 1024  # bytes of a disk that recordings leave, or a twentieth
Told = TypeVar("Told")
_TO_DISK: Final = 0.9  # seconds: two hundred files are open at once


@dataclass(frozen=True, slots=True)
class Opened:
    """The facts of an exchange before its body; `at` is in seconds since 1970."""

    number: int
    at: float
    url: str  # of the provider, without its query, which may hold a key
    api: str
    model: str  # where the address names it
    agent: str  # what the client calls itself
    client: str  # the address that it came from
    session: str  # what the client calls its session, where it says so
    coding: str
    asks: bool
    secrets: tuple[str, ...] = field(default=(), repr=False)  # the client's own, for this exchange

    def clean(self, search: Searcher) -> Opened:
        """Return this without secrets; all that is told of an exchange is made of it."""
        return replace(
            self,
            url=_clean_address(self.url, search),
            model=_clean_address(self.model, search),
            # half a key is not known as one: it is cut once it is clean
            agent=_clean_address(self.agent, search)[:_LONGEST_AGENT],
        )


def _clean_address(address: str, search: Searcher) -> str:
    """Return an address without secrets; one that hides them behind percent signs is decoded."""
    clean = deeper = starred(address, search)
    for _ in range(_ROUNDS):
        decoded = unquote(deeper)
        if decoded == deeper:
            break
        deeper = starred(decoded, search)
        clean = clean if deeper == decoded else deeper
    return clean


class WatchedExchange:
    """One request and its answer. `fault` is why not all of it is recorded: what the disk refuses,
    or an answer that is too much. It ends the recording alone."""

    def __init__(
        self, opened: Opened, folder: Path, cleaner: BodyScrubber, search: Searcher
    ) -> None:
        self.opened = opened
        self.request: dict[str, Any] | None = None  # clean of secrets
        self.usage: dict[str, Any] | None = None
        self.was_asked = False  # its request is whole
        self.status = 0
        self.first: float | None = None  # when the answer's first byte came
        self.fault = ""
        self.path: Path | None = None
        self.search = search
        self._folder, self._cleaner = folder, cleaner
        self._body: list[bytes] = []
        self._size = 0
        self._raw = False  # its body is recorded as bytes
        self._kept = {"sent": 0, "came": 0}  # bytes that are recorded as they are
        # those that are counted alone
        self._more = {"sent": 0, "came": 0, "packed": 0, "no_text": 0}
        self._texts = {"sent": TextBytes(), "came": TextBytes()}
        self._is_framed = False  # the answer
        self._spent = {"sent": 0.0, "came": 0.0}  # seconds of work
        self._lines: GrowingFile | None = None
        self.tally = Tally()  # of what was starred out, once it is over
        self._recorder: Recorder | None = None
        self._packed = ""
        self._unpacker: Unpacker | None = None
        self._is_json = False
        self._reply = bytearray()

    def sent(self, data: bytes) -> None:
        """A piece of the request's body."""
        self._size += len(data)
        if self._raw:
            self._keep_sent(data)
            return
        self._body.append(data)
        if self._size > MOST_BODY:
            self._as_bytes(b"".join(self._body))

    def asked(self) -> None:
        """The request is whole."""
        self.was_asked = True
        if self._raw:
            self._keep_sent(b"", last=True)
            return
        raw = b"".join(self._body)
        self._body.clear()
        given = self._read(raw)
        if given is None:
            self._as_bytes(raw)
            self._keep_sent(b"", last=True)
            return
        found, data = given
        tally = Tally()
        began = time.thread_time()
        try:
            search = self.search.bounded(self._most_seconds)
            clean = self._cleaner.scrubbed(found, tally, search)
            form = form_of(found, data)
        except RecursionError:  # deeper than anybody's, and than it can be searched for secrets
            self._as_bytes(data)
            self._keep_sent(b"", last=True)
            return
        except TooMuchWork:
            self._leave_out(data)
            return
        finally:
            self._spent["sent"] += time.thread_time() - began
        if not form:
            self._as_bytes(data)
            self._keep_sent(b"", last=True)
        self.request = clean
        told = {"agent": self.opened.agent, "at": self.opened.at, "written": form}
        told = {key: value for key, value in told.items() if value}
        if self._begin(str(clean.get("model") or self.opened.model)):
            self._tell(lambda r: r.sent_clean(self.opened.url, clean, tally, **told))

    def noted(self, **line: Any) -> None:
        """Note what somebody else knows of it."""
        if self._begin():
            self._tell(lambda r: r.noted(line))

    def answered(self, at: float, status: int, coding: str, kind: str) -> None:
        """The answer begins, so many seconds after the request."""
        self.status, self._packed = status, coding
        self._is_json = "json" in kind and "stream" not in kind
        self._is_framed = _FRAMED in kind
        is_read = coding in CODINGS
        self._unpacker = Unpacker(_MOST_UNPACKED, _MOST_TIMES) if is_read else None
        if self._begin():
            self._tell(lambda r: r.status(at, status))

    def piece(self, at: float, data: bytes) -> None:
        """Bytes of the answer."""
        self.first = at if self.first is None else self.first
        if self._packed:
            self._more["packed"] += len(data)
            if self._unpacker is None:
                return
        try:
            for plain in self._unpacker.pieces(data) if self._unpacker else (data,):
                if self._is_json and len(self._reply) < _MOST_REPLY:
                    self._reply += plain
                self._keep(at, plain)
        except TooMuchUnpacked as error:
            self._cut_short(f"the answer {error}; the rest is forwarded and not recorded")
        except ValueError as error:
            self._cut_short(f"the answer is {error}")

    def _cut_short(self, why: str) -> None:
        """Read nothing more of the answer."""
        if self._unpacker is not None:
            self._more["packed"] -= self._unpacker.taken
        self.fault, self._unpacker = why, None

    def tick(self) -> None:
        """To be called several times a second."""
        self._tell(Recorder.tick)

    def end(self, error: dict[str, Any] | None) -> None:
        """The exchange is over; with an error where it was cut."""
        if self._body or not self._begin():  # the client hung up in its body
            self._as_bytes(b"".join(self._body))
        if self._packed and self._unpacker is None and error is None:
            unknown = f"the answer is packed as {self._packed}, which is not read here"
            error = {"type": "unreadable", "message": self.fault or unknown}
        if self._is_cut_short and error is None:
            error = {"type": "unrecorded", "message": self.fault}
        if self._unpacker is not None:
            self._more["packed"] = 0
        if any(self._more.values()):
            more = {way: count for way, count in self._more.items() if count}
            self._tell(lambda r: r.noted({"not_kept": more}))
        recording = self._tell(lambda r: r.end(error, cut=error is not None))
        self.usage = recording.usage if recording is not None else None
        if self.usage is None and self._reply:
            self.usage = _usage(bytes(self._reply))
        if self._recorder is not None:
            self.tally.take(self._recorder.tally)
        if self._lines is not None:
            lines, self._lines, self._recorder = self._lines, None, None
            try:
                lines.close()
            except InputFault as fault:
                self.fault = str(fault)

    # what is kept

    def _read(self, raw: bytes) -> tuple[dict[str, Any], bytes] | None:
        """The body as an object, and its bytes unpacked; None for anything else."""
        data = raw
        try:
            if self.opened.coding in CODINGS:
                data = b"".join(Unpacker(MOST_BODY).pieces(raw))
            elif self.opened.coding:
                return None
            found = load_json(data.decode(json.detect_encoding(data)), strict=True)
        except (ValueError, RecursionError):
            return None
        return (found, data) if isinstance(found, dict) else None

    def _as_bytes(self, data: bytes) -> None:
        self._raw = True
        self._note_address()
        # all of it at once, for a beginning tells little; what is packed is never a text
        if self.opened.coding or not self._texts["sent"].feed(data):
            self._texts["sent"].is_text = False
            self._more["no_text"] += len(data)
            return
        for start in range(0, len(data), _PIECE):
            self._keep_text(data[start : start + _PIECE])

    def _note_address(self) -> None:
        self._body.clear()
        if self._begin(self.opened.model):
            line = {"url": self.opened.url, "agent": self.opened.agent}
            self._tell(lambda r: r.noted(line))

    def _leave_out(self, data: bytes) -> None:
        """Record a request without what it says: searching it takes too long."""
        self._note_address()
        self._more["sent"] += len(data)
        told = f"the request took more than {self._most_seconds:.1f} seconds to be searched for"
        self.fault = f"{told} secrets; it is forwarded, and neither recorded nor predicted"

    @property
    def _most_seconds(self) -> float:
        """The work that searching the request may take."""
        return _MOST_REQUEST_SECONDS + self._size * _REQUEST_SECONDS

    def _keep_sent(self, data: bytes, last: bool = False) -> None:
        """Record bytes of the request if they are text; nobody finds a secret in what is not."""
        if not self._texts["sent"].feed(data):
            self._more["no_text"] += len(data)
            data = b""
        self._keep_text(data, last)

    def _keep_text(self, data: bytes, last: bool = False) -> None:
        """Record bytes of the request, within what one exchange may cost."""
        is_dear = self._spent["sent"] > self._most_seconds
        data = self._bounded("sent", data, 0 if is_dear else _MOST_RAW)
        if data or last:
            began = time.thread_time()
            self._tell(lambda r: r.sent_bytes(data, last=last))
            self._spent["sent"] += time.thread_time() - began

    def _begin(self, model: str = "") -> bool:
        """The file is there from here on, unless the disk refuses it."""
        if self._recorder is None and not self.fault:
            self.fault = disk_problem(self._folder)
        if self._recorder is None and not self.fault:
            try:
                lines = numbered(self._folder / f"{self.opened.number:05}.jsonl", seconds=_TO_DISK)
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

    def _keep(self, at: float, data: bytes) -> None:
        """Record bytes of the answer, within what one exchange may cost."""
        if not self._is_framed and not self._texts["came"].feed(data):
            self._more["no_text"] += len(data)
            if self.opened.asks and not self.fault:
                told = "the answer has bytes that are no text; they, and what follows them, are"
                self.fault = f"{told} forwarded and not recorded"
            return
        most = _MOST_ANSWER if self.opened.asks else _MOST_RAW
        is_dear = self._spent["came"] > _MOST_SECONDS
        kept = self._bounded("came", data, 0 if is_dear else most)
        if len(kept) < len(data) and not self.fault and (is_dear or self.opened.asks):
            told = f"has more than {most:,} bytes"
            told = f"took {_MOST_SECONDS:g} seconds to be recorded so far" if is_dear else told
            self.fault = f"the answer {told}; the rest is forwarded and not recorded"
        if kept:
            began = time.thread_time()
            self._tell(lambda r: r.piece(at, kept))
            self._spent["came"] += time.thread_time() - began

    @property
    def _is_cut_short(self) -> bool:
        """True if a model's answer is not recorded to its end."""
        return self.opened.asks and bool(self._more["came"] or not self._texts["came"].is_text)

    def _bounded(self, way: str, data: bytes, most: int) -> bytes:
        """What is kept of these bytes; the rest is counted."""
        kept = data[: max(0, most - self._kept[way])]
        self._kept[way] += len(kept)
        self._more[way] += len(data) - len(kept)
        return kept

    def _tell(self, told: Callable[[Recorder], Told]) -> Told | None:
        """Tell the recorder; where the disk is full the recording ends, and nothing else does."""
        if self._recorder is None:
            return None
        try:
            return told(self._recorder)
        except InputFault as fault:
            self.fault = str(fault)
            self._recorder = None
            return None


def least_free(total: int) -> int:
    """Return how many bytes of a disk of this size recordings leave."""
    return min(_LEAST_FREE, total // 20)


def disk_problem(folder: Path) -> str:
    """Return why nothing more is to be recorded here; "" if there is room. Clients decide how much
    is recorded, and a full disk is everybody's."""
    try:
        usage = shutil.disk_usage(folder)
    except OSError:  # where it cannot be asked, writing tells
        return ""
    least = least_free(usage.total)
    if usage.free >= least:
        return ""
    return f"not recorded: the disk has less than {least >> 20:,} MB left"


def _usage(reply: bytes) -> dict[str, Any] | None:
    """The bill of an answer that is one JSON object."""
    try:
        value = load_json(reply.decode(), strict=True)
    except (ValueError, RecursionError):
        return None
    found = value.get("usage", value.get("usageMetadata")) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else None
