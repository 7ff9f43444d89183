"""Requests to a provider as blocks, in the order in which the provider's cache reads them.

There is a block for each tool (a deferred one has none, see `_Tools`), each part of the system
prompt or a message (a text is one part), and each call in a field of a message, as `tool_calls`. A
block's cache mark is no part of its content.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import is_
from typing import Any, Final, Literal, NamedTuple

from playground.base.shared_lists import SharedList, alike_length, shared_length, written
from playground.nouns import wire_doubts
from playground.nouns.messages import PICTURE_KINDS
from playground.nouns.plain_messages import NOT_PLAIN, marked_part
from playground.nouns.wire_bodies import (
    MARKS,
    api_of,
    call_ids,
    has_citations,
    has_pictures,
    identity,
    is_deferred,
    is_opaque,
    kind_of,
    mark_holders,
    messages_of,
    model_of,
    parameters_of,
    parts_of,
    raw_messages_of,
    referenced_tools,
    settings_of,
    system_of,
    tools_of,
    ttl_of,
)
from playground.nouns.wire_estimates import tokens_of
from playground.nouns.wire_words import VOCABULARIES, UnknownWord, unknown_words

Tier = Literal["tools", "system", "messages"]
TIERS: Final[tuple[Tier, ...]] = ("tools", "system", "messages")
_MARKS: Final = frozenset(MARKS)
_THOUGHTS: Final = ("thinking", "redacted_thinking")
SIGNATURE: Final = '"signature"'
_REFERRING: Final = (
    "tool_search_tool_result", "tool_result", "tool_addition", "tool_reference",
)  # fmt: skip
# Anthropic's tools that run on its server. Web search is written into the system prompt, not among
# the tools.
_ON_SERVER: Final = re.compile(r"(web_search|web_fetch|code_execution)_\d{8}")
_WEB_SEARCH: Final = re.compile(r"web_search_\d{8}")


class WireBlock(NamedTuple):
    """A block: its place, its content, and the lifetime (`ttl`) of the mark on it, if any.

    `size` is set only if a hash replaces the text: the estimated number of its tokens. A block is
    `opaque` if its tokens cannot be estimated from its text: a picture, a file, a provider's tool.
    """

    tier: Tier
    role: str
    kind: str
    text: str
    ttl: str | None = None
    markable: bool = True
    place: tuple[int, int] | None = None  # message and part
    is_string: bool = False  # True if the content is a text, not a list
    size: int | None = None
    opaque: bool = False

    @property
    def tokens(self) -> int:
        """The estimated number of tokens."""
        return tokens_of(self.text) if self.size is None else self.size

    def moved(self, message: int) -> WireBlock:
        """Return the same block in another message."""
        place = self.place and (message, self.place[1])
        return self if place == self.place else self._replace(place=place)

    @property
    def is_signed(self) -> bool:
        """True for a thought with a provider's signature, which is unique to the thought."""
        return self.kind in _THOUGHTS and SIGNATURE in self.text

    def has_same_content(self, other: WireBlock) -> bool:
        """Return True if a cache takes both for the same block, whatever their marks and places."""
        return self is other or (
            (self.text, self.kind, self.role, self.tier)
            == (other.text, other.kind, other.role, other.tier)
        )

    @property
    def identity(self) -> bytes:
        """Bytes that are equal for two blocks if, and only if, a cache takes them for the same."""
        identity = f"{self.tier}\0{self.role}\0{self.kind}\0{self.text}"
        return identity.encode("utf-8", "surrogatepass")


# (the message's id(), True if only system messages precede it, a mark's default lifetime) → blocks
KnownBlocks = dict[tuple[int, bool, str], tuple[dict[str, Any], list[WireBlock]]]


