"""Print the answers of the cache commands: tables or JSON. Each function returns the exit
status.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from playground.base.wording import counted, grouped, percent
from playground.cli.shared import in_dialects
from playground.cli.terminal import print_json, report, say, table

if TYPE_CHECKING:
    from playground.cache.answers.cells import CacheSimulation
    from playground.cache.answers.placement import CachePlacement
    from playground.cache.prefixes import Billed
    from playground.cache.validation import Validation, ValidationRow
    from playground.dialects import Dialect
    from playground.dialects.marks.policies import Policy
    from playground.sessions.session import Session

_NAMED = 3  # of the names of a folded row


def simulated(cells: Sequence[CacheSimulation], as_json: bool, folded: bool = False) -> int:
    """Return a matrix; of one cell every request, and its findings. `folded` has one line for what
    is told of several dialects and policies alike.
    """
    from playground.cache.answers.headline import billed
    from playground.show.wire import simulation_json

    refused = int(any(cell.errors for cell in cells))
    if as_json:
        print_json([simulation_json(cell) for cell in cells])
        return refused
    if len(cells) == 1:
        return max(refused, _requests(cells[0]))
    if bill := billed(cells[0]):
        say(bill)
    rows = [[cell.dialect, cell.policy, *_figures(cell)] for cell in cells]
    found = _folded(rows) if folded else rows
    table(["dialect", "policy", "read", "cost", "findings", "refused because"], found)
    if len(found) < len(rows):
        say("-d NAME has a line for each policy, -d NAME --policy NAME one for each request")
    return refused


def _figures(cell: CacheSimulation) -> list[str]:
    return [
        percent(cell.read_permille / 1000),
        grouped(cell.cost_permille / 1000, 2),
        str(len(cell.findings)),
        "; ".join(cell.errors),
    ]


def _folded(rows: Sequence[list[str]]) -> list[list[str]]:
    """Return the rows of a dialect with the same figures as one, and then those of dialects that
    have all of them alike; in the order in which they first stand.
    """
    alike: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for dialect, policy, *figures in rows:
        alike.setdefault(dialect, {}).setdefault(tuple(figures), []).append(policy)
    dialects: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for dialect, by_figures in alike.items():
        told = tuple((_some(names), *figures) for figures, names in by_figures.items())
        dialects.setdefault(told, []).append(dialect)
    return [[_some(names), *row] for told, names in dialects.items() for row in told]


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _requests(cell: CacheSimulation) -> int:
    from playground.cache.answers.headline import billed
    from playground.cache.rules.age import aged

    head = ["request", "read", "written", "full price", "cost", "state"]
    bills = ["billed", "paid"] if any(cell.billed) else []
    told = ["told by the provider"] if any(cell.told) else []
    if bill := billed(cell):
        say(bill)
    rows = [_request(cell, number, bool(bills)) for number in range(len(cell.requests))]
    table([*head, *bills, *told, "reason"], rows)
    say(
        f"{_in(cell.dialect)}policy {cell.policy}, rules of {cell.provider}: "
        f"{percent(cell.read_permille / 1000)} read from the cache, "
        f"input costs {grouped(cell.cost_permille / 1000, 2)} of its full price"
    )
    for line in aged(cell.origins, date.today()):
        say(line)
    return report(cell.findings)


def _request(cell: CacheSimulation, number: int, with_bill: bool) -> list[str]:
    one = cell.requests[number]
    cells = [
        str(number + 1),
        f"{one.read:,}",
        f"{sum(one.written.values()):,}",
        f"{one.uncached:,}",
        grouped(one.cost / max(1, one.total) / 1000, 2),
        one.sureness,
    ]
    if with_bill:
        bill = cell.billed[number]
        share = cell.paid.shares[number] if cell.paid and bill else None
        cells.append(_bill(bill) if bill else "")
        cells.append("" if share is None else grouped(share / 1000, 2))
    told = [str(cell.told[number] or "")] if any(cell.told) else []
    return [*cells, *told, cell.why(number)]


def _bill(bill: Billed) -> str:
    hour = f" ({bill.write_hour:,} for 1h)" if bill.write_hour else ""
    return f"{bill.read:,} / {bill.write:,}{hour} / {bill.uncached:,}"


def checked(found: CacheSimulation, failed: list[str], as_json: bool) -> None:
    """The limits that are passed, or what the input costs."""
    from playground.cache.answers.headline import billed

    if as_json:
        from playground.show.wire import simulation_json

        print_json({"failures": failed, **simulation_json(found)})
        return
    if bill := billed(found):
        say(bill)
    for line in failed:
        say(line)
    if not failed:
        cost = f"{grouped(found.cost_permille / 1000, 2)} of its full price"
        say(f"input costs {cost} ({_in(found.dialect)}policy {found.policy})")


def placed(
    session: Session,
    dialects: tuple[str, ...],
    rules: str | None,
    policy: str | Policy,
    as_json: bool,
) -> int:
    """Print where marks land: a line for dialects with the same answer, or every part."""
    from playground.cache.answers.placement import place_cache
    from playground.show.wire import PLACEMENT_HEAD, placement_json, placement_rows

    chosen = _written_in(dialects, rules, policy, ())
    placements = [place_cache(session, dialect, policy) for dialect in chosen]
    if as_json:
        print_json([placement_json(placement) for placement in placements])
        return 0
    if len(placements) > 1 and not dialects:
        head = ["dialect", "marks", "characters", "nothing marked because"]
        alike: dict[tuple[str, str], list[CachePlacement]] = {}
        for placement in placements:
            alike.setdefault(_answer(placement), []).append(placement)
        table(head, [_line(*answer, some) for answer, some in alike.items()])
        if len(alike) < len(placements):
            say("-d NAME has every part of one dialect; --json has each by itself")
        return 0
    for placement in placements:
        marks = counted(len(placement.marks), "mark")
        say(
            f"{placement.dialect or placement.policy}: {marks} for {placement.model_name} "
            f"({placement.family}), {counted(placement.characters, 'character')}"
        )
        if placement.refusal:
            say(f"  nothing marked: {placement.refusal.explanation}")
        else:
            table(PLACEMENT_HEAD, placement_rows(placement))
    return 0


def _written_in(
    named: tuple[str, ...], rules: str | None, policy: str | Policy, otherwise: tuple[str, ...]
) -> list[Dialect]:
    """Return the dialects that are asked about; of requests as they were sent, which are in none,
    one that is not looked at. Raises InputFault where one is named for these.
    """
    from playground.base.errors import InputFault
    from playground.cache.answers.as_sent import AS_SENT

    if policy == AS_SENT and named:
        problem = f"policy {AS_SENT!r} in the dialect {named[0]!r}: no dialect writes what was sent"
        raise InputFault(problem, expected="one without the other")
    return in_dialects(("native",) if policy == AS_SENT else named or otherwise, rules)


def _answer(placement: CachePlacement) -> tuple[str, str]:
    """Say how many marks there are, or why there are none."""
    reason = placement.refusal.explanation if placement.refusal else ""
    return str(len(placement.marks)), reason


def _line(marks: str, reason: str, alike: Sequence[CachePlacement]) -> list[str]:
    sizes = sorted(each.characters for each in alike)
    ends = dict.fromkeys(f"{size:,}" for size in (sizes[0], sizes[-1]))
    return [_some([each.dialect for each in alike]), marks, " to ".join(ends), reason]


def _in(dialect: str) -> str:
    """Return a dialect as a sentence's beginning; requests as they were sent are in none."""
    return f"{dialect}, " if dialect else ""


