"""The data of the cache strip: figures, findings, and a strip for each request."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Any, Final

from playground.base.findings import Finding
from playground.base.fixes import FIXES
from playground.base.wording import as_sentence, counted, dollars, grouped, keep_order, percent
from playground.cache.answers.cells import BilledBreak, CacheSimulation, billed_breaks
from playground.cache.answers.headline import billed, doubt, headline
from playground.cache.answers.placement import CachePlacement
from playground.cache.prefixes import TimedRequest
from playground.cache.rules import Rules
from playground.cache.usage import lifetime_of
from playground.show.board import Figure, Payload

StripFinding = tuple[str, str, str, int | None]  # what, where, remedy, and a request's number
_REQUEST: Final = re.compile(r"requests? (\d+)(?: to (\d+))?")
_SHOWN: Final = 2_000  # the most characters of a block
_GOOD_READ, _BAD_READ, _GOOD_COST, _BAD_COST = 0.5, 0.1, 0.6, 1.0  # as shares of the input
_LABELLED: Final = 12  # the most breaks with a label
_MOST_FINDINGS: Final = 5  # the most findings about bills
_HOUR: Final = 3_600  # seconds
_SHORTER: Final = "shorter-context"
_DOUBTS: Final = {"": "", "eligible": ", not promised"}  # doubt -> words; any other: "probably"


def strip(cell: CacheSimulation, placed: CachePlacement | None = None) -> Payload:
    """Return every request of a simulation: its blocks to scale, its marks with their reach, and
    the outcome.

    With `placed`, `parts` gives the reason why each block of the last request is marked or not.
    """
    said, note = sentence(cell, placed)
    missed = [each.number for each in _billed_breaks(cell)] or cell.breaks * (not billed(cell))
    return {
        "minimum": cell.rules.minimum(cell.model) if cell.rules else 0,
        "sentence": keep_order(said),
        "note": keep_order(note),
        "figures": _figures(cell),
        "predicted": _predicted_words(cell),
        "threshold": _threshold(placed),
        "prices": _prices(cell),
        "breaks": _flags(cell),
        "opens": missed[0] if missed else None,  # the request that is shown at first
        "findings": [
            *_billed_findings(cell),
            *_shorter_contexts(cell),
            *(_finding(each.code, each.where, each.message) for each in other_findings(cell)),
        ],
        "parts": _parts(cell, placed) if placed else [],
        "requests": [_request(cell, i) for i in range(len(cell.row))],
    }


def sentence(cell: CacheSimulation, placed: CachePlacement | None) -> tuple[str, str]:
    """Return the most important sentence, and the rest.

    If there is a bill, the sentence says what was paid or which request missed the cache.
    """
    text = billed(cell) or headline(cell).text
    if missed := _billed_breaks(cell):
        more = f" {counted(len(missed) - 1, 'break')} more." if len(missed) > 1 else ""
        return f"{_break_in_words(cell, missed[0])}.{more}", text
    if placed and placed.refusal:
        text = f"{text} Nothing is marked: {placed.refusal.explanation}."
    if placed is None or placed.family != "gemini" or billed(cell):
        first, stop, rest = text.partition(". ")
        return first + stop.strip(), rest
    distance = placed.text_characters - placed.threshold
    side, size = ("above", "long enough") if distance >= 0 else ("below", "too short")
    characters = counted(abs(distance), "character")
    first = f"{characters} {side} the Gemini threshold: {size} for an explicit cache."
    return first, f"{placed.text_characters:,} of {placed.threshold:,} characters count. {text}"


def _figures(cell: CacheSimulation) -> list[Figure]:
    """Return the billed figures if there are bills, otherwise the predicted ones."""
    bills = [each for each in cell.billed if each]
    total = sum(each.total for each in bills)
    if not total or not cell.paid:
        return _predicted_figures(cell)
    read = sum(each.read for each in bills) / total
    misses = _billed_breaks(cell)
    lost = [cell.lost_nano(miss) for miss in misses]
    cost = f": {dollars(sum(filter(None, lost)) / 1e9)}" if any(lost) else ""
    breaks = "break" if len(misses) == 1 else "breaks"
    money = _money(cell.paid.nano_dollars, cell.paid.uncached_nano_dollars)
    return [
        _share(read, "read, as billed", _GOOD_READ, _BAD_READ),
        _share(cell.paid.permille / 1000, f"of uncached{money}", _GOOD_COST, _BAD_COST),
        (grouped(len(misses)), f"{breaks}{cost}", "bad" if misses else ""),
    ]


def _billed_breaks(cell: CacheSimulation) -> list[BilledBreak]:
    """Return the breaks that bills show, the most expensive first."""
    return sorted(billed_breaks(cell.billed), key=lambda miss: -miss.lost)


def _break_in_words(cell: CacheSimulation, miss: BilledBreak) -> str:
    """Say which request missed the cache, after how long or by how many tokens, and its price."""
    nano, changed = cell.lost_nano(miss), cell.explanation(miss)
    idle = 0 if changed else _idle(cell, miss)
    price = f": {dollars(nano / 1e9)}" if nano is not None else ""
    if idle:
        return f"Request {miss.number + 1} missed after {grouped(idle // 60)} idle minutes{price}"
    which = f"Request {miss.number + 1} read {miss.lost:,} tokens fewer"
    because = ", because the model changed" if changed.startswith("the model changed") else ""
    return f"{which} than request {miss.since + 1} left{because}{price}"


def _idle(cell: CacheSimulation, miss: BilledBreak) -> float:
    """Return the recorded seconds before a missed request, if the cache expired in them; else 0."""
    bill = cell.billed[miss.since]
    if cell.rules is None or bill is None or miss.number >= len(cell.request_facts):
        return 0
    at, before = cell.request_facts[miss.number].at, cell.request_facts[miss.since].at
    idle = at - before if at is not None and before is not None else 0
    return idle if idle > cell.rules.seconds(lifetime_of(bill, cell.rules)) else 0


def _billed_findings(cell: CacheSimulation) -> list[StripFinding]:
    """Return the most expensive breaks that bills show, and a remedy for each."""
    found = list[StripFinding]()
    for miss in _billed_breaks(cell)[:_MOST_FINDINGS]:
        idle, changed = _idle(cell, miss), cell.explanation(miss)
        remedy = "An hour's cache would have kept it: compare its cost under All policies"
        if changed:
            remedy = as_sentence(changed)
        elif not idle:
            remedy = cell.hints.get(miss.number, "")
        elif idle > _HOUR:
            remedy = "An hour's cache would have expired as well: leave it"
        where = f"billed: {miss.lost:,} tokens paid again"
        found.append((_break_in_words(cell, miss), where, keep_order(remedy), miss.number))
    return found


def _shorter_contexts(cell: CacheSimulation) -> list[StripFinding]:
    """Return one finding about all requests that are shorter than the text cached before them."""
    sizes = (f"{e.number + 1} ({e.cached_before:,} to {e.total:,})" for e in cell.shorter)
    title = f"Shorter contexts, in tokens: request {', '.join(sizes)}"
    remedy = as_sentence(FIXES[_SHORTER])
    return [(title, "no break", remedy, cell.shorter[0].number)] if cell.shorter else []


def other_findings(cell: CacheSimulation) -> list[Finding]:
    """Return the findings that the strip shows one by one, in the strip's order."""
    return [each for each in cell.findings if each.code != _SHORTER]


