"""Record an answer through LiteLLM: its raw bytes, with their times. Bytes are written as they
come, without secrets, so that a recording survives any end of the program. Another thread watches
the clock: it writes waiting bytes, and ends a request that was stopped or takes too long."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from playground.base.errors import InputFault, PlaygroundError
from playground.base.output import write_file
from playground.base.wording import grouped
from playground.llm.access import access_arguments
from playground.llm.completion_arguments import STREAMED, completion_arguments, delta_of
from playground.llm.connecting import connection_problem, ends_without_reason
from playground.llm.library import LiteLLM, litellm
from playground.llm.wiretap import Tap, tapped
from playground.recordings.append_only_file import AppendOnlyFile, Lines, LinesInMemory
from playground.recordings.environment import environment_secrets
from playground.recordings.recorder import Recorder
from playground.recordings.recording import Recording
from playground.recordings.scrubbing import searcher, star_secrets

Progress = Callable[[int, str], None]  # the number of chunks so far, the text of the last chunk
MOST_BYTES: Final = 1024 * 1024 * 1024  # of an answer; a larger one is cut off
STALL_SECONDS: Final = 120.0
_SHOWN_BYTES: Final = 16 * 1024 * 1024  # the most bytes of an answer that LiteLLM gets
_LONGEST_LINE: Final = 16 * 1024 * 1024  # the most bytes of one event
_CLOSED: Final = "the page that asked for it was closed"
_TICK: Final = 0.2  # seconds between two checks of the limits
_LONGEST_ERROR: Final = 2_000  # the most characters of an error, which may quote the answer


@dataclass
class Recorded:
    """A request and its answer, in a file or as lines in memory.

    If an answer has more than 64 MB, `recording` has no chunks and `whole` is False. `starred`
    counts the secrets that were starred out, by kind.
    """

    recording: Recording
    request: dict[str, Any]
    written: list[str] = field(default_factory=list)
    path: Path | None = None
    whole: bool = True
    starred: dict[str, int] = field(default_factory=dict)

    def text(self) -> str:
        """Return the text of the recording file."""
        return self.path.read_text("utf-8") if self.path else "".join(self.written)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The lines of the recording file."""
        return [json.loads(line) for line in self.text().split("\n") if line]

    def write(self, path: str | Path, *, force: bool = False) -> None:
        """Write the recording file. Raises InputFault if the file cannot be written."""
        write_file(path, self.text(), force=force)


@dataclass
class Limits:
    """The limits of a request.

    The request ends after `seconds` in all, after `stall` seconds without a byte, after `size`
    bytes, and when `alive` returns False. Raises InputFault for limits of 0 or less.
    """

    seconds: float = 600.0
    stall: float = STALL_SECONDS
    size: float = MOST_BYTES
    alive: Callable[[], bool] = lambda: True

    def __post_init__(self) -> None:
        for name, value in (("seconds", self.seconds), ("stall", self.stall), ("size", self.size)):
            if not value > 0:  # also False for NaN
                raise InputFault(f"{value} is not a limit", where=name, expected="more than 0")


def record(
    messages: Sequence[Mapping[str, Any]],
    model: str,
    *,
    tools: Sequence[Mapping[str, Any]] = (),
    name: str = "",
    dialect: str = "native",
    base_url: str = "",
    parameters: Mapping[str, Any] | None = None,
    emails: bool = False,
    timeout: float = 600.0,
    limits: Limits | None = None,
    out: AppendOnlyFile | None = None,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
) -> Recorded:
    """Send the messages and record the streamed answer, complete or as far as it came. LiteLLM
    reads keys from the environment. They are never stored: keys and tokens are removed from the
    recording, and with `emails` also e-mail addresses. The recording also states an error in
    mid-stream, a cancellation, a refusal, or the limit that ended the request (`limits`; by default
    `timeout` seconds in all). `out` is written while the answer comes. `name` and `dialect` go into
    the recording; `base_url` is the address of a server of one's own; `parameters` go to LiteLLM;
    `progress` is called for each chunk; `cancel` ends the request.

    Raises InputFault if the disk is full, or if nothing came back (no key, no such model, no
    connection); then `out` is removed.
    """
    lines: Lines = out or LinesInMemory()
    search = searcher(tuple(environment_secrets()), emails)
    try:
        recorder = Recorder(
            lines,
            search,
            name=name or f"{model} {dialect}",
            dialect=dialect,
            model=model,
            server=base_url,
        )
        access = {"max_retries": 0, **access_arguments(model, base_url), **(parameters or {})}
        run = _Run(recorder, limits or Limits(timeout), cancel, progress)
        error = run.send(completion_arguments(messages, model, tools, access))
        if not recorder.size:
            reason = star_secrets((error or {}).get("message", "nothing came back"), search)
            raise InputFault(
                f"no answer: {reason}"[:500],
                where=model,
                expected="a model that LiteLLM knows, and its key in the environment or a base URL",
            )
        recording = recorder.end(error, cut=error is not None)
    except BaseException:
        if out is not None:
            out.fail()
        raise
    return _finish(recording, recorder, lines, out)


