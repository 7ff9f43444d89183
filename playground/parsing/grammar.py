"""A syntax compiled to patterns: what may come next, at every place where the engine waits.

Patterns are matched partially (`regex`), so that a marker may be cut anywhere; every repetition is
bounded and possessive and none is nested, so that no text makes them slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import regex

from playground.parsing.syntax import Hole, JsonShape, Piece, ReasoningTags, Syntax, Template

SPACE: Final = r"\s{0,64}+"
NO_NAME: Final = r"""\s<>="'`{}\[\]|"""  # no part of a name or key, in any dialect
IDENTIFIER: Final = r"[A-Za-z_][\w.\-]{0,127}+"
# attributes that the form does not ask for are read over
ATTRIBUTES: Final = r"""(?:\s{1,8}+[\w:.\-]{1,32}+="[^"]{0,64}+"){0,4}+"""
LINE_START: Final = r"(?<!\S[ \t]{0,6})"
CONTEXT: Final = 8  # characters before the place that LINE_START may look at


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


class Choice(NamedTuple):
    """One thing that may come: its pattern, and the characters with which it begins."""

    pattern: str
    first: str
    texts: tuple[str, ...] = ()  # where the pattern is nothing but these


FENCE: Final = Choice(f"(?P<fence>{LINE_START}(?:`{{3,64}}+|~{{3,64}}+))", "`~")


