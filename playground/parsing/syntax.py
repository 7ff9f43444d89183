"""The declaration of a call's text form: templates with holes, checked when they are made.

One declaration renders (rendering.py) and parses (grammar.py, engine.py); nothing is written twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from playground.errors import SyntaxFault
from playground.parsing.values import Untyped

HOLES: Final[dict[str, str]] = {
    "name": "the tool's name",
    "id": "the call's id",
    "call:json": "name and arguments inside one JSON object (see JsonShape)",
    "args:json": "the arguments as a JSON object",
    "args:marked": "the arguments as an object whose texts stand between `string_mark`",
    "args:python": "the arguments as Python keyword arguments",
    "index": "the call's number in the reply, from 0",
    "number": "the same, from 1",
    "params": "the parameters, each written as `param` says",
    "key": "a parameter's name",
    "type": "the JSON type of a parameter's value; `string` says that it is text",
    "is_text": "`true` where a parameter's value is text, `false` where it is JSON",
    "value": "a parameter's value as text, read by its schema's type",
    "value:block": "the same, on lines of its own when it has a line break",
    "line:KEY": "the argument KEY, all of it on one line before the body",
    "text:KEY": "the argument KEY as text, up to what follows it; there may be several",
    "word": "a word without a meaning, such as a fence's language; written as nothing",
    "calls": "the calls inside a section",
    "result": "a tool's result",
}
_BODIES: Final = ("call:json", "args:json", "args:marked", "args:python", "params", "text:KEY")
_TOKEN = re.compile(r"\{\{|\}\}|\{([a-z_]+(?::[a-z_]+)?)\}")


@dataclass(frozen=True, slots=True)
class Hole:
    name: str


Piece = str | Hole


@dataclass(frozen=True, slots=True)
class Template:
    """`before`, one body hole, `after`: the shape of every call, parameter and section.

    A body of texts has several holes: `texts` are their keys, `between` what follows each of them.
    """

    before: tuple[Piece, ...]
    body: str
    after: tuple[Piece, ...]
    texts: tuple[str, ...] = ()
    between: tuple[tuple[Piece, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class JsonShape:
    """Where the name, the arguments and the id stand in a call's JSON object.

    `arguments_as_text` is OpenAI's form: the arguments are JSON inside a JSON string. With
    `name_is_key` the object has one member, the arguments under the name: `{"f": {…}}`. Arguments
    that are a text are the one argument `text_key`. A first member `thought` is reasoning.
    """

    name: tuple[str, ...] = ("name",)
    arguments: tuple[str, ...] = ("arguments",)
    aliases: tuple[str, ...] = ("arguments", "parameters")
    constants: tuple[tuple[str, str], ...] = ()
    id: str = ""
    arguments_as_text: bool = False
    name_is_key: bool = False
    text_key: str = ""
    thought: str = ""


@dataclass(frozen=True)
class Syntax:
    """How a call is written. Braces that are no hole are doubled, as in `str.format`."""

    call: str
    param: str = ""
    """One parameter, where the call has {params}."""
    section: str = ""
    """What wraps the calls of one reply; a call without it is read too."""
    section_also: tuple[str, ...] = ()
    """Other sections that are read in its place, never written."""
    one_call_a_section: bool = False
    """Each call has a section of its own, which may name the tool too."""
    section_required: bool = False
    """A call outside of a section is text."""
    separator: str = "\n"
    shape: JsonShape = field(default_factory=JsonShape)
    known_names: bool = False
    """The opener is little more than a tool's name: names the session does not have are text."""
    line_start: bool = False
    """A call begins a line, and so do the ends of its texts."""
    reserved: bool = False
    """The markers are control tokens, which no value holds: a parameter's opener inside another's
    value shows a forgotten closer."""
    string_mark: str = ""
    """What stands around texts in {args:marked}."""
    untyped: Untyped = "text"
    """How a value without a schema is read."""
    cdata: bool = False
    """One CDATA section around a value is read over."""
    element: str = ""
    """A value may be nested elements, each tag behind this prefix."""
    name: str = ""
    """What a call without a {name} always calls."""
    nameless: Literal["", "empty", "inferred"] = ""
    """The call's text has no name: it is delivered under the empty one, for the loop to answer, or
    under that of the only tool which its arguments fit; with a finding."""
    objects: bool = False
    """A body that is one text may be a JSON object instead, which holds the arguments."""
    joined: str = ""
    """Calls in a row are one call, their texts joined by this."""
    also: tuple[Syntax, ...] = ()
    """Other forms that are read, never written."""

    def __post_init__(self) -> None:
        if self.call_template.body == "params" and not self.param:
            raise SyntaxFault(f"{self.call!r} has {{params}}, but no param template says how")
        if self.param and self.call_template.body != "params":
            raise SyntaxFault(f"a param template is given, but {self.call!r} has no {{params}}")
        _ = self.param_template, self.sections

    @cached_property
    def call_template(self) -> Template:
        others = ("name", "id", "index", "number", "line:KEY", "word")
        return compile_template(self.call, _BODIES, others)

    @cached_property
    def text_keys(self) -> tuple[str, ...]:
        """The arguments of a call that holds these texts and nothing else; empty for all others."""
        template = self.call_template
        if template.body != "texts" or self.objects:
            return ()
        holes = (piece.name for piece in template.before if isinstance(piece, Hole))
        lines = (name.removeprefix("line:") for name in holes if name.startswith("line:"))
        return (*lines, *template.texts)

    @cached_property
    def sample_texts(self) -> dict[str, str]:
        """A text for each of `text_keys`; one that ends at a line of its own has a line's end."""
        between = dict(zip(self.call_template.texts, self.call_template.between, strict=True))
        ends = {
            key: "\n" if self.line_start and pieces and not begins_line(pieces) else ""
            for key, pieces in between.items()
        }
        return {key: f"the {key}{ends.get(key, '')}" for key in self.text_keys}

    @cached_property
    def param_template(self) -> Template | None:
        return (
            compile_template(self.param, ("value", "value:block"), ("key", "type", "is_text"))
            if self.param
            else None
        )

    @cached_property
    def section_template(self) -> Template | None:
        return self.sections[0] if self.sections else None

    @cached_property
    def on_own_lines(self) -> bool:
        """Whether a parameter's value may stand on lines of its own between its markers."""
        template = self.param_template
        last = template.before[-1] if template else ""
        block = template is not None and template.body == "value:block"
        return block or (isinstance(last, str) and last.endswith("\n"))

    @cached_property
    def sections(self) -> tuple[Template, ...]:
        """The section that is written, and those that are read in its place."""
        holes = ("name",) if self.one_call_a_section else ()
        listed = (self.section, *self.section_also) if self.section else ()
        return tuple(compile_template(text, ("calls",), holes) for text in listed)


