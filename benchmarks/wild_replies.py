"""Replies as models really write them: rendered calls, spoiled at random, read by every dialect.

Run: python benchmarks/wild_replies.py [DIALECT …] [--tries N] [--seed N] [--spoil NAME] [--show N]
Nobody says what a spoiled call should have been; what is held is that nothing is silently gone:
nothing raises, spans tile, chunks and the quiet path change nothing, every word of an argument is
in a call, in content, in reasoning or in what a finding names, and prose stays prose. A table says
how often each spoiling still gave the calls that were meant: a form that is worth reading.
"""

from __future__ import annotations

import argparse
import html
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from playground.dialects import DeclaredDialect, dialect_names, get_dialect
from playground.events import (
    ArgumentEvent,
    CallAbortedEvent,
    CallEndedEvent,
    Event,
    FindingEvent,
    MarkupEvent,
    Span,
    merged,
)
from playground.messages import TextPart, ToolCallPart
from playground.parsing.parser import SyntaxParser
from playground.parsing.result import ParseResult, gather
from playground.parsing.syntax import Hole
from playground.servers.stretches import extents
from playground.tools import ToolMetadata

TOOLS: Final = [
    ToolMetadata(
        name="write_file",
        input_schema={
            "type": "object",
            "$defs": {"owner": {"type": "object", "properties": {"age": {"type": "integer"}}}},
            "properties": {
                "path": {"type": "string"},
                "content": {"type": "string"},
                "mode": {"type": "integer"},
                "force": {"type": "boolean"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "meta": {"type": "object"},
                "owner": {"anyOf": [{"$ref": "#/$defs/owner"}, {"type": "null"}]},
            },
        },
    ),
    ToolMetadata(
        name="get_weather",
        input_schema={
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        },
    ),
]
BY_NAME: Final = {tool.name: tool for tool in TOOLS}
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


Spoil = Callable[[str, DeclaredDialect, random.Random], str]
SPOILS: Final[dict[str, Spoil]] = {}


def spoil(action: Spoil) -> Spoil:
    SPOILS[action.__name__.strip("_")] = action
    return action


# what models do to a rendered call; each gives the text back where it has nothing to spoil


def literals(dialect: DeclaredDialect, part: str) -> list[str]:
    """The literals of one part of the dialect's template: `call`, `param` or `section`."""
    syntax = dialect.syntax
    template = {
        "call": syntax.call_template,
        "param": syntax.param_template,
        "section": syntax.section_template,
    }[part]
    sides = (template.before, template.after) if template else ((), ())
    found = [[p.strip() for p in side if not isinstance(p, Hole) and p.strip()] for side in sides]
    return [(found[0] or [""])[0], (found[1] or [""])[-1]]


def edges(dialect: DeclaredDialect) -> tuple[str, str]:
    """What stands right before and right after a call's body."""
    template = dialect.syntax.call_template
    before = [p.strip() for p in template.before if not isinstance(p, Hole) and p.strip()]
    after = [p.strip() for p in template.after if not isinstance(p, Hole) and p.strip()]
    return (before or [""])[-1], (after or [""])[0]


def once(text: str, old: str, new: str, source: random.Random) -> str:
    """One occurrence, any, replaced."""
    places = [match.start() for match in re.finditer(re.escape(old), text)] if old else []
    if not places:
        return text
    at = source.choice(places)
    return text[:at] + new + text[at + len(old) :]


def _forgotten(part: str, side: int) -> Spoil:
    def action(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
        return once(text, literals(dialect, part)[side], "", source)

    return action


def _doubled(part: str, side: int, between: str) -> Spoil:
    def action(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
        marker = literals(dialect, part)[side]
        return once(text, marker, marker + between + marker, source)

    return action


for _part in ("call", "param", "section"):
    for _side, _name in enumerate(("opener", "closer")):
        SPOILS[f"no {_part} {_name}"] = _forgotten(_part, _side)
        SPOILS[f"double {_part} {_name}"] = _doubled(_part, _side, "")
        SPOILS[f"{_part} {_name} twice"] = _doubled(_part, _side, "\n")


@spoil
def as_it_is(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return text


@spoil
def in_a_fence(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return f"```{source.choice(['', 'json', 'xml', 'tool_call'])}\n{text}\n```"


@spoil
def body_in_a_fence(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    opener, closer = edges(dialect)
    if not opener or not closer or "{" not in text:
        return text
    return text.replace(opener, f"{opener}\n```json\n").replace(closer, f"\n```\n{closer}")


@spoil
def entities(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """The marker characters in values, and in quotes, written as in XML."""
    return re.sub(r"(?<=[\w ])[<>&](?=[ \w])", lambda match: html.escape(match[0]), text)


@spoil
def all_escaped(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return json.dumps(text)[1:-1]


@spoil
def single_quotes(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r'"(\w*)"', r"'\1'", text)


@spoil
def bare_keys(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r'"(\w+)": ', r"\1: ", text)


@spoil
def trailing_commas(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r"(?<=[\"\w])([}\])])", r",\1", text)


@spoil
def comments(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r'(?<=[{,])( ?"\w+": )', r" // it's the key\n\1", text, count=2)


@spoil
def foreign_escapes(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return text.replace("'", "\\'").replace("(", "\\(")


@spoil
def python_constants(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return text.replace("true", "True").replace("false", "False").replace("null", "None")


@spoil
def extra_brackets(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r"\}(?=\s*(?:[<\[`]|\Z))", "}}", text, count=1)


@spoil
def missing_bracket(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return once(text, "}", "", source)


@spoil
def leaked_stop(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    token = source.choice([*dialect.stops, *dialect.dropped, "<|im_end|>"])
    at = source.choice([0, len(text), *(m.start() for m in re.finditer(r"(?<=>)\s*", text))])
    return text[:at] + token + text[at:]


@spoil
def byte_level(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """White space between and inside tags as byte-level tokenizers write it."""
    text = re.sub(r"(?<=[>\]|])\n", "Ċ", text)
    return re.sub(r'(?<=[<\w]) (?=\w+="|name=|key=)', "Ġ", text)


@spoil
def junk_before_body(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    opener = literals(dialect, "call")[0]
    return once(text, opener, opener + source.choice([" ", "\n", "json\n", "Sure: "]), source)


@spoil
def junk_in_call(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Words where a parameter, or the call's closer, should follow."""
    closer = literals(dialect, "param")[1] or literals(dialect, "call")[1]
    return once(text, closer, f"{closer}heron's junk", source)


@spoil
def junk_before_closer(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    closer = literals(dialect, "call")[1]
    return once(text, closer, f" I think.{closer}", source)


@spoil
def tidied(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Every tag on a line of its own, and indented."""
    return re.sub(r"(?<=>)(?=<)", "\n    ", text)


@spoil
def one_line(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r"(?<=[>\]}])\n(?=[<\[{])", "", text)


@spoil
def crlf(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return text.replace("\n", "\r\n")


@spoil
def odd_name(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    name = source.choice([name for name in BY_NAME if name in text] or ["write_file"])
    new = source.choice(
        ["functions.%s", "%s:1", "functions.%s:1", "functions.valid:1", " %s", '"%s"', "%s()"]
    )
    return once(text, name, new.replace("%s", name), source)


@spoil
def unknown_name(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return text.replace("write_file", "write_files").replace("get_weather", "weather_of")


@spoil
def cut(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return text[: source.randrange(len(text) + 1)]


@spoil
def piece_lost(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    start = source.randrange(len(text) + 1)
    return text[:start] + text[start + source.randint(1, 12) :]


@spoil
def begun_twice(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """A cut reply, and then the whole of it."""
    return cut(text, dialect, source) + text


@spoil
def reasoning_inside(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    tags = source.choice(
        [tag for pair in dialect.reasoning for tag in (pair.open, pair.close)] or [""]
    )
    at = source.randrange(len(text) + 1)
    return text[:at] + tags + text[at:]


@spoil
def list_body(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Brackets around what the call's markers hold."""
    opener, closer = edges(dialect)
    return (
        text.replace(opener, f"{opener}[", 1).replace(closer, f"]{closer}", 1) if closer else text
    )


@spoil
def python_body(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    opener, closer = edges(dialect)
    return f'{opener}\nget_weather(city="Heron", days=3)\n{closer}' if opener and closer else text


@spoil
def other_body(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """A body of another form between the call's markers."""
    opener, closer = edges(dialect)
    body = source.choice(
        [
            '{"name": "get_weather", "arguments": {"city": "Heron"}}',
            '{"function": {"name": "get_weather", "arguments": {"city": "Heron"}}}',
            '{"name": "get_weather", "arguments": "heron and ember"}',
            '{"name": "get_weather", "arguments": ["heron"]}',
            '{"get_weather": {"city": "Heron"}}',
            "heron, ember",
            "<city>Heron</city>",
            "",
        ]
    )
    return f"{opener}\n{body}\n{closer}" if opener and closer else text


@spoil
def attributes(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Quotes around what stands after `=`, or without them; more attributes."""
    if source.random() < 0.5:
        return re.sub(r"=(\w+)>", r'="\1">', text)
    return re.sub(r'="(\w+)"', source.choice([r"=\1", r"='\1'", r'= "\1" id="1"']), text)


@spoil
def quotes_inside(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Quotes inside of a JSON text that nobody escaped."""
    return re.sub(r'(?<=": ")(\w+)', r'a "\1" b', text, count=1)


@spoil
def missing_comma(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r'(?<=["\d\]}]), (?=")', " ", text, count=1)


@spoil
def odd_arguments(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """The object of the arguments in a text, in a list, in another object, or escaped once more."""
    match = re.search(r'\{(?:"\w+": (?:"[^"{}]*"|\d+)(?:, )?)+\}', text)
    if not match:
        return text
    given = match[0]
    odd = [json.dumps(given), f"[{given}]", f'{{"arguments": {given}}}', given.replace('"', '\\"')]
    return text[: match.start()] + source.choice(odd) + text[match.end() :]


@spoil
def namespace(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r"\b(write_file|get_weather)\b", r"functions.\1", text)


@spoil
def closed_at_once(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """A tag that ends itself, with the call's closer or without."""
    return re.sub(r'((?:write_file|get_weather)"?)>(?:\s*</[^<>]+>)?', r"\1/>", text, count=1)


@spoil
def nested_elements(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """A value as elements."""
    prefix = dialect.syntax.element
    tags = [f"{prefix}<{tag}>" for tag in ("age", "/age")]
    return once(text, "heron", f"{tags[0]}7{tags[1]}", source)


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
    calls = [some_call(dialect, source) for _ in range(source.choice([1, 1, 2]))]
    between = source.random() < 0.3
    parts: list[Any] = []
    for call in calls:
        parts += [TextPart(source.choice(PROSE)), call] if between and parts else [call]
    text = dialect.format_reply(parts, TOOLS)
    for name in spoils:
        text = SPOILS[name](text, dialect, source)
    before, after = (source.choice(["", *PROSE]) for _ in range(2))
    if dialect.opens_reasoning:
        before = dialect.reasoning[0].close + before
    whole = f"{before}\n{text}\n{after}" if before or after else text
    return Reply(whole, calls, [p for p in (before, after) if p in PROSE])


# what is held


def parser(dialect: DeclaredDialect, quiet: bool = True) -> SyntaxParser:
    return SyntaxParser(dialect.syntax, dialect.markers, dialect.switches, TOOLS, quiet=quiet)


def events_of(dialect: DeclaredDialect, pieces: list[bytes], quiet: bool = True) -> list[Event]:
    reader = parser(dialect, quiet)
    found = [event for piece in pieces for event in reader.feed(piece)]
    return [*found, *reader.finish()]


def faults(reply: Reply, dialect: DeclaredDialect, source: random.Random) -> Iterator[str]:
    """What is wrong with how a reply is read."""
    data = reply.text.encode()
    try:
        whole = merged(events_of(dialect, [data]))
        size = source.choice([1, 2, 3, 7])
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        quick, slow = (events_of(dialect, pieces, quiet) for quiet in (True, False))
    except Exception as error:  # that nothing raises is what is looked for
        yield f"raises {type(error).__name__}"
        return
    if quick != slow:
        yield "quiet path differs"
    if merged(quick) != whole:
        yield "chunks matter"
    yield from _losses(gather(whole, dialect.switches), reply)


def _losses(result: ParseResult, reply: Reply) -> Iterator[str]:
    if "".join(map(_text, result.events)) != reply.text:
        yield "characters lost"
    ended = [event for event in result.events if isinstance(event, CallEndedEvent)]
    given = {event.call_index: json.dumps(event.arguments) for event in ended}
    reach = extents(result.events)
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
    """Prose that is neither content in one piece nor in a call that was aborted."""
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


def outcome(result: ParseResult, reply: Reply) -> str:
    """What became of the calls that were meant."""
    found = [(call.name, call.arguments) for call in result.tool_calls]
    meant = [(call.tool_name, call.args) for call in reply.calls]
    if found == meant:
        return "as meant"
    if len(found) == len(meant):
        return "changed"
    if any(isinstance(event, CallAbortedEvent) for event in result.events):
        return "aborted"
    told = any(isinstance(event, FindingEvent) for event in result.events)
    return "told" if told else "text"


OUTCOMES: Final = ("as meant", "changed", "aborted", "told", "text")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("dialects", nargs="*", default=dialect_names())
    options.add_argument("--tries", type=int, default=20, help="replies of each spoiling")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--spoil", action="append", help="only these; else each, and pairs")
    options.add_argument("--show", type=int, default=1, help="examples of each fault")
    options.add_argument("--outcome", help="show examples of this outcome")
    given = options.parse_args()
    found = Found()
    for name in given.dialects:
        dialect = get_dialect(name)
        if isinstance(dialect, DeclaredDialect):
            for first in given.spoil or SPOILS:
                source = random.Random(f"{given.seed} {name} {first}")
                try_out(dialect, first, given, source, found)
    found.show(given.show)


@dataclass
class Found:
    """What came of all replies: faults by dialect, outcomes by spoiling, examples of one."""

    faults: defaultdict[tuple[str, str], list[tuple[str, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    outcomes: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    examples: defaultdict[tuple[str, str], list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def show(self, few: int) -> None:
        for name, counts in sorted(self.outcomes.items(), key=lambda item: item[1]["as meant"]):
            print(f"{name:24}" + "".join(f"{kind} {counts[kind]:5}  " for kind in OUTCOMES))
        for (what, name), rows in sorted(self.faults.items()):
            print(f"{what:28} {name:18} {len(rows)}")
            for names, text in sorted(rows, key=lambda row: len(row[1]))[:few]:
                print(f"    {names}: {text!r}")
        for (what, name), texts in self.examples.items():
            for text in sorted(texts, key=len)[:few]:
                print(f"{what} {name}: {text!r}")


def try_out(
    dialect: DeclaredDialect,
    first: str,
    given: argparse.Namespace,
    source: random.Random,
    found: Found,
) -> None:
    """Replies spoiled in one way, every second one in another way too."""
    for attempt in range(given.tries):
        second = source.choice(list(SPOILS)) if attempt % 2 and not given.spoil else ""
        spoils = [first, second] if second else [first]
        reply = some_reply(dialect, spoils, source)
        for fault in set(faults(reply, dialect, source)):
            found.faults[fault, dialect.name].append(("+".join(spoils), reply.text))
        if second:
            continue
        result = gather(events_of(dialect, [reply.text.encode()]), dialect.switches)
        what = outcome(result, reply)
        found.outcomes[first][what] += 1
        if what == given.outcome:
            found.examples[first, dialect.name].append(reply.text)


if __name__ == "__main__":
    main()
