"""A session's requests: those recorded as sent or, if none can be read, one for each reply."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from playground.base.errors import InputFault
from playground.base.json_numbers import dump_again
from playground.cache.answers import as_sent
from playground.cache.answers.cells import CacheSimulation
from playground.cache.answers.known_rules import known_rules
from playground.cache.answers.simulation import simulate_cache
from playground.cache.diagnosis import diagnosis_of
from playground.cache.prefixes import Billed
from playground.cache.prices import price_of
from playground.cache.rules import Rules
from playground.cache.usage import billed_of, cost_of, output_of
from playground.nouns.messages import ImagePart, Message, ReasoningPart, TextPart, ToolCallPart
from playground.nouns.tools import ToolMetadata
from playground.nouns.wire_blocks import WireBlock
from playground.plugins.corpus.signatures import hash_of
from playground.sessions.formats import FORMATS
from playground.sessions.session import RequestRecord, Session
from playground.sessions.stretches import HistoryStretch, stretches

ORIGINS: Final = ("tool", "system", "user", "assistant", "result")  # the order of `sizes`
_CHARACTERS: Final = tuple(f"{name}_characters" for name in ORIGINS)
_NO_REFERENCES: Final = 2  # a version of marshal's format that never depends on objects' identity
_NO_REPLY: Final = RequestRecord(reply=-1)


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request. `reply` is the index of the message that answered it, or None.

    The request of a transcript consists of the first `length` messages of its `stretch` (the
    messages from one compaction to the next, `stretches.py`). One that was recorded as sent has
    no stretch. `tools` and `system` are hashes.
    """

    reply: int | None
    stretch: HistoryStretch | None
    length: int
    sent_at: datetime | None
    model: str
    version: str
    billed: Billed | None
    output: int | None
    sizes: tuple[int, ...]  # characters, by origin
    tools: int
    system: int
    marks: int = 0
    seconds: float | None = None
    stop_reason: str = ""
    diagnosis: str = ""  # the kind of the provider's own diagnosis of its cache

    def characters(self, form: str) -> dict[str, int | None]:
        """Return the sizes in characters, by column of the table of requests.

        `form` is the format of the session's file. If the tools of a transcript are unknown
        (`_holds_tools`), their size is None; then the size of an empty system prompt is None, too.
        """
        sizes: dict[str, int | None] = dict(zip(_CHARACTERS, self.sizes, strict=True))
        if self.stretch is not None and not _holds_tools(form, self.sizes[0]):
            sizes[_CHARACTERS[0]] = None
            sizes[_CHARACTERS[1]] = self.sizes[1] or None
        return sizes

    def billing(self, model: str) -> dict[str, int | None]:
        """Return the bill and its list price by column name; unknown values are None."""
        billed = self.billed
        return {
            "read": billed.read if billed else None,
            "written": billed.write if billed else None,
            "uncached": billed.uncached if billed else None,
            "output": self.output,
            "cost_nano": _cost(billed, self.output or 0, model) if billed else None,
        }


@dataclass(slots=True)
class SeenRequests:
    """A session's requests, and the simulation of their cache if they were recorded as sent."""

    requests: list[SeenRequest] = field(default_factory=list)
    simulation: CacheSimulation | None = None


def sent_requests(session: Session) -> SeenRequests:
    """Return the requests of a session, in their order."""
    simulation = _simulation(session)
    if simulation is None:
        return SeenRequests(list(_requests_of_replies(session)))
    return SeenRequests(list(_requests_of_rows(session, simulation)), simulation)


def _simulation(session: Session) -> CacheSimulation | None:
    if not session.rows:
        return None
    try:
        sent = as_sent.sent_requests(session)
        return simulate_cache(sent.bodies, usages=sent.usages, times=sent.times)
    except InputFault:  # the bodies have an unknown shape, or all belong to a sub-agent
        return None


def _requests_of_replies(session: Session) -> Iterator[SeenRequest]:
    """Yield a request for each reply of a transcript, with the messages of its stretch up to it."""
    records = {record.reply: record for record in session.requests}
    head = _head_sizes(session)
    tools = hash_of("\0".join(sorted(tool.name for tool in session.tools)))
    system = hash_of(session.task.user_agent_prompt)
    for stretch in stretches(session, session.replies):
        sizes, counted = list(head), 0
        for reply, length in zip(stretch.stops, stretch.lengths, strict=True):
            for index in stretch.order[counted:length]:
                _add_sizes(sizes, session.messages[index])
            counted = length
            record = records.get(reply, _NO_REPLY)
            yield SeenRequest(
                reply=reply,
                stretch=stretch,
                length=length,
                sent_at=utc(record.at),
                model=record.model,
                version=record.agent_version,
                billed=billed_of(record.usage),
                output=output_of(record.usage),
                sizes=tuple(sizes),
                tools=tools,
                system=system,
                seconds=record.seconds,
                stop_reason=record.stop_reason,
                diagnosis=_diagnosis(record.diagnostics),
            )


