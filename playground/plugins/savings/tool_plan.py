"""Simulate what a session's tools would cost in its own requests if some were deferred.

Every request is written out as it would be sent, and simulated like any other. No model is asked:
the plan assumes that a model would call the same tools if they were deferred.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from playground.base.arguments import older_keyword, takes
from playground.base.display import Shown
from playground.base.errors import InputFault
from playground.base.wording import counted, dollars, grouped
from playground.cache.answers.cells import CacheSimulation
from playground.cache.answers.known_rules import known_rules
from playground.cache.prices import price_of
from playground.cache.rules import Rules
from playground.dialects import get_dialect
from playground.dialects.marks.policies import Policy
from playground.nouns.messages import ToolCallPart
from playground.nouns.wire_bodies import identity, tools_of
from playground.nouns.wire_estimates import tokens_of
from playground.plugins.savings.compaction import (
    KEYS,
    output_permille,
    session_requests,
    simulate_bodies,
)
from playground.plugins.savings.deferral import (
    Deferral,
    Loading,
    Message,
    RewrittenRequest,
    ToolCut,
    as_policies_see,
    calls_of,
    named_tools,
)
from playground.plugins.savings.one_price import costs_at_one_price, models_note
from playground.sessions.loading import session_or_sample
from playground.sessions.session import Session

_MOST_CUTS: Final = 12  # the most cuts that are simulated for each way of loading
AS_IT_IS: Final = "as they are"
_TITLES: Final[dict[Loading, str]] = {
    "by the client": "loaded by the client",
    "by search": "searched",
}


_NOT_CERTAIN: Final = " What it reads from the cache is not certain."


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool of a session: its estimated tokens, and the requests whose answers call the tool."""

    name: str
    tokens: int
    calls: int = 0
    first: int | None = None  # the first request whose answer calls the tool, from 0


@dataclass(frozen=True)
class PlannedTools:
    """The cost of a session's requests if all tools but those in `cut.keep` are deferred.

    If `cut` is None, the tools are as they were. A search for a tool takes one more round on the
    server. `query_cost` is the cost of the queries that the model writes, in thousandths of an
    input token's price.
    """

    name: str
    simulation: CacheSimulation
    prefix_tokens: int  # estimated tokens of the tools in the first prompt
    cut: ToolCut | None = None
    searches: int = 0
    query_cost: int = 0

    @property
    def cost(self) -> int:
        return sum(costs_at_one_price(self.simulation)) + self.query_cost

    @property
    def tokens(self) -> int:
        return sum(one.total for one in self.simulation.requests)

    @property
    def read(self) -> int:
        return sum(one.read for one in self.simulation.requests)

    @property
    def nano_dollars(self) -> int | None:
        """The cost in billionths of a dollar; None if the price is unknown."""
        price, nano = price_of(self.simulation.model), self.simulation.nano_dollars
        return None if nano is None or price is None else nano + price.nano_dollars(self.query_cost)

    def as_json(self) -> dict[str, Any]:
        states = [one.state for one in self.simulation.requests]
        cut = self.cut
        return {
            "name": self.name,
            "states": {each: states.count(each) for each in sorted(set(states))} if not cut else {},
            "is_assumed": cut is not None or bool(self.simulation.assumption),
            "keep": sorted(cut.keep) if cut else None,
            "requests": len(states),
            "searches": self.searches,
            "prefix_tokens": self.prefix_tokens,
            "tokens": self.tokens,
            "read": self.read,
            "breaks": len(self.simulation.breaks),
            "cost": self.cost,
            "nano_dollars": self.nano_dollars,
        }


