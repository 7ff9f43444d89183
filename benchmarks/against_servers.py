"""What servers hand over of replies that nobody has seen, beside what our views say that they do.

Run: python benchmarks/against_servers.py SERVER [PARSER …] [--tries N] [--seed N] [--kind KIND]
     [--show N] [--checkout FOLDER] [--record | --record-anew]
SERVER is vllm, sglang, rapid-mlx or vllm-mlx: its package is installed without its dependencies,
and its own parsers read each reply at once (server_parsers.py). Or it is ollama, whose parsers,
from a checkout, read it in pieces (ollama_parsers.py); llama.cpp, from a checkout too
(llama_cpp_parsers.py); ai-sdk-parser (ai_sdk_parsers.py); or transformers, where a PARSER is a type
of models for which `transformers serve` has a template (transformers_parser.py).

A reply is made of rendered calls in one of the dialects that the parser is declared to read, and
the tools are given. It is of one kind: as models should write it, with prose, reasoning or odd
values, or spoiled in one way. Two readings are equal if they have the same content and reasoning,
up to white space, and the same calls. The table counts by parser and dialect; below it stands the
shortest reply that is read differently. `--record` writes for each slip (a finding that says what
is not well-formed) in how many replies both agree: a view claims only what agrees in every reply
that was tried. It adds to the record of the same version (server_record.py), so it takes each seed
once, and writes how many of the view's claims about the new replies are right. After a change of a
view or of our parser, `--record-anew` runs the recorded samples and counter-examples again, too,
and counts from zero.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import ai_sdk_parsers
import llama_cpp_parsers
import ollama_parsers
import transformers_parser
from scratch import run_beside
from server_parsers import BESIDE, NEEDED, RELEASED, SERVERS, Handed, Read, in_time
from server_record import Outcome, Record, load_record, save_record
from spoils import SPOILS, TOOLS, literals
from wild_replies import ODD, PROSE, some_call

from playground.dialects import DeclaredDialect, get_dialect
from playground.dialects.reading import parse
from playground.nouns.messages import TextPart, ToolCallPart
from playground.parsing.variations import VARIATIONS
from playground.servers import Parser, ServerReading
from playground.servers.declarations import load_server
from playground.servers.reading import AS_WRITTEN

Make = Callable[[DeclaredDialect, random.Random], str]
_EDGE: Final = re.compile(r"(?<=>)(?=<)|(?<=[{},:\[\]])(?=[\"'{\[])|\n+")
UNICODE: Final = ("Přístav čeká", "日本の港", "naïve café", "🙂 ok", "«так»", "ﬃ")


def rendered(dialect: DeclaredDialect, calls: Sequence[ToolCallPart], *prose: str) -> str:
    """Return an answer as the dialect writes it: `calls` with prose before each and after the
    last."""
    parts: list[Any] = []
    for index, text in enumerate([*prose, *[""] * (len(calls) + 1 - len(prose))]):
        parts += [TextPart(text)] if text else []
        parts += [calls[index]] if index < len(calls) else []
    return dialect.format_reply(parts, TOOLS)


def with_values(call: ToolCallPart, source: random.Random, words: Sequence[str]) -> ToolCallPart:
    """Return the call with random `words` in place of its texts."""
    given = {
        key: source.choice(words) if isinstance(value, str) else value
        for key, value in call.args.items()
    }
    return ToolCallPart(call.tool_call_id, call.tool_name, given)


def plain(dialect: DeclaredDialect, source: random.Random) -> ToolCallPart:
    """Return a random call whose values have no odd characters."""
    call = some_call(dialect, source)
    if dialect.syntax.text_keys:
        return call
    return with_values(call, source, ("amber", "birch cedar", "delta ember fjord"))


def one_call(dialect: DeclaredDialect, source: random.Random) -> str:
    return rendered(dialect, [plain(dialect, source)])


def several(dialect: DeclaredDialect, source: random.Random) -> str:
    count = source.choice((2, 3)) if dialect.parallel else 1
    return rendered(dialect, [plain(dialect, source) for _ in range(count)])


def before(dialect: DeclaredDialect, source: random.Random) -> str:
    return rendered(dialect, [plain(dialect, source)], source.choice(PROSE))


def between(dialect: DeclaredDialect, source: random.Random) -> str:
    if not dialect.parallel:
        return before(dialect, source)
    calls = [plain(dialect, source) for _ in range(2)]
    return rendered(dialect, calls, source.choice(("", *PROSE)), source.choice(PROSE))


def after(dialect: DeclaredDialect, source: random.Random) -> str:
    calls = [plain(dialect, source)]
    return rendered(dialect, calls, source.choice(("", *PROSE)), source.choice(PROSE))


def no_call(dialect: DeclaredDialect, source: random.Random) -> str:
    return rendered(dialect, [], source.choice(PROSE))


def odd_values(dialect: DeclaredDialect, source: random.Random) -> str:
    return rendered(dialect, [with_values(some_call(dialect, source), source, ODD)])


def unicode_values(dialect: DeclaredDialect, source: random.Random) -> str:
    call = with_values(some_call(dialect, source), source, UNICODE)
    return rendered(dialect, [call], source.choice(UNICODE))


def reasoning(dialect: DeclaredDialect, source: random.Random) -> str:
    tags = dialect.reasoning[0]
    return f"{tags.open}\nI think so.\n{tags.close}\n\n{before(dialect, source)}"


def reasoning_alone(dialect: DeclaredDialect, source: random.Random) -> str:
    tags = dialect.reasoning[0]
    return f"{tags.open}\nI think so.\n{tags.close}\n\n{no_call(dialect, source)}"


def unknown_tool(dialect: DeclaredDialect, source: random.Random) -> str:
    calls = [plain(dialect, source) for _ in range(2 if dialect.parallel else 1)]
    other = source.randrange(len(calls))
    calls[other] = ToolCallPart("call_9", "no_such_tool", calls[other].args)
    return rendered(dialect, calls, source.choice(("", *PROSE)))


def white_space(dialect: DeclaredDialect, source: random.Random) -> str:
    """Return calls with other white space between two pieces of the declared form."""
    text = several(dialect, source)
    places = [match.span() for match in _EDGE.finditer(text)]
    for start, stop in sorted(source.sample(places, min(2, len(places))), reverse=True):
        text = text[:start] + source.choice(("\n", " ", "\n  ", "")) + text[stop:]
    return source.choice(("", f"{PROSE[0]}\n")) + text


def other_order(dialect: DeclaredDialect, source: random.Random) -> str:
    """Return a call with its parameters in the reverse order of the tool's schema."""
    call = plain(dialect, source)
    if dialect.syntax.text_keys:
        return rendered(dialect, [call])
    tool = next(tool for tool in TOOLS if tool.name == call.tool_name)
    order = [*reversed(tool.input_schema["properties"])]
    given = {key: call.args[key] for key in order if key in call.args}
    return rendered(dialect, [ToolCallPart(call.tool_call_id, call.tool_name, given)])


