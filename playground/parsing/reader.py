"""The reader that every notation uses: it claims the open call's text and sets its arguments.

To claim text is to make an event of it. For an unreadable body the reader raises BrokenCall, which
calls.py turns into an aborted call. A model's text causes no other exception.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from json import JSONDecodeError
from typing import Any, Final

from playground.nouns.events import ArgumentEvent, CallNamedEvent, argument_maker
from playground.nouns.tools import ToolMetadata, allowed_types
from playground.parsing.claims import Claim, GrowingText
from playground.parsing.marker import Marker
from playground.parsing.open_call import BrokenCall, KnownTool, OpenCall
from playground.parsing.scanner import Scanner, Walk
from playground.parsing.switches import Switches

# models add these to a name: the call's number after it, a namespace before it
_INDEX: Final = re.compile(r"(?:[:.#_]\d{1,3}|\[\d{1,3}\])\Z")
_NAMESPACE: Final = re.compile(r"\A(?:\w+[.:/])+")


class Reader:
    """A reader of the open call. `count` is the number of calls so far, `tokens` are the control
    tokens that models add to names, and `argument` is the one being read, for a debug panel."""

    def __init__(
        self,
        scanner: Scanner,
        tools: Mapping[str, ToolMetadata],
        count: int,
        switches: Switches,
        tokens: Sequence[str],
    ) -> None:
        self.scanner, self.tools, self.count = scanner, tools, count
        self.ids: dict[str, int] = {}  # id of a delivered call -> number of the first call with it
        self.switches, self.tokens = switches, tokens
        self.open_call: OpenCall | None = None
        self._known_tools: dict[str, KnownTool] = {}
        self.argument: str | None = None

    # the name

    def set_name(self, call: OpenCall, length: int, name: str) -> None:
        """Claim the next `length` characters as the tool's name; `name` is their decoded text."""
        span, text = self.scanner.take(length)
        name = self._correct_name(name)
        call.name, call.known_tool = name, self._known_tool(name)
        self.scanner.events.append(CallNamedEvent(span, call.index, name, text))
        if text and name != text and name in text:
            self.scanner.note("mended-name", call.place, f"{text!r} is read as {name!r}")
        if self.tools and call.known_tool is None:
            listed = ", ".join(self.tools)
            message = f"{call.name!r} is not one of the session's tools ({listed})"
            self.scanner.note("unknown-tool", call.place, message)

    def _known_tool(self, name: str) -> KnownTool | None:
        tool = self._known_tools.get(name)
        if tool is None and name in self.tools:
            tool = self._known_tools[name] = KnownTool(self.tools[name])
        return tool

    def _correct_name(self, name: str) -> str:
        """Return a name without what models add: control tokens, a namespace, the call's number."""
        if name in self.tools:
            return name
        for token in self.tokens:
            name = name.replace(token, "")
        name = name.strip()
        first, _, rest = name.partition(".")
        if first == rest:  # the name is its own namespace: `search.search`
            return rest
        bare = _INDEX.sub("", name)
        known_names = [n for n in (bare, _NAMESPACE.sub("", bare)) if n in self.tools]
        return known_names[0] if known_names and name not in self.tools else name

    def likely_tool(self, name: str, key: str | None) -> str:
        """Return the tool of the session that was probably meant by an unknown name; "" for none.

        It is a tool with a similar name, or one that has the parameter `key`.
        """
        similar = _most_similar(name, tuple(self.tools))
        if similar or key is None:
            return similar
        return next((tool for tool, data in self.tools.items() if key in data.parameter_names), "")

    # arguments

    def emit_argument(
        self, call: OpenCall, key: str | None, copy: GrowingText | None = None
    ) -> Claim:
        """Return an object that claims the characters of an argument, or, with `key` None, of all
        arguments as one text. `copy` collects the texts."""
        return Claim(self.scanner, argument_maker(call.index, key), copy)

    def claim_all(
        self, call: OpenCall, label: str, walk: Callable[[Claim], Walk[None]]
    ) -> Walk[str]:
        """Claim all arguments as one text, as far as `walk` goes, and return it.

        A call that breaks off keeps the text so far. `label` is shown in the debug panel.
        """
        copy = GrowingText()
        self.argument = label
        try:
            yield from walk(self.emit_argument(call, None, copy))
        finally:
            text = copy.take()
            call.raw.append((None, text))
        self.argument = None
        return text

    def claim_value(self, call: OpenCall, count: int, value: Any) -> str:
        """Claim all arguments as one text of `count` characters, whose `value` was read already;
        return the text."""
        start, text = self.scanner.take_text(count)
        self.scanner.events.append(ArgumentEvent(start, call.index, None, text))
        call.raw.append((None, text))
        call.read_value = text, value
        return text

    def set_text(self, call: OpenCall, key: str, text: str) -> None:
        """Set an argument to a text, which is not decoded."""
        call.raw.append((key, text))
        self.set_value(call, key, text)

    def set_value(self, call: OpenCall, key: str, value: Any, code: str = "") -> None:
        """Set an argument. `code`, if given, is a finding about its value."""
        place = f"{call.place}, argument {key}"
        if code:
            self.scanner.note(code, place)
        if key in call.arguments:
            previous, effect = call.arguments[key], "the last value counts"
            if "array" in (allowed_types(call.schema_of(key)) or {"array"}):
                # each item of a list came as an argument of its own
                value = [*(previous if isinstance(previous, list) else [previous]), value]
                effect = "its values are read as a list"
            message = f"{key} is given more than once: {effect}"
            self.scanner.note("duplicate-argument", place, message)
        call.arguments[key] = value

    def closes(self, marker: Marker, call: OpenCall) -> bool:
        """Return False if a closer names another tool than this call's."""
        name = marker.named.get("close_name")
        return name in (None, call.name) or name.rpartition(".")[2] == call.name


@lru_cache(maxsize=1024)  # a page of HTML repeats the same few names
def _most_similar(name: str, tool_names: tuple[str, ...]) -> str:
    """Return the known name that is most similar, ignoring the order of words; "" for none."""
    words = {_words(other): other for other in tool_names}
    close = difflib.get_close_matches(_words(name), words, n=1, cutoff=0.75)
    return words[close[0]] if close else ""


def _words(name: str) -> str:
    return " ".join(sorted(re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name))).lower()


def decoded(decode: Callable[[str], Any], text: str, code: str) -> Any:
    """Return `decode(text)`. If it fails, abort the call with the finding `code`.

    `decode` may raise ValueError, TypeError or RecursionError.
    """
    try:
        return decode(text)
    except RecursionError as error:
        raise BrokenCall("too-deep") from error
    except JSONDecodeError as error:
        raise BrokenCall(code, json_mistake(error)) from error
    except (ValueError, TypeError) as error:
        raise BrokenCall(code, str(error)) from error


def decoded_object(decode: Callable[[str], Any], text: str, code: str) -> dict[str, Any]:
    """Return `decode(text)`, as `decoded` does; also abort the call if the result is not an
    object."""
    value = decoded(decode, text, code)
    if not isinstance(value, dict):
        message = f"the arguments must be an object, not {value!r:.60}"
        raise BrokenCall("arguments-not-object", message)
    return value


def json_mistake(error: JSONDecodeError) -> str:
    """Return what a JSON reader refuses, with the text before it in place of line and column."""
    text = error.msg.removesuffix(" at").removesuffix(" starting")
    before = error.doc[max(error.pos - 30, 0) : error.pos].strip()
    return f"{text[:1].lower()}{text[1:]} {f'after {before!r}' if before else 'at its beginning'}"
