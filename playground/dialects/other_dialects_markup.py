"""Tell of another dialect's calls in a reply in which its own dialect reads none.

Most replies hold no call at all and must not pay for those that do: plain searches come first.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from playground.base.findings import Finding, finding
from playground.base.wording import counted
from playground.dialects import as_dialects
from playground.dialects.base import Dialect
from playground.dialects.declared import DeclaredDialect
from playground.nouns.prompt_data import PromptData
from playground.parsing.notations import notation_of
from playground.parsing.result import ParseResult, read_to_end

SEARCHED: Final = 200_000  # characters of a reply, for the first marker
LOOKED_AT: Final = 20_000  # characters from there on: no reply waits for more than a moment
_TAG: Final = re.compile(
    r"<(?![a-z]{1,2}>|[\s/])[^\s<>]{0,24}?(?:tool|func|invoke|call|action|arg_|param|channel)"
)
# what stands in a call, by a sign that does so too: most prose has none of them, and to look for a
# character takes a tenth of the time
_MARKERS: Final = {
    "_": ("tool_",),  # of a fence, in which there is Python, or of JSON
    "[": ("[TOOL_CALLS]", "functools["),
    ">": (">>>",),
    "{": ("call:", "arguments", "parameters", '"args"', "action_input"),
    ":": ("Action:",),
}


def foreign_markup(result: ParseResult, own: Dialect, prompt_data: PromptData) -> Finding | None:
    """Return a finding if another dialect reads calls in what this one took for text."""
    if result.findings:
        return None
    start, marker = _first_marker(result.content)
    if start < 0:
        return None
    text = result.content[start : marker + LOOKED_AT]
    names = {tool.name for tool in prompt_data.tool_metadata}
    for other in _speakers(text):
        if other is own:
            continue
        parser = other.create_parser(prompt_data)
        read = read_to_end(parser, [parser.feed_text(text)])
        seen = [call.name for call in read.tool_calls] + [call.name for call in read.aborted]
        if seen and (not names or names.intersection(seen)):
            message = f"{other.name} sees {counted(len(seen), 'call')} here"
            return finding("foreign-markup", f"from character {start}", message)
    return None


def _first_marker(text: str) -> tuple[int, int]:
    """Return where the line of the first marker of any dialect begins, and the marker itself.

    A brace before the marker counts as its beginning; -1 for none.
    """
    signs = [sign for sign in _MARKERS if text.find(sign, 0, SEARCHED) >= 0]
    found = [text.find(marker, 0, SEARCHED) for sign in signs for marker in _MARKERS[sign]]
    tag = _TAG.search(text, 0, SEARCHED)
    found += [tag.start()] if tag else []
    first = min((place for place in found if place >= 0), default=-1)
    if first < 0:
        return -1, -1
    # JSON may be printed on many lines
    brace = text.rfind("{", max(first - LOOKED_AT, 0), first)
    return text.rfind("\n", 0, brace if brace >= 0 else first) + 1, first


def _speakers(text: str) -> list[DeclaredDialect]:
    """Return the dialects that may read calls in a text, those with most openers in it first.

    An opener of theirs stands there, or their calls are JSON without one and name their tool. The
    order matters because each dialect that is asked has to be compiled once.
    """
    found = []
    for dialect, openers in _openers().items():
        stands = sum(len(opener) for opener in openers if opener in text)
        if stands or (_tells_itself(dialect) and _quoted(dialect.syntax.shape.name[-1], text)):
            found.append((-stands, dialect))
    return [dialect for _, dialect in sorted(found, key=lambda each: each[0])]


def _quoted(key: str, text: str) -> bool:
    return f'"{key}"' in text or f"'{key}'" in text


def _tells_itself(dialect: DeclaredDialect) -> bool:
    syntax = dialect.syntax
    return not syntax.call_template.before and notation_of(syntax).proves_itself


@cache
def _openers() -> dict[DeclaredDialect, tuple[str, ...]]:
    """Return the openers of each dialect's calls.

    Left out are dialects whose call is any text or any tag, and openers that a reply's own words
    could be.
    """
    found = {}
    for dialect in as_dialects(""):
        if not isinstance(dialect, DeclaredDialect) or dialect.syntax.text_keys:
            continue
        openers = tuple(o.strip() for o in dialect.syntax.openers if re.search(r"\w{3}", o))
        if openers or _tells_itself(dialect):
            found[dialect] = openers
    return found
