"""The grid of panes: every column keeps its order, and what is shared stands in one row."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import playground as pg
from playground.base import paths
from playground.show import payloads
from playground.show.grid import grid


def pane(name: str, *messages: tuple[str, list[str]]) -> dict[str, Any]:
    """A request: each message's role and its blocks, whose origin is their first letter."""
    return {
        "name": name,
        "note": "",
        "messages": [
            {
                "role": role,
                "blocks": [
                    {"origin": text[0], "kind": "user", "label": text[0], "text": text}
                    for text in blocks
                ],
            }
            for role, blocks in messages
        ],
    }


def shown(drawn: dict[str, Any]) -> list[list[str]]:
    """Row by row: its origin, then the texts of each pane's cell."""
    table = [[origin] + [""] * len(drawn["panes"]) for origin, _ in drawn["rows"]]
    for column, each in enumerate(drawn["panes"], 1):
        for row, blocks in each["cells"]:
            table[row][column] = "+".join(drawn["texts"][block[0]] for block in blocks)
    return table


def test_an_origin_stands_in_one_row_of_all_panes() -> None:
    drawn = grid(
        [
            pane("first", ("system", ["rules", "tool"]), ("user", ["1 said"])),
            pane("second", ("system", ["tool, otherwise"]), ("user", ["1 said", "1 more", "env"])),
        ]
    )
    assert shown(drawn) == [
        ["r", "rules", ""],
        ["t", "tool", "tool, otherwise"],
        ["1", "1 said", "1 said+1 more"],
        ["e", "", "env"],
    ]
    assert drawn["texts"].count("1 said") == 1  # what panes share is sent to the browser once


def test_another_order_has_rows_of_its_own() -> None:
    one = pane("one", ("system", ["a", "b", "c"]))
    other = pane("other", ("system", ["b", "a", "c"]))
    assert shown(grid([one, other])) == [
        ["a", "a", ""],
        ["b", "b", "b"],
        ["a", "", "a"],
        ["c", "c", "c"],
    ]


def test_the_first_block_of_a_message_says_its_role() -> None:
    drawn = grid([pane("one", ("system", ["a", "b"]), ("user", ["b2"]))])
    assert drawn["panes"][0]["cells"] == [
        [0, [[0, "user", "system"]]],
        [1, [[1, "user", ""], [2, "user", "user"]]],
    ]


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=12), min_size=1, max_size=6))
def test_every_column_keeps_its_order_and_its_text(columns: list[list[str]]) -> None:
    drawn = grid([pane(str(i), ("user", texts)) for i, texts in enumerate(columns)])
    for texts, each in zip(columns, drawn["panes"], strict=True):
        numbers = [row for row, _ in each["cells"]]
        assert numbers == sorted(set(numbers))
        assert [drawn["texts"][b[0]] for _, blocks in each["cells"] for b in blocks] == texts
        assert all(
            drawn["rows"][row][0] == drawn["texts"][blocks[0][0]][0]
            for row, blocks in each["cells"]
        )
    assert all(
        any(row == r for p in drawn["panes"] for r, _ in p["cells"])
        for row in range(len(drawn["rows"]))
    )


@pytest.mark.parametrize("sample", ["02-parallel-calls", "12-long-tool-run"])
def test_all_dialects_share_the_rows_of_a_sample(sample: str) -> None:
    columns = pg.compare(pg.load_session(paths.samples()[sample]), pg.dialect_names()).columns
    origins = [origin for origin, _ in grid([*map(payloads.comparison_pane, columns)])["rows"]]
    twice = {origin for origin in origins if origins.count(origin) > 1}
    assert twice <= {"tools"}  # what stands between the tools' descriptions


def test_what_is_said_and_each_native_call_are_blocks_of_their_own() -> None:
    """They were glued together: `I look.{"id": …}{"id": …}`."""
    session = pg.sample_sessions()["02-parallel-calls"]
    (column,) = pg.compare(session, ["native"]).columns
    texts = [block.text for block in column.blocks if block.origin == "message:1"]
    assert texts[0] == "I will look up both."
    assert [text[:16] for text in texts[1:]] == ['{"id": "call_w",', '{"id": "call_t",']


def test_an_image_is_shown_where_the_session_holds_it_and_nothing_else_is() -> None:
    png = (
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AA"
        "QQxwFgBB0gX7h/C5SAAAAABJRU5ErkJggg=="
    )
    svg = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciPjwvc3ZnPg=="
    urls = [
        f"data:image/svg+xml;base64,{png}",  # its bytes say what it is
        f"data:image/svg+xml;base64,{svg}",
        f"data:image/png;base64,{svg}",
        "https://elsewhere.example/a.png",
        f"data:image/png;base64,{png[:12]}",  # no size
    ]
    images = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    content = [*images[3:], {"type": "text", "text": "two, [image_url], then three"}, *images[:3]]
    session = pg.session(messages=[{"role": "user", "content": content}])
    drawn = grid(
        [payloads.comparison_pane(column) for column in pg.compare(session, ["xml", "hermes"])]
    )
    assert list(drawn["images"].values()) == [(f"data:image/png;base64,{png}", 3, 2)]
    shown = [block for pane in drawn["panes"] for _, blocks in pane["cells"] for block in blocks]
    held = [(drawn["texts"][block[0]], block[3]["images"]) for block in shown if len(block) > 3]
    assert held == [("[image_url]" * 3, list(drawn["images"]))] * 2
