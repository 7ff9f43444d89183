"""Every dialect's response template in transformers' own parser: which replies both read alike.

Run: python benchmarks/against_transformers.py [DIALECT …] [--tries N] [--walks N] [--seed N]
     [--portable] [--show N] [--python PATH] [--record]
PATH is a Python that has transformers; by default one is made, once, among temporary files. A reply
is well-formed by the dialect's own grammar: the calls of the laws as they are rendered, with other
white space and order, several, with text and reasoning beside them, with odd values; and random
walks over the grammar. Two readings are alike if they have the same calls, the same words of
content and, up to white space, the same reasoning. Each reply is read at once, and in random
pieces. `--record` writes for tests/test_response_templates.py what transformers read of a few
replies, and by which template.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from against_servers import KINDS, OPENED, WITH_REASONING, function
from asking import Ask
from grammar_walk import Engine, baits_of, read, right_calls, tools_for
from spoils import TOOLS as ALL_TOOLS
from transformers_parser import oracle

from playground.dialects import DeclaredDialect, as_dialects
from playground.nouns.messages import ToolCallPart
from playground.nouns.tools import ToolMetadata
from playground.parsing.result import ParseResult

SHORT: Final = 400  # characters of a reply that is recorded
RECORDED: Final = Path(__file__).parent.parent / "tests" / "cases" / "response_templates.json"
CLEAN: Final = (
    "one call", "several", "before", "between", "after", "no call", "odd values", "unicode",
    "reasoning", "reasoning alone",
)  # fmt: skip
_EDGE: Final = re.compile(r"(?<=>)(?=<)|(?<=[{},:\[\]])(?=[\"'{\[])|\n+")


def _without(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a schema without one of its properties."""
    return {**schema, "properties": {k: v for k, v in schema["properties"].items() if k != name}}


# transformers follows no `$ref`, and a template's finding says so
TOOLS: Final = [
    ToolMetadata(name=tool.name, input_schema=_without(tool.input_schema, "owner"))
    for tool in ALL_TOOLS
]
Different = tuple[str, dict[str, Any], ParseResult, bool]
Case = tuple[str, tuple[ToolMetadata, ...]]


def rendered(dialect: DeclaredDialect, source: random.Random) -> Iterator[str]:
    """Yield the laws' calls, with parameters in random orders: as they are rendered, and with other
    white space at one place."""
    tools = tools_for(dialect)
    for call in right_calls(dialect):
        for _ in range(3):
            arguments = list(call.args.items())
            if not dialect.syntax.text_keys:
                source.shuffle(arguments)
            part = ToolCallPart("call_1", call.tool_name, dict(arguments))
            text = dialect.format_tool_call(part, tools)
            yield text
            places = [match.span() for match in _EDGE.finditer(text)]
            if places:
                start, stop = source.choice(places)
                yield text[:start] + source.choice(["\n", " ", "\n  ", ""]) + text[stop:]


def cases(dialect: DeclaredDialect, given: argparse.Namespace) -> Iterator[Case]:
    """Yield well-formed replies, each with the tools that were offered."""
    source = random.Random(f"{given.seed} {dialect.name}")
    own = tools_for(dialect)
    engine = Engine(dialect.grammar(own, accepts="well-formed").lark)
    listed = list(rendered(dialect, source))
    baits = baits_of(dialect, listed)
    walks = (engine.walk(seed, baits) for seed in range(given.seed, given.seed + given.walks))
    listed += [text for text in walks if text is not None]
    yield from ((text, own) for text in dict.fromkeys(listed) if engine.accepts(text))
    other = Engine(dialect.grammar(TOOLS, accepts="well-formed").lark)
    for kind in CLEAN:
        if kind in WITH_REASONING and (not dialect.reasoning or dialect.name in OPENED):
            continue
        for attempt in range(given.tries):
            try:
                text = KINDS[kind](dialect, random.Random(f"{given.seed} {kind} {attempt}"))
            except (KeyError, IndexError):
                continue
            if other.accepts(text) and "owner" not in text:
                yield text, tuple(TOOLS)


def _places(text: str) -> list[int]:
    """Return the places where a text may be cut: none in a control token, which a model writes at
    once."""
    tokens = [match.span() for match in re.finditer(r"<[|｜][^<>\s]{1,60}[|｜]>", text)]
    inside = {place for start, stop in tokens for place in range(start + 1, stop)}
    return [place for place in range(len(text) + 1) if place not in inside]


