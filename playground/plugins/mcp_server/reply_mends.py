"""Changes of a reply, or of the parser that reads it, after which a server delivers its calls.

Each change is tried with the server's view. It is offered only if more calls arrive, or fewer
characters are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import accumulate
from typing import Any, Final

from playground.dialects import get_dialect
from playground.dialects.reading import parse
from playground.nouns.events import CallEndedEvent, ReasoningEvent, TextEvent
from playground.nouns.messages import Message, Part, TextPart, ToolCallPart
from playground.nouns.prompt_data import PromptData
from playground.nouns.tools import ToolMetadata
from playground.parsing.result import ParseResult, gather
from playground.parsing.switches import Switches
from playground.plugins.mcp_server.answers import Mend
from playground.questions.detection import detect
from playground.servers import ServerReading, get_server

_GENEROUS: Final = Switches(calls_in_fences="call", calls_in_reasoning="call")
_MOST: Final = 3
_LONG: Final = 200  # characters of a call in words; its edit has all of it
_CLOSERS: Final = ("}", "}}", "]}}", '"}', '"}}')  # brackets that a call may lack
_EMPTY_FENCE: Final = re.compile(r"(```|~~~)[^\S\n]*\w*\s*\1")
_MOVES: Final = ("its reasoning moves to its beginning", "its text moves before its calls")
_LETTERS: Final = re.compile(r"[^a-z0-9]")
_Arguments = dict[str, Any]


def reply_mends(
    text: str, dialect: str, server: str, tools: Sequence[ToolMetadata], own: bool
) -> list[Mend]:
    """Return at most three changes after which the server delivers more of a reply, the best first.

    `own` is False if the reply is in a file. Then the edits put the reply into the arguments.
    """
    now = _read(text, dialect, server, tools)
    mends: list[tuple[tuple[int, ...], Mend]] = []
    for words, changed, assumes, gone in _changes(text, dialect, server, tools):
        arguments = {"reply": text, "dialect": dialect, "server": server} | changed
        then = _read(arguments["reply"], arguments["dialect"], arguments["server"], tools)
        rank = _rank(then, tools, gone)
        if rank >= _rank(now, tools):
            continue
        given = [f"{call.name}({call.arguments})" for call in then.tool_calls]
        calls = ", ".join(f"{one[:_LONG]}…" if len(one) > _LONG else one for one in given)
        sure = "assumed" if then.assumed else "certain"
        edits = [{"op": "add", "path": f"/{key}", "value": value} for key, value in changed.items()]
        if not own:
            edits += [{"op": "remove", "path": "/path"}]
            edits += [] if "reply" in changed else [{"op": "add", "path": "/reply", "value": text}]
        lost = then.dropped_characters + sum(map(len, gone))
        assumes = (*assumes, *(f"{each.strip()!r} is left out" for each in gone))
        after = f"{then.name} hands over {calls or 'no call'}; {lost:,} characters are lost"
        mend = Mend(change=words, edits=edits, then=f"{after} ({sure})", assumes=[*assumes])
        if all(mend.edits != other.edits for _, other in mends):
            mends.append(((*rank, len(assumes), then.assumed), mend))
    return [mend for _, mend in sorted(mends, key=lambda pair: pair[0])[:_MOST]]


def _rank(
    reading: ServerReading, tools: Sequence[ToolMetadata], gone: Sequence[str] = ()
) -> tuple[int, ...]:
    """Return a sort key, lower if fewer calls are missing, unknown or cut, or less text is lost."""
    offered = {tool.name for tool in tools}
    cut = sum(found.code == "server-delivers" for found in reading.findings)
    good = sum(call.name in offered or not tools for call in reading.tool_calls) - cut
    lost = [*(event.text for event in reading.dropped), *gone]
    return -good, len(reading.tool_calls) - good, sum(len(text.strip()) for text in lost)


def _read(text: str, dialect: str, server: str, tools: Sequence[ToolMetadata]) -> ServerReading:
    reading = parse(text, dialect, tools, server=server)
    assert isinstance(reading, ServerReading)
    return reading


# words, arguments, assumptions, texts left out
_Change = tuple[str, _Arguments, tuple[str, ...], Sequence[str]]


def _changes(
    text: str, dialect: str, server: str, tools: Sequence[ToolMetadata]
) -> Iterator[_Change]:
    """Yield changes to try: another dialect's parser, the calls written anew, a call closed."""
    best = detect(text, tools).nearest
    as_is = parse(text, dialect, tools, switches=_GENEROUS)
    thought = _plain(as_is.reasoning)  # reasoning, which must not become text
    if best and best != dialect and thought in _plain(parse(text, best, tools).reasoning):
        base = server.partition(":")[0]
        if parser := get_server(base, best).parser:  # without one, calls are delivered as text
            named = f"{base}:{parser.name}"
            yield f"read it as {best}, by {named}", {"dialect": best, "server": named}, (), ()
    for name in dict.fromkeys(filter(None, (dialect, best))):
        read = parse(text, name, tools, switches=_GENEROUS)
        yield from _rewritten(read, dialect, tools, f"write its calls as {dialect} has them", ())
    for closers in _CLOSERS:
        completed = _completed(text, dialect, closers)
        read = parse(completed, dialect, tools, switches=_GENEROUS)
        more = len(read.tool_calls) > len(as_is.tool_calls)  # nothing is added to a complete call
        if more and not read.aborted and _plain(read.content) == _plain(as_is.content):
            assumes = (f"only {closers} is missing at the call's end",)
            yield from _rewritten(read, dialect, tools, f"close the call with {closers}", assumes)
            break


