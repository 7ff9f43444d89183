"""Variations: how the calls of a reply differ from what their dialect writes, though well-formed.

A variation gives no finding, because a lenient parser needs no repair to read it. A server's own
parser may be strict, so its reading is unknown until it was run on such replies. The calls are
rendered and read again: the text around names and values must be the same in both readings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal

from playground.nouns.events import (
    ArgumentEvent,
    CallAbortedEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    MarkupEvent,
    ReasoningEvent,
    TextEvent,
)
from playground.nouns.tools import ToolMetadata
from playground.parsing.declaration import Declaration
from playground.parsing.rendering import no_schema, render_call, render_calls

Variation = Literal["white space", "order of parameters", "another form"]
VARIATIONS: Final[tuple[Variation, ...]] = ("white space", "order of parameters", "another form")
"""`another form` is a form of the declaration that the dialect reads and does not write."""
_ROLES: Final = ("section", "call", "separator")
_QUOTED: Final = r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'"""
_CUT_CODES: Final = frozenset(
    {"missing-closer", "unclosed-section", "truncated-call", "unreadable-call", "missing-opener"}
)
"""Codes of findings about a missing marker. In a reply with such a finding, half a marker is no
variation."""
_COUNTED: Final = re.compile(r"[0-9]+")  # a server may not accept digits of other scripts


def variations(
    syntax: Declaration,
    tools: Sequence[ToolMetadata],
    events: Sequence[Event],
    read: Callable[[str], Sequence[Event]],
    has_headers: bool = False,
) -> set[Variation]:
    """Return the variations in a reply's delivered calls. `read` reads a text of the dialect; with
    `has_headers`, its messages begin with a header."""
    calls = [event for event in events if isinstance(event, CallEndedEvent)]
    if not calls:
        return set()
    by_name = {tool.name: tool for tool in tools}
    kinds: set[Variation] = set()
    if any(_is_out_of_order(call, by_name) for call in calls):
        kinds.add("order of parameters")
    if has_headers and _has_bare_text(events):
        kinds.add("another form")
    rendered = [_rendered(syntax, call, at, by_name) for at, call in enumerate(calls)]
    texts = re.compile(rf"{_text_in(syntax.string_mark)}{_QUOTED}", re.DOTALL)
    listed = [render_calls(syntax, rendered), *(render_calls(syntax, [one]) for one in rendered)]
    readings = [read(text) for text in dict.fromkeys(listed)]
    rendered_parts = {part for reading in readings for part in _parts(reading)}
    bare = {(edges, _without_space(part)) for edges, part in rendered_parts}
    calls_again = [event for event in readings[0] if isinstance(event, CallEndedEvent)]
    for call, call_again in zip(calls, calls_again, strict=False):
        kinds |= _variations_of_values(call, call_again, texts, bool(syntax.string_mark))
    is_cut = any(isinstance(e, FindingEvent) and e.finding.code in _CUT_CODES for e in events)
    for edges, part in _parts(events):
        if (edges, part) in rendered_parts:
            continue
        if is_cut and any(w.startswith(part) or w.endswith(part) for _, w in rendered_parts):
            continue
        kinds.add("white space" if (edges, _without_space(part)) in bare else "another form")
    return kinds


def _variations_of_values(
    call: CallEndedEvent, call_again: CallEndedEvent, texts: re.Pattern[str], is_marked: bool
) -> set[Variation]:
    """Return the variations in a body, or in parameters that are not texts, such as `True` for
    true. `call_again` is the call rendered and read again; texts (`texts`) may differ."""
    kinds: set[Variation] = set()
    values = {key: _normalized(texts.sub('""', text), is_marked) for key, text in call_again.raw}
    for key, text in call.raw:
        if key not in values or (key and isinstance(call.arguments.get(key), str)):
            continue
        value = _normalized(texts.sub('""', text), is_marked)
        if value != values[key]:
            same = _without_space(value) == _without_space(values[key])
            kinds.add("white space" if same else "another form")
    return kinds


def _has_bare_text(events: Sequence[Event]) -> bool:
    """Return True if a text of the reply lacks the header of a message."""
    role = ""
    for event in events:
        match event:
            case MarkupEvent(role=role):
                pass
            case TextEvent(text=text) if role != "text" and text.strip():
                return True
    return False


def _text_in(mark: str) -> str:
    """Return the pattern of a text between marks and a `|` after it; "" without a mark."""
    return f"{re.escape(mark)}.*?{re.escape(mark)}|" if mark else ""


def _is_out_of_order(call: CallEndedEvent, tools: Mapping[str, ToolMetadata]) -> bool:
    """Return True if a call has its parameters in another order than its tool's schema."""
    tool = tools.get(call.name)
    listed = list(tool.input_schema.get("properties") or ()) if tool else []
    places = [listed.index(key) for key in call.arguments if key in listed]
    return places != sorted(places)


def _rendered(
    syntax: Declaration, call: CallEndedEvent, index: int, tools: Mapping[str, ToolMetadata]
) -> tuple[str, str]:
    tool = tools.get(call.name)
    schema_of = tool.parameter_schema if tool else no_schema
    arguments = call.arguments
    return call.name, render_call(syntax, call.name, arguments, call.call_id, schema_of, index)


def _without_aborted_calls(events: Sequence[Event]) -> Iterator[Event]:
    """Yield the events without those inside a call that was not delivered."""
    aborted = {event.call_index for event in events if isinstance(event, CallAbortedEvent)}
    is_skipping = False
    for event in events:
        if isinstance(event, CallStartedEvent):
            is_skipping = event.call_index in aborted
        is_skipping = is_skipping and not isinstance(event, CallAbortedEvent)
        if not is_skipping:
            yield event


def _parts(events: Sequence[Event]) -> Iterator[tuple[str, str]]:
    """Yield (kinds, markup) for the markup between two neighbours, each a name, a value or a text.

    `kinds` names both kinds, as in "text name". White space next to a text is left out, and so are
    aborted calls.
    """
    markup, before = "", "text"
    for event in (*_without_aborted_calls(events), TextEvent(0, ".")):
        match event:
            case MarkupEvent(role=role, text=text) if role in _ROLES:
                markup += text
                continue
            case TextEvent(text=text) | ReasoningEvent(text=text) | FindingEvent(text=text):
                if not text.strip():
                    continue
                after = "text"
            case ArgumentEvent():
                after = "a value"
            case CallAbortedEvent():
                after = "text"
            case CallNamedEvent():
                after = "name"
            case _:
                continue
        part = markup.lstrip() if before == "text" else markup
        part = part.rstrip() if after == "text" else part
        if part or "text" not in (before, after):
            yield f"{before} {after}", _normalized(part)
        markup, before = "", after


def _normalized(part: str, is_marked: bool = False) -> str:
    """Return a part without details that are no variation: numbers become 0, and the blank after a
    comma or a colon is removed, unless the syntax has a `string_mark` (`is_marked`)."""
    part = _COUNTED.sub("0", part)
    return part if is_marked else re.sub(r"(?<=[,:]) ", "", part)


def _without_space(part: str) -> str:
    return "".join(part.split())
