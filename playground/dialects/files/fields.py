"""Describe each field of a dialect's file in a line: for errors, help and documents.

Every field that a file may have is here, and nothing else (a test compares).
"""

from __future__ import annotations

from typing import Final

_SYNTAX: Final = {
    "call": "one call, as literal text with holes such as {call:json}, {name}, {args:json}, "
    "{params}; a brace that is meant as text is doubled",
    "param": "one parameter, where the call has {params}: <{key}>{value}</{key}>",
    "param_separator": "white space between two parameters",
    "section": "what wraps the calls of one reply: [{calls}]; a call without it is read too",
    "section_also": "other sections that are read in its place, never written",
    "one_call_a_section": "each call has a section of its own, which may name the tool too",
    "section_required": "a call outside of a section is text",
    "separator": "what stands between two calls",
    "shape": "where name, arguments and id stand in a call's JSON object",
    "json": "how JSON is written, alone or as a parameter's value",
    "literals": "the words for true, false and null where a value is no JSON",
    "type_words": "what {type} says of a type: pairs of a JSON type and a word",
    "known_names": "the opener is little more than a name: unknown names are text",
    "line_start": "a call begins a line, and so do the ends of its texts",
    "reserved": "the markers are control tokens, which no value holds",
    "string_mark": "what stands around texts in {args:marked}",
    "untyped": "how a value without a schema is read",
    "cdata": "one CDATA section around a value is read over",
    "cdata_for": "a text with one of these characters is written in a CDATA section",
    "escaped_names": "names of tools and parameters are escaped as in XML",
    "element": "a value may be nested elements, each tag after this prefix",
    "name": "what a call without a {name} always calls",
    "nameless": "a call without a name goes under the empty one, or the only tool that fits",
    "objects": "a body that is one text may be a JSON object instead, which holds the arguments",
    "joined": "calls in a row are one call, their texts joined by this",
    "also": "other forms that are read, never written: objects of the same fields",
}
_SHAPE: Final = {
    "name": "the path of keys to the tool's name",
    "arguments": "the path of keys to the arguments",
    "aliases": "other keys under which arguments are read",
    "constants": "members that are always the same: pairs of key and text",
    "id": "the key of the call's id",
    "order": "the keys in the order in which they are written",
    "id_is": "what the id's member holds: the id, or the call's place from 0 or 1",
    "arguments_as_text": "the arguments are JSON inside a JSON string",
    "name_is_key": "one member, the arguments under the tool's name",
    "text_key": "the one argument that arguments which are a text are",
    "thought": "the key of a first member that is reasoning",
}
_JSON: Final = {
    "indent": "blanks for each level; 0: all on one line",
    "margin": "blanks before every line but the first",
    "comma": "what stands between members: a comma, and blanks",
    "colon": "what stands behind a key: a colon, and blanks",
    "ascii": "all other characters are escaped",
}
_LITERALS: Final = {
    "true": "the word for true",
    "false": "the word for false",
    "null": "the word for null",
    "nested": "how lists and objects stand there: as JSON, or as Python's repr has them",
}
_TAGS: Final = {"open": "the opening tag", "close": "the closing tag; empty: the next call closes"}
_SWITCHES: Final = {
    "calls_in_fences": "a call inside a code fence is an example (text) or a call",
    "calls_in_reasoning": "a call before reasoning was closed is a call or still reasoning",
    "text_after_calls": "text after a call is content, or a finding that holds it",
    "broken_calls": "the text of an aborted call stands apart, or is content too",
    "misfits": "a call without all required arguments is delivered, or broken",
    "entities": "&lt; in a parameter's text is itself, or the character it stands for",
    "typing": "values are read by the tool's schema, or stay text",
}

FIELDS: Final[dict[str, str]] = {
    "name": "what it is called: letters, digits, '.', '-' and '_'",
    "syntax": "how a call is written and read",
    **{f"syntax.{field}": said for field, said in _SYNTAX.items()},
    **{f"syntax.shape.{field}": said for field, said in _SHAPE.items()},
    **{f"syntax.json.{field}": said for field, said in _JSON.items()},
    **{f"syntax.literals.{field}": said for field, said in _LITERALS.items()},
    "rules": "what the prompt says before the example call, which is added by itself",
    "title": "the name that people read",
    "result": "how a tool's result is written: {result}, and {name} and {id} where they stand",
    "result_role": "in whose turn results travel",
    "answer": "what stands before and after an assistant's text: two texts",
    "reasoning": "the tags around reasoning",
    **{f"reasoning.{field}": said for field, said in _TAGS.items()},
    "opens_reasoning": "a reply begins inside reasoning",
    "plain": "tags around text in which nothing is a call",
    **{f"plain.{field}": said for field, said in _TAGS.items()},
    "stops": "tokens that end a reply",
    "dropped": "tokens that servers leak into the text",
    "parallel": "whether one reply may hold several calls",
    "tool_docs": "how tools are documented: described, or as json-lines",
    "switches": "how doubtful replies are read",
    **{f"switches.{field}": said for field, said in _SWITCHES.items()},
    "models": "who is trained on it or uses it, in words",
    "model_names": "regular expressions of those models' names",
    "raw_prompt": "the raw prompt in which its guide is shown",
    "raw_prompt.format": "llama3 or llama4",
    "raw_prompt.tools": "how custom tools are defined there",
    "own_tool": "a tool that the model was trained on: its guide calls no other",
    "cache_policy": "the name of the cache policy",
}


def meaning(path: str) -> str:
    """Return a field's meaning; places in lists do not count. Return "" for an unknown field."""
    steps = [step for step in path.split(".") if not step.isdigit()]
    steps = ["syntax" if step == "also" and steps[0] == "syntax" else step for step in steps]
    while len(steps) > 1 and steps[0] == steps[1] == "syntax":
        del steps[0]
    return FIELDS.get(".".join(steps), "")
