"""The watching process: told of every piece that passes, it records, predicts, notes and says.

It ends when the forwarding process does, by whatever means: what is open then is ended as cut.
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
from playground.plugins.proxy.ledger import FILE, FORMAT, dumped
from playground.plugins.proxy.storage import keep_all
from playground.plugins.proxy.watched_run import WatchedRun, unpacked
from playground.recordings.environment import environment_secrets
from playground.recordings.growing import GrowingFile, numbered
from playground.recordings.scrubbing import Searcher, Tally, searcher
from playground.recordings.value_scrubbing import BodyScrubber, scrubbed_with
from playground.sessions.last_resort import UNEXPECTED_OR_TOO_DEEP
from playground.sessions.workspaces import on_disk

_TICK: Final = 0.2  # seconds
_WAITING: Final = 8  # batches that were read and are not looked at yet
_LOST: Final = {"type": "cut", "message": "the proxy was stopped before the end"}
Said = Callable[[dict[str, Any]], None]


class RunWatcher:
    """All that is under way. `say` gets a line of the ledger each, for the terminal."""

    def __init__(self, run: WatchedRun, say: Said) -> None:
        self._folder, self._block, self._say = Path(run.folder), run.block, say
        self._tally = Tally()
        self._secrets, self._emails = (*environment_secrets(), *run.secrets), run.emails
        self._search = searcher(self._secrets, run.emails)
        self._cleaner = BodyScrubber(self._search)
        self._sight = CacheForecast()
        self._open: dict[int, WatchedExchange] = {}
        self._underway: dict[int, Underway] = {}
        self._ledger: GrowingFile | None = numbered(self._folder / FILE)  # another may have died
        self._note({"format": FORMAT, "at": time.time(), "upstream": run.upstream}, self._search)

    def told(self, event: tuple[Any, ...]) -> None:
        """Take one event of the forwarding process. A bug that it meets ends the recording of its
        exchange, and of no other."""
        try:
            self._take(event)
        except Exception as bug:
            self._give_up(event[1], bug)

    def _take(self, event: tuple[Any, ...]) -> None:
        kind, number, *given = event
        if kind == "open":
            opened = Opened(number, *given)
            search = searcher((*self._secrets, *opened.secrets), self._emails)
            opened = opened.clean(search)
            self._open[number] = WatchedExchange(opened, self._folder, self._cleaner, search)
            return
        exchange = self._open.get(number)
        if exchange is None:  # it began before this process did
            return
        match kind:
            case "sent":
                exchange.sent(*given)
            case "asked":
                self._request_complete(number, exchange, *given)
            case "piece":
                self._piece(number, exchange, *given)
            case "status":
                exchange.answered(*given)
            case "tick":
                exchange.tick()
            case "end":
                self._end(number, exchange, *given)

    def tick(self) -> None:
        """Several times a second."""
        for number in list(self._open):
            self.told(("tick", number))
        if self._ledger is not None:
            self._ledger.keep()

    def finish(self) -> None:
        """The forwarding process is gone."""
        for number in list(self._open):
            self.told(("end", number, 0.0, _LOST))
        self._say({"starred": self._tally.counts})
        if self._ledger is not None:
            self._ledger.close()
            for kept in keep_all(on_disk(), self._folder):
                self._say({"kept": kept})

    def _give_up(self, number: int, bug: Exception) -> None:
        """Forget an exchange whose recording failed, and say so; its words may quote anything."""
        self._say({"verdict": number, "blocked": ""})  # nobody waits for it any longer
        exchange = self._open.pop(number, None)
        self._underway.pop(number, None)
        told = f"this exchange is not recorded to its end ({type(bug).__name__}: a bug of ours)"
        if exchange is not None:
            with suppress(Exception):
                exchange.end({"type": type(bug).__name__, "message": told})
            self._note({**_ledger_entry(exchange), "fault": told}, exchange.search)

    def _request_complete(self, number: int, exchange: WatchedExchange, waits: bool) -> None:
        exchange.asked()
        underway = self._predicted(exchange)
        expected = underway.expected if underway else None
        blocked = _reason(expected) if self._block and expected else ""
        line = _ledger_entry(exchange)
        if expected is not None:
            known = expected.as_json()
            exchange.noted(expected=known)
            line |= {"session": expected.session, "title": expected.title, "expected": known}
        if blocked and waits:
            line["blocked"] = blocked
        if waits:  # first, since somebody waits
            self._say({"verdict": number, "blocked": blocked})
        if underway is not None and not (blocked and waits):
            self._sight.sent(underway)
            self._underway[number] = underway
        self._note(line, exchange.search)

    def _predicted(self, exchange: WatchedExchange) -> Underway | None:
        if exchange.request is None or not exchange.opened.asks:
            return None
        try:
            return self._sight.request(exchange.opened, exchange.request)
        except UNEXPECTED_OR_TOO_DEEP as error:
            told = f"no request of a known shape ({type(error).__name__}: {error})"[:200]
            exchange.noted(not_foretold=told)
            return None

    def _piece(self, number: int, exchange: WatchedExchange, at: float, data: bytes) -> None:
        underway = self._underway.get(number)
        if underway is not None and exchange.first is None and exchange.status < 300:
            self._sight.answered(underway, exchange.opened.at + at)
        exchange.piece(at, data)

    def _end(
        self, number: int, exchange: WatchedExchange, at: float, error: dict[str, Any] | None
    ) -> None:
        del self._open[number]
        exchange.end(error)
        self._tally.take(exchange.tally)
        underway = self._underway.pop(number, None)
        billed = None
        if underway is not None:
            billed = self._sight.over(underway, exchange.status, exchange.usage)
        line = {
            **({} if exchange.was_asked else _ledger_entry(exchange)),
            "exchange": number,
            "status": exchange.status or None,
            "first": exchange.first,
            "seconds": round(at, 6),
            "billed": billed.as_json() if billed else None,
            "error": error,
            "fault": exchange.fault,
        }
        line = {key: value for key, value in line.items() if value not in (None, "")}
        self._note(line, exchange.search)

    def _note(self, line: dict[str, Any], search: Searcher) -> None:
        """Write a line into the ledger and say it, clean of secrets."""
        line = scrubbed_with(search, line, self._tally)
        if self._ledger is not None:
            try:
                self._ledger.add(dumped(line))
                self._ledger.keep()
            except InputFault as fault:
                self._ledger = None
                self._say({"fault": str(fault)})
        self._say(line)


def _ledger_entry(exchange: WatchedExchange) -> dict[str, Any]:
    """Return what the ledger tells of every exchange."""
    opened = exchange.opened
    return {
        "exchange": opened.number,
        "at": opened.at,
        "agent": opened.agent,
        "url": opened.url,
        "file": exchange.path.name if exchange.path else "",
    }


def _reason(expected: Expected) -> str:
    """Why a request is not to be forwarded; "" where nothing speaks against it."""
    if not expected.breaks:
        return ""
    where = f" at {expected.place}" if expected.place else ""
    price = "" if expected.lost_nano is None else f", about {dollars(expected.lost_nano / 1e9)}"
    what = f"it breaks the cache{where}: {expected.cause}"
    told = next((f.message for f in expected.findings if f.code == expected.cause), "")
    lost = f"{expected.lost:,} cached tokens would not be read{price}"
    return f"{what}; {lost}" + (f"; {told}" if told else "")


def watch() -> None:
    """Watch until standard input ends; what is said goes to standard output, in frames."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    about = read_frame(source)
    if about is None:
        return
    price_of("")  # the price list takes a moment to be read
    watcher = RunWatcher(unpacked(about), lambda line: _send_line(sink, line))
    waiting: Queue[bytes | None] = Queue(_WAITING)
    threading.Thread(target=_read, args=(source, waiting), daemon=True).start()
    ticked = time.monotonic()
    while True:
        try:
            batch = waiting.get(timeout=_TICK)
        except Empty:
            batch = b""
        if batch is None:
            break
        for event in marshal.loads(batch) if batch else ():
            watcher.told(event)
        if time.monotonic() - ticked > _TICK:
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
    with suppress(OSError):  # nobody listens any more: the ledger has it
        write_frame(sink, dumped(line).encode("utf-8", "surrogatepass"))


def _watch_and_tell() -> None:
    """Watch; of a bug its kind is told, since its words may quote what passed."""
    try:
        watch()
    except Exception as bug:
        told = f"the process that records fails ({type(bug).__name__}: a bug of ours)"
        _send_line(sys.stdout.buffer, {"fault": told})
        sys.exit(1)


if __name__ == "__main__":
    _watch_and_tell()
