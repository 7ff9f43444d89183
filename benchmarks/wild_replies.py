"""Replies as models really write them: rendered calls, spoiled at random, read by every dialect.

Run: python benchmarks/wild_replies.py [DIALECT …] [--tries N] [--minutes N] [--seed N]
     [--spoil NAME] [--show N]
One reply of each spoiling in each dialect is a round; there are as many as the minutes allow.
It is not defined what a spoiled call should have been. Checked is that nothing is lost in silence:
nothing raises, spans tile, chunks and the fast path change nothing, every word of an argument is in
a call, in content, in reasoning or in what a finding names, and prose stays prose. Two tables, by
spoiling and by dialect, say what became of the calls that were meant:
  right    all of them are read, and nothing else (with findings where the form was mended)
  aborted  one that could not be read, or that was cut off: it has its extent and a finding
  told     content, and a finding says so
  silent   content, and no finding: a form that we should read, or have a finding about
  amiss    another call than was meant, with a finding about it
  other    other calls, of a spoiling that says something else (`spoils.changes`)
  WRONG    another call than was meant, and nothing is said
  LOST     one of the checks above failed
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from spoils import SPOILS, TOOLS, changes

from playground.dialects import DeclaredDialect, Dialect, dialect_names, get_dialect
from playground.dialects.reading import parse
from playground.nouns.events import (
    ArgumentEvent,
    CallEndedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    MarkupEvent,
    Span,
    merged,
)
from playground.nouns.messages import TextPart, ToolCallPart
from playground.parsing.parser import SyntaxParser
from playground.parsing.result import ParseResult, gather
from playground.servers.segments import segments

WORDS: Final = re.findall(r"\w+", "amber birch cedar delta ember fjord grove heron inlet knoll")
ODD: Final = ("a<b & c>d", "it's", 'say "hi"', "C:\\new", "line\nline", "x = {1: 2}", "//host/y")
PROSE: Final = (
    "First, let me look at it.",
    "It is so (I think), and x < 3.\n\nThen more.",
    "Done: all of it, as asked!",
)


@dataclass(frozen=True)
class Reply:
    """A spoiled reply, with the calls that were meant and the prose around them."""

    text: str
    calls: list[ToolCallPart]
    prose: list[str]


# one reply


def value_for(key: str, source: random.Random) -> Any:
    words = " ".join(source.sample(WORDS, k=source.randint(1, 3)))
    match key:
        case "mode" | "days":
            return source.randint(1000, 9999)
        case "force":
            return source.random() < 0.5
        case "tags":
            return source.sample(WORDS, k=2)
        case "meta" | "owner":
            return {"age": source.randint(1000, 9999), "word": words}
    return f"{words} {source.choice(ODD)}" if source.random() < 0.4 else words


def some_call(dialect: DeclaredDialect, source: random.Random) -> ToolCallPart:
    syntax = dialect.syntax
    if syntax.text_keys:
        words = {key: " ".join(source.sample(WORDS, k=3)) for key in syntax.text_keys}
        given = {
            k: v + "\n" if syntax.sample_texts[k].endswith("\n") else v for k, v in words.items()
        }
        return ToolCallPart("call_1", syntax.name or TOOLS[0].name, given)
    tool = source.choice(TOOLS)
    keys = source.sample(list(tool.parameters), k=source.randint(0, 3) and 2)
    return ToolCallPart("call_1", tool.name, {key: value_for(key, source) for key in keys})


def some_reply(dialect: DeclaredDialect, spoils: list[str], source: random.Random) -> Reply:
    several = source.choice([1, 1, 2]) if dialect.parallel else 1
    calls = [some_call(dialect, source) for _ in range(several)]
    between = source.random() < 0.3
    parts: list[Any] = []
    for call in calls:
        parts += [TextPart(source.choice(PROSE)), call] if between and parts else [call]
    text = dialect.format_reply(parts, TOOLS)
    for name in spoils:
        text = SPOILS[name](text, dialect, source)
    before, after = (source.choice(["", *PROSE]) for _ in range(2))
    if "cut" in spoils or (dialect.syntax.text_keys and not dialect.syntax.closers):
        after = ""  # the end is there; a text that nothing closes goes on to it
    if dialect.opens_reasoning:
        before = dialect.reasoning[0].close + before
    whole = f"{before}\n{text}\n{after}" if before or after else text
    return Reply(whole, calls, [p for p in (before, after) if p in PROSE])


# what is held


def parser(dialect: DeclaredDialect, fast_path: bool = True) -> SyntaxParser:
    return SyntaxParser(
        dialect.syntax, dialect.markers, dialect.switches, TOOLS, fast_path=fast_path
    )


def events_of(dialect: DeclaredDialect, pieces: list[bytes], fast_path: bool = True) -> list[Event]:
    reader = parser(dialect, fast_path)
    found = [event for piece in pieces for event in reader.feed(piece)]
    return [*found, *reader.finish()]


def faults(reply: Reply, dialect: DeclaredDialect, source: random.Random) -> Iterator[str]:
    """Return what is wrong with the reading of a reply."""
    data = reply.text.encode()
    try:
        whole = merged(events_of(dialect, [data]))
        size = source.choice([1, 2, 3, 7])
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        quick, slow = (events_of(dialect, pieces, fast_path) for fast_path in (True, False))
    except Exception as error:  # that nothing raises is what is looked for
        yield f"raises {type(error).__name__}"
        return
    if quick != slow:
        yield "fast path differs"
    if merged(quick) != whole:
        yield "chunks matter"
    yield from _losses(gather(whole, dialect.switches), reply)


def _losses(result: ParseResult, reply: Reply) -> Iterator[str]:
    if "".join(map(_text, result.events)) != reply.text:
        yield "characters lost"
    ended = [event for event in result.events if isinstance(event, CallEndedEvent)]
    given = {event.call_index: json.dumps(event.arguments) for event in ended}
    reach = call_spans(result.events)
    aborted = [reach[event.call_index] for event in result.aborted]
    told = " ".join(found.message for found in result.findings)
    for event in result.events:
        if any(start <= event.span.start < stop for start, stop in aborted):
            continue
        kept = given.get(event.call_index, "") if isinstance(event, ArgumentEvent) else ""
        if isinstance(event, MarkupEvent | ArgumentEvent):
            words = _own_words(event.text)
            if any(word not in kept and word not in told for word in words):
                yield f"{type(event).__name__.removesuffix('Event').lower()} thrown away"
    yield from _torn(result, reply, aborted)


def _torn(result: ParseResult, reply: Reply, aborted: list[Span]) -> Iterator[str]:
    """Yield a fault for each prose that is neither content in one piece nor part of an aborted
    call."""
    for text in reply.prose:
        places = [match.start() for match in re.finditer(re.escape(text), reply.text)]
        if text in result.content or any(a <= p < b for p in places for a, b in aborted):
            continue
        if "".join(text.split()) in "".join(result.content.split()):
            yield "blanks of prose lost"
        elif not any(text.strip() in _text(event) for event in result.events):
            yield "prose torn"


def _own_words(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z]+|\d{4}", text) if word in WORDS or word.isdigit()]


def _text(event: Event) -> str:
    return getattr(event, "text", "")


def outcome(result: ParseResult, reply: Reply, other: bool) -> str:
    """Return what became of the calls that were meant."""
    meant = [(call.tool_name, call.args) for call in reply.calls]
    ended = [event for event in result.events if isinstance(event, CallEndedEvent)]
    found = [(call.name, call.arguments) for call in ended]
    if found == meant:
        return "right"
    odd = [call.call_index for call in ended if (call.name, call.arguments) not in meant]
    if odd and other:
        return "other"
    if odd:
        return "amiss" if all(_told(result.events, index) for index in odd) else "WRONG"
    if result.aborted:
        return "aborted"
    if not odd and all(call in found for call in meant):
        return "right"  # one of them twice, where it stands there twice
    return "told" if result.findings else "silent"


def call_spans(events: list[Event]) -> dict[int, Span]:
    """Map the index of each call to its span, with its markers."""
    return {
        event.call_index: segment.span
        for segment in segments(events)
        for event in segment.events
        if isinstance(event, CallStartedEvent)
    }


def _told(events: list[Event], index: int) -> bool:
    """Return True if a finding stands in a call, or between it and the next call."""
    reach = call_spans(events)
    stop = min(
        (span.start for span in reach.values() if span.start > reach[index].start), default=0
    )
    notes = (event.span.start for event in events if isinstance(event, FindingEvent))
    return any(reach[index].start <= note and not 0 < stop < note for note in notes)


OUTCOMES: Final = ("right", "aborted", "told", "silent", "other", "amiss", "WRONG", "LOST")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("dialects", nargs="*", default=dialect_names())
    options.add_argument("--tries", type=int, default=20, help="replies of each spoiling at most")
    options.add_argument("--minutes", type=float, default=2, help="begin no reply after these")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--spoil", action="append", help="only these; else each, and pairs")
    options.add_argument("--show", type=int, default=1, help="examples of each fault")
    options.add_argument("--outcome", action="append", help="show examples of this outcome")
    given = options.parse_args()
    found, until = Found(), time.monotonic() + given.minutes * 60
    for attempt in range(given.tries):
        for name, first in rounds(given, attempt):
            if time.monotonic() > until:
                break
            try_out(get_dialect(name), first, attempt, given, found)
    found.show(given.show)


def rounds(given: argparse.Namespace, attempt: int) -> list[tuple[str, str]]:
    """Return every dialect with every spoiling, in another order for each attempt, because time may
    end a round."""
    declared = [n for n in given.dialects if isinstance(get_dialect(n), DeclaredDialect)]
    listed = [(name, first) for name in declared for first in given.spoil or SPOILS]
    random.Random(f"{given.seed} {attempt}").shuffle(listed)
    return listed


@dataclass
class Found:
    """The results of all replies: faults by dialect, outcomes by dialect and spoiling."""

    tried: int = 0
    faults: defaultdict[tuple[str, str], list[tuple[str, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    outcomes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    examples: defaultdict[tuple[str, str, str], list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def show(self, few: int) -> None:
        print(f"{self.tried:,} replies")
        self.table(1)
        self.table(0)
        for (what, name), rows in sorted(self.faults.items()):
            print(f"{what:28} {name:18} {len(rows)}")
            for names, text in sorted(rows, key=lambda row: len(row[1]))[:few]:
                print(f"    {names}: {text!r}")
        for (name, first, what), texts in sorted(self.examples.items()):
            print(f"{what} {name} {first} {len(texts)}")
            for text in sorted(texts, key=len)[:few]:
                print(f"    {text!r}")

    def table(self, by: int) -> None:
        """Print the outcomes by dialect (0) or by spoiling (1), the worst first, and the sum."""
        rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for key, count in self.outcomes.items():
            rows[key[by]][key[2]] += count
            rows["(all)"][key[2]] += count
        print(f"{'':22}" + "".join(f"{kind:>8}" for kind in OUTCOMES))
        for name, counts in sorted(rows.items(), key=lambda row: row[1]["right"]):
            print(f"{name:22}" + "".join(f"{counts[kind]:8}" for kind in OUTCOMES))


def try_out(
    dialect: Dialect, first: str, attempt: int, given: argparse.Namespace, found: Found
) -> None:
    """Try a reply that is spoiled in one way, and at every second attempt in a second way, too;
    note what became of it."""
    assert isinstance(dialect, DeclaredDialect)
    source = random.Random(f"{given.seed} {dialect.name} {first} {attempt}")
    second = source.choice(list(SPOILS)) if attempt % 2 and not given.spoil else ""
    spoils = [first, second] if second else [first]
    reply = some_reply(dialect, spoils, source)
    found.tried += 1
    wrong = set(faults(reply, dialect, source))
    for fault in wrong:
        found.faults[fault, dialect.name].append(("+".join(spoils), reply.text))
    if second:
        return
    result = parse(reply.text, dialect, TOOLS)
    what = "LOST" if wrong else outcome(result, reply, changes(first, dialect))
    found.outcomes[dialect.name, first, what] += 1
    if what in (given.outcome or ()):
        found.examples[dialect.name, first, what].append(reply.text)


if __name__ == "__main__":
    main()