@dataclass(slots=True)
class WireRequest:
    """The parts of a request that matter to a cache: blocks, parameters, a top-level mark.

    `starts` has the index in `blocks` at which each message begins. `settings` are the body's
    other fields, as they were sent, and `api` names the form of the body. `clears_at` has the
    indexes of messages that the provider removes from the prompt at a later turn of the user.
    `doubts` describes contents whose number of tokens in the prompt no provider documents.
    `unknown` has words that are not in the SDKs' types.
    """

    model: str
    blocks: SharedList[WireBlock]
    parameters: dict[str, Any] = field(default_factory=dict)
    automatic_ttl: str | None = None
    explicit_only: bool = False  # OpenAI's `prompt_cache_options.mode`: no cache without marks
    starts: SharedList[int] = field(default_factory=SharedList)
    settings: dict[str, Any] = field(default_factory=dict)
    api: str = ""
    clears_at: tuple[int, ...] = ()
    cleared: tuple[tuple[int, str], ...] = ()  # messages with `clear_at`, and their contents
    thinks: bool = False  # True if a block is a thought
    has_late_system: bool = False  # True if a message of role system follows another role
    orphan: str = ""  # the call id of the first result that answers none of the last calls
    prompted: bool = False  # True once the messages that leave the prompt have been removed
    doubts: tuple[str, ...] = ()
    unknown: tuple[UnknownWord, ...] = ()
    server_tools: tuple[str, ...] = ()  # Anthropic's tools that run on its server
    ttl: str | None = None  # the lifetime that the body asks for, for all its entries

    def insert(self, index: int, block: WireBlock) -> None:
        """Insert a block at an index. If a message begins at `index`, the block is added to the end
        of the message before it."""
        self.blocks = self.blocks.extended_with(index, [block, *self.blocks[index:]])
        message = bisect_left(self.starts, index)
        self.starts = self.starts.extended_with(message, [n + 1 for n in self.starts[message:]])

    def at(self, message: int, part: int) -> list[int]:
        """Return the indexes of the blocks of one part of a message."""
        starts, blocks, place = self.starts, self.blocks, (message, part)
        stop = starts[message + 1] if message + 1 < len(starts) else len(blocks)
        return [index for index in range(starts[message], stop) if blocks[index].place == place]


def read_wire(body: dict[str, Any], model: str = "", default_ttl: str = "5m") -> WireRequest:
    """Read a body for Anthropic, OpenAI (both APIs), Bedrock, Gemini or OpenRouter as blocks."""
    return WireReader(model, default_ttl).read(body)


