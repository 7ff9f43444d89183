"""The view of a parser: the choices that say which parts of a reply it delivers to the client.

Each choice is about something that our own parser keeps, and that a server may drop, change or
mistake for something else. By default a view delivers all that our own parser does. A view is
checked when it is built: an unknown field or choice raises pydantic's ValidationError.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, Literal, get_args, get_type_hints

from pydantic import AfterValidator, ConfigDict
from pydantic.dataclasses import dataclass as checked_dataclass

from playground.base.findings import CODES
from playground.parsing.switches import Switches

Keep = Literal["kept", "dropped"]
TextFate = Literal["kept", "dropped", "reading stops", "error"]
"""The fate of text next to calls. `reading stops`: the client gets only what came before the
text; `error`: the request fails, and the client gets nothing."""
CallFate = Literal[
    "",  # by the dialect's switches: dropped, or text
    "dropped",
    "text",
    "arguments as text",  # without the markers around them and the name
    "delivered",  # as far as it was read, without an argument that has no closer
    "delivered with open argument",
    "delivered if closed, else error",  # delivered if no argument is open and the tool was offered
    "reply as text",  # all but reasoning becomes text, and no call is delivered
    "reply as text unless another call was read",  # if another was, only this call is dropped
    "reply as text and calls",  # and the calls that were read are delivered, too
    "reading stops",
    "error",
    "nothing delivered",  # except reasoning; but the request does not fail
]
"""The fate of a call that cannot be read."""
Position = Literal[
    "anywhere",
    "whole reply",  # calls in replies without other text
    "whole reply or marked",  # or if a tag or a fence comes right before the first
    "at the start",  # no text before them, except text that a stop token ends
    "at the end",  # no text after them
    "nowhere",
]
Sections = Literal[
    "all",
    "first",  # later ones are treated as text after calls
    "first, rest dropped",
    "first, dropped to last closer",  # everything between the first and the last closer is dropped
    # all as one call: they are dropped if the first has arguments, and else read as by "first"
    "first to last as one",
    "first call",  # later calls are treated as text after calls
    "only one call",  # if there is another call, nothing is delivered
]
Reasoning = Literal[
    "separate",
    "dropped",
    "dropped beside calls",
    "content",  # with its tags
    "content with opener",  # and with the opener that the prompt wrote
]


def _known_codes(codes: tuple[str, ...]) -> tuple[str, ...]:
    """Check that each repair is the code of a finding. Raises ValueError."""
    unknown = [code for code in codes if code not in CODES]
    if unknown:
        raise ValueError(f"no finding has the code {unknown[0]!r}")
    return codes


def _known_switches(switches: Mapping[str, str]) -> Mapping[str, str]:
    """Check names and values against the fields of `Switches`. Raises ValueError."""
    hints = get_type_hints(Switches) if switches else {}
    for name, value in switches.items():
        if name not in hints:
            raise ValueError(f"no switch is called {name!r}; known: {', '.join(hints)}")
        choices = get_args(hints[name])
        if value not in choices:
            raise ValueError(f"{name} is {value!r}; expected one of {', '.join(choices)}")
    return switches


@checked_dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid", strict=True))
class View:
    """The choices of one parser of a server, read in the server's own code at `source`."""

    # The version, file and line of the server's code that shows the choices. Below, a name in
    # brackets is the server or parser for which a choice was found necessary.
    source: str = ""

    # --- which parsers run

    # reasoning: separate from content, dropped, or content with its tags (vLLM's apertus)
    reasoning: Reasoning = "separate"
    # the prefill to assume if the prompt gives none: an opened tag (Ollama's qwen3-vl-thinking)
    assumed_prefill: str = ""
    # marker that ends a message's header: text before it is an address, not content (harmony)
    header_marker: str = ""
    # text of a reply that has no such marker (Ollama's harmony)
    replies_without_header: Keep = "kept"

    # --- which calls are read; all others are content

    # position in the reply at which calls are read (llama3_json: "whole reply")
    calls_read: Position = "anywhere"
    # sections of calls that are read (vLLM's jamba: "first")
    sections_read: Sections = "all"
    # calls outside of a section (SGLang's kimi_k2: "text")
    calls_outside_sections: Literal["delivered", "text"] = "delivered"
    # a call must have one of these endings (Rapid-MLX's hy_v3)
    call_must_end_with: tuple[str, ...] = ()
    # calls without arguments (both minimax of MLX, SGLang's step3)
    calls_without_arguments: Keep = "kept"
    # literals that end a section even inside a value: its calls are malformed (phi4_mini_json)
    values_must_not_hold: tuple[str, ...] = ()
    # beginnings of markers that the dialect has and the server does not know (vLLM's deepseek_v4)
    unknown_markers: tuple[str, ...] = ()
    # a name needs an index after it, as in `name:0` (vLLM's kimi_k2)
    index_after_name_required: bool = False

    # --- text

    # text before the first call (minicpm5: "dropped")
    text_before_calls: Keep = "kept"
    # text between calls, and inside their sections (most parsers of vLLM: "dropped")
    text_between_calls: TextFate = "kept"
    # text after the last call (most parsers of vLLM: "dropped")
    text_after_calls: TextFate = "kept"
    # text directly after a call: it is text, or belongs to the arguments (Rapid-MLX's mistral), or
    # makes the call malformed (vllm-mlx's mistral), or loses its first character, which is taken
    # for a separator (SGLang's llama3)
    text_right_after_call: Literal[
        "text", "argument", "malformed call", "first character dropped"
    ] = "text"
    # content after an opener without a call (SGLang's mistral: "dropped")
    after_opener_without_call: Literal["kept", "dropped", "dropped to closer", "error"] = "kept"
    # a reply that ends with the beginning of an opener (Ollama), or inside any tag (Kodu)
    half_opener_at_end: Literal["kept", "dropped", "open tag dropped"] = "kept"
    # which of several texts are delivered as content: all, only the first (harmony of Rapid-MLX),
    # or only the last (transformers' templates)
    texts_kept: Literal["all", "first", "last"] = "all"
    # in a reply with a call, texts without this ending are dropped (vllm-mlx's harmony)
    text_must_end_with: str = ""

    # --- markers

    # openers without a closer and closers without an opener: dropped, or content; "all" includes
    # markers of messages (the MLX servers: "kept without calls"; SGLang's muse: "all kept without
    # calls")
    stray_markers: Literal[
        "dropped", "kept", "closers kept", "kept without calls", "all kept without calls"
    ] = "dropped"
    # markers of sections that stay in the content (Rapid-MLX's lfm)
    markers_left_in_content: tuple[str, ...] = ()
    # literals that are removed from the content of a reply with a call (vLLM's apertus)
    erased_if_calls: tuple[str, ...] = ()
    # a call extends to its closer, even if other markers come before that (the AI SDK's hermes)
    closer_after_stray_markers: bool = False

    # --- calls that fail

    # a call that the end of the reply cuts off
    on_truncated: CallFate = ""
    # a call that cannot be read
    on_malformed: CallFate = ""
    # an opener without the body of a call; on_malformed does not apply to it
    on_missing_body: CallFate = ""
    # a call without its closer in a section with a closer (Ollama's qwen3-coder: "error"); "" means
    # the choice of on_truncated
    on_missing_closer: CallFate = ""
    # calls without their closer before another call: each is a call ("apart"), or all up to the
    # first closer are one call with the parameters of all ("run on"), which is malformed if a body
    # is an object
    unclosed_calls: Literal["apart", "run on"] = "apart"
    # repairs of our reading, by the codes of their findings, that the server does not make: a call
    # that needed one is malformed, or truncated if it lacks its closer
    unsupported_repairs: Annotated[tuple[str, ...], AfterValidator(_known_codes)] = ()
    # the calls of a section without its closer (vLLM's jamba: "reply as text")
    on_unclosed_section: Literal["delivered", "dropped", "text", "reply as text", "error"] = (
        "delivered"
    )

    # --- tools and arguments

    # calls of tools that were not offered (SGLang: "dropped")
    on_unknown_tool: Literal[
        "delivered", "dropped", "text", "reply as text", "reading stops", "error"
    ] = "delivered"
    # arguments that the tool does not have (vLLM's minicpm5)
    undeclared_arguments: Keep = "kept"
    # an argument that is given twice: its last value, or a list of all (the AI SDK's qwen3coder)
    repeated_arguments: Literal["last", "list"] = "last"
    # names and keys have their HTML entities decoded (vLLM's kimi_k3)
    names_unescaped: bool = False
    # values lose the white space at their ends (Roo Code, Cline) ...
    values_trimmed: bool = False
    # ... except for values of these arguments (Roo Code: `content`)
    never_trimmed: tuple[str, ...] = ()
    # values that are read as JSON, while the others stay text:
    #   "declared": those with a type in their schema (vLLM's gemma4)
    #   "guessed": texts too, if they are JSON (vllm-mlx's qwen)
    #   "scalars": no lists and objects (vLLM's step3)
    #   "scalars and marked": also lists and objects in tags instead of JSON (SGLang's minimax-m3)
    #   "texts only": none. Arguments that are not texts are dropped, and each text in an object
    #   becomes an argument (vLLM's functiongemma)
    value_types: Literal[
        "all", "declared", "guessed", "scalars", "scalars and marked", "texts only"
    ] = "all"
    # an argument whose schema allows null is always null (SGLang's minimax-m2)
    nullable_as_null: bool = False
    # types that the schema gives by a `$ref`; "ignored": their values stay text (vLLM's engine)
    schema_references: Literal["followed", "ignored"] = "followed"
    # booleans are read in any letter case, and from 1 and 0 too (vLLM's engine)
    booleans_in_any_case: bool = False
    # a value stays text if our reading had to mend its JSON (vLLM's engine)
    mended_json_as_text: bool = False

    # --- parsing

    # fields of `Switches` that the server sets (Ollama's olmo3-think)
    switches: Annotated[Mapping[str, str], AfterValidator(_known_switches)] = field(
        default_factory=dict
    )

    @property
    def is_lossless(self) -> bool:
        """True if no choice differs from its default."""
        return replace(self, source="") == View()

    def read_with(self, switches: Switches) -> Switches:
        """Return the dialect's switches as this server sets them."""
        chosen: dict[str, Any] = dict(self.switches)
        return replace(switches, **chosen)

    def fate_of(self, reason: str, dialect: Switches) -> CallFate:
        """Return what happens to a call that was aborted for this reason. If the view has no choice
        for it, the dialect's switches decide."""
        by_reason = {
            "truncated-call": self.on_truncated,
            "unended-call": self.on_missing_closer or self.on_truncated,
            "unreadable-call": self.on_missing_body,
        }
        chosen = by_reason.get(reason, self.on_malformed)
        return chosen or ("text" if dialect.broken_calls == "text" else "dropped")


