"""Find text that is almost a dialect's marker.

The marker may be in another case, have a blank, a wrong letter or a doubled sign, be escaped, or be
cut off by the end of the text. Most replies have no such marker, so a fast search for the words of
markers comes first.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from typing import Final, NamedTuple

from playground.base.findings import CODES, Finding, finding
from playground.dialects import as_dialects
from playground.dialects.base import Dialect
from playground.dialects.declared import DeclaredDialect
from playground.nouns.events import CallEndedEvent, CallStartedEvent, TextEvent
from playground.nouns.prompt_data import PromptData
from playground.parsing.notations import notation_of
from playground.parsing.outside_text import tags_outside_text
from playground.parsing.result import ParseResult
from playground.parsing.template import Hole

SEARCH_LIMIT: Final = 20_000  # leading characters that are searched; more would take too long
_LEAST: Final = 5  # the shortest marker that is searched for; prose may contain shorter ones
_LEAST_OFF: Final = 9  # least characters of a marker in which one letter may be wrong
# Signs of fonts and keyboards that look like signs in markers.
_SIGNS: Final = str.maketrans(
    {
        **dict.fromkeys("｜‖∥∣│┃❘❙ǀ￨¦", "|"),
        **dict.fromkeys("▁＿‗⎽⎯", "_"),
        **dict.fromkeys("＜‹〈⟨", "<"),
        **dict.fromkeys("＞›〉⟩", ">"),
    }
)
_CODED: Final = re.compile(r"\\u([0-9a-fA-F]{4})")  # an escaped character
_BLANK: Final = re.compile(r"[\s_ĠĊ\-]+|\\[nrt]|\\(?=\W)")  # Ġ, Ċ: blanks as tokenizers write them
_DOUBLED: Final = re.compile(r"([^\w\s`])\1+")  # no back-ticks: three are a fence, one is not
_TAG: Final = re.compile(r"[<\[][^<>\[\]]{2,80}[>\]]")
_ARGUMENT: Final = r"\s{0,8}(?:\W?\)|\w+\s{0,8}=)"  # a keyword argument, or the end of a call
# The beginning of an object, up to a call that is a member's value or the first item of its list.
_BEGUN_OBJECT: Final = re.compile(r'\{\s{0,8}"[^{}]{1,200}":\s{0,8}(?:\[\s{0,8})?\Z')
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
# Classes of OpenAI's and LiteLLM's clients as Python prints them, with their first field.
_PRINTED: Final = re.compile(
    r"\s{0,8}(ModelResponse|ChatCompletion(?:Message|Chunk)?|Response(?=\(id='resp_))\("
    r"(?:id|choices|content|role)=(?:['\"\[]|None)"
)


def near_marker(result: ParseResult, dialect: Dialect, prompt_data: PromptData) -> Finding | None:
    """Return a finding if a reply's text holds a misspelt marker of the dialect, or one tag of a
    marker that has several. Return None if `result` has findings or the dialect is not declared.

    If the reply has no call, a misspelt beginning of a tool's call is a finding, too.
    """
    if result.findings or not isinstance(dialect, DeclaredDialect):
        return None
    names = tuple(tool.name for tool in prompt_data.tool_metadata)
    if marker := misspelled_marker(result.content, dialect, () if result.tool_calls else names):
        spelling = _spelling_of(marker, result.content)
        prefix = f"{spelling!r} is nearly" if spelling else "nearly"
        message = f"{prefix} {marker!r} of {dialect.name}: kept as text"
        return finding("near-marker", "the whole reply", message)
    tags = tags_outside_text(dialect.syntax, dialect.markers, names)
    tag = next((tag.strip() for tag in tags if tag in f"\n{result.content}"), "")
    message = f"{tag!r}, a tag of {dialect.name}, is there without a call: kept as text"
    return finding("near-marker", "the whole reply", message) if tag else None


def printed_response(result: ParseResult) -> Finding | None:
    """Return a finding if the reply is a response object as a client library prints it."""
    first = next((event for event in result.events if isinstance(event, TextEvent)), None)
    match = _PRINTED.match(first.text) if first and not first.span.start else None
    if match is None:
        return None
    return finding("printed-response", "the whole reply", f"a {match[1]} as Python prints it")


def call_in_object(result: ParseResult) -> Finding | None:
    """Return a finding if a JSON call is in a larger object, whose other parts became text.

    The object is incomplete, or a wrapper that the dialect does not have.
    """
    before, calls = "", 0
    for event in result.events:
        if isinstance(event, TextEvent):
            before = (before + event.text)[-SEARCH_LIMIT:]
        elif isinstance(event, CallStartedEvent):
            calls += 1
            if opener := _BEGUN_OBJECT.search(before):
                text = f"the call is in an object, whose beginning {opener[0]!r:.60} stays text"
                return finding("unexpected-text", f"call {calls}", text)
        elif isinstance(event, CallEndedEvent):
            before = ""
    return None


def misspelled_marker(text: str, dialect: DeclaredDialect, names: tuple[str, ...] = ()) -> str:
    """Return the marker, or the beginning of a tool's call, that a text almost holds, or ""."""
    all_markers, words = _markers(dialect)
    searched = text[:SEARCH_LIMIT]
    # A marker that is spelt correctly was seen by the parser, which found no call there.
    markers = {marker: form for marker, form in all_markers.items() if marker not in searched}
    if half := _cut_off_marker(text, markers):
        return half
    if words is not None and words.search(searched):
        normal_text = normal_form(searched)
        for marker, form in markers.items():
            if form in normal_text and (not form[0].isalnum() or _begins_a_line(form, searched)):
                return marker
        tags = {tag for tag in _TAG.findall(normal_text) if len(tag) >= _LEAST_OFF - 1}
        for marker, form in markers.items():
            if len(form) >= _LEAST_OFF and any(_is_letter_off(tag, form) for tag in tags):
                return marker
    return _misspelled_call(searched, dialect, names)