class WireReader:
    """A reader of successive requests; leading messages that they share are read only once.

    Every request of a session repeats the history, so reading each request anew would take
    quadratic time. So would a Python loop over the shared messages; `==` of lists is fast enough.
    Several readers may share `known`, a cache of messages' blocks, if they read the same messages.
    """

    def __init__(self, model: str = "", ttl: str = "5m", known: KnownBlocks | None = None) -> None:
        self._model, self._ttl, self._known = model, ttl, known
        self._before = _Read()
        self._previous_messages: Sequence[dict[str, Any]] = ()
        self._blocks: SharedList[WireBlock] = SharedList()
        self._starts: SharedList[int] = SharedList()
        self._tools: tuple[tuple[str, bytes] | None, _Tools] = None, _Tools()
        self._head: tuple[_Reader, tuple[_Tools, str, bytes]] | None = None
        self._other_fields: _OtherFields | None = None
        self._framed: tuple[list[Any], _Frame | None] = [], None

    def read(self, body: dict[str, Any]) -> WireRequest:
        messages = raw_messages_of(body)
        api, body_ttl, tools, head, others = self._frame_of(body, messages)
        read = self._messages(messages if type(messages) is list else messages_of(body), head, api)
        options = body.get("prompt_cache_options")
        mode = options.get("mode") if isinstance(options, dict) else None
        top = body.get("cache_control")
        return WireRequest(
            model=self._model or model_of(body),
            blocks=self._blocks,
            parameters=others.parameters(read.pictures, read.cites),
            automatic_ttl=str(top.get("ttl") or head.ttl) if isinstance(top, dict) else None,
            server_tools=tools.on_server,
            ttl=body_ttl,
            explicit_only=mode == "explicit",
            starts=self._starts,
            settings=others.settings,
            api=api,
            clears_at=read.clears_at,
            cleared=read.cleared() if read.clears_at else (),
            thinks=read.thinks,
            has_late_system=read.has_late_system,
            orphan=read.orphan,
            doubts=_doubts_of(body, tools, read),
            unknown=tools.unknown + others.unknown + read.unknown,
        )

    def _frame_of(self, body: dict[str, Any], messages: Any) -> _Frame:
        """Return a body's parts other than messages, cached because most requests share them."""
        objects = [each for pair in body.items() if pair[1] is not messages for each in pair]
        if isinstance(messages, (list, SharedList)):
            objects += messages[:1]  # the first message may show the form of the body
        previous, frame = self._framed
        if frame and len(previous) == len(objects) and all(map(is_, previous, objects)):
            return frame
        api, body_ttl = api_of(body), ttl_of(body)
        tools = self._tools_of(body, api)
        head = self._head_of(body, tools, body_ttl or self._ttl)
        frame = _Frame(api, body_ttl, tools, head, self._other_fields_of(body, api))
        self._framed = objects, frame
        return frame

    def _other_fields_of(self, body: dict[str, Any], api: str) -> _OtherFields:
        """Return the fields other than tools and messages; cached as in `_frame_of`."""
        settings = settings_of(body)
        system: dict[str, Any] = {name: body[name] for name in _SYSTEM_FIELDS if name in body}
        source = settings, system, api
        if self._other_fields is None or source != self._other_fields.source:
            self._other_fields = _OtherFields.read(*source)
        return self._other_fields

    def _head_of(self, body: dict[str, Any], tools: _Tools, ttl: str) -> _Reader:
        """Return a reader that has read tools and system prompt; cached as in `_frame_of`."""
        system, instructions = system_of(body), body.get("instructions")
        source = tools, ttl, written((system, instructions))
        if self._head is not None and source == self._head[1]:
            return self._head[0]
        head = _Reader(ttl, tools.blocks.copy(), tools.deferred)
        for part in parts_of(system):
            head.part("system", "system", part, None, isinstance(system, str))
        if instructions:  # OpenAI's Responses API: its system prompt
            head.part("system", "system", {"type": "text", "text": instructions})
        self._head = head, source
        return head

    def _tools_of(self, body: dict[str, Any], api: str) -> _Tools:
        """Return the tools as blocks, and what is unknown in them; cached as in `_frame_of`."""
        tools = tools_of(body)
        key = api, written(tools)
        if key != self._tools[0]:
            words = (
                word
                for name in _TOOL_FIELDS
                for word in unknown_words(name, body.get(name), api, name)
            )
            read = replace(_Tools.read(tools, self._ttl), unknown=tuple(words))
            self._tools = key, read
        return self._tools[1]

    def _messages(self, messages: Sequence[dict[str, Any]], start: _Reader, api: str) -> _Read:
        """Read the messages that the request before did not share, after the blocks of `start`."""
        head = start.blocks
        previous, earlier = self._before, self._previous_messages
        shared = earlier.shared(messages) if isinstance(earlier, SharedList) else 0
        count = alike_length(previous.messages, messages, shared)
        if type(messages) is list and not {dict}.issuperset(map(type, messages[count:])):
            messages = [message for message in messages if isinstance(message, dict)]
            count = alike_length(previous.messages, messages)
        alike = (head, start.ttl, api) == (previous.head, previous.ttl, previous.api)
        if previous.referenced:
            alike = alike and all(
                start.deferred.get(k) == v for k, v in previous.referenced.items()
            )
        if alike and previous.cut_to(count):
            read, kept_count, blocks = previous, count, len(previous.blocks)
        else:
            read, kept_count, blocks = _Read(head, start.ttl, api, blocks=list(head)), 0, 0
            read.pictures = _has_pictures(head)
        reader = _Reader(start.ttl, read.blocks, start.deferred)
        known = None if start.deferred else self._known
        try:
            for message in messages[kept_count:]:
                read.add(message, reader, known)
        except Exception:  # the next request must share nothing with this body
            self._before, self._previous_messages = _Read(), ()
            raise
        if read.marked and read.marked[-1][0] >= kept_count:  # an earlier block has a new mark
            blocks = min(blocks, *(block for at, block in read.marked if at >= kept_count))
        self._before, self._previous_messages = read, messages
        self._blocks = self._blocks.extended_with(blocks, read.blocks[blocks:])
        shared = kept_count or shared_length(self._starts, read.starts)
        self._starts = self._starts.extended_with(shared, read.starts[shared:])
        return read


