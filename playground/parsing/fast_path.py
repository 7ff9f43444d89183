"""The fast path: most chunks become one event each, and no generator is resumed for them.

The idea

The walk (engine.py and what it calls) is made of generators. To resume one takes some ten times as
long as to look for a character in a chunk of four. Yet in most chunks nothing happens: they are the
middle of a sentence, or of a long argument. So before the walk yields, it may leave a note with the
scanner: "I have claimed everything, and I wait for this pattern. Until it appears, claim chunks for
me, as events of this kind." The note is a `SkipRule` (skip_rule.py), and `Scanner.allow_skip` takes
it. A walk that leaves none is only slower.

What happens to a chunk

`TextReader.feed` and `feed_text` ask in this order:

1.  Is text held, or does the walk want to see every chunk? If neither, and none of the rule's three
    `triggers` is in the chunk, the chunk is *skipped*: it becomes one event. Most prose ends here.
2.  Does `rule.search` find anything in it? If not, it is skipped too.
3.  There is a *candidate*, such as a `<`. `_feed_candidate` lets `rule.hold_from` look at it, as
    the walk would. If it is not a marker, the chunk is skipped. If a marker begins there, the
    text from there on is *held*: it is not in any event yet, and is put before the next chunk.
4.  If a marker is complete, the walk is resumed with all the text that nobody has claimed.

Held text is looked at again with each chunk (`_feed_after_held`), but only at its own place
(`rule.decide`): nothing is searched for twice.

There is a second kind of note, `Scanner.pending`: the walk is at a place and has to know what comes
*there* before it can go on, for example whether another call follows. Then nothing is skipped. Each
chunk is held and the question asked again (`_feed_pending`); the walk is resumed with the answer.

What must stay true

The fast path gives exactly the events that the walk would give, at the same chunk:
`SyntaxParser(..., fast_path=False)` is the oracle, and tests/test_quiet.py compares the two. So

-   a rule's `search` looks at one chunk alone, and may find too much, never too little;
-   the memory of chunks (`_hold_by_chunk`) is cleared when the rule or its `accept` changes,
    because the same text may be a marker under another rule;
-   only the walk handles characters cut between chunks, bad bytes, and a prefill that is not over
    (`TextReader._walk`).

The numbers (benchmarks/parsing.py, chunks of 4 characters): about 2,000,000 chunks a second here,
and some 400,000 in the walk.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from playground.nouns.events import Event
from playground.parsing.marker import Marker
from playground.parsing.patterns import CONTEXT
from playground.parsing.scanner import Scanner
from playground.parsing.skip_rule import NEVER, Accept, Decide, GoesOn, NextRule, SkipRule

# A model has a vocabulary: most chunks with a candidate have come before. At most `_MOST_CHUNKS`
# are remembered, each of at most `_SHORT` characters: less than 200 kB.
_MOST_CHUNKS: Final = 1024
_SHORT: Final = 16

# Feeds a chunk after held text, or while the walk waits for a decision.
FeedHeld = Callable[["FastPath", str], list[Event]]


class FastPath:
    """A base class of readers that skip chunks: the rule in force, and the text that is held.

    The `_feed` methods return the events of a chunk. They resume the walk if it must see the chunk.
    An object of its own, in place of a base class, would cost each chunk one more call and one more
    offset to count: a twentieth of the chunk's time.
    """

    __slots__ = (
        "_accept",
        "_triggers",
        "_context",
        "_decide",
        "_decision",
        "_feed_held",
        "_goes_on",
        "_held",
        "_hold_by_chunk",
        "_make",
        "_next_rule",
        "_offset",
        "_remembered_accept",
        "_rule",
        "_scanner",
        "_search",
        "_sink",
        "_start",
    )

    _rule: SkipRule
    _search: Callable[[str], re.Match[str] | None]  # `_rule.search`
    _hold_by_chunk: dict[str, int]  # chunk -> the index from which it is held

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._offset = 0  # characters fed so far
        # `_feed_pending` or `_feed_after_held`; None while the walk reads
        self._feed_held: FeedHeld | None = None
        self._start = 0  # the offset at which skipping began
        self._held = ""  # the end of the text so far, which may begin a marker
        self._context = ""  # the text before `_held`, as far as a pattern may look back
        # the rule's triggers; None if text is held, the walk reads, or a line may be a marker
        self._triggers: tuple[str, str, str] | None = None
        self._make = scanner.skip_claim.make  # makes the events of skipped chunks
        self._sink = scanner.skip_claim.raw_sink()  # takes the chunks' bytes, for look-behinds
        self._use_rule(NEVER)
        self._next_rule: NextRule | None = None
        self._goes_on: GoesOn | None = None  # set while the held text is a long run
        self._accept: Accept | None = None
        self._remembered_accept: Accept | None = None  # the one that filled `_hold_by_chunk`
        self._decide: Decide | None = None  # set while the walk waits for a decision, see `pending`
        self._decision: Marker | None = None  # the marker that was decided, for the walk

    def _walk(self, text: str) -> list[Event]:
        """Resume the walk with a chunk."""
        raise NotImplementedError

    # starting and stopping

    def _take_over(self, scanner: Scanner) -> None:
        """Skip chunks from now on, by the rule that the walk has left with the scanner."""
        at = scanner.at
        self._scanner = scanner
        self._start, self._held = self._offset, scanner.text[at:]
        self._context = scanner.text[at - CONTEXT if at > CONTEXT else 0 : at]
        self._accept = scanner.accept
        if scanner.pending is not None:
            self._decide, self._feed_held = scanner.pending, FastPath._feed_pending
        elif scanner.skip_rule is not None:
            self._start_skipping(scanner.skip_rule)

    def _start_skipping(self, rule: SkipRule) -> None:
        scanner, self._feed_held = self._scanner, FastPath._feed_after_held
        claim = scanner.skip_claim
        self._make, self._sink = claim.make, claim.raw_sink()
        if rule is not self._rule or scanner.accept is not self._remembered_accept:
            self._remembered_accept = scanner.accept
            self._use_rule(rule)
        self._next_rule, self._goes_on = scanner.next_rule, None
        begins_line = rule.any_line and self._context[-1:] in ("", "\n")
        self._triggers = None if self._held or begins_line else rule.triggers

    def _use_rule(self, rule: SkipRule) -> None:
        self._rule, self._search, self._hold_by_chunk = rule, rule.search, {}

    def _hand_back(self) -> None:
        """End skipping: give the walk's scanner the held text, the offset and the decision."""
        scanner = self._scanner
        if self._offset != self._start:
            if self._decide is not None:
                scanner.set_held(self._held)
            else:
                scanner.resume_at(self._offset, self._held)
        scanner.decision, self._decision = self._decision, None
        self._feed_held, self._triggers, self._decide = None, None, None

    # chunks that cannot be skipped at first sight

    def _feed_pending(self, text: str) -> list[Event]:
        """Hold a chunk, unless it answers the question for which the walk waits."""
        held, context, decide = self._held + text, self._context, self._decide
        assert decide is not None
        marker, is_undecided = decide(context + held, len(context), self._accept)
        if is_undecided:
            self._held = held
            self._offset += len(text)
            return []
        rule = self._scanner.skip_rule
        if marker is not None or rule is None:
            self._decision = marker
            return self._walk(text)
        # no marker: the walk would now search for its next marker, which its rule can do instead
        self._decide = None
        self._start_skipping(rule)
        return self._feed_after_held(text)

    def _feed_after_held(self, text: str) -> list[Event]:
        """Feed a chunk that goes on with held text, or begins a line that may be a marker."""
        held, rule = self._held + text, self._rule
        if rule.any_line:
            if self._goes_on is None or not self._goes_on(held):
                return self._feed_candidate(held, 0)
        else:
            match = rule.search(held)
            if match is None:
                return self._skip_to(held, len(held))
            if match.start() or rule.decide is None or not self._held:
                return self._feed_candidate(held, match.start())
            context = self._context
            marker, is_undecided = rule.decide(context + held, len(context), self._accept)
            if not is_undecided:
                if marker is None:
                    return self._feed_candidate(held, 0)
                self._decision = marker
                return self._walk(text)
        self._held = held
        self._offset += len(text)
        return []

    def _feed_candidate(self, text: str, place: int) -> list[Event]:
        """Feed `text`, the held text and a chunk together. A marker may begin in it, at `place`."""
        rule, context = self._rule, ""
        find_next = self._next_rule
        if find_next is not None and (next_rule := find_next(text)) is not None:
            if next_rule is not rule:
                self._use_rule(next_rule)
            return self._skip_to(text, len(text))
        # right after a letter or digit, a look-behind sees only that character
        needs_no_context = not rule.looks_back or (place > 0 and text[place - 1].isalnum())
        if needs_no_context:
            stop = self._hold_by_chunk.get(text)
            if stop is not None:
                self._goes_on = None
                return self._skip_to(text, stop)
            window, start = (text[place - 1 :], 1) if place else (text, 0)
        else:
            context = self._context if self._held else self._scanner.skip_claim.lookbehind()
            window, start = context + text, len(context)
        stop = rule.hold_from(window, start, self._accept) if rule.hold_from is not None else None
        if stop is None:
            return self._walk(text[len(self._held) :])
        self._goes_on = rule.run_at(window, stop) if rule.run_at else None
        stop += len(text) - len(window)
        if needs_no_context and len(text) <= _SHORT and len(self._hold_by_chunk) < _MOST_CHUNKS:
            self._hold_by_chunk[text] = stop
        return self._skip_to(text, stop, context)

    def _skip_to(self, text: str, stop: int, context: str = "") -> list[Event]:
        """Skip `text`, the held text and a chunk together, up to `stop`; hold the rest."""
        start = self._offset - len(self._held)
        self._offset = start + len(text)
        if stop < len(text):
            self._held, self._triggers = text[stop:], None
            self._context = (context + text[:stop])[-CONTEXT:]
            if not stop:
                return []
            text = text[:stop]
        else:
            self._held = ""
            rule = self._rule
            self._triggers = None if rule.any_line and text[-1] == "\n" else rule.triggers
        sink, make = self._sink, self._make
        sink(text.encode())
        return [make(start, text)]
