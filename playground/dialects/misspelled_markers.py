"""Tell of text that is almost a dialect's marker: in another case, with a blank, a letter off.

Also with a sign twice, escaped, or half of it at the end. Most replies hold nothing like it: a
plain search for the markers' words comes first.
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
from playground.parsing.result import ParseResult
from playground.parsing.template import Hole

LOOKED_AT: Final = 20_000  # characters, at the beginning: no reply waits for more than a moment
_LEAST: Final = 5  # characters of a marker that prose does not hold
_LEAST_OFF: Final = 9  # of one that may be a letter off
# signs that look like those of markers, as fonts and keyboards have them
_SIGNS: Final = str.maketrans(
    {
        **dict.fromkeys("｜‖∥∣│┃❘❙ǀ￨¦", "|"),
        **dict.fromkeys("▁＿‗⎽⎯", "_"),
        **dict.fromkeys("＜‹〈⟨", "<"),
        **dict.fromkeys("＞›〉⟩", ">"),
    }
)
_CODED: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
_BLANK: Final = re.compile(r"[\s_ĠĊ\-]+|\\[nrt]|\\(?=\W)")
_DOUBLED: Final = re.compile(r"([^\w\s`])\1+")  # one back-tick is code in prose, three are a fence
_TAG: Final = re.compile(r"[<\[][^<>\[\]]{2,80}[>\]]")
_ARGUMENT: Final = r"\s{0,8}(?:\W?\)|\w+\s{0,8}=)"  # or none
# up to a call that is a member, or the first of a list
_BEGUN_OBJECT: Final = re.compile(r'\{\s{0,8}"[^{}]{1,200}":\s{0,8}(?:\[\s{0,8})?\Z')
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
# the classes of OpenAI's and LiteLLM's clients, with a field of theirs
_PRINTED: Final = re.compile(
    r"\s{0,8}(ModelResponse|ChatCompletion(?:Message|Chunk)?|Response(?=\(id='resp_))\("
    r"(?:id|choices|content|role)=(?:['\"\[]|None)"
)


def near_markup(result: ParseResult, own: Dialect, prompt_data: PromptData) -> Finding | None:
    """Return a finding if a reply without other findings almost holds one of the dialect's
    markers.

    If it holds no call either, the beginning of a call of one of the tools counts too.
    """
    if result.findings or not isinstance(own, DeclaredDialect):
        return None
    tools = () if result.tool_calls else prompt_data.tool_metadata
    names = tuple(tool.name for tool in tools)
    marker = nearly(result.content, own, names)
    if not marker:
        return None
    return finding("near-marker", "the whole reply", f"nearly {marker!r}: it is kept as text")


def printed_response(result: ParseResult) -> Finding | None:
    """Return a finding if the reply is a response object as a client library prints it."""
    first = next((event for event in result.events if isinstance(event, TextEvent)), None)
    found = _PRINTED.match(first.text) if first and not first.span.start else None
    return finding("printed-response", "the whole reply", f"a {found[1]}") if found else None


def around_a_call(result: ParseResult) -> Finding | None:
    """Return a finding if a JSON call stands in an object whose other parts are text.

    The object is torn, or is a wrapper that is not the dialect's.
    """
    if any(found.severity != "info" for found in result.findings):
        return None
    before, calls = "", 0
    for event in result.events:
        if isinstance(event, TextEvent):
            before = (before + event.text)[-LOOKED_AT:]
        elif isinstance(event, CallStartedEvent):
            calls += 1
            if begun := _BEGUN_OBJECT.search(before):
                told = f"the call stands in an object: {begun[0]!r:.60} before it is kept as text"
                return finding("unexpected-text", f"call {calls}", told)
        elif isinstance(event, CallEndedEvent):
            before = ""
    return None


def nearly(text: str, dialect: DeclaredDialect, names: tuple[str, ...] = ()) -> str:
    """Return the marker, or the beginning of a tool's call, that almost stands in the text; "" for
    none.
    """
    known, words = _markers(dialect)
    looked_at = text[:LOOKED_AT]
    # one that stands there as it is was seen, and is no call's
    markers = {marker: bare for marker, bare in known.items() if marker not in looked_at}
    if half := _half(text, markers):
        return half
    if words is not None and words.search(looked_at):
        found = folded(looked_at)
        for marker, bare in markers.items():
            if bare in found and (not bare[0].isalnum() or _begins_a_line(bare, looked_at)):
                return marker
        tags = {tag for tag in _TAG.findall(found) if len(tag) >= _LEAST_OFF - 1}
        for marker, bare in markers.items():
            if len(bare) >= _LEAST_OFF and any(_letter_off(tag, bare) for tag in tags):
                return marker
    return _call_of(looked_at, dialect, names)


class Near(NamedTuple):
    """The dialect that comes nearest to a text in which nobody reads a call, with its marker
    there.

    The marker stands there exactly or almost.
    """

    dialect: str = ""
    marker: str = ""
    exact: bool = False

    def __str__(self) -> str:
        return f"{'' if self.exact else 'nearly '}{self.marker!r} stands there, of {self.dialect}"


def nearest(text: str) -> Near:
    """Return the dialect of which most stands in a text, exactly or else almost; `Near()` for
    none.
    """
    looked_at = text[:LOOKED_AT]
    found = folded(looked_at)
    exact, nearly_so = (0, Near()), (0, Near())
    for dialect in as_dialects(""):
        if not isinstance(dialect, DeclaredDialect):
            continue
        markers = _markers(dialect)[0]
        there = [marker for marker in markers if marker in looked_at]
        if there and sum(map(len, there)) > exact[0]:
            exact = sum(map(len, there)), Near(dialect.name, max(there, key=len), exact=True)
        marker = nearly(text, dialect)
        stands = sum(len(bare) for bare in set(markers.values()) if bare in found)
        if marker and len(marker) + stands > nearly_so[0]:
            nearly_so = len(marker) + stands, Near(dialect.name, marker)
    return max(exact, nearly_so, key=lambda each: each[0])[1]


def unread(text: str) -> Finding:
    """Return a finding that no dialect reads a text, with what comes nearest."""
    near = nearest(text)
    meaning = CODES["no-dialect"].meaning
    return finding("no-dialect", "the whole text", f"{meaning}; {near}" if near.dialect else "")


def folded(text: str) -> str:
    """Return a text without the details that models get wrong in markers."""
    text = _CODED.sub(lambda code: chr(int(code[1], 16)), text)
    text = unescape(text).translate(_SIGNS).lower()
    return _DOUBLED.sub(r"\1", _BLANK.sub("", text))


@lru_cache(maxsize=256)
def _markers(dialect: DeclaredDialect) -> tuple[dict[str, str], re.Pattern[str] | None]:
    """Return the markers of calls, each with its folded form, and their words."""
    syntax = dialect.syntax
    param = syntax.param_template
    inner = [piece for piece in (param.before[:1] if param else ()) if isinstance(piece, str)]
    listed = [*syntax.openers, *(text.strip() for text in inner), *syntax.closers]
    markers = {text: folded(text) for text in listed if not text[:1].isalnum() or ":" in text}
    markers = {t: bare for t, bare in markers.items() if len(bare) >= _LEAST and _WORD.search(bare)}
    words = {word.lower() for text in markers for word in _WORD.findall(text.replace("_", " "))}
    return markers, re.compile("|".join(sorted(words)), re.IGNORECASE) if words else None


def _begins_a_line(bare: str, text: str) -> bool:
    """Return True if a marker of words, `Action:`, stands where a call begins; elsewhere it is
    prose.
    """
    spaced = r"[\s_\-]{0,8}".join(map(re.escape, bare))
    return re.search(rf"(?im)^[^\w\n]{{0,8}}{spaced}", text) is not None


def _half(text: str, markers: dict[str, str]) -> str:
    """Return the marker of which a beginning ends the text."""
    tail = text[-80:].rstrip()
    line = tail.rpartition("\n")[2].strip()
    for marker in markers:
        for size in range(min(len(marker) - 1, len(tail)), 3, -1):
            half = marker[:size]
            ends = line == half if marker[0].isalnum() else tail.endswith(half)
            if ends and re.search(r"\w{2}", half):
                return marker
    return ""


def _call_of(text: str, dialect: DeclaredDialect, names: tuple[str, ...]) -> str:
    """Return the beginning of a tool's call that the text writes in another way."""
    syntax = dialect.syntax
    before = syntax.call_template.before
    if not before and notation_of(syntax).proves_itself:
        key, listed = syntax.shape.name[-1], "|".join(map(re.escape, names))
        # a key, not a word: in quotes, in an object or at the beginning of a line, and with a colon
        quoted = rf"""["'\\]{{0,3}}{key}["'\\]{{0,3}}\s{{0,8}}"""
        begin = r"""(?:^|[{,"'\\])[ \t]{0,8}"""
        told = listed and re.search(rf"(?m){begin}{quoted}[:=]\W{{0,8}}(?:{listed})\b", text)
        ahead = r"\{(?:[^{}]{0,200},)?\s{0,8}"
        begun = re.search(rf"{ahead}{quoted}(?:[:=][^{{}}\n]{{0,80}})?\Z", text.rstrip())
        return f'"{key}"' if told or begun else ""
    at = before.index(Hole("name")) if Hole("name") in before else -1
    around = (*before[:at], *before[at + 1 : at + 2])
    if at < 0 or not all(isinstance(piece, str) for piece in around):
        return ""
    head, tail = "".join(map(str, before[:at])).strip(), str(around[-1]).strip()[:1]
    for name in names:
        begin = rf"{re.escape(head)}\W{{0,3}}" if head else r"\b"
        # `@list.org` is an address, and `<list-item>` another tag
        end = r"(?![.\-]\w)" if head else rf"""["'\\]{{0,2}}{re.escape(tail)}{_ARGUMENT}"""
        written = head + name + tail
        if written not in text and re.search(rf"{begin}{re.escape(name)}\b{end}", text):
            return written
    return ""


def _letter_off(one: str, other: str) -> bool:
    """Return True if adding, dropping or changing one letter turns one text into the other."""
    if abs(len(one) - len(other)) > 1 or one == other or one[1] != other[1]:
        return False  # an opener is no closer
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    rest, others = one[start:], other[start:]
    return rest[1:] == others[1:] or rest[1:] == others or rest == others[1:]