_Unknown = tuple[UnknownWord, ...]
_Saved = tuple[
    bool, bool, bool, bool, bool, tuple[int, ...], tuple[str, ...], _Unknown, tuple[str, ...],
    tuple[str, ...], str,
]  # fmt: skip
_SYSTEM_FIELDS: Final = ("system", "systemInstruction", "system_instruction")
_TOOL_FIELDS: Final = ("tools", "functions")
_MESSAGE_FIELDS: Final = {"responses": "input", "gemini": "contents"}
_MOST_UNKNOWN: Final = 5  # unknown words that are named, of each vocabulary


@dataclass(slots=True)
class _OtherFields:
    """The fields of a body other than tools and messages: parameters, and unknown words in them."""

    source: tuple[dict[str, Any], dict[str, Any], str]
    unknown: _Unknown
    _parameters: dict[tuple[bool, bool], dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, settings: dict[str, Any], system: dict[str, Any], api: str) -> _OtherFields:
        fields = settings | system
        words = (word for n, v in fields.items() for word in unknown_words(n, v, api, n))
        return cls((settings, system, api), tuple(words))

    @property
    def settings(self) -> dict[str, Any]:
        return self.source[0]

    def parameters(self, pictures: bool, cites: bool) -> dict[str, Any]:
        key = pictures, cites
        if key not in self._parameters:
            self._parameters[key] = parameters_of(self.settings, pictures, cites)
        return self._parameters[key]


