"""Requests as rows for the cache simulator: a hash and a size for each block, and no text. Their
simulation gives the same outcomes as that of the request bodies. So after a change of a rule or a
price, a corpus can be simulated again without reading its texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from hashlib import blake2b
from itertools import groupby
from typing import Any, Final

from playground.base.shared_lists import SharedList, shared_length
from playground.cache.answers.cells import CacheSimulation
from playground.cache.answers.known_rules import known_rules
from playground.cache.answers.simulation import first_differences, simulated_row
from playground.cache.differences import FirstDifference
from playground.cache.prefixes import Billed, TimedRequest
from playground.cache.rules import Rules
from playground.nouns.wire_blocks import SIGNATURE, TIERS, WireBlock, WireRequest
from playground.nouns.wire_words import UnknownWord
from playground.plugins.corpus.tables import WireFact

# Bits of `flags`, whose two lowest bits hold the index of the block's tier.
_MARKABLE: Final = 4
_STRING: Final = 8
_SIGNED: Final = 16
_OPAQUE: Final = 32
_NOWHERE: Final = -1  # the message index of a block that is outside of messages


def wire_facts(session: int, piece: int, simulation: CacheSimulation | None) -> Iterator[WireFact]:
    """Yield a row for each request that was recorded as sent.

    A row has the blocks from the first one that differs, in text or mark, from the row before it.
    """
    if simulation is None:
        return
    previous: SharedList[WireBlock] = SharedList()
    billed = simulation.billed or [None] * len(simulation.row)
    for n, (sent, bill) in enumerate(zip(simulation.row, billed, strict=True)):
        wire = sent.wire
        shared = shared_length(previous, wire.blocks)
        added, previous = wire.blocks[shared:], wire.blocks
        yield WireFact(
            session=session,
            piece=piece,
            n=n,
            model=wire.model,
            at=sent.at,
            bill=None if bill is None else [int(number) for number in astuple(bill)],
            automatic_ttl=wire.automatic_ttl,
            explicit_only=wire.explicit_only,
            parameters=_head(wire),
            kept=shared,
            hashes=[_hash(block.text) for block in added],
            sizes=sent.tokens_from(shared),
            kinds=[block.kind for block in added],
            roles=[block.role for block in added],
            flags=[_flags(block) for block in added],
            messages=[block.place[0] if block.place else _NOWHERE for block in added],
            ttls=[block.ttl for block in added],
        )


def simulate_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, CacheSimulation]]:
    """Yield each session's number and the simulation of its requests by today's rules.

    The rows of a session must be consecutive, in the order of its requests.
    """
    for session, session_rows in groupby(rows, key=lambda row: row["session"]):
        yield int(session), _simulation(list(session_rows))


def _simulation(rows: Sequence[Mapping[str, Any]]) -> CacheSimulation:
    model = rows[0]["model"]
    rules = known_rules("", model)
    billed = tuple(_read_bill(row["bill"]) for row in rows)
    blocks: SharedList[WireBlock] = SharedList()
    sent: list[TimedRequest] = []
    for row, bill in zip(rows, billed, strict=True):
        blocks = blocks.extended_with(row["kept"], _blocks(row))
        wire = _wire(row, blocks)
        sent.append(TimedRequest(wire, row["at"], rules, bill, sent[-1] if sent else None))
    return simulated_row(sent, _differences(sent, rules), rules, model=model, billed=billed)


def _differences(sent: Sequence[TimedRequest], rules: Rules) -> tuple[FirstDifference | None, ...]:
    """Return each request's first difference from the previous one. It tells only the block, as
    the rows have hashes in place of texts."""
    return tuple(
        each and replace(each, rule="prefix-changed", before="", after="", character=0)
        for each in first_differences(sent, rules)
    )


def _head(wire: WireRequest) -> str:
    """Return the fields of a request that have no column of their own in the row, as JSON."""
    return json.dumps(
        {
            "parameters": wire.parameters,
            "settings": wire.settings,
            "starts": wire.starts[:2],  # offsets of the first two messages
            "api": wire.api,
            "ttl": wire.ttl,
            "clears_at": wire.clears_at,
            "thinks": wire.thinks,
            "instructs": wire.has_late_system,
            "doubts": wire.doubts,
            "unknown": wire.unknown,
        }
    )


def _wire(row: Mapping[str, Any], blocks: SharedList[WireBlock]) -> WireRequest:
    head = json.loads(row["parameters"])
    if "settings" not in head:  # an old corpus, which stored only the parameters
        head = {"parameters": head}
    return WireRequest(
        row["model"],
        blocks,
        head["parameters"],
        row["automatic_ttl"],
        row["explicit_only"],
        starts=SharedList(head.get("starts", ())),
        settings=head.get("settings", {}),
        api=head.get("api", ""),
        clears_at=tuple(head.get("clears_at", ())),
        thinks=bool(head.get("thinks")),
        has_late_system=bool(head.get("instructs")),
        prompted=True,  # a stored row lacks what the provider leaves out of the prompt
        doubts=tuple(head.get("doubts", ())),
        unknown=tuple(UnknownWord(*word) for word in head.get("unknown", ())),
        ttl=head.get("ttl"),
    )


def _blocks(row: Mapping[str, Any]) -> Iterator[WireBlock]:
    names = ("hashes", "sizes", "kinds", "roles", "flags", "messages", "ttls")
    for key, size, kind, role, flags, message, ttl in zip(
        *(row[name] for name in names), strict=True
    ):
        yield WireBlock(
            tier=TIERS[flags % _MARKABLE],
            role=role,
            kind=kind,
            text=f"{key:016x}{SIGNATURE * bool(flags & _SIGNED)}",
            ttl=ttl,
            markable=bool(flags & _MARKABLE),
            place=None if message == _NOWHERE else (message, 0),
            is_string=bool(flags & _STRING),
            size=size,
            opaque=bool(flags & _OPAQUE),
        )


def _flags(block: WireBlock) -> int:
    bits = _MARKABLE * block.markable + _STRING * block.is_string + _SIGNED * block.is_signed
    return TIERS.index(block.tier) + bits + _OPAQUE * block.opaque


def _read_bill(bill: Sequence[int] | None) -> Billed | None:
    if bill is None:
        return None
    read, written, uncached, written_hour, summed = bill
    return Billed(read, written, uncached, written_hour, bool(summed))


def _hash(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")
