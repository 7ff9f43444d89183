"""The simulation of stored facts is that of the bodies, for rows that try to part them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from conftest import ROOT
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_laws import EXAMPLES

import playground as pg
from playground.base.errors import InputFault
from playground.cache.answers.as_sent import sent_requests
from playground.cache.answers.cells import CacheSimulation
from playground.cache.answers.simulation import simulate_cache
from playground.cli import main
from playground.plugins.corpus.asking import Corpus
from playground.plugins.corpus.building import build_corpus
from playground.plugins.corpus.compaction import compact_corpus
from playground.plugins.corpus.simulating import simulate_corpus, simulations
from playground.plugins.corpus.tables import SCHEMAS, WireFact
from playground.plugins.corpus.wires import simulate_rows, wire_facts

sys.path.insert(0, str(ROOT / "benchmarks"))

import corpus_data as data

LONG = "tide table " * 1_200  # over every minimum
TEXTS = st.sampled_from(["", " ", "a", "b", "héé", "\ud800", LONG, LONG + "x", "1", "true"])
MARKS = st.sampled_from(
    [{}, {"type": "ephemeral"}, *({"type": "ephemeral", "ttl": t} for t in ("5m", "1h", "2h", ""))]
)
MODELS = st.sampled_from(
    [
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
        "gpt-4o",
        "gpt-5.6",
        "gemini/gemini-2.5-pro",
        "bedrock/anthropic.claude-3-7-sonnet-20250219-v1:0",
        "nobody/knows",
    ]
)


@st.composite
def parts(draw: st.DrawFn) -> dict[str, Any]:
    text = draw(TEXTS)
    kinds: list[dict[str, Any]] = [
        {"type": "text", "text": text},
        {"text": text},
        {"type": "thinking", "thinking": text, "signature": "s"},
        {"type": "tool_use", "id": "t1", "name": "read", "input": {"a": 1, "b": text}},
        {"type": "tool_use", "id": "t1", "name": "read", "input": {"b": text, "a": True}},
        {"type": "tool_result", "tool_use_id": "t1", "content": text},
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": text}]},
        {"type": "image", "source": {"type": "base64", "data": "A" * 400}},
        {"functionCall": {"name": "read", "args": {"x": text}}},
        {"cachePoint": {"type": "default"}},
    ]
    part = dict(draw(st.sampled_from(kinds)))
    if draw(st.integers(0, 3)) == 0:
        part["cache_control"] = draw(MARKS)
    return part


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    role = draw(st.sampled_from(["user", "assistant", "model", "system", "tool", "developer", "ü"]))
    if draw(st.integers(0, 7)) == 0:
        return {"type": "function_call_output", "call_id": "c", "output": draw(TEXTS)}
    content: Any = draw(TEXTS | st.lists(parts(), max_size=3))
    message: dict[str, Any] = {"role": role, "content": content}
    if draw(st.integers(0, 5)) == 0:
        message["cache_control"] = draw(MARKS)
    if role == "assistant" and draw(st.booleans()):
        function = {"name": "read", "arguments": draw(TEXTS)}
        message["tool_calls"] = [{"id": "c", "type": "function", "function": function}]
    return message


TOOLS = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["read", "write"]), "description": TEXTS},
        optional={"cache_control": MARKS},
    ),
    max_size=2,
)
OTHERS = st.fixed_dictionaries(
    {},
    optional={
        "tool_choice": st.sampled_from(["auto", {"type": "any"}, {"type": "auto"}]),
        "thinking": st.sampled_from([{"budget": 1}, {"budget": True}, {"budget": 1.0}, None]),
        "response_format": st.sampled_from([{"type": "json_object"}, {"type": "text"}]),
        "cache_control": MARKS,
        "prompt_cache_options": st.sampled_from([{"mode": "explicit"}, {"mode": "x"}, 1]),
        "system": TEXTS | st.lists(parts(), max_size=2),
        "tools": TOOLS,
    },
)


def changed(draw: st.DrawFn, said: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A history that goes on, or is rewritten, cut, marked otherwise."""
    kind = draw(st.sampled_from(["on", "on", "on", "cut", "marked", "other", "same"]))
    said = list(said)
    if kind == "cut":
        said = said[draw(st.integers(0, len(said))) :]
    elif kind in ("marked", "other") and said:
        at = draw(st.integers(0, len(said) - 1))
        said[at] = draw(messages()) if kind == "other" else {**said[at], "cache_control": {}}
    more = [] if kind == "same" else draw(st.lists(messages(), max_size=3))
    return [*said, *more]


