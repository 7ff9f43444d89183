"""Simulate what a session would cost if its history were shortened, turn by turn.

Every shortened request is written out and simulated like any other. Whether the model could still
do its work is not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice
from typing import Any, Final

from playground.base.arguments import takes, texts
from playground.base.errors import InputFault
from playground.base.shared_lists import SharedList, alike_length, shared_length
from playground.cache.answers.as_sent import AS_SENT, sent_requests
from playground.cache.answers.cells import CacheSimulation
from playground.cache.answers.known_rules import known_rules
from playground.cache.answers.requests import APART, Rendered, sent_at, sent_models
from playground.cache.answers.simulation import first_differences, simulated_row
from playground.cache.prefixes import TimedRequest
from playground.cache.prices import price_of
from playground.cache.rules.names import is_other_model
from playground.dialects import Dialect, get_dialect
from playground.dialects.marks.policies import CacheRequest, Policy
from playground.dialects.older_calls import formerly_second
from playground.dialects.requests import requests_of
from playground.nouns.wire_blocks import KnownBlocks, WireReader
from playground.nouns.wire_bodies import messages_of, model_of
from playground.plugins.savings.compacted import CompactionWhatIf, HistoryCut, Shorter
from playground.plugins.savings.one_price import costs_at_one_price
from playground.plugins.savings.shortening import (
    EVERYTHING,
    Messages,
    Shortening,
    by_length,
    shortening,
    shortenings,
)
from playground.sessions.collector import seldom
from playground.sessions.loading import session_or_sample
from playground.sessions.session import Session
from playground.sessions.stretches import stretches

_OUTPUT: Final = 5_000  # an output token's price in thousandths of an input token's, if unknown
_SHARE: Final = 60  # default of `limit`: percent of the longest request's tokens
KEYS: Final = ("messages", "input", "contents")  # of a body's messages, by API


@formerly_second("policies", "model", "provider")
@takes(
    session=(Session, str),
    policies="list",
    model="text",
    provider="text",
    dialect=(str, Dialect),
    marks=(str, Policy),
    limit="number",
    keep="number",
    summary="number",
    seconds_apart="number or nothing",
)
@seldom()
def compaction(
    session: Session | str,
    dialect: str | Dialect = "native",
    *,
    policies: Sequence[str] = (),
    model: str = "",
    provider: str = "",
    marks: str | Policy = "claude-code",
    limit: int = 0,
    keep: int = 0,
    summary: int = 1_000,
    seconds_apart: float | None = None,
) -> CompactionWhatIf:
    """Compare ways of shortening a session's history with keeping all of it.

    `policies` are names of `shortenings`: "keep last messages", "drop old results", "clear tool
    uses" (Anthropic's context editing), "prune in place", "summarise at limit"; all by default.
    Policies with a limit begin at `limit` estimated tokens of input, by default 60 % of the longest
    request. `keep` is the number of messages or results that stay, `summary` the tokens of a
    summary. Recorded requests keep their own marks. Others are written in `dialect` and marked by
    the policy `marks` ("own": the dialect's own policy). Raises InputFault and UnknownNameError.
    """
    session = session_or_sample(session)
    renamed = session.with_model(model)
    written = get_dialect(dialect).with_policy(marks)
    requests, times, restarts = session_requests(renamed, written, seconds_apart)
    if not requests:
        raise InputFault("the session holds no request", expected="an answer, or request bodies")
    size = _Sizes()
    if limit < 0 or keep < 0 or summary < 1:
        problem = f"limit {limit}, keep {keep}, summary {summary}"
        raise InputFault(problem, expected="0 or more, and a summary of 1 or more")
    longest = max(_lengths(requests, size))
    limit = limit or longest * _SHARE // 100
    chosen = [
        shortening(name, limit, keep, summary) for name in texts("compaction(policies=…)", policies)
    ]
    chosen = chosen or shortenings(limit, keep, summary)
    if chosen[0].name != EVERYTHING:
        chosen.insert(0, shortening(EVERYTHING, limit))
    as_sent = any(not row.sub_agent for row in renamed.rows)
    name = renamed.task.model_name or str(requests[0][0].get("model") or "")
    marker = None if as_sent else written.marking_policy
    common = (requests, times, restarts, size, name, provider, marker, not model)
    everything = _shortened(chosen[0], None, *common)
    rest = (_shortened(each, everything, *common) for each in chosen[1:])
    return CompactionWhatIf([everything, *rest], name, limit, sorted(restarts))


_Request = tuple[dict[str, Any], Sequence[dict[str, Any]]]  # a body, and its messages


class _Sizes:
    """The tokens of messages and tools, each counted once, because requests share them; and the
    blocks of messages."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, int]] = {}
        self.blocks: KnownBlocks = {}

    def __call__(self, message: dict[str, Any]) -> int:
        return self._of(message, message)

    def _of(self, value: Any, written: dict[str, Any]) -> int:
        entry = self._known.get(id(value))
        if entry is None or entry[0] is not value:
            entry = self._known[id(value)] = value, by_length(written)
        return entry[1]

    def fixed(self, body: dict[str, Any]) -> int:
        rest = ("tools", "system", "instructions", "systemInstruction", "toolConfig")
        return sum(self._of(body[key], {key: body[key]}) for key in rest if key in body)


def _lengths(requests: Sequence[_Request], size: _Sizes) -> Iterator[int]:
    """Yield the tokens of each request; those of shared messages are added up once."""
    before: Sequence[dict[str, Any]] = []
    sums = [0]
    for body, messages in requests:
        shared = shared_length(before, messages)
        del sums[shared + 1 :]
        sums += islice(accumulate(map(size, messages[shared:]), initial=sums[-1]), 1, None)
        before = messages
        yield size.fixed(body) + sums[-1]


def session_requests(
    session: Session, dialect: str | Dialect, seconds_apart: float | None
) -> tuple[list[_Request], list[float], set[int]]:
    """Return each body with its messages, the times of the requests, and the numbers of those that
    are the first after a compaction."""
    restarts: set[int] = set()
    if any(not row.sub_agent for row in session.rows):
        sent = sent_requests(session)
        requests = [(body, messages_of(body)) for body in sent.bodies]
        times: list[float] | None = sent.times or None
    else:
        stops = session.replies
        chosen = get_dialect(dialect)
        tools = chosen.request_tools(session.prompt_data())
        head: dict[str, Any] = {"tools": list(tools)} if tools else {}
        models = sent_models(session) or [session.task.model_name] * len(stops)
        requests = []
        for stretch in stretches(session, stops):
            restarts |= {len(requests)} if requests else set()
            data = stretch.of(session).prompt_data()
            rendered = requests_of(chosen, data, stretch.lengths)
            requests += [
                ({"model": models[number], **head, "messages": ()}, messages)
                for number, messages in enumerate(rendered, len(requests))
            ]
        times = sent_at(session, stops)
    if seconds_apart is not None or times is None:
        step = APART if seconds_apart is None else seconds_apart
        times = [number * step for number in range(len(requests))]
    return requests, times, restarts


def _shortened(
    policy: Shortening,
    everything: Shorter | None,
    requests: Sequence[_Request],
    times: Sequence[float],
    restarts: set[int],
    size: _Sizes,
    model: str,
    provider: str,
    marker: Policy | None,
    own_models: bool,
) -> Shorter:
    """Simulate the requests under a policy; `everything` is the outcome without cuts, if known."""
    policy = policy.fresh()
    bodies, turns, cut = [], [], set()
    row: SharedList[dict[str, Any]] = SharedList()
    for turn, (body, messages) in enumerate(requests):
        if turn in restarts:  # after a compaction, the policy begins again without its earlier cuts
            policy = policy.fresh()
        shortened = policy.request(messages, size, size.fixed(body))
        if shortened.changed:  # more is cut than in the request before
            cut.add(turn)
        for history in (shortened.summary_history, shortened.messages):
            if history is not None:
                key = next((key for key in KEYS if key in body), "messages")
                if isinstance(history, SharedList):
                    row = history
                else:
                    alike = alike_length(row, history)
                    row = row.extended_with(alike, history[alike:])
                row.last_with("role", "user", 1)  # builds the index that later lists reuse
                bodies.append({**body, key: row})
                turns.append(turn)
    at = _with_summary_times([times[turn] for turn in turns], turns)
    common = (model, provider, marker, None, own_models)
    simulation = simulate_bodies(bodies, at, *common, size.blocks)
    costs, tokens = _by_turn(simulation, turns, policy, model, len(requests))
    cuts = list(_cuts(simulation, turns, cut, tokens, everything.tokens if everything else tokens))
    return Shorter(policy, bodies, turns, simulation, cuts, costs, tokens)


def simulate_bodies(
    bodies: Sequence[dict[str, Any]],
    times: Sequence[float],
    model: str,
    provider: str,
    marker: Policy | None,
    seen: Callable[[Messages], Messages] | None = None,
    own_models: bool = False,
    known: KnownBlocks | None = None,
) -> CacheSimulation:
    """Simulate the requests with the marks that they have, or with those of `marker`.

    With `own_models`, a body that names a model is simulated for that model instead of `model`. The
    marks of `marker` are not written into the bodies, because they would turn strings into lists of
    parts. `marker` gets the messages, or the result of `seen(messages)`. `known` keeps the blocks
    of messages that several rows of requests share.
    """
    rules, request = known_rules(provider, model), CacheRequest(model)
    reader = WireReader(model, rules.value("default_ttl"), known)
    row: list[TimedRequest] = []
    for body, at in zip(bodies, times, strict=True):
        wire = reader.read(body)
        if own_models and is_other_model(model, body_model := model_of(body)):
            wire.model = body_model
        plain = TimedRequest(wire, at, rules, before=row[-1] if row else None)
        if marker:
            messages = messages_of(body)
            messages = seen(list(messages)) if seen else messages
            plain = Rendered(messages, plain).marked(marker, request, rules, "")
        row.append(plain)
    policy = marker.name if marker else AS_SENT
    return simulated_row(row, first_differences(row, rules), rules, policy=policy, model=model)


def _with_summary_times(times: list[float], turns: list[int]) -> list[float]:
    """Return the times, with each summary's request two seconds before its turn's own request."""
    return [
        at - 2 if index + 1 < len(turns) and turns[index + 1] == turns[index] else at
        for index, at in enumerate(times)
    ]


def _by_turn(
    simulation: CacheSimulation, turns: list[int], policy: Shortening, model: str, count: int
) -> tuple[list[int], list[int]]:
    """Return each turn's cost (a summary included) and the tokens of the turn's own request."""
    output = output_permille(model)
    costs, tokens = [0] * count, [0] * count
    at_one_price = costs_at_one_price(simulation)
    for index, (turn, outcome) in enumerate(zip(turns, simulation.requests, strict=True)):
        costs[turn] += at_one_price[index]
        is_summary = index + 1 < len(turns) and turns[index + 1] == turn
        if is_summary:
            costs[turn] += policy.summary * output
        else:
            tokens[turn] = outcome.total
    return costs, tokens


def output_permille(model: str) -> int:
    """Return the price of an output token, in thousandths of an input token's price."""
    price = price_of(model)
    output_price = price.output if price and price.uncached else None
    return output_price * 1000 // price.uncached if price and output_price else _OUTPUT


def _cuts(
    simulation: CacheSimulation,
    turns: list[int],
    cut: set[int],
    tokens: list[int],
    whole: list[int],
) -> Iterator[HistoryCut]:
    """Yield each cut with its loss: the tokens of the previous request that are no longer a prefix.
    `cut` has the turns with a cut. `tokens` are each turn's tokens, `whole` those without cuts."""
    for index in range(1, len(turns)):
        turn = turns[index]
        if turn not in cut or (index + 1 < len(turns) and turns[index + 1] == turn):
            continue
        before = simulation.row[index - 1]
        difference = simulation.differences[index]
        shared = len(before.chain) if difference is None else difference.block or 0
        still_prefix = before.sizes[shared - 1] if shared else 0
        points = simulation.requests[index - 1].breakpoints
        survive = sum(point < shared for point in points)
        lost = before.total - still_prefix
        yield HistoryCut(turn, lost, whole[turn] - tokens[turn], survive, len(points))
