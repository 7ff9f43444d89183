"""What models do to a call that they write: each spoiling is a function of its rendered text.

A function returns the text unchanged if it has nothing to spoil. Some spoilings say something else
than the call that was rendered, and may well be read as another call (`changes`).
"""

from __future__ import annotations

import html
import json
import random
import re
from collections.abc import Callable
from typing import Final

from playground.dialects import DeclaredDialect
from playground.nouns.tools import ToolMetadata
from playground.parsing.syntax import Hole

TOOLS: Final = [
    ToolMetadata(
        name="write_file",
        input_schema={
            "type": "object",
            "$defs": {"owner": {"type": "object", "properties": {"age": {"type": "integer"}}}},
            "properties": {
                "path": {"type": "string"},
                "content": {"type": "string"},
                "mode": {"type": "integer"},
                "force": {"type": "boolean"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "meta": {"type": "object"},
                "owner": {"anyOf": [{"$ref": "#/$defs/owner"}, {"type": "null"}]},
            },
        },
    ),
    ToolMetadata(
        name="get_weather",
        input_schema={
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        },
    ),
]
BY_NAME: Final = {tool.name: tool for tool in TOOLS}
Spoil = Callable[[str, DeclaredDialect, random.Random], str]
SPOILS: Final[dict[str, Spoil]] = {}
CHANGING: Final[set[str]] = set()
OF_OBJECTS: Final[set[str]] = set()


def spoil(action: Spoil) -> Spoil:
    SPOILS[action.__name__.strip("_")] = action
    return action


def changing(action: Spoil) -> Spoil:
    CHANGING.add(action.__name__)
    return spoil(action)


def of_objects(action: Spoil) -> Spoil:
    """Register a spoiling of JSON and Python bodies. In a text between tags, what it makes is the
    text's own."""
    OF_OBJECTS.add(action.__name__)
    return spoil(action)


def changes(name: str, dialect: DeclaredDialect) -> bool:
    """Return True if a spoiling changes what the call says."""
    raw = bool(dialect.syntax.param or dialect.syntax.text_keys)
    return name in CHANGING or (raw and name in OF_OBJECTS)


def literals(dialect: DeclaredDialect, part: str) -> list[str]:
    """Return the first literal before the hole, and the last one after it, of one of the dialect's
    templates: `call`, `param` or `section`."""
    syntax = dialect.syntax
    template = {
        "call": syntax.call_template,
        "param": syntax.param_template,
        "section": syntax.section_template,
    }[part]
    sides = (template.before, template.after) if template else ((), ())
    found = [[p.strip() for p in side if not isinstance(p, Hole) and p.strip()] for side in sides]
    return [(found[0] or [""])[0], (found[1] or [""])[-1]]


def edges(dialect: DeclaredDialect) -> tuple[str, str]:
    """Return the texts right before and right after a call's body."""
    template = dialect.syntax.call_template
    before = [p.strip() for p in template.before if not isinstance(p, Hole) and p.strip()]
    after = [p.strip() for p in template.after if not isinstance(p, Hole) and p.strip()]
    return (before or [""])[-1], (after or [""])[0]


def once(text: str, old: str, new: str, source: random.Random) -> str:
    """Return the text with a random occurrence of `old` replaced."""
    places = [match.start() for match in re.finditer(re.escape(old), text)] if old else []
    if not places:
        return text
    at = source.choice(places)
    return text[:at] + new + text[at + len(old) :]


def _worded(marker: str) -> str:
    """Return a marker if it stands nowhere else, and "" for one such as a lone bracket, which is in
    values, too."""
    return marker if re.search(r"\w|```", marker) else ""


def _forgotten(part: str, side: int) -> Spoil:
    def action(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
        return once(text, _worded(literals(dialect, part)[side]), "", source)

    return action


def _doubled(part: str, side: int, between: str) -> Spoil:
    def action(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
        marker = _worded(literals(dialect, part)[side])
        return once(text, marker, marker + between + marker, source)

    return action


for _part in ("call", "param", "section"):
    for _side, _name in enumerate(("opener", "closer")):
        SPOILS[f"no {_part} {_name}"] = _forgotten(_part, _side)
        SPOILS[f"double {_part} {_name}"] = _doubled(_part, _side, "")
        SPOILS[f"{_part} {_name} twice"] = _doubled(_part, _side, "\n")


@spoil
def as_it_is(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return text


@spoil
def in_a_fence(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return f"```{source.choice(['', 'json', 'xml', 'tool_call'])}\n{text}\n```"


@spoil
def body_in_a_fence(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    opener, closer = edges(dialect)
    if not opener or not closer or "{" not in text:
        return text
    if dialect.syntax.param or dialect.syntax.notation.texts_only:
        return text
    return text.replace(opener, f"{opener}\n```json\n").replace(closer, f"\n```\n{closer}")


@changing
def entities(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Write characters of markers that stand in values as XML's entities."""
    return re.sub(r"(?<=[\w ])[<>&](?=[ \w])", lambda match: html.escape(match[0]), text)


@changing
def all_escaped(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return json.dumps(text)[1:-1]


@of_objects
def single_quotes(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r'"(\w*)"', r"'\1'", text)


@changing
def first_mark_missing(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Remove the first mark of a text between marks, as Gemma writes texts."""
    mark = dialect.syntax.string_mark
    return re.sub(rf"(?<=[:,\[]){re.escape(mark)}(?=\w)", "", text, count=1) if mark else text


@changing
def ran_together(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Join two objects into one: put a comma in place of the brackets between them."""
    return re.sub(r"\}\s*,?\s*\{", ", ", text, count=1) if dialect.parallel else text


@changing
def look_alikes(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Replace the signs of control tokens by others that look alike."""
    alike: dict[str, str | int | None] = {"｜": source.choice("|‖∣│"), "▁": source.choice("_＿ ")}
    return text.translate(str.maketrans(alike))


@changing
def marks_as_quotes(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    mark = dialect.syntax.string_mark
    return text.replace(mark, "'") if mark else text


@of_objects
def bare_keys(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r'"(\w+)": ', r"\1: ", text)


@of_objects
def trailing_commas(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r"(?<=[\"\d}])([}\])])", r",\1", text)


@of_objects
def comments(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r'(?<=[{,])( ?"\w+": )', r" // it's the key\n\1", text, count=2)


@changing
def foreign_escapes(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return text.replace("'", "\\'").replace("(", "\\(")


@of_objects
def python_constants(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return text.replace("true", "True").replace("false", "False").replace("null", "None")


@of_objects
def extra_brackets(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r"\}(?=\s*(?:[<\[`]|\Z))", "}}", text, count=1)


@of_objects
def missing_bracket(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    places = [match.start() for match in re.finditer(r"\}(?![\"'])", text)]
    at = source.choice(places or [len(text)])
    return text[:at] + text[at + 1 :]


@changing
def leaked_stop(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    token = source.choice([*dialect.stops, *dialect.dropped, "<|im_end|>"])
    at = source.choice([0, len(text), *(m.start() for m in re.finditer(r"(?<=>)\s*", text))])
    return text[:at] + token + text[at:]


@changing
def byte_level(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Write white space between and inside tags as byte-level tokenizers do (Ċ and Ġ)."""
    text = re.sub(r"(?<=[>\]|])\n", "Ċ", text)
    return re.sub(r'(?<=[<\w]) (?=\w+="|name=|key=)', "Ġ", text)


@changing
def junk_before_body(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    opener = literals(dialect, "call")[0]
    return once(text, opener, opener + source.choice([" ", "\n", "json\n", "Sure: "]), source)


@changing
def junk_in_call(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Insert words at a place where a parameter, or the call's closer, should follow."""
    closer = literals(dialect, "param")[1] or literals(dialect, "call")[1]
    return once(text, closer, f"{closer}heron's junk", source)


@changing
def junk_before_closer(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    closer = literals(dialect, "call")[1]
    return once(text, closer, f" I think.{closer}", source)


@changing
def tidied(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Write every tag on a line of its own, indented."""
    return re.sub(r"(?<=>)(?=<)", "\n    ", text)


@spoil
def one_line(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r"(?<=[>\]}])\n(?=[<\[{])", "", text)


@changing
def crlf(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return text.replace("\n", "\r\n")


@changing
def odd_name(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    name = source.choice([name for name in BY_NAME if name in text] or ["write_file"])
    new = source.choice(
        ["functions.%s", "%s:1", "functions.%s:1", "functions.valid:1", " %s", '"%s"', "%s()"]
    )
    return once(text, name, new.replace("%s", name), source)


@changing
def unknown_name(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return text.replace("write_file", "write_files").replace("get_weather", "weather_of")


@spoil
def cut(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return text[: source.randrange(len(text) + 1)]


@changing
def piece_lost(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    start = source.randrange(len(text) + 1)
    return text[:start] + text[start + source.randint(1, 12) :]


@spoil
def begun_twice(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Write a reply that is cut off, and then the complete reply."""
    return cut(text, dialect, source) + text


@changing
def reasoning_inside(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    tags = source.choice(
        [tag for pair in dialect.reasoning for tag in (pair.open, pair.close)] or [""]
    )
    at = source.randrange(len(text) + 1)
    return text[:at] + tags + text[at:]


@changing
def list_body(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Put brackets around the call's body."""
    opener, closer = edges(dialect)
    return (
        text.replace(opener, f"{opener}[", 1).replace(closer, f"]{closer}", 1) if closer else text
    )


@changing
def python_body(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    opener, closer = edges(dialect)
    return f'{opener}\nget_weather(city="Heron", days=3)\n{closer}' if opener and closer else text


@changing
def other_body(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Put a body of another form between the call's markers."""
    opener, closer = edges(dialect)
    body = source.choice(
        [
            '{"name": "get_weather", "arguments": {"city": "Heron"}}',
            '{"function": {"name": "get_weather", "arguments": {"city": "Heron"}}}',
            '{"name": "get_weather", "arguments": "heron and ember"}',
            '{"name": "get_weather", "arguments": ["heron"]}',
            '{"get_weather": {"city": "Heron"}}',
            "heron, ember",
            "<city>Heron</city>",
            "",
        ]
    )
    return f"{opener}\n{body}\n{closer}" if opener and closer else text


@spoil
def attributes(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Add or change the quotes around the values of attributes, or add attributes."""
    if source.random() < 0.5:
        return re.sub(r"=(\w+)>", r'="\1">', text)
    return re.sub(r'="(\w+)"', source.choice([r"=\1", r"='\1'", r'= "\1" id="1"']), text)


@changing
def quotes_inside(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Put quotes into a JSON text without escaping them."""
    return re.sub(r'(?<=": ")(\w+)', r'a "\1" b', text, count=1)


@of_objects
def missing_comma(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r'(?<=["\d\]}]), (?=")', " ", text, count=1)


@changing
def odd_arguments(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Write the arguments' object inside a text, a list or another object, or escape it once
    more."""
    match = re.search(r'\{(?:"\w+": (?:"[^"{}]*"|\d+)(?:, )?)+\}', text)
    if not match:
        return text
    given = match[0]
    odd = [json.dumps(given), f"[{given}]", f'{{"arguments": {given}}}', given.replace('"', '\\"')]
    return text[: match.start()] + source.choice(odd) + text[match.end() :]


@spoil
def namespace(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r"\b(write_file|get_weather)\b", r"functions.\1", text)


@changing
def closed_at_once(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Let a tag end itself (`/>`), with or without the call's closer after it."""
    return re.sub(r'((?:write_file|get_weather)"?)>(?:\s*</[^<>]+>)?', r"\1/>", text, count=1)


@changing
def nested_elements(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Write a value as elements."""
    prefix = dialect.syntax.element
    tags = [f"{prefix}<{tag}>" for tag in ("age", "/age")]
    return once(text, "heron", f"{tags[0]}7{tags[1]}", source)


@spoil
def unescaped_quotes(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return text.replace('\\"', '"')


@of_objects
def raw_line_breaks(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r"(?<!\\)\\n", "\n", text)


@spoil
def wrong_case(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Write one marker everywhere in capitals, in small letters, or with a capital first."""
    markers = [m for part in ("call", "param", "section") for m in literals(dialect, part)]
    marker = source.choice([m for m in markers if m.lower() != m.upper()] or [""])
    changed = source.choice([str.upper, str.lower, str.title])(marker)
    return text.replace(marker, changed) if marker else text


@spoil
def blanks_in_tags(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(source.choice([r"(?<=<)(?=/?\w)", r"(?<=\w)(?=>)", r"(?<=</)(?=\w)"]), " ", text)


@of_objects
def blanks_in_json(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return re.sub(r'(?<=[\w"\d}])": ', '" :  ', text).replace('{"', '{ "')


@spoil
def glued_prose(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    return f"Let me look: {text.strip()} So be it."


@spoil
def arguments_as_text(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    match = re.search(r'"(?:arguments|parameters|args|input)": (?=\{)', text)
    return _object_replaced(text, match.end(), json.dumps) if match else text


@spoil
def other_key(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Write the arguments under another name."""
    found = re.search(r'"(arguments|parameters|args)": \{', text)
    if not found:
        return text
    others = {"arguments", "parameters", "args", "input"} - {found[1]}
    return text.replace(f'"{found[1]}": {{', f'"{source.choice(sorted(others))}": {{')


@spoil
def ids(text: str, dialect: DeclaredDialect, source: random.Random) -> str:
    """Add an id that nobody asked for, to the object or the tag of a call."""
    if '"name":' in text:
        return text.replace('"name":', '"id": "call_a1", "type": "function", "name":')
    return re.sub(r'((?:write_file|get_weather)"?)(?=>)', r'\1 id="call_a1"', text)


def _object_replaced(text: str, start: int, written: Callable[[str], str]) -> str:
    try:
        _, stop = json.JSONDecoder().raw_decode(text, start)
    except ValueError:
        return text
    return text[:start] + written(text[start:stop]) + text[stop:]