def _requests_of_rows(session: Session, simulation: CacheSimulation) -> Iterator[SeenRequest]:
    """Yield the requests recorded as sent, each with its reply. They get the last replies of the
    session, because the first request's history may hold others. If there are fewer replies than
    requests, the last requests have None."""
    rows = [row for row in session.rows if not row.sub_agent]
    replies = [i for i, message in enumerate(session.messages) if message.role == "assistant"]
    records = {record.reply: record for record in session.requests}
    replied = replies[-len(rows) :] if len(replies) >= len(rows) else replies
    open_end = [None] * (len(rows) - len(replied))
    billed = simulation.billed or [None] * len(rows)
    hashes = _TierHashes()
    for row, sent, bill, reply in zip(
        rows, simulation.row, billed, [*replied, *open_end], strict=True
    ):
        record = records.get(-1 if reply is None else reply, _NO_REPLY)
        usage = (row.reply or {}).get("usage") or (row.reply or {}).get("usageMetadata")
        blocks = sent.wire.blocks
        yield SeenRequest(
            reply=reply,
            stretch=None,
            length=0,
            sent_at=utc(row.at or record.at),
            model=sent.wire.model,
            version=record.agent_version,
            billed=bill or billed_of(record.usage),
            output=output_of(usage or record.usage),
            sizes=_sizes(blocks),
            tools=hashes.of(blocks, "tools"),
            system=hashes.of(blocks, "system"),
            marks=len(sent.marks),
            seconds=row.seconds,
            stop_reason=record.stop_reason,
            diagnosis=_diagnosis(row.reply) or _diagnosis(record.diagnostics),
        )


def _diagnosis(reply: Mapping[str, Any] | None) -> str:
    """Return the kind of the provider's own diagnosis, or "" if there is none."""
    diagnosis = diagnosis_of(reply)
    return diagnosis.kind if diagnosis else ""


def utc(text: str) -> datetime | None:
    """Return a session's time in UTC without a zone, as the tables have it, or None. A time without
    a zone is in UTC already."""
    try:
        time = datetime.fromisoformat(text)
        return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    except (ValueError, OverflowError):
        return None


def _head_sizes(session: Session) -> tuple[int, ...]:
    tools = sum(map(_tool_size, session.tools))
    prompts = (session.task.user_agent_prompt, session.task.user_prompt)
    return tools, sum(map(len, prompts)), 0, 0, 0


def _tool_size(tool: ToolMetadata) -> int:
    try:
        schema = _json_size(marshal.dumps(tool.input_schema, _NO_REFERENCES))
    except ValueError:  # a value that marshal cannot write
        schema = len(dump_again(tool.input_schema))
    return len(tool.name) + len(tool.description) + schema


@lru_cache(maxsize=512)
def _json_size(dumped: bytes) -> int:
    """Return the JSON size of a marshalled value; cached, because sessions share tools."""
    return len(dump_again(marshal.loads(dumped)))


def _add_sizes(sizes: list[int], message: Message) -> None:
    for part in message.parts:
        match part:
            case TextPart(text=text) | ReasoningPart(text=text):
                sizes[_ORIGIN_INDEX.get(message.role, 2)] += len(text)
            case ToolCallPart(tool_name=name, args=args):
                sizes[3] += len(name) + len(dump_again(args))
            case ImagePart():
                pass  # an image's characters say nothing about its tokens
            case _:
                result = part.result
                sizes[4] += len(result if isinstance(result, str) else dump_again(result))


_ORIGIN_INDEX: Final = {"system": 1, "user": 2, "assistant": 3, "tool": 4}  # by a message's role


def _sizes(blocks: Iterable[WireBlock]) -> tuple[int, ...]:
    sizes = [0] * len(ORIGINS)
    for block in blocks:
        if block.tier != "messages":
            sizes[0 if block.tier == "tools" else 1] += len(block.text)
        else:
            is_result = block.kind == "tool_result"
            sizes[4 if is_result else 2 if block.role == "user" else 3] += len(block.text)
    return tuple(sizes)


class _TierHashes:
    """A cache of the hashes of tiers (tools, system prompt, messages). A tier with the same texts
    as in the previous request is not hashed again."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[list[str], int]] = {}

    def of(self, blocks: Sequence[WireBlock], tier: str) -> int:
        """Return the hash of the texts of a tier's blocks."""
        texts = [block.text for block in blocks if block.tier == tier]
        if tier not in self._last or self._last[tier][0] != texts:
            self._last[tier] = texts, hash_of("\0".join(texts))
        return self._last[tier][1]


def _holds_tools(form: str, tool_characters: int) -> bool:
    """Return True if the tools of a transcript are known. They are not if its format (`form`) keeps
    only their names, nor if it keeps no tools and the transcript has none (`tool_characters`)."""
    support = _tool_support(form)
    return support != "by name" and (support != "no" or tool_characters > 0)


@lru_cache(maxsize=256)
def _tool_support(form: str) -> str:
    return next((format.keeps.tools for format in FORMATS if format.name == form), "yes")


@lru_cache(maxsize=256)
def rules_for(model: str) -> Rules:
    """Return the caching rules of a model."""
    return known_rules("", model)


def _cost(billed: Billed, output: int, model: str) -> int | None:
    """Return the list price of a bill in billionths of a dollar, or None if no price is known."""
    price, rules = price_of(model), rules_for(model)
    if price is None:
        return None
    cost = cost_of(billed, rules, model)
    return price.nano_dollars(cost) + output * (price.output or 0) // 1000