def _finish(
    recording: Recording, recorder: Recorder, lines: Lines, out: AppendOnlyFile | None
) -> Recorded:
    if out is not None:
        out.close()
    return Recorded(
        recording,
        recorder.request,
        lines.lines if isinstance(lines, LinesInMemory) else [],
        out.path if out else None,
        recorder.whole,
        recorder.starred,
    )


class _Run:
    """A running request, whose bytes are recorded. It ends with its answer or at a limit."""

    def __init__(
        self,
        recorder: Recorder,
        limits: Limits,
        cancel: threading.Event | None,
        progress: Progress | None,
    ) -> None:
        self._recorder, self._limits = recorder, limits
        self._cancel = cancel or threading.Event()
        self._progress = progress or (lambda _count, _text: None)
        self._deadline = time.monotonic() + limits.seconds
        self._line = 0  # the number of bytes since the last line's end
        self._ended_by: dict[str, Any] | None = None
        stall = min(limits.stall, limits.seconds)
        self._tap = Tap(self, self._keep_on, stall, _SHOWN_BYTES)

    def record_request(self, url: str, request: dict[str, Any]) -> None:
        self._recorder.record_request(url, request)

    def record_status(self, at: float, status: int) -> None:
        self._recorder.record_status(at, status)

    def record_bytes(self, at: float, data: bytes) -> None:
        self._recorder.record_bytes(at, data)
        last = data.rfind(b"\n")
        self._line = len(data) + (self._line if last < 0 else -last - 1)
        if self._line > _LONGEST_LINE:  # readers hold a complete event in memory
            self._end("limit", f"an event of the answer has more than {_LONGEST_LINE:,} bytes")
        if self._recorder.size > self._limits.size:
            self._end("limit", f"the answer has more than {grouped(self._limits.size)} bytes")

    def _keep_on(self) -> bool:
        return not self._cancel.is_set() and not self._tap.hung_up

    def send(self, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """Send the request and read its answer. Return the error that ended it, or None."""
        library = litellm()  # before the deadline is set, because loading takes seconds
        self._deadline = time.monotonic() + self._limits.seconds
        if self._cancel.is_set():  # cancelled while the library was loading
            return {"type": "cancelled", "message": "the user stopped the run"}
        if not self._limits.alive():
            return {"type": "cut", "message": _CLOSED}
        with self._watching_clock(), tapped(self._tap):
            error = self._stream(library, arguments)
        if isinstance(self._tap.fault, PlaygroundError):
            raise self._tap.fault
        return self._ended_by or error

    def _stream(self, library: LiteLLM, arguments: dict[str, Any]) -> dict[str, Any] | None:
        try:
            timeout = min(self._limits.stall, self._limits.seconds)
            stream = library.completion(**{"timeout": timeout, **STREAMED, **arguments})
            for count, chunk in enumerate(stream, 1):
                plain = json.loads(chunk.model_dump_json(exclude_none=True))
                self._recorder.record_litellm_chunk(plain)
                delta = delta_of(chunk)
                self._progress(count, delta.text or delta.reasoning)
                if not self._keep_on():
                    if self._cancel.is_set():  # before the watching thread has noticed
                        self._end("cancelled", "the user stopped the run")
                    _close(stream)
                    break
        except KeyboardInterrupt:
            self._end("cancelled", "the user stopped the run")
        except Exception as error:  # providers fail in many ways; all are recorded
            if self._tap.size > _SHOWN_BYTES:
                return None  # LiteLLM's error comes from the shortened answer that it got
            if ends_without_reason(error):
                return None  # no error of the provider: the finding `no-end` will report this
            status = getattr(error, "status_code", None)
            message = connection_problem(error, begun=self._tap.size > 0) or str(error)
            problem = {"type": type(error).__name__, "message": message[:_LONGEST_ERROR]}
            return {**problem, **({"status": status} if status else {})}
        return None

    @contextmanager
    def _watching_clock(self) -> Iterator[None]:
        over = threading.Event()
        thread = threading.Thread(target=self._watch, args=(over,), daemon=True, name="recorder")
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _watch(self, over: threading.Event) -> None:
        while not over.wait(_TICK):
            try:
                self._recorder.tick()
            except PlaygroundError as error:
                self._tap.fault = error
                self._tap.hang_up()
            limits = self._limits
            if self._cancel.is_set():
                self._end("cancelled", "the user stopped the run")
            elif time.monotonic() > self._deadline:
                self._end("timeout", f"the answer took more than {limits.seconds:g} seconds")
            elif not limits.alive():
                self._end("cut", _CLOSED)

    def _end(self, kind: str, message: str) -> None:
        """End the request, with a reason. Only the first reason counts."""
        if self._ended_by is None:
            self._ended_by = {"type": kind, "message": message}
        self._tap.hang_up()


def _close(stream: Any) -> None:
    """Close a stream, so that the provider stops and bills no more."""
    inner = getattr(stream, "completion_stream", None)
    close = getattr(inner, "close", None) or getattr(stream, "close", None)
    if callable(close):
        close()