def _predicted_figures(cell: CacheSimulation) -> list[Figure]:
    if cell.errors:
        refused, _, of = cell.outcome.partition(" ")
        return [(refused, of, "bad")]
    money = _money(cell.nano_dollars, cell.uncached_nano_dollars)
    breaks = len(cell.breaks)
    reads, costs = (_DOUBTS.get(doubt(cell, each), ", probably") for each in (True, False))
    return [
        _share(cell.read_permille / 1000, f"read from the cache{reads}", _GOOD_READ, _BAD_READ),
        _share(cell.cost_permille / 1000, f"of uncached{costs}{money}", _GOOD_COST, _BAD_COST),
        (grouped(breaks), "break" if breaks == 1 else "breaks", "bad" if breaks else ""),
    ]


def _money(nano: int | None, uncached: int | None) -> str:
    """Return a cost and the cost without a cache, in words; "" without a price."""
    if nano is None or uncached is None:
        return ""
    return f": {dollars(nano / 1e9)} of {dollars(uncached / 1e9)}"


def _share(share: float, of: str, good: float, bad: float) -> Figure:
    better = share >= good if good > bad else share <= good
    worse = share <= bad if good > bad else share >= bad
    return percent(share), of, "good" if better else "bad" if worse else ""


def _predicted_words(cell: CacheSimulation) -> list[str]:
    """Return the predicted figures in words, for comparison with a bill; [] without a bill."""
    if not billed(cell):
        return []
    words = [f"{value} {of}" for value, of, _ in _predicted_figures(cell)]
    words += ["the file holds less than was sent"] * cell.holds_less
    return [*words, cell.assumption.removesuffix(".")] if cell.assumption else words


def _threshold(placed: CachePlacement | None) -> Payload | None:
    """Return the characters that decide if a mark is sent to Gemini; None for other models."""
    if placed is None or placed.family != "gemini":
        return None
    return {"characters": placed.text_characters, "of": placed.threshold}


def _prices(cell: CacheSimulation) -> dict[str, str]:
    """Return the prices of tokens read and written, as multiples of full price; {} if unknown."""
    if cell.rules is None or cell.rules.match == "unknown":
        return {}
    written = cell.rules.write_permille(str(cell.rules.value("default_ttl") or ""))
    prices = {"read": cell.rules.read_permille(cell.model), "written": written}
    return {name: f"{permille / 1000:g}×" for name, permille in prices.items()}


