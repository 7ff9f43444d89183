"""The declaration of a call's text form, as plain data: templates with holes, and flags.

`Syntax` (syntax.py) is a checked declaration. Notations (`notations/`) write and read call bodies
by it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Final, Literal

from playground.base.hashed import HashedOnce
from playground.parsing.template import Piece, Template, cut_at_body
from playground.parsing.values import JSON_WORDS, PLAIN_JSON, JsonStyle, Literals, Untyped

# The holes that each kind of template may have in addition to its body. The hole of a call's or a
# parameter's body names a notation; a section's body is {calls}. docs/contributing/dialect.md lists
# all holes.
CALL_HOLES: Final[dict[str, str]] = {
    "name": "the tool's name",
    "id": "the call's id",
    "index": "the call's number in the reply, from 0; with `id_form`, in the conversation",
    "number": "the call's number in the reply, from 1",
    "line:KEY": "the argument KEY, all of it on one line before the body",
    "word": "a word without a meaning, such as a fence's language; written as nothing",
}
PARAM_HOLES: Final[dict[str, str]] = {
    "key": "a parameter's name",
    "type": "the JSON type of a parameter's value; `string` means that the value is text",
    "is_text": "`true` where a parameter's value is text, `false` where it is JSON",
}
SECTION_BODY: Final = "calls"
SECTION_BODIES: Final[dict[str, str]] = {
    SECTION_BODY: "the calls of a reply (or each call, with `one_call_a_section`)"
}
SECTION_HOLES: Final[dict[str, str]] = {"name": "the tool's name, with `one_call_a_section`"}
_LAST_DIGITS: Final = re.compile(r"(?<!\d)(?:0|[1-9]\d{0,19})\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class JsonShape:
    """The places of name, arguments and id in a call's JSON object, as paths of keys.

    `aliases` are other keys under which arguments are read. `arguments_as_text` is OpenAI's form:
    the arguments are JSON inside a JSON string. With
    `name_is_key` the object has one member, the arguments under the name: `{"f": {…}}`. A plain
    text in place of arguments is the value of the argument `text_key`. `thought` is the key of a
    text that is reasoning.

    Members are written in the `order` of their keys; if `order` is empty: id, constants, name,
    arguments. They are read in any order. By `id_is`, the id member holds the call's own id, or the
    call's number in the reply as a text, from 0 (`index`) or from 1 (`number`).
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
    order: tuple[str, ...] = ()
    id_is: Literal["id", "index", "number"] = "id"