def stray_marker(dialect: DeclaredDialect, source: random.Random) -> str:
    """Return prose with a marker of calls in it."""
    markers = [m for part in ("call", "section") for m in literals(dialect, part) if len(m) > 1]
    return f"{source.choice(PROSE)} {source.choice(markers or [''])} {source.choice(PROSE)}"


def spoiled(*names: str) -> Make:
    def make(dialect: DeclaredDialect, source: random.Random) -> str:
        count = source.choice((1, 2)) if dialect.parallel else 1
        text = rendered(dialect, [plain(dialect, source) for _ in range(count)])
        ways = (SPOILS[name](text, dialect, source) for name in source.sample(names, len(names)))
        return source.choice(("", PROSE[0])) + next((way for way in ways if way != text), text)

    return make


PARTS: Final = ("call", "param", "section")
SIDES: Final = ("opener", "closer")
KINDS: Final[dict[str, Make]] = {
    "one call": one_call,
    "white space": white_space,
    "order": other_order,
    "several": several,
    "before": before,
    "between": between,
    "after": after,
    "no call": no_call,
    "odd values": odd_values,
    "unicode": unicode_values,
    "reasoning": reasoning,
    "reasoning alone": reasoning_alone,
    "cut": spoiled("cut"),
    "no closer": spoiled("no call closer", "no section closer"),
    "broken": spoiled("missing_bracket", "missing_comma", "unescaped_quotes"),
    "python": spoiled("single_quotes", "trailing_commas", "python_constants", "bare_keys"),
    "unknown tool": unknown_tool,
    "stray marker": stray_marker,
    "piece lost": spoiled("piece_lost"),
    "doubled": spoiled(*(f"double {part} {side}" for part in PARTS for side in SIDES)),
    "forgotten": spoiled(*(f"no {part} {side}" for part in PARTS for side in SIDES)),
}
OTHERS: Final = ("ollama", "llama.cpp", "ai-sdk-parser", "transformers")
OPENED: Final = ("step3",)  # whose prompt has the opener of reasoning, and no reply
TOOLS_ALONE: Final = ("rapid-mlx", "vllm-mlx")  # whose parsers of tools are run alone
UNSPOILT: Final = (
    "one call",
    "white space",
    "order",
    "several",
    "before",
    "between",
    "after",
    "no call",
    "odd values",
    "unicode",
)
"""Kinds whose replies differ from a model's at most by a variation, which is proven by them."""
WITH_REASONING: Final = ("reasoning", "reasoning alone")


