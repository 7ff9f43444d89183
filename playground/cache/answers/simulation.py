"""Predict what a row of requests would read from a cache, write to it and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, groupby
from math import isfinite
from typing import Any, Final

from playground.base.arguments import formerly_positional, one, refuse_unused, takes
from playground.base.errors import InputFault
from playground.base.findings import Finding, finding
from playground.base.wording import counted
from playground.cache.answers.as_sent import AS_SENT, doubt_of_providers, sent_requests
from playground.cache.answers.bodies import BODIES, checked_body, checked_time, read_body
from playground.cache.answers.cells import (
    READ_TOLERANCE,
    CacheMatrix,
    CacheSimulation,
    contradicted,
    shorter_contexts,
)
from playground.cache.answers.hints import NotedRequest, noted_requests
from playground.cache.answers.known_rules import check_model, known_rules, near_names
from playground.cache.answers.paid import checked_by_bills, paid
from playground.cache.answers.placement import place_cache, refuse_writer
from playground.cache.answers.requests import (
    APART,
    Rendered,
    answering_models,
    billed_for,
    billed_lifetimes,
    diagnoses_in,
    is_pending,
    render_requests,
    sent_models,
)
from playground.cache.answers.what_if import WhatIf
from playground.cache.diagnosis import Diagnosis
from playground.cache.differences import FirstDifference, first_difference
from playground.cache.prefixes import Billed, TimedRequest, counted_request
from playground.cache.rules import Rules
from playground.cache.simulated import Simulated, State
from playground.cache.simulator import simulate
from playground.cache.usage import billed_of
from playground.dialects import Dialect, as_dialects, get_dialect
from playground.dialects.marks.policies import OWN, CacheRequest, Policy, as_policies, get_policy
from playground.dialects.marks.providers import provider_of
from playground.dialects.older_calls import formerly_second
from playground.nouns.wire_blocks import WireReader
from playground.nouns.wire_bodies import model_of
from playground.sessions.checks import compaction_findings
from playground.sessions.loading import session_or_sample
from playground.sessions.session import Session

AS_IT_IS: Final = WhatIf()


@formerly_second("model", "provider")
@takes(
    requests=BODIES,
    dialect=one("one dialect; pg.cache_matrix(session, dialects) takes several"),
    policy=one("one policy; pg.cache_matrix(session, dialect, policies=[…]) takes several"),
    model="text",
    provider="text",
    seconds_apart="number or nothing",
    what_if=WhatIf,
    usages="list",
    times="list",
)
def simulate_cache(
    requests: Session | str | Iterable[Mapping[str, Any]],
    dialect: str | Dialect = "native",
    *,
    model: str = "",
    provider: str = "",
    policy: str | Policy = "",
    seconds_apart: float | None = None,
    what_if: WhatIf = AS_IT_IS,
    usages: Sequence[Mapping[str, Any] | None] = (),
    times: Sequence[float] = (),
) -> CacheSimulation:
    """Simulate a session in a dialect under a policy, or a row of provider request bodies.

    `policy` is one of `policy_names()`, or a Policy; by default the dialect's own. The policy
    "as-sent" simulates the session's recorded requests unchanged, with their own marks, in no
    dialect. `model` replaces the model that the session or the bodies name. The rules are those
    of `provider`, one of `provider_names()`; by default, those of the (first) model's provider.
    Requests are sent `seconds_apart`. If this is None, they are sent at their recorded times if
    most have one ("as-sent": if all do; bodies: at `times`, in seconds), else 20 seconds apart.
    Tokens are counted as by `count_tokens`; `usages`, the provider's usage record for each body,
    make them exact. A request's state "exact" (printed as "certain") says that its outcome, a hit
    or a miss, is certain; its tokens may still be estimates. Requests to a provider without rules
    are in the state "unknown-provider". If a request would be refused, views show no total cost.
    `cache_matrix` takes several dialects and policies at once.

    Raises UnknownNameError for an unknown provider, dialect or policy, and for a `model` that no
    rules fit and that is almost a known model's name. (Other unknown names pass, as "foo-1", and
    so do all names with a route.) Raises InputFault for wrong `seconds_apart`, `usages`,
    `times` or bodies, for an argument that bodies or a session do not use, and for "as-sent" with a
    `what_if` or without a recorded request.
    """
    check_model(model, provider)
    if isinstance(requests, str):
        requests = session_or_sample(requests)
    if isinstance(requests, Session):
        unused = {"usages": bool(usages), "times": bool(times)}
        problem = "a session has its own bills and times"
        refuse_unused("simulate_cache", unused, problem, "a list of request bodies for these")
        in_dialect = partial(cache_matrix, requests, [dialect], model=model, provider=provider)
        in_dialect = partial(in_dialect, seconds_apart=seconds_apart, what_if=what_if)
        if policy == AS_SENT:
            refuse_writer("simulate_cache", dialect)
            cell = _as_sent(requests, model, provider, seconds_apart, what_if)
        else:
            cell = in_dialect(policies=[policy])[0]
        placed = partial(place_cache, requests, dialect, policy=policy, model=model)
        return replace(
            cell, placed=placed if what_if.leaves_blocks_unchanged else None, by_policy=in_dialect
        )
    changed = {"dialect": get_dialect(dialect) is not get_dialect("native")}
    unused = changed | {"policy": policy not in ("", OWN, AS_SENT), "what_if": what_if != AS_IT_IS}
    problem = "request bodies are simulated as they were sent, with their own marks"
    refuse_unused("simulate_cache", unused, problem, "a session, as pg.load_session(bodies)")
    unused = {"seconds_apart": bool(times) and seconds_apart is not None}
    refuse_unused("simulate_cache", unused, "the requests have their own times", "one or the other")
    bodies = [checked_body(body, number) for number, body in enumerate(requests)]
    return _of_bodies(bodies, model, provider, _checked_gap(seconds_apart), usages, times)


def _of_bodies(
    bodies: list[dict[str, Any]],
    model: str,
    provider: str,
    seconds_apart: float,
    usages: Sequence[Mapping[str, Any] | None],
    times: Sequence[float],
    summed: Sequence[bool] = (),
) -> CacheSimulation:
    """Simulate bodies. `summed` has True for each body whose bill sums up several rounds, even if
    its usage does not show that."""
    for name, values in (("usages", usages), ("times", times)):
        if values and len(values) != len(bodies):
            problem = f"{len(values)} {name} are given for {len(bodies)} requests"
            raise InputFault(problem, expected="one for each request")
    if not bodies:
        return CacheSimulation(provider, [])
    name = model or model_of(bodies[0])
    rules = known_rules(provider, name)
    reader = WireReader(model, rules.value("default_ttl"))
    billed = [billed_of(usage) for usage in usages] or [None] * len(bodies)
    for number, is_sum in enumerate(summed):
        bill = billed[number]
        billed[number] = replace(bill, summed=True) if bill and is_sum else bill
    others = dict.fromkeys(filter(None, map(model_of, bodies)))
    warning = f"the bodies name {', '.join(others)}; all are predicted as for {name}"
    strangers = [each for each in others if provider_of(each) != rules.provider and not provider]
    mixed = (warning,) * bool(len(others) > 1 if model else strangers)
    row: list[TimedRequest] = []
    for number, body in enumerate(bodies):
        wire, before = read_body(reader, body, number), row[-1] if row else None
        wire.doubts += mixed if model or model_of(body) in strangers else ()
        at = checked_time(times[number]) if times else number * seconds_apart
        row.append(counted_request(body, wire, at, rules, before, billed[number]))
    simulation = simulated_row(
        row,
        first_differences(row, rules),
        rules,
        model=name,
        billed=tuple(billed),
        one_by_one=not times,
    )
    model_of_each = [model_of(body) or name for body in bodies]
    facts = [
        NotedRequest(float(times[number]) if times else None, model)
        for number, model in enumerate(model_of_each)
    ]
    notes = tuple(finding("mixed-models", "the bodies", each) for each in mixed)
    was_paid = paid(billed, model_of_each, provider)
    return replace(simulation, paid=was_paid, request_facts=facts, notes=notes)


def _as_sent(
    session: Session, model: str, provider: str, seconds_apart: float | None, what_if: WhatIf
) -> CacheSimulation:
    """Simulate the session's recorded requests unchanged: the cell of the policy "as-sent"."""
    if replace(what_if, pending=True) != AS_IT_IS:
        raise InputFault(
            f"policy {AS_SENT!r} with a what-if: the requests are taken as they are",
            expected="one or the other",
        )
    sent, own_name = sent_requests(session), session.task.model_name
    body_models = {m if isinstance(m := body.get("model"), str) else None for body in sent.bodies}
    answered = {record.model for record in session.requests}
    # if False, the user chose another model
    is_own = None in body_models or own_name in body_models or own_name in answered
    routes = list(dict.fromkeys(filter(None, sent.routes)))
    is_routed = bool(routes) and is_own and not (model or provider)
    if is_routed:
        provider = routes[0]
    elif not model and own_name not in body_models and None not in body_models:
        model = own_name
    simulation = _of_bodies(
        [body if body.get("model") else {**body, "model": own_name} for body in sent.bodies],
        model,
        provider,
        _checked_gap(seconds_apart),
        sent.usages,
        sent.times if seconds_apart is None else (),
        sent.summed,
    )
    names = [str(body.get("model") or own_name) for body in sent.bodies]
    # the session's spelling of a model's name, which may have a route
    names = [own_name if own_name.endswith(f"/{name}") else name for name in names]
    was_paid = paid(simulation.billed, names, provider)
    if is_routed and any(provider_of(name) not in routes for name in names):
        was_paid = None  # another provider was paid, by its own prices
    notes = tuple(_assumed_model_findings(session)) if None in body_models and not model else ()
    notes, diagnoses = (*simulation.notes, *notes), tuple(sent.diagnoses)
    simulation = replace(
        simulation, policy=AS_SENT, paid=was_paid, diagnoses=diagnoses, notes=notes
    )
    doubt = sent.doubt if is_routed or not (provider or len(routes) > 1) else ""
    return _doubted(simulation, doubt)


