"""Values as pandas tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from playground.base.display import draws
from playground.base.findings import Finding
from playground.cache.answers.cells import CacheMatrix, CacheSimulation
from playground.cache.answers.placement import CachePlacement
from playground.cache.answers.wire import CacheWire
from playground.dialects.schema_losses import kept_by_kind
from playground.lab.guides import Guide
from playground.nouns.events import event_name
from playground.parsing.result import ParseResult
from playground.questions.carry import CarryMatrix
from playground.questions.comparison import Column, Comparison
from playground.questions.detection import Detection, Detections
from playground.questions.experiments import change_words
from playground.questions.provider_payload import ProviderPayload
from playground.questions.timeline import Timeline
from playground.show.chat_template_frames import findings
from playground.show.compaction_frames import compaction as compaction
from playground.show.receipt_frames import receipt as receipt
from playground.show.tool_frames import tool_costs as tool_costs
from playground.show.trial_frames import trial as trial  # registered with the others
from playground.show.version_frames import versions as versions
from playground.show.wire import WIRE_HEAD, event_text, wire_rows

if TYPE_CHECKING:
    from playground.cache.rules import Rules
    from playground.dialects.raw_prompts import LlamaFormat
    from playground.nouns.events import Event
    from playground.questions.experiments import CrossReading, EventChange


ANSWERS = ["predicted", "billed", "told by the provider"]  # columns on the tokens that were read


@draws("frame", Comparison)
def comparison(value: Comparison) -> pd.DataFrame:
    """Return a row for each dialect, with the characters of each kind of text."""
    rows = [
        {
            "dialect": column.dialect.name,
            "messages": len(column.rendering.messages),
            "characters": sum(column.characters.values()),
            **column.characters,
            "findings": len(column.findings),
        }
        for column in value.columns
    ]
    frame = pd.DataFrame(rows).fillna(0)  # for kinds of text that only other dialects have
    numbers = frame.columns.drop("dialect")
    frame[numbers] = frame[numbers].astype(int)
    return frame


def schema_losses(value: Comparison) -> pd.DataFrame:
    """Return a row for each dialect: how many facts of the tools' schemas it keeps, by kind."""
    return pd.DataFrame(
        [{"dialect": c.dialect.name, **kept_by_kind(c.schema_facts)} for c in value.columns]
    )


def dropped_facts(column: Column) -> pd.DataFrame:
    """Return a row for each fact of the tools' schemas that a dialect's prompt leaves out."""
    head = ["tool", "parameter", "keyword", "kind"]
    dropped = [fact for fact in column.schema_facts if not fact.kept]
    rows = [[fact.tool, fact.where, fact.keyword, fact.kind] for fact in dropped]
    return pd.DataFrame(rows, columns=head)


def payload_differences(found: Mapping[str, ProviderPayload]) -> pd.DataFrame:
    """Return a row for each difference between what a provider gets and what was rendered."""
    rows = [
        {
            "sent to": name,
            "what": difference.code,
            "where": difference.where,
            "how": difference.message,
        }
        for name, payload in found.items()
        for difference in payload.grouped
        or [Finding("as rendered", "info", "", "nothing is different")]
    ]
    return pd.DataFrame(rows)


@draws("frame", ProviderPayload)
def differences(value: ProviderPayload) -> pd.DataFrame:
    """Return a row for each difference between what is sent and what was rendered."""
    return findings(value.grouped)


@draws("frame", CarryMatrix)
def carry(value: CarryMatrix) -> pd.DataFrame:
    """Return a row for each value and a column for each dialect: "carried", or a finding's code."""
    rows = [
        {
            "value": name,
            **{
                dialect: value.cells[dialect, name][0].code
                if value.cells[dialect, name]
                else "carried"
                for dialect in value.dialects
            },
        }
        for name in value.values
    ]
    return pd.DataFrame(rows, columns=["value", *value.dialects])


