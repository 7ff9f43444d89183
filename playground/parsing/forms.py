"""The patterns of one syntax: every place inside its calls where the engine waits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from playground.parsing.patterns import (
    IDENTIFIER,
    LINE,
    LINE_START,
    SPACE,
    WORD,
    Choice,
    Wait,
    beginning,
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
from playground.parsing.syntax import (
    Hole,
    JsonShape,
    Markers,
    ReasoningTags,
    Syntax,
    Template,
    begins_line,
)

# white space behind a name has come to its end: what follows is solid, or nothing does
_ENDED: Final = r"(?<=\s)(?=\S|\Z)"
_SOLID: Final = r"(?<=\s)(?=\S)"


@dataclass(frozen=True)
class Form:
    """One syntax, compiled: where the engine waits inside its calls and its section."""

    syntax: Syntax
    section: Wait | None
    separator: Wait
    opening: Wait
    close: Wait | None
    skip: Wait | None
    next_param: Wait | None
    value: Wait | None
    texts: tuple[Wait, ...]


class Surroundings:
    """Choices for the markers around calls."""

    def __init__(self, markers: Markers) -> None:
        self.markers = markers

    def stops(self) -> list[Choice]:
        return literals("stop", self.markers.stops)

    def dropped(self) -> list[Choice]:
        return literals("dropped", self.markers.dropped)

    def closer(self, tags: ReasoningTags) -> list[Choice]:
        return literals("close", [tags.close] if tags.close else [])

    def openers(self) -> list[Choice]:
        """What begins reasoning, or text in which nothing is a call."""
        markers = self.markers
        plain = [literals(f"plain_{i}", [tags.open]) for i, tags in enumerate(markers.plain)]
        think = [literals(f"think_{i}", [tags.open]) for i, tags in enumerate(markers.reasoning)]
        return [choice for choices in (*plain, *think) for choice in choices]

    def closers(self) -> list[Choice]:
        """The ends of reasoning, which stand alone where none is open."""
        return literals(
            "think_close", [tags.close for tags in self.markers.reasoning if tags.close]
        )

    def result(self) -> list[Choice]:
        return literals("result", [self.markers.result] if self.markers.result else [])


class FormBuilder:
    """The choices of one syntax, their groups numbered."""

    def __init__(self, syntax: Syntax, number: int, names: tuple[str, ...]) -> None:
        self.syntax, self.number = syntax, number
        template = syntax.call_template
        self.name = IDENTIFIER if syntax.known_names else name_before(template.before, "name")
        if syntax.known_names and names:
            self.name = "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True))
        self.ending = stripped(template.after)
        after = pieces_pattern(self.ending, {"name": f"(?P<close_name>{self.name})"})
        self.closing = Choice(after, first_character(self.ending))
        param = syntax.param_template
        ends = sorted((stripped(s.after) for s in syntax.sections), key=str, reverse=True)
        self.section_ends = [
            end for end in dict.fromkeys(pieces_pattern(e, {}) for e in ends) if end
        ]
        self.section_close = f"(?:{'|'.join(self.section_ends)})" if self.section_ends else ""
        self.key = IDENTIFIER
        if param and not syntax.known_names:
            self.key = name_before(param.before, "key")
        self.param_open = self._param_open(param) if param else ""

    def form(self, around: Surroundings, calls: list[Choice]) -> Form:
        param, closing = self.syntax.param_template, self.closing
        return Form(
            syntax=self.syntax,
            section=self.section_wait(around, calls) if self.syntax.section else None,
            separator=self.separator(),
            opening=wait(self.opening()),
            close=wait(Choice(SPACE + closing.pattern, "")) if closing.pattern else None,
            skip=wait(closing) if closing.pattern else None,
            next_param=self.next_param(param, around) if param else None,
            value=self.value_wait(param, around) if param else None,
            texts=tuple(self.text_waits(around)),
        )

    def text_waits(self, around: Surroundings) -> list[Wait]:
        """What ends each text; where nothing does, the next marker of any kind."""
        waits = []
        for pieces in self.syntax.call_template.between:
            start = LINE_START if self.syntax.line_start and not begins_line(pieces) else ""
            holes = {"word": WORD, "name": f"(?P<close_name>{self.name})"}
            closer = pieces_pattern(pieces, holes, value_before=True)
            if closer:
                first = first_character(pieces) + ("\n" if not start else "")
                choice = Choice(f"(?P<close>{start}{closer})", first)
                waits.append(wait(choice, beginnings=[beginning(pieces)]))
            else:
                waits.append(wait(*around.stops(), *around.result(), *self.calls()))
        return waits

    def _param_open(self, param: Template) -> str:
        holes = {
            "key": f"(?P<key>{self.key})",
            "type": r"(?P<type>\w{1,16}+)",
            "is_text": "(?P<is_text>true|false)",
        }
        return pieces_pattern(
            param.before, holes, value_after=True, block=param.body == "value:block"
        )

    def opening(self, strict: bool = True, firm: bool = False) -> Choice:
        """Everything up to the body, and a look at what makes it a call rather than prose.

        Directly inside a section a bare JSON object needs no further proof: `strict` is off. With
        `firm` a parameter or the closer must follow.
        """
        template, shape = self.syntax.call_template, self.syntax.shape
        identity = name_before(template.before, "id")
        holes = {
            "name": f"(?P<name>{self.name})",
            "id": f"(?P<id>{identity})",
            "index": r"\d{1,6}+",
            "number": r"\d{1,6}+",
            "word": WORD,
        }
        holes |= {hole: f"(?P<{hole.replace(':', '_')}>{LINE})" for hole in _lines(template)}
        before = pieces_pattern(template.before, holes, value_after=template.body == "texts")
        closing = unnamed(self.closing.pattern)
        if template.body == "call:json":
            head = r"\{" if before or not strict or shape.name_is_key else _bare_object(shape)
            look = f"{SPACE if before else ''}{head}"
        elif template.body == "args:marked":
            look = rf"{SPACE}\{{"
        elif template.body == "args:json":
            look = rf"{SPACE}(?:\{{{'|' + closing if closing else ''})"
        elif template.body == "params" and (
            firm or self.syntax.known_names or isinstance(last_piece(template.before), Hole)
        ):
            end = f"{SPACE}{closing}" if closing else _ENDED
            look = f"(?:{SPACE}{unnamed(self.param_open)}|{end})"
        else:
            look = ""
        start = LINE_START if self.syntax.line_start and strict else ""
        before = _maybe_twice(before, template) if look else before
        pattern = f"(?P<call_{self.number}>{start}{before}{f'(?={look})' if look else ''})"
        first = first_character(template.before) or ("" if template.before else "{")
        return Choice(pattern, first, varying=_ENDED in look)

    def calls(self) -> list[Choice]:
        """The openers of a call outside a section: a section's, if there is one, and its own."""
        sections = [self._section(template) for template in self.syntax.sections]
        return sections if self.syntax.section_required else [*sections, self.opening()]

    def announced(self) -> list[Choice]:
        """The openers that count inside reasoning. One of a call alone may be a draft, unless
        something of the call follows."""
        sections = [self._section(template) for template in self.syntax.sections]
        return sections if self.syntax.section_required else [*sections, self.opening(firm=True)]

    def _section(self, template: Template) -> Choice:
        name = name_before(template.before, "name")
        opener = pieces_pattern(template.before, {"name": name})
        look = unnamed(self.opening(strict=not worded(opener)).pattern).replace(_ENDED, _SOLID)
        empty = f"|{self.section_close}" if worded(self.section_close) else ""
        opener = _maybe_twice(opener, template)
        return Choice(
            f"(?P<section_{self.number}>{opener}(?={SPACE}(?:{look}{empty})))",
            first_character(template.before),
        )

    def section_closer(self) -> list[Choice]:
        if not self.section_close:
            return []
        group = f"(?P<section_close_{self.number}>{self.section_close})"
        first = "".join(first_character(template.after) for template in self.syntax.sections)
        texts = tuple(
            "".join(map(str, template.after)).strip() for template in self.syntax.sections
        )
        return [Choice(group, first, texts, varying=len(self.section_ends) > 1)]

    def section_wait(self, around: Surroundings, calls: list[Choice]) -> Wait:
        """Between the calls of a section: white space and the separator are markup."""
        between = "".join(sorted(set(self.syntax.separator) - set(" \n\t")))
        space = Choice(rf"(?P<space>[\s{re.escape(between)}]{{1,64}}+)", f" \t\n\r\f\v{between}")
        own = self.opening(strict=False)
        markers = [*around.dropped(), *around.stops(), *self.section_closer()]
        return wait(own, *calls, *markers, space)

    def next_param(self, param: Template, around: Surroundings) -> Wait:
        """Inside a call: a parameter, the call's closer, or a marker that says it was forgotten."""
        choices = [Choice(f"(?P<param>{self.param_open})", first_character(param.before))]
        if self.closing.pattern:
            first = self.closing.first
            choices.insert(0, Choice(f"(?P<close>{self.closing.pattern})", first))
        return wait(*choices, *self.section_closer(), *around.stops(), *self.calls())

    def value_wait(self, param: Template, around: Surroundings) -> Wait:
        """A parameter's closer, but only before what may follow it: else it is the value's own."""
        ends = [self.param_open, self.closing.pattern, self.section_close]
        ends += [choice.pattern for choice in around.stops()]
        follow = "|".join(unnamed(end) for end in ends if end)
        holes = {"key": f"(?P<close_key>{self.key})"}
        block = param.body == "value:block"
        closer = pieces_pattern(param.after, holes, value_before=True, block=block)
        # where white space is all that closes a value, the rest of it is the value's own
        between = SPACE if any(isinstance(p, Hole) or p.strip() for p in param.after) else ""
        look = f"(?={between}(?:{follow}))" if self.closing.pattern else ""
        choices = [Choice(f"(?P<close>{closer}{look})", "")]
        if self.closing.pattern and worded(self.section_close):
            # both outer closers in a row: the value's own was forgotten (ollama#18563)
            outer = f"{SPACE}{unnamed(self.closing.pattern)}{SPACE}{self.section_close}"
            choices.append(Choice(rf"(?P<forgotten>\n?+(?={outer}))", ""))
        literals = "".join(piece for piece in param.before if isinstance(piece, str))
        forgotten = self.syntax.reserved or worded(re.escape(literals))
        if forgotten:
            following = unnamed(self.param_open.replace("(?P<key>", "(?<next_key>"))
            choices.append(Choice(rf"(?P<forgotten>\n?+(?={following}))", ""))
        if not between:
            return wait(*(choice._replace(first="\n") for choice in choices))
        begun = [beginning(param.after), beginning(self.ending)]
        begun += [beginning(param.before)] if forgotten else []
        firsts = "".join(text[:1] for text in begun) + "\n"
        named = (choice._replace(first=firsts) for choice in choices)
        return wait(*named, beginnings=[text for text in begun if text])

    def separator(self) -> Wait:
        choices = self.calls() if self.syntax.one_call_a_section else [self.opening(strict=False)]
        if not self.syntax.section:
            choices = [self.opening()]
        look = "|".join(unnamed(choice.pattern) for choice in choices)
        before = SPACE if self.syntax.separator.strip() else ""
        return wait(Choice(rf"{before}{literal(self.syntax.separator)}{SPACE}(?={look})", ""))


def _maybe_twice(opener: str, template: Template) -> str:
    """An opener of words alone may stand there twice: models stutter."""
    if any(isinstance(piece, Hole) for piece in template.before) or not worded(opener):
        return opener
    return f"(?P<doubled>{opener}{SPACE})?{opener}"


def _lines(template: Template) -> list[str]:
    holes = (piece.name for piece in template.before if isinstance(piece, Hole))
    return [name for name in holes if name.startswith("line:")]


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
    if shape.thought:
        return rf"\{{{SPACE}(?:{key(shape.thought)}|{''.join(parts)})"
    return rf"\{{{SPACE}" + "".join(parts)