@dataclass(frozen=True)
class Difference:
    server: str
    kind: str
    dialect: str
    text: str
    theirs: Handed
    ours: Handed
    assumed: bool


def function(tool: Any) -> dict[str, Any]:
    """Return a tool in OpenAI's form."""
    given = {"name": tool.name, "description": "", "parameters": tool.input_schema}
    return {"type": "function", "function": given}


def replies(dialect: DeclaredDialect, kind: str, tries: int, seed: int) -> Iterator[str]:
    if kind in WITH_REASONING and (not dialect.reasoning or dialect.name in OPENED):
        return
    for attempt in range(tries):
        yield KINDS[kind](dialect, random.Random(f"{seed} {dialect.name} {kind} {attempt}"))


PROMPTED: Final[dict[str, tuple[str, ...]]] = {
    "ollama": ollama_parsers.PROMPTED,
    "llama.cpp": llama_cpp_parsers.PROMPTED,
}
"""Parsers whose prompts have opened reasoning where it is asked for, by servers read in pieces."""
ENDED: Final = "</atem:function_calls>"


def as_written(text: str, dialect: DeclaredDialect, server: str, parser: str) -> tuple[str, str]:
    """Return what the prompt has already opened, and what a model writes after it, up to its stop
    token."""
    if server not in PROMPTED:
        return "", text
    if dialect.name == "harmony":
        text = text.replace("<|end|>\n", "<|end|><|start|>assistant").partition("<|call|>")[0]
    if dialect.name == "muse":
        text = text.replace(f"{ENDED} to=", f"{ENDED}<|eom|><|start|>assistant to=")
    text = text.removeprefix("<|python_tag|>")
    opener = dialect.reasoning[0].open if dialect.reasoning else ""
    opened = parser in PROMPTED[server] and text.startswith(opener)
    return (opener, text.removeprefix(opener)) if opened else ("", text)


def ours(text: str, dialect: str, spec: str, prefill: str) -> tuple[Handed, str, bool]:
    """Return what our view says, the reply's slip if it has a single one, and True if the view
    only assumes what it says."""
    read = parse(text, dialect, TOOLS, server=spec, prefill=prefill)
    assert isinstance(read, ServerReading)
    calls = [(call.name, call.arguments) for call in read.tool_calls]
    texts = ["".join(text for _, text in call.raw) for call in read.tool_calls]
    raises = "fails" if any(found.code == "server-fails" for found in read.findings) else ""
    slips = list(read.slips.difference(VARIATIONS) or read.slips)
    codes = {found.code for found in read.lossless.findings if found.severity != "info"}
    codes -= {"missing-closer"} if any("at the end" in slip for slip in slips) else set()
    others = codes.difference(slip.partition(":")[0] for slip in slips)
    slip = "" if len(slips) > 1 or others else slips[0] if slips else AS_WRITTEN
    return Handed(read.content, read.reasoning, calls, raises, texts), slip, read.assumed


