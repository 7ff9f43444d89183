"""The laws of a dialect: each function tests one example. It returns a `LawBreak`, or None if the
law holds for the example.

Laws 4, 8 and 9 are about the engine and the package, so a declaration cannot break them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from playground.dialects.checking import check_tool_call
from playground.dialects.prompts import sample_arguments
from playground.nouns.events import CallAbortedEvent, CallEndedEvent, CallStartedEvent, Event
from playground.nouns.messages import ToolCallPart
from playground.nouns.prompt_data import PromptData
from playground.parsing.result import ParseResult
from playground.parsing.values import same
from playground.plugins.own_dialects.laws.choices import Choices
from playground.plugins.own_dialects.laws.examples import LIST, TOOLS, Subject


@dataclass(frozen=True, slots=True)
class LawBreak:
    """An example that breaks a law: `says` states how, and `shown` has labelled texts of it."""

    says: str
    shown: tuple[tuple[str, str], ...]


Law = Callable[[Subject, Choices], LawBreak | None]


def any_chunking(subject: Subject, choices: Choices) -> LawBreak | None:
    """Check law 1: the events must be the same however the bytes are cut into pieces."""
    text = subject.stream(choices)
    stream = text.encode("utf-8", "surrogatepass")
    places = choices.several(lambda: choices.below(len(stream) + 1), 6)
    expected = subject.read([stream]).events
    for pieces in (_cut_at(stream, places), [stream[i : i + 1] for i in range(len(stream))]):
        actual = subject.read(pieces).events
        if actual != expected:
            shown = [("stream", text), ("whole", _events(expected)), ("in pieces", _events(actual))]
            cuts = " | ".join(piece.decode("utf-8", "replace") for piece in pieces)
            return LawBreak("another cutting gives other events", (*shown, ("pieces", cuts)))
    return None


def nothing_lost(subject: Subject, choices: Choices) -> LawBreak | None:
    """Check law 2: the events' spans must cover the stream without gaps or overlaps."""
    text = subject.stream(choices)
    position = 0
    events = subject.read_text(text).events
    shown = (("stream", text), ("events", _events(events)))
    for event in events:
        start, stop = event.span.start, event.span.stop
        if start != position or stop < start:
            return LawBreak(f"no event has character {min(start, position)}, or two have it", shown)
        if hasattr(event, "text") and event.text != text[start:stop]:
            return LawBreak(f"an event's text differs from characters {start} to {stop}", shown)
        position = stop
    if position != len(text):
        return LawBreak(f"the text after character {position} is in no event", shown)
    return None


def carried(subject: Subject, choices: Choices) -> LawBreak | None:
    """Check law 3: values that are written must be read back.

    A plain value must come back alone, after prose, and before another call. A hostile value, or
    one of a form whose calls hold only texts, may also be refused with a finding.
    """
    hostile = choices.below(2)
    call = subject.hostile_call(choices) if hostile else subject.plain_call(choices)
    if check_tool_call(subject.dialect, call, TOOLS):
        if hostile or subject.text_keys:
            return None
        return LawBreak("a plain value does not come back", _evidence(subject, call))
    if hostile:
        return None
    call_text = subject.write(call)
    after_prose = subject.read_text(f"Well, a quay.\n\n{call_text}")
    if not _came_back(after_prose, [call]):
        return LawBreak("a call is not read if prose precedes it", _evidence(subject, call))
    if subject.declared and subject.declared.parallel and not subject.unclosed:
        two = subject.declared.format_reply([call, call], TOOLS)
        if not _came_back(subject.read_text(two), [call, call]) and not _joins(subject):
            return LawBreak(
                "of two consecutive calls, not both are read", _evidence(subject, call, two)
            )
    return None


def never_raises(subject: Subject, choices: Choices) -> LawBreak | None:
    """Check law 5: the parser must never raise, and every call that begins must end."""
    text = subject.stream(choices) + choices.of(["", *subject.other_bodies])
    stray = bytes(choices.several(lambda: choices.below(256), 6))
    try:
        events = subject.read([text.encode("utf-8", "surrogatepass") + stray]).events
    except Exception as error:  # any exception of a parser breaks the law
        says = f"reading raises {type(error).__name__}: {error}"
        return LawBreak(says, (("stream", text), ("and these bytes", repr(stray))))
    started = sum(isinstance(event, CallStartedEvent) for event in events)
    ended = sum(isinstance(event, CallEndedEvent | CallAbortedEvent) for event in events)
    if started != ended:
        says = f"{started} calls begin and {ended} end"
        return LawBreak(says, (("stream", text), ("events", _events(events))))
    return None


def cut_is_not_whole(subject: Subject, choices: Choices) -> LawBreak | None:
    """Check law 6: a call that was cut off must never be delivered as another call."""
    call = subject.hostile_call(choices) if choices.below(2) else subject.plain_call(choices)
    if check_tool_call(subject.dialect, call, TOOLS):
        return None
    call_text = subject.write(call)
    stop = len(call_text) - choices.below(len(call_text) + 1)
    result = subject.read_text(call_text[:stop])
    if "open-ended" in [finding.code for finding in result.findings]:
        return None  # in this form, no marker closes a call, and a finding says so
    for call_read in result.tool_calls:
        if call_read.name != call.tool_name or not same(call_read.arguments, call.args):
            shown = (
                ("cut off", call_text[:stop]),
                ("delivered", _call_text(call_read.name, call_read.arguments)),
            )
            says = "a call that was cut off is delivered as another call"
            return LawBreak(says, (*_evidence(subject, call), *shown))
    return None