def _flags(cell: CacheSimulation) -> list[tuple[int, str]]:
    """Return labels for cache breaks: the index of the request, and the lost tokens."""
    flags = {
        number: f"{number + 1}: {before.cached_after - after.read:,}"
        for number in cell.breaks
        for before, after in [cell.requests[number - 1 : number + 1]]
    }
    flags |= {each.number: f"{each.number + 1}: {each.lost:,}" for each in _billed_breaks(cell)}
    return sorted(flags.items())[:_LABELLED]


def _finding(code: str, where: str, message: str) -> StripFinding:
    """Return a finding's title, place and remedy, and the index of the first request concerned."""
    number = _REQUEST.match(where)
    fix = FIXES.get(code, "")
    what = message.removesuffix(fix).rstrip("; ")
    return (
        keep_order(as_sentence(what)),
        keep_order(where),
        as_sentence(fix),
        int(number[1]) - 1 if number else None,
    )


def _parts(cell: CacheSimulation, placed: CachePlacement) -> list[Any]:
    """Return the origin of each block of the last request, True if the block is marked, and the
    reason; None for a block that no policy sees."""
    by_place = {(part.message, part.part): part for part in placed.parts}
    parts: list[Any] = []
    for number, block in enumerate(cell.row[-1].wire.blocks if cell.row else ()):
        place = block.place if placed.dialect else (number, 0)
        part = by_place.get(place) if place else None
        if part is None or part.environment:
            parts.append(None)
            continue
        origin = f"part:{part.message}.{part.part}"
        parts.append([origin, part.decision.marked, keep_order(part.decision.explanation)])
    return parts


def _request(cell: CacheSimulation, number: int) -> Payload:
    sent, outcome, rules = cell.row[number], cell.requests[number], cell.rules
    difference = cell.differences[number]
    shared = _shared_blocks(cell, number)
    sizes = [0, *sent.sizes]  # running totals: a block's size is the difference of two of them
    changed = difference.block if difference else None
    character = difference.character if difference else 0
    late = max(0, character - _SHOWN // 2)  # where the shown text begins in a long changed block
    bill = cell.billed[number] if cell.billed else None
    marks = outcome.breakpoints if rules else ()
    return {
        "shared": shared,
        "blocks": [
            [
                b.tier,
                keep_order(b.kind),
                keep_order(b.role),
                sizes[i + 1] - sizes[i],
                b.text[(start := late if i == changed else 0) : start + _SHOWN],
                len(b.text),
                start,
            ]
            for i, b in enumerate(sent.wire.blocks[shared:], shared)
        ],
        "marks": [[at, _looks_back(sent, at, rules), _life(sent, at, rules)] for at in marks],
        "hit": outcome.hit,
        "differs": changed,
        "character": character,
        "at": sent.at,
        "state": outcome.sureness,
        "reason": keep_order(_reason(cell, number)),
        "read": outcome.read,
        "written": sum(outcome.written.values()),
        "uncached": outcome.uncached,
        "range": sent.total_range,
        "cost": outcome.cost / 1000 / max(1, outcome.total),
        "billed": [bill.read, bill.write, bill.uncached] if bill else None,
    }


def _reason(cell: CacheSimulation, number: int) -> str:
    """Return the reason for the tokens read, without the minimum if a finding already names it."""
    clauses = cell.why(number).split("; ")
    short = [_REQUEST.match(each.where) for each in cell.findings if each.code == "below-minimum"]
    if any(of and int(of[1]) <= number + 1 <= int(of[2] or of[1]) for of in short):
        clauses = [clause for clause in clauses if "minimum" not in clause]
    return "; ".join(clauses)


def _shared_blocks(cell: CacheSimulation, number: int) -> int:
    """Return how many leading blocks are as in the previous request, and so need no data."""
    if number == 0:
        return 0
    before, sent = cell.row[number - 1], cell.row[number]
    difference = cell.differences[number]
    shared = len(before.chain) if difference is None else difference.block or 0
    # a bill or a count of the whole request scales all blocks, so no block keeps its size
    return shared if shared and before.sizes[shared - 1] == sent.sizes[shared - 1] else 0


def _looks_back(sent: TimedRequest, point: int, rules: Rules | None) -> int:
    """Return the first block that a mark can look back to."""
    if rules is None or rules.match == "exact":
        return point
    least = sent.positions[point] - rules.value("lookback") + 1
    return bisect_left(sent.positions, least, hi=point)


def _life(sent: TimedRequest, point: int, rules: Rules | None) -> str:
    return sent.marks.get(point) or str(rules.value("default_ttl") if rules else "")