def same(theirs: Handed, mine: Handed) -> bool:
    """Return True if the server's answer and ours say the same. Arguments that the server gives as
    text are compared with ours as they stand.

    If the server's parser raises an error, its client gets nothing.
    """
    if theirs.raises or mine.raises:
        return bool(theirs.raises) and bool(mine.raises or not (mine.content or mine.calls))
    if len(theirs.calls) != len(mine.calls):
        return False
    calls = [
        (name, text.strip() if isinstance(given, str) else own)
        for (name, own), (_, given), text in zip(mine.calls, theirs.calls, mine.texts, strict=True)
    ]
    return _written(theirs) == _written(replace(mine, calls=calls))


def _written(handed: Handed) -> str:
    calls = [(n, each.strip() if isinstance(each, str) else each) for n, each in handed.calls]
    texts = ["".join(text.split()) for text in (handed.content, handed.reasoning)]
    return json.dumps([*texts, calls], sort_keys=True)


Counts = Counter[tuple[str, str, str, str]]
MakeRead = Callable[[str, str, list[dict[str, Any]]], Read]


def compare(
    made: tuple[str, MakeRead],
    parser: Parser,
    given: argparse.Namespace,
    found: list[Difference],
    record: Record,
) -> Counts:
    """Run samples and, to record them anew, counter-examples; let `record` take the outcomes.
    Return counts by parser, dialect, kind and outcome."""
    counts: Counts = Counter()
    server, make = made
    for name in dict.fromkeys((*parser.default_for, *parser.also_reads)):
        dialect = get_dialect(name)
        assert isinstance(dialect, DeclaredDialect)
        read = make(parser.name, name, [function(tool) for tool in TOOLS])
        place = f"{parser.name} {name}"
        ran: dict[tuple[str, str], Outcome] = {}
        sampled = _sampled(dialect, given.kind or KINDS, given.samples)
        known = record.counter_examples(place) if given.record_anew else ()
        for kind, reply in (*sampled, *known):
            if (kind, reply) in ran or (server in TOOLS_ALONE and _needs_both(kind, parser)):
                continue
            prefill, text = as_written(reply, dialect, server, parser.name)
            theirs = in_time(partial(read, text, kind in WITH_REASONING))
            mine, slip, assumed = ours(text, name, f"{server}:{parser.name}", prefill)
            equal = same(theirs, mine)
            counted = slip not in (*VARIATIONS, AS_WRITTEN) or kind in UNSPOILT
            ran[kind, reply] = Outcome(kind, reply, slip if counted else "", equal)
            outcome = f"{'equal' if equal else 'differs'}{', assumed' if assumed else ''}"
            counts[parser.name, name, kind, outcome] += 1
            if not equal:
                spec = f"{server}:{parser.name}"
                found.append(Difference(spec, kind, name, text, theirs, mine, assumed))
        record.take(place, ran.values(), anew=given.record_anew)
    return counts


def _sampled(
    dialect: DeclaredDialect, kinds: Iterable[str], samples: Mapping[int, int]
) -> Iterator[tuple[str, str]]:
    """Yield kind and text of random replies; `samples` has their number by seed."""
    for seed, tries in samples.items():
        for kind in kinds:
            yield from ((kind, reply) for reply in replies(dialect, kind, tries, seed))


def _needs_both(kind: str, parser: Parser) -> bool:
    """Return True if a parser of reasoning would have to run beside that of tools."""
    dropped = parser.view.reasoning == "dropped beside calls" and kind == "reasoning"
    return kind in WITH_REASONING and not dropped


def table(counts: Counts) -> None:
    """Print how many replies are read alike, of how many: by parser and dialect, and by kind."""
    kinds = [kind for kind in KINDS if any(key[2] == kind for key in counts)]
    print(f"{'':34}{'all':>10}" + "".join(f"{kind[:9]:>10}" for kind in kinds))
    rows: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    for (parser, dialect, kind, outcome), count in counts.items():
        for each in ("(all)", f"{parser} {dialect}"):
            rows[each][kind, outcome] += count
    for name, row in rows.items():
        cells = [_cell(row, [kind]) for kind in kinds]
        print(f"{name:34}{_cell(row, kinds)}" + "".join(cells))


