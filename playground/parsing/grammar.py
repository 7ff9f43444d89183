"""A syntax compiled to patterns: what may come next, at every place where the engine waits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from playground.parsing.forms import Form, FormBuilder, Surroundings
from playground.parsing.patterns import FENCE, Wait, literals, wait, worded
from playground.parsing.switches import Switches
from playground.parsing.syntax import Markers, Syntax


@dataclass(frozen=True)
class Grammar:
    """All waits of one dialect for one set of tool names; groups carry the number of their form."""

    forms: tuple[Form, ...]
    text: Wait
    fenced: Wait
    reasoning: tuple[Wait, ...]
    plain: tuple[Wait, ...]
    opened: Wait | None


@lru_cache(maxsize=256)
def compile_grammar(
    syntax: Syntax, markers: Markers, switches: Switches, names: tuple[str, ...]
) -> Grammar:
    """Compile once per dialect and tool set; `names` matter only where the syntax needs them."""
    builders = [
        FormBuilder(form, number, names) for number, form in enumerate((syntax, *syntax.also))
    ]
    around = Surroundings(markers)
    calls = [choice for builder in builders for choice in builder.calls()]
    closers = [c for builder in builders for c in builder.section_closer() if worded(c.pattern)]
    fence = [FENCE] if switches.calls_in_fences == "text" else []
    announced = [choice for builder in builders for choice in builder.announced()]
    in_reasoning = announced if switches.calls_in_reasoning == "call" else []
    return Grammar(
        forms=tuple(builder.form(around, calls) for builder in builders),
        text=wait(
            *around.openers(),
            *calls,
            *around.dropped(),
            *around.stops(),
            *closers,
            *around.closers(),
            *around.result(),
            *fence,
        ),
        fenced=wait(FENCE, *calls),
        reasoning=tuple(
            wait(
                *(in_reasoning if tags.close else calls),
                *around.dropped(),
                *around.closer(tags),
                *around.stops(),
            )
            for tags in markers.reasoning
        ),
        plain=tuple(
            wait(*around.closer(tags), *around.dropped(), *around.stops()) for tags in markers.plain
        ),
        opened=wait(*literals("open", [markers.reasoning[0].open]))
        if markers.opens_reasoning
        else None,
    )