class NearDialect(NamedTuple):
    """The dialect nearest to a text in which no dialect reads a call.

    `marker` is the dialect's marker. If `exact` is False, the text has a misspelling of it.
    """

    dialect: str = ""
    marker: str = ""
    exact: bool = False

    def __str__(self) -> str:
        nearly = "" if self.exact else "nearly "
        return f"{nearly}{self.marker!r} is there, a marker of {self.dialect}"


def nearest_dialect(text: str) -> NearDialect:
    """Return the dialect with the most characters of markers in a text, or `NearDialect()`.

    Misspelled markers count only if the text has no exact one.
    """
    searched = text[:SEARCH_LIMIT]
    normal_text = normal_form(searched)
    exact, almost = (0, NearDialect()), (0, NearDialect())
    for dialect in as_dialects(""):
        if not isinstance(dialect, DeclaredDialect):
            continue
        markers = _markers(dialect)[0]
        exact_markers = [marker for marker in markers if marker in searched]
        if exact_markers and sum(map(len, exact_markers)) > exact[0]:
            exact = (
                sum(map(len, exact_markers)),
                NearDialect(dialect.name, max(exact_markers, key=len), exact=True),
            )
        marker = misspelled_marker(text, dialect)
        size = sum(len(normal) for normal in set(markers.values()) if normal in normal_text)
        if marker and len(marker) + size > almost[0]:
            almost = len(marker) + size, NearDialect(dialect.name, marker)
    return exact[1] if exact[0] else almost[1]


def no_dialect_finding(text: str) -> Finding:
    """Return the finding that no dialect reads a text. The finding names the nearest dialect."""
    nearest = nearest_dialect(text)
    message = f"{CODES['no-dialect'].meaning}; {nearest}" if nearest.dialect else ""
    return finding("no-dialect", "the whole text", message)


def normal_form(text: str) -> str:
    """Return a text in a normal form, without the details that models get wrong in markers."""
    text = _CODED.sub(lambda code: chr(int(code[1], 16)), text)
    text = unescape(text).translate(_SIGNS).lower()
    return _DOUBLED.sub(r"\1", _BLANK.sub("", text))


def _spelling_of(marker: str, text: str) -> str:
    """Return the tag in a text that is nearly a marker, or "" if the text has no such tag."""
    form = normal_form(marker)
    tags = dict.fromkeys(_TAG.findall(text[:SEARCH_LIMIT]))
    other_tags = (tag for tag in tags if tag != marker)
    return next((tag for tag in other_tags if _is_nearly(normal_form(tag), form)), "")


