"""What leaves by `export` is made to be passed on: without secrets, and it says how many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import playground as pg
from playground.cache.answers.what_if import WhatIf
from playground.cli import main
from playground.show.strip import strip

KEY = "sk-" + "ant-api03-" + "Ab1" * 20


def event(text: str) -> str:
    delta = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return f"data: {json.dumps({**head, 'choices': [delta]})}\n\n"


@pytest.mark.parametrize("form", ["pytest", "html", "json"])
def test_a_key_in_three_deltas_does_not_leave(form: str, tmp_path: Path) -> None:
    pieces = ["key ", KEY[:20], KEY[20:40], KEY[40:], " ok"]
    (tmp_path / "s.sse").write_text("".join(map(event, pieces)) + "data: [DONE]\n\n")
    out = tmp_path / f"out.{form}"
    options = ["--to", form, "-d", "hermes", "-o", str(out)]
    done = CliRunner().invoke(main, ["export", str(tmp_path / "s.sse"), *options])
    assert done.exit_code == 0, done.output
    assert "\n1 value starred out: 1 " in f"\n{done.stderr}"
    text = out.read_text()
    assert "******" in text
    for start in range(0, len(KEY) - 12, 4):
        assert KEY[start : start + 12] not in text
    if form == "pytest":  # it passes as it is
        given: dict[str, object] = {}
        exec(compile(text, str(out), "exec"), given)
        given["test_the_recording_reads_as_it_did"]()  # type: ignore[operator]


def test_a_key_in_the_description_of_a_tool_does_not_leave(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    tool = {"name": "ask", "description": f"say {KEY}", "input_schema": {"type": "object"}}
    recording = {"name": "r", "dialect": "hermes", "chunks": [{"text": "hi"}]}
    session = {"format": "playground-session/1", "title": "t", "tools": [tool]}
    file.write_text(json.dumps({**session, "messages": [], "recordings": [recording]}))
    done = CliRunner().invoke(main, ["export", str(file), "--to", "pytest"])
    assert done.exit_code == 0, done.output
    assert "say ******" in done.stdout
    assert KEY not in done.stdout
    assert "\n1 value starred out: 1 " in f"\n{done.stderr}"


@pytest.mark.parametrize(
    "what_if",
    [WhatIf(), WhatIf(ttl="1h"), WhatIf(pending=False), WhatIf(timestamp=True),
     WhatIf(parallel=3), WhatIf(environment="persisted")],
)  # fmt: skip
@pytest.mark.parametrize("sample", ["02-parallel-calls", "12-long-tool-run"])
def test_the_reasons_of_marks_are_those_of_the_request_that_is_drawn(
    sample: str, what_if: WhatIf
) -> None:
    cell = pg.simulate_cache(sample, "xml", what_if=what_if)
    shown = strip(cell, cell.placed() if cell.placed else None)
    parts = {number for number, part in enumerate(shown["parts"]) if part and part[1]}
    assert bool(shown["parts"]) == what_if.leaves_blocks_unchanged
    if parts:
        assert parts == {number for number, *_ in shown["requests"][-1]["marks"]}