LOSSLESS: Final = View()
READS_NO_CALLS: Final = View(calls_read="nowhere", stray_markers="kept")


@dataclass(frozen=True, slots=True)
class Parser:
    """One of a server's parsers, by the name that the server gives it."""

    name: str
    view: View
    default_for: tuple[str, ...] = ()  # dialects for which it is the default
    aliases: tuple[str, ...] = ()  # its other names, such as that of its file
    also_reads: tuple[str, ...] = ()  # other dialects whose calls it reads
    in_suite: bool = True  # False if a test of the server's suite cannot name it

    def can_read(self, dialect: str) -> bool:
        return dialect in self.default_for or dialect in self.also_reads


Delivery = Literal["complete reply", "stream"]
Language = Literal["python", "go", "typescript"]


@dataclass(frozen=True, slots=True)
class Suite:
    """A test in the form of a server's own suite, with holes.

    The holes: the name of the `{{parser}}`, the `{{text}}` of a reply, `{{tools}}` in OpenAI's
    form, and the expected `{{content}}`, `{{reasoning}}` and `{{calls}}` (a list of `name` and
    `arguments`). All except the parser are filled with literals of the language; in Go, a value
    other than a text becomes a text with its JSON.
    """

    language: Language
    text: str

    @property
    def asserted(self) -> tuple[str, ...]:
        """The parts of a reply that the test asserts."""
        return tuple(n for n in ("content", "reasoning", "calls") if f"{{{{{n}}}}}" in self.text)


