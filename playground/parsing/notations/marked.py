"""Arguments as Gemma writes them: JSON with bare keys, and with a mark before and after each text.

    {path:<|"|>a.py<|"|>,lines:[1,2],force:true}

Nothing is escaped, so a text that contains the mark cannot be read back.
"""

from __future__ import annotations

import re
from functools import lru_cache

import regex

from playground.parsing.claims import Claim
from playground.parsing.declaration import Declaration
from playground.parsing.form import Form
from playground.parsing.notations.marked_values import Doubts, read, write
from playground.parsing.notations.notation import CallValue, Lead, Notation
from playground.parsing.open_call import OpenCall
from playground.parsing.patterns import SPACE
from playground.parsing.reader import Reader, decoded
from playground.parsing.scanner import Scanner, Walk
from playground.parsing.skip_rule import SkipRule, rule_in_string, rule_to_mark, rule_until


class MarkedArguments(Notation):
    hole = "args:marked"
    meaning = "the arguments as an object whose texts are between `string_mark`"
    values = "JSON with bare keys, texts between marks"
    family = "A name, then its arguments in marks"
    fields = {"call": "<call:{name}>{args:marked}</call>", "string_mark": "``"}
    example = "<call:write_file>{path:``a.py``,lines:[1,2]}</call>"
    first = "{"
    mends_brackets = True

    def write(self, syntax: Declaration, call: CallValue) -> dict[str, str]:
        return {self.hole: write(call.arguments, syntax.string_mark, syntax.literals)}

    def announce(self, lead: Lead) -> str:
        return rf"{SPACE}\{{"

    def read(self, reader: Reader, call: OpenCall, form: Form) -> Walk[None]:
        scanner, mark = reader.scanner, form.syntax.string_mark
        text = yield from reader.claim_all(call, "(object)", lambda emit: walk(scanner, emit, mark))
        doubts = Doubts([], [])
        keys = frozenset(call.properties)
        call.arguments = decoded(
            lambda text: read(text, mark, call.schema_of, doubts, form.syntax.literals, keys),
            text,
            "malformed-arguments",
        )
        for key in doubts.deep:
            reader.scanner.note("too-deep", f"{call.place}, argument {key}", "kept as text")
        for key, mistake in dict.fromkeys(doubts.forgiven):
            reader.scanner.note("relaxed-json", f"{call.place}, argument {key}", mistake)


# the walk through a stream looks only at brackets, quotes and marks


@lru_cache
def _outside(mark: str) -> regex.Pattern[str]:
    # A quote counts only at the start of a key or a value: there it begins a JSON string. A mark
    # after a word opens no text: it ends a text whose first mark is missing.
    opener = rf"(?<=[\s:,\[{{{regex.escape(mark[-1])}]){regex.escape(mark)}"
    return regex.compile(rf"{opener}|[{{}}\[\]]|(?<=[:,\[{{]\s{{0,4}})\"")


@lru_cache
def _inside(mark: str) -> regex.Pattern[str]:
    # in quotes a backslash escapes; between marks nothing does
    return regex.compile(r'"|\\[\s\S]' if mark == '"' else regex.escape(mark))


@lru_cache
def _skip_rule(mark: str, inside: str) -> SkipRule:
    """Return the skip rule for chunks: inside marks, inside quotes, or outside of both."""
    if inside == '"':
        return rule_in_string(re.compile(r'["\\]'))
    if not inside:
        return rule_until(re.compile(f'[{re.escape(mark[0])}"{{}}\\[\\]]'))
    return rule_to_mark(inside)


def walk(scanner: Scanner, emit: Claim, mark: str) -> Walk[None]:
    """Claim one object, its braces included. Brackets between marks do not count."""
    depth, inside, position = 0, "", scanner.at
    while True:
        pattern = _inside(inside) if inside else _outside(mark)
        match = pattern.search(scanner.text, position, partial=not scanner.ended)
        if match is None or match.partial:
            # a mark may be cut off: its beginning is held
            stop = match.start() if match else len(scanner.text)
            scanner.claim_cut(emit, stop)
            scanner.allow_skip(_skip_rule(mark, inside), emit)
            yield
            position = scanner.at
            continue
        position = match.end()
        if match[0] in (mark, '"'):
            inside = "" if inside else match[0]
        elif inside:
            continue
        elif match[0] in "{[":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                emit(position - scanner.at)
                return
