"""The table of servers and slips: its cells, computed by the servers' views, as JSON and as a page.

`docs/slips.json` has a cell for each slip, parser and dialect. `docs/slips.md` is written from it.
All cells take half a minute, so a check computes those of a few dialects, and compares the digests
of what the others are made of. `python docs/generate.py` computes all.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from playground.base import paths
from playground.dialects import dialect_names, get_dialect
from playground.dialects.declared import DeclaredDialect
from playground.dialects.reading import parse
from playground.plugins.guides.slips import FATES, SLIPS, fate, slip_replies, tools_of
from playground.servers import Server, ServerReading, all_servers
from playground.servers.declarations import proofs

FILE: Final = Path(__file__).with_name("slips.json")
VERSION: Final = 1
EVIDENCE: Final = {
    "run": "this version's own parser read at least three such replies, all as its view says",
    "read": "the view's choice, read in the server's code",
    "assumed": "neither a run nor a choice of the view covers the reply",
}
CHECKED: Final = ("hermes", "qwen3-coder", "xml", "react")
"""The dialects whose cells are computed anew by a check."""
OF_CLIENTS: Final = {"smolagents": ("smolagents-code",)}
"""Dialects of a client's declared view, beside those that its declaration lists."""
Cells = dict[str, dict[str, dict[str, list[str]]]]
"""Parsers with dialects, by slip, server, and fate with evidence."""


def table(dialects: Collection[str] = ()) -> dict[str, Any]:
    """Return the table with all cells, or with those of some dialects."""
    chosen = dialects or dialect_names()
    readable = {name for server in all_servers() for _, name in _places(server, dialect_names())}
    replies = {name: _replies(name) for name in dialect_names() if name in readable}
    return {
        "version": VERSION,
        "fates": FATES,
        "evidence": EVIDENCE,
        "digests": digests(replies),
        "slips": {slip.name: slip.family for slip in SLIPS},
        "servers": {server.name: _about(server) for server in all_servers()},
        "replies": replies,
        "cells": cells(chosen),
    }


def digests(replies: Mapping[str, Any]) -> dict[str, str]:
    """Return short digests of what the cells are made of: declarations, runs and replies."""
    files = sorted(paths.server_declarations().glob("*.toml"))
    files.append(paths.server_declarations() / "proven.json")
    found = {path.name: _digest(path.read_bytes()) for path in files}
    return found | {"replies": _digest(json.dumps(replies).encode())}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def _replies(name: str) -> dict[str, str]:
    dialect = get_dialect(name)
    assert isinstance(dialect, DeclaredDialect)
    return {slip.name: reply.content for slip, reply in slip_replies(dialect)}


def _about(server: Server) -> dict[str, Any]:
    return {
        "version": server.version,
        "declared": server.date,
        "run": proofs().get(server.name, {}).get("date"),
        "reply": server.reads,
        "source": server.view.source,
        "parsers": {parser.name: parser.view.source for parser in server.parsers},
    }


