"""Cache answers as markup: marks in a request, tokens read and written by each request, costs by
dialect and policy, and the blocks that LiteLLM's adapter sends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from playground.base.display import draws
from playground.base.wording import counted, dollars, percent
from playground.cache.answers.cells import CacheMatrix, CacheSimulation
from playground.cache.answers.placement import CachePlacement
from playground.cache.answers.wire import CacheWire
from playground.show import payloads, rows
from playground.show.colours import OUTCOME_COLOURS
from playground.show.grid import grid
from playground.show.markup import Markup, escaped, folded, markup_table, table
from playground.show.pictures.requests import findings
from playground.show.policy_bars import PricedPolicy, best_saving, policy_bars, title
from playground.show.strip import sentence, strip

_ROWS: Final = 60
_MESSAGES: Final = 50  # the most messages in a notebook
_BAR: Final = '<span style="display: inline-block; height: 0.8em; background: {}; width: {:.2f}em">'
_WIDE: Final = 12  # width of the longest bar, in em


@draws("picture", CachePlacement)
def placement(value: CachePlacement) -> Markup:
    """Return the request as a pane; every part shows why it is marked or not."""
    refused = f"<p>{escaped(value.refusal.explanation)}</p>" if value.refusal else ""
    return Markup(
        f"Cache marks in {value.dialect} for {value.model_name}, policy {value.policy}",
        f"{len(value.marks)} of {counted(len(value.parts), 'part')} marked; {value.thresholds}",
        head=refused,
        static=_parts(value),
        component="panes",
        data=lambda: _pane(value, None),
        brief=lambda: _pane(value, _MESSAGES),
    )


def _parts(value: CachePlacement) -> str:
    left = len(value.parts) - _ROWS
    more = f"; {left} more parts are not shown" if left > 0 else ""
    head, cells = rows.placement(value).without("explanation").texts()
    return table(f"parts{more}", head, cells[:_ROWS])


def _pane(value: CachePlacement, most: int | None) -> payloads.Payload:
    return grid([payloads.placement_pane(value, most)])


@draws("picture", CacheSimulation)
def simulation(value: CacheSimulation) -> Markup:
    """Return the strip of requests; in plain markup, a bar for each request, and the parts of the
    last request. An HTML page also has a table of the cost under each policy."""
    placed = value.placed() if value.placed else None
    names = ", ".join(filter(None, (value.dialect, value.policy)))
    origins = "".join(f"<li>{escaped(line)}</li>" for line in value.origins)
    found = findings("what is wrong, and what to do", value.findings) if value.findings else ""
    return Markup(
        names or value.model or "Cache simulation",
        " ".join(sentence(value, placed)),
        head=folded("where the figures come from", f"<ul>{origins}</ul>"),
        static=f"{_bars(value)}{found}{_parts(placed) if placed else ''}",
        component="strip",
        data=lambda: strip(value, placed),
        more=lambda: _policies(value),
        draws_line=True,
    )


def _policies(value: CacheSimulation) -> str:
    found = [PricedPolicy(each.policy, title(each.policy), each) for each in value.by_policy()]
    bars = policy_bars(found, value.policy)
    said = " ".join(["All policies, predicted in % of uncached.", best_saving(found, value)])
    cells = [[bar["title"].removeprefix("Choose "), bar["figure"]] for bar in bars]
    return table(said, ["policy", "cost"], cells) if bars else ""


def _bars(value: CacheSimulation) -> str:
    most = max((one.total for one in value.requests), default=0) or 1
    rows = []
    for number, one in enumerate(value.requests[:_ROWS]):
        sizes = (one.read, sum(one.written.values()), one.uncached)
        bar = "".join(
            f"{_BAR.format(colour, _WIDE * size / most)}</span>"
            for size, colour in zip(sizes, OUTCOME_COLOURS.values(), strict=True)
        )
        size_texts = [f"{size:,}" for size in sizes]
        rows.append([str(number + 1), bar, *size_texts, one.sureness, escaped(value.why(number))])
    head = ["request", "", *OUTCOME_COLOURS, "state", "reason"]
    return markup_table("tokens of every request", head, rows)


@draws("picture", CacheMatrix)
def cache_matrix(value: CacheMatrix) -> Markup:
    """Return a table of costs, with a row for each dialect and a column for each policy; the
    cheapest are bold."""
    dialects = list(dict.fromkeys(cell.dialect for cell in value))
    policies = list(dict.fromkeys(cell.policy for cell in value))
    costs = {(cell.dialect, cell.policy): cell for cell in value if not cell.errors}
    best = min(costs.values(), key=_total, default=None)
    least = _total(best) if best else 0
    refused = "under every dialect and policy, the provider refuses a request"
    line = _cheapest_cell_line(list(costs.values()), best) if best else refused
    rows = (
        [escaped(dialect), *(_cost(costs.get((dialect, policy)), least) for policy in policies)]
        for dialect in dialects
    )
    title = f"Input under {counted(len(policies), 'policy', 'policies')}"
    caption = (
        "cost of all input: dollars, and the share of the dialect's full price; “–” is refused"
    )
    return Markup(title, line, static=markup_table(caption, ["dialect", *policies], rows))


def _cheapest_cell_line(cells: Sequence[CacheSimulation], best: CacheSimulation) -> str:
    """Name the cheapest cell; if several cost the same, say only how many they are."""
    cost = f"{_cost_text(best)} of the uncached price"
    tied = sum(_total(cell) == _total(best) for cell in cells)
    if tied == len(cells) > 1:
        return f"all {tied} cost the same: {cost}"
    if tied > 1:
        return f"{tied} of {len(cells)} cost least: {cost}"
    return f"cheapest: {best.dialect} under {best.policy}, {cost}"


def _cost(cell: CacheSimulation | None, least: int) -> str:
    if cell is None:
        return "–"
    text = _cost_text(cell)
    return f"<b>{text}</b>" if _total(cell) == least else text


def _cost_text(cell: CacheSimulation) -> str:
    share, nano = percent(cell.cost_permille / 1000), cell.nano_dollars
    return share if nano is None else f"{dollars(nano / 1e9)}, {share}"


def _total(cell: CacheSimulation) -> int:
    """Return a cost that compares dialects: their requests have different numbers of tokens."""
    return sum(outcome.cost for outcome in cell.requests)


@draws("picture", CacheWire)
def wire(value: CacheWire) -> Markup:
    """Return every block that is sent, and the lost marks."""
    sent = len(value.marks)
    lost = counted(len(value.findings), "mark")
    return Markup(
        f"{value.dialect} under {value.policy} on the wire to {value.model}",
        f"{counted(len(value.sent), 'block')}, {counted(sent, 'mark')} sent, {lost} lost",
        head=findings("marks that do not arrive", value.findings),
        static=table("blocks as they are sent", *rows.wire(value).texts()),
    )
