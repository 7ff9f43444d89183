"""Dialects as a board: a row for each dialect; for one dialect, its servers, difficult values and
facts. A server is listed if one of its parsers reads the dialect by default."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from playground.base.wording import counted, grouped
from playground.dialects import Dialect, get_dialect
from playground.dialects.declared import DeclaredDialect
from playground.dialects.families import family
from playground.dialects.schema_losses import schema_facts
from playground.nouns.messages import ToolCallPart
from playground.nouns.tools import ToolMetadata
from playground.questions.carry import CarryMatrix
from playground.servers import all_servers
from playground.show.board import Figure, Payload, board, card

TIDES: Final = ToolMetadata(
    name="get_tides",
    parameters={
        "type": "object",
        "properties": {"harbour": {"type": "string"}, "days": {"type": "integer"}},
    },
)
_CALL: Final = ToolCallPart("call_1", "get_tides", {"harbour": "Brest", "days": 2})
_SOURCE: Final = re.compile(r"\s*\([^()]*\)")  # the source in brackets, in a text about models
_TITLES: Final = {"vllm": "vLLM", "sglang": "SGLang", "ollama": "Ollama", "llama-cpp": "llama.cpp"}
_WHAT: Final = (
    "A dialect is the syntax in which a prompt lists tools and results, and a model makes calls. "
    "The facts are those of the session's tools: types, ranges, what is required."
)
HEADS: Final = [  # titles and widths of columns
    ["dialect", "12%"],
    ["a call, as written", "33%"],
    ["who speaks it", "20%"],
    ["servers that read it", "14%"],
    ["facts lost", "8%"],
    ["", "13%"],
]


def example_call(dialect: Dialect) -> str:
    """Return a call of a tool as the dialect writes it; or the dialect's own example, if its calls
    hold only texts."""
    syntax = getattr(dialect, "syntax", None)
    if syntax is not None and syntax.text_keys:
        call = ToolCallPart("call_1", syntax.name or _CALL.tool_name, dict(syntax.sample_texts))
        return dialect.format_tool_call(call, [])
    return dialect.format_tool_call(_CALL, [TIDES])


def dialect_rows(
    names: Sequence[str], tools: Sequence[ToolMetadata], can_declare: bool
) -> list[Payload]:
    """Return a row for each dialect, with the number of facts in these tools' schemas that it
    loses. With `can_declare`, the row of a dialect that a file can hold offers to start a new
    dialect from it."""
    return [_row(get_dialect(name), tools or [TIDES], can_declare) for name in names]


def _row(dialect: Dialect, tools: Sequence[ToolMetadata], can_declare: bool) -> Payload:
    facts = [fact for tool in tools for fact in schema_facts(dialect, tool)]
    lost = sum(not fact.kept for fact in facts)
    servers = [server for server, _ in readers(dialect.name)]
    call = example_call(dialect).replace("\n", "↵")
    title = str(getattr(dialect, "title", ""))
    group = family(dialect)
    is_plain = can_declare and type(dialect) is DeclaredDialect  # a file can hold no other dialect
    return {
        "key": dialect.name,
        "name": dialect.name,
        "group": group,
        "actions": [["Values", "values"], *[["Start from it", "declare"]] * is_plain],
        "found": " ".join((dialect.name, title, call, dialect.models, *servers, group)).lower(),
        "order": {"name": 0, "lost": lost, "readers": -len(servers)},
        "cells": [
            [call, "code", _CALL.tool_name],
            [speakers(dialect) or title, "long"],
            [", ".join(servers) or "–", "long"],
            [f"{lost} of {len(facts)}" if lost else "none", "number bad" if lost else "number"],
        ],
    }


def speakers(dialect: Dialect) -> str:
    """Return the models that speak a dialect, without the sources in brackets."""
    return _SOURCE.sub("", dialect.models)


def readers(dialect: str) -> Iterator[tuple[str, str]]:
    """Yield title and `server:parser` of each server that reads a dialect by default."""
    for server in all_servers():
        if parser := server.default_parser(dialect):
            yield _TITLES.get(server.name, server.name), f"{server.name}:{parser.name}"


def list_board(rows: Sequence[Payload], sections: dict[str, str], chosen: str = "") -> Payload:
    """Return the rows by section (`sections`: dialect -> title), with search, families, orders."""
    titled = [
        {**row, "section": sections.get(row["key"], "Others"), "on": row["key"] == chosen}
        for row in rows
    ]
    order = list(dict.fromkeys([*sections.values(), "Others"]))
    titled.sort(key=lambda row: order.index(row["section"]))
    orders: list[list[Any]] = [["By section"], ["By name", "name"]]
    orders += [["Fewest facts lost", "lost"], ["Most servers", "readers"]]
    search = f"Search {counted(len(rows), 'dialect')}"
    groups = sorted({row["group"] for row in rows})
    read = sum(row["order"]["readers"] < 0 for row in rows)
    figures: list[Figure] = [
        (grouped(read), "are read by a server", ""),
        (grouped(sum(not row["order"]["lost"] for row in rows)), "lose no schema fact", ""),
    ]
    head = ("", "", ()) if chosen else (f"{len(rows)} ways to write a tool call", _WHAT, figures)
    listed = {"rows": titled, "search": search, "orders": orders, "groups": groups}
    return board(*head, cards=[card("rows", key="dialects", heads=HEADS) | listed])


def values_board(matrix: CarryMatrix, chosen: str) -> Payload:
    """Return a board of squares: each difficult value in each dialect; `chosen` is highlighted."""
    rows = [
        {
            "name": dialect,
            "figure": f"{len(matrix.carried(dialect))} of {len(matrix.values)}",
            "squares": [
                [name, matrix.cells[dialect, name][0].code if matrix.cells[dialect, name] else ""]
                for name in matrix.values
            ],
        }
        for dialect in matrix.dialects
    ]
    total = len(matrix.values)
    complete = sum(len(matrix.carried(dialect)) == total for dialect in matrix.dialects)
    worst = min(matrix.dialects, key=lambda dialect: len(matrix.carried(dialect)))
    refused = total - len(matrix.carried(worst))
    sentence = (
        f"{worst} refuses {refused} of {total} difficult values."
        if refused
        else f"All {total} difficult values arrive."
    )
    note = (
        "Each is written as an argument of a call, and read back. Refused: a finding names it, and "
        "nothing wrong is sent."
    )
    figures: list[Figure] = [(f"{complete} of {len(rows)}", "carry all of them", "")]
    squares = card(
        "matrix",
        f"All {total}",
        "a square is a value; a click shows it",
        key="values",
        rows=rows,
        chosen=chosen,
        legend=[("read", "carried"), ("uncached", "refused, with a finding")],
    )
    return board(sentence, note, figures, cards=[squares])