def _places(server: Server, dialects: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the parsers of a server, each with a dialect that it reads; a client has no name."""
    for parser in server.parsers:
        for dialect in dict.fromkeys((*parser.default_for, *parser.also_reads)):
            if dialect in dialects:
                yield parser.name, dialect
    if not server.parsers:
        for dialect in server.other_dialects or OF_CLIENTS[server.name]:
            if dialect in dialects:
                yield "", dialect


def cells(dialects: Collection[str]) -> Cells:
    """Return parsers with dialects, by slip, server, and fate with evidence."""
    found: Cells = {slip.name: {} for slip in SLIPS}
    for server in all_servers():
        for parser, name in _places(server, dialects):
            dialect = get_dialect(name)
            assert isinstance(dialect, DeclaredDialect)
            spec = f"{server.name}:{parser}" if parser else server.name
            for slip, reply in slip_replies(dialect):
                reading = parse(reply.content, name, tools_of(dialect), server=spec)
                assert isinstance(reading, ServerReading)
                cell = f"{fate(reply, reading)}, {_evidence(reading, slip.evidence)}"
                row = found[slip.name].setdefault(server.name, {})
                row.setdefault(cell, []).append(f"{parser} {name}".strip())
    return found


def _evidence(reading: ServerReading, best: str) -> str:
    """Return the evidence of a reading: the weaker of its own and the best that a slip can have."""
    kinds = list(EVIDENCE)
    own = "assumed" if reading.assumed else "run" if reading.proven else "read"
    return max(own, best, key=kinds.index)


def dump(made: Mapping[str, Any]) -> str:
    """Return the table as JSON: a line for each entry of its parts."""
    parts = []
    for key, value in made.items():
        if isinstance(value, dict):
            lines = [f"  {json.dumps(k)}: {_line(v)}" for k, v in value.items()]
            parts.append(f" {json.dumps(key)}: {{\n" + ",\n".join(lines) + "\n }")
        else:
            parts.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _line(value: Any) -> str:
    """Return a value in one line; cells have a line for each server."""
    if isinstance(value, dict) and any(isinstance(each, dict) for each in value.values()):
        lines = [
            f"   {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in value.items()
        ]
        return "{\n" + ",\n".join(lines) + "\n  }"
    return json.dumps(value, ensure_ascii=False)


def stale_parts(written: Mapping[str, Any]) -> list[str]:
    """Return the parts of the written table that differ from what the code says now; of the cells
    only those of a few dialects are computed."""
    now = table(CHECKED)
    stale = [key for key in now if key != "cells" and written.get(key) != now[key]]
    before, after = (
        {place for place in _flat(cells) if place[-1] in CHECKED}
        for cells in (written.get("cells", {}), now["cells"])
    )
    return stale + ["cells"] * (before != after)


def _flat(cells: Cells) -> Iterator[tuple[str, ...]]:
    """Yield slip, server, cell, parser and dialect of each place."""
    for slip, servers in cells.items():
        for server, row in servers.items():
            for cell, places in row.items():
                for place in places:
                    parser, _, dialect = place.rpartition(" ")
                    yield slip, server, cell, parser, dialect


# --- the page

_INTRODUCTION: Final = """\
# Servers and slips

Generated by `docs/generate.py` from `docs/slips.json`.

A slip is a reply that differs from how its dialect writes calls, or a place in a reply where
servers differ. Each slip is made of the same call in each dialect, and read by the view of each
parser that reads the dialect ([docs/servers.md](servers.md) explains views). An opener is the
opening tag or marker of a call or a parameter, such as `<tool_call>`, and a closer its closing tag:
for a call without its closing tag, see "cut before the closer". A cell counts parsers
with their dialects, by the fate of the call or the text that the row names:

{fates}

**Bold**: recorded by running the server's own parser ({run:,} of all readings). Plain: read in its
code ({read:,}). `?`: the number of parsers of which it is only assumed ({assumed:,}); their fate
is in the JSON alone. An empty cell: no dialect that the server reads can have the slip.

A bold fate needs three recorded replies with that kind of slip, none of which the server read
otherwise than its view says; the kinds are those of docs/servers.md. It is not a run of the very
reply in the JSON. A view is for a complete reply or for a stream (`reply` in the JSON).
"""
_OF_JSON: Final = {
    "version": "the version of this form: 1",
    "fates": "the words of the cells, and their meaning",
    "evidence": "the kinds of evidence, and their meaning",
    "digests": "digests of the declarations, runs and replies that the cells are computed from",
    "slips": "each slip, and its family",
    "servers": "of each server: `version`; `declared`, the day of its declaration; `run`, the day"
    " of the runs, or null; `reply`, the kind of reply that its views are for; `source`; and"
    " `parsers`, each with its source",
    "replies": "of the dialects that a parser reads, by slip: the reply. The tools are `get_tides`"
    " (`harbour`: string, `days`: integer) and `get_weather` (`harbour`), or the dialect's own",
    "cells": "by slip, server, and fate with evidence (`text, run`): the parsers, each with its"
    " dialect (`hermes exaone-4`); of a client, the dialects",
}
_ENGINES: Final = "Servers that run models, and parsers of libraries"
_CLIENTS: Final = "Clients that read a reply themselves"


_OWN_CELL: Final = """\
## Your server and your dialect

`playground guide hermes` lists the parsers that read Hermes, by server and version; how a version
that is not in the table below reads it is not known. `playground replay reply.txt -d hermes
--server vllm` reads your own reply as vLLM's parser does. The fate of each slip with this parser
stands in [slips.json](slips.json), whose places are `PARSER DIALECT`:

```python
import json

with open("docs/slips.json") as file:
    cells = json.load(file)["cells"]
for slip, servers in cells.items():
    for fate, places in servers.get("vllm", {}).items():
        if "hermes hermes" in places:
            print(f"{slip}: {fate}")
```
"""


def page(made: Mapping[str, Any]) -> str:
    """Return the page, in Markdown."""
    counts = Counter(cell.partition(", ")[2] for _, _, cell, *_ in _flat(made["cells"]))
    fates = "\n".join(f"- `{name}`: {meaning}" for name, meaning in made["fates"].items())
    text = _INTRODUCTION.format(fates=fates, **{kind: counts[kind] for kind in EVIDENCE})
    lines = [
        text,
        _OWN_CELL,
        "## The servers",
        "",
        "| server | version | declared | run |",
        "|---|---|---|---|",
    ]
    for name, about in made["servers"].items():
        cells = (name, about["version"] or "not noted", about["declared"], about["run"] or "never")
        lines.append(f"| {' | '.join(cells)} |")
    engines = [name for name, about in made["servers"].items() if about["parsers"]]
    clients = [name for name in made["servers"] if name not in engines]
    lines += [*_tables(_ENGINES, engines, made), *_tables(_CLIENTS, clients, made)]
    lines += ["", "## The JSON", "", "| key | holds |", "|---|---|"]
    lines += [f"| `{key}` | {meaning} |" for key, meaning in _OF_JSON.items()] + [""]
    return "\n".join(lines)


def _tables(title: str, servers: list[str], made: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table for each family of slips."""
    yield from ("", f"## {title}")
    for family in dict.fromkeys(made["slips"].values()):
        yield from ("", f"### {family}", "", f"| slip | {' | '.join(servers)} |")
        yield "|---|" + "---|" * len(servers)
        for slip, of_family in made["slips"].items():
            if of_family == family:
                row = made["cells"][slip]
                cells = [_cell(row.get(server, {})) for server in servers]
                yield f"| {slip} | {' | '.join(cells)} |"


def _cell(row: Mapping[str, list[str]]) -> str:
    """Return the fates of a server's parsers, the most frequent first, and how many are assumed."""
    known, assumed = [], 0
    for cell, places in sorted(row.items(), key=lambda item: -len(item[1])):
        fate, _, kind = cell.partition(", ")
        if kind == "assumed":
            assumed += len(places)
        else:
            known.append(f"{f'**{fate}**' if kind == 'run' else fate} {len(places)}")
    return ", ".join(known + [f"? {assumed}"] * bool(assumed))
