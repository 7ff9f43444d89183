"""References: each dialect's page has its parts and a true example; the table of slips holds."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import server_slips
from conftest import ROOT
from strategies import DIALECTS

from playground.dialects.reading import parse
from playground.parsing.result import ParseResult
from playground.plugins.guides.library import example
from playground.plugins.guides.slips import FATES, SLIPS, Example, SlipReply, fate, slip_replies
from playground.servers import all_servers

PARTS = ["Looks like", "Grammar", "Cannot express", "Read by", "Slips", "Sources"]
WRITTEN: dict[str, Any] = json.loads(server_slips.FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_the_page_of_a_dialect_has_its_parts_and_an_example_that_is_read(dialect: Any) -> None:
    text = (ROOT / "docs" / "formats" / f"{dialect.name}.md").read_text(encoding="utf-8")
    parts = {part.partition("\n")[0]: part for part in text.split("\n## ")}
    assert [name for name in parts if name in PARTS] == PARTS
    assert all(len(parts[name].splitlines()) > 2 for name in PARTS)
    assert "| used by | " in text
    assert f"| used by | {dialect.models} |" in text
    assert re.search(r"20\d\d-\d\d|model cards", dialect.models), "its source has a date"
    claim = re.search(r"^A call of `(.+)` with (`+ ?)(.+?) ?`+:$", parts["Looks like"], re.M)
    fence = re.search(r"^(`{3,})\n(.*?)\n\1$", parts["Looks like"], re.M | re.S)
    assert claim
    assert fence
    read = parse(fence[2], dialect, [example(dialect)[1]])
    calls = [(call.name, call.arguments) for call in read.tool_calls]
    assert calls == [(claim[1], json.loads(claim[3]))]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_the_readers_on_a_page_are_the_parsers_that_declare_the_dialect(dialect: Any) -> None:
    text = (ROOT / "docs" / "formats" / f"{dialect.name}.md").read_text(encoding="utf-8")
    part = text.partition("\n## Read by\n")[2].partition("\n## ")[0]
    named = re.findall(r"^\| `([^`]+)`", part, re.M)
    declared = [
        f"{server.name}:{parser.name}"
        for server in all_servers()
        for parser in server.parsers
        if parser.can_read(dialect.name)
    ]
    assert [name for name in named if ":" in name] == declared
    assert all(re.search(r"\| [^|]+, 20\d\d-\d\d-\d\d \|", row) for row in part.splitlines()[6:])


def test_a_check_finds_a_cell_a_reply_and_a_source_that_changed() -> None:
    """`generate.py --check` finds no part of the table stale as it is."""
    changed = json.loads(json.dumps(WRITTEN))
    row = changed["cells"]["cut in an argument"]["vllm"]
    place = next(place for places in row.values() for place in places if place.endswith("hermes"))
    for places in row.values():
        if place in places:
            places.remove(place)
    changed["replies"]["glm"]["closer twice"] += "x"
    changed["servers"]["vllm"]["version"] = "0.1"
    changed["digests"]["ollama.toml"] = ""
    assert server_slips.stale_parts(changed) == ["digests", "servers", "replies", "cells"]


def test_the_table_has_a_row_for_each_slip_and_each_servers_parser() -> None:
    assert WRITTEN["version"] == server_slips.VERSION
    assert list(WRITTEN["slips"]) == list(WRITTEN["cells"]) == [slip.name for slip in SLIPS]
    as_written = WRITTEN["cells"]["as written"]
    for server in all_servers():
        places = [place for places in as_written[server.name].values() for place in places]
        assert len(places) == len(set(places))
        names = {place.rpartition(" ")[0] for place in places}
        assert names == ({parser.name for parser in server.parsers} or {""})
    for servers in WRITTEN["cells"].values():
        for row in servers.values():
            for cell in row:
                found, _, kind = cell.partition(", ")
                assert found in FATES
                assert kind in server_slips.EVIDENCE
    page = server_slips.page(WRITTEN)
    assert len(page.encode()) < 20_000, "a page that people read"
    assert "**text** 3" in page


def test_a_client_without_runs_has_no_recorded_cell() -> None:
    never = [name for name, about in WRITTEN["servers"].items() if about["run"] is None]
    assert {"roo", "ai-sdk-parser"} <= set(never)
    rows = [servers.get(name, {}) for servers in WRITTEN["cells"].values() for name in never]
    assert not [cell for row in rows for cell in row if cell.endswith(", run")]


def test_every_dialect_has_slips_and_reads_its_own_call_as_written() -> None:
    for dialect in DIALECTS:
        replies = {slip.name: reply for slip, reply in slip_replies(dialect)}
        if dialect.is_native_toolcalling():
            assert replies == {}
            continue
        assert {"as written", "text before a call", "text after a call"} <= set(replies)
        assert replies["as written"].content == Example(dialect).one


@pytest.mark.parametrize(
    ("content", "reasoning", "calls", "expected"),
    [
        ("", "", [("f", {"a": "Brest"})], "call"),
        ("", "", [("f", {"a": "Bre"})], "changed"),
        ("f Bre", "", [], "text"),
        ("", "f Bre", [], "reasoning"),
        ("", "", [], "dropped"),
    ],
)
def test_the_fate_of_a_call(content: str, reasoning: str, calls: Any, expected: str) -> None:
    text = f"<think>{reasoning}</think>{content}" if reasoning else content
    text += "".join(
        f"<tool_call>\n{json.dumps({'name': name, 'arguments': given})}\n</tool_call>"
        for name, given in calls
    )
    reply = SlipReply(text, "", "f", {"a": "Brest"}, "Bre")
    read = parse(text, "hermes")
    assert isinstance(read, ParseResult)
    assert fate(reply, read) == expected


@pytest.mark.long
def test_every_cell_is_what_the_views_say_now() -> None:
    assert server_slips.dump(server_slips.table()) == server_slips.FILE.read_text("utf-8")


def test_a_reader_finds_the_cell_of_a_dialect_on_a_server(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page leads to the JSON, and its program prints one fate for each slip of the dialect."""
    text = (ROOT / "docs" / "slips.md").read_text()
    assert "[slips.json](slips.json)" in text
    (program,) = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    monkeypatch.chdir(ROOT)
    exec(program)
    lines = capsys.readouterr().out.splitlines()
    assert "cut in an argument: text, run" in lines
    slips = [line.partition(": ")[0] for line in lines if ": the " not in line]
    assert len(slips) == len(set(slips)) > 20
    assert "`vllm:hermes`" in (ROOT / "docs" / "formats" / "hermes.md").read_text()