@dataclass(frozen=True, init=False, repr=False, eq=False)  # abstract: see `Syntax`
class Declaration:
    """The text form of a call. A brace that is meant as text is doubled, as in `str.format`."""

    call: str
    """One call: literal text with holes."""
    param: str = ""
    """One parameter, if the call has {params}."""
    param_separator: str = ""
    """White space between two parameters."""
    section: str = ""
    """The wrapper around a reply's calls. It may be missing, except with `section_required`."""
    section_also: tuple[str, ...] = ()
    """Other wrappers that are read in place of `section`, but never written."""
    section_slips: tuple[str, ...] = ()
    """Wrappers that models or servers write by mistake: read as `section`, with a finding."""
    one_call_a_section: bool = False
    """Each call has a section of its own, which may name the tool too."""
    section_required: bool = False
    """A call outside of a section is text."""
    section_optional: bool = False
    """A call outside of a section is as well-formed as one in it."""
    separator: str = "\n"
    """The text between two calls."""
    shape: JsonShape = field(default_factory=JsonShape)
    """The members of a call that is one JSON object: their keys, their order, and the id's form."""
    id_form: str = ""
    """The form of the call's id, if the opener spells it out: `functions.{name}:{index}`. An id of
    another form is replaced, in the call and in its result."""
    json: JsonStyle = PLAIN_JSON
    """The style of JSON, as a call's whole body or as a parameter's value."""
    literals: Literals = JSON_WORDS
    """The words for true, false and null, in parameters and in {args:marked}."""
    type_words: tuple[tuple[str, str], ...] = ()
    """Pairs of a JSON Schema type and the word that {type} writes in its place."""
    known_names: bool = False
    """The opener is little more than a tool's name, so it is text if the session lacks the tool."""
    line_start: bool = False
    """A call begins on a new line; so does the closer of a body that is plain text."""
    reserved: bool = False
    """The markers are control tokens, which no value holds: a parameter's opener inside a value
    shows that the value's closer was forgotten."""
    string_mark: str = ""
    """The mark before and after each text in {args:marked}."""
    untyped: Untyped = "text"
    """The type of a value that has no schema."""
    cdata: bool = False
    """`<![CDATA[` and `]]>` around a whole value do not belong to the value."""
    cdata_for: str = ""
    """A text with one of these characters is written in a CDATA section."""
    escaped_names: bool = False
    """Names of tools and parameters are escaped as in XML (`&quot;`); values are not."""
    element: str = ""
    """If not empty: a value may be nested elements, with this text before the `<` of each tag."""
    name: str = ""
    """The tool that a call without a {name} always calls."""
    nameless: Literal["", "empty", "inferred"] = ""
    """The fate of a call without a name. "": it fails. "empty": its name is empty, for the agent's
    loop to answer. "inferred": it calls the only tool, or the only one that its arguments fit, or
    else its name is empty. A finding says so."""
    objects: bool = False
    """A body that is normally plain text may also be a JSON object with the arguments."""
    object_block: tuple[str, str] = ("", "")
    """Markers around a JSON object that may replace all parameters."""
    joined: str = ""
    """Consecutive calls are read as one; this text comes between their bodies."""
    slip: bool = False
    """Models or servers write this form by mistake: a call in it is read, with a finding."""
    also: tuple[Declaration, ...] = ()
    """Other forms that are read, never written."""

    @cached_property
    def depends_on_tool_names(self) -> bool:
        """True if the openers of this form, or of one of `also`, depend on the tools' names."""
        return any(form.known_names for form in (self, *self.also))

    @cached_property
    def call_template(self) -> Template:
        return cut_at_body(self.call, CALL_HOLES)

    @cached_property
    def param_template(self) -> Template | None:
        return cut_at_body(self.param, PARAM_HOLES) if self.param else None

    def id_at(self, name: str, index: str) -> str:
        """Return `id_form` filled with a tool's name and a call's index."""
        return self.id_form.replace("{index}", index).replace("{name}", name)

    def written_id(self, name: str, call_id: str, index: int) -> tuple[str, int]:
        """Return the id to write for a call, and the call's index. With `id_form`, an id in
        that form keeps its own index; any other id is replaced by the id of `index`."""
        if not self.id_form:
            return call_id, index
        digits = _LAST_DIGITS.search(call_id)
        if digits and call_id == self.id_at(name, digits[0]):
            return call_id, int(digits[0])
        return self.id_at(name, str(index)), index

    def type_word(self, kind: str) -> str:
        """Return the word that {type} writes for a value of this JSON type."""
        return dict(self.type_words).get(kind, kind) if self.type_words else kind

    @cached_property
    def section_texts(self) -> tuple[str, ...]:
        return (self.section, *self.section_also, *self.section_slips) if self.section else ()

    @cached_property
    def sections(self) -> tuple[Template, ...]:
        """The section that is written, then the others that are read."""
        return tuple(cut_at_body(text, SECTION_HOLES) for text in self.section_texts)

    @cached_property
    def well_formed_sections(self) -> tuple[Template, ...]:
        """The section that is written, and those of `section_also`, but not `section_slips`."""
        return self.sections[: len(self.sections) - len(self.section_slips)]

    @cached_property
    def marked(self) -> bool:
        """True if a marker with letters comes before a call (its own or its section's). Text after
        such a marker is a call, not code in prose."""
        before = (p for t in (self.call_template, *self.sections) for p in t.before)
        return any(char.isalpha() for piece in before if isinstance(piece, str) for char in piece)

    @cached_property
    def openers(self) -> tuple[str, ...]:
        """The literals with which sections and calls begin, in all forms that are read."""
        return _literals(template.before[:1] for template in self._outer_templates)

    @cached_property
    def closers(self) -> tuple[str, ...]:
        """The literals with which sections and calls end."""
        return _literals(template.after[-1:] for template in self._outer_templates)

    @property
    def _outer_templates(self) -> list[Template]:
        forms = (self, *self.also)
        return [template for form in forms for template in (*form.sections, form.call_template)]

    @cached_property
    def section_template(self) -> Template | None:
        return self.sections[0] if self.sections else None


def _literals(pieces: Iterable[tuple[Piece, ...]]) -> tuple[str, ...]:
    """Return the literals among the pieces, each once, without white space around them."""
    texts = [piece.strip() for row in pieces for piece in row if isinstance(piece, str)]
    return tuple(dict.fromkeys(text for text in texts if text))


@dataclass(frozen=True, slots=True)
class ReasoningTags:
    """Tags around reasoning. If `close` is empty, the next call or the reply's end closes it."""

    open: str
    close: str


@dataclass(frozen=True)
class Markers(HashedOnce):
    """A dialect's markers other than those of calls: reasoning, stop tokens, a result's opener.

    `dropped` are tokens of the model that leak into its text: they are always markup. Between the
    tags of `plain` nothing is a call. With `opens_reasoning` a reply begins inside reasoning.
    """

    __hash__ = HashedOnce.__hash__

    reasoning: tuple[ReasoningTags, ...] = ()
    stops: tuple[str, ...] = ()
    result: str = ""
    dropped: tuple[str, ...] = ()
    plain: tuple[ReasoningTags, ...] = ()
    opens_reasoning: bool = False


def written_name(syntax: Declaration, name: str) -> str:
    """Return a name of a tool or a parameter as the syntax writes it."""
    return escape(name) if syntax.escaped_names else name
