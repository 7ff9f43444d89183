"""Answers as rows of plain values, under the names of the glossary.

Frames and --csv have exactly these rows. --json has them, too, unless a command has a form of its
own. An unknown value is None. pandas is never imported here, so that commands start fast.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from playground.base.display import draws
from playground.base.findings import Finding
from playground.nouns.events import Event, Span, event_name
from playground.nouns.messages import Part, ToolCallPart, ToolResultPart
from playground.show.glossary import title, written

if TYPE_CHECKING:  # a command has one kind of answer; importing those of all takes 0.1 s
    from playground.cache.answers.cells import CacheSimulation
    from playground.cache.answers.placement import CachePlacement
    from playground.cache.answers.wire import CacheWire
    from playground.cache.simulated import Simulated
    from playground.dialects.models import DialectChoice
    from playground.parsing.result import ParseResult
    from playground.questions.carry import CarryMatrix
    from playground.questions.comparison import Column, Comparison
    from playground.questions.detection import Detection
    from playground.questions.experiments import CrossReading, EventChange
    from playground.questions.provider_payload import ProviderPayload
    from playground.questions.raw_prompt import RawPrompt
    from playground.questions.timeline import Timeline
    from playground.questions.tool_schemas import Portability, ToolCosts
    from playground.questions.versions import VersionDiff
    from playground.questions.versions.costs import PrefixCost
    from playground.questions.versions.matching import BlockChange
    from playground.recordings.recording import Recording
    from playground.servers import ServerReading
    from playground.sessions.receipts.receipt import Receipt
    from playground.sessions.session import Session
    from playground.tokens.count import TokenCount


class AnswerRows(NamedTuple):
    """A table: the names of its columns, in order, and its cells."""

    columns: Sequence[str]
    cells: Sequence[Sequence[Any]]

    def dicts(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.cells]

    def only(self, *columns: str) -> AnswerRows:
        """Return the table with only these columns, in this order."""
        places = [list(self.columns).index(name) for name in columns]
        return AnswerRows(columns, [[row[at] for at in places] for row in self.cells])

    def without(self, *columns: str) -> AnswerRows:
        return self.only(*(name for name in self.columns if name not in columns))

    def texts(self) -> tuple[list[str], list[list[str]]]:
        """Return titles and cells for people."""
        cells = [list(map(written, self.columns, row)) for row in self.cells]
        return [title(name) for name in self.columns], cells


def rows_of(columns: str, cells: Iterable[Sequence[Any]]) -> AnswerRows:
    """Return a table; `columns` are the names with blanks between them."""
    return AnswerRows(columns.split(), list(cells))


def from_dicts(rows: Sequence[Mapping[str, Any]]) -> AnswerRows:
    """Return the table of mappings that all have the same keys."""
    return AnswerRows(list(rows[0]) if rows else [], [list(row.values()) for row in rows])


@draws("rows", "playground.questions.comparison.Comparison")
def comparison(value: Comparison, with_tokens: bool = False) -> AnswerRows:
    """Return a row for each dialect, with the characters of each kind of text."""
    kinds = list(dict.fromkeys(kind for column in value.columns for kind in column.characters))
    counted = ["tokens", "tokens_kind", "tokens_low", "tokens_high"] if with_tokens else []
    names = [f"{kind.replace(' ', '_')}_characters" for kind in kinds]
    columns = ["dialect", "messages", "characters", *counted, *names, "findings"]
    return AnswerRows(columns, [_column(column, kinds, with_tokens) for column in value.columns])


def _column(column: Column, kinds: Sequence[str], with_tokens: bool) -> list[Any]:
    sizes = column.characters
    count = column.tokens if with_tokens else None
    return [
        column.dialect.name,
        len(column.rendering.messages),
        sum(sizes.values()),
        *([count.tokens, count.kind, *count.range] if count else []),
        *(sizes.get(kind, 0) for kind in kinds),
        len(column.findings),
    ]


def dropped_facts(column: Column) -> AnswerRows:
    """Return a row for each fact of the tools' schemas that a dialect's prompt leaves out."""
    dropped = [fact for fact in column.schema_facts if not fact.kept]
    cells = [(fact.tool, fact.where, fact.keyword, fact.kind) for fact in dropped]
    return rows_of("tool where keyword kind", cells)


def payload_differences(payloads: Mapping[str, ProviderPayload]) -> AnswerRows:
    """Return a row for each difference between what a provider gets and what was rendered."""
    same = [Finding("as rendered", "info", "", "nothing is different")]
    cells = [
        (name, difference.code, difference.where, difference.message)
        for name, payload in payloads.items()
        for difference in payload.grouped or same
    ]
    return rows_of("provider code where message", cells)


@draws("rows", "playground.questions.provider_payload.ProviderPayload")
def differences(value: ProviderPayload) -> AnswerRows:
    """Return a row for each difference between what is sent and what was rendered."""
    return findings(value.grouped)


@draws("rows", "playground.questions.raw_prompt.RawPrompt")
def warnings(value: RawPrompt) -> AnswerRows:
    """Return a row for each warning of the chat template."""
    return findings(value.findings)


def findings(listed: Sequence[Finding]) -> AnswerRows:
    """Return a row for each finding."""
    cells = [(each.code, each.severity, each.where, each.message) for each in listed]
    return rows_of("code severity where message", cells)


@draws("rows", "playground.questions.carry.CarryMatrix")
def carry(value: CarryMatrix) -> AnswerRows:
    """Return a row for each value in each dialect: a finding's code, or "" if it is carried."""
    cells = [
        (name, dialect, found[0].code if (found := value.cells[dialect, name]) else "")
        for name in value.values
        for dialect in value.dialects
    ]
    return rows_of("value dialect finding", cells)


