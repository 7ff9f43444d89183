"""Simulate a corpus's caches by today's rules, from stored facts, without rendering."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from playground.base.errors import InputFault
from playground.cache.answers.cells import CacheSimulation
from playground.cache.prices import price_of
from playground.plugins.corpus.answers import CorpusAnswer
from playground.plugins.corpus.asking import Corpus
from playground.plugins.corpus.catalog import manifests, refuse_older
from playground.plugins.corpus.wires import simulate_rows

_ROWS_AT_ONCE: Final = 8_192


@dataclass(slots=True)
class _Sums:
    """The sums over all requests to one model. `nano_dollars` is the input's cost at list price."""

    sessions: int = 0
    requests: int = 0
    breaks: int = 0
    read: int = 0
    written: int = 0
    uncached: int = 0
    nano_dollars: int = 0


def simulate_corpus(corpus: Corpus) -> CorpusAnswer:
    """Simulate every session whose requests were recorded as sent; sum up the results by model. A
    row has the number of sessions (each counts for the model of its first request), of requests,
    and of breaks (requests that read less than the cache held), the tokens, and their price.

    Raises InputFault if the corpus is redacted or a file is damaged.
    """
    if corpus.catalog.redacts:
        raise InputFault(
            "a redacted corpus has no sizes to simulate",
            where=corpus.folder.store.name,
            expected="a corpus that was built without --redact",
        )
    began, sums = time.monotonic(), dict[str, _Sums]()
    for _, simulation in simulations(corpus):
        _add(sums, simulation)
    columns = ["model", *(field.name for field in fields(_Sums))]
    rows = [
        (model, *(getattr(model_sums, name) for name in columns[1:]))
        for model, model_sums in sorted(sums.items(), key=lambda pair: -pair[1].requests)
    ]
    spent = round(time.monotonic() - began, 3)
    return CorpusAnswer("simulate", columns, rows, seconds=spent)


def simulations(corpus: Corpus) -> Iterator[tuple[int, CacheSimulation]]:
    """Yield each session's number and its simulation by today's rules."""
    return simulate_rows(_rows(corpus))


def _rows(corpus: Corpus) -> Iterator[dict[str, Any]]:
    catalog, dropped = corpus.catalog, set(corpus.catalog.dropped)
    shards = set(catalog.shards)
    complete = manifests(corpus.folder, redacts=False)
    refuse_older(corpus.folder, (each for each in complete if each["shard"] in shards))
    for shard in catalog.shards:
        for name in corpus.folder.fact_files("wires", shard, catalog.months.get(shard, ())):
            try:
                file = pq.ParquetFile(corpus.folder.store.open_file(name))
                for batch in file.iter_batches(_ROWS_AT_ONCE):
                    yield from (row for row in batch.to_pylist() if row["piece"] not in dropped)
            except (OSError, pa.ArrowInvalid) as error:
                problem = f"damaged or missing ({str(error).splitlines()[0]})"
                where = f"{corpus.folder.store.name}/{name}"
                expected = "`playground corpus build` with the same inputs, which repairs it"
                raise InputFault(problem, where=where, expected=expected) from error


def _add(sums: dict[str, _Sums], simulation: CacheSimulation) -> None:
    breaks = set(simulation.breaks)
    for n, (request, result) in enumerate(zip(simulation.row, simulation.requests, strict=True)):
        model_sums = sums.setdefault(request.wire.model, _Sums())
        price = price_of(request.wire.model)
        model_sums.sessions += n == 0
        model_sums.requests += 1
        model_sums.breaks += n in breaks
        model_sums.read += result.read
        model_sums.written += sum(result.written.values())
        model_sums.uncached += result.uncached
        model_sums.nano_dollars += price.nano_dollars(result.cost) if price else 0
