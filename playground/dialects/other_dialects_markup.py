"""Find another dialect's calls in a reply in which the chosen dialect reads none.

Most replies hold no call at all, so fast searches for texts come before any parsing.
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
from playground.nouns.tools import ToolMetadata
from playground.parsing.notations import notation_of
from playground.parsing.result import ParseResult, read_to_end

SEARCH_LIMIT: Final = 200_000  # characters of a reply that are searched for the first marker
READ_LIMIT: Final = 20_000  # characters after the marker that are parsed
_LONE_MARKERS: Final = {"bare-opener", "orphan-closer", "unclosed-section"}
_TAG: Final = re.compile(  # the beginning of a tag with a word of calls in its name
    r"<(?![a-z]{1,2}>|[\s/])[^\s<>]{0,24}?(?:tool|func|invoke|call|action|arg_|param|channel)"
)
# A character -> markers that hold it. Most prose has none of these characters, and searching for a
# character takes a tenth of the time.
_MARKERS: Final = {
    "_": ("tool_",),  # in a fence (`tool_code`) or a key of JSON (`tool_name`)
    "[": ("[TOOL_CALLS]", "functools["),
    ">": (">>>",),
    "{": ("call:", "arguments", "parameters", '"args"', "action_input"),
    ":": ("Action:",),
}


def foreign_markup(result: ParseResult, own: Dialect, prompt_data: PromptData) -> Finding | None:
    """Return a finding if another dialect reads calls in the text that `own` left as content.

    Return None if none does, and for a reply with other findings than those on lone markers.
    """
    lone_markers = {*_LONE_MARKERS, *([] if _has_opener(own) else ["missing-opener"])}
    if any(earlier.code not in lone_markers for earlier in result.findings):
        return None
    start, marker = _first_marker(result.content)
    if start < 0:
        return None
    text = result.content[start : marker + READ_LIMIT]
    names = {tool.name for tool in prompt_data.tool_metadata}
    readings = _readings_of(text, prompt_data.tool_metadata)
    for dialect in _speakers(text):
        if dialect is own:
            continue
        called_names = readings.called_names(dialect, prompt_data)
        if called_names and (not names or names.intersection(called_names)):
            calls = counted(len(called_names), "call")
            message = f"{dialect.name} sees {calls} here, {own.name} none"
            return finding("foreign-markup", f"from character {start}", message)
    return None


class _Readings:
    """The names of the tools that each dialect's parser finds called in a text.

    They are cached, because detecting a reply's dialect asks for them once per dialect.
    """

    def __init__(self, text: str, tools: list[ToolMetadata]) -> None:
        self.text = text
        self.tools = tools
        self._names: dict[DeclaredDialect, list[str]] = {}

    def called_names(self, dialect: DeclaredDialect, prompt_data: PromptData) -> list[str]:
        names = self._names.get(dialect)
        if names is None:
            parser = dialect.create_parser(prompt_data)
            result = read_to_end(parser, [parser.feed_text(self.text)])
            names = [call.name for call in result.tool_calls]
            names += [call.name or "" for call in result.aborted]
            self._names[dialect] = names
        return names


_last_readings = _Readings("", [])


def _readings_of(text: str, tools: list[ToolMetadata]) -> _Readings:
    """Return the readings of a text; the last text's readings are cached."""
    global _last_readings
    readings = _last_readings
    if readings.text != text or readings.tools != tools:
        readings = _last_readings = _Readings(text, list(tools))
    return readings


def _first_marker(text: str) -> tuple[int, int]:
    """Return where to begin reading, and the start of the first marker of any dialect.

    Reading begins with the marker's line or, if a brace opens before the marker, with the brace's
    line. Without a marker, return (-1, -1).
    """
    signs = [sign for sign in _MARKERS if text.find(sign, 0, SEARCH_LIMIT) >= 0]
    places = [text.find(marker, 0, SEARCH_LIMIT) for sign in signs for marker in _MARKERS[sign]]
    tag = _TAG.search(text, 0, SEARCH_LIMIT)
    places += [tag.start()] if tag else []
    first = min((place for place in places if place >= 0), default=-1)
    if first < 0:
        return -1, -1
    # JSON may have many lines: begin at its brace.
    brace = text.rfind("{", max(first - READ_LIMIT, 0), first)
    return text.rfind("\n", 0, brace if brace >= 0 else first) + 1, first


def _speakers(text: str) -> list[DeclaredDialect]:
    """Return the dialects that may read calls in a text, those with most openers in it first.

    Such a dialect has an opener that is in the text; or its calls are JSON without an opener, and
    its key for the tool's name is in the text. The likeliest dialect comes first, because a dialect
    is compiled at its first use.
    """
    speakers = []
    for dialect, openers in _openers().items():
        size = sum(len(opener) for opener in openers if opener in text)
        if size or (_has_no_opener(dialect) and _quoted(dialect.syntax.shape.name[-1], text)):
            speakers.append((-size, dialect))
    return [dialect for _, dialect in sorted(speakers, key=lambda speaker: speaker[0])]


def _quoted(key: str, text: str) -> bool:
    return f'"{key}"' in text or f"'{key}'" in text


def _has_opener(dialect: Dialect) -> bool:
    return isinstance(dialect, DeclaredDialect) and bool(dialect.syntax.openers)


def _has_no_opener(dialect: DeclaredDialect) -> bool:
    syntax = dialect.syntax
    return not syntax.call_template.before and notation_of(syntax).proves_itself


@cache
def _openers() -> dict[DeclaredDialect, tuple[str, ...]]:
    """Return the openers of each dialect's calls.

    Dialects that read any text as a call are left out, and so are openers without three letters.
    """
    openers_of = {}
    for dialect in as_dialects(""):
        if not isinstance(dialect, DeclaredDialect) or dialect.syntax.text_keys:
            continue
        openers = tuple(o.strip() for o in dialect.syntax.openers if re.search(r"\w{3}", o))
        if openers or _has_no_opener(dialect):
            openers_of[dialect] = openers
    return openers_of