def on_wire(
    session: Session,
    dialects: tuple[str, ...],
    rules: str | None,
    policy: str | Policy,
    as_json: bool,
) -> int:
    """Print what is really sent, block by block, in the named dialects (default: native)."""
    from playground.cache.answers.wire import cache_on_wire
    from playground.show.wire import WIRE_HEAD, wire_json, wire_rows

    chosen = _written_in(dialects, rules, policy, ("native",))
    wires = [cache_on_wire(session, dialect, policy) for dialect in chosen]
    if as_json:
        print_json([wire_json(wire) for wire in wires])
    for wire in () if as_json else wires:
        say(
            f"{_in(wire.dialect)}policy {wire.policy}: {counted(len(wire.marks), 'mark')} on the "
            f"wire to {wire.model}"
        )
        for call in wire.calls:
            say(f"  {call.method} {call.url}")
        table(WIRE_HEAD, wire_rows(wire))
    return max(report(wire.findings) for wire in wires)


def validated(folder: str, as_json: bool) -> int:
    """Predictions against bills."""
    from playground.cache.answers.bills import validate_folder

    found = validate_folder(folder)
    wrong = int(found.hit_right < len(found.predictable) or bool(found.left_out))
    for line in found.left_out:
        say(f"left out: {line}", err=True)
    if as_json:
        print_json(found.as_json())
        return wrong
    head = ["file", "request", "rules", "state", "read", "billed", "right"]
    told = any(row.told for row in found.predictable)
    rows = [_validated_request(row) + ([row.told] if told else []) for row in found.predictable]
    table([*head, *["told by the provider"] * told], rows)
    count = len(found.predictable)
    say(f"{found.hit_right} of {count} hits and misses right, {found.tokens_exact} exact")
    for reason, number in found.unpredictable.items():
        say(f"not predictable, {reason}: {number}")
    table(["rules", "predictable", "right", "exact", "not predictable"], _by_provider(found))
    report(found.findings)
    return wrong


def _validated_request(row: ValidationRow) -> list[str]:
    """Return a prediction beside its bill: `size` is a hit or miss foreseen with another size."""
    return [
        row.file,
        str(row.index),
        row.provider,
        row.state,
        f"{row.predicted_read:,}",
        f"{row.billed_read:,}",
        _verdict(row),
    ]


def _verdict(row: ValidationRow) -> str:
    if not row.hit_right:
        return "WRONG"
    if row.tokens_exact:
        return "exact"
    return "size" if row.size_known else "size, an estimate"


def _by_provider(found: Validation) -> list[list[str]]:
    rows = []
    for name, counts in found.providers.items():
        figures = [str(counts.pop(key, 0)) for key in ("predictable", "right", "exact")]
        reasons = ", ".join(f"{number} {reason}" for reason, number in counts.items())
        rows.append([name, *figures, reasons])
    return rows