def carry_totals(value: CarryMatrix) -> AnswerRows:
    """Return a row for each dialect: the number of carried values, and the refused values."""
    count = len(value.values)
    cells = [
        (dialect, len(value.carried(dialect)), count, ", ".join(value.refused(dialect)))
        for dialect in value.dialects
    ]
    return rows_of("dialect carried_values tried_values refused_values", cells)


def placements(values: Sequence[CachePlacement]) -> AnswerRows:
    """Return a row for each dialect: the number of marks, or why there are none."""
    cells = [
        (
            value.dialect,
            len(value.marks),
            value.characters,
            value.refusal.explanation if value.refusal else "",
        )
        for value in values
    ]
    return rows_of("dialect marks characters refusal", cells)


@draws("rows", "playground.cache.answers.placement.CachePlacement")
def placement(value: CachePlacement) -> AnswerRows:
    """Return a row for each part of a message."""
    cells = [
        (
            part.message,
            part.part,
            part.role,
            len(part.text),
            part.decision.marked,
            part.decision.reason,
            part.decision.explanation,
        )
        for part in value.parts
    ]
    return rows_of("message_index part role characters marked reason explanation", cells)


def calls(result: ParseResult) -> AnswerRows:
    """Return a row for each call: its arguments as JSON, or their raw text if it was aborted."""
    cells: list[Sequence[Any]] = []
    for call in result.tool_calls:
        cells.append((call.name, True, json.dumps(call.arguments, ensure_ascii=False)))
    for aborted in result.aborted:
        cells.append((aborted.name or "", False, "".join(text for _, text in aborted.raw)))
    return rows_of("call complete arguments", cells)


@draws("rows", "playground.questions.detection.Detections")
def detections(listed: Sequence[Detection]) -> AnswerRows:
    """Return a row for each dialect: how it reads a reply, the likeliest dialect first."""
    return rows_of("dialect calls reason", [(d.dialect, d.calls, d.reason) for d in listed])


def changes(listed: Sequence[EventChange]) -> AnswerRows:
    """Return a row for each event that only one of two readings has."""
    from playground.questions.experiments import change_words

    return rows_of("change event span text", map(change_words, listed))


def cross_readings(readings: Sequence[CrossReading]) -> AnswerRows:
    """Return a row for each dialect: its reading of a recording."""
    names = [re.sub(r"\W", "_", server) for server in readings[0].servers] if readings else []
    head = (
        "dialect calls same_calls aborted_calls text_characters markup_characters "
        "argument_characters findings"
    )
    cells = [
        (
            row.dialect,
            row.calls,
            row.same_calls,
            row.aborted,
            row.text,
            row.markup,
            row.arguments,
            sum(row.findings.values()),
            *row.servers.values(),
        )
        for row in readings
    ]
    return AnswerRows([*head.split(), *(f"{name}_drops_characters" for name in names)], cells)


@draws("rows", "playground.parsing.result.ParseResult")
def reading(value: ParseResult) -> AnswerRows:
    """Return a row for each event of a reply, in order."""
    return events(value.events)


def events(listed: Sequence[Event]) -> AnswerRows:
    """Return a row for each of these events."""
    return rows_of("event start stop text", map(_event, listed))


def _event(event: Event) -> Sequence[Any]:
    from playground.show.wire import event_text

    return event_name(event), event.span.start, event.span.stop, event_text(event)


@draws("rows", "playground.questions.timeline.Timeline")
def timeline(value: Timeline) -> AnswerRows:
    """Return a row for each event, in order, with the step of its chunk. With a server, add its
    name and the kind of event that it delivers, or `dropped`."""
    listed = [
        (index, step, event) for index, step in enumerate(value.steps) for event in step.events
    ]
    cells: list[Sequence[Any]] = [(n, step.at, *_event(event)) for n, step, event in listed]
    head = "step at_seconds event start stop text"
    if value.server is None:
        return rows_of(head, cells)
    handed = _handed_as([event.span for _, _, event in listed], value.server)
    name = value.server.name
    cells = [(*row, name, words) for row, words in zip(cells, handed, strict=True)]
    return rows_of(f"{head} server handed_as", cells)