@dataclass(frozen=True)
class Server:
    """A server or client, and its parsers."""

    name: str
    version: str
    view: View = LOSSLESS  # for replies that none of the parsers reads
    parsers: tuple[Parser, ...] = ()
    # dialects that it reads without one of `parsers`; calls of others are text. None if not known.
    other_dialects: tuple[str, ...] | None = None
    suite: Suite | None = None  # None if its tests are not known
    reads: Delivery = "complete reply"  # the kind of reply that its views are declared for
    date: str = ""  # the day on which the server's code was read

    @property
    def is_lossless(self) -> bool:
        """True if, as far as is known, the server loses nothing."""
        return self.view.is_lossless and all(parser.view.is_lossless for parser in self.parsers)

    def parser_named(self, name: str) -> Parser | None:
        """Return the parser of that name or alias, or None."""
        return next((p for p in self.parsers if name in (p.name, *p.aliases)), None)

    def default_parser(self, dialect: str) -> Parser | None:
        """Return the parser that reads a dialect if no parser is named; None if none does."""
        return next((p for p in self.parsers if dialect in p.default_for), None)

    def may_read(self, dialect: str) -> bool:
        """Return True if the server reads a dialect without a named parser, or this is unknown."""
        others = self.other_dialects
        return others is None or dialect in others or self.default_parser(dialect) is not None