@dataclass(frozen=True, slots=True)
class Wait:
    """A place where the engine waits: `first` finds candidates fast, `pattern` decides.

    `varying` names the groups that more text could lengthen, such as a run of back-ticks, or a
    marker that another marker begins with.
    """

    first: re.Pattern[str]
    pattern: regex.Pattern[str]
    groups: tuple[str, ...]
    varying: frozenset[str]

    def kind(self, match: regex.Match[str]) -> str:
        """Which choice has matched. (`lastgroup` is wrong where a name occurs in two forms.)"""
        return next((group for group in self.groups if match[group] is not None), "")


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
    closers = [c for builder in builders for c in builder.section_closer() if _worded(c.pattern)]
    fence = [FENCE] if switches.calls_in_fences == "text" else []
    in_reasoning = calls if switches.calls_in_reasoning == "call" else []
    return Grammar(
        forms=tuple(builder.form(around, calls) for builder in builders),
        text=_wait(*calls, *around.dropped(), *around.stops(), *closers, *around.in_text(), *fence),
        fenced=_wait(FENCE, *calls),
        reasoning=tuple(
            _wait(
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
        return _literals("stop", self.markers.stops)

    def dropped(self) -> list[Choice]:
        return _literals("dropped", self.markers.dropped)

    def closer(self, tags: ReasoningTags) -> list[Choice]:
        return _literals("close", [tags.close] if tags.close else [])

    def in_text(self) -> list[Choice]:
        choices: list[Choice] = []
        for index, tags in enumerate(self.markers.reasoning):
            choices += _literals(f"think_{index}", [tags.open])
            choices += _literals("think_close", [tags.close] if tags.close else [])
        return choices + _literals("result", [self.markers.result] if self.markers.result else [])


class _FormBuilder:
    """The choices of one syntax, their groups numbered."""

    def __init__(self, syntax: Syntax, number: int, names: tuple[str, ...]) -> None:
        self.syntax, self.number = syntax, number
        template = syntax.call_template
        self.name = IDENTIFIER if syntax.known_names else _name_before(template.before, "name")
        if syntax.known_names and names:
            self.name = "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True))
        ending = _stripped(template.after)
        after = _pieces(ending, {"name": f"(?P<close_name>{self.name})"})
        self.closing = Choice(after, _first(ending))
        section, param = syntax.section_template, syntax.param_template
        self.section_open = _pieces(section.before, {}) if section else ""
        self.section_close = _pieces(_stripped(section.after), {}) if section else ""
        self.key = IDENTIFIER
        if param and not syntax.known_names:
            self.key = _name_before(param.before, "key")
        self.param_open = self._param_open(param) if param else ""

    def form(self, around: _Surroundings, calls: list[Choice]) -> Form:
        param, closing = self.syntax.param_template, self.closing
        return Form(
            syntax=self.syntax,
            section=self.section_wait(around, calls),
            separator=self.separator(),
            close=_wait(Choice(SPACE + closing.pattern, "")) if closing.pattern else None,
            skip=_wait(closing) if closing.pattern else None,
            next_param=self.next_param(param, around) if param else None,
            value=self.value_wait(param, around) if param else None,
        )

    def _param_open(self, param: Template) -> str:
        holes = {
            "key": f"(?P<key>{self.key})",
            "type": r"(?P<type>\w{1,16}+)",
            "is_text": "(?P<is_text>true|false)",
        }
        return _pieces(param.before, holes, value_after=True, block=param.body == "value:block")

    def opening(self, strict: bool = True) -> Choice:
        """Everything up to the body, and a look at what makes it a call rather than prose.

        Directly inside a section a bare JSON object needs no further proof: `strict` is off.
        """
        template, shape = self.syntax.call_template, self.syntax.shape
        identity = _name_before(template.before, "id")
        holes = {
            "name": f"(?P<name>{self.name})",
            "id": f"(?P<id>{identity})",
            "index": r"\d{1,6}+",
            "number": r"\d{1,6}+",
        }
        before = _pieces(template.before, holes)
        closing = _unnamed(self.closing.pattern)
        if template.body == "call:json":
            head = r"\{" if before or not strict or shape.name_is_key else _bare_object(shape)
            look = f"{SPACE if before else ''}{head}"
        elif template.body == "args:marked":
            look = rf"{SPACE}\{{"
        elif template.body == "args:json":
            look = rf"{SPACE}(?:\{{{'|' + closing if closing else ''})"
        elif template.body == "params" and (
            self.syntax.known_names or isinstance(_last(template.before), Hole)
        ):
            look = f"{SPACE}(?:{_unnamed(self.param_open)}|{closing})"
        else:
            look = ""
        start = LINE_START if self.syntax.line_start and strict else ""
        pattern = f"(?P<call_{self.number}>{start}{before}{f'(?={look})' if look else ''})"
        return Choice(pattern, _first(template.before) or ("" if template.before else "{"))

    def calls(self) -> list[Choice]:
        """The openers of a call outside a section: a section's, if there is one, and its own."""
        section = self.syntax.section_template
        if not section:
            return [self.opening()]
        look = _unnamed(self.opening(strict=not _worded(self.section_open)).pattern)
        empty = f"|{self.section_close}" if _worded(self.section_close) else ""
        marker = Choice(
            f"(?P<section_{self.number}>{self.section_open}(?={SPACE}(?:{look}{empty})))",
            _first(section.before),
        )
        return [marker] if self.syntax.section_required else [marker, self.opening()]

    def section_closer(self) -> list[Choice]:
        section = self.syntax.section_template
        if section is None or not self.section_close:
            return []
        group = f"(?P<section_close_{self.number}>{self.section_close})"
        return [Choice(group, _first(section.after))]

    def section_wait(self, around: _Surroundings, calls: list[Choice]) -> Wait:
        """Between the calls of a section: white space and the separator are markup."""
        between = "".join(sorted(set(self.syntax.separator) - set(" \n\t")))
        space = Choice(rf"(?P<space>[\s{re.escape(between)}]{{1,64}}+)", f" \t\n\r\f\v{between}")
        own = self.opening(strict=False)
        markers = [*around.dropped(), *around.stops(), *self.section_closer()]
        return _wait(own, *calls, *markers, space)

    def next_param(self, param: Template, around: _Surroundings) -> Wait:
        """Inside a call: a parameter, the call's closer, or a marker that says it was forgotten."""
        choices = [Choice(f"(?P<param>{self.param_open})", _first(param.before))]
        if self.closing.pattern:
            first = self.closing.first
            choices.insert(0, Choice(f"(?P<close>{self.closing.pattern})", first))
        return _wait(*choices, *self.section_closer(), *around.stops(), *self.calls())

    def value_wait(self, param: Template, around: _Surroundings) -> Wait:
        """A parameter's closer, but only before what may follow it: else it is the value's own."""
        ends = [self.param_open, self.closing.pattern, self.section_close]
        ends += [choice.pattern for choice in around.stops()]
        follow = "|".join(_unnamed(end) for end in ends if end)
        holes = {"key": f"(?P<close_key>{self.key})"}
        block = param.body == "value:block"
        closer = _pieces(param.after, holes, value_before=True, block=block)
        # where white space is all that closes a value, the rest of it is the value's own
        between = SPACE if any(isinstance(p, Hole) or p.strip() for p in param.after) else ""
        return _wait(Choice(f"{closer}(?={between}(?:{follow}))", _first(param.after) + "\n"))

    def separator(self) -> Wait:
        choices = self.calls() if self.syntax.one_call_a_section else [self.opening(strict=False)]
        if not self.syntax.section:
            choices = [self.opening()]
        look = "|".join(_unnamed(choice.pattern) for choice in choices)
        return _wait(Choice(rf"{_literal(self.syntax.separator)}{SPACE}(?={look})", ""))


def _literals(group: str, texts: Iterable[str]) -> list[Choice]:
    listed = sorted(set(texts), key=len, reverse=True)
    if not listed:
        return []
    pattern = "|".join(_literal(text.strip()) for text in listed)
    first = "".join(text.strip()[0] for text in listed)
    return [Choice(f"(?P<{group}>{pattern})", first, tuple(text.strip() for text in listed))]


def _pieces(
    pieces: Iterable[Piece],
    holes: Mapping[str, str],
    value_before: bool = False,
    value_after: bool = False,
    block: bool = False,
) -> str:
    """A pattern for pieces. White space is tolerated, but at a value's edge one line break is all:
    what lies beyond it belongs to the value."""
    listed = list(pieces)
    texts = [holes[p.name] if isinstance(p, Hole) else _literal(p) for p in listed]
    for index, piece in enumerate(listed[1:], 1):
        if isinstance(piece, str) and re.match(r'"\s*/?>', piece):
            texts[index] = '"' + ATTRIBUTES + _literal(piece[1:])
        elif isinstance(piece, str) and piece[0] in "<[":
            texts[index] = SPACE + texts[index]
    if value_before and listed:
        inner, space = _edge(listed[0], texts[0], start=True)
        texts[0] = _optional("\n" if block else space) + inner
    if value_after and listed:
        inner, space = _edge(listed[-1], texts[-1], start=False)
        texts[-1] = inner + _optional("\n" if block else space)
    return "".join(texts)


def _edge(piece: Piece, pattern: str, start: bool) -> tuple[str, str]:
    """The pattern without its outer white space, and that white space."""
    if isinstance(piece, Hole):
        return pattern, ""
    bare = piece.lstrip() if start else piece.rstrip()
    if not bare:
        return re.escape(piece), ""  # white space is all that there is: it must be there
    return _literal(bare), piece[: -len(bare)] if start else piece[len(bare) :]


def _optional(space: str) -> str:
    return f"(?:{re.escape(space)})?+" if space else ""


def _stripped(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Without white space at the end: what follows a closer is not part of it."""
    if pieces and isinstance(pieces[-1], str):
        return (*pieces[:-1], pieces[-1].rstrip() or pieces[-1])
    return pieces


def _name_before(pieces: tuple[Piece, ...], hole: str) -> str:
    """A name ends where the literal behind it begins."""
    stop = ""
    for piece, following in zip(pieces, pieces[1:], strict=False):
        if isinstance(piece, Hole) and piece.name == hole and isinstance(following, str):
            stop = re.escape(following.lstrip()[:1])
    return f"[^{NO_NAME}{stop}]{{1,128}}+"


def _literal(text: str) -> str:
    """A marker as a pattern: its words exactly, the white space between and around them loosely."""
    words = re.split(r"\s+|(?<=>)(?=\S)|(?<=\S)(?=<)", text)
    return SPACE.join(re.escape(word) for word in words)


def _worded(pattern: str) -> bool:
    """Whether a marker is more than punctuation, which prose is full of."""
    return any(char.isalpha() for char in re.sub(r"\\s|\(\?P<\w+>", "", pattern))


def _first(pieces: tuple[Piece, ...]) -> str:
    """The first character of a form that begins with a literal; none otherwise."""
    if pieces and isinstance(pieces[0], str):
        return pieces[0].lstrip()[:1] or _first(pieces[1:])
    return ""


def _last(pieces: tuple[Piece, ...]) -> Piece:
    """The last piece that is not white space."""
    solid = [p for p in pieces if isinstance(p, Hole) or p.strip()]
    return solid[-1] if solid else ""


def _unnamed(pattern: str) -> str:
    return re.sub(r"\(\?P<\w+>", "(?:", pattern)


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


def _wait(*choices: Choice) -> Wait:
    listed = [choice for choice in choices if choice.pattern]
    first = "".join(sorted({char for choice in listed for char in choice.first}))
    anything = any(not choice.first for choice in listed)
    pattern = "|".join(choice.pattern for choice in listed)
    groups = tuple(dict.fromkeys(group for choice in listed if (group := _group(choice))))
    varying = {_group(choice) for choice in listed if choice.pattern.rstrip(")").endswith("+")}
    varying |= {_group(choice) for choice in listed if _begins_another(choice, listed)}
    searched = r"[\s\S]" if anything else f"[{re.escape(first)}]"
    return Wait(re.compile(searched), regex.compile(pattern), groups, frozenset(varying))


def _begins_another(choice: Choice, listed: list[Choice]) -> bool:
    """Whether one of the choice's texts is how another choice may begin."""
    others = [regex.compile(other.pattern) for other in listed if other is not choice]
    begun = (o.fullmatch(text, partial=True) for text in choice.texts for o in others)
    return any(match is not None and match.partial for match in begun)


def _group(choice: Choice) -> str:
    match = re.match(r"\(\?P<(\w+)>", choice.pattern)
    return match[1] if match else ""
