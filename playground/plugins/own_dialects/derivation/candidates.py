"""Guess the syntaxes that a template may have; proof.py tests them, and the best one is chosen.

A rendered text does not show where a marker ends and white space begins, so all likely cuts
are tried.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from playground.base.errors import InputFault, SyntaxFault
from playground.parsing.syntax import JsonShape, Syntax
from playground.plugins.own_dialects.asking import (
    KEYS,
    NAMES,
    ONE_CALL,
    TWO_ARGUMENTS,
    TWO_CALLS,
    VALUES,
    AskedCall,
    AskedTemplate,
    common_end,
)
from playground.plugins.own_dialects.derivation.alignment import MARKS, as_template, joints, splits
from playground.plugins.own_dialects.derivation.bodies import Body, bodies_of
from playground.plugins.own_dialects.derivation.frame import TurnFrame
from playground.plugins.own_dialects.derivation.writing import (
    body_fields,
    parameter_fields,
    value_text,
)

_NUMBER: Final = 48137  # an argument that no template writes by itself
_MOST_SYNTAXES: Final = 66  # the likeliest come first, so more of them would only take time


@dataclass(frozen=True, slots=True)
class CutCalls:
    """The texts before, between and after the bodies of two calls, with placeholders (`MARKS`).

    `between` is None if the template writes only one call.
    """

    body: Body
    before: str
    between: str | None
    after: str


def candidates(template: AskedTemplate, frame: TurnFrame) -> dict[Syntax, str]:
    """Return every syntax to try, the likeliest first. Each is mapped to its stop, the text that
    ends turns with calls and no others, or "". Raises InputFault if no body of a call is found."""
    pieces = _pieces(template, frame)
    syntaxes: dict[Syntax, str] = {}
    for fields in _fields(template, frame, pieces):
        stop = fields.pop("stop", "")
        try:
            syntaxes.setdefault(Syntax(**fields), stop)
        except SyntaxFault:
            continue
        if len(syntaxes) == _MOST_SYNTAXES:
            break
    return syntaxes


def _pieces(template: AskedTemplate, frame: TurnFrame) -> CutCalls:
    region = frame.bare(template.reply(ONE_CALL) or "")
    ids = [template.form.call_id(call, index) for index, call in enumerate(TWO_CALLS)]
    bodies = bodies_of(region, ONE_CALL, ids)
    if not bodies:
        raise InputFault(
            f"the template's calls are in no known notation: {region!r:.200}",
            where=template.source.name,
        )
    (body,) = bodies
    before = _with_marks(template, region[: body.start], ONE_CALL)
    after = _with_marks(template, region[body.stop :], ONE_CALL)
    two = template.reply(TWO_CALLS)
    both_bodies = bodies_of(frame.bare(two), TWO_CALLS, ids) if two is not None else []
    if two is None or len(both_bodies) < len(TWO_CALLS):
        return CutCalls(body, before, None, after)
    text = frame.bare(two)
    between = text[both_bodies[0].stop : both_bodies[1].start]
    first = _with_marks(template, text[: both_bodies[0].start], TWO_CALLS)
    last = _with_marks(template, text[both_bodies[1].stop :], TWO_CALLS)
    middle = _with_marks(template, between, TWO_CALLS)
    return CutCalls(body, *_with_number_mark(first, middle), last)


def _with_marks(template: AskedTemplate, text: str, calls: tuple[AskedCall, ...]) -> str:
    """Return the text with placeholders for the calls' names and ids; an id may hold the name."""
    for index, call in enumerate(calls):
        if not template.form.names_in_ids:
            text = text.replace(template.form.call_id(call, index), MARKS["id"])
        text = text.replace(call.name, MARKS["name"])
    return text


def _with_number_mark(first: str, between: str) -> tuple[str, str]:
    """Return the texts before the first call and between the calls, with a placeholder for the
    call's number (0 then 1, or 1 then 2) if that makes their common end longer."""
    best, longest = (first, between), len(common_end(first, between))
    for low, high, hole in (("0", "1", "index"), ("1", "2", "number")):
        marked = (
            re.sub(rf"(?<!\d){low}(?!\d)", MARKS[hole], first),
            re.sub(rf"(?<!\d){high}(?!\d)", MARKS[hole], between),
        )
        size = len(common_end(*marked))
        if size > longest and MARKS[hole] in marked[0]:
            best, longest = marked, size
    return best


