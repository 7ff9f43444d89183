"""The watching process: it gets a copy of all traffic, records it and predicts the cache.

It always ends when the forwarding process ends, and records open exchanges as cut off.
"""

from __future__ import annotations

import marshal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from typing import IO, Any, Final

from playground.base.confined.frames import read_frame, write_frame
from playground.base.errors import InputFault
from playground.base.wording import dollars
from playground.cache.prices import price_of
from playground.plugins.proxy.cache_forecast import CacheForecast, Expected, Underway
from playground.plugins.proxy.exchange import Opened, WatchedExchange
from playground.plugins.proxy.ledger import FILE, FORMAT, ledger_line
from playground.plugins.proxy.storage import store_run
from playground.plugins.proxy.watched_run import WatchedRun, read_run
from playground.recordings.append_only_file import AppendOnlyFile, create_numbered
from playground.recordings.environment import environment_secrets
from playground.recordings.scrubbing import Searcher, Tally, searcher
from playground.recordings.value_scrubbing import BodyScrubber, scrubbed_with
from playground.sessions.last_resort import UNEXPECTED_OR_TOO_DEEP
from playground.sessions.workspaces import on_disk

_TICK_SECONDS: Final = 0.2
_MOST_WAITING: Final = 8  # batches that are read and not yet handled
_CUT: Final = {"type": "cut", "message": "the proxy was stopped before the end"}
LineHandler = Callable[[dict[str, Any]], None]


class RunWatcher:
    """The exchanges of a run that are under way. `say` is called with the ledger's lines, verdicts
    on requests that wait, faults, and at the end with the starred-out secrets and stored names."""

    def __init__(self, run: WatchedRun, say: LineHandler) -> None:
        self._folder, self._block, self._say = Path(run.folder), run.block, say
        self._tally = Tally()
        self._secrets, self._emails = (*environment_secrets(), *run.secrets), run.emails
        self._search = searcher(self._secrets, run.emails)
        self._cleaner = BodyScrubber(self._search)
        self._forecast = CacheForecast()
        self._open: dict[int, WatchedExchange] = {}
        self._underway: dict[int, Underway] = {}
        # with a number, because a watching process that was restarted writes a new file
        self._ledger: AppendOnlyFile | None = create_numbered(self._folder / FILE)
        self._note({"format": FORMAT, "at": time.time(), "upstream": run.upstream}, self._search)

    def handle(self, event: tuple[Any, ...]) -> None:
        """Handle one event of the forwarding process.

        An exception ends only the recording of the event's exchange.
        """
        try:
            self._dispatch(event)
        except Exception as bug:
            self._give_up(event[1], bug)

    def _dispatch(self, event: tuple[Any, ...]) -> None:
        kind, number, *arguments = event
        if kind == "open":
            opened = Opened(number, *arguments)
            search = searcher((*self._secrets, *opened.secrets), self._emails)
            opened = opened.clean(search)
            self._open[number] = WatchedExchange(opened, self._folder, self._cleaner, search)
            return
        exchange = self._open.get(number)
        if exchange is None:  # the exchange began before this process did
            return
        match kind:
            case "sent":
                exchange.add_request_piece(*arguments)
            case "asked":
                self._request_complete(number, exchange, *arguments)
            case "piece":
                self._piece(number, exchange, *arguments)
            case "status":
                exchange.begin_answer(*arguments)
            case "tick":
                exchange.tick()
            case "end":
                self._end(number, exchange, *arguments)

    def tick(self) -> None:
        """Write data to disk if it has waited long enough. Call this several times a second."""
        for number in list(self._open):
            self.handle(("tick", number))
        if self._ledger is not None:
            self._ledger.keep()

    def finish(self) -> None:
        """End all open exchanges, close the ledger and store the sessions in the workspace."""
        for number in list(self._open):
            self.handle(("end", number, 0.0, _CUT))
        self._say({"starred": self._tally.counts})
        if self._ledger is not None:
            self._ledger.close()
            for name in store_run(on_disk(), self._folder):
                self._say({"kept": name})

    def _give_up(self, number: int, bug: Exception) -> None:
        """End an exchange's recording after a bug. The message of the bug is not reported, because
        it may quote secrets.
        """
        self._say({"verdict": number, "blocked": ""})  # the forwarding process may wait for it
        exchange = self._open.pop(number, None)
        self._underway.pop(number, None)
        fault = f"this exchange is not recorded to its end ({type(bug).__name__}: a bug of ours)"
        if exchange is not None:
            with suppress(Exception):
                exchange.end({"type": type(bug).__name__, "message": fault})
            self._note({**_ledger_entry(exchange), "fault": fault}, exchange.search)

    def _request_complete(self, number: int, exchange: WatchedExchange, waits: bool) -> None:
        """Record and predict a request; if the forwarding process `waits`, send it the verdict."""
        exchange.end_request()
        underway = self._predict(exchange)
        expected = underway.expected if underway else None
        blocked = _reason(expected) if self._block and expected else ""
        line = _ledger_entry(exchange)
        if expected is not None:
            forecast = expected.as_json()
            exchange.add_note(expected=forecast)
            line |= {"session": expected.session, "title": expected.title, "expected": forecast}
        if blocked and waits:
            line["blocked"] = blocked
        if waits:  # before the ledger is written, because the forwarding process waits
            self._say({"verdict": number, "blocked": blocked})
        if underway is not None and not (blocked and waits):
            self._forecast.record_sent(underway)
            self._underway[number] = underway
        self._note(line, exchange.search)

    def _predict(self, exchange: WatchedExchange) -> Underway | None:
        if exchange.request is None or not exchange.opened.asks:
            return None
        try:
            return self._forecast.forecast(exchange.opened, exchange.request)
        except UNEXPECTED_OR_TOO_DEEP as error:
            reason = f"not a request of a known shape ({type(error).__name__}: {error})"[:200]
            exchange.add_note(not_foretold=reason)
            return None

    def _piece(self, number: int, exchange: WatchedExchange, at: float, data: bytes) -> None:
        underway = self._underway.get(number)
        if underway is not None and exchange.first is None and exchange.status < 300:
            self._forecast.record_answer(underway, exchange.opened.at + at)
        exchange.add_answer_piece(at, data)

    def _end(
        self, number: int, exchange: WatchedExchange, at: float, error: dict[str, Any] | None
    ) -> None:
        del self._open[number]
        exchange.end(error)
        self._tally.take(exchange.tally)
        underway = self._underway.pop(number, None)
        billed, disagrees = None, ""
        if underway is not None:
            billed = self._forecast.end_request(underway, exchange.status, exchange.usage)
            diagnosis = exchange.diagnosis
            disagrees = self._forecast.disagreement(underway, billed, diagnosis) if billed else ""
        line = {
            **({} if exchange.was_asked else _ledger_entry(exchange)),
            "exchange": number,
            "status": exchange.status or None,
            "first": exchange.first,
            "seconds": round(at, 6),
            "billed": billed.as_json() if billed else None,
            "told_by_provider": str(exchange.diagnosis) if exchange.diagnosis else None,
            "disagrees": disagrees,
            "error": error,
            "fault": exchange.fault,
        }
        line = {key: value for key, value in line.items() if value not in (None, "")}
        self._note(line, exchange.search)

    def _note(self, line: dict[str, Any], search: Searcher) -> None:
        """Write a line without secrets to the ledger, and pass it to `say`."""
        line = scrubbed_with(search, line, self._tally)
        if self._ledger is not None:
            try:
                self._ledger.add(ledger_line(line))
                self._ledger.keep()
            except InputFault as fault:
                self._ledger = None
                self._say({"fault": str(fault)})
        self._say(line)


