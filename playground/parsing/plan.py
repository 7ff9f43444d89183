"""A dialect's plan: its forms, and the choices of every place outside of calls."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from playground.parsing.choice import ANY_FENCE, FENCE, Choice, Kind, literals
from playground.parsing.choice_point import ChoicePoint, choice_point
from playground.parsing.declaration import Declaration, Markers
from playground.parsing.form import Form
from playground.parsing.form_builder import FormBuilder
from playground.parsing.outer_choices import OuterChoices
from playground.parsing.remnants import bare_sections, remnants
from playground.parsing.switches import Switches


class Plan(NamedTuple):
    """All choice points of one dialect for one set of tool names. Groups have the number of their
    form.

    `reasoning` and `plain` have one for each pair of tags. `opened` is the opener of reasoning, in
    dialects whose replies begin inside reasoning, because models may repeat it. `fence` is a code
    fence; None if a call in one is a real call.
    """

    forms: tuple[Form, ...]
    text: ChoicePoint
    fenced: ChoicePoint
    reasoning: tuple[ChoicePoint, ...]
    plain: tuple[ChoicePoint, ...]
    opened: ChoicePoint | None
    fence: ChoicePoint | None


@lru_cache(maxsize=256)
def compile_plan(
    syntax: Declaration, markers: Markers, switches: Switches, names: tuple[str, ...]
) -> Plan:
    """Compile the plan, once per dialect and tool set. `names` matter only if the syntax needs
    them."""
    syntaxes = (syntax, *syntax.also)
    builders = [FormBuilder(form, number, names) for number, form in enumerate(syntaxes)]
    outer = OuterChoices(markers)
    calls = [choice for builder in builders for choice in builder.calls()]
    remnant_choices = remnants(builders)
    return Plan(
        forms=tuple(builder.form(outer, calls, remnant_choices) for builder in builders),
        text=choice_point(*_text_choices(builders, outer, calls, remnant_choices, switches)),
        fenced=choice_point(FENCE, *calls),
        reasoning=_reasoning_choices(builders, outer, calls),
        plain=tuple(
            choice_point(*outer.closer(tags), *outer.dropped(), *outer.stops())
            for tags in markers.plain
        ),
        opened=_reasoning_openers(markers),
        fence=choice_point(ANY_FENCE) if switches.calls_in_fences == "text" else None,
    )


@lru_cache(maxsize=1024)
def call_openers(syntax: Declaration, names: tuple[str, ...]) -> ChoicePoint:
    """Return the choices that may begin a call of a dialect. A text without any of them has no
    call, complete or broken. `names` are the tools' names, as for `compile_plan`."""
    syntaxes = (syntax, *syntax.also)
    known = names if syntax.depends_on_tool_names else ()
    builders = [FormBuilder(form, number, known) for number, form in enumerate(syntaxes)]
    openers = [choice for each in builders for choice in (*each.calls(), *each.unreadable())]
    return choice_point(*dict.fromkeys(openers))


def _text_choices(
    builders: list[FormBuilder],
    outer: OuterChoices,
    calls: list[Choice],
    remnant_choices: list[Choice],
    switches: Switches,
) -> list[Choice]:
    """Return the choices in text. The first that matches wins: reasoning comes before calls, and
    calls before closers without an opener.

    A stop token that begins with a call's opener is no call: `>>>all`. Likewise, one that begins
    with an opener of reasoning opens no reasoning: `<|channel>final`.
    """
    openers = builders[0].syntax.openers
    closers = [
        choice
        for builder in builders
        for choice in builder.section_closer(in_prose=True, orphan=True)
    ]
    thoughts = [tags.open for tags in outer.markers.reasoning]
    return [
        *outer.stops(beginning=thoughts),
        *outer.openers(),
        *outer.stops(beginning=openers),
        *calls,
        *(choice for builder in builders for choice in builder.unreadable()),
        *(choice for builder in builders for choice in builder.lookalikes()),
        *outer.dropped(),
        *(choice for builder in builders for choice in bare_sections(builder)),
        *outer.stops(),
        *closers,
        *outer.closers(),
        *outer.results(),
        *remnant_choices,
        *([FENCE] if switches.calls_in_fences == "text" else []),
    ]


def _reasoning_choices(
    builders: list[FormBuilder], outer: OuterChoices, calls: list[Choice]
) -> tuple[ChoicePoint, ...]:
    openers = [choice for builder in builders for choice in builder.calls_in_reasoning()]
    return tuple(
        choice_point(
            # reasoning without a closer ends with the next call, whatever the switch says
            *(openers if tags.close else calls),
            *outer.dropped(),
            *outer.closer(tags),
            *outer.stops(),
        )
        for tags in outer.markers.reasoning
    )


def _reasoning_openers(markers: Markers) -> ChoicePoint | None:
    if not markers.opens_reasoning:
        return None
    return choice_point(*literals(Kind.OPEN, [markers.reasoning[0].open]))
