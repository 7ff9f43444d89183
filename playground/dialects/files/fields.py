"""Describe each field of a dialect's file in a line: for errors, help and documents.

`FIELDS` lists exactly the fields that a file may have (a test compares them).
"""

from __future__ import annotations

from typing import Final

_SYNTAX: Final = {
    "call": "one call, as literal text with holes such as {call:json}, {name}, {args:json}, "
    "{params}; a literal brace is doubled",
    "param": "one parameter, if the call has {params}: <{key}>{value}</{key}>",
    "param_separator": "white space between two parameters",
    "section": "the wrapper around a reply's calls: [{calls}]; a call outside of it is read too",
    "section_also": "other wrappers that are read in place of `section`, never written",
    "section_slips": "wrappers that models or servers write by mistake: read, with a finding",
    "one_call_a_section": "each call has a section of its own, which may name the tool too",
    "section_required": "a call outside of a section is text",
    "section_optional": "a call outside of a section is as well-formed as one in it",
    "separator": "the text between two calls",
    "shape": "the places of name, arguments and id in a call's JSON object",
    "id_form": "the form of an id that the call's text spells out: functions.{name}:{index}",
    "json": "how JSON is written, alone or as a parameter's value",
    "literals": "the words for true, false and null in values that are not JSON",
    "type_words": "the words for {type}: pairs of a JSON type and a word",
    "known_names": "the opener may also be prose: it begins a call only with a known tool's name",
    "line_start": "a call begins on a new line; so does the closer of a body that is plain text",
    "reserved": "the markers are control tokens, which no value can contain",
    "string_mark": "the mark around texts in {args:marked}",
    "untyped": "the type of a value that has no schema",
    "cdata": "if a CDATA section is the whole value, only its content is read",
    "cdata_for": "a text with one of these characters is written in a CDATA section",
    "escaped_names": "names of tools and parameters are escaped as in XML",
    "element": "a value may be nested elements; this text stands before the < of each tag",
    "name": "the tool that a call without a {name} always calls",
    "nameless": "a call without a name gets an empty name, or the name of the only tool that fits",
    "object_block": "two markers around a JSON object that may replace all parameters",
    "objects": "a body that is one text may be a JSON object instead, which holds the arguments",
    "joined": "consecutive calls are one call; this text joins their bodies",
    "slip": "models or servers write this form by mistake: it is read, with a finding",
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
    "name_is_key": "the object has one member: the tool's name, with the arguments as its value",
    "text_key": "the argument's name if the arguments are a text instead of an object",
    "thought": "the key of the first member, if that holds reasoning",
}
_JSON: Final = {
    "indent": "blanks for each level; 0: all on one line",
    "margin": "blanks before every line but the first",
    "comma": "the text between members: a comma, and blanks",
    "colon": "the text after a key: a colon, and blanks",
    "ascii": "characters outside of ASCII are escaped",
}
_LITERALS: Final = {
    "true": "the word for true",
    "false": "the word for false",
    "null": "the word for null",
    "nested": "how lists and objects are written: as JSON, or as Python's repr writes them",
}
_TAGS: Final = {"open": "the opening tag", "close": "the closing tag; empty: the next call closes"}
_SWITCHES: Final = {
    "calls_in_fences": "a call inside a code fence is an example (text) or a call",
    "calls_in_reasoning": "a call inside reasoning is a call, is one only if the reasoning is "
    "never closed, or stays reasoning",
    "text_after_calls": "text after a call is content, or a finding that holds it",
    "broken_calls": "the text of an aborted call is kept apart from the content, or is part of it",
    "misfits": "a call that lacks a required argument is delivered, or read as broken",
    "entities": "&lt; in a parameter's text stays as it is, or becomes <",
    "typing": "values get the types of the tool's schema, or stay texts",
}

FIELDS: Final[dict[str, str]] = {
    "name": "the dialect's name: letters, digits, '.', '-' and '_'",
    "syntax": "how a call is written and read",
    **{f"syntax.{field}": text for field, text in _SYNTAX.items()},
    **{f"syntax.shape.{field}": text for field, text in _SHAPE.items()},
    **{f"syntax.json.{field}": text for field, text in _JSON.items()},
    **{f"syntax.literals.{field}": text for field, text in _LITERALS.items()},
    "rules": "the text of the prompt before the example call, which is added automatically",
    "title": "the name that people read",
    "result": "how a tool's result is written: {result}, and {name} and {id} if they are written",
    "result_role": "the role of the message that carries results",
    "answer": "two texts, before and after an assistant's text",
    "reasoning": "the tags around reasoning",
    **{f"reasoning.{field}": text for field, text in _TAGS.items()},
    "opens_reasoning": "the prompt ends inside reasoning, so a reply begins with it",
    "plain": "tags around text in which no call is read",
    **{f"plain.{field}": text for field, text in _TAGS.items()},
    "stops": "tokens that end a reply",
    "dropped": "tokens that servers leak into the text",
    "parallel": "true if one reply may hold several calls",
    "tool_docs": "how tools are documented: described, or as json-lines",
    "switches": "how to read replies that can be read in two ways",
    **{f"switches.{field}": text for field, text in _SWITCHES.items()},
    "models": "the models that are trained on it and the programs that use it, in words",
    "model_names": "regular expressions of those models' names",
    "raw_prompt": "the raw prompt that the dialect's guide shows too",
    "raw_prompt.format": "llama3 or llama4",
    "raw_prompt.tools": "how the raw prompt defines custom tools",
    "own_tool": "the one tool that the model was trained to call; the guide has no other",
    "cache_policy": "the name of the cache policy",
}


def meaning(path: str) -> str:
    """Return a field's meaning by its path, in which indexes are ignored; "" if it is unknown."""
    steps = [step for step in path.split(".") if not step.isdigit()]
    while steps[:2] == ["syntax", "also"] and len(steps) > 2:
        del steps[1]
    return FIELDS.get(".".join(steps), "")