def _handed_as(spans: Sequence[Span], reading: ServerReading) -> Iterator[str]:
    """Yield for each span the kinds of the server's events that overlap it, each kind once."""
    dropped = {id(event) for event in reading.dropped}
    events = [event for event in reading.events if event.span.start < event.span.stop]
    starts, stops = ([getattr(e.span, edge) for e in events] for edge in ("start", "stop"))
    for start, stop in spans:
        over = events[bisect_right(stops, start) : bisect_left(starts, stop)]
        names = ["dropped" if id(each) in dropped else event_name(each) for each in over]
        yield ", ".join(dict.fromkeys(names)) if start < stop else ""


def _costs(cell: CacheSimulation) -> tuple[float, float, float | None]:
    return cell.read_permille / 1000, cell.cost_permille / 1000, _in_dollars(cell.nano_dollars)


def _in_dollars(nano: int | None) -> float | None:
    return None if nano is None else nano / 1e9


@draws("rows", "playground.cache.answers.cells.CacheMatrix")
def cache_matrix(cells: Sequence[CacheSimulation]) -> AnswerRows:
    """Return a row for each dialect and policy: the share of input that is read, and the cost;
    neither if the provider refuses a request. Dollars are None if the price is unknown."""
    rows = [
        (
            cell.dialect,
            cell.policy,
            *((None, None, None) if cell.errors else _costs(cell)),  # refused: it costs nothing
            len(cell.requests),
            len(cell.breaks),
            len(cell.findings),
            "; ".join(cell.errors),
        )
        for cell in cells
    ]
    head = "dialect policy read_share cost_share dollars requests cache_breaks findings refusal"
    return rows_of(head, rows)


WORDS = ("predicted", "billed", "told_by_provider")  # columns of texts: see `three_answers`


@draws("rows", "playground.cache.answers.cells.CacheSimulation")
def cache_requests(cell: CacheSimulation) -> AnswerRows:
    """Return a row for each request: its tokens by price, its cost, its state, and the reason."""
    billed = (
        ["billed_read_tokens", "billed_written_tokens", "billed_full_price_tokens", "paid_share"]
        if any(cell.billed)  # empty columns would suggest that nothing was billed
        else []
    )
    answer_words = WORDS if any(cell.diagnoses) else ()
    paid = "request read_tokens written_tokens full_price_tokens cost_share dollars"
    head = f"{paid} tokens_low tokens_high".split()
    cells = [
        (
            number + 1,
            *_parts_paid(one),
            None if one.state == "error" else _in_dollars(cell.nano_of(number, one.cost)),
            *sent.total_range,
            *(_bill(cell, number) if billed else ()),
            *(cell.three_answers(number) if answer_words else ()),
            one.state,
            cell.why(number),
        )
        for number, (one, sent) in enumerate(zip(cell.requests, cell.row, strict=True))
    ]
    return AnswerRows([*head, *billed, *answer_words, "state", "reason"], cells)


def _parts_paid(one: Simulated) -> Sequence[float | None]:
    if one.state == "error":  # a refused request costs nothing
        return (None, None, None, None)
    share = one.cost / 1000 / one.total if one.total else 1.0
    return one.read, sum(one.written.values()), one.uncached, share


def _bill(cell: CacheSimulation, number: int) -> Sequence[float | None]:
    bill = cell.billed[number]
    if not bill:
        return (None, None, None, None)
    share = cell.paid.shares[number] if cell.paid else None
    return bill.read, bill.write, bill.uncached, None if share is None else share / 1000


@draws("rows", "playground.cache.answers.wire.CacheWire")
def wire(value: CacheWire) -> AnswerRows:
    """Return a row for each block that is sent."""
    cells = [
        (name, block.tier, block.role, block.kind, len(block.text), block.ttl or "")
        for name, blocks in (("cached", value.cached), ("sent", value.sent))
        for block in blocks
    ]
    return rows_of("sent_as tier role kind characters mark_lifetime", cells)


@draws("rows", "playground.questions.tool_schemas.ToolCosts")
def tool_costs(value: ToolCosts) -> AnswerRows:
    """Return, for each tool and their total, a row for each model, dialect and smaller schema."""
    cells = [
        (cost.tool, by, name, tokens)
        for cost in [*value.tools, value.total]
        for by, sizes in (
            ("model", cost.by_model),
            ("dialect", cost.by_dialect),
            ("smaller schema", cost.shorter),
        )
        for name, tokens in sizes.items()
    ]
    return rows_of("tool by name tokens", cells)