@dataclass(frozen=True, repr=False)
class ToolPlan(Shown):
    """A comparison of a session's costs: with its tools as they are, and with some deferred.

    Its table has a row for each way to send the tools. If there is only one, `refusal` says why.
    `assumed` lists the assumptions of the figures, such as an unknown model's rules.
    """

    model: str
    rows: list[PlannedTools]
    tools: list[ToolUse]
    refusal: str = ""
    assumed: tuple[str, ...] = ()
    cuts: int = 0  # the number of simulated ways to defer tools
    source: str = ""
    already: tuple[str, ...] = ()  # the tools that the session's requests defer already

    @property
    def best(self) -> PlannedTools:
        """The cheapest row; if several cost the same, the first."""
        return min(self.rows, key=lambda row: row.cost)

    @property
    def deferred(self) -> list[str]:
        """The tools that the cheapest row defers."""
        cut = self.best.cut
        return (
            list(self.already)
            if cut is None
            else [t.name for t in self.tools if t.name not in cut.keep]
        )

    def dollars(self, row: PlannedTools) -> float | None:
        return None if row.nano_dollars is None else row.nano_dollars / 1e9

    @property
    def headline(self) -> str:
        """A sentence about the cheapest way."""
        if self.refusal:
            return self.refusal
        original, best = self.rows[0], self.best
        used = sum(tool.first is not None for tool in self.tools)
        begins = f"{used} of {counted(len(self.tools), 'tool')} are called"
        if self.already:
            begins = f"{begins}, and {len(self.already)} deferred already"
        if best is original:
            own = "the tools as they are" if self.already else "all in the prefix"
            return f"{begins}. Of {self.cuts + 1} simulated ways, none is cheaper than {own}."
        share = grouped(100 * (original.cost - best.cost) / max(1, original.cost))
        before, after = self.dollars(original), self.dollars(best)
        money = (
            "" if before is None or after is None else f" ({dollars(before)} to {dollars(after)})"
        )
        keep = len(self.tools) - len(self.deferred)
        what = f"keep {keep} and defer {len(self.deferred)}, {_TITLES[_loading(best)]}"
        return (
            f"{begins}. Cheapest of {self.cuts + 1} simulated ways: {what}: {share} % less{money}."
            + _NOT_CERTAIN * any(one.state != "exact" for one in best.simulation.requests)
        )

    def as_json(self) -> dict[str, Any]:
        deferred = set(self.deferred)
        return {
            "model": self.model,
            "headline": self.headline,
            "refusal": self.refusal or None,
            "best": self.best.name,
            "ways": [row.as_json() for row in self.rows],
            "tools": [
                {
                    "name": tool.name,
                    "tokens": tool.tokens,
                    "calls": tool.calls,
                    "first_request": tool.first,
                    "defer": tool.name in deferred,
                }
                for tool in self.tools
            ],
            "assumed": list(self.assumed),
            "source": self.source or None,
            "simulated_cuts": self.cuts,
        }

    def __repr__(self) -> str:
        return f"ToolPlan({self.model!r}, {counted(len(self.tools), 'tool')}: {self.headline})"


def _loading(row: PlannedTools) -> Loading:
    return row.cut.loading if row.cut else "by search"


@older_keyword("found", "tools_per_search")
@takes(
    session=(Session, str),
    model="text",
    provider="text",
    marks=(str, Policy),
    tools_per_search="number",
    seconds_apart="number or nothing",
)
def plan_tools(
    session: Session | str,
    *,
    model: str = "",
    provider: str = "",
    marks: str | Policy = "claude-code",
    tools_per_search: int = 3,
    seconds_apart: float | None = None,
) -> ToolPlan:
    """Simulate a session's requests with its tools as they are, and with some of them deferred.

    The provider's dated rule `deferred_tools` says what the first prompt has of a deferred tool.
    Either the client adds the tool just before its first call, or the model searches for it, which
    takes one more round and finds `tools_per_search` tools. A cut keeps in the prefix the tools
    that are called first. The best cut is the cheapest one.

    Requests that were brought as sent keep their own marks; others are written in native form and
    marked by `marks`. Raises InputFault if there are no requests or no tools that can be deferred.
    """
    session = session_or_sample(session)
    renamed = session.with_model(model)
    native = get_dialect("native").with_policy(marks)
    own_requests, times, anew = session_requests(renamed, native, seconds_apart)
    requests = [(body, list(messages)) for body, messages in own_requests]
    if not any(named_tools(body) for body, _ in requests):
        has_tools = any(tools_of(body) for body, _ in requests)
        what = "no tools that can be deferred in its requests" if has_tools else "no tools"
        raise InputFault(f"the session has {what}", expected="a session whose requests have tools")
    if tools_per_search < 1:
        raise InputFault(f"tools_per_search {tools_per_search}", expected="1 or more")
    name = renamed.task.model_name or str(requests[0][0].get("model") or "")
    marker = None if any(not row.sub_agent for row in renamed.rows) else native.marking_policy
    common = (requests, times, anew, name, provider, marker)
    planner = _Planner(*common, not model, _last_calls(renamed))
    uses, refusal = planner.uses(), _refusal(planner.rules, name)
    if refusal:
        original = planner.as_they_are()
        return ToolPlan(name, [original], uses, refusal, tuple(_of_model(original)))
    every = ToolCut(frozenset(tool.name for tool in uses), "by search")
    already = tuple(tool.name for tool in uses if tool.name in planner.already)
    # the original is written in the form of the other rows, so that tokens are counted in one way
    original = replace(planner.deferred(every), name=AS_IT_IS, cut=None)
    original = planner.as_they_are() if already else original  # it has this form already
    rule = planner.rules.rules["deferred_tools"]
    rows, cuts = [original], 0
    for loading in _loadings(planner.rules, name):
        ways = [planner.deferred(cut) for cut in _cuts(uses, loading, tools_per_search)]
        if not ways:
            continue
        best = min(ways, key=lambda row: row.cost)
        rows.append(ways[0])  # the one that keeps fewest tools
        if best is not ways[0] and best.cut:
            rows.append(replace(best, name=f"{best.name}, {len(best.cut.keep)} kept"))
        cuts += len(ways)
    assumed = (
        *_of_model(original),
        *_assumed(planner.part_in_prompt, rows, tools_per_search),
        *filter(None, [rule.note]),
    )
    return ToolPlan(name, rows, uses, "", assumed, cuts, f"{rule.source}, {rule.seen}", already)