def expressed(dialect: DeclaredDialect) -> DeclaredDialect:
    """Return the dialect with only those forms that its template reads; findings name the
    others."""

    def reads(also: tuple[Any, ...]) -> DeclaredDialect:
        return replace(dialect, syntax=replace(dialect.syntax, also=also))

    def is_read(form: Any) -> bool:
        messages = [found.message for found in reads((form,)).response_template().findings]
        return not any("one form of calls" in message for message in messages)

    return reads(tuple(f for f in dialect.syntax.also if not f.slip and is_read(f)))


def alike(theirs: dict[str, Any], mine: ParseResult) -> bool:
    """Return True if both readings say the same."""
    if theirs["raises"]:
        return False
    calls = [[call.name, call.arguments] for call in mine.tool_calls]
    words = (theirs["content"].split(), "".join(theirs["reasoning"].split()))
    own = (mine.content.split(), "".join(mine.reasoning.split()))
    return words == own and _json(theirs["calls"]) == _json(calls)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def compare(
    dialect: DeclaredDialect, ask: Ask, given: argparse.Namespace, facts: dict[str, Any]
) -> tuple[int, int]:
    """Return how many of a dialect's replies are read alike, and how many there are. Add some that
    are read alike to `facts`."""
    made = dialect.response_template("<assistant>\n", portable=given.portable)
    if not made.template:
        print(f"| {dialect.name} | – | {made.findings[-1].message} |")
        return 0, 0
    equal, total = 0, 0
    different: list[Different] = []
    agreed: list[dict[str, Any]] = []
    opened = dialect.reasoning[0].open if dialect.opens_reasoning else ""
    written = expressed(dialect)
    for text, tools in cases(written, given):
        mine = read(written, text, tools)
        if mine.aborted:  # text to the grammar, and a call that cannot be read to us
            continue
        prefix = "<assistant>\n" + ("" if opened and text.startswith(opened) else opened)
        question: dict[str, Any] = {"template": made.template, "prefix": prefix, "text": text}
        question["tools"] = [function(tool) for tool in tools]
        whole = ask(question)
        cuts = sorted(random.Random(text).choices(_places(text), k=5))
        pieces = ask({**question, "cuts": cuts})
        total += 1
        if alike(whole, mine) and whole == pieces:
            equal += 1
            if whole["calls"] and tools == tools_for(dialect) and len(text) < SHORT:
                agreed.append({"text": text, **whole})
        else:
            different.append((text, whole, mine, whole == pieces))
    digest = hashlib.sha256(made.json.encode()).hexdigest()[:12]
    few = random.Random(dialect.name).sample(agreed, min(len(agreed), 2))
    facts[dialect.name] = {"template": digest, "alike": [equal, total], "replies": few}
    print(f"| {dialect.name} | {equal}/{total} | |", flush=True)
    for text, whole, mine, same in sorted(different, key=lambda each: len(each[0]))[: given.show]:
        own = [[call.name, call.arguments] for call in mine.tool_calls]
        print(f"  text   {text!r}\n  theirs {json.dumps(whole, ensure_ascii=False)}")
        print(f"  ours   {mine.content!r} {mine.reasoning!r} {json.dumps(own, ensure_ascii=False)}")
        print("" if same else "  and otherwise in pieces")
    return equal, total


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("dialects", nargs="*")
    given.add_argument("--tries", type=int, default=6, help="replies of each kind")
    given.add_argument("--walks", type=int, default=60)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--portable", action="store_true")
    given.add_argument("--show", type=int, default=1)
    given.add_argument("--python", default="")
    given.add_argument("--record", action="store_true")
    options = given.parse_args()
    ask = oracle(options.python)
    version = ask({"ask": "version"})["version"]
    print(f"transformers {version}")
    print("| dialect | read alike | no template |\n|---|---|---|")
    dialects = [d for d in as_dialects(options.dialects) if isinstance(d, DeclaredDialect)]
    facts: dict[str, Any] = {}
    counts = [compare(dialect, ask, options, facts) for dialect in dialects]
    if options.record:
        lines = ",\n".join(f"{json.dumps(name)}: {_json(fact)}" for name, fact in facts.items())
        today = datetime.now(UTC).date().isoformat()
        head = f'"version": "{version}",\n"date": "{today}",\n"dialects"'
        RECORDED.write_text(f"{{\n{head}: {{\n{lines}\n}}\n}}\n", "utf-8")
    expressed = [pair for pair in counts if pair[1]]
    perfect = sum(equal == total for equal, total in expressed)
    equal, total = (sum(numbers) for numbers in zip(*expressed, strict=True))
    print(f"{len(expressed)} of {len(counts)} dialects have a template; {perfect} read all alike")
    print(f"{equal:,} of {total:,} replies are read alike")


if __name__ == "__main__":
    main()