@st.composite
def usages(draw: st.DrawFn, model: str) -> dict[str, Any] | None:
    figures = [draw(st.sampled_from([0, 1, 900, 3_000, 3_300, 9_000])) for _ in range(4)]
    if draw(st.booleans()):
        return None
    if "gpt" in model:
        details = {"cached_tokens": figures[0], "cache_write_tokens": figures[1]}
        return {"prompt_tokens": sum(figures[:3]), "prompt_tokens_details": details}
    if "gemini" in model:
        total = figures[0] + figures[1]
        return {"promptTokenCount": total, "cachedContentTokenCount": figures[0]}
    rounds: dict[str, Any] = draw(
        st.sampled_from([{}, {"iterations": [1, 2]}, {"server_tool_use": {"web": 1}}])
    )
    return {
        "cache_read_input_tokens": figures[0],
        "cache_creation_input_tokens": figures[1] + figures[3],
        "input_tokens": figures[2],
        "cache_creation": {"ephemeral_1h_input_tokens": figures[3]},
        **rounds,
    }


@st.composite
def rows(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[Any], list[float]]:
    """Bodies of one session, their bills, and times that stand still, leap, and run backwards."""
    model, others = draw(MODELS), draw(OTHERS)
    said: list[dict[str, Any]] = draw(st.lists(messages(), min_size=1, max_size=4))
    bodies, bills, times, at = [], [], [], 0.0
    for _ in range(draw(st.integers(1, 6))):
        bodies.append({"model": model, **others, "messages": said})
        bills.append(draw(usages(model)))
        times.append(at)
        at += draw(st.sampled_from([0.0, 0.4, 20.0, 299.9, 300.1, 3_599.0, 90_000.0, -10.0]))
        said = changed(draw, said)
        model = draw(st.just(model) | MODELS)
        others = draw(st.just(others) | OTHERS)
    return bodies, bills, times


def stored(facts: Sequence[WireFact]) -> list[dict[str, Any]]:
    """The rows as Parquet keeps them."""
    schema, sink = SCHEMAS["wires"], pa.BufferOutputStream()
    columns = zip(*facts, strict=True)
    arrays = [pa.array(c, field.type) for c, field in zip(columns, schema, strict=True)]
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), sink)
    found: list[dict[str, Any]] = pq.read_table(pa.BufferReader(sink.getvalue())).to_pylist()
    return found


def once_more(simulation: CacheSimulation) -> CacheSimulation:
    ((_, found),) = simulate_rows(stored(list(wire_facts(7, 7, simulation))))
    return found


@settings(max_examples=EXAMPLES * 8)
@given(given=rows())
def test_the_simulation_of_stored_facts_is_that_of_the_bodies(
    given: tuple[list[dict[str, Any]], list[Any], list[float]],
) -> None:
    bodies, bills, times = given
    plain = simulate_cache(bodies, usages=bills, times=times)
    # What the model's own tokenizer counts needs the texts, which are not stored; and the blocks
    # that a request shares with a billed one have the sizes of that one.
    assume(not any(sent.counted for sent in plain.row))
    assume(len({sent.billed is None for sent in plain.row}) < 2)
    assume(not plain.errors)  # an adapter refuses a result without an id, which is not stored
    assert once_more(plain).requests == plain.requests


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> tuple[Corpus, data.Truth]:
    folder = tmp_path_factory.mktemp("wires")
    truth = data.write_sessions(folder / "in", 200)
    build_corpus(folder / "o", [folder / "in"], engine="serial", shard_bytes=1 << 20)
    return pg.corpus(folder / "o"), truth


def test_a_corpus_simulates_what_its_bodies_would(gateway: tuple[Corpus, data.Truth]) -> None:
    corpus, _ = gateway
    found = dict(simulations(corpus))
    assert len(found) == 20
    for number, again in found.items():
        sent = sent_requests(corpus.session(number))
        plain = simulate_cache(sent.bodies, usages=sent.usages, times=sent.times)
        assert again.requests == plain.requests


def test_breaks_predicted_are_those_that_were_planted(gateway: tuple[Corpus, data.Truth]) -> None:
    corpus, _ = gateway
    told = corpus.sql("SELECT count(*) FROM breaks WHERE state <> 'billed'").rows[0][0]
    answer = simulate_corpus(corpus)
    assert sum(row["breaks"] for row in answer.records()) == told > 0
    assert sum(row["requests"] for row in answer.records()) == 80
    assert all(row["nano_dollars"] > 0 for row in answer.records())
    printed = CliRunner().invoke(main, ["corpus", "simulate", corpus.folder.store.name, "--json"])
    assert json.loads(printed.output)["rows"] == answer.plain()["rows"]
    compact_corpus(corpus.folder.store.name)
    assert simulate_corpus(pg.corpus(corpus.folder.store.name)).rows == answer.rows


def test_a_redacted_corpus_keeps_nothing_to_simulate(tmp_path: Path) -> None:
    data.write_sessions(tmp_path / "in", 40)
    build_corpus(tmp_path / "o", [tmp_path / "in"], engine="serial", redact=True)
    corpus = pg.corpus(tmp_path / "o")
    assert corpus.sql("SELECT count(*) FROM wires").rows == [(0,)]
    with pytest.raises(InputFault, match="a redacted corpus has no sizes to simulate"):
        simulate_corpus(corpus)
