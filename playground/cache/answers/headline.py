"""Say in a few sentences how much a simulated session reads from the cache, and what it costs.

The sentences hold only fixed words and figures, so that they may be shown anywhere. The reasons
may quote a session, so they are shown separately.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from playground.base.wording import counted, dollars, grouped, percent
from playground.cache.answers.cells import CacheSimulation, billed_breaks
from playground.cache.bounds import MORE_THAN_LEFT

Verdict = Literal["good", "idle", "broken", "refused"]


class Headline(NamedTuple):
    """A few sentences and their verdict.

    `good`: something is read and nothing breaks; `idle`: nothing is read or known, or more was
    billed than the session holds; `broken`: there are breaks; `refused`: a request is refused.
    """

    verdict: Verdict
    text: str


def headline(value: CacheSimulation) -> Headline:
    """Sum up a simulation in a user's words, with the cost of all input.

    The bill comes first if the session has one, because it is what was paid.
    """
    verdict, text = _predicted(value)
    if not (bill := billed(value)):
        return Headline(verdict, text)
    if value.unexplained:
        verdict = "broken"
    elif verdict == "good" and not any(each.read for each in value.billed if each):
        verdict = "idle"  # the bill says that nothing was read, so it is not "good"
    if value.holds_less:
        verdict = "broken" if value.unexplained else "idle"
        return Headline(
            verdict, f"{bill} What follows is about the tokens that the session holds. {text}"
        )
    return Headline(verdict, f"{bill} {text}")


def billed(value: CacheSimulation) -> str:
    """Say what was read and paid according to the session's own bills; "" without bills."""
    pairs = [(o, b) for o, b in zip(value.requests, value.billed, strict=False) if b]
    bills = [bill for _, bill in pairs] or list(filter(None, value.bills_as_sent))
    paid = str(value.paid) if value.paid else ""
    if not bills:  # the requests of a what-if are not those that were billed
        return paid
    total = sum(bill.total for bill in bills)
    share = percent(sum(bill.read for bill in bills) / total) if total else percent(0)
    read = f"Billed: {share} of {grouped(total)} input tokens were read from the cache."
    if not pairs:
        return " ".join(filter(None, (read, paid, _AS_SENT_ALONE)))
    tokens = grouped(sum(one.total for one, _ in pairs))
    less = f"The session holds about {tokens} of them." if value.holds_less else ""
    parts = (
        read,
        paid,
        less,
        _unexplained(value, len(pairs)),
        _smaller_reads(value),
        _larger_reads(value),
    )
    more = "" if value.holds_less or not value.holds_more else _HOLDS_MORE
    return " ".join(filter(None, (*parts, _bills_within_bounds(value), more)))


_HOLDS_MORE: Final = (
    "The file still holds text that was not sent with some requests. What follows counts all text "
    "in the file."
)
_OTHER_RUN: Final = "something else with the same beginning ran shortly before"
_AS_SENT_ALONE: Final = (
    "The bills are for the requests as they were sent, not for the requests predicted here."
)


def _smaller_reads(value: CacheSimulation) -> str:
    """Say how many requests read less because their context had shrunk."""
    count = len(value.shorter)
    if not count:
        return ""
    requests = "One request" if count == 1 else f"{count} requests"
    return f"{requests} read less because the context had become shorter: no break."


def _larger_reads(value: CacheSimulation) -> str:
    """Say how many bills show more cached tokens than the session's own requests could have left.
    "" if the session holds less than was sent: what those requests left is then unknown."""
    count = value.verdicts.count(MORE_THAN_LEFT)
    if not count or value.holds_less:
        return ""
    bills = "The bill of one request shows" if count == 1 else f"The bills of {count} requests show"
    could = "than the earlier requests of this session can have left in the cache"
    return f"{bills} more cached tokens {could}: {_source(value)}."


def _source(value: CacheSimulation) -> str:
    """Say what may explain a read that is larger than the session's own requests could leave. If
    the first request to the same model read nothing, nothing was cached before it: a larger read
    later can only come from text that was sent and is not in the session. This proves nothing if
    the provider promises no reads at all."""
    firsts = dict[str, int]()
    for number, bill in enumerate(value.billed):
        if bill:
            firsts.setdefault(value.row[number].wire.model, number)
    verdicts = enumerate(value.verdicts)
    above = [number for number, verdict in verdicts if verdict == MORE_THAN_LEFT]
    begun = sorted({firsts[value.row[number].wire.model] for number in above})
    cold = [number for number in begun if (bill := value.billed[number]) and not bill.read]
    if not cold:
        return _OTHER_RUN
    lacks = "the session lacks part of what was sent"
    if cold != begun or value.rules is None or value.rules.match == "best effort":
        return f"{_OTHER_RUN}, or {lacks}"
    alone = any(note.code == "transcript-alone" for note in value.notes)
    missing = " (it has no system prompt and no tools)" if alone else ""
    return f"request {cold[0] + 1} read nothing, so {lacks}{missing}"


