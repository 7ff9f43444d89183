"""The base class of notations: the ways in which the body of a call is written.

docs/contributing/notation.md says step by step how to add one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from playground.base.errors import SyntaxFault
from playground.nouns.tools import Schema
from playground.parsing.choice import Choice
from playground.parsing.choice_point import ChoicePoint
from playground.parsing.declaration import Declaration
from playground.parsing.form import Form
from playground.parsing.open_call import OpenCall
from playground.parsing.reader import Reader
from playground.parsing.scanner import Walk

SchemaOf = Callable[[str], Schema]  # (an argument's name) -> its schema


@dataclass(frozen=True, slots=True)
class CallValue:
    """A call to be written: plain values, and the schema of each argument."""

    name: str
    arguments: Mapping[str, Any]
    call_id: str
    schema_of: SchemaOf
    index: int = 0


class Lead(NamedTuple):
    """The context of a body: the text before it, and how much proof of a call its reader needs.

    `before` and `closing` are the patterns of the call's opener and closer, without groups. With
    `strict` the body has to prove that this is a call, unless the opener does. With `firm` part of
    the body, or the closer, must follow in any case.
    """

    syntax: Declaration
    before: str
    closing: str
    strict: bool
    firm: bool


class Neighbours(NamedTuple):
    """The markers that may follow a body, or a part of one.

    `name` is the pattern of a tool's name; with `knows_names` it matches only the session's tools.
    `closing` is the call's own closer, `section_close` the pattern of the section's closer ("" for
    none), `calls` are the openers of the next call.
    """

    syntax: Declaration
    name: str
    knows_names: bool
    closing: Choice
    section_close: str
    section_closers: tuple[Choice, ...]
    stops: tuple[Choice, ...]
    results: tuple[Choice, ...]
    calls: tuple[Choice, ...]


class Notation(ABC):
    """A way in which the body of a call is written, announced and read.

    `hole` is its name in a template, `meaning` a line for the table of holes, `values` the form of
    arguments as guides name it, `family` the title over its dialects in lists. `fields` declare an
    example syntax. In this syntax, a call of `write_file` with the arguments `sample` is written as
    `example`; tests check it, and the documentation shows it.
    """

    hole: ClassVar[str]
    meaning: ClassVar[str]
    values: ClassVar[str]
    family: ClassVar[str]
    fields: ClassVar[Mapping[str, Any]]
    sample: ClassVar[Mapping[str, Any]] = {"path": "a.py", "lines": [1, 2]}
    example: ClassVar[str]

    first: ClassVar[str] = ""
    """The characters with which a body begins; "" if it may begin with anything."""
    ends_itself: ClassVar[bool] = True
    """The body's own text says where it ends, as brackets do: the engine takes a missing closer
    after it for a mistake. If False, `read` reads the closer too."""
    keeps_space: ClassVar[bool] = False
    """True if white space before and after the body is left to `read`, because it may belong to the
    body or end it. If False, it is markup, and skipped before a body that `ends_itself`."""
    mends_brackets: ClassVar[bool] = False
    """The body ends with its own bracket. A few surplus brackets before the call's closer are a
    mistake of the model, and left out with a finding."""
    restarts: ClassVar[bool] = False
    """A new call inside an open string of the body is noticed, because its first quote would end
    any string."""
    proves_itself: ClassVar[bool] = False
    """A body shows by itself that it is a call, without its opener."""
    repeats: ClassVar[bool] = False
    """Models write several bodies between the markers of one call: each is a call of its own."""
    follows_tags: ClassVar[bool] = False
    """The body begins with tags or text right after the opener. If a blank and a word follow
    instead, prose only mentions the opener's tag."""
    names_tool: ClassVar[bool] = False
    """The tool's name is part of the body."""
    holes_after: ClassVar[tuple[str, ...]] = ("name",)
    """The holes before the body that a call may repeat after it."""
    texts_only: ClassVar[bool] = False
    """All arguments are holes of the call's template; some may be lines before the body."""
    holds_null: ClassVar[bool] = True
    """Null can be written. If it cannot, as in TOML, `write` leaves it out (see there). The tests
    write and read every other plain value."""

    def check(self, syntax: Declaration) -> None:
        """Check what the notation needs of the syntax. Raises SyntaxFault."""
        if syntax.param:
            raise SyntaxFault(f"a param template is given, but {syntax.call!r} has no {{params}}")

    def keys(self, syntax: Declaration) -> tuple[str, ...]:
        """Return the names of the arguments, if all calls of the syntax have the same; else ()."""
        return ()

    def samples(self, syntax: Declaration) -> dict[str, str]:
        """Return a sample text for each of `keys`."""
        return {}

    @abstractmethod
    def write(self, syntax: Declaration, call: CallValue) -> dict[str, str]:
        """Return the text of each hole of the notation, by the hole's name.

        Never raises: a value that cannot be written is left out, and a finding `cannot-carry` names
        the argument.
        """

    def announce(self, lead: Lead) -> str:
        """Build a pattern of a body's beginning, without groups: it shows that an opener is a call,
        not prose. Return "" if the opener alone is enough."""
        return ""

    def evidence(self, lead: Lead) -> str:
        """Build a pattern of text after an unknown tool's name that shows that a call is meant.
        Its group `key` is an argument's name. Return "" if no text can show it."""
        return ""

    def without_body_start(self, syntax: Declaration) -> str:
        """Build a pattern of a body whose beginning is lost, the name included: it begins with the
        name's closing quote and a comma. Return "" if such a body cannot be recognised."""
        return ""

    def choice_points(self, neighbours: Neighbours) -> tuple[ChoicePoint, ...]:
        """Return the choice points inside a body; `read` finds them in the form."""
        return ()

    def closer_of(self, key: str, syntax: Declaration) -> str:
        """Return the closer of an argument, without white space; "" if it has none of its own."""
        return ""

    @abstractmethod
    def read(self, reader: Reader, call: OpenCall, form: Form) -> Walk[None]:
        """Read the body's text and set the call's arguments; see `ends_itself`.

        Yields when it needs more text. Raises BrokenCall if the body cannot be read.
        """
