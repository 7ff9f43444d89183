"""A reader that turns native tool-call deltas into the same events as text dialects.

Deltas of parallel calls may interleave (`index` tells them apart); ids and names may come late.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from playground.base.findings import finding
from playground.base.json_numbers import (
    finite,
    is_finite,
    load_json,
    number_findings,
    repeated_keys,
)
from playground.nouns.events import (
    ArgumentEvent,
    CallAbortedEvent,
    CallEndedEvent,
    CallNamedEvent,
    CallStartedEvent,
    Event,
    FindingEvent,
    Span,
)
from playground.nouns.tools import ToolMetadata
from playground.parsing.claims import GrowingText
from playground.parsing.decoding import bad_places, replace_bad
from playground.parsing.open_call import KnownTool
from playground.parsing.state import ParserState
from playground.parsing.values import dump_json

_INDEX: Final = (int, float, str)  # a tuple, because a union would be built anew for each delta


class _NativeCall:
    def __init__(self, index: int, call_id: str) -> None:
        self.index, self.call_id, self.name = index, call_id, ""
        self.sent_id = ""  # the id that a delta gave
        self.custom = False  # True if the arguments are free text, such as a patch or SQL
        self.raw = GrowingText()


class DeltaReader:
    """A reader of one stream's native calls.

    `stop` is the offset after the last character. `native` is False if the dialect expects no
    native calls: then a finding notes each of them.
    """

    def __init__(self, tools: Sequence[ToolMetadata], native: bool) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._known_tools: dict[str, KnownTool] = {}
        self._native = native
        self._open: dict[int | float | str, _NativeCall] = {}
        self._last: _NativeCall | None = None
        self._ids: set[str] = set()  # of the delivered calls
        self.stop = 0
        self.bad: list[int] = []  # offsets of half surrogates in the last delta

    def read(self, delta: Any, offset: int, calls: int) -> list[Event]:
        """Read one delta.

        `offset` is the place of its first character, `calls` the number of earlier calls.
        """
        self.stop = offset
        if self.bad:
            self.bad = []
        index = _get(delta, "index")
        key = index if isinstance(index, _INDEX) else 0
        call, events = self._open.get(key), list[Event]()
        if call is not None and _begins_new_call(delta, call):
            # some providers send each call of a reply complete, and all with the index 0
            events = self._end(self._open.pop(key), Span(offset, offset))
            message = f"two calls have the index {key}: their ids are different"
            about = finding("mended-form", f"call {calls}", message)
            call, events = None, [*events, FindingEvent(Span(offset, offset), about)]
        if call is None:
            call = self._open[key] = _NativeCall(calls, f"call_{calls + 1}")
            events += self._start(call, delta)
        self._last = call
        call.custom = call.custom or _get(delta, "type") == "custom"
        function = _get(delta, "custom") or _get(delta, "function")
        if raw := _get(delta, "id"):
            call.call_id = call.sent_id = replace_bad(_text(raw))
        if name := _get(function, "name"):
            events += self._name(call, _text(name))
        raw = _get(function, "input") if _get(delta, "custom") else _get(function, "arguments")
        events += self._arguments(call, raw)
        if _get(delta, "done") is True:
            del self._open[key]
            self._last = None
            events += self._end(call, Span(self.stop, self.stop))
        return events

    def finish(self, offset: int) -> list[Event]:
        """End the calls that are still open.

        Most APIs mark the last delta of a call (`done`), but OpenAI's chats do not.
        """
        here = Span(offset, offset)
        events: list[Event] = []
        for call in self._open.values():
            events += self._end(call, here)
        self._open, self._last = {}, None
        return events

    @property
    def state(self) -> ParserState | None:
        if self._last is None:
            return None
        return ParserState("native call", self._last.index, self._last.name or None)

    def _start(self, call: _NativeCall, delta: Any) -> list[Event]:
        here = Span(self.stop, self.stop)
        call.call_id = replace_bad(_text(_get(delta, "id"))) or call.call_id
        events: list[Event] = [CallStartedEvent(here, call.index, call.call_id)]
        if not self._native:
            events.append(FindingEvent(here, finding("native-call", f"call {call.index}")))
        return events

    def _name(self, call: _NativeCall, name: str) -> list[Event]:
        if replace_bad(name) == call.name:
            return []
        start, name = self.stop, self._claim(name)
        call.name += name
        return [CallNamedEvent(Span(start, self.stop), call.index, call.name, name)]

    def _arguments(self, call: _NativeCall, arguments: Any) -> list[Event]:
        if arguments is None or arguments == "":
            return []
        text = arguments if isinstance(arguments, str) else dump_json(arguments or {})
        start, text = self.stop, self._claim(text)
        call.raw.add(text)
        return [ArgumentEvent(start, call.index, None, text)]

    def _claim(self, text: str) -> str:
        """Count a text's characters, note half surrogates in `bad`, and return it without them."""
        start, self.stop = self.stop, self.stop + len(text)
        if text.isascii() or not (places := bad_places(text)):
            return text
        self.bad += [start + place for place in places]
        return replace_bad(text)

    def _end(self, call: _NativeCall, here: Span) -> list[Event]:
        raw = call.raw.take()
        raw_arguments = ((None, raw),) if raw else ()
        place = f"call {call.index}"
        code, arguments = ("", {"input": raw}) if call.custom else _decode_arguments(raw)
        code = code or ("" if call.name else "missing-name")
        if code:
            return [
                FindingEvent(here, finding(code, place)),
                CallAbortedEvent(here, call.index, call.name or None, raw_arguments, code),
            ]
        events: list[Event] = []
        for key in [] if call.custom else repeated_keys(raw, arguments):
            message = f"{key} is given more than once: the last value counts"
            about = finding("duplicate-argument", f"{place}, argument {key}", message)
            events.append(FindingEvent(here, about))
        if call.name in self._tools:
            tool = self._known_tools.get(call.name)
            if tool is None:
                tool = self._known_tools[call.name] = KnownTool(self._tools[call.name])
            if not (call.custom or tool.surely_takes(arguments)):
                events += [FindingEvent(here, e) for e in tool.objections(arguments, place)]
        elif self._tools:
            message = f"{call.name!r} is not one of the session's tools ({', '.join(self._tools)})"
            events.append(FindingEvent(here, finding("unknown-tool", place, message)))
        if not is_finite(arguments):
            events += [FindingEvent(here, each) for each in number_findings(arguments, place)]
            arguments = finite(arguments)
        if call.call_id in self._ids:
            twice = finding("duplicate-id", place, f"id {call.call_id!r} is used twice")
            events.append(FindingEvent(here, twice))
        self._ids.add(call.call_id)
        ended = CallEndedEvent(here, call.index, call.call_id, call.name, arguments, raw_arguments)
        return [*events, ended]