@dataclass(frozen=True, slots=True)
class _Tools:
    """A request's tools: blocks of the prefix, and the texts of deferred tools.

    Anthropic leaves a deferred tool out of the prompt until a message refers to the tool.
    """

    blocks: list[WireBlock] = field(default_factory=list)
    deferred: dict[str, str] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()
    unknown: _Unknown = ()
    names: frozenset[str] = frozenset()
    on_server: tuple[str, ...] = ()

    @classmethod
    def read(cls, tools: Any, ttl: str) -> _Tools:
        reader, deferred = _Reader(ttl, [], {}), dict[str, str]()
        names = set[str]()
        listed = (
            [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
        )
        for tool in listed:
            if is_deferred(tool):
                deferred[str(tool.get("name"))] = identity("tool", tool)
            names.add(str(tool.get("name")))
        loaded = [tool for tool in listed if not is_deferred(tool)]
        # web search comes last: its block begins the system prompt
        for tool in sorted(loaded, key=_is_web_search):
            reader.tool(tool, "system" if _is_web_search(tool) else "tools")
        kinds = [str(tool.get("type") or "") for tool in listed]
        return cls(
            reader.blocks,
            deferred,
            tuple(dict.fromkeys(wire_doubts.of_tools(listed))),
            names=frozenset(names),
            on_server=tuple(kind for kind in kinds if _ON_SERVER.fullmatch(kind)),
        )


class _Frame(NamedTuple):
    """The parts of a request other than its messages; `ttl` is the lifetime that its body sets."""

    api: str
    ttl: str | None
    tools: _Tools
    head: _Reader
    others: _OtherFields


def _is_web_search(tool: dict[str, Any]) -> bool:
    return _WEB_SEARCH.fullmatch(str(tool.get("type") or "")) is not None


@dataclass(slots=True)
class _Read:
    """The messages that were read. For each message, `saved` has the values, before the message, of
    `leads` and of all fields declared after `leads`. `referenced` has the texts of the deferred
    tools to which messages refer."""

    head: list[WireBlock] = field(default_factory=list)  # tools and the system prompt
    ttl: str = ""
    api: str = ""
    messages: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[WireBlock] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    saved: list[_Saved] = field(default_factory=list)
    marked: list[tuple[int, int]] = field(default_factory=list)  # a message, the block it marks
    referenced: dict[str, str] = field(default_factory=dict)
    leads: bool = True  # all messages so far are the system's
    pictures: bool = False
    cites: bool = False
    thinks: bool = False
    has_late_system: bool = False
    clears_at: tuple[int, ...] = ()
    doubts: tuple[str, ...] = ()
    unknown: _Unknown = ()
    refers: tuple[str, ...] = ()  # names of tools in references
    calls: tuple[str, ...] = ()  # ids of the last answer's calls
    orphan: str = ""

    def cut_to(self, count: int) -> bool:
        """Drop all but the first `count` messages. Return False, and drop none, if a later message
        has marked one of their blocks."""
        if count == len(self.messages):
            return True
        start = self.starts[count]
        if any(message >= count and block < start for message, block in self.marked):
            return False
        (self.leads, self.pictures, self.cites, self.thinks, self.has_late_system,
         self.clears_at, self.doubts, self.unknown, self.refers, self.calls,
         self.orphan) = self.saved[count]  # fmt: skip
        self.marked = [pair for pair in self.marked if pair[0] < count]
        del self.blocks[start:]
        for values in (self.messages, self.starts, self.saved):
            del values[count:]
        return True

    def cleared(self) -> tuple[tuple[int, str], ...]:
        """Return the index and the content of each message that leaves the prompt later."""
        return tuple((at, identity("message", self.messages[at])) for at in self.clears_at)

    def add(self, message: dict[str, Any], reader: _Reader, known: KnownBlocks | None) -> None:
        """Add a message. Its blocks are those in `known`, or the reader adds them."""
        index, start = len(self.messages), len(self.blocks)
        last = self.blocks[-1] if self.blocks else None
        key = id(message), self.leads, reader.ttl
        if known and (entry := known.get(key)) and entry[0] is message:
            self.blocks += [block.moved(index) for block in entry[1]]
        else:
            reader.message(message, index, self.leads)
        if reader.referenced:
            self.referenced |= reader.referenced
        own = self.blocks[start:]
        if start and self.blocks[start - 1] is not last:  # the message marked the block before it
            self.marked.append((index, start - 1))
        elif known is not None:
            known[key] = message, own
        self.messages.append(message)
        self.starts.append(start)
        self.saved.append(
            (self.leads, self.pictures, self.cites, self.thinks, self.has_late_system,
             self.clears_at, self.doubts, self.unknown, self.refers, self.calls, self.orphan)
        )  # fmt: skip
        calls, answered = call_ids(message)
        continues = index > 0 and self.messages[-2].get("role") == message.get("role")
        if calls:  # answers in a row are one answer
            self.calls = (*self.calls, *calls) if continues else calls
        self.orphan = self.orphan or next((id_ for id_ in answered if id_ not in self.calls), "")
        self.leads = self.leads and all(block.tier == "system" for block in own)
        marked = marked_part(message, self.api)
        if marked == NOT_PLAIN:
            self._note_features(message, index, own)
        elif marked >= 0 and self.api == "chat" and not self.unknown:
            path = f"messages[{index}].content[{marked}].cache_control"
            self.unknown = (UnknownWord("chat", path),)  # Anthropic's

    def _note_features(self, message: dict[str, Any], index: int, own: list[WireBlock]) -> None:
        """Note the features of a message that is not plain (pictures, citations, thoughts, tool
        references), and what makes its number of tokens uncertain (unknown words and doubts)."""
        self.pictures = self.pictures or _has_pictures(own) or has_pictures(message)
        self.cites = self.cites or has_citations(message)
        self.thinks = self.thinks or any(block.kind in _THOUGHTS for block in own)
        if own and own[0].role == "system" and own[0].tier == "messages":
            self.has_late_system = True
        if message.get("clear_at"):
            self.clears_at = (*self.clears_at, index)
        section = _MESSAGE_FIELDS.get(self.api, "messages")
        path = f"{section}[{index}]"
        unknown = tuple(unknown_words(section, message, self.api, path))
        if unknown:
            for name in VOCABULARIES[self.api]:
                room = _MOST_UNKNOWN - sum(word.vocabulary == name for word in self.unknown)
                words = [word for word in unknown if word.vocabulary == name]
                self.unknown += tuple(words[: max(0, room)])
        before = self.messages[-2] if index else {}
        is_anthropic = self.api == "messages"  # in other forms, system messages may be anywhere
        role = str(before.get("role")) if is_anthropic else "user"
        doubts = list(wire_doubts.of_message(message, path, role))
        if any(block.opaque for block in own):
            doubts += wire_doubts.fetched(message, path)
        if any(block.kind in _REFERRING for block in own):
            self.refers = (*self.refers, *referenced_tools(message))
        if doubts:
            self.doubts = tuple(dict.fromkeys((*self.doubts, *doubts)))


def _doubts_of(body: dict[str, Any], tools: _Tools, read: _Read) -> tuple[str, ...]:
    """Describe the contents whose number of tokens in the prompt no provider documents."""
    doubts = tools.doubts + read.doubts
    if not read.messages or "container" in body:
        doubts = (*wire_doubts.of_body(body, read.messages), *doubts)
    if read.refers:
        doubts = (*doubts, *wire_doubts.of_references(read.refers, tools.names))
    return doubts


def same_blocks(
    first: Sequence[WireBlock], second: Sequence[WireBlock], start: int | None = None
) -> int:
    """Return how many leading blocks both lists share; marks and places do not count.

    `start` is their shared length, if that is already known.
    """
    most = min(len(first), len(second))
    count = shared_length(first, second) if start is None else start
    while count < most and first[count].has_same_content(second[count]):
        count = shared_length(first, second, count + 1)
    return count


class _Reader:
    """A reader of tools, parts and messages as `blocks`; `ttl` is a mark's default lifetime."""

    def __init__(self, ttl: str, blocks: list[WireBlock], deferred: dict[str, str]) -> None:
        self.blocks, self.ttl, self.deferred = blocks, ttl, deferred
        self.referenced: dict[str, str] = {}

    def tool(self, tool: dict[str, Any], tier: Tier) -> None:
        self._add(tier, "", "tool", tool)

    def message(self, message: dict[str, Any], index: int, leading: bool) -> None:
        role = str(message.get("role") or message.get("type") or "")
        tier: Tier = "system" if role in ("system", "developer") and leading else "messages"
        # The Responses API sends calls and results as items of their own, without a role.
        if "role" not in message:
            self._add(tier, role, role, message, (index, 0))
            return
        # A provider takes a result as part of the user's turn, whatever role the body gives it.
        if role in ("tool", "function"):
            self._add(tier, "user", "tool_result", {**message, "role": None}, (index, 0))
            return
        content = message.get("content", message.get("parts"))
        for number, part in enumerate(parts_of(content)):
            self.part(tier, role, part, (index, number), isinstance(content, str))
        self._mark_last(message.get("cache_control"))
        calls = message.get("tool_calls")
        for call in (*(calls if isinstance(calls, list) else ()), message.get("function_call")):
            if isinstance(call, dict):
                self._add(tier, role, "tool_use", call)

    def _mark_last(self, mark: Any) -> None:
        """Replace the last block by a copy with a mark, because requests share blocks."""
        if isinstance(mark, dict) and self.blocks:
            self.blocks[-1] = self.blocks[-1]._replace(ttl=str(mark.get("ttl") or self.ttl))

    def part(
        self,
        tier: Tier,
        role: str,
        part: dict[str, Any],
        place: tuple[int, int] | None = None,
        is_string: bool = False,
    ) -> None:
        self._add(tier, role, kind_of(part), part, place, is_string)

    def _add(
        self,
        tier: Tier,
        role: str,
        kind: str,
        value: dict[str, Any],
        place: tuple[int, int] | None = None,
        is_string: bool = False,
    ) -> None:
        point = value.get("cachePoint")
        if isinstance(point, dict) and len(value) == 1:  # Bedrock: a mark on the block before it
            self._mark_last(point)
            return
        ttl = None
        for holder in mark_holders(kind, value):
            if _MARKS.isdisjoint(holder):
                continue
            for key in MARKS:
                if isinstance(mark := holder.get(key), dict):
                    ttl = str(mark.get("ttl") or self.ttl)
        text = identity(kind, value)
        if self.deferred and kind in _REFERRING:
            names = dict.fromkeys(referenced_tools(value))
            loaded = {name: self.deferred[name] for name in names if name in self.deferred}
            text, self.referenced = "\n".join((text, *loaded.values())), self.referenced | loaded
        # Anthropic refuses a request (error 400) with a mark on an empty text or on a thought.
        empty = kind == "text" and not text
        markable = not empty and kind not in ("thinking", "redacted_thinking")
        opaque = kind != "text" and is_opaque(kind, value)
        self.blocks.append(
            WireBlock(tier, role, kind, text, ttl, markable, place, is_string, opaque=opaque)
        )


def _has_pictures(blocks: Iterable[WireBlock]) -> bool:
    return any(block.kind in PICTURE_KINDS for block in blocks)
