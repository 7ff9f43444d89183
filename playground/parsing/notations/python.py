"""The arguments as Python keyword arguments: `path="a.py", lines=[1, 2]`.

They end at the call's own closing bracket; brackets in strings do not count. Nothing is evaluated.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import Final

from playground.parsing.claims import Claim
from playground.parsing.declaration import Declaration
from playground.parsing.form import Form
from playground.parsing.notations.notation import CallValue, Lead, Notation
from playground.parsing.open_call import OpenCall
from playground.parsing.patterns import IDENTIFIER, SPACE
from playground.parsing.python_strings import closes, may_change
from playground.parsing.python_values import read_keywords
from playground.parsing.reader import Reader, decoded
from playground.parsing.scanner import Scanner, Walk
from playground.parsing.skip_rule import SkipRule, rule_in_string, rule_until

_OUTSIDE: Final = re.compile(r"""["'()\[\]{}]""")
_INSIDE: Final = {'"': re.compile(r'["\\]'), "'": re.compile(r"['\\]")}
_UP_TO_QUOTE: Final = {  # many escapes at once, bounded because `re` needs memory for each
    quote: re.compile(rf"(?:[^{quote}\\]+|\\[\s\S]){{0,1000}}") for quote in _INSIDE
}


class PythonArguments(Notation):
    hole = "args:python"
    meaning = "the arguments as Python keyword arguments"
    values = "Python literals"
    family = "Python calls"
    fields = {"call": "[{name}({args:python})]"}
    example = "[write_file(path='a.py', lines=[1, 2])]"

    def write(self, syntax: Declaration, call: CallValue) -> dict[str, str]:
        pairs = [f"{key}={value!r}" for key, value in call.arguments.items()]
        return {self.hole: ", ".join(pairs)}

    def evidence(self, lead: Lead) -> str:
        return rf"{SPACE}(?:(?P<key>{IDENTIFIER}){SPACE}=(?!=)|{lead.closing})"

    def read(self, reader: Reader, call: OpenCall, form: Form) -> Walk[None]:
        scanner = reader.scanner
        text = yield from reader.claim_all(call, "(Python)", lambda emit: walk(scanner, emit))
        read_call = partial(read_keywords, is_call=form.syntax.marked)
        call.arguments, codes = decoded(read_call, text, "malformed-python")
        for code in codes:
            scanner.note(code, call.place)


def walk(scanner: Scanner, emit: Claim) -> Walk[None]:
    """Claim everything before the bracket that closes the call."""
    depth, quote, position = 0, "", scanner.at
    first = True  # True until the walk meets a quote inside the string
    while True:
        pattern = _INSIDE[quote] if quote else _OUTSIDE
        if quote and (ahead := _UP_TO_QUOTE[quote].match(scanner.text, position)):
            position = ahead.end()
        match = pattern.search(scanner.text, position)
        if match is None or _is_undecided(scanner, match, quote, depth, first):
            stop = match.start() if match else len(scanner.text)
            scanner.claim_cut(emit, stop)
            scanner.allow_skip(_skip_rule(quote), emit)
            yield
            position = scanner.at
            continue
        char, position = match[0], match.end()
        if char == "\\":
            position = match.start()  # `_UP_TO_QUOTE`, which reads 1,000 escapes, goes on here
        elif quote:
            # models forget backslashes, so the text after a quote shows whether the string ends
            quote = "" if closes(scanner.text, position, depth, first) else quote
            first = False
        elif char in "\"'":
            quote, first = char, True
        elif char in "([{":
            depth += 1
        elif depth == 0:
            emit(match.start() - scanner.at)
            return
        else:
            depth -= 1


@cache  # by the quote of the open string, "" outside of strings
def _skip_rule(quote: str) -> SkipRule:
    return rule_in_string(_INSIDE[quote]) if quote else rule_until(_OUTSIDE)


def _is_undecided(
    scanner: Scanner, match: re.Match[str], quote: str, depth: int, first: bool
) -> bool:
    """Return True if more text could change what a backslash or a closing quote means."""
    if match[0] == "\\":
        return match.end() == len(scanner.text)
    if match[0] != quote or scanner.ended:
        return False
    return may_change(scanner.text, match.end(), depth, first)
