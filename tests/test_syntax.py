"""Templates are checked when they are made; a wrong one quotes itself and the place."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import TOOLS
from test_laws import EXAMPLES

from playground.base.errors import SyntaxFault
from playground.nouns.events import Event, MarkupEvent, merged
from playground.parsing.parser import SyntaxParser
from playground.parsing.switches import Switches
from playground.parsing.syntax import (
    Hole,
    JsonStyle,
    Literals,
    Markers,
    ReasoningTags,
    Syntax,
)

# markers of which one is how another begins, or both begin alike
ALIKE = (
    (Syntax("{call:json}<c>"), Markers(stops=("<a>", "<a><b>", "<c><a>"), dropped=("<c>",))),
    (
        Syntax("<a>{call:json}</a>", section="<a><b>{calls}</a><b>"),
        Markers(
            reasoning=(ReasoningTags("<a><c>", "</a>"), ReasoningTags("<a><c>b", "</a><c>")),
            dropped=("</a><b>", "</a><b><c>", "<b>"),
        ),
    ),
    (
        Syntax("<c><a>{call:json}", section="</a><b>{calls}</a>", section_also=("<a>{calls}<a>",)),
        Markers(stops=("<a>", "<a>\n<b>", "<b>"), result="<c>"),
    ),
    (
        Syntax("<a>{name}>{params}</a>", param="<a>{key}</a><b>{value}</a><b>", separator="<b>"),
        Markers(stops=("</a><b>", "</a>"), plain=(ReasoningTags("<a><b>", "<b><c>"),)),
    ),
)


def read(syntax: Syntax, markers: Markers, pieces: list[str]) -> list[Event]:
    parser = SyntaxParser(syntax, markers, Switches(), TOOLS)
    events = [event for piece in pieces for event in parser.feed(piece.encode())]
    return merged([*events, *parser.finish()])


@pytest.mark.parametrize(("syntax", "markers"), ALIKE)
def test_law_1_holds_where_one_marker_begins_another(syntax: Syntax, markers: Markers) -> None:
    listed = [
        "<a>",
        "<b>",
        "<c>",
        "</a>",
        "x",
        "b",
        " ",
        "\n",
        "path",
        "list_files>",
        "write_file>",
    ]
    call = '{"name": "list_files", "arguments": {}}'

    @settings(max_examples=EXAMPLES)
    @given(st.lists(st.sampled_from([*listed, call]), max_size=9))
    @example(["<a>", "<b>", "x"])
    @example(["</a>", "<b>", "</a>", "<b>", " "])
    @example(["<c>", "<a>"])
    def law(pieces: list[str]) -> None:
        text = "".join(pieces)
        whole = read(syntax, markers, [text])
        assert read(syntax, markers, pieces) == whole
        assert read(syntax, markers, list(text)) == whole

    law()


def test_of_two_stop_tokens_that_begin_alike_the_longer_one_is_read() -> None:
    syntax, markers = ALIKE[0]
    for pieces in (["hi<a><b> more"], list("hi<a><b> more")):
        found = [e.text for e in read(syntax, markers, pieces) if isinstance(e, MarkupEvent)]
        assert found == ["<a><b>"]


def test_a_template_is_cut_at_its_holes() -> None:
    template = Syntax("<f={name}>{{{args:json}}}</f>").call_template
    assert template.before == ("<f=", Hole("name"), ">{")
    assert (template.body, template.after) == ("args:json", ("}</f>",))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"call": "<x>{nmae}{args:json}"}, r"has {nmae} at character 3; allowed here: .*{name}"),
        ({"call": "<x>{name}</x>"}, r"must have {call:json} or .* once, not 0 times"),
        ({"call": "{args:json}{call:json}"}, "once, not 2 times"),
        ({"call": "<x>{params}"}, "no param template"),
        ({"call": "{call:json}", "param": "{key}={value}"}, r"has no {params}"),
        (
            {"call": "<x>{params}", "param": "{key}"},
            "must have {value} or {value:block} or {value:json} once",
        ),
        ({"call": "{call:json}", "section": "<a>{call}</a>"}, "has {call} at character 3"),
        # the parser went round for ever at the closer, and read nothing without a word
        ({"call": "{call:json}", "section": "{calls}<|x|>"}, "nothing before {calls}"),
        ({"call": "{call:json}", "section": "\n{calls}<|x|>"}, "nothing before {calls}"),
        ({"call": "<{name}={name}>{args:json}"}, "{name} occurs twice before the {args:json}"),
        # what the parser could not be made of, or failed at in the middle of a reply
        ({"call": "<do>{args:json}</do>"}, "names no tool: it needs {name} before its body"),
        ({"call": "<f={name}>{args:json}</f>{id}"}, "{id} comes after the {args:json}"),
        ({"call": "{name} {line:path}{args:json}"}, "{line:path} needs a body of {text:KEY}"),
        ({"call": "<{name}>{params}", "param": "<p>{value}</p>"}, "has no {key} before its value"),
        ({"call": "<{name}>{params}</x>", "param": "{key}: {value} \n"}, "a blank comes before"),
        ({"call": "<{name}>{params}</x>", "param": "{key}={value}x{key}"}, "ends with a hole"),
        ({"call": "{call:json}", "section": "<a>{calls}</a>{name}"}, "{name} at character"),
        (
            {"call": "<f={name}>{params}", "param": "<{key}={key}>{value}</>"},
            "{key} occurs twice before the {value}",
        ),
        (
            {"call": "<f>{params}</f>", "param": "<{key}>{value}</>", "param_separator": ", "},
            "param_separator ', ' has to be white space",
        ),
        (
            {"call": "<f>{params}</f>", "param": "{key}: {value}\n", "param_separator": "\n"},
            "have to end with more than white space",
        ),
        # a value on one line had no end; one of line breaks came back with another one
        *(
            (
                {"call": "<f>{params}</f>", "param": param},
                "a line break is next to {value:block}",
            )
            for param in ("{key}: {value:block}\n", "<{key}>\n{value:block}</>")
        ),
        ({"call": "{call:json}", "literals": Literals(true="x", false="x")}, "three different"),
        ({"call": "{call:json}", "literals": Literals(null=" ")}, "three different words"),
        ({"call": "{call:json}", "json": JsonStyle(comma=";")}, "JSON's comma and colon may only"),
        ({"call": "{call:json}", "json": JsonStyle(colon=":x")}, "JSON's comma and colon may only"),
        ({"call": "{call:json}", "type_words": (("int", "number"),)}, "type_words has 'int'"),
        ({"call": "{call:json}", "type_words": (("integer", "a b"),)}, "as 'a b'; it takes pairs"),
        (
            {"call": "<c>{name}{params}</c>", "param": "|{key}={value}"},
            "={value}' ends a value: after {value} there",
        ),
        (
            {"call": "<c>{name} {params}</c>", "param": "{key}={value} "},
            "a marker or a line break, or {value:json} in its place",
        ),
    ],
)
def test_a_wrong_template_says_what_and_where(fields: dict[str, str], message: str) -> None:
    with pytest.raises(SyntaxFault, match=message.replace("{", r"\{").replace("}", r"\}")):
        Syntax(**fields)  # type: ignore[arg-type]
