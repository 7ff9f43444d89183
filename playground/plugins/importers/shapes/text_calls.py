"""Read calls and results that are text in rows of training data.

The tags of the dialect `hermes` are read by its parser; lists of Python calls and Glaive's
`<functioncall>` are read here. A text that looks like a call but cannot be read stays text, with a
finding.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any, Final

from playground.dialects import get_dialect
from playground.nouns.messages import Part, ReasoningPart, TextPart
from playground.nouns.prompt_data import PromptData
from playground.parsing.result import read_to_end
from playground.sessions.building import Place, SessionBuilder, json_or_text, text_part

_LIST: Final = re.compile(r"\s*\[\s*[A-Za-z_][^()\[\]{}\"'\n]*\(.*\)\s*\]\s*\Z", re.DOTALL)
_GLAIVE: Final = re.compile(r"<functioncall>\s*(.*?)\s*(?:<\|endoftext\|>|\Z)", re.DOTALL)
_QUOTED: Final = re.compile(r"""["']arguments["']\s*:\s*'(.*)'\s*\}\s*\Z""", re.DOTALL)
_RESPONSE: Final = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)
_CONSTANTS: Final = {"true": True, "false": False, "null": None, "none": None}


def text_parts(builder: SessionBuilder, text: str, place: Place) -> list[Part]:
    """Return the parts of an answer's text, which may hold calls."""
    if "<tool_call>" in text:
        return _hermes_parts(builder, text, place)
    if "<functioncall>" in text:
        return _glaive_parts(builder, text, place)
    if _LIST.match(text):
        return _python_parts(builder, text, place)
    return [text_part(text)] if text else []


def text_results(builder: SessionBuilder, text: str) -> list[Part]:
    """Return the results in a text. They are the entries of a JSON list if the entries have
    names, or the texts in `<tool_response>` tags, or else the whole text."""
    value = json_or_text(text.strip())
    if isinstance(value, list) and value and all(map(_has_name, value)):
        return [_result(builder, item) for item in value]
    texts = _RESPONSE.findall(text) or [text]
    return [_result(builder, json_or_text(one), one) for one in texts]


def _has_name(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("name"), str)


def _result(builder: SessionBuilder, value: Any, text: str = "") -> Part:
    """Return a result: the content of a `value` that names a tool, or else `text`. The result is of
    the first call of that tool that has none yet, or else of the first such call of any tool."""
    name, content = "", text
    if _has_name(value):
        name = value["name"]
        keys = ("results", "content", "result", "output")
        inner = next((value[key] for key in keys if key in value), None)
        content = value if inner is None else inner
    call_id = builder.open_call(name) or builder.open_call()
    return builder.result(call_id, content, name)


def _hermes_parts(builder: SessionBuilder, text: str, place: Place) -> list[Part]:
    parser = get_dialect("hermes").create_parser(PromptData())
    result = read_to_end(parser, [parser.feed_text(text)])
    if result.aborted or not result.tool_calls:
        builder.note_loss("a call in a text cannot be read: it stays text", place)
        return [TextPart(text)]
    parts: list[Part] = [ReasoningPart(result.reasoning)] if result.reasoning else []
    if result.content.strip():
        parts.append(TextPart(result.content.strip("\n")))
    for call in result.tool_calls:
        parts.append(builder.call(builder.new_id(), call.name, call.arguments, place))
    return parts


def _glaive_parts(builder: SessionBuilder, text: str, place: Place) -> list[Part]:
    parts: list[Part] = []
    stop = 0
    for match in _GLAIVE.finditer(text):
        call = _glaive_call(match[1])
        if call is None:
            builder.note_loss("a call in a text cannot be read: it stays text", place)
            return [TextPart(text)]
        prose = text[stop : match.start()].strip()
        parts += [TextPart(prose)] if prose else []
        parts.append(builder.call(builder.new_id(), call[0], call[1], place))
        stop = match.end()
    rest = text[stop:].strip()
    return parts + ([TextPart(rest)] if rest else [])


def _glaive_call(text: str) -> tuple[str, Any] | None:
    """Return a call's name and arguments. The arguments may be JSON in single quotes inside
    JSON."""
    value = json_or_text(text)
    if _has_name(value):
        return value["name"], value.get("arguments")
    quoted = _QUOTED.search(text)
    name = re.search(r"""["']name["']\s*:\s*["']([^"']+)["']""", text)
    return (name[1], quoted[1].replace("\\'", "'")) if quoted and name else None


def _python_parts(builder: SessionBuilder, text: str, place: Place) -> list[Part]:
    calls = [_python_call(piece) for piece in _pieces(text.strip()[1:-1])]
    if not all(calls):
        builder.note_loss("calls in a text cannot be read: they stay text", place)
        return [TextPart(text)]
    return [builder.call(builder.new_id(), *call, place) for call in calls if call]


def _pieces(text: str) -> list[str]:
    """Split a text at the commas outside brackets and quotes."""
    pieces, depth, start = [], 0, 0
    for match in re.finditer(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[()\[\]{},]""", text):
        mark = match[0]
        if mark in ("(", "[", "{"):
            depth += 1
        elif mark in (")", "]", "}"):
            depth -= 1
        elif mark == "," and depth == 0:
            pieces.append(text[start : match.start()])
            start = match.end()
    return [*pieces, text[start:]]


def _python_call(text: str) -> tuple[str, dict[str, Any]] | None:
    """Return name and arguments of a call such as `Find hotel(stars=3)`. Names may contain
    spaces."""
    name, bracket, rest = text.strip().partition("(")
    try:
        tree = ast.parse(f"f({rest}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not bracket or not isinstance(tree, ast.Call) or tree.args:
        return None
    try:
        return name.strip(), {str(k.arg): _constant(k.value) for k in tree.keywords}
    except (ValueError, TypeError, RecursionError):
        return None


def _constant(node: ast.expr) -> Any:
    """Return the value of a Python literal, which may contain `true`, `false` and `null`.

    Raises ValueError for anything else, and TypeError for a value that JSON cannot hold.
    """
    match node:
        case ast.Name(id=name) if name.lower() in _CONSTANTS:
            return _CONSTANTS[name.lower()]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_constant(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {str(_constant(key)): _constant(value) for key, value in pairs if key}
    value = ast.literal_eval(node)
    json.dumps(value)  # raises TypeError, for example for bytes
    return value


def embedded_tools(text: str) -> list[Any]:
    """Return a system prompt's tools: JSON objects with a name and more, alone or in lists."""
    found: list[Any] = []
    decoder = json.JSONDecoder()
    at = 0
    while (start := _next_opening(text, at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            at = start + 1
            continue
        found += [
            item for item in (value if isinstance(value, list) else [value]) if _is_tool(item)
        ]
    return found


def _next_opening(text: str, at: int) -> int:
    places = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
    return min(places, default=-1)


def _is_tool(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    inner = item["function"] if isinstance(item.get("function"), dict) else item
    return isinstance(inner.get("name"), str) and ("parameters" in inner or "description" in inner)
