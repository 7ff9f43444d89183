"""Print the answers of the cache commands as tables or JSON, and return the exit status."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import chain
from typing import TYPE_CHECKING, Any

from playground.base.fixes import with_fix
from playground.base.wording import counted, grouped, percent
from playground.cli.shared import in_dialects
from playground.cli.terminal import (
    CSV,
    failed,
    is_set,
    print_json,
    print_json_array,
    report,
    say,
    show_rows,
    table,
)

if TYPE_CHECKING:
    from playground.cache.answers.cells import CacheSimulation
    from playground.cache.answers.placement import CachePlacement
    from playground.cache.validation import Validation, ValidationRow
    from playground.dialects import Dialect
    from playground.dialects.marks.policies import Policy
    from playground.sessions.session import Session

_NAMED = 3  # the most names that a folded row lists


def print_simulation(
    simulated: Iterable[Sequence[CacheSimulation]],
    as_json: bool,
    folded: bool = False,
    is_default: bool = False,
) -> int:
    """Print a line for each simulation; or, if there is only one, its requests and findings.
    `simulated` yields the simulations of one dialect at a time. `folded` joins dialects and
    policies with the same figures in one line. `is_default` is True if no dialect was named.

    With --strict, return 1 if every simulation has a request that its provider would refuse, or if
    the only one has a warning or an error.
    """
    from playground.show import rows

    refusals: list[bool] = []
    cells = _noting_refusals(chain.from_iterable(simulated), refusals)
    if as_json:
        print_json_array(_simulation_json(last := cell) for cell in cells)
        warned = len(refusals) == 1 and any(each.severity != "info" for each in last.findings)
        return failed(warned or all(refusals))
    first, second = next(cells), next(cells, None)
    if second is None:
        return max(failed(all(refusals)), _print_requests(first))
    heading, listed = _heading(first), rows.cache_matrix([first, second])
    del first, second
    listed = listed._replace(
        cells=[*listed.cells, *(row for cell in cells for row in rows.cache_matrix([cell]).cells)]
    )
    for line in heading:  # printed after the progress bar, which ends with the last cell
        say(line)
    if is_set(CSV):
        show_rows(listed)
        return failed(all(refusals))
    head, lines = listed.only(*_SHOWN_COLUMNS).texts()
    joined = _fold(lines) if folded else lines
    table(head, joined, head[2:5])
    if len(joined) < len(lines):
        say("-d NAME prints a line for each policy, -d NAME --policy NAME a line for each request")
    elif is_default:
        say("-d NAME simulates another dialect, --every-dialect all; --policy NAME lists requests")
    return failed(all(refusals))


def _noting_refusals(
    cells: Iterable[CacheSimulation], refusals: list[bool]
) -> Iterator[CacheSimulation]:
    """Yield the simulations; append True to `refusals` for each that has an error, else False."""
    for cell in cells:
        refusals.append(bool(cell.errors))
        yield cell


def _heading(cell: CacheSimulation) -> list[str]:
    """Return the lines above the table: the bill, and the rules assumed for an unknown model."""
    from playground.cache.answers.headline import billed

    return [*filter(None, (billed(cell), cell.assumption))]


def _simulation_json(cell: CacheSimulation) -> dict[str, Any]:
    """Return a simulation as JSON: its figures, its requests as rows, and everything else."""
    from playground.show import rows
    from playground.show.wire import simulation_json

    (figures,) = rows.cache_matrix([cell]).dicts()
    listed = rows.cache_requests(cell).dicts()
    return {**figures, "rows": listed, **simulation_json(cell)}


_SHOWN_COLUMNS = ("dialect", "policy", "read_share", "cost_share", "findings", "refusal")


def _fold(rows: Sequence[list[str]]) -> list[list[str]]:
    """Join the rows of a dialect that have the same figures, then dialects that have the same rows.

    Rows keep the order of their first appearance.
    """
    policies_by_figures: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for dialect, policy, *figures in rows:
        policies_by_figures.setdefault(dialect, {}).setdefault(tuple(figures), []).append(policy)
    dialects: dict[tuple[tuple[str, ...], ...], list[str]] = {}
    for dialect, by_figures in policies_by_figures.items():
        shared = tuple((_first_names(names), *figures) for figures, names in by_figures.items())
        dialects.setdefault(shared, []).append(dialect)
    return [[_first_names(names), *row] for shared, names in dialects.items() for row in shared]


def _first_names(names: Sequence[str]) -> str:
    others = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {others} more" if others > 0 else "")


def _print_requests(cell: CacheSimulation) -> int:
    from playground.cache.rules.age import aged
    from playground.show import rows

    for line in _heading(cell):
        say(line)
    listed = rows.cache_requests(cell)
    show_rows(listed if is_set(CSV) else listed.without("tokens_low", "tokens_high"))
    say(
        f"{_as_prefix(cell.dialect)}policy {cell.policy}, rules of {cell.provider}: "
        + (cell.outcome if cell.errors else _read_and_cost(cell))
    )
    for line in aged(cell.origins, date.today()):
        say(line)
    return report(cell.findings)


def _read_and_cost(cell: CacheSimulation) -> str:
    read = f"{percent(cell.read_permille / 1000)} read from the cache"
    return f"{read}, input costs {grouped(cell.cost_permille / 1000, 2)} of its full price"


def print_check(simulation: CacheSimulation, failures: list[str], as_json: bool) -> None:
    """Print the exceeded limits, or the cost of the input if no limit was exceeded."""
    if as_json:
        print_json({"failures": failures, **_simulation_json(simulation)})
        return
    for line in (*_heading(simulation), *failures):
        say(line)
    if not failures:
        cost = f"{grouped(simulation.cost_permille / 1000, 2)} of its full price"
        say(f"input costs {cost} ({_as_prefix(simulation.dialect)}policy {simulation.policy})")


def print_marks(
    session: Session,
    dialects: tuple[str, ...],
    rules: str | None,
    policy: str | Policy,
    as_json: bool,
) -> int:
    """Print each part with its mark; if no dialect is named, a line for equally marked dialects."""
    from playground.cache.answers.placement import place_cache
    from playground.show import rows
    from playground.show.wire import placement_json

    chosen = _dialects_of(dialects, rules, policy, ())
    placements = [place_cache(session, dialect, policy=policy) for dialect in chosen]
    if as_json:
        print_json(
            [{**placement_json(each), "rows": rows.placement(each).dicts()} for each in placements]
        )
        return 0
    if placements[0].assumption:
        say(placements[0].assumption)
    if len(placements) > 1 and not dialects:
        if is_set(CSV):
            show_rows(rows.placements(placements))
            return 0
        head = ["dialect", "marks", "characters", "nothing marked because"]
        by_answer: dict[tuple[str, str], list[CachePlacement]] = {}
        for placement in placements:
            by_answer.setdefault(_answer(placement), []).append(placement)
        table(head, [_marks_row(*answer, group) for answer, group in by_answer.items()])
        if len(by_answer) < len(placements):
            say("-d NAME shows every part of one dialect; --json has every dialect")
        return 0
    for placement in placements:
        marks = counted(len(placement.marks), "mark")
        say(
            f"{placement.dialect or placement.policy}: {marks} for {placement.model_name} "
            f"({placement.family}), {counted(placement.characters, 'character')}"
        )
        for each in placement.findings:
            say(f"  {each.code}: {with_fix(each)}")
        if placement.refusal:
            say(f"  nothing marked: {placement.refusal.explanation}")
        else:
            show_rows(
                rows.placement(placement),
                *("message_index", "part", "role", "characters", "marked", "reason"),
            )
    return 0


def _dialects_of(
    names: tuple[str, ...], rules: str | None, policy: str | Policy, defaults: tuple[str, ...]
) -> list[Dialect]:
    """Return the named dialects, or else `defaults`. Requests as they were sent (policy "as-sent")
    have no dialect: return `native` for them, and raise InputFault if a dialect is named."""
    from playground.base.errors import InputFault
    from playground.cache.answers.as_sent import AS_SENT

    if policy == AS_SENT and names:
        problem = f"policy {AS_SENT!r} in the dialect {names[0]!r}: no dialect writes what was sent"
        raise InputFault(problem, expected="the policy or the dialect, not both")
    return in_dialects(("native",) if policy == AS_SENT else names or defaults, rules)


def _answer(placement: CachePlacement) -> tuple[str, str]:
    """Return the number of marks, and the reason why nothing is marked ("" if something is)."""
    reason = placement.refusal.explanation if placement.refusal else ""
    return str(len(placement.marks)), reason


def _marks_row(marks: str, reason: str, placements: Sequence[CachePlacement]) -> list[str]:
    sizes = sorted(placement.characters for placement in placements)
    bounds = dict.fromkeys(f"{size:,}" for size in (sizes[0], sizes[-1]))
    return [
        _first_names([placement.dialect for placement in placements]),
        marks,
        " to ".join(bounds),
        reason,
    ]


def _as_prefix(dialect: str) -> str:
    """Return "DIALECT, " as the beginning of a sentence; "" for recorded requests."""
    return f"{dialect}, " if dialect else ""


def print_wire(
    session: Session,
    dialects: tuple[str, ...],
    rules: str | None,
    policy: str | Policy,
    as_json: bool,
) -> int:
    """Print the blocks of the request as it is sent, in the named dialects (default: native)."""
    from playground.cache.answers.wire import cache_on_wire
    from playground.show import rows
    from playground.show.wire import wire_json

    chosen = _dialects_of(dialects, rules, policy, ("native",))
    wires = [cache_on_wire(session, dialect, policy=policy) for dialect in chosen]
    if as_json:
        print_json([{**wire_json(each), "rows": rows.wire(each).dicts()} for each in wires])
    elif wires[0].assumption:
        say(wires[0].assumption)
    for wire in () if as_json else wires:
        say(
            f"{_as_prefix(wire.dialect)}policy {wire.policy}: {counted(len(wire.marks), 'mark')} "
            f"on the wire to {wire.model}"
        )
        for call in wire.calls:
            say(f"  {call.method} {call.url}")
        show_rows(rows.wire(wire))
    return max(report(wire.findings) for wire in wires)


def print_validation(folder: str, as_json: bool) -> int:
    """Print how predictions compare with bills. Return 1 if a prediction is wrong, or if a file was
    left out."""
    from playground.cache.answers.bills import validate_folder
    from playground.show.rows import rows_of

    validation = validate_folder(folder)
    wrong = int(validation.hit_right < len(validation.predictable) or bool(validation.left_out))
    for line in validation.left_out:
        say(f"left out: {line}", err=True)
    if as_json:
        print_json(validation.as_json())
        return wrong
    shown = [row for row in validation.rows if row.diagnosis or row.state == "predictable"]
    listed = rows_of(
        "file request provider state predicted_read_tokens billed_read_tokens told_by_provider "
        "right",
        map(_validated_request, shown),
    )
    told = any(row.diagnosis for row in shown)
    show_rows(listed if told or is_set(CSV) else listed.without("told_by_provider"))
    count = len(validation.predictable)
    say(f"{validation.hit_right} of {count} hits and misses right, {validation.tokens_exact} exact")
    for reason, number in validation.unpredictable.items():
        say(f"not predictable, {reason}: {number}")
    if not is_set(CSV):
        table(
            ["rules", "predictable", "right", "exact", "not predictable"], _by_provider(validation)
        )
    for provider, counts in validation.verdicts.items():
        words = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
        say(f"{provider}, bills with cached tokens: {words}")
    report(validation.findings)
    return wrong


def _validated_request(row: ValidationRow) -> Sequence[Any]:
    """Return a request's prediction, its bill, the provider's own diagnosis, and the `_verdict`. A
    request without a prediction is listed for its diagnosis."""
    known = row.state == "predictable"
    return (
        row.file,
        row.index,
        row.provider,
        row.state,
        row.predicted_read if known else None,
        row.billed_read,
        row.diagnosis,
        _verdict(row) if known else "",
    )


def _verdict(row: ValidationRow) -> str:
    if not row.hit_right:
        return "WRONG"
    if row.tokens_exact:
        return "exact"
    return "size" if row.size_known else "size, an estimate"  # only the size is wrong


def _by_provider(validation: Validation) -> list[list[str]]:
    rows = []
    for name, counts in validation.providers.items():
        figures = [str(counts.pop(key, 0)) for key in ("predictable", "right", "exact")]
        reasons = ", ".join(f"{number} {reason}" for reason, number in counts.items())
        rows.append([name, *figures, reasons])
    return rows
