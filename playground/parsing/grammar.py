"""A syntax compiled to patterns: what may come next, at every place where the engine waits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from playground.parsing.patterns import (
    FENCE,
    IDENTIFIER,
    LINE_START,
    SPACE,
    Choice,
    Wait,
    first_character,
    last_piece,
    literal,
    literals,
    name_before,
    pieces_pattern,
    stripped,
    unnamed,
    wait,
    worded,
)
from playground.parsing.syntax import Hole, JsonShape, ReasoningTags, Syntax, Template


@dataclass(frozen=True, slots=True)
class Markers:
    """What a dialect puts around its calls: reasoning, stop tokens, the opener of a result.

    `dropped` are tokens of the model's alphabet that leak into its text: always markup.
    """

    reasoning: tuple[ReasoningTags, ...] = ()
    stops: tuple[str, ...] = ()
    result: str = ""
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Switches:
    """What servers decide differently: here it is explicit.

    `calls_in_fences`: a call inside a code fence is an example in prose (text) or a real call.
    `calls_in_reasoning`: a call before reasoning was closed is delivered, or is still reasoning.
    """

    calls_in_fences: Literal["text", "call"] = "text"
    calls_in_reasoning: Literal["call", "reasoning"] = "call"


@dataclass(frozen=True)
class Form:
    """One syntax, compiled: where the engine waits inside its calls and its section."""

    syntax: Syntax
    section: Wait
    separator: Wait
    close: Wait | None
    skip: Wait | None
    next_param: Wait | None
    value: Wait | None


@dataclass(frozen=True)
class Grammar:
    """All waits of one dialect for one set of tool names; groups carry the number of their form."""

    forms: tuple[Form, ...]
    text: Wait
    fenced: Wait
    reasoning: tuple[Wait, ...]


@lru_cache(maxsize=256)
def compile_grammar(
    syntax: Syntax, markers: Markers, switches: Switches, names: tuple[str, ...]
) -> Grammar:
    """Compile once per dialect and tool set; `names` matter only where the syntax needs them."""
    builders = [
        _FormBuilder(form, number, names) for number, form in enumerate((syntax, *syntax.also))
    ]
    around = _Surroundings(markers)
    calls = [choice for builder in builders for choice in builder.calls()]
    closers = [c for builder in builders for c in builder.section_closer() if worded(c.pattern)]
    fence = [FENCE] if switches.calls_in_fences == "text" else []
    in_reasoning = calls if switches.calls_in_reasoning == "call" else []
    return Grammar(
        forms=tuple(builder.form(around, calls) for builder in builders),
        text=wait(*calls, *around.dropped(), *around.stops(), *closers, *around.in_text(), *fence),
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
    )


class _Surroundings:
    """Choices for the markers around calls."""

    def __init__(self, markers: Markers) -> None:
        self.markers = markers

    def stops(self) -> list[Choice]:
        return literals("stop", self.markers.stops)

    def dropped(self) -> list[Choice]:
        return literals("dropped", self.markers.dropped)

    def closer(self, tags: ReasoningTags) -> list[Choice]:
        return literals("close", [tags.close] if tags.close else [])

    def in_text(self) -> list[Choice]:
        choices: list[Choice] = []
        for index, tags in enumerate(self.markers.reasoning):
            choices += literals(f"think_{index}", [tags.open])
            choices += literals("think_close", [tags.close] if tags.close else [])
        return choices + literals("result", [self.markers.result] if self.markers.result else [])


class _FormBuilder:
    """The choices of one syntax, their groups numbered."""

    def __init__(self, syntax: Syntax, number: int, names: tuple[str, ...]) -> None:
        self.syntax, self.number = syntax, number
        template = syntax.call_template
        self.name = IDENTIFIER if syntax.known_names else name_before(template.before, "name")
        if syntax.known_names and names:
            self.name = "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True))
        ending = stripped(template.after)
        after = pieces_pattern(ending, {"name": f"(?P<close_name>{self.name})"})
        self.closing = Choice(after, first_character(ending))
        section, param = syntax.section_template, syntax.param_template
        self.section_open = pieces_pattern(section.before, {}) if section else ""
        self.section_close = pieces_pattern(stripped(section.after), {}) if section else ""
        self.key = IDENTIFIER
        if param and not syntax.known_names:
            self.key = name_before(param.before, "key")
        self.param_open = self._param_open(param) if param else ""

    def form(self, around: _Surroundings, calls: list[Choice]) -> Form:
        param, closing = self.syntax.param_template, self.closing
        return Form(
            syntax=self.syntax,
            section=self.section_wait(around, calls),
            separator=self.separator(),
            close=wait(Choice(SPACE + closing.pattern, "")) if closing.pattern else None,
            skip=wait(closing) if closing.pattern else None,
            next_param=self.next_param(param, around) if param else None,
            value=self.value_wait(param, around) if param else None,
        )

    def _param_open(self, param: Template) -> str:
        holes = {
            "key": f"(?P<key>{self.key})",
            "type": r"(?P<type>\w{1,16}+)",
            "is_text": "(?P<is_text>true|false)",
        }
        return pieces_pattern(
            param.before, holes, value_after=True, block=param.body == "value:block"
        )

    def opening(self, strict: bool = True) -> Choice:
        """Everything up to the body, and a look at what makes it a call rather than prose.

        Directly inside a section a bare JSON object needs no further proof: `strict` is off.
        """
        template, shape = self.syntax.call_template, self.syntax.shape
        identity = name_before(template.before, "id")
        holes = {
            "name": f"(?P<name>{self.name})",
            "id": f"(?P<id>{identity})",
            "index": r"\d{1,6}+",
            "number": r"\d{1,6}+",
        }
        before = pieces_pattern(template.before, holes)
        closing = unnamed(self.closing.pattern)
        if template.body == "call:json":
            head = r"\{" if before or not strict or shape.name_is_key else _bare_object(shape)
            look = f"{SPACE if before else ''}{head}"
        elif template.body == "args:marked":
            look = rf"{SPACE}\{{"
        elif template.body == "args:json":
            look = rf"{SPACE}(?:\{{{'|' + closing if closing else ''})"
        elif template.body == "params" and (
            self.syntax.known_names or isinstance(last_piece(template.before), Hole)
        ):
            look = f"{SPACE}(?:{unnamed(self.param_open)}|{closing})"
        else:
            look = ""
        start = LINE_START if self.syntax.line_start and strict else ""
        pattern = f"(?P<call_{self.number}>{start}{before}{f'(?={look})' if look else ''})"
        return Choice(pattern, first_character(template.before) or ("" if template.before else "{"))

    def calls(self) -> list[Choice]:
        """The openers of a call outside a section: a section's, if there is one, and its own."""
        section = self.syntax.section_template
        if not section:
            return [self.opening()]
        look = unnamed(self.opening(strict=not worded(self.section_open)).pattern)
        empty = f"|{self.section_close}" if worded(self.section_close) else ""
        marker = Choice(
            f"(?P<section_{self.number}>{self.section_open}(?={SPACE}(?:{look}{empty})))",
            first_character(section.before),
        )
        return [marker] if self.syntax.section_required else [marker, self.opening()]

    def section_closer(self) -> list[Choice]:
        section = self.syntax.section_template
        if section is None or not self.section_close:
            return []
        group = f"(?P<section_close_{self.number}>{self.section_close})"
        return [Choice(group, first_character(section.after))]

    def section_wait(self, around: _Surroundings, calls: list[Choice]) -> Wait:
        """Between the calls of a section: white space and the separator are markup."""
        between = "".join(sorted(set(self.syntax.separator) - set(" \n\t")))
        space = Choice(rf"(?P<space>[\s{re.escape(between)}]{{1,64}}+)", f" \t\n\r\f\v{between}")
        own = self.opening(strict=False)
        markers = [*around.dropped(), *around.stops(), *self.section_closer()]
        return wait(own, *calls, *markers, space)

    def next_param(self, param: Template, around: _Surroundings) -> Wait:
        """Inside a call: a parameter, the call's closer, or a marker that says it was forgotten."""
        choices = [Choice(f"(?P<param>{self.param_open})", first_character(param.before))]
        if self.closing.pattern:
            first = self.closing.first
            choices.insert(0, Choice(f"(?P<close>{self.closing.pattern})", first))
        return wait(*choices, *self.section_closer(), *around.stops(), *self.calls())

    def value_wait(self, param: Template, around: _Surroundings) -> Wait:
        """A parameter's closer, but only before what may follow it: else it is the value's own."""
        ends = [self.param_open, self.closing.pattern, self.section_close]
        ends += [choice.pattern for choice in around.stops()]
        follow = "|".join(unnamed(end) for end in ends if end)
        holes = {"key": f"(?P<close_key>{self.key})"}
        block = param.body == "value:block"
        closer = pieces_pattern(param.after, holes, value_before=True, block=block)
        # where white space is all that closes a value, the rest of it is the value's own
        between = SPACE if any(isinstance(p, Hole) or p.strip() for p in param.after) else ""
        choices = [Choice(f"(?P<close>{closer}(?={between}(?:{follow})))", "")]
        if self.closing.pattern and worded(self.section_close):
            # both outer closers in a row: the value's own was forgotten (ollama#18563)
            outer = f"{SPACE}{unnamed(self.closing.pattern)}{SPACE}{self.section_close}"
            choices.append(Choice(rf"(?P<forgotten>\n?+(?={outer}))", ""))
        firsts = first_character(param.after) + self.closing.first + "\n"
        return wait(*(choice._replace(first=firsts) for choice in choices))

    def separator(self) -> Wait:
        choices = self.calls() if self.syntax.one_call_a_section else [self.opening(strict=False)]
        if not self.syntax.section:
            choices = [self.opening()]
        look = "|".join(unnamed(choice.pattern) for choice in choices)
        return wait(Choice(rf"{literal(self.syntax.separator)}{SPACE}(?={look})", ""))


def _bare_object(shape: JsonShape) -> str:
    """The head of a JSON call that no marker announces: its keys in the declared order."""

    def key(*names: str) -> str:
        listed = "|".join(re.escape(name) for name in names)
        return rf'"(?:{listed})"{SPACE}:{SPACE}'

    comma = rf"{SPACE},{SPACE}"
    parts = [rf'(?:{key(shape.id)}"[^"\\]{{0,128}}+"{comma})?'] if shape.id else []
    parts += [rf'(?:{key(k)}"{re.escape(v)}"{comma})?' for k, v in shape.constants]
    parts += [rf"{key(step)}\{{{SPACE}" for step in shape.name[:-1]]
    parts += [rf'{key(shape.name[-1])}"[^"\\]{{1,128}}+"{comma}{key(*shape.aliases)}']
    return rf"\{{{SPACE}" + "".join(parts)