def _fields(
    template: AskedTemplate, frame: TurnFrame, pieces: CutCalls
) -> Iterator[dict[str, Any]]:
    value_fields = {} if pieces.body.hole == "params" else body_fields(template, frame, pieces.body)
    for param_fields, inner in _parameters(template, frame, pieces):
        for outer in _calls(inner, pieces.body, param_fields | value_fields, frame.stops):
            yield outer
            if param_fields and "cdata" not in param_fields:
                yield {**outer, "cdata": True}


def _parameters(
    template: AskedTemplate, frame: TurnFrame, pieces: CutCalls
) -> Iterator[tuple[dict[str, Any], CutCalls]]:
    """Yield the fields that declare a parameter, with the pieces that remain without the
    parameter's text."""
    if pieces.body.hole != "params":
        yield {}, pieces
        return
    pair = frame.bare(template.reply(TWO_ARGUMENTS) or "")
    first = re.search(re.escape(KEYS[0]), pair[pair.find(NAMES[0]) + len(NAMES[0]) :])
    if first is None or not all(value in pair for value in VALUES):
        return
    key_start = pair.find(NAMES[0]) + len(NAMES[0]) + first.start()
    between_value, second = _text_after_value(pair, VALUES[0], KEYS[1])
    key_to_value = pair[key_start + len(KEYS[0]) : pair.index(VALUES[0], key_start)]
    marked_gap = _with_type_mark(template, frame, key_to_value)
    after = pair[second:].partition(VALUES[1])[2].replace(KEYS[1], MARKS["key"])
    between = between_value.replace(KEYS[0], MARKS["key"])
    front = _with_marks(template, pair[:key_start], TWO_ARGUMENTS)
    quoted = marked_gap.endswith('"') and between.startswith('"') and after.startswith('"')
    hole = "value"
    if quoted and _is_json(template, frame, marked_gap[:-1]):
        hole, marked_gap, between, after = "value:json", marked_gap[:-1], between[1:], after[1:]
        pieces = _without_quotes(pieces)
    fields = parameter_fields(template, frame, _pattern(marked_gap), hole == "value:json")
    for closer, opener in splits(between, front, after):
        value = f"{as_template(marked_gap)}{{{hole}}}"
        param = f"{as_template(opener)}{{key}}{value}{as_template(closer)}"
        yield {"param": param, **fields}, _without_parameter(pieces, opener, closer)


def _is_json(template: AskedTemplate, frame: TurnFrame, marked_gap: str) -> bool:
    """Return True if a number as a value has no quotes, unlike a text. `marked_gap` is the text
    between key and value, before a quote."""
    return value_text(template, frame, _NUMBER, _pattern(marked_gap), True)[1] == str(_NUMBER)


def _without_quotes(pieces: CutCalls) -> CutCalls:
    """Return the pieces without the closing quote of the last value."""
    between = pieces.between and pieces.between.removeprefix('"')
    return dataclasses.replace(pieces, between=between, after=pieces.after.removeprefix('"'))


def _pattern(marked_gap: str) -> str:
    """Return the text between key and value as a pattern; a group in it is the word for a type."""
    words = {MARKS["type"]: r"(\w{1,16})", MARKS["is_text"]: "(?:true|false)"}
    pattern = re.escape(marked_gap)
    for mark, word in words.items():
        pattern = pattern.replace(re.escape(mark), word)
    return pattern


def with_separator(syntax: Syntax) -> Syntax | None:
    """Return the syntax with the white space after a parameter as the separator, or None if there
    is no white space or the result is no valid syntax. The call's template then has the white space
    after its parameters, also in a call without parameters."""
    param = syntax.param.rstrip()
    space = syntax.param[len(param) :]
    if not space:
        return None
    call = syntax.call.replace("{params}", f"{{params}}{space}")
    try:
        return dataclasses.replace(syntax, param=param, param_separator=space, call=call)
    except SyntaxFault:
        return None


def _text_after_value(text: str, value: str, key: str) -> tuple[str, int]:
    """Return the text between a value and the next key, and the offset of that key."""
    start = text.index(value) + len(value)
    end = text.index(key, start)
    return text[start:end], end


def _without_parameter(pieces: CutCalls, opener: str, closer: str) -> CutCalls:
    """Return the pieces without the opener and closer of a parameter."""
    before = pieces.before.removesuffix(opener)
    after = _cut_start(pieces.after, closer)
    between = pieces.between
    if between is not None:
        between = _cut_start(between, closer).removesuffix(opener)
    return dataclasses.replace(pieces, before=before, after=after, between=between)