def placements(values: Sequence[CachePlacement]) -> pd.DataFrame:
    """Return a row for each dialect: how many marks, and why there are none."""
    rows = [
        {
            "dialect": value.dialect,
            "marks": len(value.marks),
            "characters": value.characters,
            "nothing marked because": value.refusal.explanation if value.refusal else "",
        }
        for value in values
    ]
    return pd.DataFrame(rows)


@draws("frame", CachePlacement)
def placement(value: CachePlacement) -> pd.DataFrame:
    """Return a row for each part of a message."""
    rows = [
        {
            "message": part.message,
            "part": part.part,
            "role": part.role,
            "characters": len(part.text),
            "marked": part.decision.marked,
            "reason": part.decision.reason,
            "explanation": part.decision.explanation,
        }
        for part in value.parts
    ]
    columns = ["message", "part", "role", "characters", "marked", "reason", "explanation"]
    return pd.DataFrame(rows, columns=columns)


def calls(result: ParseResult) -> pd.DataFrame:
    """Return a row for each call: its arguments as JSON, or their raw text if it was aborted."""
    columns = ["call", "complete", "arguments"]
    rows: list[list[object]] = []
    for call in result.tool_calls:
        rows.append([call.name, True, json.dumps(call.arguments, ensure_ascii=False)])
    for aborted in result.aborted:
        rows.append([aborted.name or "", False, "".join(text for _, text in aborted.raw)])
    return pd.DataFrame(rows, columns=columns)


@draws("frame", Detections)
def detections(found: Sequence[Detection]) -> pd.DataFrame:
    """Return a row for each dialect, the likeliest first."""
    rows = [{"dialect": d.dialect, "calls": d.calls, "reason": d.reason} for d in found]
    return pd.DataFrame(rows, columns=["dialect", "calls", "reason"])


def changes(found: Sequence[EventChange]) -> pd.DataFrame:
    """Return a row for each event that only one of two readings has."""
    columns = ["change", "event", "span", "text"]
    return pd.DataFrame([change_words(change) for change in found], columns=columns)


def cross_readings(rows: Sequence[CrossReading]) -> pd.DataFrame:
    """Return a row for each dialect: what it reads of one recording."""
    return pd.DataFrame(
        [
            {
                "dialect": row.dialect,
                "calls": row.calls,
                "same calls": row.same_calls,
                "aborted": row.aborted,
                "text": row.text,
                "markup": row.markup,
                "arguments": row.arguments,
                "findings": ", ".join(f"{code} {n}" for code, n in row.findings.items()),
                **{f"{server} drops": count for server, count in row.servers.items()},
            }
            for row in rows
        ]
    )


@draws("frame", Guide)
def guide_summary(value: Guide) -> pd.DataFrame:
    """Return a row for each fact of the dialect, with line breaks as ↵."""
    rows = [{"fact": name, "value": text.replace("\n", "↵")} for name, text in value.summary()]
    return pd.DataFrame(rows, columns=["fact", "value"])


def special_tokens(value: LlamaFormat) -> pd.DataFrame:
    """Return a row for each token of a raw format, with its meaning."""
    rows = [{"token": token, "meaning": meaning} for token, meaning in value.tokens.items()]
    return pd.DataFrame(rows, columns=["token", "meaning"])


@draws("frame", ParseResult)
def reading(value: ParseResult) -> pd.DataFrame:
    """Return a row for each event of a reply, in order."""
    return events(value.events)


def events(listed: Sequence[Event]) -> pd.DataFrame:
    """Return a row for each of these events."""
    rows = [
        {
            "event": event_name(event),
            "start": event.span.start,
            "stop": event.span.stop,
            "text": event_text(event),
        }
        for event in listed
    ]
    return pd.DataFrame(rows, columns=["event", "start", "stop", "text"])