def prompt_teaches(subject: Subject, choices: Choices) -> LawBreak | None:
    """Check law 7: the parser must read the calls that the prompt shows."""
    tool = subject.tool(choices)
    tools = [tool, LIST]
    if subject.text_keys:
        return _text_form_teaches(subject)
    for one_tool in tools:
        for arguments in (sample_arguments(one_tool), *(e.parameters for e in one_tool.examples)):
            part = ToolCallPart("call_1", one_tool.name, subject.without_null(dict(arguments)))
            if check_tool_call(subject.dialect, part, tools):
                continue  # an example may hold a hostile value, which law 3 covers
            text = subject.dialect.format_example(one_tool.name, part.args, one_tool)
            result = subject.read_text(text, tools)
            if not _came_back(result, [part]):
                return LawBreak("an example is not read back", (("example", text),))
    return _system_teaches(subject, tools)


def only_declared_is_markup(subject: Subject, choices: Choices) -> LawBreak | None:
    """Check law 10: prose around a call must stay content, except for white space next to it."""
    texts = [subject.prose(choices), subject.prose(choices)]
    call = subject.plainest(path="one", content="two\n")
    if not all(texts) or check_tool_call(subject.dialect, call, TOOLS):
        return None
    call_text = subject.write(call)
    stream = f"{texts[0]}\n{call_text}\n{texts[1]}"
    if subject.declared and subject.declared.opens_reasoning:
        stream = subject.declared.reasoning[0].close + stream
    result = subject.read_text(stream)
    if subject.unclosed:
        if result.content.strip() == texts[0].strip():
            return None
    elif len(result.tool_calls) == 1:
        expected = r"\s*".join(["", *(re.escape(text.strip()) for text in texts), ""])
        if re.fullmatch(expected, result.content):
            return None
    calls = [_call_text(each.name, each.arguments) for each in result.tool_calls]
    shown = (("stream", stream), ("content", result.content), ("calls", "\n".join(calls)))
    return LawBreak("prose around a call does not come back as it was", shown)


LAWS: Final[dict[int, tuple[str, Law]]] = {
    1: ("Any chunking gives the same events", any_chunking),
    2: ("Nothing is lost: the events tile the stream", nothing_lost),
    3: ("Values come back, or the finding names them", carried),
    5: ("The model's text never raises", never_raises),
    6: ("A call that is cut off is never delivered changed", cut_is_not_whole),
    7: ("The prompt teaches what the parser reads", prompt_teaches),
    10: ("Only what is declared is markup", only_declared_is_markup),
}


def _text_form_teaches(subject: Subject) -> LawBreak | None:
    """Check law 7 for a form whose arguments are all texts: the call in the rules must be read."""
    call = subject.plainest()
    rules = subject.dialect.format_dialect_rules(PromptData(tool_metadata=list(TOOLS)))
    if _came_back(subject.read_text(rules), [call]):
        return None
    return LawBreak("the call in the rules is not read back", (("rules", rules),))


def _system_teaches(subject: Subject, tools: list[Any]) -> LawBreak | None:
    """Check law 7 for a system prompt: the parser must read the calls in it, and no others."""
    dialect = subject.dialect
    if dialect.is_native_toolcalling() or subject.unclosed:
        return None
    system = dialect.format_system_prompt(PromptData(tool_metadata=tools))["content"][0]["text"]
    read_names = {call.name for call in subject.read_text(system, tools).tool_calls}
    if read_names == {tools[0].name}:
        return None
    says = f"the parser reads calls of {', '.join(sorted(read_names)) or 'no tool'} in the prompt"
    return LawBreak(f"{says}, which shows those of {tools[0].name}", (("prompt", system),))


def _cut_at(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(set(places)), len(data)]
    return [data[a:b] for a, b in zip(edges, edges[1:], strict=False)]


def _came_back(result: ParseResult, calls: list[ToolCallPart]) -> bool:
    pairs = list(zip(result.tool_calls, calls, strict=False))
    return len(result.tool_calls) == len(calls) and all(
        read.name == call.tool_name and same(read.arguments, call.args) for read, call in pairs
    )


def _evidence(subject: Subject, call: ToolCallPart, text: str = "") -> tuple[tuple[str, str], ...]:
    call_text = text or subject.write(call)
    result = subject.read_text(call_text)
    calls = "\n".join(_call_text(each.name, each.arguments) for each in result.tool_calls)
    content = (("left as text", result.content),) if result.content.strip() else ()
    return (
        ("call", _call_text(call.tool_name, call.args)),
        ("written", call_text),
        ("read", calls or "no call"),
        *content,
    )


def _call_text(name: str, arguments: Any) -> str:
    return f"{name} {json.dumps(arguments, ensure_ascii=False)}"


def _events(events: list[Event]) -> str:
    return "\n".join(_lines(events))


def _lines(events: list[Event]) -> Iterator[str]:
    for event in events:
        kind = type(event).__name__.removesuffix("Event")
        text = f" {event.text!r}" if hasattr(event, "text") else ""
        yield f"{event.span.start}–{event.span.stop} {kind}{text}"


def _joins(subject: Subject) -> bool:
    """Return True if the form joins consecutive calls into one call."""
    return bool(subject.syntax and subject.syntax.joined)