def _cut_start(text: str, closer: str) -> str:
    for key in KEYS:
        closer_text = closer.replace(MARKS["key"], key)
        if text.startswith(closer_text):
            return text[len(closer_text) :]
    return text


def _with_type_mark(template: AskedTemplate, frame: TurnFrame, key_to_value: str) -> str:
    """Return the text between key and value, with a placeholder for the name of a type."""
    call = (AskedCall(NAMES[0], {KEYS[0]: _NUMBER}),)
    region = frame.bare(template.reply(call) or "")
    key_start = region.find(KEYS[0])
    end = region.find(str(_NUMBER), key_start)
    if key_start < 0 or end < 0:
        return key_to_value
    number = region[key_start + len(KEYS[0]) : end]
    words = re.compile(r"\w+")
    text_words, number_words = words.findall(key_to_value), words.findall(number)
    if key_to_value == number or len(text_words) != len(number_words):
        return key_to_value
    changed = [(a, b) for a, b in zip(text_words, number_words, strict=True) if a != b]
    if len(changed) != 1:
        return key_to_value
    word, number_word = changed[0]
    # some templates write whether the value is a text, not its type: `string="true"`
    hole = "is_text" if (word, number_word) == ("true", "false") else "type"
    return re.sub(rf"\b{re.escape(word)}\b", MARKS[hole], key_to_value, count=1)


def _calls(
    pieces: CutCalls, body: Body, param_fields: dict[str, Any], stops: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    """Yield the fields for call, section and separator, for each way to cut the texts."""
    if pieces.before.count(MARKS["name"]) > 1:
        yield from _named_twice(pieces, body, param_fields)
        return
    common: dict[str, Any] = {**param_fields}
    if body.shape != JsonShape():
        common["shape"] = body.shape
    if body.string_mark:
        common["string_mark"] = body.string_mark
    for cut in _cuts(pieces):
        before, after, opener, closer, separator = cut
        call = f"{as_template(opener)}{{{body.hole}}}{as_template(closer)}"
        if "{name}" not in call and body.hole != "call:json":
            continue
        fields = {**common, "call": call, "separator": separator}
        if body.hole != "call:json" and not re.search(r"\w", opener.partition(MARKS["name"])[0]):
            fields["known_names"] = True
        if before.strip():
            section_end, stop = _cut_at_stop(after, stops)
            section = f"{as_template(before)}{{calls}}{as_template(section_end)}"
            yield {**fields, "section": section, "stop": stop}
        else:
            # no section was opened, so the text after all calls closes none
            yield {**fields, "stop": after.strip()}


def _cut_at_stop(after: str, stops: tuple[str, ...]) -> tuple[str, str]:
    """Split the text after all calls at the first stop token, which begins the second part."""
    place = min((after.find(stop) for stop in stops if stop in after), default=len(after))
    return after[:place], after[place:].strip()


def _named_twice(
    pieces: CutCalls, body: Body, param_fields: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the fields for calls that each have a section, if section and call both name the
    tool."""
    opens_at = pieces.before.rfind("<", 0, pieces.before.rfind(MARKS["name"]))
    end = pieces.after.find(">") + 1
    separator = (pieces.between or "").removeprefix(pieces.after).removesuffix(pieces.before)
    if opens_at < 0 or not end or pieces.between != pieces.after + separator + pieces.before:
        return
    opener, closer = pieces.before[opens_at:], pieces.after[:end]
    before, after = pieces.before[:opens_at], pieces.after[end:]
    yield {
        **param_fields,
        "call": f"{as_template(opener)}{{{body.hole}}}{as_template(closer)}",
        "section": f"{as_template(before)}{{calls}}{as_template(after)}",
        "one_call_a_section": True,
        "section_required": True,
        "separator": separator,
    }


def _cuts(pieces: CutCalls) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the texts before and after all calls, and a call's opener, closer and separator."""
    if pieces.between is None:
        for closer in dict.fromkeys((pieces.after, pieces.after.strip(), "")):
            yield "", "", pieces.before, closer, "\n"
        return
    for closer, separator, opener in joints(pieces.between, pieces.before, pieces.after):
        before = pieces.before.removesuffix(opener)
        after = pieces.after.removeprefix(closer)
        if len(before) + len(opener) != len(pieces.before):
            continue
        yield before, after, opener, closer, separator