def _is_nearly(tag: str, form: str) -> bool:
    return tag == form or (min(len(tag), len(form)) >= _LEAST_OFF - 1 and _is_letter_off(tag, form))


@lru_cache(maxsize=256)
def _markers(dialect: DeclaredDialect) -> tuple[dict[str, str], re.Pattern[str] | None]:
    """Return the markers of a dialect's calls (marker -> normal form), and a pattern of their
    words."""
    syntax = dialect.syntax
    param = syntax.param_template
    inner = [piece for piece in (param.before[:1] if param else ()) if isinstance(piece, str)]
    texts = [*syntax.openers, *(text.strip() for text in inner), *syntax.closers]
    markers = {text: normal_form(text) for text in texts if not text[:1].isalnum() or ":" in text}
    markers = {t: form for t, form in markers.items() if len(form) >= _LEAST and _WORD.search(form)}
    words = {word.lower() for text in markers for word in _WORD.findall(text.replace("_", " "))}
    return markers, re.compile("|".join(sorted(words)), re.IGNORECASE) if words else None


def _begins_a_line(normal: str, text: str) -> bool:
    """Return True if a marker that is a word (`Action:`) begins a line; elsewhere it is prose."""
    spaced = r"[\s_\-]{0,8}".join(map(re.escape, normal))
    return re.search(rf"(?im)^[^\w\n]{{0,8}}{spaced}", text) is not None


def _cut_off_marker(text: str, markers: dict[str, str]) -> str:
    """Return a marker whose beginning is at the end of the text, or ""."""
    tail = text[-80:].rstrip()
    line = tail.rpartition("\n")[2].strip()
    for marker in markers:
        if marker[:4] not in tail:
            continue
        for size in range(min(len(marker) - 1, len(tail)), 3, -1):
            half = marker[:size]
            ends = line == half if marker[0].isalnum() else tail.endswith(half)
            if ends and re.search(r"\w{2}", half):
                return marker
    return ""


def _misspelled_call(text: str, dialect: DeclaredDialect, names: tuple[str, ...]) -> str:
    """Return the beginning of a tool's call that the text holds in another spelling, or ""."""
    syntax = dialect.syntax
    before = syntax.call_template.before
    if not before and notation_of(syntax).proves_itself:
        key, any_of = syntax.shape.name[-1], "|".join(map(re.escape, names))
        # A key, not a word: quoted, in an object or at the beginning of a line, before a colon.
        quoted = rf"""["'\\]{{0,3}}{key}["'\\]{{0,3}}\s{{0,8}}"""
        begin = r"""(?:^|[{,"'\\])[ \t]{0,8}"""
        is_named = any_of and re.search(rf"(?m){begin}{quoted}[:=]\W{{0,8}}(?:{any_of})\b", text)
        ahead = r"\{(?:[^{}]{0,200},)?\s{0,8}"
        is_cut_off = re.search(rf"{ahead}{quoted}(?:[:=][^{{}}\n]{{0,80}})?\Z", text.rstrip())
        return f'"{key}"' if is_named or is_cut_off else ""
    hole = before.index(Hole("name")) if Hole("name") in before else -1
    next_to_name = (*before[:hole], *before[hole + 1 : hole + 2])
    if hole < 0 or not all(isinstance(piece, str) for piece in next_to_name):
        return ""
    head, tail = "".join(map(str, before[:hole])).strip(), str(next_to_name[-1]).strip()[:1]
    for name in names:
        begin = rf"{re.escape(head)}\W{{0,3}}" if head else r"\b"
        # `@list.org` is an address, and `<list-item>` is another tag.
        end = r"(?![.\-]\w)" if head else rf"""["'\\]{{0,2}}{re.escape(tail)}{_ARGUMENT}"""
        exact = head + name + tail
        if exact not in text and re.search(rf"{begin}{re.escape(name)}\b{end}", text):
            return f"{''.join(map(str, before[:hole]))}{name}{str(next_to_name[-1])[:1]}".strip()
    return ""


def _is_letter_off(first: str, second: str) -> bool:
    """Return True if adding, dropping or changing one letter turns one text into the other."""
    if abs(len(first) - len(second)) > 1 or first == second or first[1] != second[1]:
        return False  # the second sign tells a closer from an opener
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    a, b = first[start:], second[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:]
