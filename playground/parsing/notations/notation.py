"""A notation: how the body of a call is written. One class, all of whose questions are asked here.

CONTRIBUTING ("A new notation") says step by step how to add one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from playground.errors import SyntaxFault
from playground.parsing.choice import Choice
from playground.parsing.choice_point import ChoicePoint
from playground.parsing.declaration import Declaration
from playground.parsing.form import Form
from playground.parsing.open_call import OpenCall
from playground.parsing.reader import Reader
from playground.parsing.scanner import Walk
from playground.tools import Schema

SchemaOf = Callable[[str], Schema]


@dataclass(frozen=True, slots=True)
class CallValue:
    """A call that is to be written: plain values, and the schema of each argument."""

    name: str
    arguments: Mapping[str, Any]
    call_id: str
    schema_of: SchemaOf
    index: int = 0


class Lead(NamedTuple):
    """What stands before a body, and how sure one has to be that a body follows.

    `before` and `closing` are the patterns of the call's opener and closer, without groups. With
    `strict` the body has to prove that this is a call, unless the opener does; `firm` asks for
    more: that something of the body, or the closer, follows.
    """

    syntax: Declaration
    before: str
    closing: str
    strict: bool
    firm: bool


class Neighbours(NamedTuple):
    """What may stand after a body, or after a part of one.

    `name` is the pattern of a tool's name: of the session's alone, where `knows_names`. `closing`
    is the call's own closer, `section_close` the pattern of the section's ("" for none), `calls`
    the openers of the next call.
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
    """How the body of a call is written, announced and read.

    `hole` is how a template names it, `meaning` a line for the table of holes, `values` how
    arguments look in it, for guides. `fields` declare a syntax in which a call of `write_file` with
    the arguments `sample` is `example`: this is tested, and shown.
    """

    hole: ClassVar[str]
    meaning: ClassVar[str]
    values: ClassVar[str]
    fields: ClassVar[Mapping[str, Any]]
    sample: ClassVar[Mapping[str, Any]] = {"path": "a.py", "lines": [1, 2]}
    example: ClassVar[str]

    first: ClassVar[str] = ""
    """The characters with which a body begins; none where it may begin with anything."""
    ends_itself: ClassVar[bool] = True
    """The body's own text says where it ends, as brackets do: the engine takes a missing closer
    after it for a slip. Otherwise `read` reads the closer too."""
    keeps_space: ClassVar[bool] = False
    """White space at the body's edges is no markup: it is the body's own, or it ends a body that
    holds none. Otherwise the engine skips it before a body that ends itself."""
    mends_brackets: ClassVar[bool] = False
    """The body ends with its own bracket: a few more of them before the call's closer are a slip of
    the model, and left out with a finding."""
    restarts: ClassVar[bool] = False
    """A model that begins the call anew inside the body is seen, though an open string of the body
    would hold it: the first quote of the second one would end any string."""
    tells_itself: ClassVar[bool] = False
    """A body shows that it is a call, also without its opener."""
    repeats: ClassVar[bool] = False
    """Models write several bodies between the markers of one call: each is a call of its own."""
    follows_tags: ClassVar[bool] = False
    """The body begins with tags or text of its own right behind the opener: words behind a blank
    there are prose, which names the opener as it names other tags."""
    names_tool: ClassVar[bool] = False
    """The tool's name is part of the body."""
    behind: ClassVar[tuple[str, ...]] = ("name",)
    """What a call may repeat of what stands before its body, behind it."""
    whole: ClassVar[bool] = False
    """The arguments are the call's own holes and no others; some may be lines before the body."""
    holds_null: ClassVar[bool] = True
    """Whether null can be written. Where it cannot, as in TOML, `write` leaves it out and the check
    names the argument; tests and laws ask for every other plain value."""

    def check(self, syntax: Declaration) -> None:
        """What it needs of the syntax. Raises SyntaxFault."""
        if syntax.param:
            raise SyntaxFault(f"a param template is given, but {syntax.call!r} has no {{params}}")

    def keys(self, syntax: Declaration) -> tuple[str, ...]:
        """The arguments that a call always has, and no others; () where it may have any."""
        return ()

    def samples(self, syntax: Declaration) -> dict[str, str]:
        """A text for each of `keys`."""
        return {}

    @abstractmethod
    def write(self, syntax: Declaration, call: CallValue) -> dict[str, str]:
        """The text of its hole, or of its holes where it has several.

        Never raises: a value that it cannot hold is left out, and the check names the argument.
        """

    def announce(self, lead: Lead) -> str:
        """A pattern for how a body begins: what makes an opener a call rather than prose. Without
        groups; "" where the opener has to be enough."""
        return ""

    def evidence(self, lead: Lead) -> str:
        """A pattern for how a body goes on that shows, behind an unknown name, that a call is
        meant; an argument's name is its group `key`. "" where nothing could show it."""
        return ""

    def without_body_start(self, syntax: Declaration) -> str:
        """A pattern for what follows the name in a body whose beginning is missing, from the quote
        and the comma behind it on; "" where nothing told it."""
        return ""

    def waits(self, neighbours: Neighbours) -> tuple[ChoicePoint, ...]:
        """The places inside a body where something is waited for; `read` finds them in the form."""
        return ()

    def closer_of(self, key: str, syntax: Declaration) -> str:
        """What ends an argument, white space aside; "" where nothing of its own does."""
        return ""

    @abstractmethod
    def read(self, reader: Reader, call: OpenCall, form: Form) -> Walk[None]:
        """Claim the body's text and set the call's arguments; see `ends_itself`.

        Yields where it needs more text; raises BrokenCall where the body cannot be read.
        """
