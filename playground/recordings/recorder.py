"""Record the bytes of an answer as lines without secrets, in order, at most a second after they
arrive.

Bytes that may begin a secret wait: at most 16 kB of them, for at most a second. Then undecided
bytes are starred out and written (`wire_scrubbing.py`).
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from typing import Any, Final

from playground.recordings import files
from playground.recordings.append_only_file import Lines
from playground.recordings.decoding import StreamDecoder
from playground.recordings.recording import Recording
from playground.recordings.scrubbing import Searcher, Tally
from playground.recordings.value_scrubbing import scrubbed_with
from playground.recordings.wire_scrubbing import WireScrubber

HELD_BYTES: Final = 16 * 1024
HELD_SECONDS: Final = 1.0
WHOLE_BYTES: Final = 64 * 1024 * 1024  # on the wire; the chunks of a longer answer are dropped
_Waiting = tuple[WireScrubber, float, int, float]  # scrubber, arrival, end of bytes, waiting since


class Recorder:
    """A recorder of one exchange; several threads may call it. Its methods raise the errors of
    `lines`."""

    def __init__(
        self,
        lines: Lines,
        search: Searcher,
        *,
        name: str,
        dialect: str,
        model: str,
        server: str = "",
        kept_bytes: int = WHOLE_BYTES,
    ) -> None:
        self._lines, self._search = lines, search
        self._name, self._dialect, self._model = name, dialect, model
        self._lock = threading.RLock()
        self._kept_bytes = kept_bytes  # the chunks of an answer with more bytes are dropped
        self._tally = Tally()
        self._wire = WireScrubber(search, self._tally)
        self._litellm = WireScrubber(search, self._tally)
        self._body = WireScrubber(search, self._tally)
        self._waiting: deque[_Waiting] = deque()
        self._decoder = StreamDecoder()
        self._last = 0.0
        self._status = 0  # of the answer
        self._answered = False
        self._is_interrupted = False  # a step was interrupted, for example by Ctrl-C
        self.request: dict[str, Any] = {}
        self.size = 0
        self.whole = True  # False once chunks were dropped
        self._add(files.header(self._clean(name), dialect, self._clean(model), self._clean(server)))
        self._lines.keep(now=True)

    def record_request(self, url: str, request: dict[str, Any]) -> None:
        """Record the request before it is sent; a second request replaces it."""
        with self._lock:
            self.request = self._clean(request)
            self._add({"request": self.request, "url": self._clean(url)})
            self._lines.keep(now=True)

    def record_clean_request(
        self, url: str, request: dict[str, Any], tally: Tally, **details: Any
    ) -> None:
        """Record a request whose secrets the caller has starred out and counted in `tally`.
        `details` are further fields of the request's line."""
        with self._lock:
            self.request = request
            self._tally.take(tally)
            self._add({"request": request, "url": self._clean(url), **self._clean(details)})
            self._lines.keep(now=True)

    def record_body(self, data: bytes, *, last: bool = False) -> None:
        """Record bytes of a request's body as they were sent, in any pieces; `last` ends the body.

        Call this for a body that is not a JSON object, or has a layout of its own.
        """
        with self._lock:
            self._body.feed(data)
            if last:
                self._body.finish()
            elif self._body.end - self._body.taken > HELD_BYTES + len(data):
                self._body.give_up()
            self._write_sent()
            self._lines.keep()

    def _write_sent(self) -> None:
        if self._body.ready > self._body.taken:
            self._add(files.sent_line(self._body.take(self._body.ready)))

    def record_line(self, line: dict[str, Any]) -> None:
        """Add a line of the caller's own; it must not look like a line of the wire."""
        with self._lock:
            self._add(self._clean(line))
            self._lines.keep()

    def record_status(self, at: float, status: int) -> None:
        """Record the status with which the answer begins."""
        with self._lock:
            self._status = status
            self._add({"t": round(at, 6), "status": status})

    def record_bytes(self, at: float, data: bytes) -> None:
        """Record bytes that arrived `at` seconds after the request.

        With the first bytes of a successful answer (2xx), the recording replaces an older one.
        """
        with self._lock:
            if not self._answered and 200 <= self._status < 300:
                self._answered = True
                self._lines.answered()
            self.size += len(data)
            self._last = at = round(at, 6)
            self._feed(self._wire, at, data)

    def record_litellm_chunk(self, value: dict[str, Any]) -> None:
        """Record a chunk that LiteLLM made of the bytes so far."""
        with self._lock:
            text = json.dumps(value, ensure_ascii=False) + "\n"
            self._feed(self._litellm, self._last, text.encode("utf-8", "surrogatepass"))

    def tick(self) -> None:
        """Write bytes that have waited long enough. Call this several times a second."""
        with self._lock:
            if not self._is_interrupted:
                self._release()
            self._lines.keep()

    def end(self, error: dict[str, Any] | None, *, cut: bool) -> Recording:
        """Write the last line and return the recording. Undecided text is decided by the bytes so
        far, or starred out if the answer was `cut`."""
        with self._lock:
            for each in (self._body, self._wire, self._litellm):
                if cut:
                    each.give_up()
                each.finish()
            self._write_sent()
            if self._is_interrupted:  # waiting bytes may not have been searched: drop them
                self._waiting.clear()
            self._release()
            decoded = self._decoder.finish(self._name, self._dialect)
            recording = files.with_end(decoded, self._model, self._clean(error))
            end = {"end": self._last, "usage": recording.usage, "error": recording.error}
            self._add(end | ({"starred": self.starred} if self.starred else {}))
            self._lines.keep(now=True)
            return recording

    @property
    def tally(self) -> Tally:
        """The secrets that were starred out, for a tally of several recordings."""
        return self._tally

    @property
    def starred(self) -> dict[str, int]:
        """The number of secrets that were starred out, by kind."""
        return self._tally.counts

    def _feed(self, scrubber: WireScrubber, at: float, data: bytes) -> None:
        self._is_interrupted = True
        scrubber.feed(data)
        self._waiting.append((scrubber, at, scrubber.end, time.monotonic()))
        self._is_interrupted = False
        self._release()
        self._lines.keep()

    def _release(self) -> None:
        """Write decided bytes. If too many wait, or for too long, star out the undecided ones."""
        self._write_ready()
        if not self._waiting:
            return
        undecided = self._wire.end - self._wire.taken + self._litellm.end - self._litellm.taken
        if undecided > HELD_BYTES or time.monotonic() - self._waiting[0][3] > HELD_SECONDS:
            self._wire.give_up()
            self._litellm.give_up()
            self._write_ready()

    def _write_ready(self) -> None:
        while self._waiting:
            scrubber, at, stop, since = self._waiting[0]
            ready = min(stop, scrubber.ready)
            if scrubber is self._wire and ready > scrubber.taken:
                self._write_wire(at, scrubber.take(ready))
            if ready < stop:
                return
            if scrubber is self._litellm:
                text = scrubber.take(stop).decode("utf-8", "surrogatepass").rstrip("\n")
                self._lines.add(f'{{"t": {at}, "litellm": {text}}}\n')
            self._waiting.popleft()

    def _write_wire(self, at: float, data: bytes) -> None:
        self._add(files.wire_line(data, at))
        self._decoder.feed(data, at)
        if self.size > self._kept_bytes:
            self.whole = False
            self._decoder.drop_chunks()

    def _add(self, line: dict[str, Any]) -> None:
        self._lines.add(json.dumps(line, ensure_ascii=False) + "\n")

    def _clean(self, value: Any) -> Any:
        return scrubbed_with(self._search, value, self._tally)
