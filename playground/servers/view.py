"""A view: what one parser of a server hands to its client of a reply, in few choices.

Each choice names something that our lossless reading tells apart; the default of each is to lose
nothing. Where a choice was read in the server's own code, `source` says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from playground.errors import UnknownNameError
from playground.parsing.switches import Switches

Keep = Literal["kept", "dropped"]
Beside = Literal["kept", "dropped", "ends", "error"]
Failed = Literal[
    "",
    "dropped",
    "text",
    "arguments",
    "call",
    "open call",
    "whole call or error",
    "reply",
    "reply if alone",
    "reply and calls",
    "ends",
    "error",
    "nothing",
]


Sections = Literal["all", "first", "first alone", "first call", "only call", "echoed", "greedy"]
Reasoning = Literal["apart", "dropped", "dropped with calls", "content", "content after opener"]


@dataclass(frozen=True, slots=True)
class View:
    """What a server does where a reply leaves a choice.

    Which parsers run: `reasoning` is handed over apart; not at all, or not beside a call; or it is
    content with its tags, and with the opener that the prompt wrote (`content after opener`).
    `opens` is how a reply begins where its prompt says nothing: an opened tag. `header` is a
    literal: text before the first marker that has it addresses the message, and is none of it; a
    reply without such a marker is `headless`.

    Which calls are looked for: those `anywhere`, `nowhere`, only where they are the `whole` reply,
    or that and behind a tag or a fence (`marked`), or where no text stands before them but one that
    a marker has ended (`at the start`), or none follows them (`at the end`); else they are content.
    Of `sections` all are read, or the `first`: another has the fate of text after calls, or is
    dropped (`first alone`); all up to the last closer may be dropped with it (`echoed`), or all
    from the first to the last where the first has arguments (`greedy`); or the `first call` counts
    for a section, or is the `only call`: with another nothing is handed over. Calls that stand in
    no section may be content (`sectionless`). A call has to end with one of `ends_with`, or is
    content. `bare` are calls without arguments. `breaks_at` are literals that end a section in a
    value too: all its calls are broken.
    `strangers` are how markers of the dialect begin that the server does not know: content.

    Text: all of it, or the first text alone (`texts`); beside a call only what
    ends with `text_end`. What stands right behind a call, up to the
    next, is text, or part of its arguments, or breaks the call (`behind`); `skips` are as many
    characters there that are taken for a separator. What stands `before` the first call, `between`
    calls (in their sections too) and `after` the last; `until` an opener that led to no call, or
    only up to its closer, or the end; `partial` is half an opener at the very end, or any tag that
    is open there; `orphans` are closers without an opener: markup, or content (`closers kept`:
    those of calls alone), or content where no call is read, with whatever other markers of calls
    are left then (`as it came`: markers of messages too). `leaks` are markers of sections that stay
    content, `erases` are literals that are taken out of content beside a call.

    A call that fails, by how: it was `cut` off by the end, is `broken`, or its opener has no body
    (`unread`). Its text is content or dropped, or its arguments alone are content; or it is
    delivered as far as it was read, without the argument that was left open or (`open call`) with
    it, or (`whole call or error`) where none was left open, of a tool that was offered, and else an
    error; or the whole reply is content, without the calls that were read or with them, or only
    where no call was read; or `nothing` of the reply is handed over, as where the parser raises an
    error; or the request fails, and the client has nothing, or reading `ends` there, and the client
    has what stood before; so it may with text beside calls and with unknown tools. An empty choice
    takes the dialect's own. `unmended` are repairs of our reading by the codes of their findings: a
    call that needed one is broken to the server, or cut off where it lacks its closer, which may
    have a fate of its own where that of its section stands (`unended`). `unclosed` is a section
    whose closer is missing: its calls are delivered or dropped, or it is content, or the whole
    reply is, or the request fails; with `late_closers` a call reaches up to a closer that stands
    behind other stray markers.

    `unknown` are calls of tools that were not offered, `undeclared` arguments that the tool has
    not. With `indexed` a call needs an index behind its name (`name:0`); `unescaped` decodes
    entities in names and keys. `duplicates` of an argument give the last of them or a list;
    `trimmed` takes blanks off the ends of all values but the `verbatim`; `values` without a type in
    the schema stay text, or all texts are guessed to be JSON where they can be, or lists and
    objects stay text (`scalars`, or
    `elements`: those that are written as JSON), or values that are no text are left out, and
    texts inside of them are arguments of their own (`texts`). A value whose
    type stands behind a reference (`$ref`) stays text where `references` are `unread`, and one
    whose JSON was mended here where the server is `exact`. With `nulled` one that
    may be null is null.

    `switches` say how the reply is read at all: the fields of `Switches`.
    """

    source: str = ""
    reasoning: Reasoning = "apart"
    calls: Literal["anywhere", "whole", "marked", "at the start", "at the end", "nowhere"] = (
        "anywhere"
    )
    sections: Sections = "all"
    sectionless: Literal["calls", "text"] = "calls"
    ends_with: tuple[str, ...] = ()
    bare: Keep = "kept"
    breaks_at: tuple[str, ...] = ()
    opens: str = ""
    strangers: tuple[str, ...] = ()
    header: str = ""
    headless: Keep = "kept"
    leaks: tuple[str, ...] = ()
    erases: tuple[str, ...] = ()
    texts: Literal["all", "first"] = "all"
    text_end: str = ""
    behind: Literal["text", "argument", "broken"] = "text"
    skips: int = 0
    before: Beside = "kept"
    between: Beside = "kept"
    after: Beside = "kept"
    until: Literal["end", "opener", "closer"] = "end"
    partial: Literal["kept", "dropped", "open tag dropped"] = "kept"
    orphans: Literal["dropped", "kept", "closers kept", "kept without calls", "as it came"] = (
        "dropped"
    )
    cut: Failed = ""
    broken: Failed = ""
    unread: Failed = ""
    unmended: tuple[str, ...] = ()
    unended: Failed = ""
    unclosed: Literal["calls", "dropped", "text", "reply", "error"] = "calls"
    late_closers: bool = False
    unknown: Literal["delivered", "dropped", "text", "reply", "ends", "error"] = "delivered"
    undeclared: Keep = "kept"
    indexed: bool = False
    unescaped: bool = False
    duplicates: Literal["last", "list"] = "last"
    trimmed: bool = False
    verbatim: tuple[str, ...] = ()
    values: Literal["typed", "text", "guessed", "scalars", "elements", "texts"] = "typed"
    nulled: bool = False
    references: Literal["followed", "unread"] = "followed"
    exact: bool = False
    switches: Mapping[str, str] = field(default_factory=dict)

    @property
    def plain(self) -> bool:
        """Whether no choice differs from what loses nothing."""
        return replace(self, source="") == View()

    def read_with(self, switches: Switches) -> Switches:
        """The dialect's switches, as this server sets them; a failed call stands apart, for what
        becomes of it is a choice of the view."""
        chosen: dict[str, Any] = dict(self.switches)
        return replace(switches, **chosen)

    def failed(self, reason: str, dialect: Switches) -> Failed:
        """What becomes of a call that was aborted for this reason."""
        unended = self.unended or self.cut
        by_reason = {
            "truncated-call": self.cut,
            "unended-call": unended,
            "unreadable-call": self.unread,
        }
        chosen = by_reason.get(reason, self.broken)
        return chosen or ("text" if dialect.broken_calls == "text" else "dropped")


LOSSLESS: Final = View()
UNREAD: Final = View(calls="nowhere", orphans="kept")
"""What a server does that looks for no calls."""


@dataclass(frozen=True, slots=True)
class Parser:
    """One of a server's parsers, as the server names it. `reads` are the dialects that it reads
    where no parser is named, `shares` those whose calls it reads too where it is named; `aliases`
    are other names of it, its file's among them. Where it is not `tested`, a test of the server's
    suite cannot name it."""

    name: str
    view: View
    reads: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    tested: bool = True

    def can_read(self, dialect: str) -> bool:
        return dialect in self.reads or dialect in self.shares


Language = Literal["python", "go", "typescript"]


@dataclass(frozen=True, slots=True)
class Suite:
    """A test as a server's own suite has them, with holes: the name of the `{{parser}}`, the
    `{{text}}` of a reply, `{{tools}}` in OpenAI's form, and what the test asserts of `{{content}}`,
    `{{reasoning}}` and `{{calls}}` (a list of `name` and `arguments`). All but the first become
    literals of the language; what is no text becomes in Go a text of JSON."""

    language: Language
    text: str

    @property
    def seen(self) -> tuple[str, ...]:
        """What the test asserts of a reply."""
        return tuple(n for n in ("content", "reasoning", "calls") if f"{{{{{n}}}}}" in self.text)


@dataclass(frozen=True)
class Server:
    """A server or client, and its parsers; `view` is how it reads what none of them reads. `suite`
    is None where nothing is known of its tests.

    `also` are the dialects that parsers of it read of which no view is declared: it has none for
    any other, and hands their replies over as text. None where this is not known.
    """

    name: str
    version: str
    view: View = LOSSLESS
    parsers: tuple[Parser, ...] = ()
    also: tuple[str, ...] | None = None
    suite: Suite | None = None

    @property
    def lossless(self) -> bool:
        """Whether it is not known to lose anything."""
        return self.view.plain and all(parser.view.plain for parser in self.parsers)

    def named(self, name: str) -> Parser | None:
        """The parser of that name, or other name."""
        return next((p for p in self.parsers if name in (p.name, *p.aliases)), None)

    def reader_of(self, dialect: str) -> Parser | None:
        """The parser that reads a dialect where none is named."""
        return next((p for p in self.parsers if dialect in p.reads), None)

    def reads(self, dialect: str) -> bool:
        """Whether a parser of it may read a dialect, as far as is known."""
        return self.also is None or dialect in self.also or self.reader_of(dialect) is not None


def chosen(servers: Iterable[Server], spec: str) -> tuple[Server, str]:
    """The server of `NAME` or `NAME:PARSER`, and the parser. Raises UnknownNameError."""
    known = {server.name: server for server in servers}
    name, _, parser = spec.partition(":")
    if name not in known:
        raise UnknownNameError("server", name, list(known))
    return known[name], parser
