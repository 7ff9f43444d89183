"""Hypothesis strategies over every registered dialect: its own markers, values that hurt.

Each is made once for a dialect: a law that asks for it in its body asks again for each example.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from hypothesis import strategies as st

from playground.dialects import REGISTRY, DeclaredDialect
from playground.nouns.messages import ToolCallPart, ToolResultPart
from playground.nouns.tools import ToolMetadata
from playground.parsing.grammars.bodies import BODIES
from playground.parsing.syntax import Hole, Syntax

DIALECTS = [d for d in REGISTRY if isinstance(d, DeclaredDialect)]
GENERAL = [d for d in DIALECTS if not d.syntax.text_keys]  # they take any tool and any argument
WITH_GRAMMAR = [d for d in DIALECTS if d.syntax.notation.hole in BODIES]

# forms that are like those of dialects, which nobody registered: `call`, then `param`
NEAR_FORMS = [
    ("USE_TOOL: {name}\n{params}END_TOOL", "{key}: {value}\n"),
    ("USE_TOOL: {name}\n{params}END_TOOL", "{key}: {value},"),
    ("USE_TOOL: {name}\n{params}END_TOOL", '{key}="{value}"\n'),
    ("USE_TOOL: {name}\n{params}END_TOOL", "@{key}={value}=\n"),
    ("[[{name}]]\n{params}[[/{name}]]", "{key} = {value}\n"),
    ("USE_TOOL: {name}\n{params}END_TOOL", "{key}: {value}=\n"),
    ("[[{name}]] {params}[[end]]", "{key}={value}, "),
    ("<run {name}>\n{params}</run>", "<{key}>={value}=</{key}>\n"),
    ("<<{name}>>\n{params}<<end>>", "@{key}: {value:block}.\n"),
]
NEAR = [
    DeclaredDialect(name=f"near-{at}", rules="Write a call.", syntax=Syntax(call=call, param=param))
    for at, (call, param) in enumerate(NEAR_FORMS)
]

TOOL = ToolMetadata(
    name="write_file",
    description="Write a file.",
    input_schema={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "content": {"type": "string"},
            "mode": {"type": "integer"},
            "ratio": {"type": "number"},
            "force": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "meta": {"type": "object"},
            "note": {"type": ["string", "null"]},
            "any": {},
        },
        "required": ["path"],
    },
)
LIST = ToolMetadata(name="list_files", description="List.", input_schema={"type": "object"})
TOOLS = [TOOL, LIST]


def held(dialect: DeclaredDialect, value: Any) -> Any:
    """What the dialect's notation has to carry of a value: all but null, where it has none."""
    if dialect.syntax.notation.holds_null:
        return value
    if isinstance(value, dict):
        return {key: held(dialect, each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [held(dialect, each) for each in value if each is not None]
    return value


@cache
def own_markers(dialect: DeclaredDialect) -> list[str]:
    """Every literal of the dialect's declaration, whole calls, results and common neighbours."""
    syntax = dialect.syntax
    templates = [syntax.call_template, syntax.param_template, *syntax.sections]
    pieces = [p for t in templates if t for p in (*t.before, *sum(t.between, ()), *t.after)]
    literals = [p for p in pieces if not isinstance(p, Hole)]
    call = ToolCallPart("call_1", "write_file", {"path": "a.py", "content": "x\ny"})
    result = ToolResultPart("call_1", "write_file", "ok")
    rendered = dialect.format_tool_call(call, TOOLS)
    tags = [text for tag in dialect.reasoning for text in (tag.open, tag.close) if text]
    return [
        *literals,
        *dialect.stops,
        *tags,
        rendered,
        rendered[: len(rendered) // 2],
        dialect.format_tool_result(result),
        *("write_file", "list_files", "path", "content", "mode"),
        *("<", ">", "{", "}", "[", "]", '"', "\\", "`", "```\n", "~~~", "\n", "\n\n", " ", ": "),
        *('{"name": ', '"arguments": ', "{}", "null", "é", "\u2028", "\u202e", "😀"),
    ]


@cache
def streams(dialect: DeclaredDialect) -> st.SearchStrategy[str]:
    """Text in which the dialect's own markers are frequent, broken and out of place."""
    fragment = st.sampled_from(own_markers(dialect)) | st.text(max_size=12)
    return st.lists(fragment, max_size=14).map("".join)


@cache
def hostile_text(dialect: DeclaredDialect) -> st.SearchStrategy[str]:
    fragment = st.sampled_from(own_markers(dialect)) | st.text(max_size=20)
    return st.lists(fragment, max_size=5).map("".join)


@cache
def prose(dialect: DeclaredDialect) -> st.SearchStrategy[str]:
    """Words, also those of the dialect's own markers, punctuation, blanks and blank lines; but
    none of the dialect's markers whole."""
    markers = {_squeezed(text) for text in declared_literals(dialect)}
    markers = {text for text in markers if any(map(str.isalpha, text))}
    words = {word for text in markers for word in re.findall(r"\w+", text)}
    word = st.sampled_from(["The", "file", "is", "read", "x", "12", "é", "don't", *sorted(words)])
    mark = st.sampled_from([*",.;:!?()<>[]{}|/=`-_@#'\"", "</", "<|", "|>", "e.g."])
    blank = st.sampled_from([" ", " ", "\n", "\n\n", "  ", "\t"])
    text = st.lists(word | mark | blank, max_size=14).map("".join)
    framed = st.tuples(st.sampled_from(["Well ", "a ", "1. "]), text, word).map("".join)
    return framed.filter(
        lambda text: "```" not in text and not any(m in _squeezed(text) for m in markers)
    )


@cache
def nearly_markers(dialect: DeclaredDialect) -> st.SearchStrategy[str]:
    """The dialect's literals, but for a character, their beginning or their end, in prose: none of
    them whole."""
    markers = {text for text in declared_literals(dialect) if len(_squeezed(text)) > 2}
    whole = {_squeezed(text) for text in markers}
    near = {
        text
        for marker in markers
        for at in range(1, len(marker))
        for text in (marker[:at] + marker[at + 1 :], marker[:at], marker[at:])
    }
    end = st.sampled_from(["{The file", '{"a": 1} is', " is read.", ": x", "(x) is", "[1, 2]"])
    begin = st.sampled_from(["", "Well ", "Well\n"])
    texts = st.tuples(begin, st.sampled_from(sorted(near) or ["a tool"]), end).map("".join)
    return texts.filter(lambda text: not any(marker in _squeezed(text) for marker in whole))


@cache
def declared_literals(dialect: DeclaredDialect) -> list[str]:
    """The literals of all forms of a dialect, and the markers around them."""
    found: list[str] = []
    for syntax in (dialect.syntax, *dialect.syntax.also):
        templates = [syntax.call_template, syntax.param_template, *syntax.sections]
        pieces = [p for t in templates if t for p in (*t.before, *sum(t.between, ()), *t.after)]
        found += [p for p in pieces if not isinstance(p, Hole)] + [syntax.separator]
    markers = dialect.markers
    tags = [text for tag in (*markers.reasoning, *markers.plain) for text in (tag.open, tag.close)]
    return [*found, *tags, *markers.stops, *markers.dropped, markers.result]


def _squeezed(text: str) -> str:
    return "".join(text.split())


def json_values(text: st.SearchStrategy[str]) -> st.SearchStrategy[object]:
    scalars = (
        st.none()
        | st.booleans()
        | st.integers(-(2**70), 2**70)
        | st.floats(allow_nan=False, allow_infinity=False)
        | text
        | st.sampled_from(["3", "true", "null", "", " x ", "\n", '"q"', "[1]", "1.10"])
    )
    return st.recursive(
        scalars,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
        max_leaves=6,
    )


@cache
def calls(dialect: DeclaredDialect) -> st.SearchStrategy[ToolCallPart]:
    """Calls of a known tool: typed arguments, hostile texts, and values against the schema."""
    text = hostile_text(dialect)
    anything = json_values(text)
    if dialect.syntax.text_keys:
        name = dialect.syntax.name or "write_file"
        texts = st.fixed_dictionaries(dict.fromkeys(dialect.syntax.text_keys, text | anything))
        return texts.map(lambda args: ToolCallPart("call_1", name, args))
    typed = st.fixed_dictionaries(
        {"path": text},
        optional={
            "content": text,
            "mode": st.integers(-(2**70), 2**70),
            "ratio": st.floats(allow_nan=False, allow_infinity=False),
            "force": st.booleans(),
            "tags": st.lists(text, max_size=3),
            "meta": st.dictionaries(st.text(max_size=5), anything, max_size=3),
            "note": st.none() | text,
            "any": anything,
        },
    )
    loose = st.dictionaries(
        st.sampled_from(["path", "mode", "meta", "other", "x-y"]) | st.text(max_size=6),
        anything,
        max_size=4,
    )
    return (typed | loose).map(lambda args: ToolCallPart("call_1", "write_file", args))


def plain(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