@dataclass(frozen=True, slots=True)
class ReasoningTags:
    """Tags around reasoning; an empty `close` means that the next call or the end closes it."""

    open: str
    close: str


@dataclass(frozen=True, slots=True)
class Markers:
    """What a dialect puts around its calls: reasoning, stop tokens, the opener of a result.

    `dropped` are tokens of the model's alphabet that leak into its text: always markup. Inside the
    tags of `plain` nothing is a call. With `opens_reasoning` a reply begins inside reasoning.
    """

    reasoning: tuple[ReasoningTags, ...] = ()
    stops: tuple[str, ...] = ()
    result: str = ""
    dropped: tuple[str, ...] = ()
    plain: tuple[ReasoningTags, ...] = ()
    opens_reasoning: bool = False


def begins_line(pieces: tuple[Piece, ...]) -> bool:
    """Whether pieces begin with a line break of their own."""
    return bool(pieces) and isinstance(pieces[0], str) and pieces[0].startswith("\n")


def compile_template(text: str, bodies: tuple[str, ...], others: tuple[str, ...]) -> Template:
    """Cut a template at its holes. Raises SyntaxFault, quoting the template and the place."""
    pieces: list[Piece] = []
    literal, last = "", 0
    for match in _TOKEN.finditer(text):
        literal += text[last : match.start()]
        last = match.end()
        if match[1] is None:
            literal += match[0][0]
            continue
        _check_hole(text, match, (*bodies, *others))
        pieces += [literal] if literal else []
        pieces.append(Hole(match[1]))
        literal = ""
    literal += text[last:]
    pieces += [literal] if literal else []
    return _split_at_body(text, pieces, bodies)


def _check_hole(text: str, match: re.Match[str], allowed: tuple[str, ...]) -> None:
    kind, _, key = match[1].partition(":")
    if match[1] not in allowed and not (key and f"{kind}:KEY" in allowed):
        listed = ", ".join(f"{{{name}}}" for name in allowed)
        raise SyntaxFault(
            f"template {text!r} has {match[0]} at character {match.start()}; allowed here: {listed}"
            " (double a brace that is meant as text)"
        )


def _split_at_body(text: str, pieces: list[Piece], bodies: tuple[str, ...]) -> Template:
    texts = [i for i, piece in enumerate(pieces) if _is_text(piece)]
    if texts and "text:KEY" in bodies:
        return _split_at_texts(pieces, texts)
    found = [
        i for i, piece in enumerate(pieces) if isinstance(piece, Hole) and piece.name in bodies
    ]
    if len(found) != 1:
        listed = " or ".join(f"{{{name}}}" for name in bodies)
        raise SyntaxFault(f"template {text!r} must have {listed} once, not {len(found)} times")
    at = found[0]
    body = pieces[at]
    assert isinstance(body, Hole)
    return Template(tuple(pieces[:at]), body.name, tuple(pieces[at + 1 :]))


def _is_text(piece: Piece) -> bool:
    return isinstance(piece, Hole) and piece.name.startswith("text:")


def _split_at_texts(pieces: list[Piece], texts: list[int]) -> Template:
    keys = tuple(str(getattr(pieces[i], "name", "")).removeprefix("text:") for i in texts)
    ends = [*texts[1:], len(pieces)]
    between = tuple(
        tuple(pieces[start + 1 : stop]) for start, stop in zip(texts, ends, strict=True)
    )
    return Template(tuple(pieces[: texts[0]]), "texts", between[-1], keys, between)