def _completed(text: str, dialect: str, closers: str) -> str:
    """Return a reply with closing brackets before the last closer of its dialect, if any."""
    parser = get_dialect(dialect).create_parser(PromptData())
    ends = [closer for closer in parser.closers if text.rstrip().endswith(closer)]
    body = text.rstrip().removesuffix(max(ends, key=len)) if ends else text
    return f"{body.rstrip()}{closers}{text[len(body.rstrip()) :]}"


def _rewritten(
    read: ParseResult,
    dialect: str,
    tools: Sequence[ToolMetadata],
    words: str,
    assumes: tuple[str, ...],
) -> Iterator[_Change]:
    """Yield the reply as the dialect writes it: reasoning, text, then calls by offered names.

    Nothing is yielded if the dialect would read other text or other calls in it.
    """
    chosen = get_dialect(dialect)
    if not read.tool_calls or chosen.is_native_toolcalling():
        return
    offered, names = [tool.name for tool in tools], dict[str, str]()
    for call in read.tool_calls:
        nearest = _nearest(call.name, offered)
        names[call.name] = nearest
        if nearest != call.name:
            assumes = (*assumes, f"{call.name} is meant as {nearest}")
    calls = [
        ToolCallPart(f"call_{number}", names[call.name], call.arguments)
        for number, call in enumerate(read.tool_calls, 1)
    ]
    content, gone = _without_markers(read.content, dialect)
    no_text = [ReasoningEvent(e.span, "") if isinstance(e, TextEvent) else e for e in read.events]
    gone += filter(None, [gather(no_text, Switches(broken_calls="text")).content])
    parts: list[Part] = [TextPart(content)] if content else []
    item = chosen.format_history_item(Message("assistant", (*parts, *calls)), tools)
    written = item.get("content") if item else None
    if isinstance(written, list):
        written = "".join(str(part.get("text", "")) for part in written)
    if not isinstance(written, str) or not written:
        return
    # A template leaves reasoning out of its history, so it is put in front, with its own markers.
    thought = "".join(
        getattr(event, "text", "")
        for event in read.events
        if isinstance(event, ReasoningEvent) or getattr(event, "role", "") == "reasoning"
    )
    for front in dict.fromkeys((thought, f"<think>{read.reasoning}</think>", "")):
        again = parse(front + written, dialect, tools)
        same = len(again.tool_calls) == len(calls) and _plain(again.content) == _plain(content)
        if same and (not front or _plain(again.reasoning) == _plain(read.reasoning)):
            gone += [read.reasoning] if read.reasoning.strip() and not front else []
            arguments = {"reply": front + written, "dialect": dialect}
            yield f"{words}{_moves(read)}", arguments, assumes, gone
            return


def _nearest(name: str, offered: Sequence[str]) -> str:
    """Return the offered name that a name is closest to, or the name itself."""
    if name in offered:
        return name
    known = {_LETTERS.sub("", each.lower()): each for each in offered}
    plain = _LETTERS.sub("", name.lower())
    close = get_close_matches(plain, known, 1, 0.75) or [each for each in known if each in plain]
    return known[close[0]] if close else name


def _without_markers(content: str, dialect: str) -> tuple[str, list[str]]:
    """Return a text without a dialect's markers and empty fences, and what was left out."""
    parser = get_dialect(dialect).create_parser(PromptData())
    gone = []
    for marker in sorted((*parser.openers, *parser.closers), key=len, reverse=True):
        gone += [marker] * content.count(marker)
        content = content.replace(marker, "")
    gone += [found[0] for found in _EMPTY_FENCE.finditer(content)]
    return _EMPTY_FENCE.sub("", content).strip(), gone


def _moves(read: ParseResult) -> str:
    """Say which parts of a reply move if reasoning, text and calls are written in this order."""
    order = [
        0 if isinstance(event, ReasoningEvent) else 1 if isinstance(event, TextEvent) else 2
        for event in read.events
        if isinstance(event, CallEndedEvent)
        or (isinstance(event, ReasoningEvent | TextEvent) and event.text.strip())
    ]
    moved = {rank for rank, most in zip(order, accumulate(order, max), strict=True) if rank < most}
    return "".join(f"; {_MOVES[rank]}" for rank in sorted(moved))


def _plain(text: str) -> str:
    """Return a text without white space."""
    return "".join(text.split())