def _ledger_entry(exchange: WatchedExchange) -> dict[str, Any]:
    opened = exchange.opened
    return {
        "exchange": opened.number,
        "at": opened.at,
        "agent": opened.agent,
        "url": opened.url,
        "file": exchange.path.name if exchange.path else "",
    }


def _reason(expected: Expected) -> str:
    """Return the reason to block a request, or "" if it does not break the cache."""
    if not expected.breaks:
        return ""
    where = f" at {expected.place}" if expected.place else ""
    price = "" if expected.lost_nano is None else f", about {dollars(expected.lost_nano / 1e9)}"
    what = f"it breaks the cache{where}: {expected.cause}"
    detail = next((f.message for f in expected.findings if f.code == expected.cause), "")
    lost = f"{expected.lost:,} cached tokens would not be read{price}"
    return f"{what}; {lost}" + (f"; {detail}" if detail else "")


def watch() -> None:
    """Handle events from standard input until it ends, and write lines to standard output."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    run_bytes = read_frame(source)
    if run_bytes is None:
        return
    price_of("")  # loads the price list now, which takes a moment
    watcher = RunWatcher(read_run(run_bytes), lambda line: _send_line(sink, line))
    waiting: Queue[bytes | None] = Queue(_MOST_WAITING)
    threading.Thread(target=_read, args=(source, waiting), daemon=True).start()
    ticked = time.monotonic()
    while True:
        try:
            batch = waiting.get(timeout=_TICK_SECONDS)
        except Empty:
            batch = b""
        if batch is None:
            break
        for event in marshal.loads(batch) if batch else ():
            watcher.handle(event)
        if time.monotonic() - ticked > _TICK_SECONDS:
            watcher.tick()
            ticked = time.monotonic()
    watcher.finish()


def _read(source: IO[bytes], waiting: Queue[bytes | None]) -> None:
    while True:
        batch = read_frame(source)
        waiting.put(batch)
        if batch is None:
            return


def _send_line(sink: IO[bytes], line: dict[str, Any]) -> None:
    with suppress(OSError):  # the forwarding process is gone; the ledger has the line
        write_frame(sink, ledger_line(line).encode("utf-8", "surrogatepass"))


def _watch_and_report() -> None:
    """Watch, and report a bug only by its type, because its message may quote traffic."""
    try:
        watch()
    except Exception as bug:
        fault = f"the process that records fails ({type(bug).__name__}: a bug of ours)"
        _send_line(sys.stdout.buffer, {"fault": fault})
        sys.exit(1)


if __name__ == "__main__":
    _watch_and_report()