def _doubted(simulation: CacheSimulation, why: str) -> CacheSimulation:
    """Return the simulation without a price. Outcomes that are "exact" or "eligible" become
    "unpredictable", for the reason `why`. If `why` is empty, nothing is changed."""
    if not why:
        return simulation
    doubted = [
        replace(one, state="unpredictable", reason=f"{one.reason}; {why}")
        if one.state in ("exact", "eligible")
        else one
        for one in simulation.requests
    ]
    return replace(simulation, requests=doubted, priced=False)


@formerly_positional(2, "policies", "model", "provider", "seconds_apart", "what_if", "progress")
@takes(
    session=(Session, str),
    model="text",
    provider="text",
    seconds_apart="number or nothing",
    what_if=WhatIf,
    progress="function or nothing",
)
def cache_matrix(
    session: Session | str,
    dialects: str | Dialect | Sequence[str | Dialect] = (),
    *,
    policies: str | Policy | Sequence[str | Policy] = (),
    model: str = "",
    provider: str = "",
    seconds_apart: float | None = None,
    what_if: WhatIf = AS_IT_IS,
    progress: Callable[[int, int], None] | None = None,
) -> CacheMatrix:
    """Simulate the session in each dialect under each policy; all of them by default.

    The policy "as-sent" has one cell, the first, because no dialect changes recorded requests. If
    the session has recorded requests, only this cell is compared with bills and diagnoses.
    `progress` is called with two numbers: the dialects that are done, and all dialects.
    """
    session = session_or_sample(session)
    check_model(model, provider)
    rows = simulated_by_dialect(
        session, dialects, policies, model, provider, seconds_apart, what_if, progress
    )
    return CacheMatrix(chain.from_iterable(rows))