def _last_calls(session: Session) -> tuple[str, ...]:
    """Return the names of the tools that the session's last message calls, if it is an answer."""
    last = session.messages[-1:]
    parts = last[0].parts if last and last[0].role == "assistant" else ()
    return tuple(dict.fromkeys(part.tool_name for part in parts if isinstance(part, ToolCallPart)))


def _refusal(rules: Rules, model: str) -> str:
    """Say why nothing can be deferred, by the dated rules; "" if it can."""
    part_left = rules.of_model("deferred_tools", model)
    if part_left is None:
        return f"No page says that {model} takes deferred tools: there is nothing to plan."
    if part_left == "not known":
        rule = rules.rules["deferred_tools"]
        return f"Nothing to plan for {model}: {rule.note} ({rule.source}, {rule.seen})."
    return ""


def _loadings(rules: Rules, model: str) -> Iterator[Loading]:
    is_anthropic = rules.of_model("deferred_tools", model) == "nothing"
    if is_anthropic and rules.lists("system_messages", model):
        yield "by the client"
    yield "by search"


def _cuts(uses: Sequence[ToolUse], loading: Loading, tools_per_search: int) -> Iterator[ToolCut]:
    """Yield the cuts to simulate. Each keeps more of the called tools than the cut before it."""
    called = [tool for tool in uses if tool.first is not None]
    used = [tool.name for tool in sorted(called, key=lambda t: (t.first or 0, -t.calls))]
    least = 1 if loading == "by the client" else 0  # the first prompt needs one tool
    first = used or [tool.name for tool in uses]
    counts = range(least, max(least, len(used)) + 1)
    step = -(-len(counts) // _MOST_CUTS)
    for count in sorted({*counts[::step], counts[-1]} - {len(uses)}):  # a cut never keeps all tools
        yield ToolCut(
            frozenset(first[:count]), loading, tools_per_search if loading == "by search" else 1
        )


def _of_model(row: PlannedTools) -> Iterator[str]:
    """Yield the assumptions about a model without a rule, and about several models."""
    if sentence := row.simulation.assumption:
        yield sentence[:1].lower() + sentence[1:].removesuffix(".")
    yield from models_note(row.simulation)


def _assumed(
    part_in_prompt: str, rows: Sequence[PlannedTools], tools_per_search: int
) -> Iterator[str]:
    ways = {_loading(row) for row in rows if row.cut}
    yield "the model calls the same tools at the same requests, wherever their definitions stand"
    if "by search" in ways:
        tools = counted(tools_per_search, "tool")
        yield f"a search finds {tools}: the called one, then the next ones of the list"
        yield "a search is a second round on the server, which reads the prompt once more"
        yield "of the search tool, only its entry is counted: no page says what else it adds"
    if "by the client" in ways:
        yield "the client adds a tool (tool_addition, in beta) just before its call"
    if part_in_prompt != "nothing":
        yield "requests go to the Responses API; a deferred function keeps its name and description"


_Request = tuple[dict[str, Any], list[Message]]  # a body, and its messages


@dataclass
class _Planner:
    """The requests of a session, which are simulated with its tools sent in several ways."""

    requests: Sequence[_Request]
    times: Sequence[float]
    anew: set[int]  # the requests that are the first after a compaction
    model: str
    provider: str
    marker: Policy | None
    own_models: bool = True  # a request that names a model is simulated for that model
    last_calls: tuple[str, ...] = ()  # the tools that the answer to the last request calls

    def __post_init__(self) -> None:
        self.requests = list(_shared(self.requests))
        self._answers = [self._answer(number) for number in range(len(self.requests))]

    @property
    def rules(self) -> Rules:
        return known_rules(self.provider, self.model)

    @property
    def part_in_prompt(self) -> str:
        """The part of a deferred tool that is in the first prompt, by the dated rule."""
        return str(self.rules.of_model("deferred_tools", self.model))

    @property
    def already(self) -> set[str]:
        """The tools that the session's requests defer already."""
        tools = [tool for body, _ in self.requests for tool in named_tools(body).items()]
        return {name for name, tool in tools if tool.get("defer_loading")}

    def uses(self) -> list[ToolUse]:
        """Return every tool of the requests with its calls, in the order in which the tools first
        occur."""
        tools: dict[str, dict[str, Any]] = {}
        calls: dict[str, list[int]] = {}
        for number, (body, _) in enumerate(self.requests):
            tools = {**named_tools(body), **tools}
            for name in calls_of(self._answers[number] or {}):
                calls.setdefault(name, []).append(number)
        return [
            ToolUse(name, tokens_of(identity("tool", tool)), len(made), min(made, default=None))
            for name, tool in tools.items()
            for made in [calls.get(name, [])]
        ]

    def _answer(self, number: int) -> Message | None:
        """Return the answer to a request, as the next request repeats it; None if it does not. For
        the last request, return `last_calls` as an answer."""
        if number + 1 == len(self.requests) and self.last_calls:
            calls = [{"type": "tool_use", "name": name} for name in self.last_calls]
            return {"role": "assistant", "content": calls}
        if number + 1 >= len(self.requests) or number + 1 in self.anew:
            return None
        messages, later = self.requests[number][1], self.requests[number + 1][1]
        if len(later) <= len(messages) or not all(map(_is_same, messages, later)):
            return None
        return later[len(messages)]

    def as_they_are(self) -> PlannedTools:
        return PlannedTools(AS_IT_IS, *self._simulated(self.requests, self.times))

    def deferred(self, cut: ToolCut) -> PlannedTools:
        """Simulate the requests under a cut. A request whose answer needs a search is sent
        twice."""
        deferral, queries = Deferral(cut, self.part_in_prompt), list[Message]()
        rows: list[_Request] = []
        times: list[float] = []
        for number, (body, messages) in enumerate(self.requests):
            sent: RewrittenRequest = deferral.rewrite(body, messages, self._answers[number])
            rows.append((sent.head, sent.messages))
            times.append(self.times[number])
            if sent.searched is not None and sent.query is not None:
                rows.append((sent.head, sent.searched))
                times.append(self._between(number))
                queries.append(sent.query)
        tokens = sum(tokens_of(identity(str(each["type"]), each)) for each in queries)
        return PlannedTools(
            f"deferred, {_TITLES[cut.loading]}",
            *self._simulated(rows, times),
            cut,
            len(queries),
            tokens * output_permille(self.model),
        )

    def _between(self, number: int) -> float:
        """Return the time of a request's second round, which is before the next request."""
        at = self.times[number]
        if number + 1 == len(self.times):
            return at + 2.0
        return at + min(2.0, max(0.0, self.times[number + 1] - at) / 2)

    def _simulated(
        self, rows: Sequence[_Request], times: Sequence[float]
    ) -> tuple[CacheSimulation, int]:
        bodies = []
        for body, messages in rows:
            key = next((key for key in KEYS if key in body), "messages")
            bodies.append({**body, key: messages})
        common = (self.model, self.provider, self.marker, as_policies_see, self.own_models)
        simulation = simulate_bodies(bodies, times, *common)
        first = simulation.row[0].wire.blocks if simulation.row else ()
        return simulation, sum(block.tokens for block in first if block.tier == "tools")


def _shared(requests: Sequence[_Request]) -> Iterator[_Request]:
    """Yield the requests. Tools and messages that equal those of the previous request become the
    same objects, so that later comparisons compare objects instead of texts.
    """
    before: list[Message] = []
    tools: Any = None
    for body, messages in requests:
        tools = tools if _is_written_alike(tools, body.get("tools")) else body.get("tools")
        pairs = zip(before, messages, strict=False)
        alike = [old if _is_written_alike(old, new) else new for old, new in pairs]
        before = [*alike, *messages[len(alike) :]]
        yield ({**body, "tools": tools} if "tools" in body else body), before


def _is_written_alike(one: Any, other: Any) -> bool:
    return one is other or (one == other and json.dumps(one) == json.dumps(other))


def _is_same(one: Message, other: Message) -> bool:
    """Return True if two messages are equal apart from their marks."""
    return one == other or identity("message", one) == identity("message", other)
