"""The one engine that reads every declared dialect: bytes in, events out, no I/O and no clock.

It walks the same pieces that rendering.py fills. What the model wrote never raises: a call that
cannot be read ends in a finding and an aborted call.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from playground.events import Event
from playground.parsing.calls import CallReader
from playground.parsing.forms import Form
from playground.parsing.grammar import Grammar, compile_grammar
from playground.parsing.scanner import Match, Scanner, Steps, drain
from playground.parsing.state import ParserState
from playground.parsing.switches import Switches
from playground.parsing.syntax import Markers, Syntax
from playground.tools import ToolMetadata


class SyntaxEngine:
    """Reads one stretch of text. `calls` is the number of calls seen before it."""

    def __init__(
        self,
        syntax: Syntax,
        markers: Markers,
        switches: Switches,
        tools: Sequence[ToolMetadata],
        *,
        offset: int = 0,
        calls: int = 0,
    ) -> None:
        self.syntax, self.markers, self.switches = syntax, markers, switches
        by_name = {tool.name: tool for tool in tools}
        names = tuple(by_name) if syntax.known_names else ()
        self.grammar: Grammar = compile_grammar(syntax, markers, switches, names)
        self.scanner = Scanner(offset)
        tokens = (*markers.stops, *markers.dropped)
        self.reader = CallReader(self.scanner, by_name, calls, switches, tokens)
        self.mode = "text"
        self._section: Form | None = None  # the one that is open
        self._steps: Generator[None, None, None] | None = self._stream()

    def feed(self, text: str) -> list[Event]:
        self.scanner.add(text)
        return self._advance()

    def finish(self) -> list[Event]:
        self.scanner.ended = True
        return self._advance()

    @property
    def state(self) -> ParserState:
        call, held = self.reader.open_call, self.scanner.held
        if call is None:
            return ParserState(self.mode, held=held)
        return ParserState(self.mode, call.index, call.name, self.reader.argument, held)

    @property
    def calls(self) -> int:
        """Calls seen so far, those before this stretch of text included."""
        return self.reader.count

    def _advance(self) -> list[Event]:
        if self._steps is not None and drain(self._steps):
            self._steps = None
        events, self.scanner.events = self.scanner.events, []
        return events

    # the outermost walk: text, with whatever interrupts it

    def _stream(self) -> Steps[None]:
        scanner = self.scanner
        if self.grammar.opened and scanner.offset <= 0:
            opened = yield from scanner.match_here(self.grammar.opened)
            scanner.emit_markup(opened.end() - opened.start() if opened else 0)
            yield from self._reasoning(0, announced=opened is not None)
        while True:
            section = self._section
            wait = (section and section.section) or self.grammar.text
            inside = section is not None and _has_closer(section)
            match = yield from scanner.until(wait, self._emit_text, inside_call=inside)
            if match is None:
                break
            yield from self._interrupted(match, wait.kind(match))
        if self._section and _has_closer(self._section):
            scanner.note("unclosed-section")

    def _interrupted(self, match: Match, group: str) -> Steps[None]:
        kind, number = _numbered(group)
        length = match.end() - match.start()
        if kind == "call":
            yield from self._calls(match, self.grammar.forms[number])
        elif kind == "fence":
            yield from self._fence(match)
        elif kind == "think":
            self.scanner.emit_markup(length)
            yield from self._reasoning(number)
        elif kind == "plain":
            self.scanner.emit_markup(length)
            yield from self._plain(number)
        elif kind == "result":
            self.scanner.note("fabricated-result")
            self._emit_text(length)
        else:
            self._mark(kind, number, match)
            if kind == "section_close":
                yield from self._between(self.grammar.forms[number])

    def _emit_text(self, count: int) -> None:
        """Text is content; behind a call it may have to stand apart."""
        scanner = self.scanner
        if not count or not self.calls or self.switches.text_after_calls == "text":
            scanner.emit_text(count)
        else:
            scanner.emit_finding("text-after-call", count)

    def _mark(self, kind: str, number: int, match: Match) -> None:
        """A marker that is no more than that: it may open or close a section."""
        scanner = self.scanner
        marker = match[0]
        if kind == "dropped" and marker == self.markers.result:
            scanner.note("fabricated-result")
        if kind == "think_close" or (kind == "section_close" and self._section is None):
            scanner.note("orphan-closer")
        if kind == "section" and match.groupdict().get("doubled"):
            scanner.note("doubled-opener")
        if kind == "section":
            self._section = self.grammar.forms[number]
        elif kind in ("section_close", "stop"):
            self._section = None
        scanner.emit_markup(len(marker))

    def _fence(self, opened: Match) -> Steps[None]:
        """A code fence: all of it is text, and a call in it is an example, with a finding."""
        scanner, fence = self.scanner, opened["fence"]
        self.mode = "code fence"
        self._emit_text(len(fence))
        while True:
            match = yield from scanner.until(self.grammar.fenced, self._emit_text)
            if match is None:
                break
            if self.grammar.fenced.kind(match) != "fence":
                scanner.note("call-in-fence")
                self._emit_text(1)
                continue
            closes = match["fence"][0] == fence[0] and len(match["fence"]) >= len(fence)
            self._emit_text(len(match["fence"]))
            if closes:
                break
        self.mode = "text"

    def _plain(self, index: int) -> Steps[None]:
        """Text that nothing but its own closer or a stop token ends."""
        wait = self.grammar.plain[index]
        while True:
            match = yield from self.scanner.until(wait, self._emit_text)
            if match is None:
                return
            self.scanner.emit_markup(match.end() - match.start())
            if wait.kind(match) != "dropped":
                return

    def _reasoning(self, index: int, announced: bool = True) -> Steps[None]:
        """Reasoning up to its closer; one that nothing announced may be none at all."""
        start = self.scanner.offset
        scanner, tags, wait = self.scanner, self.markers.reasoning[index], self.grammar.reasoning
        self.mode = "reasoning"
        while True:
            match = yield from scanner.until(wait[index], scanner.emit_reasoning)
            kind = wait[index].kind(match) if match else ""
            if match is None or kind != "dropped":
                break
            scanner.emit_markup(match.end() - match.start())
        self.mode = "text"
        if kind == "close" and match:
            scanner.emit_markup(match.end() - match.start())
        elif tags.close and kind != "stop" and (announced or scanner.offset > start):
            scanner.note("call-in-reasoning" if match else "unclosed-reasoning")

    def _calls(self, match: Match, form: Form) -> Steps[None]:
        """One call, and what separates it from the next one, if one follows."""
        self.mode = "call"
        yield from self.reader.read(match, form, in_section=self._section is not None)
        self.mode = "text"
        another = yield from self._between(form)
        if self._section is form and not _has_closer(form) and not another:
            self._section = None  # a section without a closer ends with its last call

    def _between(self, form: Form) -> Steps[bool]:
        match = yield from self.scanner.match_here(form.separator)
        if match is not None:
            self.scanner.emit_markup(match.end() - match.start())
        return match is not None


def _has_closer(form: Form) -> bool:
    section = form.syntax.section_template
    return bool(section and section.after)


def _numbered(group: str) -> tuple[str, int]:
    """`section_close_2` → `section_close`, 2; a group without a number has 0."""
    kind, _, number = group.rpartition("_")
    return (kind, int(number)) if number.isdigit() else (group, 0)
