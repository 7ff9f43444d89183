"""The text of a reply, chunk by chunk: a chunk passes by, is held, or is walked by the engine.

Where the walk rests (quiet.py) a chunk in which nothing can begin becomes one event. What is held
is looked at again with each chunk, and so is whatever the walk has to know before it goes on; it is
resumed when that is told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from playground.events import Event, TextEvent
from playground.parsing.declaration import Declaration, Markers
from playground.parsing.decoding import Utf8Decoder, bad_places, replaced
from playground.parsing.engine import SyntaxEngine
from playground.parsing.marker import Marker
from playground.parsing.patterns import CONTEXT
from playground.parsing.placing import behind_prefill, marked
from playground.parsing.quiet import NEVER, Accept, Judge, Quiet, Run, Turn
from playground.parsing.scanner import Scanner
from playground.parsing.switches import Switches
from playground.tools import ToolMetadata

# so many chunks that were looked at are remembered, of so few characters: less than 200 kB
_MOST: Final = 1024
_SHORT: Final = 16


class TextReader:
    """Reads text by one engine after another: what else comes between ends a stretch of text.

    `quiet` False walks every chunk, also those that nothing can begin in: the same events, slower.
    """

    def __init__(
        self,
        syntax: Declaration,
        markers: Markers,
        switches: Switches,
        tools: Sequence[ToolMetadata],
        quiet: bool,
    ) -> None:
        self._declared = (syntax, markers, switches, tools)
        self._engine = SyntaxEngine(*self._declared)
        self._decoder = Utf8Decoder()
        self._offset = 0
        self._in_text = True
        self._calls = 0  # before what is read now
        self._bad: deque[tuple[int, str]] = deque()  # characters that came in as no UTF-8
        self._prefilled = False
        self._may_be_quiet = quiet
        self._rests = False  # whether the walk does, so that chunks pass by
        self._awaited: Judge | None = (
            None  # what is looked for in what is held, and nothing else is
        )
        self._still = False  # whether it rests with nothing held, and no line that may be a marker
        self._rested = 0  # since which offset
        self._quiet: Quiet = NEVER
        self._wakes, (self._sign, self._other, self._third) = NEVER.wakes, NEVER.signs
        self._stops: dict[str, int] = {}  # from where on chunks are held that were looked at
        self._accept: Accept | None = None  # what may refuse a marker
        self._accepted: Accept | None = None  # the same, where those chunks were looked at
        self._turn: Turn | None = None
        self._run: Run | None = None  # what is held, as long as it goes on
        self._held = ""  # the end of what was read, which may begin a marker
        self._context = ""  # what stands before that, as far as a look back goes
        self._claim = self._engine.scanner.resting
        self._make: Callable[[int, str], Event] = TextEvent
        self._pass: Callable[[bytes], object] = self._claim.passing()

    def feed(self, data: bytes) -> list[Event]:
        try:
            text = data.decode()
        except UnicodeDecodeError:  # a character is cut, or it is none
            return self._read(self._decoder.decode(data), "invalid-utf8")
        if self._still and text:
            # looks for three characters before a search: most chunks are prose
            if self._sign in text or self._other in text or self._third in text:
                found = self._wakes(text)
                if found is not None:
                    return self._halted(text, found.start())
            start = self._offset
            self._offset = start + len(text)
            self._pass(data)
            return [self._make(start, text)]
        if self._awaited is not None:
            return self._held_on(text)
        if self._rests and text:
            return self._stirred(text)
        if self._decoder.holds:
            return self._read(self._decoder.decode(data), "invalid-utf8")
        return self._walked(text)

    # where the walk rests

    def _held_on(self, text: str) -> list[Event]:
        """A chunk that is held, unless it decides on what has to be told before anything else."""
        unsaid, before = self._held + text, self._context
        assert self._awaited is not None
        told, undecided = self._awaited(before + unsaid, len(before), self._accept)
        if undecided:
            self._offset += len(text)
            self._held = unsaid
            return []
        quiet = self._engine.scanner.quiet
        if told is not None or quiet is None:
            return self._walked(text, told)
        self._awaited = None
        self._pass_by(quiet)
        return self._stirred(text)

    def _stirred(self, text: str) -> list[Event]:
        """A chunk that goes on with what is held, or begins a line that may be a marker."""
        unsaid, quiet = self._held + text, self._quiet
        if quiet.takes_lines:
            if self._run is None or not self._run(unsaid):
                return self._halted(unsaid, 0)
        else:
            found = self._wakes(unsaid)
            if found is None:
                return self._go_on(unsaid, len(unsaid))
            if found.start() or quiet.judge is None or not self._held:
                return self._halted(unsaid, found.start())
            before = self._context
            told, undecided = quiet.judge(before + unsaid, len(before), self._accept)
            if not undecided:
                return self._halted(unsaid, 0) if told is None else self._walked(text, told)
        self._offset += len(text)
        self._held = unsaid
        return []

    def _halted(self, unsaid: str, place: int) -> list[Event]:
        """What is held and the chunk behind it, with what may be a marker at a place: it passes by
        as well where nothing comes of that, or where no more can be told yet."""
        quiet, before = self._quiet, ""
        # no look back goes farther than to a letter
        alone = not quiet.looks_back or (place > 0 and unsaid[place - 1].isalnum())
        if alone:
            # a model has a vocabulary: most of its tokens have come before
            known = self._stops.get(unsaid)
            if known is not None:
                self._run = None
                return self._go_on(unsaid, known)
            seen, begun = (unsaid[place - 1 :], 1) if place else (unsaid, 0)
        else:
            before = self._context if self._held else self._claim.before()
            seen, begun = before + unsaid, len(before)
        after = self._turn(unsaid) if self._turn is not None else None
        if after is not None:
            if after is not quiet:
                self._change(after)
            return self._go_on(unsaid, len(unsaid))
        stop = quiet.held(seen, begun, self._accept) if quiet.held is not None else None
        if stop is None:
            return self._walked(unsaid[len(self._held) :])
        self._run = quiet.run(seen, stop) if quiet.run else None
        stop += len(unsaid) - len(seen)
        if alone and len(unsaid) <= _SHORT and len(self._stops) < _MOST:
            self._stops[unsaid] = stop
        return self._go_on(unsaid, stop, before)

    def _go_on(self, unsaid: str, stop: int, before: str = "") -> list[Event]:
        """Up to a place all passes by, and what stands from there on is held."""
        start = self._offset - len(self._held)
        self._offset = start + len(unsaid)
        if stop < len(unsaid):
            self._held, self._still = unsaid[stop:], False
            self._context = (before + unsaid[:stop])[-CONTEXT:]
            if not stop:
                return []
            unsaid = unsaid[:stop]
        else:
            self._held, self._still = "", not (self._quiet.takes_lines and unsaid[-1] == "\n")
        self._pass(unsaid.encode())
        return [self._make(start, unsaid)]

    def _change(self, quiet: Quiet) -> None:
        """What passes by elsewhere may be a marker here, or may be refused here alone."""
        self._quiet, self._wakes, self._stops = quiet, quiet.wakes, {}
        self._sign, self._other, self._third = quiet.signs

    # where it does not

    def _read(self, text: str, code: str) -> list[Event]:
        """Text in which half surrogates stand for what is amiss: findings of this code."""
        if places := bad_places(text):
            self._bad.extend((self._offset + place, code) for place in places)
            text = replaced(text)
        return self._walked(text)

    def _walked(self, text: str, told: Marker | None = None) -> list[Event]:
        """The walk goes on with a text; `told` is what it tells of what was held."""
        if self._rests:
            self._wake()
        if not text:
            return []
        if not self._in_text:
            self._in_text = True
            self._engine = SyntaxEngine(*self._declared, offset=self._offset, calls=self._calls)
        self._offset += len(text)
        scanner = self._engine.scanner
        scanner.told = told
        events = self._engine.feed(text)
        if self._bad or self._prefilled:
            events = self._placed(events)
        if scanner.awaited is not None or scanner.quiet is not None:
            self._rest(scanner)
        return events

    def _rest(self, scanner: Scanner) -> None:
        """Let chunks pass by from now on, or be held, up to one that concerns the walk."""
        quiet, at = scanner.quiet, scanner.at
        # what is held of a prefill belongs to no span
        if not self._may_be_quiet or self._decoder.holds or self._bad or scanner.base + at < 0:
            return
        self._rests, self._rested, self._held = True, self._offset, scanner.text[at:]
        self._context = scanner.text[at - CONTEXT if at > CONTEXT else 0 : at]
        self._accept = scanner.accept
        if scanner.awaited is not None:
            self._awaited = scanner.awaited
        elif quiet is not None:
            self._pass_by(quiet)

    def _pass_by(self, quiet: Quiet) -> None:
        """Let chunks pass by from now on, by what the walk says of them."""
        scanner = self._engine.scanner
        if quiet is not self._quiet or scanner.accept is not self._accepted:
            self._accepted = scanner.accept
            self._change(quiet)
        self._claim, self._turn, self._run = scanner.resting, scanner.turn, None
        self._make, self._pass = self._claim.make, self._claim.passing()
        line_begins = quiet.takes_lines and self._context[-1:] in ("", "\n")
        self._still = not (self._held or line_begins)

    def _wake(self) -> None:
        """The walk goes on, behind the chunks that have passed by."""
        if self._rests and self._offset != self._rested:
            if self._awaited is not None:
                self._engine.scanner.hold(self._held)
            else:
                self._engine.scanner.wake(self._offset, self._held)
        self._rests, self._awaited, self._still = False, None, False

    def _end_of_text(self) -> list[Event]:
        """What is held comes out, and a call that is open is aborted; more text begins anew."""
        if not self._in_text and not self._decoder.holds:
            return []
        events = self._read(self._decoder.decode(b"", final=True), "invalid-utf8")
        if self._in_text:
            events += self._placed(self._engine.finish())
            self._in_text, self._calls = False, self._engine.calls
        return events

    def _prefill(self, text: str) -> None:
        """What the template already wrote sets the state and belongs to no span."""
        self._prefilled = True
        self._engine = SyntaxEngine(*self._declared, offset=-len(text))
        self._engine.feed(text)

    def _placed(self, events: list[Event]) -> list[Event]:
        """Cut the prefill, and put the findings about single characters before those characters."""
        result: list[Event] = []
        for event in events:
            if event.span.start < 0:
                event = behind_prefill(event)
            bad: list[tuple[int, str]] = []
            while self._bad and self._bad[0][0] < event.span.stop:
                bad.append(self._bad.popleft())
            result += marked(event, bad) if bad else [event]
        return result