@draws("frame", Timeline)
def timeline(value: Timeline) -> pd.DataFrame:
    """Return a row for each event, in order, with the step that it came from."""
    rows = [
        {
            "step": index,
            "at": step.at,
            "event": event_name(event),
            "start": event.span.start,
            "stop": event.span.stop,
            "text": event_text(event),
        }
        for index, step in enumerate(value.steps)
        for event in step.events
    ]
    return pd.DataFrame(rows, columns=["step", "at", "event", "start", "stop", "text"])


@draws("frame", CacheMatrix)
def cache_matrix(cells: Sequence[CacheSimulation]) -> pd.DataFrame:
    """Return a row for each dialect and policy: shares of all input, and of its full price."""
    rows = [
        {
            "dialect": cell.dialect,
            "policy": cell.policy,
            "read share": cell.read_permille / 1000,
            "cost": cell.cost_permille / 1000,
            "requests": len(cell.requests),
            "cache breaks": len(cell.breaks),
            "findings": len(cell.findings),
            "refused because": "; ".join(cell.errors),
        }
        for cell in cells
    ]
    return pd.DataFrame(rows)


def cost_matrix(cells: Sequence[CacheSimulation]) -> pd.DataFrame:
    """Return the cost of all input as a share of its full price: dialects by policies.

    It is NaN if the provider would refuse the requests.
    """
    costs: dict[str, dict[str, float]] = {}
    for cell in cells:
        cost = float("nan") if cell.errors else cell.cost_permille / 1000
        costs.setdefault(cell.policy, {})[cell.dialect] = cost
    return pd.DataFrame(costs)


@draws("frame", CacheSimulation)
def cache_requests(cell: CacheSimulation) -> pd.DataFrame:
    """Return a row for each request: tokens read, written and paid in full, its cost, and why."""
    rows = [
        {
            "request": number,
            "read": one.read,
            "written": sum(one.written.values()),
            "full price": one.uncached,
            "cost": one.cost / 1000 / one.total if one.total else 1.0,
            "tokens from": sent.token_range(one.total)[0],
            "to": sent.token_range(one.total)[1],
            **_bill_columns(cell, number - 1),
            **_provider_statement(cell, number - 1),
            "state": one.state,
            "reason": cell.why(number - 1),
        }
        for number, (one, sent) in enumerate(zip(cell.requests, cell.row, strict=True), 1)
    ]
    return pd.DataFrame(rows)


def _provider_statement(cell: CacheSimulation, number: int) -> dict[str, str]:
    """Return three columns in words, if the provider said anything: predicted, billed, told."""
    if not any(cell.told):
        return {}
    return dict(zip(ANSWERS, cell.three_answers(number), strict=True))


def _bill_columns(cell: CacheSimulation, number: int) -> dict[str, float | None]:
    """Return the columns of billed tokens, if any request has a bill."""
    # Without any bill, three empty columns would look as if nothing was billed.
    if not any(cell.billed):
        return {}
    bill = cell.billed[number]
    figures = (bill.read, bill.write, bill.uncached) if bill else (None, None, None)
    share = cell.paid.shares[number] if cell.paid and bill else None
    return {
        **dict(zip(("billed read", "billed written", "billed full price"), figures, strict=True)),
        "paid": None if share is None else share / 1000,
    }


def rules(value: Rules) -> pd.DataFrame:
    """Return a row for each rule of a provider: value, source and date, and conflicting sources."""
    rows = [
        {
            "rule": name.replace("_", " "),
            "value": json.dumps(rule.value, ensure_ascii=False),
            "note": rule.note,
            "source": rule.source,
            "date": rule.seen,
            "others say": "; ".join(
                f"{json.dumps(other.value, ensure_ascii=False)} ({other.source}, {other.seen})"
                for other in rule.conflicts
            ),
        }
        for name, rule in value.rules.items()
    ]
    return pd.DataFrame(rows)


@draws("frame", CacheWire)
def wire(value: CacheWire) -> pd.DataFrame:
    """Return a row for each block that is sent."""
    return pd.DataFrame(wire_rows(value), columns=WIRE_HEAD)
