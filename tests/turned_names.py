"""Names that turn a line around, everywhere where a user's file has a name; and what is wrong with
a text in which one of them does so."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import playground as pg

# A right-to-left override, a closing isolate that opens nothing here, an isolate that nothing
# closes, a mark; and letters and digits that are written from right to left
TURNED: Final = "get\u202e\u2069\u2067\u200ftides\u2066 גשר בסר ٣"
OPENING, CLOSING = "\u2068", "\u2069"
_LEFTWARD: Final = {"R", "AL", "AN"}
_CONTROLS: Final = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_MARKS: Final = {"\u200e", "\u200f", "\u061c"}


def controls(text: str) -> list[str]:
    """Each line in which a control of direction is left that is none of ours: ours are balanced,
    and not nested."""
    return [ascii(line) for line in text.split("\n") if _is_open(line)]


def _is_open(line: str) -> bool:
    inside = False
    for char in line:
        if char == (CLOSING if inside else OPENING):
            inside = not inside
        elif unicodedata.bidirectional(char) in _CONTROLS or char in _MARKS:
            return True
    return inside


def disorder(text: str) -> list[str]:
    """Each line of ours that a name can turn around: with controls, or with leftward letters that
    stand in no isolate. A line without our own letters and digits is nobody's sentence."""
    lines = text.split("\n")
    return controls(text) + [ascii(line) for line in lines if _is_mixed(line)]


def _is_mixed(line: str) -> bool:
    kinds = {"L", "EN"} & {unicodedata.bidirectional(char) for char in line}
    inside = False
    for char in line:
        inside = char == OPENING or (inside and char != CLOSING)
        if kinds and not inside and unicodedata.bidirectional(char) in _LEFTWARD:
            return True
    return False


def session_json() -> dict[str, Any]:
    """A session whose every name turns a line around."""
    text = {"type": "text", "text": f"Ask {TURNED}."}
    call = {
        "type": "tool_call",
        "tool_call_id": f"{TURNED} 1",
        "tool_name": TURNED,
        "args": {TURNED: TURNED},
    }
    orphan = {**call, "tool_call_id": "9", "type": "tool_result", "result": TURNED}
    del orphan["args"]
    reply = (
        f"Wait <tool_call>\n{json.dumps({'name': TURNED, 'arguments': {TURNED: 1, 'x': TURNED}})}\n"
        f'</tool_call> and <tool_call>\n{{"name": "{TURNED}'
    )
    schema = {
        "type": "object",
        "properties": {TURNED: {"type": "string", "pattern": "^a(?=b)", "description": TURNED}},
        "required": [TURNED, "missing"],
    }
    return {
        "format": "playground-session/1",
        "title": TURNED,
        "purpose": TURNED,
        "task": {"user_agent_prompt": TURNED, "user_prompt": TURNED, "model_name": TURNED},
        "tools": [
            {"name": TURNED, "description": TURNED, "input_schema": schema},
            {"name": f"{TURNED} 2", "description": TURNED, "input_schema": schema},
        ],
        "messages": [
            {"role": "user", "parts": [text]},
            {"role": "assistant", "parts": [text, call]},
            {"role": "tool", "parts": [orphan]},
            {"role": "user", "parts": [text]},
        ],
        "expected": [
            {
                "message": 1,
                "calls": [{"tool_name": TURNED, "args": {TURNED: TURNED}}],
                "name": TURNED,
            }
        ],
        "recordings": [
            {
                "name": TURNED,
                "note": TURNED,
                "dialect": "hermes",
                "model": TURNED,
                "chunks": [{"text": piece} for piece in (reply[:40], reply[40:90], reply[90:])],
            }
        ],
    }


def session_file(folder: Path) -> Path:
    """The session in a file that is called so, too."""
    file = folder / f"{TURNED}.json"
    file.write_text(json.dumps(session_json()))
    return file


def session(folder: Path) -> pg.Session:
    return pg.load_session(session_file(folder))


def words_of_component(data: dict[str, Any]) -> list[str]:
    """What is wrong with words that a component is fed; its exact texts are left out."""
    return [line for text in _words(data) for line in disorder(text)]


EXACT = {"text", "texts", "given"}  # content to be read and copied
IDS = {"key", "origin", "selected", "segments", "kinds"}


def _words(data: Any, name: str = "") -> Iterator[str]:
    match data:
        case str():
            yield data
        case dict():
            for key, value in data.items():
                if key not in EXACT | IDS:
                    yield from _words(value, key)
        case list():
            # of a row the first is its origin; of a block the last is its text; of a step the
            # fourth is what came, and of a state the third what is held: the script isolates both
            places = {"rows": {0}, "blocks": {4}, "steps": {3}, "states": {2}}
            if name == "lines":  # of a difference: content, but for its heads
                data = [text for change, text in data if change in ("heading", "gap")]
            for each in data:
                if isinstance(each, list) and name in places:
                    left = [one for at, one in enumerate(each) if at not in places[name]]
                    yield from _words(left)
                else:
                    yield from _words(each, name if isinstance(each, list) else "")
