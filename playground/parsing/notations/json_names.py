"""The name of a call in its JSON object, and the inside of any JSON string."""

from __future__ import annotations

import re
from typing import Final

from playground.base.json_numbers import load_json
from playground.parsing import relaxed_json
from playground.parsing.choice import Choice
from playground.parsing.choice_point import choice_point
from playground.parsing.open_call import BrokenCall, OpenCall
from playground.parsing.reader import Reader
from playground.parsing.scanner import Walk

NAME_LIMIT: Final = 256
_NO_NAME: Final = re.compile(r"[\n<{]")
_BARE_NAME: Final = choice_point(Choice(r"[A-Za-z_][\w.\-]{0,127}+(?=\s{0,16}+(?:,|(?P<last>\})))"))
# up to the quote that ends it; a quote after a backslash does not
_QUOTED: Final = {
    quote: re.compile(rf"[^{quote}\\]*(?:\\.[^{quote}\\]*)*(?={quote})") for quote in "\"'"
}


def bare_name(reader: Reader, call: OpenCall) -> Walk[None]:
    """Read a name without quotes. If there are no arguments, as in `{"name": none}`, it must be a
    tool's name."""
    marker = yield from reader.scanner.match_here(_BARE_NAME)
    if marker is None:
        raise BrokenCall("missing-name")
    alone = marker.named.get("last") and not call.raw and not call.strays
    if alone and marker.text not in reader.tools:
        raise BrokenCall("malformed-json", f"{marker.text} is no text, and there are no arguments")
    call.relaxed = True
    reader.set_name(call, marker.size, marker.text)


def quoted_name(reader: Reader, call: OpenCall) -> Walk[None]:
    """Hold the name's string until it ends, then claim it at once; the quotes are markup."""
    scanner, quote = reader.scanner, reader.scanner.peek()
    assert quote  # the caller has checked that it is a quote
    scanner.emit_markup(1)
    while True:
        inside = _QUOTED[quote].match(scanner.text, scanner.at)
        text = inside[0] if inside else scanner.text[scanner.at :]
        # the first of two faults is reported, wherever the text was cut
        if _NO_NAME.search(text[: NAME_LIMIT + 1]):  # the next quote belongs to another call
            raise BrokenCall("missing-name", "the call's name never ends")
        # held text is searched again with every chunk: without a limit that is quadratic
        if len(text) > NAME_LIMIT:
            raise BrokenCall("missing-name", f"no name is longer than {NAME_LIMIT} characters")
        if inside:
            break
        if scanner.ended:
            raise BrokenCall("truncated-call")
        yield
    name = string_value(f"{quote}{text}{quote}")
    if not name:
        raise BrokenCall("missing-name")
    reader.set_name(call, len(text), name)
    scanner.emit_markup(1)


def string_value(text: str) -> str:
    """Return the value of a JSON string, in double or single quotes; "" for anything else."""
    try:
        value = load_json(text) if text[:1] == '"' else relaxed_json.load(text)
    except (ValueError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""