def simulated_by_dialect(
    session: Session,
    dialects: str | Dialect | Sequence[str | Dialect] = (),
    policies: str | Policy | Sequence[str | Policy] = (),
    model: str = "",
    provider: str = "",
    seconds_apart: float | None = None,
    what_if: WhatIf = AS_IT_IS,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[list[CacheSimulation]]:
    """Yield the rows of `cache_matrix`: the cell of "as-sent", then each dialect's cells.

    A dialect's requests are written when its row is asked for, and released with the row.
    """
    apart = None if seconds_apart is None else _checked_gap(seconds_apart)
    bills, facts = billed_for(session), noted_requests(session)
    was_paid = paid(bills, answering_models(session), provider)
    models = [] if model or what_if.parallel > 1 else sent_models(session)
    mixed = () if model else tuple(_mixed_model_findings(session, provider, bool(models)))
    name = (session := session.with_model(model)).task.model_name
    rules, cache_request = known_rules(provider, name), _cache_request(session)
    doubt = "" if model or provider else doubt_of_providers(session, models, rules.provider)
    to_come = not bills or (is_pending(session) and what_if.pending)
    billed, diagnoses, others = _bills_of_rendered(session, bills, what_if, to_come)
    notes = (*mixed, *_missing_context_findings(session, rules))
    if AS_SENT in (chosen := as_policies(policies)):
        yield [_as_sent(session, model, provider, apart, what_if)]
    marking = [each for each in chosen if each != AS_SENT]
    chosen_dialects = as_dialects(dialects) if marking else []
    for done, dialect in enumerate(chosen_dialects, 1):
        row: list[CacheSimulation] = []
        for writer, group in _by_writer(marking, dialect):
            rendered = render_requests(session, writer, rules, apart, what_if, models)
            lifetimes = _lifetimes_in_bills(bills, len(rendered))
            row += [
                replace(
                    _doubted(cell, doubt),
                    notes=notes,
                    pending=to_come,
                    paid=was_paid,
                    bills_as_sent=others,
                    diagnoses=diagnoses if len(diagnoses) == len(rendered) else (),
                )
                for cell in _cells(
                    rendered,
                    writer,
                    group,
                    cache_request,
                    lifetimes,
                    rules,
                    what_if.ttl,
                    name,
                    billed,
                    facts,
                )
            ]
            del rendered  # so that only one dialect's requests are in memory at a time
        yield row
        if progress is not None:
            progress(done, len(chosen_dialects))


def _cache_request(session: Session) -> CacheRequest:
    dynamic = session.dynamic
    return CacheRequest(
        session.task.model_name, dynamic.cache_dialect, dynamic.enable_explicit_caching
    )


def _by_writer(
    policies: Sequence[str | Policy], dialect: Dialect
) -> Iterator[tuple[Dialect, list[str | Policy]]]:
    """Yield groups of policies, each with the dialect that writes their requests. A dialect that
    marks them itself (`inject_prompt_cache`) does so only under its own policy. `OWN` (the
    dialect's own policy) is left out if that policy is also listed by name."""
    own_policy = dialect.marking_policy.name
    chosen = [
        each for each in policies if each != OWN or own_policy == OWN or own_policy not in policies
    ]
    for is_own, group in groupby(chosen, lambda each: each in ("", OWN)):
        replaced = dialect.marks_itself and not is_own
        yield dialect.with_policy("none") if replaced else dialect, list(group)


def _cells(
    rendered: Sequence[Rendered],
    dialect: Dialect,
    policies: Sequence[str | Policy],
    cache_request: CacheRequest,
    lifetimes: Sequence[str],
    rules: Rules,
    ttl: str,
    model: str,
    billed: tuple[Billed | None, ...],
    facts: Sequence[NotedRequest],
) -> Iterator[CacheSimulation]:
    """Simulate a dialect's requests under each policy, once for policies with equal marks."""
    differences = _differences_of(rendered, rules)
    cell_of_marks: dict[tuple[tuple[tuple[int, str], ...], ...], CacheSimulation] = {}
    decided: list[tuple[Any, CacheSimulation]] = []  # each policy's `decide`, with its cell
    for chosen in policies:
        policy = dialect.marking_policy if chosen in ("", OWN) else get_policy(chosen)
        if cell := next((cell for each, cell in decided if each is policy.decide), None):
            yield replace(cell, policy=policy.name)
            continue
        row = [
            one.marked(policy, cache_request, rules, ttl, lifetime)
            for one, lifetime in zip(rendered, lifetimes, strict=True)
        ]
        marks = tuple(tuple(one.marks.items()) for one in row)
        cell = cell_of_marks.get(marks)
        if cell is None:
            cell = cell_of_marks[marks] = simulated_row(
                row, differences, rules, dialect.name, policy.name, model, billed, noted=facts
            )
        decided.append((policy.decide, cell))
        yield replace(cell, policy=policy.name)


def _bills_of_rendered(
    session: Session, bills: Sequence[Billed | None], what_if: WhatIf, to_come: int
) -> tuple[tuple[Billed | None, ...], tuple[Diagnosis | None, ...], tuple[Billed | None, ...]]:
    """Return the bills and diagnoses of the requests that a dialect writes, and the bills of
    requests as sent.

    If the session holds the bodies that were sent, its bills and diagnoses are about these bodies,
    not about the rendered ones. With a what-if all three results are empty. `to_come` is True if
    the last of the rendered requests has no answer, and so no bill.
    """
    if replace(what_if, pending=True) != AS_IT_IS:
        return (), (), ()
    if any(not row.sub_agent for row in session.rows):
        return (), (), tuple(bills)
    no_bills = [None] * to_come
    return (*bills, *no_bills), (*diagnoses_in(session), *no_bills), ()


def _differences_of(
    rendered: Sequence[Rendered], rules: Rules
) -> tuple[FirstDifference | None, ...]:
    """Return each request's first difference from the previous one. If the history begins again
    there after a compaction, the compaction is the difference's cause."""
    differences = first_differences([one.request for one in rendered], rules)
    return tuple(
        each.by_compaction if each and one.anew else each
        for each, one in zip(differences, rendered, strict=True)
    )


def _lifetimes_in_bills(bills: Sequence[Billed | None], requests: int) -> list[str]:
    """Return a billed lifetime for each request. Requests without a bill (still to come, or added
    by a what-if) take the lifetime of the last bill."""
    known = billed_lifetimes(bills)
    return [*known[:requests], *(known[-1:] or [""]) * (requests - len(known))]


def simulated_row(
    row: list[TimedRequest],
    differences: tuple[FirstDifference | None, ...],
    rules: Rules,
    dialect: str = "",
    policy: str = "",
    model: str = "",
    billed: tuple[Billed | None, ...] = (),
    one_by_one: bool = True,
    noted: Sequence[NotedRequest] = (),
) -> CacheSimulation:
    """Send marked requests at their times to one cache. `differences` come from
    `first_differences`.

    `one_by_one` is True if each request was sent after the answer to the previous one had begun.
    `noted` has the recorded facts of the billed requests.
    """
    outcomes = simulate(row, rules, one_by_one)
    if any(billed):
        outcomes = [*checked_by_bills(outcomes, row, billed, rules)]
        outcomes = _with_unexplained(outcomes, row, billed, differences, rules, noted)
    simulation = CacheSimulation(
        rules.provider, outcomes, dialect, policy, differences, model, row, rules, billed
    )
    return replace(simulation, request_facts=noted)


def _with_unexplained(
    outcomes: list[Simulated],
    row: Sequence[TimedRequest],
    billed: Sequence[Billed | None],
    differences: Sequence[FirstDifference | None],
    rules: Rules,
    facts: Sequence[NotedRequest],
) -> list[Simulated]:
    """Note cache breaks and shorter contexts that bills show; downgrade what they contradict."""
    results = list(outcomes)
    for broken in contradicted(outcomes, row, billed, rules, facts):
        outcome = outcomes[broken.number]
        if outcome.state == "error":
            continue
        bill_in_words = f"billed: {broken.read:,} of {broken.cached_before:,} cached tokens read"
        reason = f"{outcome.reason}; {bill_in_words}, and nothing in the session explains it"
        state: State = "unpredictable" if outcome.state == "exact" else outcome.state
        sure = outcome.state == "exact"
        results[broken.number] = replace(
            outcome, state=state, finding="unexplained", reason=reason, contradicted=sure
        )
    for broken in shorter_contexts(billed, differences):
        outcome = results[broken.number]
        if outcome.state == "error" or outcome.finding:
            continue
        total, cached = broken.total, broken.cached_before
        bill_in_words = f"billed: {total:,} tokens in all, where {cached:,} were cached before"
        reason = f"{outcome.reason}; {bill_in_words}: the context has become shorter"
        sure = outcome.state == "exact" and outcome.read <= broken.read + READ_TOLERANCE
        state = outcome.state if sure or outcome.state != "exact" else "unpredictable"
        results[broken.number] = replace(
            outcome, state=state, finding="shorter-context", reason=reason
        )
    return results


def _mixed_model_findings(session: Session, provider: str, for_own: bool) -> Iterator[Finding]:
    """Warn if several models answered, and say for which model each request is predicted: for the
    one that answered it (`for_own`), or for the session's."""
    recorded = set(session.replies)
    models = Counter(r.model for r in session.requests if r.model and r.reply in recorded)
    if len(models) < 2:
        return
    (first, answers), *others = models.most_common()
    answers_by_model = ", ".join(
        [f"{first}: {counted(answers, 'answer')}", *(f"{m}: {n}" for m, n in others)]
    )
    own_name = session.task.model_name
    words = f"all are predicted by the rules of {own_name}"
    if for_own:
        rules = provider or provider_of(own_name)
        words = f"each is predicted for its own model, by the rules of {rules}"
    yield finding("mixed-models", "the session", f"{answers_by_model}; {words}")


def _assumed_model_findings(session: Session) -> Iterator[Finding]:
    if not session.named_model:
        words = f"no model is named: rules and prices are those of {session.task.model_name}"
        yield finding("assumed-model", "the session", words)


def _missing_context_findings(session: Session, rules: Rules) -> Iterator[Finding]:
    """Warn about what a transcript lacks that a prediction needs. Without system prompt and tools,
    or without what compactions kept, predictions are too low. Without a model's name they are for
    an assumed model; an unknown name may be misspelt."""
    yield from _assumed_model_findings(session)
    if near := near_names(rules, session.task.model_name):
        yield finding("assumed-model", session.task.model_name, near)
    prompts = (session.task.user_agent_prompt, session.task.user_prompt)
    has_system = any(prompts) or any(message.role == "system" for message in session.messages)
    if not (session.tools or has_system):
        words = "the prediction is for the messages alone, as the dialect renders them"
        yield finding("transcript-alone", "the session", words)
    yield from compaction_findings(session)


def _checked_gap(seconds_apart: float | None) -> float:
    if seconds_apart is None:
        return APART
    if not isinstance(seconds_apart, int | float) or not (
        isfinite(seconds_apart) and seconds_apart >= 0
    ):
        raise InputFault(f"{seconds_apart} seconds between requests", expected="0 or more")
    return seconds_apart


def first_differences(
    row: Sequence[TimedRequest], rules: Rules
) -> tuple[FirstDifference | None, ...]:
    """Return each request's first difference from the one before it."""
    pairs = zip(row, row[1:], strict=False)
    differences = (first_difference(before, after, rules) for before, after in pairs)
    return (None, *differences) if row else ()