def _cell(row: Counter[tuple[str, str]], kinds: Sequence[str]) -> str:
    mine = [(outcome, count) for (kind, outcome), count in row.items() if kind in kinds]
    equal = sum(count for outcome, count in mine if outcome.startswith("equal"))
    total = sum(count for _, count in mine)
    return f"{f'{equal}/{total}' if total else '':>10}"


def show(found: list[Difference], few: int, claimed: int) -> None:
    """Print how many of the view's claims are right, and the shortest replies in which both
    differ, for each parser, dialect and kind, those first about which our view is sure."""
    groups: defaultdict[tuple[str, str, str], list[Difference]] = defaultdict(list)
    for one in found:
        groups[one.server, one.dialect, one.kind].append(one)
    wrong = sum(not one.assumed for one in found)
    share = 100 * (1 - wrong / max(claimed, 1))
    print(
        f"{len(found)} differ; of {claimed} that our view claims {wrong} ({share:.2f} % are right)"
    )
    for (server, dialect, kind), ones in groups.items():
        print(f"--- {server} {dialect} {kind}: {len(ones)}")
        for one in sorted(ones, key=lambda one: (one.assumed, len(one.text)))[:few]:
            claimed_mark = "" if one.assumed else " CLAIMED"
            print(f"  text   {one.text!r}{claimed_mark}")
            print(f"  theirs {_line(one.theirs)}\n  ours   {_line(one.ours)}")


def _line(handed: Handed) -> str:
    if handed.raises:
        return f"raises {handed.raises}"
    reasoned = f" reasoning {handed.reasoning!r}" if handed.reasoning else ""
    return f"{handed.content!r}{reasoned} {json.dumps(handed.calls, ensure_ascii=False)}"


def options() -> argparse.Namespace:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("server", choices=(*SERVERS, *OTHERS))
    given.add_argument("parsers", nargs="*")
    given.add_argument("--tries", type=int, default=12, help="replies of each kind")
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--kind", action="append", choices=KINDS)
    given.add_argument("--show", type=int, default=1, help="examples of each difference")
    given.add_argument("--record", action="store_true", help="add what was proven of slips")
    given.add_argument("--record-anew", action="store_true", help="and run old samples again")
    given.add_argument(
        "--checkout",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="the source of ollama or llama.cpp",
    )
    return given.parse_args()


def parsers_of(given: argparse.Namespace, version: str) -> MakeRead:
    """Return a maker of the server's own parsers. Goes on in an environment that has the server's
    package, if it needs one."""
    if given.server == "ollama":
        return ollama_parsers.ollama(given.checkout)
    if given.server == "llama.cpp":
        return llama_cpp_parsers.llama_cpp(given.checkout)
    if given.server == "ai-sdk-parser":
        return ai_sdk_parsers.ai_sdk()
    if given.server == "transformers":
        return transformers_parser.fallbacks()
    package = f"{given.server}=={RELEASED.get(given.server, version)}"
    run_beside(*NEEDED, *BESIDE[given.server], without_dependencies=(package,))
    return SERVERS[given.server]


def main() -> None:
    given = options()
    if (given.record or given.record_anew) and (given.parsers or given.kind):
        sys.exit("a record is of all parsers and kinds")
    declared = load_server(given.server)
    record = load_record(given.server, declared.version)
    given.samples = {given.seed: given.tries}
    if given.record_anew:
        given.samples |= record.samples
    elif given.record and given.seed in record.samples:
        sys.exit(f"seed {given.seed} is recorded: give another --seed, or --record-anew")
    make = parsers_of(given, declared.version)
    warnings.simplefilter("ignore")
    counts: Counts = Counter()
    found: list[Difference] = []
    for parser in declared.parsers:
        if given.server == "ai-sdk-parser" and parser.name not in ai_sdk_parsers.PROTOCOLS:
            continue
        if not given.parsers or parser.name in given.parsers:
            counts += compare((given.server, make), parser, given, found, record)
            print(parser.name, file=sys.stderr, flush=True)
    table(counts)
    claimed = sum(n for key, n in counts.items() if "assumed" not in key[3])
    show(found, given.show, claimed)
    if given.record:
        record.claims = claimed - sum(not one.assumed for one in found), claimed
    if given.record or given.record_anew:
        record.samples |= given.samples
        save_record(given.server, record)


if __name__ == "__main__":
    main()
