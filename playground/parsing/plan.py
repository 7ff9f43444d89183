"""A dialect's plan: its forms, and the choices of every place outside of calls."""

from __future__ import annotations

from functools import cached_property, lru_cache

from playground.parsing.choice import ANY_FENCE, FENCE, Choice, Kind, literals
from playground.parsing.choice_point import ChoicePoint, choice_point
from playground.parsing.declaration import Declaration, Markers
from playground.parsing.form import Form
from playground.parsing.form_builder import FormBuilder
from playground.parsing.outer_choices import OuterChoices
from playground.parsing.remnants import bare_sections, remnants
from playground.parsing.switches import Switches


class Plan:
    """All choice points of one dialect for one set of tool names. The number of a call's group is
    the index of its form.

    A choice point is built when a reply first needs it, because most replies are prose, or calls
    of one form.
    """

    def __init__(
        self, syntax: Declaration, markers: Markers, switches: Switches, names: tuple[str, ...]
    ) -> None:
        syntaxes = (syntax, *syntax.also)
        self._builders = [FormBuilder(form, number, names) for number, form in enumerate(syntaxes)]
        self._outer, self._switches = OuterChoices(markers), switches
        self._calls = [choice for builder in self._builders for choice in builder.calls()]
        self._remnants = remnants(self._builders)
        self._forms: dict[int, Form] = {}

    def form(self, number: int) -> Form:
        form = self._forms.get(number)
        if form is None:
            form = self._builders[number].form(self._outer, self._calls, self._remnants)
            self._forms[number] = form
        return form

    @property
    def forms(self) -> tuple[Form, ...]:
        return tuple(map(self.form, range(len(self._builders))))

    @cached_property
    def text(self) -> ChoicePoint:
        return choice_point(
            *_text_choices(self._builders, self._outer, self._calls, self._remnants, self._switches)
        )

    @cached_property
    def fenced(self) -> ChoicePoint:
        return choice_point(FENCE, *self._calls)

    @cached_property
    def reasoning(self) -> tuple[ChoicePoint, ...]:
        """The choices in reasoning, for each pair of tags."""
        openers = [choice for builder in self._builders for choice in builder.calls_in_reasoning()]
        outer = self._outer
        return tuple(
            choice_point(
                # reasoning without a closer ends with the next call, whatever the switches say
                *(openers if tags.close else self._calls),
                *outer.dropped(),
                *outer.closer(tags),
                *outer.stops(),
            )
            for tags in outer.markers.reasoning
        )

    @cached_property
    def plain(self) -> tuple[ChoicePoint, ...]:
        """The choices in text in which nothing is a call, for each pair of tags."""
        outer = self._outer
        return tuple(
            choice_point(*outer.closer(tags), *outer.dropped(), *outer.stops())
            for tags in outer.markers.plain
        )

    @cached_property
    def opened(self) -> ChoicePoint | None:
        """The opener of reasoning, which models may repeat; None if replies begin with text."""
        markers = self._outer.markers
        if not markers.opens_reasoning:
            return None
        return choice_point(*literals(Kind.OPEN, [markers.reasoning[0].open]))

    @cached_property
    def fence(self) -> ChoicePoint | None:
        """A code fence; None if calls in code fences are real calls."""
        return choice_point(ANY_FENCE) if self._switches.calls_in_fences == "text" else None


@lru_cache(maxsize=256)
def compile_plan(
    syntax: Declaration, markers: Markers, switches: Switches, names: tuple[str, ...]
) -> Plan:
    """Return the plan of a dialect for the tools' `names`, which are () unless the syntax depends
    on them."""
    return Plan(syntax, markers, switches, names)


@lru_cache(maxsize=1024)
def call_openers(syntax: Declaration, names: tuple[str, ...]) -> ChoicePoint:
    """Return the choices that may begin a call of a dialect. A text without any of them has no
    call, complete or broken. `names` are the tools' names, as for `compile_plan`."""
    syntaxes = (syntax, *syntax.also)
    relevant_names = names if syntax.depends_on_tool_names else ()
    builders = [FormBuilder(form, number, relevant_names) for number, form in enumerate(syntaxes)]
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

    A stop token that begins like a call is not a call: `>>>all`. Likewise, a stop token that begins
    like reasoning does not open reasoning: `<|channel>final`.
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