def _bills_within_bounds(value: CacheSimulation) -> str:
    """Say how much could be read from a cache without breakpoints, and how many bills agree."""
    if value.rules is None or value.rules.match in ("breakpoints", "unknown"):
        return ""
    if value.holds_less:  # the session does not hold all that was sent
        return ""
    judged = [each for each in value.bounds if each and each.most is not None]
    if not judged:
        return ""
    least, most = sum(each.least for each in judged), sum(each.most or 0 for each in judged)
    within = value.verdicts.count("within bounds")
    bills = counted(len(judged), "bill")
    fits = f"{within} of {bills} {'agrees' if within == 1 else 'agree'}"
    could = f"{least:,} to {most:,} tokens in all could be read from the cache"
    return f"By what this session had sent before, {could}; {fits}."


def _unexplained(value: CacheSimulation, bills: int) -> str:
    """Say how many bills contradict a prediction that was certain, and the extra cost."""
    breaks = value.unexplained
    if not breaks:
        return ""
    lost = sum(each.lost for each in breaks)
    nano = [value.lost_nano(each) for each in breaks]
    price = f" ({dollars(sum(filter(None, nano)) / 1e9)})" if any(nano) else ""
    which_bills = f"{len(breaks)} of {counted(bills, 'bill')}"
    shows = "shows a break" if len(breaks) == 1 else "show breaks"
    return f"{which_bills} {shows} that nothing in the session explains: {lost:,} tokens{price}."


def _predicted(value: CacheSimulation) -> Headline:
    """Sum up the prediction alone, without the bills."""
    if not value.requests:
        return Headline("idle", "There is no request yet.")
    if value.errors:
        return Headline("refused", f"{value.outcome}.")
    if value.rules is not None and value.rules.match == "unknown":
        reason = "no caching rules are known for this model, so all is counted at the full price"
        return Headline("idle", f"{_request_count(value).capitalize()}: {reason}.")
    if not value.read_permille:
        parts = [_nothing_read(value), _cost(value), value.assumption]
        return Headline("idle", " ".join(filter(None, parts)))
    share = f"{percent(value.read_permille / 1000)} of the input"
    read = f"{share} is {_probably(value, of_reads=True)}read from the cache"
    count = _request_count(value).capitalize()
    parts = [f"{count}: {read}.", _cost(value), _breaks(value)]
    parts += [_UNSURE.get(doubt(value), ""), value.assumption]
    return Headline("broken" if value.breaks else "good", " ".join(filter(None, parts)))


def _request_count(value: CacheSimulation) -> str:
    count = len(value.requests)
    words = counted(count, "request")
    if not value.pending:
        return words
    return f"{words}, the last still to come" if count > 1 else "one request still to come"


def _nothing_read(value: CacheSimulation) -> str:
    """Say why nothing is read: a single request, too few tokens, no mark, or changing text."""
    prefix = value.reach
    writes = any(one.written for one in value.requests)
    if not (writes or prefix.is_enough):
        no_hit = "none can hit" if prefix.marks and prefix.uses_marks else "nothing can be read"
        needs = f"{prefix.size}, and this model needs {prefix.minimum_in_words}"
        stop = ";" if prefix.caches_by_itself else ","  # because `subject` itself has a comma
        return f"{prefix.subject}{stop} {prefix.probably}{no_hit}: {needs}."
    if len(value.requests) == 1 and (writes or prefix.caches_by_itself):
        if _probably(value):
            likely = "the first request probably writes, and the next one may read"
            return f"{prefix.subject}: {likely}."
        return f"{prefix.subject}: the first request only writes, the next one can read."
    if writes:
        if _probably(value):
            return f"{prefix.subject}: what is written is probably not read again."
        no_hit = "none is ever hit" if prefix.marks else "nothing is ever hit"
        return f"{prefix.subject}, and {no_hit}: what is written is not read again."
    if prefix.caches_by_itself:
        return f"{prefix.subject}; nothing is read, for the reasons below."
    return f"{prefix.subject}, and nothing is written or read."


def _cost(value: CacheSimulation) -> str:
    nano = value.nano_dollars
    price = f" ({dollars(nano / 1e9)})" if nano is not None else ""
    share = f"{percent(value.cost_permille / 1000)} of the uncached"
    of = "the full" if value.cost_permille == 1000 else share
    return f"It {_probably(value)}costs {of} price{price}."


def _breaks(value: CacheSimulation) -> str:
    broken = [number + 1 for number in value.breaks]
    if not broken:
        billed_less = bool(billed_breaks(value.billed))
        nothing = f"Nothing {'that the session holds breaks it' if billed_less else 'breaks'}"
        return f"{nothing}{'; the session compacted its history' * bool(value.compacted)}."
    lost = sum(
        value.requests[number - 1].cached_after - value.requests[number].read
        for number in value.breaks
    )
    first = f"It breaks at request {broken[0]}"
    more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
    return f"{first}{more}: about {lost:,} cached tokens are not read."


_UNSURE: Final = {
    "eligible": "The provider promises none of it.",
    "unpredictable": "Not every request is sure: the reasons are below.",
    "warm-start": "What the cache held before the first request is not known.",
}


def _probably(value: CacheSimulation, of_reads: bool = False) -> str:
    return "probably " * (doubt(value, of_reads) == "unpredictable")


def doubt(value: CacheSimulation, of_reads: bool = False) -> str:
    """Return the first state of `_UNSURE` that a request has, or "". With `of_reads`, only requests
    that read count, if there are any. "eligible" counts only for requests that read."""
    states = {one.state for one in value.requests if one.read or one.hit is not None}
    if not (of_reads and states):
        states |= {one.state for one in value.requests} - {"eligible"}
    return next((state for state in _UNSURE if state in states), "")
