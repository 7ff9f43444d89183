"""A reply with results of the provider's own tools, repeated by the next request, is held once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import playground as pg

KINDS = st.sampled_from(["text", "thinking", "run"])


def blocks(kinds: list[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number, kind in enumerate(kinds):
        if kind == "text":
            found.append({"type": "text", "text": f"Step {number} is done."})
        elif kind == "thinking":
            found.append({"type": "thinking", "thinking": f"Think {number}", "signature": "c2ln"})
        else:
            call = {"id": f"srvtoolu_{number}", "name": "bash_code_execution"}
            found.append({"type": "server_tool_use", **call, "input": {"command": f"ls {number}"}})
            given = {"type": "bash_code_execution_result", "stdout": f"out {number}"}
            kind = "bash_code_execution_tool_result"
            found.append({"type": kind, "tool_use_id": call["id"], "content": given})
    return found


@given(st.lists(KINDS, min_size=1, max_size=6), st.integers(0, 2))
def test_a_repeated_reply_is_held_once_and_blames_nobody(
    tmp_path_factory: Any, kinds: list[str], form: int
) -> None:
    """The client repeats it whole, without its thoughts, or in one message for each block."""
    reply = blocks(kinds)
    repeated = [b for b in reply if b["type"] != "thinking"] if form else reply
    if not repeated:
        return
    split = [[block] for block in repeated] if form == 2 else [repeated]
    asked = {"role": "user", "content": "Count the rows."}
    history = [asked, *({"role": "assistant", "content": each} for each in split)]
    rows = [
        {
            "request": {"model": "claude-sonnet-5", "max_tokens": 9, "messages": messages},
            "response": {"type": "message", "role": "assistant", "content": content},
        }
        for messages, content in (
            ([asked], reply),
            ([*history, {"role": "user", "content": "And now?"}], blocks(["text"])),
        )
    ]
    file = Path(tmp_path_factory.mktemp("rows")) / "rows.json"
    file.write_text(json.dumps({"requests": rows}))
    (loaded,) = pg.load_sessions(file)
    parts = [part for message in loaded.session.messages for part in message.parts]
    results = [part.tool_call_id for part in parts if part.type == "tool_result"]
    assert results == [block["id"] for block in reply if "id" in block]
    calls = [part.tool_call_id for part in parts if part.type == "tool_call"]
    assert calls == results
    texts = [part.text for part in parts if part.type == "text"][1:-2]
    assert texts == [block["text"] for block in reply if block["type"] == "text"]
    codes = {each.code for each in loaded.findings}
    assert codes.isdisjoint({"duplicate-id", "history-differs"})