@draws("rows", "playground.questions.tool_schemas.Portability")
def portability(value: Portability) -> AnswerRows:
    """Return a row for each finding about a tool's schema at a provider."""
    cells = [
        (row.title, found.where, found.code, found.message)
        for row in value.rows
        for found in row.findings
    ]
    return rows_of("target where code message", cells)


@draws("rows", "playground.questions.versions.difference.VersionDiff")
def versions(value: VersionDiff) -> AnswerRows:
    """Return a row for each block, in the second version's order."""
    return blocks(value.changes)


def blocks(listed: Sequence[BlockChange]) -> AnswerRows:
    """Return a row for each of these blocks: its change, its tokens before and after."""
    head = "change tier block writer tokens_before tokens_after more_tokens note"
    return rows_of(head, map(_block, listed))


def _block(change: BlockChange) -> Sequence[Any]:
    before, after = change.tokens
    return (
        change.kind,
        change.tier,
        change.block.name,
        change.block.writer,
        before if change.before else None,
        after if change.after else None,
        after - before,
        change.note,
    )


def writers(value: VersionDiff) -> AnswerRows:
    """Return a row for each writer (dialect, user, tool …): its tokens before and after."""
    cells = [(name, old, new, new - old) for name, (old, new) in value.by_writer.items()]
    return rows_of("writer tokens_before tokens_after more_tokens", cells)


def version_costs(costs: Sequence[PrefixCost]) -> AnswerRows:
    """Return a row for each provider: the tokens that the first version leaves in its cache, those
    that the second reads from it, and the cost of the tokens paid again."""
    head = (
        "provider left_tokens read_tokens paid_again_tokens dollars difference reason marks state "
        "assumption"
    )
    cells = [
        (
            cost.title,
            cost.cached_before,
            cost.read,
            cost.lost,
            _in_dollars(cost.nano_dollars),
            cost.parts.sentence if cost.parts else "",
            cost.reason,
            cost.marks,
            cost.state,
            cost.assumption,
        )
        for cost in costs
    ]
    return rows_of(head, cells)


@draws("rows", "playground.sessions.receipts.receipt.Receipt")
def receipt(value: Receipt) -> AnswerRows:
    """Return a row for each kind of content that is in no session: its place in the file (without
    line and item numbers), its kind, and the reason. Silent losses come first, then the longest."""
    cells = [
        (row.path, row.kind, row.times, row.characters, row.reason, row.first.text[:200])
        for row in value.by_path
    ]
    return rows_of("path kind times characters why text", cells)


@draws("rows", "playground.questions.comparison.Column")
def column(value: Column) -> AnswerRows:
    """Return a row for each block of the request: its origin, its kind, its size and its text."""
    cells = [(each.origin, each.kind, len(each.text), each.text) for each in value.blocks]
    return rows_of("origin kind characters text", cells)


@draws("rows", "playground.questions.comparison.LineDiff")
def line_diff(value: Iterable[tuple[str, str]]) -> AnswerRows:
    return rows_of("change text", value)


@draws("rows", "playground.recordings.recording.Recording")
def recording(value: Recording) -> AnswerRows:
    """Return a row for each chunk."""
    from playground.recordings.feeding import describe_chunk

    cells = [(chunk.at, *describe_chunk(chunk)) for chunk in value.chunks]
    return rows_of("at_seconds kind text", cells)


@draws("rows", "playground.sessions.session.Session")
def session(value: Session) -> AnswerRows:
    """Return a row for each part of each message."""
    cells = [
        (index, message.role, part.type, _part_text(part))
        for index, message in enumerate(value.messages)
        for part in message.parts
    ]
    return rows_of("message_index role kind text", cells)


def _part_text(part: Part) -> str:
    match part:
        case ToolCallPart():
            return f"{part.tool_name} {json.dumps(part.args, ensure_ascii=False)}"
        case ToolResultPart():
            return f"{part.tool_name}: {part.result}"
    return str(getattr(part, "text", ""))


@draws("rows", "playground.dialects.models.DialectChoice")
def dialect_choice(value: DialectChoice) -> AnswerRows:
    """Return one row: the model's dialect, or if unknown the nearest one, and the reason."""
    return rows_of("dialect nearest reason", [(value.dialect or "", value.nearest, value.reason)])


@draws("rows", "playground.tokens.count.TokenCount")
def tokens(value: TokenCount) -> AnswerRows:
    """Return a row for the total, by its kind, and for each origin, tool and message."""
    cells = [
        (by, str(name), size)
        for by, sizes in (
            ("total", {value.kind: value.tokens}),
            ("origin", value.by_origin),
            ("tool", value.by_tool),
            ("message", value.by_message),
        )
        for name, size in sizes.items()
    ]
    return rows_of("by name tokens", cells)