def _begins_new_call(delta: Any, call: _NativeCall) -> bool:
    """Return True if a delta begins a new call, although a call with its index is open: the delta
    has a name and another id, and the open call already has arguments."""
    new_id = replace_bad(_text(_get(delta, "id")))
    name = _get(_get(delta, "custom") or _get(delta, "function"), "name")
    return bool(name and new_id and call.sent_id not in ("", new_id) and call.raw.tell())


def _decode_arguments(raw: str) -> tuple[str, dict[str, Any]]:
    """Return the code of a finding or "", and the arguments ({} if there is a finding)."""
    if not raw.strip():  # a complete call would have `{}`
        return "truncated-call", {}
    try:
        value = load_json(raw)
    except RecursionError:
        return "too-deep", {}
    except json.JSONDecodeError as error:
        cut = error.pos >= len(raw.rstrip()) or error.msg.startswith("Unterminated string")
        return ("truncated-call" if cut else "malformed-json"), {}
    except ValueError:
        return "malformed-json", {}
    if value is None:
        return "", {}
    return ("", value) if isinstance(value, dict) else ("arguments-not-object", {})


def _text(value: Any) -> str:
    """Return a text unchanged, any other value as JSON, and "" for None."""
    return "" if value is None else value if isinstance(value, str) else dump_json(value)


def _get(source: Any, key: str) -> Any:
    is_mapping = isinstance(source, dict | Mapping)  # `dict` first: it is checked fast
    return source.get(key) if is_mapping else getattr(source, key, None)
