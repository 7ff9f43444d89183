"""Templates are checked when they are made; a wrong one quotes itself and the place."""

from __future__ import annotations

import pytest

from playground.errors import SyntaxFault
from playground.parsing.syntax import Hole, Syntax


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
        ({"call": "<x>{params}", "param": "{key}"}, "must have {value} or {value:block} once"),
        ({"call": "{call:json}", "section": "<a>{call}</a>"}, "has {call} at character 3"),
        # the parser went round for ever at the closer, and read nothing without a word
        ({"call": "{call:json}", "section": "{calls}<|x|>"}, "nothing before {calls}"),
        ({"call": "{call:json}", "section": "\n{calls}<|x|>"}, "nothing before {calls}"),
        ({"call": "<{name}={name}>{args:json}"}, "{name} stands twice before the {args:json}"),
        (
            {"call": "<f={name}>{params}", "param": "<{key}={key}>{value}</>"},
            "{key} stands twice before the {value}",
        ),
    ],
)
def test_a_wrong_template_says_what_and_where(fields: dict[str, str], message: str) -> None:
    with pytest.raises(SyntaxFault, match=message.replace("{", r"\{").replace("}", r"\}")):
        Syntax(**fields)  # type: ignore[arg-type]
